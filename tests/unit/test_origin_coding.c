/* SPDX-License-Identifier: MIT */
/* Responses that come coded: what is decided, what the stream makes of them however they are cut, and
 * what the origin is asked for. */
#include "bodies.h"

#define HTML "content-type: text/html\n"
#define LEN 300000

static struct rig rig;
static uint8_t *text;

static terse_status decide(const char *request, const char *response, uint32_t status)
{
    struct message m = {request, response};
    terse_facts f = rig_facts(&rig, &m, status, -1);

    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    return rig.api->decide(rig.x, &f, &rig.d);
}

static void up(const char *const *more)
{
    const char *settings[8] = {"decode.responses=on"};
    size_t n = 1;

    while (more && *more)
        settings[n++] = *more++;
    settings[n] = NULL;
    rig_up(&rig, settings);
}

static void outcomes(void **state)
{
    static const struct {
        const char *request, *response;
        uint32_t status;
        const char *reason, *coding; /* "": identity */
        const char *encoding, *vary; /* edits: "-" removed, "" none */
    } rows[] = {
        {"", "content-encoding: gzip\n", 200, "decoded", "", "-", "Accept-Encoding"},
        {"accept-encoding: gzip\n", "content-encoding: gzip\n", 200, "encoded", "", "",
         "Accept-Encoding"},
        {"accept-encoding: *\n", "content-encoding: zstd\n", 200, "encoded", "", "",
         "Accept-Encoding"},
        {"accept-encoding: x-gzip\n", "content-encoding: X-GZIP\n", 200, "encoded", "", "",
         "Accept-Encoding"},
        {"accept-encoding: br\n", "content-encoding: gzip\n", 200, "decoded", "br", "br",
         "Accept-Encoding"},
        {"accept-encoding: gzip;q=0, br;q=0.1\n", "content-encoding: gzip\n", 200, "decoded", "br",
         "br", "Accept-Encoding"},
        {"accept-encoding: gzip\n", "content-encoding: br, gzip\n", 200, "decoded", "gzip", "gzip",
         "Accept-Encoding"},
        {"accept-encoding: gzip, br\n", "content-encoding: br\ncontent-encoding: gzip\n", 200,
         "encoded", "", "", "Accept-Encoding"},
        {"accept-encoding: *;q=0\n", "content-encoding: gzip\n", 200, "encoded", "", "",
         "Accept-Encoding"},
        {"", "content-encoding: compress\n", 200, "encoded", "", "", ""},
        {"", "content-encoding: gzip, gzip, gzip, gzip\n", 200, "encoded", "", "", ""},
        {"", "content-encoding: gzip\ncache-control: no-transform\n", 200, "encoded", "", "", ""},
        {"range: bytes=0-9\n", "content-encoding: gzip\n", 206, "encoded", "", "", ""},
        {"", "content-encoding: gzip\ncontent-range: bytes 0-9/10\n", 200, "encoded", "", "", ""},
        {"", "content-encoding: gzip\nx-compress-hint: off\n", 200, "decoded", "", "-",
         "Accept-Encoding"},
        {"accept-encoding: br\n", "content-encoding: gzip\nx-compress-hint: off\n", 200, "decoded",
         "", "-", "Accept-Encoding"},
        {"", "content-encoding: gzip\nvary: *\n", 500, "decoded", "", "-", ""},
        {"", "content-encoding: identity\n", 200, "not-accepted", "", "", "Accept-Encoding"},
    };
    char response[200];

    (void)state;
    up(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(response, sizeof response, HTML "%s", rows[i].response);
        assert_int_equal(decide(rows[i].request, response, rows[i].status), TERSE_OK);
        assert_string_equal(rig.d.reason_name, rows[i].reason);
        assert_string_equal(rig.d.coding ? rig.d.coding : "", rows[i].coding);
        assert_int_equal(rig.d.action,
                         strcmp(rows[i].reason, "decoded") ? TERSE_PASS : TERSE_STREAM);
        assert_string_equal(rig_value(&rig, "content-encoding"), rows[i].encoding);
        assert_string_equal(rig_value(&rig, "vary"), rows[i].vary);
    }
    rig_down(&rig);
}

static void types_that_are_not_coded(void **state)
{
    static const char *const types[] = {"image/png", "application/x-unheard-of", NULL};

    (void)state;
    up(NULL);
    for (size_t i = 0; i < 3; i++) {
        char response[200] = "content-encoding: gzip\n";

        if (types[i])
            snprintf(response, sizeof response, "content-type: %s\ncontent-encoding: gzip\n",
                     types[i]);
        decide("accept-encoding: br\n", response, 200);
        assert_string_equal(rig.d.reason_name, "decoded");
        assert_null(rig.d.coding);
    }
    rig_down(&rig);
}

static void hosts_that_cannot(void **state)
{
    static const uint32_t flags[] = {TERSE_FACT_NO_ACCESS, TERSE_FACT_NO_STREAM};

    (void)state;
    up(NULL);
    for (size_t i = 0; i < 2; i++) {
        struct message m = {"", HTML "content-encoding: gzip\n"};
        terse_facts f = rig_facts(&rig, &m, 200, -1);

        f.flags = flags[i];
        rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
        assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
        assert_int_equal(rig.d.action, TERSE_PASS);
        assert_string_equal(rig_value(&rig, "content-encoding"), "");
        assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    }
    rig_down(&rig);
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static terse_status recode(const char *accepted, int coding, const struct sink *body,
                           struct cut cut, struct sink *out)
{
    char request[60] = "", response[120];
    terse_spec spec = {sizeof spec, TERSE_ENCODE, rig.policy, rig.x, {"", 0}, -1};
    terse_stream *stream;

    if (accepted)
        snprintf(request, sizeof request, "accept-encoding: %s\n", accepted);
    snprintf(response, sizeof response, HTML "content-encoding: %s\n", coding_name(coding));
    out->len = 0;
    assert_int_equal(decide(request, response, 200), TERSE_OK);
    assert_int_equal(rig.d.action, TERSE_STREAM);
    assert_int_equal(rig.api->stream_open(rig.pool, &spec, &stream), TERSE_OK);
    return pump(stream, TERSE_FINISH, body->ptr, body->len, cut, out);
}

static void every_cut(void **state)
{
    static const char *const names[] = {NULL, "gzip", "br", "zstd"};
    static const int others[] = {CODING_NONE, CODING_GZIP, CODING_BR, CODING_ZSTD};
    struct sink body = {0}, out = {0};

    (void)state;
    up(NULL);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        foreign_encode(*c, text, LEN, &body);
        for (size_t to = 0; to < 4; to++)
            for (size_t k = 0; k < N_CUTS && *c != others[to]; k++) {
                size_t len = k == 1 || k == 3 ? 20000 : LEN;

                body.len = 0;
                foreign_encode(*c, text, len, &body);
                assert_int_equal(recode(names[to], *c, &body, cuts[k], &out), TERSE_END);
                if (!names[to])
                    assert_bytes(&out, text, len);
                else
                    assert_decodes(others[to], &out, text, len);
            }
        body.len = 0;
    }
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(counter(&rig, "streams.live"), 0);
    assert_int_equal(counter(&rig, "decode.held"), 0);
    rig_down(&rig);
    sink_free(&body);
    sink_free(&out);
}

/* Bytes cut off, or changed: nothing ends well, and it counts as the origin's. */
static void what_is_wrong(void **state)
{
    static const char *const names[] = {NULL, "zstd"};
    struct sink body = {0}, out = {0};
    uint64_t broken = 0;

    (void)state;
    up(NULL);
    for (const int *c = codings(); *c != CODING_NONE; c++)
        for (size_t to = 0; to < 2; to++) {
            terse_outcome o = {.struct_size = sizeof o};

            if (*c == CODING_ZSTD && to)
                continue;
            body.len = 0;
            foreign_encode(*c, text, 5000, &body);
            body.len--;
            assert_int_equal(recode(names[to], *c, &body, cuts[to], &out), TERSE_E_DATA);
            rig.api->exchange_end(rig.x, TERSE_ABORTED, &o);
            assert_string_equal(o.reason_name, "bad-origin");
            assert_int_equal(counter(&rig, "exchanges.source-broke"), ++broken);
            assert_int_equal(counter(&rig, "exchanges.aborted"), 0);
        }
    rig_down(&rig);
    sink_free(&body);
    sink_free(&out);
}

/* A flush brings out all that the origin has flushed. */
static void flushes(void **state)
{
    static const char part[] = "an event that is all there is so far";
    struct sink body = {0}, out = {0};
    terse_spec spec = {sizeof spec, TERSE_ENCODE, NULL, NULL, {"", 0}, -1};
    terse_stream *stream, *source;
    struct foreign *foreign;

    (void)state;
    up(NULL);
    spec.policy = rig.policy;
    spec.exchange = rig.x;
    decide("accept-encoding: br\n", HTML "content-encoding: gzip\n", 200);
    assert_int_equal(rig.api->stream_open(rig.pool, &spec, &stream), TERSE_OK);
    source = open_stream(&rig, rig.policy, TERSE_ENCODE, CODING_GZIP, -1);
    foreign = foreign_new(CODING_BR);
    for (size_t i = 1; i <= 5; i++) {
        struct sink coded = {0};

        body.len = 0;
        pump(source, TERSE_FLUSH, part, sizeof part, cuts[0], &body);
        pump(stream, TERSE_FLUSH, body.ptr, body.len, cuts[i], &coded);
        assert_true(foreign_feed(foreign, coded.ptr, coded.len, &out));
        assert_int_equal(out.len, i * sizeof part);
        sink_free(&coded);
    }
    foreign_free(foreign);
    rig.api->stream_free(source);
    rig_down(&rig);
    sink_free(&body);
    sink_free(&out);
}

/* No call takes more than 64 KB or works for more than 256 KB, in any layer. */
static void one_call(void **state)
{
    static uint8_t zeros[4 << 20], room[8 << 20];
    struct sink body = {0}, outer = {0};
    terse_spec spec = {sizeof spec, TERSE_ENCODE, NULL, NULL, {"", 0}, -1};
    terse_stream *stream;
    terse_in in;
    terse_status status = TERSE_MORE;
    size_t total = 0;

    (void)state;
    up(NULL);
    spec.policy = rig.policy;
    spec.exchange = rig.x;
    foreign_encode(CODING_GZIP, zeros, sizeof zeros, &body);
    foreign_encode(CODING_GZIP, body.ptr, body.len, &outer);
    decide("", HTML "content-encoding: gzip, gzip\n", 200);
    assert_int_equal(rig.api->stream_open(rig.pool, &spec, &stream), TERSE_OK);
    in = (terse_in){outer.ptr, outer.len, 0};
    while (status == TERSE_MORE) {
        terse_out out = {room, sizeof room, 0};

        status = rig.api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
        assert_true(out.pos <= 256 << 10);
        total += out.pos;
    }
    assert_int_equal(status, TERSE_END);
    assert_int_equal(total, sizeof zeros);
    rig_down(&rig);
    sink_free(&body);
    sink_free(&outer);
}

/* Windows are set aside: where there is no room for another, the response stays as it came. */
static void room_for_windows(void **state)
{
    terse_exchange *many[64];
    int streams = 0;

    (void)state;
    up((const char *const[]){"pool.memory=16m", NULL});
    for (int i = 0; i < 64; i++) {
        struct message m = {"", HTML "content-encoding: br\n"};
        terse_facts f = rig_facts(&rig, &m, 200, -1);

        many[i] = calloc(1, rig.api->exchange_size);
        assert_int_equal(rig.api->decide(many[i], &f, &rig.d), TERSE_OK);
        if (rig.d.action == TERSE_STREAM) {
            streams++;
            continue;
        }
        assert_string_equal(rig.d.reason_name, "memory");
        assert_string_equal(rig_value(&rig, "content-encoding"), "");
        assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    }
    assert_in_range(streams, 1, 4);
    for (int i = 0; i < 64; i++) {
        rig.api->exchange_end(many[i], TERSE_DONE, NULL);
        free(many[i]);
    }
    rig_down(&rig);
}

/* ---- the offer -------------------------------------------------------------------------------- */

static const char *offered(const char *const *settings, const char *request)
{
    static char value[100];
    struct message m = {request, ""};
    terse_facts f;

    rig_up(&rig, settings);
    f = rig_facts(&rig, &m, 0, -1);
    assert_int_equal(rig.api->request(rig.x, &f, &rig.d), TERSE_OK);
    snprintf(value, sizeof value, "%s", rig_value(&rig, "accept-encoding"));
    rig_down(&rig);
    return value;
}

static void offers(void **state)
{
    static const char *const none[] = {"decode.responses=on", NULL};
    static const char *const two[] = {"decode.responses=on", "decode.offer=br, gzip", NULL};
    static const char *const all[] = {"decode.responses=on",
                                      "decode.offer=identity, deflate, zstd, x-gzip, br", NULL};
    static const char *const off[] = {"decode.offer=gzip", NULL};
    static const char *const plain[] = {"decode.offer=identity", NULL};

    (void)state;
    assert_string_equal(offered(none, "accept-encoding: gzip\n"), "");
    assert_string_equal(offered(two, "accept-encoding: zstd\n"), "gzip, br");
    assert_string_equal(offered(two, ""), "gzip, br");
    assert_string_equal(offered(two, "range: bytes=0-1\n"), "identity");
    assert_string_equal(offered(all, ""), "gzip, br, zstd, deflate, identity");
    assert_string_equal(offered(off, ""), "");
    assert_string_equal(offered(plain, "accept-encoding: gzip\n"), "identity");
}

static void offers_that_are_none(void **state)
{
    static const char *const values[] = {"", ",", "gzipp", "client, gzip", "gzip client", "*"};
    terse_policy *policy;

    (void)state;
    rig_up(&rig, (const char *const[]){NULL});
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_int_equal(rig.api->policy_new(rig.instance, &policy), TERSE_OK);
        assert_int_equal(
            rig.api->policy_set(policy, S("decode.offer"), S(values[i]), rig.why, sizeof rig.why),
            TERSE_E_VALUE);
        assert_non_null(strstr(rig.why, "decode.offer"));
        rig.api->policy_unref(policy);
    }
    rig_down(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes),
        cmocka_unit_test(types_that_are_not_coded),
        cmocka_unit_test(hosts_that_cannot),
        cmocka_unit_test(every_cut),
        cmocka_unit_test(what_is_wrong),
        cmocka_unit_test(flushes),
        cmocka_unit_test(one_call),
        cmocka_unit_test(room_for_windows),
        cmocka_unit_test(offers),
        cmocka_unit_test(offers_that_are_none),
    };
    int failed;

    text = body_new(TEXT, LEN);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(text);
    return failed;
}
