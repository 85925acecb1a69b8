/* SPDX-License-Identifier: MIT */
#include "entity_tag.h"

#include <string.h>

#include "coding.h"
#include "edits.h"
#include "text.h"

#define CHECK_DIGITS 4

/* entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE; its length at the start of text, or 0 */
static size_t tag_length(terse_str text, bool *weak)
{
    size_t i;

    *weak = text.len > 2 && text.ptr[0] == 'W' && text.ptr[1] == '/';
    i = *weak ? 2 : 0;
    if (i >= text.len || text.ptr[i] != '"')
        return 0;
    for (i++; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c == '"')
            return i + 1;
        if (c < 0x21 || c == 0x7f)
            return 0;
    }
    return 0;
}

static void cut(terse_str text, size_t len, struct entity_tag *tag)
{
    size_t start = tag->weak ? 2 : 0;

    tag->opaque = (terse_str){text.ptr + start, len - start};
}

bool entity_tag_parse(terse_str text, struct entity_tag *tag)
{
    size_t len;

    text = text_trim(text);
    len = tag_length(text, &tag->weak);
    if (!len || len != text.len)
        return false;
    cut(text, len, tag);
    return true;
}

bool entity_tag_next(terse_str *rest, struct entity_tag *tag)
{
    size_t len;

    *rest = text_trim(*rest);
    while (rest->len && rest->ptr[0] == ',')
        *rest = text_trim((terse_str){rest->ptr + 1, rest->len - 1});
    len = tag_length(*rest, &tag->weak);
    if (!len)
        return false;
    cut(*rest, len, tag);
    *rest = text_trim((terse_str){rest->ptr + len, rest->len - len});
    return !rest->len || rest->ptr[0] == ',';
}

bool entity_tag_same(const struct entity_tag *a, const struct entity_tag *b)
{
    return a->opaque.len && a->opaque.len == b->opaque.len &&
           !memcmp(a->opaque.ptr, b->opaque.ptr, a->opaque.len);
}

/* ---- tags that name a coding ------------------------------------------------------------------ */

uint32_t entity_tag_hash(uint32_t hash, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * UINT32_C(16777619);
    return hash;
}

/* The four digits for what stands before the closing quote. */
static void check(char digits[CHECK_DIGITS], terse_str plain_but_quote, int coding, uint32_t salt)
{
    const char *name = coding_name(coding);
    uint32_t hash = entity_tag_hash(salt, name, strlen(name));

    hash = entity_tag_hash(hash, plain_but_quote.ptr, plain_but_quote.len);
    hash ^= hash >> 16;
    for (int i = 0; i < CHECK_DIGITS; i++)
        digits[i] = "0123456789abcdef"[hash >> 4 * i & 15];
}

bool entity_tag_suffix(struct edits *e, const struct entity_tag *plain, int coding, uint32_t salt,
                       struct entity_tag *coded)
{
    const char *name = coding_name(coding);
    terse_str but_quote = {plain->opaque.ptr, plain->opaque.len - 1};
    char digits[CHECK_DIGITS];

    check(digits, but_quote, coding, salt);
    coded->weak = plain->weak;
    return edits_join(
        e,
        (terse_str[]){
            but_quote, STR("-"), {name, strlen(name)}, STR("."), {digits, CHECK_DIGITS}, STR("\"")},
        6, &coded->opaque);
}

/* Whether tail, which is what stands before the check, ends in "-" and the coding's name. */
static bool names(terse_str tail, int coding, terse_str *plain_but_quote)
{
    const char *name = coding_name(coding);
    size_t len = strlen(name);

    if (tail.len < len + 2 || memcmp(tail.ptr + tail.len - len, name, len) != 0 ||
        tail.ptr[tail.len - len - 1] != '-')
        return false;
    *plain_but_quote = (terse_str){tail.ptr, tail.len - len - 1};
    return true;
}

int entity_tag_coding(const struct entity_tag *tag, uint32_t salt, terse_str *plain_but_quote)
{
    const size_t behind = 1 + CHECK_DIGITS + 1; /* ".5e0c" and the quote */
    char digits[CHECK_DIGITS];
    terse_str tail;

    if (tag->opaque.len < behind + 2 || tag->opaque.ptr[tag->opaque.len - behind] != '.')
        return CODING_NONE;
    tail = (terse_str){tag->opaque.ptr, tag->opaque.len - behind};
    for (int coding = 0; coding < CODING_COUNT; coding++) {
        if (!names(tail, coding, plain_but_quote))
            continue;
        check(digits, *plain_but_quote, coding, salt);
        if (!memcmp(digits, tail.ptr + tail.len + 1, CHECK_DIGITS))
            return coding;
    }
    return CODING_NONE;
}
