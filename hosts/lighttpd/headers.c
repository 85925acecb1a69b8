/* SPDX-License-Identifier: MIT */
/* The headers of a request and its response, as the plugin asks for and edits them. */
#include "shim.h"

#include <string.h>

#define NAME_MAX_LEN 256

/* lighttpd keeps repeated response lines in one value, "a\r\nName: b", and joins those of a request
 * with ", ".  Finds the nth line; a folded one ("\r\n" and white space) is one line. */
static bool nth_line(const buffer *joined, size_t name_len, uint32_t nth, terse_str *value)
{
    const char *line = joined->ptr, *end = joined->ptr + buffer_clen(joined);
    for (;; nth--) {
        const char *stop = line;
        while ((stop = memchr(stop, '\n', (size_t)(end - stop))) && stop + 1 < end &&
               (stop[1] == ' ' || stop[1] == '\t'))
            stop++;
        const char *next = stop ? stop + 1 : end;
        const char *last = stop ? stop : end;
        if (stop && last > line && last[-1] == '\r')
            last--;
        if (nth == 0) {
            *value = (terse_str){line, (size_t)(last - line)};
            return true;
        }
        if ((size_t)(end - next) < name_len + 2) /* "Name: " */
            return false;
        line = next + name_len + 2;
    }
}

int32_t header_line(void *ctx, int32_t side, const char *name, size_t name_len, uint32_t nth,
                    terse_str *value)
{
    const request_st *r = ctx;
    const buffer *joined = NULL;
    if (name_len == 0 || name_len > NAME_MAX_LEN)
        return 0;
    enum http_header_e id = http_header_hkey_get(name, name_len);
    if (side == TERSE_REQUEST)
        joined = http_header_request_get(r, id, name, (uint32_t)name_len);
    else if (side == TERSE_RESPONSE)
        joined = http_header_response_get(r, id, name, (uint32_t)name_len);
    /* trailers: those that are known by now were merged into the headers */
    if (!joined || buffer_is_blank(joined))
        return 0;
    return nth_line(joined, name_len, nth, value) ? 1 : 0;
}

/* The usual spelling in HTTP/1: content-type is Content-Type.  HTTP/2 lowers it again. */
static uint32_t spell(char spelt[NAME_MAX_LEN], terse_str name)
{
    char before = '-';
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        spelt[i] = before == '-' && light_islower(c) ? (char)(c - 'a' + 'A') : c;
        before = c;
    }
    return (uint32_t)name.len;
}

static void edit_response(request_st *r, const terse_edit *edit, enum http_header_e id,
                          const char *name, uint32_t len)
{
    const terse_str *value = &edit->value;
    if (edit->op == TERSE_EDIT_SET)
        http_header_response_set(r, id, name, len, value->ptr, (uint32_t)value->len);
    else if (edit->op == TERSE_EDIT_ADD)
        http_header_response_insert(r, id, name, len, value->ptr, (uint32_t)value->len);
    else if (edit->op == TERSE_EDIT_REMOVE)
        http_header_response_unset(r, id, name, len);
}

static void edit_request(request_st *r, const terse_edit *edit, enum http_header_e id,
                         const char *name, uint32_t len)
{
    const terse_str *value = &edit->value;
    if (edit->op == TERSE_EDIT_SET)
        http_header_request_set(r, id, name, len, value->ptr, (uint32_t)value->len);
    else if (edit->op == TERSE_EDIT_ADD)
        http_header_request_append(r, id, name, len, value->ptr, (uint32_t)value->len);
    else if (edit->op == TERSE_EDIT_REMOVE)
        http_header_request_unset(r, id, name, len);
}

/* One string behind the others; false when there is no room. */
static bool keep(struct kept_edits *kept, terse_str *str)
{
    if (str->len > sizeof kept->bytes - kept->used)
        return false;
    char *to = kept->bytes + kept->used;
    if (str->len)
        memcpy(to, str->ptr, str->len);
    kept->used += str->len;
    str->ptr = to;
    return true;
}

bool headers_keep(struct kept_edits *kept, terse_decision *d)
{
    kept->used = 0;
    if (d->n_edits > sizeof kept->list / sizeof kept->list[0])
        return false;
    for (uint32_t i = 0; i < d->n_edits; i++) {
        kept->list[i] = d->edits[i];
        if (!keep(kept, &kept->list[i].name) || !keep(kept, &kept->list[i].value))
            return false;
    }
    d->edits = kept->list;
    return true;
}

void headers_edit(request_st *r, const terse_edit *edits, uint32_t n)
{
    char name[NAME_MAX_LEN];
    for (uint32_t i = 0; i < n; i++) {
        const terse_edit *edit = &edits[i];
        if (edit->name.len == 0 || edit->name.len > NAME_MAX_LEN || edit->value.len > UINT16_MAX)
            continue;
        uint32_t len = spell(name, edit->name);
        enum http_header_e id = http_header_hkey_get(name, len);
        if (edit->side == TERSE_RESPONSE)
            edit_response(r, edit, id, name, len);
        else if (edit->side == TERSE_REQUEST)
            edit_request(r, edit, id, name, len);
    }
}

/* Without the header the server frames by what is in its queue, or in chunks. */
void headers_set_length(request_st *r, int64_t length)
{
    if (length == TERSE_LENGTH_UNKNOWN)
        http_header_response_unset(r, HTTP_HEADER_CONTENT_LENGTH, CONST_STR_LEN("Content-Length"));
    else if (length >= 0)
        buffer_append_int(http_header_response_set_ptr(r, HTTP_HEADER_CONTENT_LENGTH,
                                                       CONST_STR_LEN("Content-Length")),
                          length);
}
