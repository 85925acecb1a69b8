/* SPDX-License-Identifier: MIT */
/* The headers of a request and its response, as the plugin asks for and edits them. */
#include "shim.h"

#include <string.h>

static bool set(terse_str *value, const char *ptr, size_t len)
{
    *value = (terse_str){ptr, len};
    return true;
}

/* H2O takes this one out of what an origin says, and remembers its meaning (ABI.md H9). */
static bool swallowed_hint(const h2o_req_t *req, terse_str *value)
{
    if (req->compress_hint == H2O_COMPRESS_HINT_ENABLE)
        return set(value, H2O_STRLIT("on"));
    if (req->compress_hint == H2O_COMPRESS_HINT_DISABLE)
        return set(value, H2O_STRLIT("off"));
    return false;
}

/* The file handler's 304 has no type.  The one that its file's name stands for is what the 200 had;
 * a name that stands for none says nothing. */
static bool type_of_name(const h2o_req_t *req, terse_str *value)
{
    if (req->res.status != 304 || req->path_normalized.len == 0)
        return false;
    h2o_iovec_t ext = h2o_get_filext(req->path_normalized.base, req->path_normalized.len);
    const h2o_mimemap_type_t *type =
        ext.len ? h2o_mimemap_get_type_by_extension(req->pathconf->mimemap, ext) : NULL;
    if (!type || type == h2o_mimemap_get_default_type(req->pathconf->mimemap) ||
        type->type != H2O_MIMEMAP_TYPE_MIMETYPE)
        return false;
    return set(value, type->data.mimetype.base, type->data.mimetype.len);
}

static bool not_in_the_list(const h2o_req_t *req, const char *name, size_t len, terse_str *value)
{
    if (h2o_memis(name, len, H2O_STRLIT("x-compress-hint")))
        return swallowed_hint(req, value);
    if (h2o_memis(name, len, H2O_STRLIT("content-type")))
        return type_of_name(req, value);
    return false;
}

int32_t headers_line(void *ctx, int32_t side, const char *name, size_t name_len, uint32_t nth,
                     terse_str *value)
{
    const h2o_req_t *req = ctx;
    const h2o_headers_t *headers = side == TERSE_REQUEST ? &req->headers : &req->res.headers;
    ssize_t at = -1;
    if (side != TERSE_REQUEST && side != TERSE_RESPONSE)
        return 0; /* H2O drops trailers */
    for (uint32_t i = 0; (at = h2o_find_header_by_str(headers, name, name_len, at)) != -1; i++)
        if (i == nth) {
            const h2o_iovec_t *found = &headers->entries[at].value;
            return set(value, found->base, found->len);
        } else if (i + 1 > nth) {
            break;
        }
    if (side == TERSE_RESPONSE && nth == 0)
        return not_in_the_list(req, name, name_len, value);
    return 0;
}

static void remove_all(h2o_headers_t *headers, const terse_str *name)
{
    ssize_t at = -1;
    while ((at = h2o_find_header_by_str(headers, name->ptr, name->len, -1)) != -1)
        h2o_delete_header(headers, at);
}

void headers_edit(h2o_req_t *req, const terse_edit *edits, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const terse_edit *edit = &edits[i];
        h2o_headers_t *headers = edit->side == TERSE_REQUEST    ? &req->headers
                                 : edit->side == TERSE_RESPONSE ? &req->res.headers
                                                                : NULL;
        if (!headers || edit->name.len == 0)
            continue;
        if (edit->op == TERSE_EDIT_SET || edit->op == TERSE_EDIT_REMOVE)
            remove_all(headers, &edit->name);
        if (edit->op != TERSE_EDIT_SET && edit->op != TERSE_EDIT_ADD)
            continue;
        h2o_iovec_t name = h2o_strdup(&req->pool, edit->name.ptr, edit->name.len);
        h2o_iovec_t value = h2o_strdup(&req->pool, edit->value.ptr, edit->value.len);
        h2o_add_header_by_str(&req->pool, headers, name.base, name.len, 1, NULL, value.base,
                              value.len);
    }
}
