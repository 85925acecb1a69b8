/* SPDX-License-Identifier: MIT */
#include "harness.h"

#define HTML "content-type: text/html\n"
#define PARTS "content-type: multipart/byteranges; boundary=x\n"
#define GZIP "accept-encoding: gzip\n"
#define GZIP_ONLY "accept-encoding: gzip, identity;q=0\n"

static char text[70000];
static char packed[70000];

/* Text of a small alphabet, and bytes that do not shrink. */
static void fill(void)
{
    uint32_t x = 1;

    for (size_t i = 0; i < sizeof text; i++) {
        x = x * 1664525u + 1013904223u;
        text[i] = (char)('a' + (x >> 24) % 16);
        packed[i] = (char)(x >> 16);
    }
}

static struct rig rig;
static terse_outcome outcome;

/* One whole exchange up to its decision; bodies up to `slice` are given whole. */
static const char *run(const char *method, uint32_t status, const char *request,
                       const char *response, const char *body, int64_t length)
{
    struct message m = {request, response};
    terse_facts f = rig_facts(&rig, &m, status, length);
    terse_str coded;

    f.method = S(method);
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(rig.api->request(rig.x, &f, &rig.d), TERSE_OK);
    assert_int_equal(rig.d.action, TERSE_PASS);
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
    if (rig.d.action == TERSE_PEEK) {
        size_t n = rig.d.need < (uint64_t)length ? (size_t)rig.d.need : (size_t)length;

        assert_int_equal(
            rig.api->decide_more(rig.x, &f, (terse_str){body, n}, n == (size_t)length, &rig.d),
            TERSE_OK);
    }
    if (rig.d.action == TERSE_WHOLE)
        assert_int_equal(
            rig.api->encode_whole(rig.x, &f, (terse_str){body, (size_t)length}, &coded, &rig.d),
            TERSE_OK);
    return rig.d.reason_name;
}

static void get(const char *request, const char *response, int64_t length, const char *reason)
{
    const char *got = run("GET", 200, request, response, text, length);

    if (strcmp(got, reason))
        fail_msg("%s%s%lld: %s, not %s", request, response, (long long)length, got, reason);
}

static void coded_whole(void **state)
{
    (void)state;
    get(GZIP, HTML, 1000, "coded");
    assert_string_equal(rig.d.coding, "gzip");
    assert_true(rig.d.length > 0 && rig.d.length < 1000);
    assert_string_equal(rig_value(&rig, "content-encoding"), "gzip");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_int_equal(rig.d.n_edits, 2);
    outcome.struct_size = sizeof outcome;
    rig.api->exchange_end(rig.x, TERSE_DONE, &outcome);
    assert_string_equal(outcome.coding, "gzip");
    assert_string_equal(outcome.reason_name, "coded");
    assert_int_equal(outcome.bytes_in, 1000);
    assert_int_equal(outcome.bytes_out, rig.d.length);
    rig.api->exchange_end(rig.x, TERSE_DONE, &outcome); /* again: nothing */
    assert_int_equal(outcome.bytes_in, 0);
    assert_string_equal(outcome.reason_name, "none");
}

static void gates(void **state)
{
    (void)state;
    assert_string_equal(run("CONNECT", 200, GZIP, HTML, text, 1000), "method");
    assert_string_equal(run("TRACE", 200, GZIP, HTML, text, 1000), "method");
    assert_string_equal(run("OPTIONS", 200, GZIP, HTML, text, 1000), "coded"); /* names as long */
    assert_string_equal(run("PATCH", 200, GZIP, HTML, text, 1000), "coded");
    assert_string_equal(run("GET", 204, GZIP, HTML, text, 0), "status");
    assert_string_equal(run("GET", 205, GZIP, HTML, text, 0), "status");
    assert_string_equal(run("GET", 101, GZIP, HTML, text, -1), "status");
    assert_string_equal(run("GET", 206, GZIP, HTML, text, 1000), "partial");
    assert_int_equal(rig.d.n_edits, 1);
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_string_equal(run("GET", 206, GZIP "range: bytes=0-9\n", HTML, text, 10), "range");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_string_equal(run("GET", 206, GZIP, "content-type: image/png\n", text, 10), "partial");
    assert_int_equal(rig.d.n_edits, 0);
    assert_string_equal(run("GET", 206, GZIP, PARTS, text, 1000), "partial");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_string_equal(run("POST", 200, GZIP, HTML, text, 1000), "coded");
    assert_string_equal(run("GET", 404, GZIP, HTML, text, 1000), "coded");
    assert_string_equal(run("GET", 406, GZIP, HTML, text, 1000), "coded");
    assert_string_equal(run("GET", 500, GZIP, HTML, text, 1000), "coded");
    assert_string_equal(run("GET", 599, GZIP, HTML, text, 1000), "coded");
    assert_string_equal(run("GET", 600, GZIP, HTML, text, 1000), "status");
    get(GZIP, HTML "content-encoding: br\n", 1000, "encoded");
    get(GZIP, HTML "content-encoding: GZIP\n", 1000, "encoded");
    get(GZIP, HTML "content-encoding: aws-chunked\n", 1000, "encoded");
    get(GZIP, HTML "content-encoding: identity\ncontent-encoding: br\n", 1000, "encoded");
    get(GZIP, HTML "content-encoding:  Identity \ncontent-encoding: \t\n", 1000, "coded");
    get(GZIP, HTML "content-range: bytes 0-99/1000\n", 1000, "partial");
    get(GZIP, HTML "transfer-encoding: gzip, chunked\n", 1000, "framed");
    get(GZIP "range: bytes=0-9\n", HTML, 1000, "range");
    get(GZIP, "content-type: image/jpeg\n", 1000, "type");
    assert_int_equal(rig.d.n_edits, 0);
}

static void no_transform(void **state)
{
    (void)state;
    get(GZIP, HTML "cache-control: public, No-Transform\n", 1000, "no-transform");
    get(GZIP, HTML "cache-control: public\ncache-control: no-transform\n", 1000, "no-transform");
    get(GZIP, HTML "cache-control: no-transform=x\n", 1000, "no-transform");
    get(GZIP, HTML "cache-control: private=\"no-transform\"\n", 1000, "coded");
    get(GZIP, HTML "cache-control: x-no-transform\n", 1000, "coded");
    get(GZIP "cache-control: no-transform\n", HTML, 1000, "coded");
    assert_int_equal(rig.d.action, TERSE_PASS);
}

static void lengths(void **state)
{
    (void)state;
    get(GZIP, HTML, 0, "empty");
    get(GZIP, HTML, 2, "too-small");
    get(GZIP, HTML, 15, "too-small");
    get(GZIP, HTML, 299, "too-small");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    get(GZIP, HTML, 300, "coded");
    /* rather a few bytes more than a client that cannot read the answer */
    get(GZIP_ONLY, HTML, 20, "coded");
    get(GZIP_ONLY, HTML, 0, "empty");
}

static void clients(void **state)
{
    (void)state;
    get("", HTML, 1000, "not-accepted");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    get("accept-encoding: gzip;q=0\n", HTML, 1000, "not-accepted");
    get("accept-encoding: identity, gzip;q=0.5\n", HTML, 1000, "identity");
    get("accept-encoding: br\naccept-encoding: gzip;q=0.5\n", HTML, 1000, "coded");
    assert_string_equal(rig.d.coding, "br");
    get("accept-encoding: gzip;q=0.5\naccept-encoding: br\n", HTML, 1000, "coded");
    assert_string_equal(rig.d.coding, "br"); /* lines are one list, the last one too */
}

static void no_gain(void **state)
{
    (void)state;
    assert_string_equal(run("GET", 200, GZIP, HTML, packed, 1000), "no-gain");
    assert_null(rig.d.coding);
    assert_int_equal(rig.d.length, TERSE_LENGTH_KEEP);
    assert_int_equal(rig.d.n_edits, 1);
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
}

static void unknown_types_are_probed(void **state)
{
    static const char *const types[] = {"content-type: application/octet-stream\n",
                                        "content-type: application/x-whatever\n", ""};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(run("GET", 200, GZIP, types[i], packed, 60000), "probe");
        assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
        assert_string_equal(run("GET", 200, GZIP, types[i], text, 60000), "coded");
    }
}

/* As many formats that are packed begin. */
static void text_at_the_beginning_is_no_proof(void **state)
{
    static char mixed[60000];

    (void)state;
    memcpy(mixed, packed, sizeof mixed);
    memcpy(mixed, text, 1000);
    assert_string_equal(run("GET", 200, GZIP, "", mixed, sizeof mixed), "probe");
    memcpy(mixed, text, 50000);
    memcpy(mixed, packed, 1000);
    assert_string_equal(run("GET", 200, GZIP, "", mixed, sizeof mixed), "coded");
}

static void origins_hint(void **state)
{
    (void)state;
    get(GZIP, HTML "x-compress-hint: \toff \n", 1000, "hint");
    assert_string_equal(rig_value(&rig, "x-compress-hint"), "-");
    assert_int_equal(rig.d.n_edits, 1);
    get(GZIP, HTML "x-compress-hint: ON\n", 100, "coded"); /* short as it is */
    assert_string_equal(rig_value(&rig, "x-compress-hint"), "-");
    assert_string_equal(run("GET", 200, GZIP, "x-compress-hint: on\n", packed, 1000), "no-gain");
    get(GZIP, "content-type: image/png\nx-compress-hint: on\n", 1000, "type");
    assert_string_equal(rig_value(&rig, "x-compress-hint"), "-");
    get(GZIP, HTML "x-compress-hint: auto\n", 100, "too-small");
    assert_string_equal(rig_value(&rig, "x-compress-hint"), "-");
    get(GZIP, HTML "x-compress-hint: on\ncontent-encoding: br\n", 1000, "encoded");
    assert_string_equal(run("HEAD", 200, GZIP, HTML "x-compress-hint: on\n", text, 100), "head");
    assert_string_equal(rig_value(&rig, "x-compress-hint"), "-");
    assert_string_equal(run("GET", 304, GZIP, "x-compress-hint: on\n", text, 0), "not-modified");
    assert_string_equal(rig_value(&rig, "x-compress-hint"), "-");
}

static void head_says_what_get_would(void **state)
{
    (void)state;
    assert_string_equal(run("HEAD", 200, GZIP, HTML "etag: \"v\"\n", text, 1000), "head");
    assert_int_equal(rig.d.action, TERSE_PASS);
    assert_int_equal(rig.d.length, TERSE_LENGTH_UNKNOWN);
    assert_string_equal(rig_value(&rig, "content-encoding"), "gzip");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_string_equal(rig_value(&rig, "etag"), "W/\"v\"");
    assert_string_equal(run("HEAD", 200, GZIP, HTML "content-length: 1000\n", text, -1), "head");
    assert_string_equal(rig_value(&rig, "content-encoding"), "gzip");
    assert_string_equal(run("HEAD", 200, GZIP, HTML, text, 100), "too-small");
    assert_int_equal(rig.d.length, TERSE_LENGTH_KEEP);
    assert_string_equal(run("HEAD", 200, GZIP_ONLY, HTML, text, 0), "empty");
    assert_string_equal(rig_value(&rig, "content-encoding"), "");
    /* cannot be known */
    assert_string_equal(run("HEAD", 200, GZIP, HTML "etag: \"v\"\n", text, -1), "head");
    assert_string_equal(rig_value(&rig, "content-encoding"), "");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_string_equal(rig_value(&rig, "etag"), "W/\"v\"");
    assert_string_equal(run("HEAD", 200, GZIP, HTML "content-length:  299 \n", text, -1),
                        "too-small");
    assert_string_equal(run("HEAD", 200, GZIP, HTML "content-length: 1x\n", text, -1), "head");
    assert_string_equal(rig_value(&rig, "content-encoding"), "");
}

static void not_modified_stands_for_its_200(void **state)
{
    (void)state;
    assert_string_equal(run("GET", 304, GZIP, HTML "etag: \"v\"\n", text, 0), "not-modified");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_string_equal(rig_value(&rig, "etag"), "W/\"v\"");
    assert_string_equal(rig_value(&rig, "content-encoding"), "");
    assert_string_equal(run("GET", 304, GZIP, "etag: \"v\"\n", text, 0), "not-modified");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_string_equal(run("GET", 304, "", "etag: \"v\"\n", text, 0), "not-modified");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_string_equal(rig_value(&rig, "etag"), "");
    assert_string_equal(run("GET", 304, GZIP, "content-type: image/png\netag: \"v\"\n", text, 0),
                        "type");
    assert_int_equal(rig.d.n_edits, 0);
}

static void assert_digests_leave_trailers(void)
{
    static const char *const names[] = {"content-digest", "repr-digest", "digest", "content-md5"};

    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(rig_value(&rig, names[i]), "-");
        assert_int_equal(rig_edit(&rig, names[i])->side, TERSE_TRAILER);
    }
}

static void large_bodies_are_streams(void **state)
{
    struct message m = {GZIP, HTML};
    terse_facts f = rig_facts(&rig, &m, 200, 10 << 20);
    terse_spec spec = {.struct_size = sizeof spec, .direction = TERSE_ENCODE, .exchange = rig.x};
    terse_stream *stream, *again;

    (void)state;
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
    assert_int_equal(rig.d.action, TERSE_STREAM);
    assert_int_equal(rig.d.length, TERSE_LENGTH_UNKNOWN);
    assert_true(rig.d.piece > 0);
    assert_string_equal(rig_value(&rig, "content-encoding"), "gzip");
    assert_digests_leave_trailers();
    spec.policy = rig.policy;
    assert_int_equal(rig.api->stream_open(rig.pool, &spec, &stream), TERSE_OK);
    assert_int_equal(rig.api->stream_open(rig.pool, &spec, &again), TERSE_OK);
    assert_ptr_equal(stream, again); /* the one that the decision set up */
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_E_STATE);
    rig.api->exchange_end(rig.x, TERSE_ABORTED, NULL);
}

static void unknown_lengths_are_held(void **state)
{
    struct message m = {GZIP, HTML};
    terse_facts f = rig_facts(&rig, &m, 200, -1);

    (void)state;
    for (int how = 0; how < 3; how++) {
        rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
        assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
        assert_int_equal(rig.d.action, TERSE_PEEK);
        assert_int_equal(rig.d.need, 300);
        assert_true(rig.d.hold_ms > 0);
        assert_int_equal(
            rig.api->decide_more(rig.x, &f, (terse_str){text, how ? 10 : 300}, how, &rig.d),
            TERSE_OK);
        assert_int_equal(rig.d.action, how == 1 ? TERSE_PASS : TERSE_STREAM);
        assert_string_equal(rig.d.reason_name, how == 1 ? "too-small" : "coded");
        assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
        assert_int_equal(rig.api->decide_more(rig.x, &f, (terse_str){text, 300}, 0, &rig.d),
                         TERSE_E_STATE);
    }
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    f.flags |= TERSE_FACT_NO_STREAM;
    rig.api->decide(rig.x, &f, &rig.d);
    rig.api->decide_more(rig.x, &f, (terse_str){text, 300}, 0, &rig.d);
    assert_string_equal(rig.d.reason_name, "host");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    f.flags = TERSE_FACT_NO_ACCESS;
    rig.api->decide(rig.x, &f, &rig.d);
    assert_string_equal(rig.d.reason_name, "host");
}

/* What has come of it by then is judged. */
static void unknown_types_of_unknown_length(void **state)
{
    struct message m = {GZIP, "content-type: application/x-whatever\n"};
    struct message hinted = {GZIP, "x-compress-hint: on\n"};
    terse_facts f = rig_facts(&rig, &m, 200, -1);

    (void)state;
    for (int is_text = 0; is_text < 2; is_text++) {
        terse_str bytes = {is_text ? text : packed, 60000};

        rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
        assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
        assert_int_equal(rig.d.action, TERSE_PEEK);
        assert_int_equal(rig.api->decide_more(rig.x, &f, bytes, 0, &rig.d), TERSE_OK);
        assert_int_equal(rig.d.action, is_text ? TERSE_STREAM : TERSE_PASS);
        assert_string_equal(rig.d.reason_name, is_text ? "coded" : "probe");
        assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    }
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    f = rig_facts(&rig, &hinted, 200, -1);
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
    assert_int_equal(rig.d.action, TERSE_STREAM); /* its origin has said so: nothing to look at */
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
}

static void wrong_calls(void **state)
{
    struct message m = {GZIP, HTML};
    terse_facts f = rig_facts(&rig, &m, 200, 1000);
    struct {
        terse_facts f;
        uint64_t later;
    } grown = {f, 0};
    terse_str coded;

    (void)state;
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(rig.api->decide(NULL, &f, &rig.d), TERSE_E_ARG);
    assert_int_equal(rig.api->decide(rig.x, NULL, &rig.d), TERSE_E_ARG);
    assert_int_equal(rig.api->decide(rig.x, &f, NULL), TERSE_E_ARG);
    f.struct_size = 8;
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_E_ARG);
    f.struct_size = sizeof f;
    f.flags = 1u << 31;
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_E_TOOBIG);
    grown.f.struct_size = sizeof grown;
    assert_int_equal(rig.api->decide(rig.x, &grown.f, &rig.d), TERSE_OK);
    grown.later = 1;
    assert_int_equal(rig.api->decide(rig.x, &grown.f, &rig.d), TERSE_E_TOOBIG);
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    f.flags = 0;
    assert_int_equal(rig.api->encode_whole(rig.x, &f, S("x"), &coded, &rig.d), TERSE_E_STATE);
    assert_int_equal(rig.api->decide_more(rig.x, &f, S("x"), 0, &rig.d), TERSE_E_STATE);
}

static void every_exchange_is_counted_once(void **state)
{
    const char *name;
    uint64_t value, before = 0, after = 0;

    (void)state;
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    for (uint32_t i = 0; rig.api->pool_counter(rig.pool, i, &name, &value) == TERSE_OK; i++)
        if (!strcmp(name, "reason.too-small"))
            before = value;
    get(GZIP, HTML, 20, "too-small");
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    for (uint32_t i = 0; rig.api->pool_counter(rig.pool, i, &name, &value) == TERSE_OK; i++) {
        if (!strcmp(name, "reason.too-small"))
            after = value;
        if (!strcmp(name, "streams.live"))
            assert_int_equal(value, 0);
    }
    assert_int_equal(after, before + 1);
}

static void modes(void **state)
{
    static const char *const settings[] = {"etag=drop", "accept-ranges=none", "no-transform=both",
                                           "http10=on", "max-length=2000",    NULL};
    struct rig saved = rig;
    struct message m = {GZIP, HTML};
    terse_facts f;

    (void)state;
    rig_up(&rig, settings);
    get(GZIP, HTML "etag: \"v\"\n", 1000, "coded");
    assert_string_equal(rig_value(&rig, "etag"), "-");
    assert_string_equal(rig_value(&rig, "accept-ranges"), "none");
    get(GZIP "cache-control: no-transform\n", HTML, 1000, "no-transform");
    get(GZIP, HTML, 2000, "coded");
    get(GZIP, HTML, 2001, "too-large");
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    f = rig_facts(&rig, &m, 200, -1); /* a length that is not known is not too large */
    rig.api->decide(rig.x, &f, &rig.d);
    assert_int_equal(rig.d.action, TERSE_PEEK);
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    f = rig_facts(&rig, &m, 200, 1000);
    f.http_version = 10;
    rig.api->decide(rig.x, &f, &rig.d);
    assert_int_equal(rig.d.action, TERSE_WHOLE);
    rig_down(&rig);
    rig_up(&rig, (const char *const[]){"etag=skip", "no-transform=ignore", NULL});
    get(GZIP, HTML "etag: \"v\"\n", 1000, "etag");
    get(GZIP, HTML "cache-control: no-transform\n", 1000, "coded");
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    f.policy = rig.policy;
    f.pool = rig.pool;
    rig.api->decide(rig.x, &f, &rig.d);
    assert_string_equal(rig.d.reason_name, "http10");
    rig_down(&rig);
    rig = saved;
}

static int setup(void **state)
{
    (void)state;
    fill();
    rig_up(&rig, NULL);
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
        cmocka_unit_test(coded_whole),
        cmocka_unit_test(gates),
        cmocka_unit_test(no_transform),
        cmocka_unit_test(lengths),
        cmocka_unit_test(clients),
        cmocka_unit_test(no_gain),
        cmocka_unit_test(unknown_types_are_probed),
        cmocka_unit_test(text_at_the_beginning_is_no_proof),
        cmocka_unit_test(origins_hint),
        cmocka_unit_test(head_says_what_get_would),
        cmocka_unit_test(not_modified_stands_for_its_200),
        cmocka_unit_test(large_bodies_are_streams),
        cmocka_unit_test(unknown_lengths_are_held),
        cmocka_unit_test(unknown_types_of_unknown_length),
        cmocka_unit_test(wrong_calls),
        cmocka_unit_test(every_exchange_is_counted_once),
        cmocka_unit_test(modes),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
