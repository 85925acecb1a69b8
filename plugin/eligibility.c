/* SPDX-License-Identifier: MIT */
#include "eligibility.h"

#include <string.h>

#include "reasons.h"
#include "settings.h"
#include "view.h"

#define METHOD_IS(f, literal)                                                                      \
    ((f)->method.len == sizeof(literal) - 1 &&                                                     \
     !memcmp((f)->method.ptr, literal, sizeof(literal) - 1))

/* Content that is coded already, by whatever name; a lone "identity" is none (section 8.4). */
static bool has_coding(const terse_facts *f)
{
    terse_str value;

    for (uint32_t nth = 0; VIEW_LINE(f, TERSE_RESPONSE, "content-encoding", nth, &value); nth++) {
        value = text_trim(value);
        if (value.len && !text_equal(value, "identity", 8))
            return true;
    }
    return false;
}

/* Status and method as RFC 9110 has them: no content in 1xx, 204, 205; a 206 counts coded bytes.
 * decoded: as if it had no coding. */
static uint8_t message_reason(const terse_facts *f, bool decoded)
{
    if (METHOD_IS(f, "CONNECT") || METHOD_IS(f, "TRACE"))
        return REASON_METHOD;
    if (f->status < 200 || f->status > 599 || f->status == 204 || f->status == 205)
        return REASON_STATUS;
    if (!decoded && has_coding(f))
        return REASON_ENCODED;
    if (f->status == 206)
        return VIEW_HAS(f, TERSE_REQUEST, "range") ? REASON_RANGE : REASON_PARTIAL;
    if (VIEW_HAS(f, TERSE_RESPONSE, "content-range"))
        return REASON_PARTIAL;
    if (VIEW_HAS(f, TERSE_RESPONSE, "transfer-encoding"))
        return REASON_FRAMED;
    return REASON_NONE;
}

/* RFC 9110 section 7.7 and RFC 9111 section 5.2.2.6: a coding is a transformation. */
static bool transform_forbidden(const terse_facts *f, const struct settings *s)
{
    const terse_str name = STR("cache-control"), token = STR("no-transform");

    if (s->no_transform == NO_TRANSFORM_IGNORE)
        return false;
    return view_has_token(f, TERSE_RESPONSE, name, token) ||
           (s->no_transform == NO_TRANSFORM_BOTH && view_has_token(f, TERSE_REQUEST, name, token));
}

/* What an origin says of its own response: "on", "off", or anything else for no word. */
enum hint { HINT_AUTO, HINT_ON, HINT_OFF };

static enum hint hint_of(const terse_facts *f)
{
    terse_str value;

    VIEW_LINE(f, TERSE_RESPONSE, "x-compress-hint", 0, &value);
    value = text_trim(value);
    if (text_equal(value, "off", 3))
        return HINT_OFF;
    return text_equal(value, "on", 2) ? HINT_ON : HINT_AUTO;
}

/* A denied type stays denied whatever the origin says of it; "on" stands in for the other list. */
static uint8_t type_reason(const terse_facts *f, const struct settings *s, bool on, bool *probe)
{
    terse_str type;

    VIEW_LINE(f, TERSE_RESPONSE, "content-type", 0, &type);
    *probe = false;
    if (type.len && media_types_match(s->types_deny, type))
        return REASON_TYPE;
    if (on || (type.len && media_types_match(s->types, type)))
        return REASON_NONE;
    /* a list that the operator wrote whole leaves out on purpose; else the bytes tell */
    if (media_types_closed(s->types))
        return REASON_TYPE;
    *probe = true;
    return REASON_NONE;
}

uint8_t eligibility_length(uint64_t length, const struct settings *s, bool short_too)
{
    if (!length)
        return REASON_EMPTY;
    if (length < s->min_length && !short_too)
        return REASON_TOO_SMALL;
    if (s->max_length && length > s->max_length)
        return REASON_TOO_LARGE;
    return REASON_NONE;
}

/* What decides once the media type is one that is coded. */
static uint8_t response_reason(const terse_facts *f, const struct settings *s, bool short_too)
{
    if (f->flags & TERSE_FACT_NO_ACCESS)
        return REASON_HOST;
    /* the host cuts ranges after us, from what it has: the identity (section 14.2) */
    if (f->status == 200 && VIEW_HAS(f, TERSE_REQUEST, "range") &&
        (METHOD_IS(f, "GET") || METHOD_IS(f, "HEAD")))
        return REASON_RANGE;
    if (f->length >= 0 && f->status != 304) {
        uint8_t reason = eligibility_length((uint64_t)f->length, s, short_too);

        if (reason)
            return reason;
    }
    if (f->http_version < 11 && !s->http10)
        return REASON_HTTP10;
    if (s->etag == ETAG_SKIP && VIEW_HAS(f, TERSE_RESPONSE, "etag"))
        return REASON_ETAG;
    return REASON_NONE;
}

/* A 206 says of Vary what the 200 would (section 15.3.7).  The type of several parts is not known. */
static bool is_part_of_coded(const terse_facts *f, const struct settings *s)
{
    bool probe;
    terse_str type;

    VIEW_LINE(f, TERSE_RESPONSE, "content-type", 0, &type);
    return !has_coding(f) && !transform_forbidden(f, s) && hint_of(f) != HINT_OFF &&
           (text_equal(text_before(type, ';'), "multipart/byteranges", 20) ||
            !type_reason(f, s, hint_of(f) == HINT_ON, &probe));
}

uint8_t eligibility_to_decode(const terse_facts *f, const struct settings *s)
{
    uint8_t reason = message_reason(f, true);

    if (!reason && transform_forbidden(f, s))
        reason = REASON_NO_TRANSFORM;
    if (!reason && s->etag == ETAG_SKIP && VIEW_HAS(f, TERSE_RESPONSE, "etag"))
        reason = REASON_ETAG;
    if (!reason && (f->flags & TERSE_FACT_NO_ACCESS))
        reason = REASON_HOST;
    return reason;
}

struct eligibility eligibility_of(const terse_facts *f, const struct settings *s,
                                  bool identity_refused, bool decoded)
{
    enum hint hint = hint_of(f);
    struct eligibility e = {.reason = message_reason(f, decoded),
                            .short_too = identity_refused || hint == HINT_ON};

    if (!e.reason && hint == HINT_OFF)
        e.reason = REASON_HINT;
    if (!e.reason && transform_forbidden(f, s))
        e.reason = REASON_NO_TRANSFORM;
    if (!e.reason)
        e.reason = type_reason(f, s, hint == HINT_ON, &e.probe);
    if (e.reason) {
        e.vary = f->status == 206 && is_part_of_coded(f, s);
        return e;
    }
    e.vary = true;
    e.reason = response_reason(f, s, e.short_too);
    return e;
}
