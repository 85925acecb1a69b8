/* SPDX-License-Identifier: MIT */
/* ASCII text as HTTP has it: no locale, no NUL, lengths everywhere. */
#ifndef TERSE_TEXT_H
#define TERSE_TEXT_H

#include <stdbool.h>

#include <terse.h>

#define STR(literal) ((terse_str){(literal), sizeof(literal) - 1})

static inline unsigned char text_lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

static inline bool text_is_space(unsigned char c) /* OWS, RFC 9110 section 5.6.3 */
{
    return c == ' ' || c == '\t';
}

/* tchar of RFC 9110 section 5.6.2 */
bool text_is_token_char(unsigned char c);

/* lower is lower case already */
bool text_equal(terse_str text, const char *lower, size_t len);
/* text without OWS at both ends */
terse_str text_trim(terse_str text);
/* text up to the first such character, trimmed */
terse_str text_before(terse_str text, char c);
/* The next member of a comma-separated list, trimmed; commas in quoted strings do not count.
 * rest moves past it.  False at the end; empty members are passed over. */
bool text_next_member(terse_str *rest, terse_str *member);
/* Whether a list has that token; parameters of members (after ';' or '=') are cut off. */
bool text_list_has(terse_str list, const char *lower, size_t len);

/* vsnprintf into why, when there is room for it. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void text_why(char *why, size_t why_len, const char *format, ...);

/* Edit distance of two short words, capped. */
unsigned text_distance(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
