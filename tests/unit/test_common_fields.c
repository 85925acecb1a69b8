/* SPDX-License-Identifier: MIT */
/* What a policy has ready for common fields is what the parser makes of them.  In every build: the
 * policies offer what it has. */
#include "exchange.h"
#include "harness.h"
#include "policy.h"

#define TEXT(text) text,
static const char *const common[COMMON_FIELDS] = {COMMON_FIELD_LIST(TEXT)};

#define WEIGHTS (CODING_COUNT + 1)

struct answer {
    terse_choice choice;
    terse_weight weights[WEIGHTS];
};

static void ask(const struct rig *rig, const terse_policy *policy, const terse_str *lines, size_t n,
                struct answer *a)
{
    memset(a, 0, sizeof *a);
    a->choice = (terse_choice){
        .struct_size = sizeof a->choice, .weights = a->weights, .weights_cap = WEIGHTS};
    assert_int_equal(rig->api->negotiate(rig->api->negotiator(policy), lines, n, &a->choice), 0);
}

static void assert_same(const char *field, const struct answer *a, const struct answer *b)
{
    bool same = a->choice.coding == b->choice.coding && a->choice.flags == b->choice.flags &&
                a->choice.n_weights == b->choice.n_weights;

    for (uint32_t i = 0; same && i < a->choice.n_weights; i++)
        same = a->weights[i].coding == b->weights[i].coding &&
               a->weights[i].milli == b->weights[i].milli &&
               a->weights[i].source == b->weights[i].source;
    if (!same)
        fail_msg("\"%s\": looked up and parsed, it is not the same", field);
}

static bool is_looked_up(const terse_policy *policy, const terse_str *lines, size_t n)
{
    struct weights w;

    negotiator_read(&policy->negotiator, &w, lines, n);
    return w.common != 0;
}

static terse_str upper(const char *field, char *to)
{
    size_t len = strlen(field);

    for (size_t i = 0; i <= len; i++)
        to[i] = field[i] >= 'a' && field[i] <= 'z' ? (char)(field[i] & ~0x20) : field[i];
    return (terse_str){to, len};
}

static void check_field(const struct rig *rig, const terse_policy *policy, const char *field)
{
    char capitals[64], spaced[64];
    terse_str one = S(field);
    terse_str others[2] = {upper(field, capitals), {spaced, one.len + 1}};
    terse_str two[2] = {one, {"", 0}}; /* two lines are parsed */
    struct answer looked_up, parsed;

    snprintf(spaced, sizeof spaced, "%s ", field);
    ask(rig, policy, &one, 1, &looked_up);
    assert_true(is_looked_up(policy, &one, 1));
    ask(rig, policy, two, 2, &parsed);
    assert_false(is_looked_up(policy, two, 2));
    assert_same(field, &looked_up, &parsed);
    for (int i = 0; i < 2; i++) {
        ask(rig, policy, &others[i], 1, &parsed);
        assert_false(is_looked_up(policy, &others[i], 1));
        assert_same(others[i].ptr, &looked_up, &parsed);
    }
}

static void check_policy(const struct rig *rig, const terse_policy *policy)
{
    for (size_t i = 0; i < COMMON_FIELDS; i++)
        check_field(rig, policy, common[i]);
}

static void check_settings(const char *codings, const char *prefer)
{
    const char *const settings[] = {codings, prefer, NULL};
    struct rig rig;

    rig_up(&rig, settings);
    check_policy(&rig, rig.policy);
    rig_down(&rig);
}

/* Each coding that this build has alone, and all of them in both orders. */
static void policies(void **state)
{
    static const char *const prefer[] = {"prefer=client", "prefer=server"};
    char one[64], up[64] = "codings=", down[64] = "codings=";

    (void)state;
    for (int i = 0; i < CODING_COUNT; i++) {
        if (coding_built(i))
            snprintf(up + strlen(up), 16, "%s%s", up[8] ? "," : "", coding_name(i));
        if (coding_built(CODING_COUNT - 1 - i))
            snprintf(down + strlen(down), 16, "%s%s", down[8] ? "," : "",
                     coding_name(CODING_COUNT - 1 - i));
    }
    for (int p = 0; p < 2; p++) {
        check_settings(prefer[p], NULL);
        check_settings(up, prefer[p]);
        check_settings(down, prefer[p]);
        for (int i = 0; i < CODING_COUNT; i++) {
            snprintf(one, sizeof one, "codings=%s", coding_name(i));
            if (coding_built(i))
                check_settings(one, prefer[p]);
        }
    }
}

static void derived_policies(void **state)
{
    terse_policy *overlay, *derived;
    struct rig rig;

    (void)state;
    for (int i = 0; i < CODING_COUNT; i++) {
        if (!coding_built(i))
            continue;
        rig_up(&rig, NULL);
        assert_int_equal(rig.api->policy_new(rig.instance, &overlay), 0);
        assert_int_equal(
            rig.api->policy_set(overlay, S("codings"), S(coding_name(i)), rig.why, sizeof rig.why),
            0);
        assert_int_equal(rig.api->policy_seal(overlay, rig.why, sizeof rig.why), 0);
        assert_int_equal(
            rig.api->policy_derive(rig.policy, (const terse_policy *const *)&overlay, 1, &derived),
            0);
        check_policy(&rig, derived);
        rig.api->policy_unref(derived);
        rig.api->policy_unref(overlay);
        rig_down(&rig);
    }
}

static bool exchange_looks_up(const char *request)
{
    struct message m = {.request = request};
    struct rig rig;
    terse_facts facts;
    bool yes;

    rig_up(&rig, NULL);
    facts = rig_facts(&rig, &m, 0, -1);
    assert_int_equal(rig.api->request(rig.x, &facts, &rig.d), 0);
    yes = rig.x->weights.common != 0;
    rig_down(&rig);
    return yes;
}

static void exchanges(void **state)
{
    char request[128];

    (void)state;
    for (size_t i = 0; i < COMMON_FIELDS; i++) {
        snprintf(request, sizeof request, "accept-encoding: %s\n", common[i]);
        assert_true(exchange_looks_up(request));
        snprintf(request, sizeof request, "accept-encoding: %s\naccept-encoding: br\n", common[i]);
        assert_false(exchange_looks_up(request));
    }
    assert_false(exchange_looks_up("accept-encoding: gzip;q=1\n"));
    assert_false(exchange_looks_up(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies),
        cmocka_unit_test(derived_policies),
        cmocka_unit_test(exchanges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
