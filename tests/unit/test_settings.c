/* SPDX-License-Identifier: MIT */
#include "harness.h"

static terse_status set(struct rig *rig, const char *key, const char *value)
{
    terse_policy *policy;
    terse_status status;

    assert_int_equal(rig->api->policy_new(rig->instance, &policy), TERSE_OK);
    strcpy(rig->why, "(none)");
    status = rig->api->policy_set(policy, S(key), S(value), rig->why, sizeof rig->why);
    rig->api->policy_unref(policy);
    return status;
}

static void refused(struct rig *rig, const char *key, const char *value, terse_status expected,
                    const char *words)
{
    terse_status status = set(rig, key, value);

    if (status != expected || !strstr(rig->why, words))
        fail_msg("%s = \"%s\": %d \"%s\", not %d with \"%s\"", key, value, (int)status, rig->why,
                 (int)expected, words);
}

static void accepted(struct rig *rig, const char *key, const char *value)
{
    if (set(rig, key, value) != TERSE_OK)
        fail_msg("%s = \"%s\" refused: %s", key, value, rig->why);
}

static void values(void **state)
{
    struct rig rig;

    (void)state;
    rig_up(&rig, NULL);
    accepted(&rig, "gzip.level", "1");
    accepted(&rig, "gzip.level", " 9 ");
    accepted(&rig, "gzip.level", "auto");
    accepted(&rig, "gzip.level", "AUTO");
    accepted(&rig, "br.quality", "0");
    accepted(&rig, "br.quality", "11");
    accepted(&rig, "zstd.level", "-7");
    accepted(&rig, "zstd.level", "19");
    accepted(&rig, "codings", "gzip");
    accepted(&rig, "codings", "X-GZIP,br , zstd,deflate");
    accepted(&rig, "prefer", "Server");
    accepted(&rig, "min-length", "0");
    accepted(&rig, "min-length", "1k");
    accepted(&rig, "max-length", "10M");
    accepted(&rig, "slice", "16k");
    accepted(&rig, "flush", "Each");
    accepted(&rig, "flush.delay", "1");
    accepted(&rig, "flush.delay", "60S");
    accepted(&rig, "flush.delay", "1m");
    accepted(&rig, "flush.delay", "60000ms");
    accepted(&rig, "zstd.frames", "several");
    accepted(&rig, "stream.park", "0");
    accepted(&rig, "stream.park", "0s");
    accepted(&rig, "stream.park", "1h");
    accepted(&rig, "pool.memory", "4m");
    accepted(&rig, "pool.memory", "64G");
    accepted(&rig, "types", "text/html, *+json, */*");
    accepted(&rig, "types", "+ application/x-mine");
    accepted(&rig, "types", "built-in");
    accepted(&rig, "types-deny", "application/foo*");
    accepted(&rig, "etag", "drop");
    accepted(&rig, "http10", "on");
    accepted(&rig, "?br.future", "anything");
    rig_down(&rig);
}

static void refusals(void **state)
{
    struct rig rig;

    (void)state;
    rig_up(&rig, NULL);
    refused(&rig, "gzip.level", "99", TERSE_E_VALUE,
            "gzip.level: \"99\" is not allowed; expected 1 to 9, or auto");
    refused(&rig, "gzip.level", "0", TERSE_E_VALUE, "1 to 9");
    refused(&rig, "gzip.level", "", TERSE_E_VALUE, "\"\"");
    refused(&rig, "gzip.level", "6x", TERSE_E_VALUE, "6x");
    refused(&rig, "gzip.level", "0x6", TERSE_E_VALUE, "0x6");
    refused(&rig, "gzip.level", "99999999999999999999", TERSE_E_VALUE, "1 to 9");
    refused(&rig, "zstd.level", "20", TERSE_E_VALUE, "-7 to 19");
    refused(&rig, "zstd.level", "-8", TERSE_E_VALUE, "-7 to 19");
    refused(&rig, "br.quality", "12", TERSE_E_VALUE, "0 to 11");
    refused(&rig, "codings", "", TERSE_E_VALUE, "zstd, br, gzip");
    refused(&rig, "codings", "gzip, gzip", TERSE_E_VALUE, "stands twice");
    refused(&rig, "codings", "gzip, x-gzip", TERSE_E_VALUE, "stands twice");
    refused(&rig, "codings", "identity", TERSE_E_VALUE, "expected zstd");
    refused(&rig, "codings", "gzp", TERSE_E_VALUE, "the nearest is gzip");
    refused(&rig, "prefer", "sever", TERSE_E_VALUE, "the nearest is server");
    refused(&rig, "etag", "wrong", TERSE_E_VALUE, "weaken, suffix, drop, keep, skip");
    refused(&rig, "min-length", "-1", TERSE_E_VALUE, "0 to 1g");
    refused(&rig, "min-length", "2g", TERSE_E_VALUE, "0 to 1g");
    refused(&rig, "min-length", "1kk", TERSE_E_VALUE, "1kk");
    refused(&rig, "max-length", "99999999999g", TERSE_E_VALUE, "0 to 1024g");
    refused(&rig, "slice", "1", TERSE_E_VALUE, "16k to 1g");
    refused(&rig, "flush", "eech", TERSE_E_VALUE, "the nearest is each");
    refused(&rig, "flush.delay", "0", TERSE_E_VALUE,
            "flush.delay: \"0\" is not allowed; expected 1ms to 60s");
    refused(&rig, "flush.delay", "61s", TERSE_E_VALUE, "1ms to 60s");
    refused(&rig, "flush.delay", "20 ms", TERSE_E_VALUE, "\"20 ms\"");
    refused(&rig, "flush.delay", "20us", TERSE_E_VALUE, "20us");
    refused(&rig, "flush.delay", "s", TERSE_E_VALUE, "\"s\"");
    refused(&rig, "flush.delay", "", TERSE_E_VALUE, "\"\"");
    refused(&rig, "stream.park", "3600001", TERSE_E_VALUE, "0 to 1h");
    refused(&rig, "stream.park", "4294967296000h", TERSE_E_VALUE, "0 to 1h");
    refused(&rig, "stream.park", "-5s", TERSE_E_VALUE, "0 to 1h");
    refused(&rig, "pool.memory", "0", TERSE_E_VALUE, "4m to 64g");
    refused(&rig, "pool.memory", "65g", TERSE_E_VALUE, "4m to 64g");
    refused(&rig, "types", "text", TERSE_E_VALUE, "\"text\" is not a media type");
    refused(&rig, "types", "text/html; charset=utf-8", TERSE_E_VALUE, "charset");
    refused(&rig, "types", "te*t/html", TERSE_E_VALUE, "te*t/html");
    refused(&rig, "types", "*+", TERSE_E_VALUE, "*+");
    refused(&rig, "gzip.levl", "6", TERSE_E_KEY, "the nearest is gzip.level");
    refused(&rig, "min_length", "6", TERSE_E_KEY, "the nearest is min-length");
    refused(&rig, "Types", "*/*", TERSE_E_KEY, "the nearest is types");
    refused(&rig, "", "6", TERSE_E_KEY, "no such setting");
    refused(&rig, "a\nb", "6", TERSE_E_KEY, "a?b: no such setting"); /* one line in a log */
    rig_down(&rig);
}

/* What a time is worth, as its effect shows it. */
static void times_are_milliseconds(void **state)
{
    static const struct {
        const char *setting;
        uint32_t ms;
    } times[] = {{"flush.delay=7", 7},      {"flush.delay=7ms", 7},   {"flush.delay=7s", 7000},
                 {"flush.delay=1M", 60000}, {"flush.delay=20ms", 20}, {"flush=none", 20}};

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const char *settings[] = {times[i].setting, NULL};
        struct message m = {"accept-encoding: gzip\n", "content-type: text/plain\n"};
        terse_facts facts;
        struct rig rig;

        rig_up(&rig, settings);
        facts = rig_facts(&rig, &m, 200, -1);
        assert_int_equal(rig.api->decide(rig.x, &facts, &rig.d), TERSE_OK);
        assert_int_equal(rig.d.action, TERSE_PEEK);
        assert_int_equal(rig.d.hold_ms, times[i].ms);
        rig_down(&rig);
    }
}

static void keys_are_listed(void **state)
{
    struct rig rig;
    const terse_keys *keys;

    (void)state;
    rig_up(&rig, NULL);
    keys = rig.api->query(TERSE_QUERY_KEYS);
    assert_non_null(keys);
    assert_true(keys->count >= 15);
    for (uint32_t i = 0; i < keys->count; i++) {
        const terse_key *key = keys->at(i);

        assert_true(key->key[0] && key->type[0] && key->range[0] && key->help[0]);
        accepted(&rig, key->key, key->initial); /* each default can be written down */
    }
    assert_null(keys->at(keys->count));
    assert_null(rig.api->query("terse.keys/2"));
    assert_null(rig.api->query(NULL));
    rig_down(&rig);
}

static void reasons_are_listed(void **state)
{
    const terse_api *api = terse_plugin_entry(1);
    const terse_reasons *reasons = api->query(TERSE_QUERY_REASONS);

    (void)state;
    for (uint32_t i = 0; i < reasons->count; i++) {
        const terse_reason *reason = reasons->at(i);

        assert_int_equal(reason->number, i);
        assert_true(reason->name[0] && reason->sentence[strlen(reason->sentence) - 1] == '.');
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(reason->name, reasons->at(j)->name);
    }
    assert_null(reasons->at(reasons->count));
}

static void words_fit_any_room(void **state)
{
    struct rig rig;
    terse_policy *policy;
    char why[8];

    (void)state;
    rig_up(&rig, NULL);
    assert_int_equal(rig.api->policy_new(rig.instance, &policy), TERSE_OK);
    memset(why, 'x', sizeof why);
    assert_int_equal(rig.api->policy_set(policy, S("nope"), S("1"), why, 4), TERSE_E_KEY);
    assert_string_equal(why, "nop");
    assert_int_equal(why[4], 'x');
    assert_int_equal(rig.api->policy_set(policy, S("nope"), S("1"), NULL, 0), TERSE_E_KEY);
    assert_int_equal(rig.api->policy_set(policy, S("nope"), S("1"), why, 0), TERSE_E_KEY);
    rig.api->policy_unref(policy);
    rig_down(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(refusals),
        cmocka_unit_test(times_are_milliseconds),
        cmocka_unit_test(keys_are_listed),
        cmocka_unit_test(reasons_are_listed),
        cmocka_unit_test(words_fit_any_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
