/* SPDX-License-Identifier: MIT */
/* What decoders hold, by the window that a body declares, and what is left of it when they end. */
#include <malloc.h>
#include <unistd.h>

#include "bodies.h"

#include <brotli/encode.h>
#include <zstd.h>

#define MB ((uint64_t)1 << 20)
#define LONGEST (20u << 20)
#define IDLE_MAX (8 * MB)
#define KEPT_MAX (2 * MB)  /* of one decoder: no window of more */
#define APART (768 * 1024) /* what a decoder holds apart from its window */

static struct rig rig;
static uint8_t *noise, *room;

static void br_of(int window, bool large, size_t len, struct sink *to)
{
    BrotliEncoderState *e = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    size_t in_len = len, out_len;
    const uint8_t *in = noise, *out;

    BrotliEncoderSetParameter(e, BROTLI_PARAM_QUALITY, large ? 3 : 1);
    BrotliEncoderSetParameter(e, BROTLI_PARAM_LARGE_WINDOW, large);
    BrotliEncoderSetParameter(e, BROTLI_PARAM_LGWIN, (uint32_t)window);
    to->len = 0;
    while (!BrotliEncoderIsFinished(e)) {
        size_t none = 0;

        assert_true(BrotliEncoderCompressStream(e, BROTLI_OPERATION_FINISH, &in_len, &in, &none,
                                                NULL, NULL));
        out_len = 0;
        out = BrotliEncoderTakeOutput(e, &out_len);
        sink_add(to, out, out_len);
    }
    BrotliEncoderDestroyInstance(e);
}

/* As from a pipe: the frame says nothing of the body's length, so its window counts. */
static void zstd_of(int window, size_t len, struct sink *to)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_inBuffer in = {noise, len, 0};
    ZSTD_outBuffer out = {room, LONGEST + LONGEST / 8, 0};

    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, 1);
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window)));
    ZSTD_compressStream2(c, &out, &in, ZSTD_e_continue);
    assert_int_equal(ZSTD_compressStream2(c, &out, &in, ZSTD_e_end), 0);
    ZSTD_freeCCtx(c);
    to->len = 0;
    sink_add(to, room, out.pos);
}

static uint64_t busy(void)
{
    return counter(&rig, "memory.held") - counter(&rig, "memory.idle");
}

/* Decodes it; *most: of memory in use. */
static terse_status run(int coding, const struct sink *body, size_t len, uint64_t *most)
{
    terse_stream *stream = open_stream(&rig, rig.policy, TERSE_DECODE, coding, -1);
    terse_in in = {body->ptr, body->len, 0};
    terse_status status;
    size_t at = 0;

    *most = 0;
    do {
        terse_out out = {room, 65536, 0};

        status = rig.api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
        if (status >= 0)
            assert_memory_equal(room, noise + at, out.pos);
        at += out.pos;
        if (busy() > *most)
            *most = busy();
    } while (status == TERSE_MORE);
    rig.api->stream_free(stream);
    if (status == TERSE_END)
        assert_int_equal(at, len);
    return status;
}

static size_t longer_than(int window)
{
    size_t len = ((size_t)1 << window) * 2 + 100000;

    return len < LONGEST ? len : LONGEST;
}

static void windows_of_br(void **state)
{
    struct sink body = {0};
    uint64_t most;

    (void)state;
    rig_up(&rig, (const char *const[]){NULL});
    for (int window = 10; window <= 24; window++) {
        size_t len = longer_than(window);

        br_of(window, false, len, &body);
        assert_int_equal(run(CODING_BR, &body, len, &most), TERSE_END);
        assert_in_range(most, (uint64_t)1 << window, ((uint64_t)5 << window) / 4 + APART);
        assert_true(counter(&rig, "memory.idle") <= KEPT_MAX);
    }
    rig_down(&rig);
    sink_free(&body);
}

static void windows_of_zstd(void **state)
{
    struct sink body = {0};
    uint64_t most;

    (void)state;
    rig_up(&rig, (const char *const[]){NULL});
    for (int window = 10; window <= 23; window++) {
        size_t len = longer_than(window);

        zstd_of(window, len, &body);
        assert_int_equal(run(CODING_ZSTD, &body, len, &most), TERSE_END);
        assert_in_range(most, (uint64_t)1 << window, ((uint64_t)5 << window) / 4 + APART);
        assert_true(counter(&rig, "memory.idle") <= IDLE_MAX);
    }
    rig_down(&rig);
    sink_free(&body);
}

/* Refused before there is memory for them. */
static void windows_that_are_too_large(void **state)
{
    struct sink body = {0};
    uint64_t most;

    (void)state;
    rig_up(&rig, (const char *const[]){NULL});
    br_of(25, true, MB, &body);
    assert_int_equal(run(CODING_BR, &body, LONGEST, &most), TERSE_E_DATA);
    assert_true(most < APART);
    for (int window = 24; window <= 27; window++) {
        zstd_of(window, LONGEST, &body);
        assert_int_equal(run(CODING_ZSTD, &body, LONGEST, &most), TERSE_E_DATA);
        assert_true(most < APART);
    }
    rig_down(&rig);
    sink_free(&body);
}

/* ---- many at once ----------------------------------------------------------------------------- */

#define LARGE 4
#define ALL 24

static uint64_t resident(void)
{
    unsigned long size, pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    malloc_trim(0);
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &size, &pages), 2);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* All of them get the same share of their bodies, then the next, so that all are open until the end;
 * the last half of them is given up. */
static void burst(const struct sink *bodies, const int *codings_of)
{
    terse_stream *streams[ALL];
    terse_in in[ALL];

    for (int i = 0; i < ALL; i++) {
        streams[i] = open_stream(&rig, rig.policy, TERSE_DECODE, codings_of[i], -1);
        in[i] = (terse_in){bodies[i].ptr, 0, 0};
    }
    for (int part = 1; part <= 16; part++)
        for (int i = 0; i < ALL; i++) {
            terse_status status = TERSE_MORE;

            in[i].len = bodies[i].len / 16 * (size_t)part;
            while (status == TERSE_MORE) {
                terse_out out = {room, 262144, 0};

                status = rig.api->stream_run(streams[i], TERSE_RUN, &in[i], &out, NULL);
            }
            assert_int_equal(status, TERSE_OK);
        }
    for (int i = 0; i < ALL; i++)
        rig.api->stream_free(streams[i]);
}

static void bursts(void **state)
{
    struct sink bodies[ALL] = {0};
    int codings_of[ALL];
    uint64_t before, most = 0;

    (void)state;
    rig_up(&rig, (const char *const[]){"pool.memory=256m", NULL});
    for (int i = 0; i < ALL; i++) {
        codings_of[i] = i % 2 || i >= LARGE ? codings()[i % 4] : CODING_BR;
        if (i < LARGE)
            codings_of[i] = i % 2 ? CODING_ZSTD : CODING_BR;
        if (i >= LARGE)
            foreign_encode(codings_of[i], noise, 300000, &bodies[i]);
        else if (i % 2)
            zstd_of(23, LONGEST, &bodies[i]);
        else
            br_of(24, false, LONGEST, &bodies[i]);
    }
    before = resident();
    for (int n = 0; n < 10; n++) {
        burst(bodies, codings_of);
        assert_true(counter(&rig, "memory.idle") <= IDLE_MAX);
        if (resident() > most)
            most = resident();
    }
    print_message("after bursts: %.1f MB idle, %.1f MB more resident than before\n",
                  (double)counter(&rig, "memory.idle") / MB, ((double)most - (double)before) / MB);
#if !defined(__SANITIZE_ADDRESS__)
    assert_true(most <= before + IDLE_MAX);
#endif
    assert_int_equal(counter(&rig, "streams.live"), 0);
    rig_down(&rig);
    for (int i = 0; i < ALL; i++)
        sink_free(&bodies[i]);
}

/* Ordinary bodies one after the other: nothing comes from the system, or goes back to it. */
static void steady(void **state)
{
    struct sink body = {0};
    uint64_t most, held = 0;

    (void)state;
    rig_up(&rig, (const char *const[]){NULL});
    for (int n = 0; n < 20; n++)
        for (const int *c = codings(); *c != CODING_NONE; c++) {
            body.len = 0;
            foreign_encode(*c, noise, 127000, &body);
            assert_int_equal(run(*c, &body, 127000, &most), TERSE_END);
            if (n == 2)
                held = counter(&rig, "memory.held");
            else if (n > 2)
                assert_int_equal(counter(&rig, "memory.held"), held);
        }
    rig_down(&rig);
    sink_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_br),
        cmocka_unit_test(windows_of_zstd),
        cmocka_unit_test(windows_that_are_too_large),
        cmocka_unit_test(bursts),
        cmocka_unit_test(steady),
    };
    int failed;

    noise = body_new(NOISE, LONGEST);
    room = malloc(LONGEST + LONGEST / 8);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(noise);
    free(room);
    return failed;
}
