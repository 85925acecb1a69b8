/* SPDX-License-Identifier: MIT */
#include "harness.h"

static terse_policy *make(struct rig *rig, const char *const *pairs)
{
    terse_policy *policy;

    assert_int_equal(rig->api->policy_new(rig->instance, &policy), TERSE_OK);
    for (; *pairs; pairs += 2)
        assert_int_equal(
            rig->api->policy_set(policy, S(pairs[0]), S(pairs[1]), rig->why, sizeof rig->why),
            TERSE_OK);
    assert_int_equal(rig->api->policy_seal(policy, rig->why, sizeof rig->why), TERSE_OK);
    return policy;
}

static const char *choice_of(struct rig *rig, const terse_policy *policy, const char *field)
{
    terse_str line = S(field);
    terse_choice choice = {.struct_size = sizeof choice};

    assert_int_equal(rig->api->negotiate(rig->api->negotiator(policy), &line, 1, &choice), 0);
    return choice.coding ? choice.coding : "identity";
}

/* What a policy does with a text/html of that length. */
static const char *reason_of(struct rig *rig, const terse_policy *policy, const char *type,
                             int64_t length)
{
    char response[128];
    struct message m = {"accept-encoding: gzip", response};
    terse_facts f = rig_facts(rig, &m, 200, length);
    terse_outcome o = {.struct_size = sizeof o};

    snprintf(response, sizeof response, "content-type: %s\n", type);
    f.policy = policy;
    assert_int_equal(rig->api->decide(rig->x, &f, &rig->d), TERSE_OK);
    if (rig->d.action == TERSE_WHOLE)
        strcpy(rig->why, "whole");
    else
        strcpy(rig->why, rig->d.reason_name);
    rig->api->exchange_end(rig->x, TERSE_DONE, &o);
    return rig->why;
}

static void overlays_add_key_by_key(void **state)
{
    static const char *const base_pairs[] = {"codings", "br, gzip", "min-length", "500", NULL};
    static const char *const one_pairs[] = {"codings", "gzip", NULL};
    static const char *const two_pairs[] = {"min-length", "100", "types", "+ application/x-two",
                                            NULL};
    struct rig rig;
    terse_policy *base, *overlay[2], *derived;

    (void)state;
    rig_up(&rig, NULL);
    base = make(&rig, base_pairs);
    overlay[0] = make(&rig, one_pairs);
    overlay[1] = make(&rig, two_pairs);
    assert_int_equal(
        rig.api->policy_derive(base, (const terse_policy *const *)overlay, 2, &derived), TERSE_OK);
    assert_string_equal(choice_of(&rig, base, "br, gzip"), "br");
    assert_string_equal(choice_of(&rig, derived, "br, gzip"), "gzip");
    assert_string_equal(choice_of(&rig, overlay[1], "br, gzip"), "br"); /* its own default */
    assert_string_equal(reason_of(&rig, base, "text/html", 300), "too-small");
    assert_string_equal(reason_of(&rig, derived, "text/html", 300), "whole");
    /* the parts may go: what was derived stands on its own */
    rig.api->policy_unref(base);
    rig.api->policy_unref(overlay[0]);
    rig.api->policy_unref(overlay[1]);
    assert_string_equal(choice_of(&rig, derived, "br, gzip"), "gzip");
    assert_string_equal(reason_of(&rig, derived, "application/x-two", 300), "whole");
    rig.api->policy_unref(derived);
    rig_down(&rig);
}

static void later_overlays_win(void **state)
{
    static const char *const none[] = {NULL};
    static const char *const one_pairs[] = {"codings", "gzip", NULL};
    static const char *const two_pairs[] = {"codings", "br", NULL};
    struct rig rig;
    terse_policy *base, *one, *two, *derived;

    (void)state;
    rig_up(&rig, NULL);
    base = make(&rig, none);
    one = make(&rig, one_pairs);
    two = make(&rig, two_pairs);
    for (int order = 0; order < 2; order++) {
        const terse_policy *overlays[2] = {order ? two : one, order ? one : two};

        assert_int_equal(rig.api->policy_derive(base, overlays, 2, &derived), TERSE_OK);
        assert_string_equal(choice_of(&rig, derived, "*"), order ? "gzip" : "br");
        rig.api->policy_unref(derived);
    }
    assert_int_equal(rig.api->policy_derive(base, NULL, 0, &derived), TERSE_OK);
    assert_string_equal(choice_of(&rig, derived, "*"), "zstd");
    rig.api->policy_unref(derived);
    rig.api->policy_unref(base);
    rig.api->policy_unref(one);
    rig.api->policy_unref(two);
    rig_down(&rig);
}

static void order_of_calls(void **state)
{
    struct rig rig;
    terse_policy *policy, *derived;
    const terse_policy *list[1];

    (void)state;
    rig_up(&rig, NULL);
    assert_int_equal(rig.api->policy_new(rig.instance, &policy), TERSE_OK);
    assert_null(rig.api->negotiator(policy));
    list[0] = policy;
    assert_int_equal(rig.api->policy_derive(policy, NULL, 0, &derived), TERSE_E_STATE);
    assert_int_equal(rig.api->policy_derive(rig.policy, list, 1, &derived), TERSE_E_STATE);
    assert_int_equal(rig.api->policy_seal(policy, NULL, 0), TERSE_OK);
    assert_int_equal(rig.api->policy_seal(policy, NULL, 0), TERSE_E_STATE);
    assert_int_equal(rig.api->policy_set(policy, S("etag"), S("keep"), NULL, 0), TERSE_E_STATE);
    rig.api->policy_ref(policy);
    rig.api->policy_unref(policy);
    rig.api->policy_unref(policy);
    rig.api->policy_unref(NULL);
    assert_int_equal(rig.api->policy_new(NULL, &policy), TERSE_E_ARG);
    assert_int_equal(rig.api->policy_seal(NULL, NULL, 0), TERSE_E_ARG);
    assert_null(rig.api->negotiator(NULL));
    rig_down(&rig);
}

static void a_list_of_ones_own_is_final(void **state)
{
    static const char *const pairs[] = {"types", "text/css", NULL};
    static const char *const any[] = {"types", "*/*", NULL};
    static const char *const added[] = {"types", "+ text/css", NULL};
    static const char *const denied[] = {"types-deny", "+ text/html", NULL};
    struct rig rig;
    terse_policy *own, *all, *plus, *deny;

    (void)state;
    rig_up(&rig, NULL);
    own = make(&rig, pairs);
    all = make(&rig, any);
    plus = make(&rig, added);
    deny = make(&rig, denied);
    assert_string_equal(reason_of(&rig, own, "TEXT/CSS; charset=x", 1000), "whole");
    assert_string_equal(reason_of(&rig, own, "text/html", 1000), "type");
    assert_string_equal(reason_of(&rig, own, "application/x-unknown", 1000), "type");
    assert_string_equal(reason_of(&rig, all, "application/x-unknown", 1000), "whole");
    assert_string_equal(reason_of(&rig, plus, "text/html", 1000), "whole");
    assert_string_equal(reason_of(&rig, plus, "application/x-unknown", 1000), "whole");
    assert_string_equal(reason_of(&rig, deny, "text/html", 1000), "type");
    assert_string_equal(reason_of(&rig, deny, "image/jpeg", 1000), "type");
    rig.api->policy_unref(own);
    rig.api->policy_unref(all);
    rig.api->policy_unref(plus);
    rig.api->policy_unref(deny);
    rig_down(&rig);
}

static void media_types(void **state)
{
    static const char *const coded[] = {"text/html",
                                        "Text/HTML;charset=utf-8",
                                        " text/event-stream ",
                                        "application/json; charset=utf-8",
                                        "application/problem+json",
                                        "image/svg+xml",
                                        "application/wasm",
                                        "font/ttf"};
    static const char *const never[] = {"image/jpeg",
                                        "image/jpeg ; x=y",
                                        "IMAGE/PNG",
                                        "font/woff2",
                                        "application/zip",
                                        "application/gzip",
                                        "application/zstd",
                                        "application/x-bzip2",
                                        "application/x-xz",
                                        "application/x-7z-compressed",
                                        "application/vnd.rar",
                                        "application/grpc",
                                        "application/grpc+proto",
                                        "application/grpc-web+json",
                                        "video/mp4",
                                        "audio/mpeg",
                                        "application/epub+zip",
                                        "multipart/byteranges; boundary=x"};
    struct rig rig;

    (void)state;
    rig_up(&rig, NULL);
    for (size_t i = 0; i < sizeof coded / sizeof coded[0]; i++)
        assert_string_equal(reason_of(&rig, rig.policy, coded[i], 1000), "whole");
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        assert_string_equal(reason_of(&rig, rig.policy, never[i], 1000), "type");
    rig_down(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlays_add_key_by_key),
        cmocka_unit_test(later_overlays_win),
        cmocka_unit_test(order_of_calls),
        cmocka_unit_test(a_list_of_ones_own_is_final),
        cmocka_unit_test(media_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
