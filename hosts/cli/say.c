/* SPDX-License-Identifier: MIT */
#include <stdarg.h>

#include "say.h"

int complain(const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0)
        return -1;
    fputs("terse: ", stderr);
    print_text(stderr, (terse_str){line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1});
    fputc('\n', stderr);
    return -1;
}

void print_text(FILE *to, terse_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        fputc(c < 0x20 || c == 0x7f ? '?' : c, to);
    }
}

const char *status_words(terse_status status)
{
    switch (status) {
    case TERSE_E_ARG:
        return "the plugin does not take this call";
    case TERSE_E_NOMEM:
        return "no memory";
    case TERSE_E_TOOBIG:
        return "the plugin is older than this program";
    case TERSE_E_KEY:
        return "no such setting";
    case TERSE_E_VALUE:
        return "the setting does not take this value";
    case TERSE_E_CODING:
        return "the plugin does not have this coding";
    case TERSE_E_STATE:
        return "the plugin did not expect this call now";
    case TERSE_E_BROKEN:
        return "the codec failed";
    case TERSE_E_DATA:
        return "the input is not in this coding, is damaged, or is cut short";
    case TERSE_E_LIMIT:
        return "a limit of the settings was passed";
    case TERSE_E_LIBRARY:
        return "a codec library does not fit";
    default:
        return status < 0 ? "the plugin failed" : "done";
    }
}
