/* SPDX-License-Identifier: MIT */
/* What can be seen from outside: access log, status page, error log. */
#include "shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* %{terse}e in accesslog.format: "gzip/coded", "identity/too-small".  Where Terse is off: "-". */
void notes_decision(request_st *r, const char *coding, const char *reason)
{
    buffer *note = http_header_env_set_ptr(r, CONST_STR_LEN("terse"));
    buffer_append_string(note, coding ? coding : "identity");
    buffer_append_string_len(note, CONST_STR_LEN("/"));
    buffer_append_string(note, reason ? reason : "unknown");
}

/* %{ratio}e: coded bytes in percent of the body's, rounded down, as mod_deflate has it. */
void notes_ratio(request_st *r, uint64_t bytes_in, uint64_t bytes_out)
{
    if (bytes_in == 0)
        return;
    buffer_append_int(http_header_env_set_ptr(r, CONST_STR_LEN("ratio")),
                      (intmax_t)(bytes_out * 100 / bytes_in));
}

/* The server's statistics are of type int: past that, a second line counts in millions. */
static void publish(const char *name, uint64_t value)
{
    char key[96];
    int len = snprintf(key, sizeof key, "terse.%s", name);
    if (len < 0 || (size_t)len >= sizeof key - sizeof ".millions")
        return;
    *array_get_int_ptr(&plugin_stats, key, (uint32_t)len) = value < INT_MAX ? (int)value : INT_MAX;
    if (value < INT_MAX)
        return;
    uint64_t millions = value / 1000000;
    len += snprintf(key + len, sizeof key - (size_t)len, ".millions");
    *array_get_int_ptr(&plugin_stats, key, (uint32_t)len) =
        millions < INT_MAX ? (int)millions : INT_MAX;
}

void notes_counters(const struct shim *s)
{
    const char *name;
    uint64_t value;
    for (uint32_t i = 0; api_of(s)->pool_counter(s->pool, i, &name, &value) >= 0; i++)
        publish(name, value);
    publish("calls.longest-us", s->calls.longest / 1000);
}

static void say_versions(const server *srv, const struct shim *s)
{
    char line[1024];
    terse_str name, value;
    size_t len = 0;
    line[0] = '\0';
    for (uint32_t i = 0; api_of(s)->info(s->plugin.instance, i, &name, &value) >= 0; i++) {
        int n = snprintf(line + len, sizeof line - len, "%s%.*s %.*s", i ? ", " : "",
                         (int)(name.len < 64 ? name.len : 64), name.ptr,
                         (int)(value.len < 128 ? value.len : 128), value.ptr);
        if (n < 0 || (size_t)n >= sizeof line - len)
            break;
        len += (size_t)n;
    }
    log_error(srv->errh, AT, "%s: %s", s->plugin.path, line);
}

/* Modules listed later see the response after this one, and what they change goes unseen.  A gateway
 * gets its request, and gives up on a backend, in hooks that have to come before ours. */
static bool has_to_be_earlier(const plugin *p)
{
    return p->handle_response_start || (p->handle_subrequest && p->handle_trigger);
}

static void check_order(const server *srv)
{
    char later[256] = "";
    size_t len = 0;
    bool passed = false;
    for (uint32_t i = 0; i < srv->plugins.used; i++) {
        const plugin *p = server_module(srv, i);
        if (strcmp(p->name, "terse") == 0)
            passed = true;
        else if (passed && has_to_be_earlier(p) && len < sizeof later)
            len += (size_t)snprintf(later + len, sizeof later - len, "%smod_%s", len ? ", " : "",
                                    p->name);
    }
    if (len)
        log_error(srv->errh, AT,
                  "mod_terse belongs behind %s in server.modules: what they do to a response "
                  "comes too late for it",
                  later);
}

static void check_deflate(const server *srv)
{
    for (uint32_t i = 0; i < srv->plugins.used; i++)
        if (strcmp(server_module(srv, i)->name, "deflate") == 0)
            log_error(srv->errh, AT,
                      "mod_deflate is loaded as well: what it has coded passes mod_terse as it is; "
                      "one of the two is enough");
}

void notes_start(server *srv, const struct shim *s)
{
    check_order(srv);
    check_deflate(srv);
    if (!srv->srvconf.preflight_check)
        say_versions(srv, s);
}

void complain(struct shim *s, const request_st *r, const char *format, ...)
{
    char words[512];
    uint32_t left_out;
    va_list args;
    if (!terse_limit_pass(&s->complaints, server_now_ms(), &left_out))
        return;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (left_out)
        log_error(r->conf.errh, AT, "%.*s: %s (%u such lines were left out)",
                  BUFFER_INTLEN_PTR(&r->target), words, left_out);
    else
        log_error(r->conf.errh, AT, "%.*s: %s", BUFFER_INTLEN_PTR(&r->target), words);
}
