/* SPDX-License-Identifier: MIT */
/* terse explain: the decision on one exchange, without a server. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "exchange.h"
#include "input.h"
#include "replay.h"
#include "report.h"
#include "say.h"

struct state {
    struct session_args session;
    struct message message;
    const char *file, *request, *response;
    char *kept[3]; /* what was read from files */
    bool streamed;
};

static int take_method(void *state, const char *value)
{
    ((struct state *)state)->message.method = value;
    return 0;
}

static int take_status(void *state, const char *value)
{
    uint64_t n;
    if (!args_number(value, 999, &n) || n < 100)
        return complain("--status %s: 100 to 999", value);
    ((struct state *)state)->message.status = (uint32_t)n;
    return 0;
}

static int take_http(void *state, const char *value)
{
    static const struct {
        const char *text;
        uint32_t number;
    } versions[] = {{"1.0", 10}, {"1.1", 11}, {"2", 20}, {"2.0", 20}, {"3", 30}, {"3.0", 30}};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (strcmp(value, versions[i].text) == 0) {
            ((struct state *)state)->message.http_version = versions[i].number;
            return 0;
        }
    return complain("--http %s: 1.0, 1.1, 2 or 3", value);
}

static int take_request_header(void *state, const char *value)
{
    return headers_add(&((struct state *)state)->message.headers, TERSE_REQUEST, value);
}

static int take_response_header(void *state, const char *value)
{
    return headers_add(&((struct state *)state)->message.headers, TERSE_RESPONSE, value);
}

static int take_length(void *state, const char *value)
{
    uint64_t n;
    if (!args_number(value, INT64_MAX, &n))
        return complain("--length %s: a number of bytes", value);
    ((struct state *)state)->message.length = (int64_t)n;
    return 0;
}

static int take_body_file(void *state, const char *value)
{
    ((struct state *)state)->file = value;
    return 0;
}

static int take_request(void *state, const char *value)
{
    ((struct state *)state)->request = value;
    return 0;
}

static int take_response(void *state, const char *value)
{
    ((struct state *)state)->response = value;
    return 0;
}

static int take_streamed(void *state, const char *value)
{
    (void)value;
    ((struct state *)state)->streamed = true;
    return 0;
}

static const struct arg args[] = {
    {"method", 'X', "METHOD", "of the request; GET", take_method},
    {"http", 0, "VERSION", "the client's: 1.0, 1.1, 2 or 3; 1.1", take_http},
    {"request-header", 'H', "LINE", "\"Name: value\" of the request's header", take_request_header},
    {"status", 0, "NUMBER", "of the response; 200", take_status},
    {"response-header", 'R', "LINE", "\"Name: value\" of the response's header",
     take_response_header},
    {"length", 0, "BYTES", "of the response's body, when there is no --file", take_length},
    {"file", 0, "FILE", "the response's body, which is really coded", take_body_file},
    {"request", 0, "FILE", "the request, as HTTP/1 writes it; -H adds to it", take_request},
    {"response", 0, "FILE", "the response, as curl -i shows it, with or without its body",
     take_response},
    {"streamed", 0, NULL, "the body's length is not known when it starts", take_streamed},
    {NULL, 0, NULL, NULL, NULL},
};

static const struct usage usage = {
    .command = "explain",
    .operands = "",
    .summary = "Tells what is decided for a request and its response, and why: the coding, the\n"
               "reason, each change of a header, and what the client says of each coding.",
    .args = {args, session_settings_args, session_plugin_arg},
};

/* What the files say; the options say more, or other things. */
static int replay(struct state *state)
{
    struct message *m = &state->message;
    char **kept = state->kept;
    size_t len;
    if (state->request && (input_read(state->request, &kept[0], &len) != 0 ||
                           replay_request(state->request, kept[0], len, m) != 0))
        return -1;
    if (state->response &&
        (input_read(state->response, &kept[1], &len) != 0 ||
         replay_response(state->response, kept[1], len, m, &state->streamed) != 0))
        return -1;
    if (!state->file)
        return 0;
    if (input_read(state->file, &kept[2], &len) != 0)
        return -1;
    m->body = kept[2];
    m->body_len = len;
    m->length = (int64_t)len;
    return 0;
}

static int explain(struct state *state)
{
    struct message *m = &state->message;
    struct session s = {0};
    struct outcome out = {0};
    int result = replay(state);
    m->whole = m->length >= 0 && !state->streamed;
    if (state->streamed)
        m->length = -1;
    if (result == 0)
        result = session_open(&s, &state->session);
    if (result == 0)
        result = exchange_run(&s, m, &out);
    if (result == 0) {
        report_print(&s, m, &out);
        result = report_weights(&s, &m->headers);
    }
    outcome_free(&out);
    session_close(&s);
    for (size_t i = 0; i < sizeof state->kept / sizeof state->kept[0]; i++)
        free(state->kept[i]);
    return result;
}

int command_explain(int argc, char **argv)
{
    static struct state state;
    state.message.method = "GET";
    state.message.http_version = 11;
    state.message.status = 200;
    state.message.length = -1;
    enum args_result parsed = args_parse(&usage, &state, &argc, argv);
    if (parsed != ARGS_RUN)
        return parsed == ARGS_HELP ? EXIT_FINE : EXIT_USAGE;
    return explain(&state) == 0 ? EXIT_FINE : EXIT_REFUSED;
}
