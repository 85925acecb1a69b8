/* SPDX-License-Identifier: MIT */
#include "representation.h"

#include <string.h>

#include "coding.h"
#include "edits.h"
#include "settings.h"
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

/* entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE, RFC 9110 section 8.8.3 */
static bool is_entity_tag(terse_str tag, bool *weak)
{
    *weak = tag.len > 2 && tag.ptr[0] == 'W' && tag.ptr[1] == '/';
    if (*weak)
        tag = (terse_str){tag.ptr + 2, tag.len - 2};
    if (tag.len < 2 || tag.ptr[0] != '"' || tag.ptr[tag.len - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < tag.len; i++) {
        unsigned char c = (unsigned char)tag.ptr[i];

        if (c < 0x21 || c == '"' || c == 0x7f)
            return false;
    }
    return true;
}

/* A strong tag promises the same bytes (section 8.8.1), which a coding changes. */
static void weaken(struct edits *e, const terse_facts *f)
{
    terse_str tag, second, joined;
    bool weak;

    VIEW_LINE(f, TERSE_RESPONSE, "etag", 0, &tag);
    tag = text_trim(tag);
    if (!is_entity_tag(tag, &weak) || VIEW_LINE(f, TERSE_RESPONSE, "etag", 1, &second)) {
        remove_all(e, ETAG); /* malformed, or several: nothing to stand by */
        return;
    }
    if (weak)
        return;
    if (edits_join(e, (terse_str[]){STR("W/"), tag}, 2, &joined))
        set(e, ETAG, joined);
    else
        remove_all(e, ETAG);
}

void representation_validator(struct edits *e, const terse_facts *f, const struct settings *s)
{
    if (!VIEW_HAS(f, TERSE_RESPONSE, "etag"))
        return;
    if (s->etag == ETAG_WEAKEN)
        weaken(e, f);
    else if (s->etag == ETAG_DROP)
        remove_all(e, ETAG);
}

/* Digests of the bytes that do not leave any more (RFC 9530, RFC 1864). */
static void drop_digests(struct edits *e, const terse_facts *f)
{
    static const terse_str names[] = {
        {"content-digest", 14}, {"repr-digest", 11}, {"digest", 6}, {"content-md5", 11}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (view_has(f, TERSE_RESPONSE, names[i].ptr, names[i].len))
            remove_all(e, names[i]);
}

/* Ranges of bytes that are coded afresh each time cannot be asked for (section 14.3). */
static void accept_ranges(struct edits *e, const terse_facts *f, const struct settings *s)
{
    if (s->accept_ranges == RANGES_NONE)
        set(e, STR("accept-ranges"), STR("none"));
    else if (s->accept_ranges == RANGES_REMOVE && VIEW_HAS(f, TERSE_RESPONSE, "accept-ranges"))
        remove_all(e, STR("accept-ranges"));
}

void representation_coded(struct edits *e, const terse_facts *f, const struct settings *s,
                          int coding)
{
    const char *name = coding_name(coding);

    set(e, STR("content-encoding"), (terse_str){name, strlen(name)});
    representation_vary(e, f);
    representation_validator(e, f, s);
    accept_ranges(e, f, s);
    drop_digests(e, f);
}
