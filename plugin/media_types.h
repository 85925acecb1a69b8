/* SPDX-License-Identifier: MIT */
/* Lists of media types (RFC 9110 section 8.3.1).  A pattern is a whole type, a beginning with "*"
 * behind it ("text/" and "*"), or a structured suffix with "*" before it ("*+json"). */
#ifndef TERSE_MEDIA_TYPES_H
#define TERSE_MEDIA_TYPES_H

#include <stdbool.h>

#include <terse.h>

struct media_types;

/* The built-in lists; static, counting them does nothing. */
const struct media_types *media_types_codable(void);
const struct media_types *media_types_denied(void);
/* "text/html, *+json"; a leading "+" adds to base, else the list stands alone.  NULL: why has
 * words, *status says E_VALUE or E_NOMEM.  The result is counted once. */
const struct media_types *media_types_parse(const struct media_types *base, terse_str list,
                                            terse_status *status, char *why, size_t why_len);
const struct media_types *media_types_ref(const struct media_types *list);
void media_types_unref(const struct media_types *list);
/* Whether the operator wrote the whole list, so that what is not on it was left out on purpose. */
bool media_types_closed(const struct media_types *list);
/* Content-Type against the list: parameters and case are ignored. */
bool media_types_match(const struct media_types *list, terse_str content_type);

#endif
