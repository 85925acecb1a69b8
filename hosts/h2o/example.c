/* SPDX-License-Identifier: MIT */
/* A server over libh2o-evloop with Terse and no configuration file:
 *   terse-h2o-example PORT FOLDER [PLUGIN [KEY VALUE]...] */
#include <h2o.h>
#include <h2o/http1.h>
#include <h2o/http2.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "terse-h2o.h"

static h2o_globalconf_t conf;
static h2o_context_t ctx;
static h2o_accept_ctx_t accept_ctx;

static void on_accept(h2o_socket_t *listener, const char *err)
{
    h2o_socket_t *sock = err ? NULL : h2o_evloop_socket_accept(listener);
    if (sock)
        h2o_accept(&accept_ctx, sock);
}

static int listen_on(const char *port)
{
    struct sockaddr_in addr = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    addr.sin_port = htons((uint16_t)atoi(port));
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd, (struct sockaddr *)&addr, sizeof addr) != 0 || listen(fd, SOMAXCONN) != 0)
        return -1;
    h2o_socket_t *sock = h2o_evloop_socket_create(ctx.loop, fd, H2O_SOCKET_FLAG_DONT_READ);
    h2o_socket_read_start(sock, on_accept);
    return 0;
}

int main(int argc, char **argv)
{
    char why[1024];
    if (argc < 3) {
        fprintf(stderr, "usage: %s PORT FOLDER [PLUGIN [KEY VALUE]...]\n", argv[0]);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    h2o_config_init(&conf);
    h2o_hostconf_t *host =
        h2o_config_register_host(&conf, h2o_iovec_init(H2O_STRLIT("default")), 65535);
    h2o_pathconf_t *path = h2o_config_register_path(host, "/", 0);
    h2o_file_register(path, argv[2], NULL, NULL, 0);

    /* This is all that Terse needs. */
    if (terse_h2o_register(path, argc > 3 ? argv[3] : NULL,
                           argc > 4 ? (const char *const *)argv + 4 : NULL, why, sizeof why) != 0) {
        fprintf(stderr, "%s: %s\n", argv[0], why);
        return 1;
    }

    h2o_context_init(&ctx, h2o_evloop_create(), &conf);
    accept_ctx.ctx = &ctx;
    accept_ctx.hosts = conf.hosts;
    if (listen_on(argv[1]) != 0) {
        perror(argv[1]);
        return 1;
    }
    while (h2o_evloop_run(ctx.loop, INT32_MAX) == 0)
        ;
    return 0;
}
