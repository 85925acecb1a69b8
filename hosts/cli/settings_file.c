/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "say.h"
#include "settings_file.h"

#define LINE_MAX_BYTES 16384

struct reader {
    const char *path;
    setting_fn take;
    void *ctx;
    unsigned line, taken;
};

static terse_str trim(const char *text, size_t len)
{
    static const char space[] = " \t\r\n\f\v";
    while (len > 0 && strchr(space, text[0])) {
        text++;
        len--;
    }
    while (len > 0 && strchr(space, text[len - 1]))
        len--;
    return (terse_str){text, len};
}

int setting_split(const char *text, size_t len, terse_str *key, terse_str *value)
{
    const char *equals = memchr(text, '=', len);
    if (!equals)
        return -1;
    *key = trim(text, (size_t)(equals - text));
    *value = trim(equals + 1, len - (size_t)(equals + 1 - text));
    return key->len > 0 ? 0 : -1;
}

static int refuse(const struct reader *r, const char *words)
{
    return complain("%s:%u: %s", r->path, r->line, words);
}

static int take_line(struct reader *r, const char *text, size_t len)
{
    char why[1024] = "";
    terse_str key, value, line = trim(text, len);

    if (line.len == 0 || line.ptr[0] == '#')
        return 0;
    if (memchr(text, '\0', len))
        return refuse(r, "a NUL byte");
    if (setting_split(line.ptr, line.len, &key, &value) != 0)
        return refuse(r, "expected: key = value");
    if (r->take(r->ctx, key, value, why, sizeof why) != 0)
        return refuse(r, why);
    r->taken++;
    return 0;
}

/* One line with its newline, as far as it fits; how long it is, 0 at the end. */
static size_t next_line(FILE *from, char *line, size_t size)
{
    size_t len = 0;
    int c;
    while ((c = getc(from)) != EOF) {
        if (len < size)
            line[len] = (char)c;
        len++;
        if (c == '\n')
            break;
    }
    return len;
}

static int read_lines(struct reader *r, FILE *from, unsigned *wrong)
{
    static char line[LINE_MAX_BYTES];
    size_t len;
    while ((len = next_line(from, line, sizeof line)) > 0) {
        r->line++;
        int result =
            len > sizeof line ? refuse(r, "the line is too long") : take_line(r, line, len);
        if (result != 0)
            ++*wrong;
    }
    return ferror(from) ? -1 : 0;
}

unsigned settings_file_read(const char *path, setting_fn take, void *ctx, unsigned *wrong)
{
    int standard = strcmp(path, "-") == 0;
    struct reader r = {.path = path, .take = take, .ctx = ctx};
    FILE *from = standard ? stdin : fopen(path, "re");

    if (!from || read_lines(&r, from, wrong) != 0) {
        complain("%s: %s", path, strerror(errno));
        ++*wrong;
    }
    if (from && !standard)
        fclose(from);
    return r.taken;
}
