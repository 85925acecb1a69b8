/* SPDX-License-Identifier: MIT */
/* One request and its response, taken through the plugin as a server would. */
#ifndef TERSE_CLI_EXCHANGE_H
#define TERSE_CLI_EXCHANGE_H

#include <stdbool.h>

#include "headers.h"
#include "session.h"

#define EDITS_MAX 64

struct message {
    const char *method;
    uint32_t http_version;
    uint32_t status;
    int64_t length;   /* -1: not known */
    bool whole;       /* the server has all of it before it answers */
    const char *body; /* NULL: not at hand, and a made-up text stands in for it */
    size_t body_len;
    struct headers headers;
};

/* What came of it; free with outcome_free. */
struct outcome {
    terse_decision decision; /* the last one; its edits are the copies below */
    terse_edit request_edits[EDITS_MAX], response_edits[EDITS_MAX];
    unsigned n_request_edits, n_response_edits;
    int action;   /* what was done with the body */
    bool uncoded; /* the request's body is decoded before it is handled */
    terse_outcome account;
    char *copies[4 * EDITS_MAX];
    unsigned n_copies;
};

/* 0, or -1 after a complaint. */
int exchange_run(struct session *s, const struct message *m, struct outcome *out);
void outcome_free(struct outcome *out);

#endif
