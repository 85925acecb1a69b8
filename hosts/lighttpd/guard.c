/* SPDX-License-Identifier: MIT */
/* Some of the server's structs depend on how it was configured when it was built; its version
 * alone does not tell.  Lets the server fill in such structs and looks whether the fields are where
 * this module expects them. */
#include "shim.h"

#include <string.h>

/* Room around a struct that the server may believe to be larger than we do. */
#define SPARE 4096

union padded_queue {
    chunkqueue q;
    unsigned char bytes[sizeof(chunkqueue) + SPARE];
};

union padded_request {
    request_st r;
    unsigned char bytes[sizeof(request_st) + SPARE];
};

static bool untouched(const unsigned char *bytes, size_t from, size_t to)
{
    while (from < to && bytes[from] == 0)
        from++;
    return from == to;
}

static bool chunks_fit(const chunkqueue *q, const buffer *name)
{
    const chunk *mem = q->first, *file = q->last;
    return q->bytes_in == 5 + 7 && q->bytes_out == 0 && mem && file && mem->next == file &&
           !file->next && mem->type == MEM_CHUNK && file->type == FILE_CHUNK && mem->offset == 0 &&
           buffer_eq_slen(mem->mem, CONST_STR_LEN("terse")) && file->offset == 3 &&
           file->file.length == 3 + 7 && file->file.fd == -1 && file->file.is_temp == 0 &&
           buffer_is_equal(file->mem, name);
}

static bool queue_fits(void)
{
    union padded_queue u;
    buffer name = {.ptr = NULL};
    memset(&u, 0, sizeof u);
    chunkqueue_init(&u.q);
    buffer_copy_string(&name, "no such file");
    chunkqueue_append_mem(&u.q, CONST_STR_LEN("terse"));
    chunkqueue_append_file(&u.q, &name, 3, 7);
    bool fits = chunks_fit(&u.q, &name) && untouched(u.bytes, sizeof(chunkqueue), sizeof u);
    chunkqueue_reset(&u.q);
    buffer_free_ptr(&name);
    return fits;
}

static bool request_fits(server *srv)
{
    union padded_request u;
    chunkqueue q;
    request_st *r = &u.r;
    connection *con = (connection *)(uintptr_t)&u; /* only stored */
    memset(&u, 0, sizeof u);
    memset(&q, 0, sizeof q);
    chunkqueue_init(&q);
    request_init_data(r, con, srv);
    bool fits = r->http_method == HTTP_METHOD_UNSET && r->http_version == HTTP_VERSION_UNSET &&
                r->plugin_ctx && r->con == con && r->tmp_buf == srv->tmp_buf &&
                r->resp_body_scratchpad == -1 && r->server_name == &r->uri.authority &&
                r->write_queue.upload_temp_file_size == q.upload_temp_file_size &&
                r->reqbody_queue.upload_temp_file_size == q.upload_temp_file_size &&
                r->conf.errh == srv->errh && untouched(u.bytes, sizeof(request_st), sizeof u);
    request_free_data(r);
    return fits;
}

bool guard_layout(server *srv)
{
    const char *wrong = !queue_fits() ? "chunk queues" : !request_fits(srv) ? "requests" : NULL;
    if (wrong)
        log_error(srv->errh, AT,
                  "the %s of this server are laid out in another way than those of the source that "
                  "mod_terse was built from; build it from this server's own source, configured as "
                  "its package is",
                  wrong);
    return !wrong;
}
