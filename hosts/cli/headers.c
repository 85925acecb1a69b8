/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "headers.h"
#include "say.h"

/* RFC 9110 section 5.6.2 */
static size_t token_len(const char *text)
{
    return strspn(text, "!#$%&'*+-.^_`|~0123456789"
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

int headers_add(struct headers *h, int32_t side, const char *line)
{
    size_t name_len = token_len(line);
    if (name_len == 0 || line[name_len] != ':')
        return complain("expected \"Name: value\", not \"%s\"", line);
    if (strpbrk(line, "\r\n"))
        return complain("a header is one line: \"%s\"", line);
    if (h->count == HEADERS_MAX)
        return complain("more than %d header lines", HEADERS_MAX);

    const char *value = line + name_len + 1;
    value += strspn(value, " \t");
    size_t len = strlen(value);
    while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        len--;
    h->lines[h->count].side = side;
    h->lines[h->count].name = (terse_str){line, name_len};
    h->lines[h->count].value = (terse_str){value, len};
    h->count++;
    return 0;
}

static bool is_named(const struct headers *h, unsigned i, int32_t side, const char *name,
                     size_t len)
{
    return h->lines[i].side == side && h->lines[i].name.len == len &&
           strncasecmp(h->lines[i].name.ptr, name, len) == 0;
}

void headers_remove(struct headers *h, int32_t side, terse_str name)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < h->count; i++)
        if (!is_named(h, i, side, name.ptr, name.len))
            h->lines[kept++] = h->lines[i];
    h->count = kept;
}

int headers_edit(struct headers *h, const terse_edit *edit)
{
    if (edit->op == TERSE_EDIT_SET || edit->op == TERSE_EDIT_REMOVE)
        headers_remove(h, edit->side, edit->name);
    if (edit->op != TERSE_EDIT_SET && edit->op != TERSE_EDIT_ADD)
        return 0;
    if (h->count == HEADERS_MAX)
        return complain("more than %d header lines", HEADERS_MAX);
    h->lines[h->count].side = edit->side;
    h->lines[h->count].name = edit->name;
    h->lines[h->count++].value = edit->value;
    return 0;
}

int32_t headers_find(void *ctx, int32_t side, const char *name, size_t name_len, uint32_t nth,
                     terse_str *value)
{
    const struct headers *h = ctx;
    for (unsigned i = 0; i < h->count; i++) {
        if (!is_named(h, i, side, name, name_len) || nth-- > 0)
            continue;
        *value = h->lines[i].value;
        return 1;
    }
    return 0;
}
