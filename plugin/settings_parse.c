/* SPDX-License-Identifier: MIT */
#include "settings_parse.h"

#include <string.h>

#include "plugin_config.h"
#include "text.h"

size_t setting_size(enum setting_kind kind)
{
    switch (kind) {
    case KIND_INTEGER:
        return sizeof(int32_t);
    case KIND_BYTES:
        return sizeof(uint64_t);
    case KIND_TIME:
        return sizeof(uint32_t);
    default:
        return sizeof(uint8_t);
    }
}

static terse_str text_of(const char *nul_terminated)
{
    return (terse_str){nul_terminated, strlen(nul_terminated)};
}

static terse_status refuse(const struct setting *setting, terse_str value, const char *hint,
                           char *why, size_t why_len)
{
    text_why(why, why_len, "%s: \"%.*s\" is not allowed; expected %s%s%s", setting->key.key,
             (int)(value.len < 60 ? value.len : 60), value.ptr, setting->key.range,
             hint ? "; the nearest is " : "", hint ? hint : "");
    return TERSE_E_VALUE;
}

/* ---- numbers ---------------------------------------------------------------------------------- */

static bool take_digits(terse_str *text, uint64_t *number)
{
    size_t i = 0;

    *number = 0;
    for (; i < text->len && text->ptr[i] >= '0' && text->ptr[i] <= '9'; i++) {
        if (*number > (UINT64_MAX - 9) / 10)
            return false;
        *number = *number * 10 + (uint64_t)(text->ptr[i] - '0');
    }
    text->ptr += i;
    text->len -= i;
    return i > 0;
}

static bool read_bytes(terse_str text, uint64_t *number)
{
    unsigned shift = 0;

    if (!take_digits(&text, number) || text.len > 1)
        return false;
    if (text.len) {
        unsigned char unit = text_lower((unsigned char)text.ptr[0]);

        shift = unit == 'k' ? 10 : unit == 'm' ? 20 : unit == 'g' ? 30 : 0;
        if (!shift || *number > UINT64_MAX >> shift)
            return false;
    }
    *number <<= shift;
    return true;
}

/* Milliseconds, also without a unit. */
static bool read_time(terse_str text, uint64_t *ms)
{
    static const struct {
        const char *name;
        uint32_t ms;
    } units[] = {{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

    if (!take_digits(&text, ms) || *ms > UINT32_MAX)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (text_equal(text, units[i].name, strlen(units[i].name))) {
            *ms *= units[i].ms;
            return true;
        }
    return false;
}

static bool read_integer(terse_str text, int32_t *number)
{
    bool negative = text.len && text.ptr[0] == '-';
    uint64_t digits;

    if (negative) {
        text.ptr++;
        text.len--;
    }
    if (!take_digits(&text, &digits) || text.len || digits > 1000000)
        return false;
    *number = negative ? -(int32_t)digits : (int32_t)digits;
    return true;
}

/* "A to B" or "A to B, or auto": the two ends. */
static void range_ends(const char *range, terse_str *low, terse_str *high)
{
    const char *to = strstr(range, " to ");

    *low = (terse_str){range, (size_t)(to - range)};
    *high = (terse_str){to + 4, strcspn(to + 4, ",")};
}

static terse_status parse_integer(const struct setting *setting, void *at, terse_str value)
{
    int32_t number = LEVEL_AUTO, low = 0, high = 0;
    terse_str a, b;

    range_ends(setting->key.range, &a, &b);
    read_integer(a, &low);
    read_integer(b, &high);
    if (!(text_equal(value, "auto", 4) && strstr(setting->key.range, "auto")) &&
        (!read_integer(value, &number) || number < low || number > high))
        return TERSE_E_VALUE;
    memcpy(at, &number, sizeof number);
    return TERSE_OK;
}

static terse_status parse_bytes(const struct setting *setting, void *at, terse_str value)
{
    uint64_t number, low = 0, high = 0;
    terse_str a, b;

    range_ends(setting->key.range, &a, &b);
    read_bytes(a, &low);
    read_bytes(b, &high);
    if (!read_bytes(value, &number) || number < low || number > high)
        return TERSE_E_VALUE;
    memcpy(at, &number, sizeof number);
    return TERSE_OK;
}

static terse_status parse_time(const struct setting *setting, void *at, terse_str value)
{
    uint64_t number, low = 0, high = 0;
    uint32_t ms;
    terse_str a, b;

    range_ends(setting->key.range, &a, &b);
    read_time(a, &low);
    read_time(b, &high);
    if (!read_time(value, &number) || number < low || number > high)
        return TERSE_E_VALUE;
    ms = (uint32_t)number;
    memcpy(at, &ms, sizeof ms);
    return TERSE_OK;
}

/* ---- words ------------------------------------------------------------------------------------ */

/* The index of value among the members of range, -1 if none; *nearest is the one to propose. */
static int find_member(const char *range, terse_str value, terse_str *nearest)
{
    terse_str rest = text_of(range), member;
    unsigned least = UINT32_MAX;

    for (int i = 0; text_next_member(&rest, &member); i++) {
        unsigned d = text_distance(value.ptr, value.len, member.ptr, member.len);

        if (text_equal(value, member.ptr, member.len))
            return i;
        if (d < least) {
            least = d;
            *nearest = member;
        }
    }
    return -1;
}

static terse_status refuse_word(const struct setting *setting, terse_str value, terse_str word,
                                terse_str nearest, char *why, size_t why_len)
{
    char hint[32];

    text_why(hint, sizeof hint, "%.*s", (int)nearest.len, nearest.ptr);
    /* only a near miss is worth a proposal */
    if (text_distance(word.ptr, word.len, nearest.ptr, nearest.len) > 2)
        return refuse(setting, value, NULL, why, why_len);
    return refuse(setting, value, hint, why, why_len);
}

static terse_status parse_choice(const struct setting *setting, uint8_t *at, terse_str value,
                                 char *why, size_t why_len)
{
    terse_str nearest = {"", 0};
    int index = find_member(setting->key.range, value, &nearest);

    if (index < 0)
        return refuse_word(setting, value, value, nearest, why, why_len);
    if (setting->kind == KIND_ENGINE && index == ENGINE_LIBDEFLATE && !HAVE_LIBDEFLATE) {
        text_why(why, why_len, "%s: this build has no libdeflate", setting->key.key);
        return TERSE_E_VALUE;
    }
    *at = (uint8_t)index;
    return TERSE_OK;
}

static terse_status add_coding(const struct setting *setting, struct settings *made,
                               terse_str value, terse_str member, char *why, size_t why_len)
{
    terse_str nearest = {"", 0};
    int coding = coding_from_name(member.ptr, member.len);

    if (coding == CODING_NONE || coding == CODING_IDENTITY) {
        find_member(setting->key.range, member, &nearest);
        return refuse_word(setting, value, member, nearest, why, why_len);
    }
    if (!coding_built(coding)) {
        text_why(why, why_len, "%s: this build has no %s", setting->key.key, coding_name(coding));
        return TERSE_E_VALUE;
    }
    for (unsigned i = 0; i < made->n_codings; i++)
        if (made->codings[i] == coding) {
            text_why(why, why_len, "%s: %s stands twice", setting->key.key, coding_name(coding));
            return TERSE_E_VALUE;
        }
    made->codings[made->n_codings++] = (uint8_t)coding;
    return TERSE_OK;
}

static terse_status parse_codings(const struct setting *setting, struct settings *s,
                                  terse_str value, char *why, size_t why_len)
{
    struct settings made = {.n_codings = 0};
    terse_str rest = value, member;

    while (text_next_member(&rest, &member)) {
        terse_status status = add_coding(setting, &made, value, member, why, why_len);

        if (status < 0)
            return status;
    }
    if (!made.n_codings)
        return refuse(setting, value, NULL, why, why_len);
    memcpy(s->codings, made.codings, sizeof s->codings);
    s->n_codings = made.n_codings;
    return TERSE_OK;
}

/* A member of an offer: its bit, 0 for client; -1: refused. */
static int offer_bit(const struct setting *setting, terse_str value, terse_str member, char *why,
                     size_t why_len)
{
    terse_str nearest = {"", 0};
    int coding = coding_from_name(member.ptr, member.len);

    if (text_equal(member, "client", 6))
        return 0;
    if (coding == CODING_NONE) {
        find_member(setting->key.range, member, &nearest);
        refuse_word(setting, value, member, nearest, why, why_len);
        return -1;
    }
    if (coding != CODING_IDENTITY && !coding_built(coding)) {
        text_why(why, why_len, "%s: this build has no %s", setting->key.key, coding_name(coding));
        return -1;
    }
    return 1 << coding;
}

static terse_status parse_offer(const struct setting *setting, uint8_t *at, terse_str value,
                                char *why, size_t why_len)
{
    terse_str rest = value, member;
    unsigned bits = 0, members = 0;
    bool client = false;

    while (text_next_member(&rest, &member)) {
        int bit = offer_bit(setting, value, member, why, why_len);

        if (bit < 0)
            return TERSE_E_VALUE;
        client = client || !bit;
        bits |= (unsigned)bit;
        members++;
    }
    if (!members || (client && members > 1)) /* the client's, or others */
        return refuse(setting, value, NULL, why, why_len);
    *at = (uint8_t)bits;
    return TERSE_OK;
}

static terse_status parse_types(const struct setting *setting, const struct media_types **at,
                                const struct media_types *built_in, terse_str value, char *why,
                                size_t why_len)
{
    const struct media_types *list;
    terse_status status;
    char reason[128] = "";

    if (text_equal(value, "built-in", 8)) {
        media_types_unref(*at);
        *at = built_in;
        return TERSE_OK;
    }
    list = media_types_parse(built_in, value, &status, reason, sizeof reason);
    if (!list) {
        text_why(why, why_len, "%s: %s", setting->key.key, reason);
        return status;
    }
    media_types_unref(*at);
    *at = list;
    return TERSE_OK;
}

terse_status setting_parse(const struct setting *setting, struct settings *s, terse_str value,
                           char *why, size_t why_len)
{
    void *at = (char *)s + setting->at;
    terse_status status;

    value = text_trim(value);
    switch (setting->kind) {
    case KIND_CHOICE:
    case KIND_ENGINE:
        return parse_choice(setting, at, value, why, why_len);
    case KIND_CODINGS:
        return parse_codings(setting, s, value, why, why_len);
    case KIND_OFFER:
        return parse_offer(setting, at, value, why, why_len);
    case KIND_TYPES:
        return parse_types(setting, &s->types, media_types_codable(), value, why, why_len);
    case KIND_TYPES_DENY:
        return parse_types(setting, &s->types_deny, media_types_denied(), value, why, why_len);
    case KIND_BYTES:
        status = parse_bytes(setting, at, value);
        break;
    case KIND_TIME:
        status = parse_time(setting, at, value);
        break;
    default:
        status = parse_integer(setting, at, value);
        break;
    }
    return status < 0 ? refuse(setting, value, NULL, why, why_len) : TERSE_OK;
}

/* The default, less what this build does not have. */
terse_status setting_initial(const struct setting *setting, struct settings *s)
{
    terse_str rest = text_of(setting->key.initial), member;

    if (setting->kind != KIND_CODINGS)
        return setting_parse(setting, s, rest, NULL, 0);
    while (text_next_member(&rest, &member)) {
        int coding = coding_from_name(member.ptr, member.len);

        if (coding_built(coding))
            s->codings[s->n_codings++] = (uint8_t)coding;
    }
    return TERSE_OK;
}
