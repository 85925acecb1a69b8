/* SPDX-License-Identifier: MIT */
/* H2O has no interface that stays the same between its versions.  Compares the version, then lets
 * the server fill in its structs and looks whether the fields are where this shim expects them. */
#include "shim.h"

#include <stdio.h>
#include <string.h>

#define MARK 0xa5
#define SPARE 4096 /* room around a struct that the server may believe to be larger than we do */

union padded_request {
    h2o_req_t req;
    unsigned char bytes[sizeof(h2o_req_t) + SPARE];
};

union padded_config {
    h2o_globalconf_t conf;
    unsigned char bytes[sizeof(h2o_globalconf_t) + SPARE];
};

static bool untouched(const unsigned char *bytes, size_t from, size_t to)
{
    while (from < to && bytes[from] == MARK)
        from++;
    return from == to;
}

static bool request_fits(void)
{
    static union padded_request u; /* too large for a stack */
    h2o_conn_t conn;
    memset(&u, MARK, sizeof u);
    h2o_init_request(&u.req, &conn, NULL);
    bool fits = u.req.conn == &conn && u.req.hostconf == NULL && u.req._timeout_entry.cb &&
                u.req.res.content_length == SIZE_MAX && u.req.preferred_chunk_size == SIZE_MAX &&
                u.req.prefilters == NULL && u.req._generator == NULL && u.req.headers.size == 0 &&
                u.req.res.headers.size == 0 && untouched(u.bytes, sizeof u.req, sizeof u);
    if (fits)
        h2o_mem_clear_pool(&u.req.pool);
    return fits;
}

static bool path_fits(h2o_globalconf_t *conf)
{
    h2o_pathconf_t path;
    memset(&path, MARK, sizeof path);
    h2o_config_init_pathconf(&path, conf, "/terse", conf->mimemap);
    bool fits = path.global == conf && path.handlers.size == 0 && path.filters.size == 1 &&
                path.filters.entries[0]->on_setup_ostream && path.mimemap == conf->mimemap;
    if (fits)
        h2o_config_dispose_pathconf(&path);
    return fits;
}

static bool config_fits(void)
{
    static union padded_config u;
    memset(&u, MARK, sizeof u);
    h2o_config_init(&u.conf);
    bool fits = u.conf.hosts && u.conf.hosts[0] == NULL && u.conf._num_config_slots == 0 &&
                u.conf.handshake_timeout == H2O_DEFAULT_HANDSHAKE_TIMEOUT &&
                u.conf.proxy.io_timeout == H2O_DEFAULT_PROXY_IO_TIMEOUT && u.conf.mimemap &&
                u.conf.statuses.size == 0 && untouched(u.bytes, sizeof u.conf, sizeof u) &&
                path_fits(&u.conf);
    if (fits)
        h2o_config_dispose(&u.conf);
    return fits;
}

int guard_check(const h2o_globalconf_t *conf, char *why, size_t why_len)
{
    static const char expected[] = "h2o/" H2O_VERSION;
    const h2o_iovec_t *name = &conf->server_name;
    if (name->len != sizeof expected - 1 || memcmp(name->base, expected, name->len) != 0) {
        snprintf(why, why_len,
                 "this H2O is not version " H2O_VERSION ", which Terse was built for");
        return -1;
    }
    const char *wrong = !config_fits() ? "configuration" : !request_fits() ? "requests" : NULL;
    if (!wrong)
        return 0;
    snprintf(why, why_len,
             "this H2O " H2O_VERSION " lays out its %s in another way than the headers that Terse "
             "was built with",
             wrong);
    return -1;
}
