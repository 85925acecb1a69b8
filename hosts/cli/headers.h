/* SPDX-License-Identifier: MIT */
/* Header lines from the command line, given to the plugin as a server gives its own. */
#ifndef TERSE_CLI_HEADERS_H
#define TERSE_CLI_HEADERS_H

#include <terse.h>

#define HEADERS_MAX 100

struct headers {
    struct {
        int32_t side;
        terse_str name;
        terse_str value;
    } lines[HEADERS_MAX];
    unsigned count;
};

/* Takes one line "Name: value", which stays in place.  0, or -1 after a complaint. */
int headers_add(struct headers *h, int32_t side, const char *line);

/* Drops every line of that name. */
void headers_remove(struct headers *h, int32_t side, terse_str name);
/* Does what an edit says; its bytes stay in place.  0, or -1 after a complaint. */
int headers_edit(struct headers *h, const terse_edit *edit);

/* A terse_header_fn; ctx is a struct headers. */
int32_t headers_find(void *ctx, int32_t side, const char *name, size_t name_len, uint32_t nth,
                     terse_str *value);

#endif
