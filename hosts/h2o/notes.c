/* SPDX-License-Identifier: MIT */
/* What can be seen from outside: access log and error log. */
#include "shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NOTE "TERSE"

/* %{TERSE}e in access-log's format: "gzip/coded", "identity/too-small". */
void notes_decision(h2o_req_t *req, const char *coding, const char *reason)
{
    if (!coding)
        coding = "identity";
    if (!reason)
        reason = "unknown";
    *h2o_req_getenv(req, H2O_STRLIT(NOTE), 1) =
        h2o_concat(&req->pool, h2o_iovec_init(coding, strlen(coding)),
                   h2o_iovec_init(H2O_STRLIT("/")), h2o_iovec_init(reason, strlen(reason)));
}

void notes_log(void *data, int32_t level, const char *msg, size_t len)
{
    static const char *const words[] = {"error: ", "warning: ", ""};
    const char *word = level >= TERSE_LOG_ERROR && level <= TERSE_LOG_INFO ? words[level] : "";
    (void)data;
    fprintf(stderr, "[terse] %s%.*s\n", word, (int)(len < 2000 ? len : 2000), msg);
}

void notes_start(const struct shim *s)
{
    char line[1024] = "";
    terse_str name, value;
    size_t len = 0;
    for (uint32_t i = 0; s->plugin.api->info(s->plugin.instance, i, &name, &value) >= 0; i++) {
        int n = snprintf(line + len, sizeof line - len, "%s%.*s %.*s", i ? ", " : "",
                         (int)(name.len < 64 ? name.len : 64), name.ptr,
                         (int)(value.len < 128 ? value.len : 128), value.ptr);
        if (n < 0 || (size_t)n >= sizeof line - len)
            break;
        len += (size_t)n;
    }
    fprintf(stderr, "[terse] %s: %s\n", s->plugin.path, line);
}

void complain(struct worker *w, h2o_req_t *req, const char *format, ...)
{
    char words[512];
    uint32_t left_out;
    va_list args;
    if (!terse_limit_pass(&w->complaints, h2o_now(w->ctx->loop), &left_out))
        return;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (left_out)
        h2o_req_log_error(req, "terse", "%s (%u such lines were left out)", words, left_out);
    else
        h2o_req_log_error(req, "terse", "%s", words);
}
