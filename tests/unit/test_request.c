/* SPDX-License-Identifier: MIT */
/* What is done with a request before any handler has run; 406 (unacceptable = 406). */
#include "harness.h"

#define HTML "content-type: text/html\n"
#define NOTHING "accept-encoding: identity;q=0\n"
#define OFFER "The content codings on offer here are identity, zstd, br, gzip.\n"

static struct rig rig;

static int32_t ask(const char *method, const char *request)
{
    struct message m = {request, ""};
    terse_facts f = rig_facts(&rig, &m, 0, -1);

    f.method = S(method);
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(rig.api->request(rig.x, &f, &rig.d), TERSE_OK);
    return rig.d.action;
}

static void assert_refused(const char *method, const char *request)
{
    assert_int_equal(ask(method, request), TERSE_REPLY);
    assert_int_equal(rig.d.status, 406);
    assert_int_equal(rig.d.length, strlen(OFFER));
    assert_int_equal(rig.d.body.len, strlen(OFFER));
    assert_memory_equal(rig.d.body.ptr, OFFER, strlen(OFFER));
    assert_string_equal(rig_value(&rig, "content-type"), "text/plain");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_string_equal(rig.d.reason_name, "unacceptable");
}

static void every_method_but_connect(void **state)
{
    static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"};

    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        assert_refused(methods[i], NOTHING);
    assert_int_equal(ask("CONNECT", NOTHING), TERSE_PASS); /* its answer has no content */
}

static void who_refuses_everything(void **state)
{
    static const char *const passed[] = {
        "",
        "accept-encoding: \n",
        "accept-encoding: compress\n",
        "accept-encoding: gzip;q=0\n",
        "accept-encoding: gzip, identity;q=0\n",
        "accept-encoding: *, identity;q=0\n",
        "accept-encoding: *;q=0, identity;q=0.001\n",
        NOTHING "accept-encoding: br\n",
    };

    (void)state;
    assert_refused("GET", "accept-encoding: *;q=0\n");
    assert_refused("GET", "accept-encoding: compress, *;q=0\n");
    assert_refused("GET", "accept-encoding: deflate, identity;q=0\n"); /* not on offer */
    assert_refused("GET", "accept-encoding: identity;q=bogus\n");
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        assert_int_equal(ask("GET", passed[i]), TERSE_PASS);
}

/* It goes through the host's own filters. */
static void its_own_answer_passes(void **state)
{
    struct message m = {NOTHING, "content-type: text/plain\n"};
    terse_facts f = rig_facts(&rig, &m, 406, (int64_t)strlen(OFFER));

    (void)state;
    assert_refused("GET", NOTHING);
    assert_int_equal(rig.api->request(rig.x, &f, &rig.d), TERSE_OK); /* asked again */
    assert_int_equal(rig.d.action, TERSE_PASS);
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
    assert_int_equal(rig.d.action, TERSE_PASS);
    assert_string_equal(rig.d.reason_name, "unacceptable");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
}

static void identity_by_default(void **state)
{
    struct message m = {NOTHING, HTML};
    struct rig saved = rig;
    terse_facts f;

    (void)state;
    rig_up(&rig, NULL);
    assert_int_equal(ask("GET", NOTHING), TERSE_PASS);
    f = rig_facts(&rig, &m, 200, 1000);
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
    assert_int_equal(rig.d.action, TERSE_PASS);
    assert_string_equal(rig.d.reason_name, "not-accepted");
    rig_down(&rig);
    rig = saved;
}

/* Hosts run their hooks twice; what the client sent first is what counts. */
static void a_second_request_changes_nothing(void **state)
{
    struct message first = {"accept-encoding: gzip\n", HTML}, second = {"", HTML};
    terse_facts f = rig_facts(&rig, &first, 200, 1000), g = rig_facts(&rig, &second, 200, 1000);

    (void)state;
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(rig.api->request(rig.x, &f, &rig.d), TERSE_OK);
    assert_int_equal(rig.api->request(rig.x, &g, &rig.d), TERSE_OK);
    assert_int_equal(rig.api->decide(rig.x, &g, &rig.d), TERSE_OK);
    assert_int_equal(rig.d.action, TERSE_WHOLE);
}

static int setup(void **state)
{
    (void)state;
    rig_up(&rig, (const char *const[]){"unacceptable=406", NULL});
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rig_down(&rig);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_but_connect),
        cmocka_unit_test(who_refuses_everything),
        cmocka_unit_test(its_own_answer_passes),
        cmocka_unit_test(identity_by_default),
        cmocka_unit_test(a_second_request_changes_nothing),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
