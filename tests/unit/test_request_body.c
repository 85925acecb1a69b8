/* SPDX-License-Identifier: MIT */
/* Request bodies that have content codings: made by the codec libraries, decoded through the table. */
#include "harness.h"

#include <stdbool.h>

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#define ROOM (40u << 20)

struct body {
    uint8_t *bytes;
    size_t len;
};

static struct rig rig;
static uint8_t *plain, *result;
static uint64_t most_in, most_out; /* of one call */

static void up(const char *const *more)
{
    const char *settings[12] = {"decode.requests=on"};
    size_t n = 1;

    while (more && *more)
        settings[n++] = *more++;
    settings[n] = NULL;
    rig_up(&rig, settings);
}

/* ---- codings by the libraries ----------------------------------------------------------------- */

static struct body by_zlib(const void *bytes, size_t len, int bits)
{
    z_stream z = {0};
    struct body made = {malloc(len + len / 8 + 4096), 0};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)len;
    z.next_out = made.bytes;
    z.avail_out = (uInt)(len + len / 8 + 4096);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    made.len = z.total_out;
    deflateEnd(&z);
    return made;
}

static struct body by_brotli(const void *bytes, size_t len, int window)
{
    size_t room = BrotliEncoderMaxCompressedSize(len) + 1024;
    struct body made = {malloc(room), room};

    assert_true(
        BrotliEncoderCompress(5, window, BROTLI_MODE_GENERIC, len, bytes, &made.len, made.bytes));
    return made;
}

static struct body by_zstd(const void *bytes, size_t len)
{
    size_t room = ZSTD_compressBound(len);
    struct body made = {malloc(room), 0};

    made.len = ZSTD_compress(made.bytes, room, bytes, len, 3);
    assert_false(ZSTD_isError(made.len));
    return made;
}

/* One coding by its name; what it was made of is freed. */
static struct body coded(struct body from, const char *name, bool owned)
{
    struct body made;

    if (!strcmp(name, "gzip"))
        made = by_zlib(from.bytes, from.len, 15 + 16);
    else if (!strcmp(name, "deflate"))
        made = by_zlib(from.bytes, from.len, 15);
    else if (!strcmp(name, "raw"))
        made = by_zlib(from.bytes, from.len, -15);
    else if (!strcmp(name, "br"))
        made = by_brotli(from.bytes, from.len, 22);
    else
        made = by_zstd(from.bytes, from.len);
    if (owned)
        free(from.bytes);
    return made;
}

/* ---- one request ------------------------------------------------------------------------------ */

static terse_facts facts_of(struct message *m, const char *method)
{
    terse_facts f = rig_facts(&rig, m, 0, -1);

    f.method = S(method);
    return f;
}

static int32_t ask(struct message *m)
{
    terse_facts f = facts_of(m, "POST");

    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(rig.api->request(rig.x, &f, &rig.d), TERSE_OK);
    return rig.d.action;
}

static terse_status run(terse_stream *stream, const struct body *b, size_t piece, size_t *given)
{
    terse_in in = {b->bytes, 0, 0};
    terse_out out = {result, ROOM, 0};
    terse_status status;

    do {
        size_t left = b->len - in.pos, in_pos = in.pos, out_pos = out.pos;

        in.len = in.pos + (left < piece ? left : piece);
        status = rig.api->stream_run(stream, in.len == b->len ? TERSE_FINISH : TERSE_RUN, &in, &out,
                                     NULL);
        if (in.pos - in_pos > most_in)
            most_in = in.pos - in_pos;
        if (out.pos - out_pos > most_out)
            most_out = out.pos - out_pos;
        assert_true(out.pos < out.len);
    } while (status == TERSE_OK || status == TERSE_MORE);
    *given = out.pos;
    return status;
}

/* The status of the refusal; 0: it was decoded, to *given bytes of result. */
static uint32_t decode(const char *request, const struct body *b, size_t piece, size_t *given)
{
    struct message m = {request, ""};
    terse_facts f = facts_of(&m, "POST");
    terse_spec spec = {.struct_size = sizeof spec, .direction = TERSE_DECODE, .exchange = rig.x};
    terse_stream *stream;
    terse_status status;

    if (ask(&m) == TERSE_REPLY)
        return rig.d.status;
    assert_int_equal(rig.d.action, TERSE_UNCODE);
    assert_int_equal(rig.d.piece, 65536);
    spec.policy = rig.policy;
    assert_int_equal(rig.api->stream_open(rig.pool, &spec, &stream), TERSE_OK);
    status = run(stream, b, piece, given);
    assert_int_equal(rig.api->request_body(rig.x, &f, status, *given, &rig.d), TERSE_OK);
    assert_int_equal(
        rig.api->request_body(rig.x, &f, status, *given,
                              &(terse_decision){.struct_size = sizeof(terse_decision)}),
        TERSE_E_STATE);
    if (rig.d.action == TERSE_REPLY)
        return rig.d.status;
    assert_int_equal(rig.d.action, TERSE_PASS);
    assert_int_equal(rig.d.length, *given);
    return 0;
}

static void same(const char *request, const struct body *b, size_t len)
{
    static const size_t pieces[] = {1 << 30, 65536, 7};
    size_t given;

    for (size_t i = 0; i < 3; i++) {
        if (pieces[i] == 7 && b->len > 400000)
            continue;
        assert_int_equal(decode(request, b, pieces[i], &given), 0);
        assert_int_equal(given, len);
        assert_memory_equal(result, plain, len);
    }
}

/* ---- cases ------------------------------------------------------------------------------------ */

static void codings(void **state)
{
    static const char *const rows[][5] = {
        {"content-encoding: gzip\n", "gzip"},
        {"content-encoding: x-GZip\n", "gzip"},
        {"content-encoding: br\n", "br"},
        {"content-encoding: zstd\n", "zstd"},
        {"content-encoding: deflate\n", "deflate"},
        {"content-encoding: deflate\n", "raw"},
        {"content-encoding: identity, gzip,\n", "gzip"},
        {"content-encoding: br, gzip\n", "br", "gzip"},
        {"content-encoding: gzip\ncontent-encoding: zstd\ncontent-encoding: br\n", "gzip", "zstd",
         "br"},
    };
    static const size_t lengths[] = {0, 1, 45, 100000, 3000000};

    (void)state;
    up(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t j = 0; j < sizeof lengths / sizeof lengths[0]; j++) {
            struct body b = {plain, lengths[j]};

            for (size_t k = 1; k < 5 && rows[i][k]; k++)
                b = coded(b, rows[i][k], k > 1);
            same(rows[i][0], &b, lengths[j]);
            free(b.bytes);
        }
    assert_true(most_in <= 65536);
    assert_true(most_out <= 262144);
    rig_down(&rig);
}

static void what_is_not_decoded(void **state)
{
    (void)state;
    up(NULL);
    assert_int_equal(ask(&(struct message){"", ""}), TERSE_PASS);
    assert_int_equal(ask(&(struct message){"content-encoding: identity\n", ""}), TERSE_PASS);
    assert_int_equal(
        ask(&(struct message){"content-encoding: gzip\ncontent-range: bytes 0-1/2\n", ""}),
        TERSE_PASS);
    rig_down(&rig);
    rig_up(&rig, (const char *const[]){NULL});
    assert_int_equal(ask(&(struct message){"content-encoding: gzip\n", ""}), TERSE_PASS);
    rig_down(&rig);
}

static void unsupported(void **state)
{
    static const char *const rows[] = {
        "content-encoding: compress\n", "content-encoding: gzip, aws-chunked\n",
        "content-encoding: gzip, gzip, gzip, gzip\n", "content-encoding: \"gzip\"\n"};

    (void)state;
    up(NULL);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ask(&(struct message){rows[i], ""}), TERSE_REPLY);
        assert_int_equal(rig.d.status, 415);
        assert_string_equal(rig.d.reason_name, "unsupported");
        assert_string_equal(rig_value(&rig, "accept-encoding"), "gzip, br, zstd, deflate");
        assert_true(rig.d.body.len > 0);
    }
    rig_down(&rig);
}

static void edits_of_the_request(void **state)
{
    const char *request = "content-encoding: gzip\ncontent-md5: x\ncontent-digest: y\n"
                          "repr-digest: z\ndigest: w\n";
    struct body b = coded((struct body){plain, 500}, "gzip", false);
    size_t given;

    (void)state;
    up(NULL);
    assert_int_equal(decode(request, &b, 65536, &given), 0);
    assert_int_equal(rig.d.n_edits, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(rig.d.edits[i].side, TERSE_REQUEST);
        assert_int_equal(rig.d.edits[i].op, TERSE_EDIT_REMOVE);
    }
    free(b.bytes);
    rig_down(&rig);
}

static void malformed(void **state)
{
    static const char *const names[] = {"gzip", "br", "zstd", "deflate"};
    char request[64];
    size_t given;

    (void)state;
    up(NULL);
    for (size_t i = 0; i < 4; i++) {
        struct body b = coded((struct body){plain, 20000}, names[i], false), cut;

        snprintf(request, sizeof request, "content-encoding: %s\n", names[i]);
        for (size_t len = 1; len < b.len; len += 1 + b.len / 40) {
            cut = (struct body){b.bytes, len};
            assert_int_equal(decode(request, &cut, 65536, &given), 400);
            assert_string_equal(rig.d.reason_name, "bad-body");
        }
        cut = (struct body){malloc(b.len + 1), b.len + 1};
        memcpy(cut.bytes, b.bytes, b.len);
        cut.bytes[b.len] = 'x';
        assert_int_equal(decode(request, &cut, 65536, &given), 400);
        free(cut.bytes);
        free(b.bytes);
    }
    rig_down(&rig);
}

static void limits(void **state)
{
    size_t given;
    struct body b, zeros;

    (void)state;
    up((const char *const[]){"decode.max-length=100000", "decode.max-ratio=100", NULL});
    b = coded((struct body){plain, 100000}, "zstd", false);
    assert_int_equal(decode("content-encoding: zstd\n", &b, 65536, &given), 0);
    free(b.bytes);
    b = coded((struct body){plain, 100001}, "zstd", false);
    assert_int_equal(decode("content-encoding: zstd\n", &b, 65536, &given), 413);
    assert_true(given <= 100001);
    b = coded(b, "gzip", true); /* it holds for what is inside as well */
    assert_int_equal(decode("content-encoding: zstd, gzip\n", &b, 65536, &given), 413);
    free(b.bytes);
    rig_down(&rig);
    up(NULL);
    zeros = (struct body){calloc(1, 30 << 20), 30 << 20};
    b = coded(zeros, "gzip", false);
    assert_int_equal(decode("content-encoding: gzip\n", &b, 65536, &given), 413); /* 1,028 to 1 */
    assert_true(given < 20 << 20);
    b = coded(b, "br", true);
    assert_int_equal(decode("content-encoding: gzip, br\n", &b, 65536, &given), 413);
    free(b.bytes);
    b = coded((struct body){zeros.bytes, 1 << 20}, "zstd", false); /* within the burst */
    assert_int_equal(decode("content-encoding: zstd\n", &b, 65536, &given), 0);
    free(b.bytes);
    free(zeros.bytes);
    rig_down(&rig);
}

static void the_hosts_limit(void **state)
{
    struct message m = {"content-encoding: gzip\n", ""};
    struct body b = coded((struct body){plain, 2000}, "gzip", false);
    terse_facts f;
    terse_spec spec = {.struct_size = sizeof spec, .direction = TERSE_DECODE, .exchange = rig.x};
    terse_stream *stream;
    size_t given;

    (void)state;
    up(NULL);
    f = facts_of(&m, "POST");
    f.body_limit = 1999;
    spec.exchange = rig.x;
    spec.policy = rig.policy;
    assert_int_equal(rig.api->request(rig.x, &f, &rig.d), TERSE_OK);
    assert_int_equal(rig.api->stream_open(rig.pool, &spec, &stream), TERSE_OK);
    assert_int_equal(run(stream, &b, 65536, &given), TERSE_E_LIMIT);
    rig.api->exchange_end(rig.x, TERSE_ABORTED, NULL); /* nobody asked what became of it */
    free(b.bytes);
    rig_down(&rig);
}

static uint64_t counter(const char *wanted)
{
    const char *name;
    uint64_t value;

    for (uint32_t i = 0; rig.api->pool_counter(rig.pool, i, &name, &value) == TERSE_OK; i++)
        if (!strcmp(name, wanted))
            return value;
    fail_msg("no counter %s", wanted);
    return 0;
}

static void memory(void **state)
{
    struct body b = coded((struct body){plain, 3000000}, "br", false);
    size_t given;

    (void)state;
    up((const char *const[]){"decode.memory=2m", NULL});
    assert_int_equal(decode("content-encoding: br\n", &b, 65536, &given), 503);
    assert_string_equal(rig_value(&rig, "retry-after"), "1");
    assert_string_equal(rig.d.reason_name, "body-memory");
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(counter("decode.held"), 0);
    assert_int_equal(counter("streams.live"), 0);
    rig_down(&rig);
    up(NULL);
    assert_int_equal(decode("content-encoding: br\n", &b, 65536, &given), 0);
    assert_int_equal(counter("decode.held"), 3000000); /* the application has it now */
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(counter("decode.held"), 0);
    free(b.bytes);
    rig_down(&rig);
}

static void the_refusal_is_a_response(void **state)
{
    struct message m = {"content-encoding: compress\naccept-encoding: gzip\n",
                        "content-type: text/plain\n"};
    terse_facts f;

    (void)state;
    up(NULL);
    assert_int_equal(ask(&m), TERSE_REPLY);
    f = rig_facts(&rig, &m, 415, (int64_t)rig.d.body.len);
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
    assert_int_equal(rig.d.action, TERSE_PASS);
    assert_string_equal(rig.d.reason_name, "unsupported");
    assert_string_equal(rig_value(&rig, "accept-encoding"), "gzip, br, zstd, deflate");
    rig_down(&rig);
}

/* An error page, say, for a request whose body was never whole. */
static void a_response_before_the_body(void **state)
{
    struct message m = {"content-encoding: gzip\naccept-encoding: gzip\n",
                        "content-type: text/html\n"};
    terse_facts f;

    (void)state;
    up(NULL);
    assert_int_equal(ask(&m), TERSE_UNCODE);
    f = rig_facts(&rig, &m, 400, -1);
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
    assert_int_equal(counter("decode.held"), 0);
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(counter("streams.live"), 0);
    rig_down(&rig);
}

static int make_plain(void **state)
{
    uint32_t x = 7;

    (void)state;
    plain = malloc(ROOM);
    result = malloc(ROOM);
    for (size_t i = 0; i < ROOM; i++) {
        x = x * 1664525u + 1013904223u;
        plain[i] = (uint8_t)('a' + (x >> 24) % 26);
    }
    return 0;
}

static int free_plain(void **state)
{
    (void)state;
    free(plain);
    free(result);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codings),
        cmocka_unit_test(what_is_not_decoded),
        cmocka_unit_test(unsupported),
        cmocka_unit_test(edits_of_the_request),
        cmocka_unit_test(malformed),
        cmocka_unit_test(limits),
        cmocka_unit_test(the_hosts_limit),
        cmocka_unit_test(memory),
        cmocka_unit_test(the_refusal_is_a_response),
        cmocka_unit_test(a_response_before_the_body),
    };

    return cmocka_run_group_tests(tests, make_plain, free_plain);
}
