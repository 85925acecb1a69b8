/* SPDX-License-Identifier: MIT */
#include "replay.h"

#include <string.h>
#include <strings.h>

#include "say.h"

struct text {
    const char *name;
    char *at, *end;
};

/* The next line, without its end and with a zero byte behind it; NULL when there is none. */
static char *next_line(struct text *t)
{
    char *line = t->at, *newline;
    if (line == t->end)
        return NULL;
    newline = memchr(line, '\n', (size_t)(t->end - line));
    t->at = newline ? newline + 1 : t->end;
    if (!newline)
        newline = t->end; /* where the zero byte of the file is */
    if (newline > line && newline[-1] == '\r')
        newline--;
    *newline = '\0';
    return line;
}

/* The fields up to the blank line, which the body follows. */
static int take_fields(struct text *t, int32_t side, struct message *m)
{
    char *line;
    while ((line = next_line(t)) && *line)
        if (headers_add(&m->headers, side, line) != 0)
            return complain("%s: that is no field", t->name);
    return 0;
}

static int take_version(const struct text *t, const char *word, struct message *m)
{
    static const struct {
        const char *text;
        uint32_t number;
    } versions[] = {{"HTTP/1.0", 10}, {"HTTP/1.1", 11}, {"HTTP/2", 20},
                    {"HTTP/2.0", 20}, {"HTTP/3", 30},   {"HTTP/3.0", 30}};
    for (size_t i = 0; word && i < sizeof versions / sizeof versions[0]; i++)
        if (strcmp(word, versions[i].text) == 0) {
            m->http_version = versions[i].number;
            return 0;
        }
    return complain("%s: \"%s\" is not a version of HTTP", t->name, word ? word : "");
}

int replay_request(const char *name, char *bytes, size_t len, struct message *m)
{
    struct text t = {name, bytes, bytes + len};
    char *line = next_line(&t), *rest = NULL;
    char *method = line ? strtok_r(line, " ", &rest) : NULL;
    if (!method || !strtok_r(NULL, " ", &rest))
        return complain("%s: expected \"GET /path HTTP/1.1\" first", name);
    m->method = method;
    if (take_version(&t, strtok_r(NULL, " ", &rest), m) != 0)
        return -1;
    return take_fields(&t, TERSE_REQUEST, m);
}

static bool is_chunked(const struct message *m)
{
    terse_str value;
    return headers_find((void *)(uintptr_t)&m->headers, TERSE_RESPONSE, "transfer-encoding", 17, 0,
                        &value) &&
           value.len == 7 && strncasecmp(value.ptr, "chunked", 7) == 0;
}

/* A server takes the chunks away before anybody decides. */
static void drop_chunked(struct message *m, bool *streamed)
{
    static const terse_str name = {"transfer-encoding", 17};
    *streamed = is_chunked(m);
    if (*streamed)
        headers_remove(&m->headers, TERSE_RESPONSE, name);
}

/* A body that the file does not have, or what it has of it. */
static void take_body(struct text *t, struct message *m)
{
    terse_str value;
    uint64_t n;
    if (t->at < t->end) {
        m->body = t->at;
        m->body_len = (size_t)(t->end - t->at);
        m->length = (int64_t)m->body_len;
    } else if (headers_find(&m->headers, TERSE_RESPONSE, "content-length", 14, 0, &value) &&
               args_number(value.ptr, INT64_MAX, &n)) {
        m->length = (int64_t)n;
    }
}

int replay_response(const char *name, char *bytes, size_t len, struct message *m, bool *streamed)
{
    struct text t = {name, bytes, bytes + len};
    uint32_t version = m->http_version; /* the client's, which the response does not change */
    char *line = next_line(&t), *rest = NULL, *status;
    if (take_version(&t, line ? strtok_r(line, " ", &rest) : NULL, m) != 0)
        return -1;
    m->http_version = version;
    status = strtok_r(NULL, " ", &rest);
    if (!status || strlen(status) != 3 || strspn(status, "0123456789") != 3 || *status == '0')
        return complain("%s: expected \"HTTP/1.1 200\" first", name);
    m->status = (uint32_t)((status[0] - '0') * 100 + (status[1] - '0') * 10 + status[2] - '0');
    if (take_fields(&t, TERSE_RESPONSE, m) != 0)
        return -1;
    drop_chunked(m, streamed);
    take_body(&t, m);
    return 0;
}
