/* SPDX-License-Identifier: MIT */
#include "negotiator.h"

#include <string.h>

#include "policy.h"
#include "take.h"
#include "text.h"

#define WILDCARD (CODING_COUNT + 1) /* index of "*" while a field is read */
#define MALFORMED (-1)

/* qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] ), RFC 9110 section 12.4.2.
 * In thousandths, with integers only: strtod depends on the locale and takes "nan" and "1e0". */
static int parse_qvalue(terse_str text)
{
    static const int place[] = {100, 10, 1};
    int milli;

    if (text.len < 1 || text.len > 5 || (text.ptr[0] != '0' && text.ptr[0] != '1'))
        return MALFORMED;
    milli = (text.ptr[0] - '0') * 1000;
    if (text.len > 1 && text.ptr[1] != '.')
        return MALFORMED;
    for (size_t i = 2; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return MALFORMED;
        milli += (text.ptr[i] - '0') * place[i - 2];
    }
    return milli <= 1000 ? milli : MALFORMED;
}

static size_t token_length(terse_str text)
{
    size_t i = 0;

    while (i < text.len && text_is_token_char((unsigned char)text.ptr[i]))
        i++;
    return i;
}

static bool is_control(unsigned char c) /* and no HTAB */
{
    return (c < 0x20 && c != '\t') || c == 0x7f;
}

/* Length of a quoted-string at text, 0 when it does not end or has a control character in it,
 * behind a backslash too (section 5.6.4). */
static size_t quoted_length(terse_str text)
{
    for (size_t i = 1; i < text.len; i++) {
        if (text.ptr[i] == '"')
            return i + 1;
        if (text.ptr[i] == '\\' && ++i == text.len)
            return 0;
        if (is_control((unsigned char)text.ptr[i]))
            return 0;
    }
    return 0;
}

static void skip(terse_str *text, size_t n)
{
    text->ptr += n;
    text->len -= n;
}

/* One parameter, name "=" value, section 5.6.6; "q" is the weight and may stand once. */
static bool parse_parameter(terse_str *rest, int *milli, bool *seen)
{
    size_t name = token_length(*rest);
    bool weight = name == 1 && text_lower((unsigned char)rest->ptr[0]) == 'q';
    size_t value;

    skip(rest, name);
    if (!name || !rest->len || rest->ptr[0] != '=')
        return false;
    skip(rest, 1);
    value = rest->len && rest->ptr[0] == '"' ? quoted_length(*rest) : token_length(*rest);
    if (!value || (weight && *seen))
        return false;
    if (weight) {
        *milli = parse_qvalue((terse_str){rest->ptr, value});
        *seen = true;
    }
    skip(rest, value);
    return !weight || *milli != MALFORMED;
}

/* What follows the name of a member: 0 to 1000, or MALFORMED. */
static int parse_weight(terse_str rest)
{
    int milli = 1000;
    bool seen = false;

    for (rest = text_trim(rest); rest.len; rest = text_trim(rest)) {
        if (rest.ptr[0] != ';')
            return MALFORMED;
        skip(&rest, 1);
        rest = text_trim(rest);
        if (!rest.len || rest.ptr[0] == ';')
            continue; /* an empty parameter is none */
        if (!parse_parameter(&rest, &milli, &seen))
            return MALFORMED;
    }
    return milli;
}

/* The member's name, a token followed by nothing but parameters; 0 when malformed. */
static size_t member_name(terse_str member)
{
    size_t len = token_length(member);
    size_t i = len;

    while (i < member.len && text_is_space((unsigned char)member.ptr[i]))
        i++;
    return i == member.len || member.ptr[i] == ';' ? len : 0;
}

static void put(struct weights *w, int index, int milli)
{
    /* a malformed weight is no consent, and it stands against "*" as well */
    w->milli[index] = milli == MALFORMED ? 0 : (uint16_t)milli;
    w->source[index] = milli == MALFORMED ? TERSE_WEIGHT_MALFORMED : TERSE_WEIGHT_NAMED;
}

static void add_line(struct weights *w, terse_str line)
{
    terse_str member;

    while (text_next_member(&line, &member)) {
        size_t len = member_name(member);
        int index;

        if (!len)
            continue;
        index = len == 1 && member.ptr[0] == '*' ? WILDCARD : coding_from_name(member.ptr, len);
        if (index != CODING_NONE) /* a later duplicate replaces an earlier one */
            put(w, index, parse_weight((terse_str){member.ptr + len, member.len - len}));
    }
}

/* Spreads "*" over what was not named. */
static void spread_wildcard(struct weights *w)
{
    if (w->source[WILDCARD] == TERSE_WEIGHT_ABSENT)
        return;
    for (int c = 0; c <= CODING_IDENTITY; c++) {
        if (w->source[c] != TERSE_WEIGHT_ABSENT)
            continue;
        w->milli[c] = w->milli[WILDCARD];
        w->source[c] = TERSE_WEIGHT_WILDCARD;
    }
}

void weights_read(struct weights *w, const terse_str *lines, size_t n_lines)
{
    memset(w, 0, sizeof *w);
    for (size_t i = 0; i < n_lines; i++)
        add_line(w, lines[i]);
    spread_wildcard(w);
}

void negotiator_read(const terse_negotiator *n, struct weights *w, const terse_str *lines,
                     size_t n_lines)
{
    if (n_lines != 1 || !common_fields_find(n, lines[0], w))
        weights_read(w, lines, n_lines);
}

bool weights_refuse_identity(const struct weights *w)
{
    return w->source[CODING_IDENTITY] != TERSE_WEIGHT_ABSENT && !w->milli[CODING_IDENTITY];
}

int negotiator_choose(const terse_negotiator *n, const struct weights *w)
{
    int best = CODING_IDENTITY;
    unsigned top = 0;

    if (w->common)
        return n->common[w->common - 1].coding;
    for (unsigned i = 0; i < n->n_order; i++) {
        unsigned milli = w->milli[n->order[i]];

        if (milli > top) { /* ties go to the server's order */
            top = milli;
            best = n->order[i];
        }
        if (top && n->prefer == PREFER_SERVER)
            return best;
    }
    /* identity wins only when it is ranked strictly higher */
    return w->milli[CODING_IDENTITY] > top ? CODING_IDENTITY : best;
}

/* ---- the slots -------------------------------------------------------------------------------- */

const terse_negotiator *policy_negotiator(const terse_policy *policy)
{
    return policy && policy->sealed ? &policy->negotiator : NULL;
}

static void fill_weights(const terse_negotiator *n, const struct weights *w, terse_choice *choice)
{
    for (unsigned i = 0; i <= n->n_order; i++) {
        int coding = i < n->n_order ? n->order[i] : CODING_IDENTITY;

        if (choice->weights && i < choice->weights_cap)
            choice->weights[i] =
                (terse_weight){coding_name(coding), w->milli[coding], w->source[coding]};
    }
    choice->n_weights = n->n_order + 1u;
}

terse_status negotiate(const terse_negotiator *n, const terse_str *fields, size_t n_fields,
                       terse_choice *out)
{
    terse_choice choice;
    struct weights w;
    int coding;
    terse_status status = take(&choice, sizeof choice, TERSE_CHOICE_SIZE_V0, out);

    if (status < 0 || !n || (n_fields && !fields))
        return TERSE_E_ARG;
    negotiator_read(n, &w, fields, n_fields);
    coding = negotiator_choose(n, &w);
    choice.coding = coding == CODING_IDENTITY ? NULL : coding_name(coding);
    choice.flags = weights_refuse_identity(&w) ? TERSE_CHOICE_NO_IDENTITY : 0;
    if (choice.flags && coding == CODING_IDENTITY)
        choice.flags |= TERSE_CHOICE_NOTHING;
    fill_weights(n, &w, &choice);
    return give(out, TERSE_CHOICE_SIZE_V0, &choice, sizeof choice);
}
