/* SPDX-License-Identifier: MIT */
#include "media_types.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "errno_keep.h"
#include "text.h"

#define PATTERNS_MAX 256

struct media_types {
    atomic_uint *count; /* NULL for the built-in lists */
    uint32_t n;
    bool closed; /* the operator's own list, built on no other */
    const terse_str *patterns;
};

#define T(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

/* Text, and formats that are not packed already: coding gains a third or more. */
static const terse_str codable[] = {
    T("text/*"),
    T("*+json"),
    T("*+xml"),
    T("*+yaml"),
    T("application/json"),
    T("application/javascript"),
    T("application/x-javascript"),
    T("application/ecmascript"),
    T("application/xml"),
    T("application/xml-dtd"),
    T("application/json-seq"),
    T("application/ndjson"),
    T("application/x-ndjson"),
    T("application/graphql"),
    T("application/yaml"),
    T("application/x-yaml"),
    T("application/toml"),
    T("application/sql"),
    T("application/rtf"),
    T("application/postscript"),
    T("application/x-sh"),
    T("application/x-tex"),
    T("application/x-www-form-urlencoded"),
    T("application/wasm"), /* machine code: codes to a half */
    T("font/ttf"),
    T("font/otf"),
    T("font/collection"),
    T("font/sfnt"), /* outlines, not packed */
    T("application/x-font-ttf"),
    T("application/x-font-otf"),
    T("application/x-font-truetype"),
    T("application/x-font-opentype"),
    T("application/vnd.ms-fontobject"),
    T("image/bmp"),
    T("image/x-icon"),
    T("image/vnd.microsoft.icon"), /* plain pixels */
    T("message/*"),
};

/* Packed already, or with a framing of its own that a coding would break. */
static const terse_str denied[] = {
    T("image/jpeg"),
    T("image/png"),
    T("image/apng"),
    T("image/gif"),
    T("image/webp"),
    T("image/avif"),
    T("image/heic"),
    T("image/heif"),
    T("image/jxl"),
    T("image/jp2"),
    T("audio/*"),
    T("video/*"),
    T("font/woff"),
    T("font/woff2"),
    T("application/font-woff"),
    T("application/font-woff2"),
    T("application/x-font-woff"),
    T("application/zip"),
    T("application/gzip"),
    T("application/x-gzip"),
    T("application/zstd"),
    T("application/x-bzip"),
    T("application/x-bzip2"),
    T("application/x-xz"),
    T("application/x-lzma"),
    T("application/x-7z-compressed"),
    T("application/vnd.rar"),
    T("application/x-rar-compressed"),
    T("application/x-compress"),
    T("application/java-archive"),
    T("application/vnd.android.package-archive"),
    T("*+zip"),
    T("*+gzip"),
    T("*+zstd"),
    T("application/vnd.openxmlformats-officedocument*"), /* zip files */
    T("application/vnd.oasis.opendocument*"),
    T("application/grpc*"), /* messages with a length before each, status in trailers */
    T("multipart/*"),       /* byteranges count bytes; the others hold parts of any type */
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct media_types *media_types_codable(void)
{
    static const struct media_types list = {NULL, COUNT(codable), false, codable};

    return &list;
}

const struct media_types *media_types_denied(void)
{
    static const struct media_types list = {NULL, COUNT(denied), false, denied};

    return &list;
}

const struct media_types *media_types_ref(const struct media_types *list)
{
    if (list && list->count)
        atomic_fetch_add(list->count, 1);
    return list;
}

void media_types_unref(const struct media_types *list)
{
    if (list && list->count && atomic_fetch_sub(list->count, 1) == 1)
        free((void *)list->count); /* one block, the count is its head */
}

/* ---- matching --------------------------------------------------------------------------------- */

static bool pattern_matches(terse_str pattern, terse_str type)
{
    if (pattern.ptr[0] == '*' && pattern.len > 1 && pattern.ptr[1] == '+') {
        size_t suffix = pattern.len - 1;

        return type.len > suffix && text_equal((terse_str){type.ptr + type.len - suffix, suffix},
                                               pattern.ptr + 1, suffix);
    }
    if (pattern.ptr[pattern.len - 1] == '*') {
        size_t prefix = pattern.len - 1;

        return type.len >= prefix && text_equal((terse_str){type.ptr, prefix}, pattern.ptr, prefix);
    }
    return text_equal(type, pattern.ptr, pattern.len);
}

bool media_types_match(const struct media_types *list, terse_str content_type)
{
    content_type = text_before(content_type, ';');
    for (uint32_t i = 0; i < list->n; i++)
        if (pattern_matches(list->patterns[i], content_type))
            return true;
    return false;
}

bool media_types_closed(const struct media_types *list)
{
    return list->closed;
}

/* ---- parsing ---------------------------------------------------------------------------------- */

/* "*" "/" "*", type "/" subtype with an optional "*" at the end, or "*+" suffix */
static bool pattern_valid(terse_str p)
{
    const char *slash = memchr(p.ptr, '/', p.len);
    size_t stars = 0;

    if (p.len > 127)
        return false;
    for (size_t i = 0; i < p.len; i++) {
        stars += p.ptr[i] == '*';
        if (p.ptr + i != slash && !text_is_token_char((unsigned char)p.ptr[i]))
            return false;
    }
    if (p.len == 3 && !memcmp(p.ptr, "*/*", 3))
        return true;
    if (p.len > 2 && p.ptr[0] == '*' && p.ptr[1] == '+')
        return !slash && stars == 1;
    return slash && slash != p.ptr && slash != p.ptr + p.len - 1 &&
           (stars == 0 || (stars == 1 && p.ptr[p.len - 1] == '*'));
}

static terse_status check(terse_str list, uint32_t *n, char *why, size_t why_len)
{
    terse_str member;

    while (text_next_member(&list, &member)) {
        if (!pattern_valid(member)) {
            text_why(why, why_len, "\"%.*s\" is not a media type, type/*, *+suffix or */*",
                     (int)(member.len < 60 ? member.len : 60), member.ptr);
            return TERSE_E_VALUE;
        }
        ++*n;
    }
    if (*n > PATTERNS_MAX) {
        text_why(why, why_len, "more than %d media types", PATTERNS_MAX);
        return TERSE_E_VALUE;
    }
    return TERSE_OK;
}

/* One block: count, list, patterns, and the text of those that are not static. */
static struct media_types *block_new(uint32_t n, size_t text, terse_str **patterns, char **bytes)
{
    struct head {
        atomic_uint count;
        struct media_types list;
        terse_str patterns[];
    } * head;
    int saved = errno;

    head = malloc(sizeof *head + n * sizeof(terse_str) + text);
    errno_keep(saved);
    if (!head)
        return NULL;
    atomic_init(&head->count, 1);
    *patterns = head->patterns;
    *bytes = (char *)(head->patterns + n);
    head->list = (struct media_types){&head->count, n, false, head->patterns};
    return &head->list;
}

/* Copies a pattern in lower case; "any type" is stored as the empty beginning. */
static terse_str store(char **bytes, terse_str pattern)
{
    terse_str stored = {*bytes, pattern.len};

    if (pattern.len == 3 && !memcmp(pattern.ptr, "*/*", 3))
        stored.len = 1;
    for (size_t i = 0; i < stored.len; i++)
        (*bytes)[i] = (char)text_lower((unsigned char)pattern.ptr[i]);
    *bytes += stored.len;
    return stored;
}

const struct media_types *media_types_parse(const struct media_types *base, terse_str list,
                                            terse_status *status, char *why, size_t why_len)
{
    struct media_types *made;
    terse_str *patterns, member;
    uint32_t n = 0, kept = 0;
    char *bytes;

    list = text_trim(list);
    if (list.len && list.ptr[0] == '+') {
        list = text_trim((terse_str){list.ptr + 1, list.len - 1});
        kept = base->n;
    }
    *status = check(list, &n, why, why_len);
    if (*status < 0)
        return NULL;
    made = block_new(kept + n, list.len, &patterns, &bytes);
    if (!made) {
        *status = TERSE_E_NOMEM;
        text_why(why, why_len, "no memory");
        return NULL;
    }
    made->closed = !kept;
    if (kept)
        memcpy(patterns, base->patterns, kept * sizeof *patterns);
    for (uint32_t i = kept; text_next_member(&list, &member); i++)
        patterns[i] = store(&bytes, member);
    return made;
}
