/* SPDX-License-Identifier: MIT */
#include "conditions.h"

#include <string.h>

#include "edits.h"
#include "entity_tag.h"
#include "exchange.h"
#include "policy.h"
#include "view.h"

#define IF_NONE_MATCH STR("if-none-match")
#define IF_MATCH STR("if-match")

static int accepted(const terse_exchange *x)
{
    return negotiator_choose(&x->policy->negotiator, &x->weights);
}

/* ---- tags of ours in the request -------------------------------------------------------------- */

/* Whether this tag names a coding, and one that counts: a tag of a coding that the client would not
 * get now fits no more; to other methods any coding of a version is that version. */
static bool is_ours(const terse_exchange *x, const terse_facts *f, const struct entity_tag *tag,
                    terse_str *plain_but_quote)
{
    int coding = entity_tag_coding(tag, x->policy->tag_salt, plain_but_quote);

    return coding != CODING_NONE && (coding == accepted(x) || !view_is_read(f));
}

static bool append(struct edits *e, terse_str *whole, const terse_str *pieces, size_t n)
{
    terse_str part;

    if (!edits_join(e, pieces, n, &part))
        return false;
    whole->len += part.len; /* they stand one behind the other */
    return true;
}

static bool append_tag(const terse_exchange *x, const terse_facts *f, struct edits *e,
                       const struct entity_tag *tag, bool strongly, terse_str *whole, bool *ours)
{
    terse_str comma = whole->len ? STR(", ") : STR(""), but_quote;

    if (!(strongly && tag->weak) && is_ours(x, f, tag, &but_quote)) {
        *ours = true;
        return append(e, whole, (terse_str[]){comma, but_quote, STR("\"")}, 3);
    }
    return append(e, whole, (terse_str[]){comma, tag->weak ? STR("W/") : STR(""), tag->opaque}, 3);
}

/* The list with our tags replaced.  False when there are none, it is malformed, or too long: then it
 * stays, fits nothing, and a whole response is the worst that comes of it. */
static bool plain_list(const terse_exchange *x, const terse_facts *f, struct edits *e,
                       terse_str name, bool strongly, terse_str *whole)
{
    struct entity_tag tag;
    terse_str line;
    bool ours = false;

    *whole = (terse_str){e->bytes + e->used, 0};
    for (uint32_t nth = 0; view_line(f, TERSE_REQUEST, name.ptr, name.len, nth, &line); nth++) {
        while (entity_tag_next(&line, &tag))
            if (!append_tag(x, f, e, &tag, strongly, whole, &ours))
                return false;
        if (line.len)
            return false;
    }
    return ours;
}

/* The client's own list, which the edit takes away. */
static bool keep_list(terse_exchange *x, const terse_facts *f)
{
    terse_str line;
    size_t len = 0;

    for (uint32_t nth = 0; VIEW_LINE(f, TERSE_REQUEST, "if-none-match", nth, &line); nth++) {
        if (line.len + 1 > sizeof x->if_none_match - len)
            return false;
        if (nth)
            x->if_none_match[len++] = ',';
        memcpy(x->if_none_match + len, line.ptr, line.len);
        len += line.len;
    }
    x->if_none_match_len = (uint16_t)len;
    return true;
}

static void edit_tags(terse_exchange *x, const terse_facts *f, struct edits *e)
{
    terse_str list;

    if (VIEW_HAS(f, TERSE_REQUEST, "if-none-match") &&
        plain_list(x, f, e, IF_NONE_MATCH, false, &list) && keep_list(x, f))
        edits_put(e, TERSE_EDIT_SET, TERSE_REQUEST, IF_NONE_MATCH, list);
    /* a range that goes with it is of the coded bytes, and would be cut from the others */
    if (VIEW_HAS(f, TERSE_REQUEST, "if-match") &&
        !(view_is_read(f) && VIEW_HAS(f, TERSE_REQUEST, "range")) &&
        plain_list(x, f, e, IF_MATCH, true, &list))
        edits_put(e, TERSE_EDIT_SET, TERSE_REQUEST, IF_MATCH, list);
}

/* If-Range holds for the same strong tag only (section 13.1.5), and ranges are of the identity: a
 * weak tag, or one of a coding, means the whole.  Not every server compares. */
static void edit_range(const terse_exchange *x, const terse_facts *f, struct edits *e)
{
    struct entity_tag tag;
    terse_str value, unused;

    if (!VIEW_HAS(f, TERSE_REQUEST, "range") || !VIEW_LINE(f, TERSE_REQUEST, "if-range", 0, &value))
        return;
    if (!entity_tag_parse(value, &tag))
        return; /* a date, or nothing that could be a tag of ours */
    if (!tag.weak && entity_tag_coding(&tag, x->policy->tag_salt, &unused) == CODING_NONE &&
        (x->policy->settings.etag != ETAG_KEEP || accepted(x) == CODING_IDENTITY))
        return;
    edits_put(e, TERSE_EDIT_REMOVE, TERSE_REQUEST, STR("range"), STR(""));
    edits_put(e, TERSE_EDIT_REMOVE, TERSE_REQUEST, STR("if-range"), STR(""));
}

void conditions_edit(terse_exchange *x, const terse_facts *f, struct edits *e)
{
    if (x->policy->settings.etag == ETAG_SUFFIX)
        edit_tags(x, f, e);
    edit_range(x, f, e);
}

/* ---- the client's If-None-Match --------------------------------------------------------------- */

static bool list_line(const terse_exchange *x, const terse_facts *f, uint32_t nth, terse_str *line)
{
    if (!x->if_none_match_len)
        return VIEW_LINE(f, TERSE_REQUEST, "if-none-match", nth, line);
    *line = (terse_str){x->if_none_match, x->if_none_match_len};
    return nth == 0;
}

/* What a tag of the client's stands for, 2: the coded representation, 1: the identity, 0: neither.  Where
 * both have one opaque part, a strong tag was given with the identity. */
static int stands_for(const struct entity_tag *tag, const struct entity_tag *plain,
                      const struct entity_tag *coded, struct entity_tag *it)
{
    bool one_part = entity_tag_same(plain, coded);

    if (entity_tag_same(tag, coded) && (!one_part || tag->weak || !coded->weak)) {
        *it = *coded;
        it->weak = coded->weak || (tag->weak && !one_part); /* it may have been given weak */
        return 2;
    }
    *it = *plain;
    return entity_tag_same(tag, plain);
}

bool conditions_pick(const terse_exchange *x, const terse_facts *f, const struct entity_tag *plain,
                     const struct entity_tag *coded, struct entity_tag *picked)
{
    struct entity_tag tag, it;
    terse_str line;
    int best = 0;

    *picked = *coded;
    for (uint32_t nth = 0; list_line(x, f, nth, &line); nth++)
        while (best < 2 && entity_tag_next(&line, &tag)) {
            int rank = stands_for(&tag, plain, coded, &it);

            if (rank > best) {
                best = rank;
                *picked = it;
            }
        }
    return best > 0;
}

bool conditions_hold(const terse_exchange *x, const terse_facts *f, const struct entity_tag *plain,
                     const struct entity_tag *coded)
{
    struct entity_tag picked;
    terse_str line;

    if (f->status != 200 || !view_is_read(f) || !list_line(x, f, 0, &line))
        return false;
    line = text_trim(line);
    return (line.len == 1 && line.ptr[0] == '*') || conditions_pick(x, f, plain, coded, &picked);
}
