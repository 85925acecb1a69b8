/* SPDX-License-Identifier: MIT */
/* A server over libh2o-evloop that reads an H2O configuration file, with Terse in it:
 *   terse-h2o-config-example [-t] -c FILE
 * `listen` and `num-threads` are its own; all other commands are H2O's, and Terse's.  It does not
 * change its user.  SIGTERM ends it, when its connections have ended. */
#include <h2o.h>
#include <h2o/configurator.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysexits.h>

#include "example_yaml.h"
#include "terse-h2o.h"

#define LISTENERS 8
#define THREADS 64

static h2o_globalconf_t conf;
static size_t n_listeners, n_threads = 1;
static struct {
    int fd;
    SSL_CTX *tls;
} listeners[LISTENERS];

static struct worker { /* one per thread; the first thread is main's */
    h2o_context_t ctx;
    h2o_accept_ctx_t accept[LISTENERS];
    h2o_socket_t *sock[LISTENERS];
    h2o_multithread_receiver_t mailbox;
    h2o_multithread_message_t end;
    pthread_t next;
} workers[THREADS];
static atomic_size_t busy; /* connections, and threads that still listen */
static h2o_barrier_t begin, end;
static int signals;

/* ---- configuration -------------------------------------------------------------------------- */

static yoml_t *property(const yoml_t *map, const char *name)
{
    for (size_t i = 0; map->type == YOML_TYPE_MAPPING && i < map->data.mapping.size; i++) {
        const yoml_mapping_element_t *e = &map->data.mapping.elements[i];
        if (e->key->type == YOML_TYPE_SCALAR && strcmp(e->key->data.scalar, name) == 0)
            return e->value;
    }
    return NULL;
}

static const char *text(const yoml_t *map, const char *name)
{
    const yoml_t *node = property(map, name);
    return node && node->type == YOML_TYPE_SCALAR ? node->data.scalar : NULL;
}

static SSL_CTX *tls_of(const yoml_t *ssl)
{
    const char *certificate = text(ssl, "certificate-file"), *key = text(ssl, "key-file");
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    if (!certificate || !key || SSL_CTX_use_certificate_chain_file(tls, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1) {
        SSL_CTX_free(tls);
        return NULL;
    }
    h2o_ssl_register_alpn_protocols(tls, h2o_alpn_protocols);
    return tls;
}

/* A listening socket; -1, and errno. */
static int listen_on(const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *at;
    int yes = 1;
    errno = EADDRNOTAVAIL;
    if (getaddrinfo(host, port, &hints, &at) != 0)
        return -1;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int failed = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
                 bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, SOMAXCONN);
    freeaddrinfo(at);
    return failed ? -1 : fd; /* a server that cannot listen ends */
}

static int on_listen(h2o_configurator_command_t *cmd, h2o_configurator_context_t *ctx, yoml_t *node)
{
    const char *port = node->type == YOML_TYPE_SCALAR ? node->data.scalar : text(node, "port");
    const char *why = NULL;
    yoml_t *ssl = property(node, "ssl");
    if (!port || n_listeners == LISTENERS)
        why = port ? "too many of them" : "no port";
    else if (ssl && !(listeners[n_listeners].tls = tls_of(ssl)))
        why = "certificate-file and key-file: not there, or of no use";
    else if (!ctx->dry_run && (listeners[n_listeners].fd = listen_on(text(node, "host"), port)) < 0)
        why = strerror(errno);
    if (why)
        h2o_configurator_errprintf(cmd, node, "%s", why);
    n_listeners += !why;
    return why ? -1 : 0;
}

static int on_threads(h2o_configurator_command_t *cmd, h2o_configurator_context_t *ctx,
                      yoml_t *node)
{
    (void)ctx;
    if (h2o_configurator_scanf(cmd, node, "%zu", &n_threads) != 0)
        return -1;
    if (n_threads >= 1 && n_threads <= THREADS)
        return 0;
    h2o_configurator_errprintf(cmd, node, "expected 1 to %d", THREADS);
    return -1;
}

static int configure(const char *filename, bool test)
{
    h2o_config_init(&conf);
    h2o_configurator_t *own = h2o_configurator_create(&conf, sizeof *own);
    h2o_configurator_define_command(own, "listen", H2O_CONFIGURATOR_FLAG_GLOBAL, on_listen);
    h2o_configurator_define_command(own, "num-threads", H2O_CONFIGURATOR_FLAG_GLOBAL, on_threads);
    h2o_access_log_register_configurator(&conf);
    h2o_compress_register_configurator(&conf);
    /* This is all that Terse needs.  Its place is behind H2O's own coding, and before all those
     * whose filters change headers: what was registered last sees a response first. */
    terse_h2o_register_configurator(&conf);
    h2o_errordoc_register_configurator(&conf);
    h2o_expires_register_configurator(&conf);
    h2o_fastcgi_register_configurator(&conf);
    h2o_file_register_configurator(&conf);
    h2o_headers_register_configurator(&conf);
    h2o_proxy_register_configurator(&conf);
    h2o_redirect_register_configurator(&conf);
    h2o_reproxy_register_configurator(&conf);
    h2o_status_register_configurator(&conf);
    yoml_t *yaml = example_yaml_load(filename);
    int failed = !yaml || h2o_configurator_apply(&conf, yaml, test) != 0;
    example_yaml_free(yaml);
    if (!failed && n_listeners == 0)
        fprintf(stderr, "[%s] no `listen`\n", filename);
    return failed || n_listeners == 0 ? -1 : 0;
}

/* ---- threads ---------------------------------------------------------------------------------- */

static void one_less(void *unused)
{
    (void)unused;
    if (atomic_fetch_sub(&busy, 1) == 1)
        for (size_t i = 0; i < n_threads; i++)
            h2o_multithread_send_message(&workers[i].mailbox, NULL); /* wakes it */
}

static void on_accept(h2o_socket_t *listener, const char *err)
{
    h2o_socket_t *sock = err ? NULL : h2o_evloop_socket_accept(listener);
    if (!sock)
        return;
    atomic_fetch_add(&busy, 1);
    sock->on_close.cb = one_less;
    h2o_accept(listener->data, sock);
}

static void on_end(h2o_multithread_receiver_t *mailbox, h2o_linklist_t *messages)
{
    struct worker *w = H2O_STRUCT_FROM_MEMBER(struct worker, mailbox, mailbox);
    h2o_linklist_unlink(messages->next);
    for (size_t i = 0; i < n_listeners; i++)
        h2o_socket_close(w->sock[i]);
    h2o_context_request_shutdown(&w->ctx);
    one_less(NULL);
}

static void on_signal(h2o_socket_t *sock, const char *err)
{
    (void)err;
    h2o_socket_close(sock);
    for (size_t i = 0; i < n_threads; i++)
        h2o_multithread_send_message(&workers[i].mailbox, &workers[i].end);
}

static h2o_socket_t *watch(struct worker *w, int fd, h2o_socket_cb cb, void *data)
{
    h2o_socket_t *sock = h2o_evloop_socket_create(w->ctx.loop, fd, H2O_SOCKET_FLAG_DONT_READ);
    sock->data = data;
    h2o_socket_read_start(sock, cb);
    return sock;
}

static void open_worker(struct worker *w)
{
    h2o_context_init(&w->ctx, h2o_evloop_create(), &conf);
    h2o_multithread_register_receiver(w->ctx.queue, &w->mailbox, on_end);
    for (size_t i = 0; i < n_listeners; i++) {
        w->accept[i] = (h2o_accept_ctx_t){&w->ctx, conf.hosts, listeners[i].tls, 0, NULL};
        int fd = w == workers ? listeners[i].fd : fcntl(listeners[i].fd, F_DUPFD_CLOEXEC, 0);
        w->sock[i] = watch(w, fd, on_accept, &w->accept[i]);
    }
}

/* A context is disposed of in its own thread, since H2O keeps memory per thread; when no thread
 * serves any more, since they ask each other for their status; and the last one first, since the
 * status handler knows no other order.  So each thread starts and joins the next one. */
static void *run(void *worker)
{
    struct worker *w = worker;
    bool last = w + 1 == workers + n_threads;
    open_worker(w);
    if (w == workers)
        watch(w, signals, on_signal, NULL);
    if (!last)
        h2o_multithread_create_thread(&w->next, NULL, run, w + 1);
    h2o_barrier_wait(&begin);
    while (atomic_load(&busy) > 0)
        h2o_evloop_run(w->ctx.loop, INT32_MAX);
    h2o_barrier_wait(&end);
    if (!last)
        pthread_join(w->next, NULL);
    h2o_timeout_unlink(&w->ctx.http2._graceful_shutdown_timeout);
    h2o_multithread_unregister_receiver(w->ctx.queue, &w->mailbox);
    h2o_context_dispose(&w->ctx);
    return NULL;
}

/* ---- the program ------------------------------------------------------------------------------ */

static void serve(void)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* in all threads: they are read from a descriptor */
    signals = signalfd(-1, &ends, SFD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
    h2o_barrier_init(&begin, n_threads);
    h2o_barrier_init(&end, n_threads);
    atomic_store(&busy, n_threads);
    run(workers);
}

int main(int argc, char **argv)
{
    const char *filename = NULL;
    bool test = false;
    for (int option; (option = getopt(argc, argv, "tc:")) != -1;)
        if (option == 't')
            test = true;
        else if (option == 'c')
            filename = optarg;
    if (!filename) {
        fprintf(stderr, "usage: %s [-t] -c FILE\n", argv[0]);
        return EX_USAGE;
    }
    if (configure(filename, test) != 0)
        return EX_CONFIG;
    if (!test)
        serve();
    /* The loops stay: they have timers of handlers, some of which H2O 2.2 does not dispose of. */
    h2o_config_dispose(&conf);
    for (size_t i = 0; i < n_listeners; i++)
        SSL_CTX_free(listeners[i].tls);
    return 0;
}
