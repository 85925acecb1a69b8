/* SPDX-License-Identifier: MIT */
#include "representation.h"

#include <string.h>

#include "coding.h"
#include "edits.h"
#include "entity_tag.h"
#include "policy.h"
#include "view.h"

#define VARY STR("vary")
#define ETAG STR("etag")
#define ACCEPT_ENCODING STR("Accept-Encoding")

static void set(struct edits *e, terse_str name, terse_str value)
{
    edits_put(e, TERSE_EDIT_SET, TERSE_RESPONSE, name, value);
}

static void remove_all(struct edits *e, terse_str name)
{
    edits_put(e, TERSE_EDIT_REMOVE, TERSE_RESPONSE, name, STR(""));
}

/* All lines of Vary in one, with ours behind; false when they are too long for that. */
static bool join_vary(struct edits *e, const terse_facts *f, terse_str *joined)
{
    terse_str pieces[2 * VIEW_LINES_MAX + 1];
    size_t n = 0;
    terse_str value;

    for (uint32_t nth = 0; VIEW_LINE(f, TERSE_RESPONSE, "vary", nth, &value); nth++) {
        value = text_trim(value);
        if (!value.len)
            continue;
        pieces[n++] = value;
        pieces[n++] = STR(", ");
    }
    pieces[n++] = ACCEPT_ENCODING;
    return edits_join(e, pieces, n, joined);
}

void representation_vary(struct edits *e, const terse_facts *f)
{
    terse_str joined;

    if (!VIEW_HAS(f, TERSE_RESPONSE, "vary")) {
        set(e, VARY, ACCEPT_ENCODING);
        return;
    }
    /* "*" says more than any name; what is there already is not said twice */
    if (view_has_token(f, TERSE_RESPONSE, VARY, STR("*")) ||
        view_has_token(f, TERSE_RESPONSE, VARY, STR("accept-encoding")))
        return;
    if (join_vary(e, f, &joined))
        set(e, VARY, joined);
    else
        edits_put(e, TERSE_EDIT_ADD, TERSE_RESPONSE, VARY, ACCEPT_ENCODING);
}

/* A tag of a response to another method names the state of the resource, not what is enclosed,
 * unless Content-Location says that it is the same (sections 6.4.2 and 9.3.4). */
static bool tag_is_of_content(const terse_facts *f)
{
    return view_is_read(f) || VIEW_HAS(f, TERSE_RESPONSE, "content-location");
}

bool representation_tag(const terse_facts *f, struct entity_tag *tag)
{
    terse_str line, second;

    return VIEW_LINE(f, TERSE_RESPONSE, "etag", 0, &line) && entity_tag_parse(line, tag) &&
           !VIEW_LINE(f, TERSE_RESPONSE, "etag", 1, &second);
}

/* A strong tag promises the same bytes (section 8.8.1), which a coding changes.  Those of a stream
 * depend on when they came. */
struct entity_tag representation_coded_tag(struct edits *e, const struct entity_tag *plain,
                                           const terse_policy *p, int coding, bool streamed)
{
    struct entity_tag coded = *plain;

    switch (p->settings.etag) {
    case ETAG_WEAKEN:
        coded.weak = true;
        break;
    case ETAG_SUFFIX:
        if (plain->weak)
            break; /* it is of all codings already */
        if (!entity_tag_suffix(e, plain, coding, p->tag_salt, &coded))
            coded = *plain;
        coded.weak = streamed || entity_tag_same(plain, &coded);
        break;
    case ETAG_DROP:
        coded.opaque = STR("");
        break;
    default:
        break;
    }
    return coded;
}

void representation_set_tag(struct edits *e, const struct entity_tag *tag)
{
    terse_str joined;

    if (tag->opaque.len &&
        edits_join(e, (terse_str[]){tag->weak ? STR("W/") : STR(""), tag->opaque}, 2, &joined))
        set(e, ETAG, joined);
    else
        remove_all(e, ETAG);
}

void representation_validator(struct edits *e, const terse_facts *f, const terse_policy *p,
                              int coding, bool streamed)
{
    struct entity_tag plain, coded;

    if (!VIEW_HAS(f, TERSE_RESPONSE, "etag") || !tag_is_of_content(f) ||
        p->settings.etag == ETAG_KEEP || p->settings.etag == ETAG_SKIP)
        return;
    if (!representation_tag(f, &plain)) {
        remove_all(e, ETAG); /* malformed, or several: nothing to stand by */
        return;
    }
    coded = representation_coded_tag(e, &plain, p, coding, streamed);
    if (coded.weak != plain.weak || !entity_tag_same(&coded, &plain))
        representation_set_tag(e, &coded);
}

/* Digests of the bytes that do not leave any more (RFC 9530, RFC 1864).  Trailers are not known
 * before their time. */
static void drop_digests(struct edits *e, const terse_facts *f, bool trailers)
{
    static const terse_str names[] = {
        {"content-digest", 14}, {"repr-digest", 11}, {"digest", 6}, {"content-md5", 11}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (view_has(f, TERSE_RESPONSE, names[i].ptr, names[i].len))
            remove_all(e, names[i]);
        if (trailers)
            edits_put(e, TERSE_EDIT_REMOVE, TERSE_TRAILER, names[i], STR(""));
    }
}

/* Ranges of bytes that are coded afresh each time cannot be asked for (section 14.3). */
static void accept_ranges(struct edits *e, const terse_facts *f, const struct settings *s)
{
    if (s->accept_ranges == RANGES_NONE)
        set(e, STR("accept-ranges"), STR("none"));
    else if (s->accept_ranges == RANGES_REMOVE && VIEW_HAS(f, TERSE_RESPONSE, "accept-ranges"))
        remove_all(e, STR("accept-ranges"));
}

void representation_coded(struct edits *e, const terse_facts *f, const terse_policy *p, int coding,
                          bool streamed)
{
    const char *name = coding_name(coding);

    set(e, STR("content-encoding"), (terse_str){name, strlen(name)});
    representation_vary(e, f);
    representation_validator(e, f, p, coding, streamed);
    accept_ranges(e, f, &p->settings);
    drop_digests(e, f, streamed);
}

/* It has the state that the tag names, in other bytes. */
struct entity_tag representation_decoded_tag(const struct entity_tag *plain, const terse_policy *p)
{
    struct entity_tag decoded = *plain;

    if (p->settings.etag == ETAG_DROP)
        decoded.opaque = STR("");
    else if (p->settings.etag != ETAG_KEEP)
        decoded.weak = true;
    return decoded;
}

static void decoded_validator(struct edits *e, const terse_facts *f, const terse_policy *p)
{
    struct entity_tag plain, decoded;

    if (!VIEW_HAS(f, TERSE_RESPONSE, "etag") || !tag_is_of_content(f) ||
        p->settings.etag == ETAG_KEEP)
        return;
    if (!representation_tag(f, &plain)) {
        remove_all(e, ETAG);
        return;
    }
    decoded = representation_decoded_tag(&plain, p);
    if (decoded.weak != plain.weak || !decoded.opaque.len)
        representation_set_tag(e, &decoded);
}

void representation_decoded(struct edits *e, const terse_facts *f, const terse_policy *p)
{
    remove_all(e, STR("content-encoding"));
    representation_vary(e, f);
    decoded_validator(e, f, p);
    accept_ranges(e, f, &p->settings);
    drop_digests(e, f, true);
}

void representation_no_content(struct edits *e, const terse_facts *f)
{
    if (VIEW_HAS(f, TERSE_RESPONSE, "content-type"))
        remove_all(e, STR("content-type"));
    drop_digests(e, f, false);
}
