/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool text_is_token_char(unsigned char c)
{
    if ((c >= '0' && c <= '9') || (text_lower(c) >= 'a' && text_lower(c) <= 'z'))
        return true;
    return c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

bool text_equal(terse_str text, const char *lower, size_t len)
{
    if (text.len != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (text_lower((unsigned char)text.ptr[i]) != (unsigned char)lower[i])
            return false;
    return true;
}

terse_str text_trim(terse_str text)
{
    while (text.len && text_is_space((unsigned char)text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len && text_is_space((unsigned char)text.ptr[text.len - 1]))
        text.len--;
    return text;
}

terse_str text_before(terse_str text, char c)
{
    const char *at = text.len ? memchr(text.ptr, c, text.len) : NULL;

    if (at)
        text.len = (size_t)(at - text.ptr);
    return text_trim(text);
}

/* Where the member that begins at text ends: at a comma outside quotes, or at the end. */
static size_t member_length(terse_str text)
{
    bool quoted = false;
    size_t i;

    for (i = 0; i < text.len; i++) {
        if (quoted && text.ptr[i] == '\\')
            i++; /* quoted-pair, RFC 9110 section 5.6.4 */
        else if (text.ptr[i] == '"')
            quoted = !quoted;
        else if (text.ptr[i] == ',' && !quoted)
            break;
    }
    return i < text.len ? i : text.len;
}

bool text_next_member(terse_str *rest, terse_str *member)
{
    while (rest->len) {
        size_t len = member_length(*rest);
        size_t past = len < rest->len ? len + 1 : len;

        *member = text_trim((terse_str){rest->ptr, len});
        rest->ptr += past;
        rest->len -= past;
        if (member->len)
            return true;
    }
    return false;
}

bool text_list_has(terse_str list, const char *lower, size_t len)
{
    terse_str member;

    while (text_next_member(&list, &member)) {
        for (size_t i = 0; i < member.len; i++)
            if (member.ptr[i] == ';' || member.ptr[i] == '=')
                member.len = i;
        if (text_equal(text_trim(member), lower, len))
            return true;
    }
    return false;
}

void text_why(char *why, size_t why_len, const char *format, ...)
{
    va_list args;

    if (!why || !why_len)
        return;
    va_start(args, format);
    vsnprintf(why, why_len, format, args);
    va_end(args);
    for (char *c = why; *c; c++) /* it ends up as one line of a log */
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;

    return least < c ? least : c;
}

unsigned text_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned row[33];

    if (a_len > 32 || b_len > 32)
        return 32;
    for (unsigned j = 0; j <= b_len; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a_len; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned j = 1; j <= b_len; j++) {
            unsigned same =
                text_lower((unsigned char)a[i - 1]) == text_lower((unsigned char)b[j - 1]);
            unsigned next = min3(row[j] + 1, row[j - 1] + 1, diagonal + !same);

            diagonal = row[j];
            row[j] = next;
        }
    }
    return row[b_len];
}
