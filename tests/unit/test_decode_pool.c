/* SPDX-License-Identifier: MIT */
/* What stays in the pool of decoders: nothing is allocated in steady state, a burst leaves little
 * behind, and each stream goes back exactly once. */
#include "upload.h"

#include <malloc.h>
#include <unistd.h>

#include <brotli/encode.h>
#include <zstd.h>

#include "alloc_gate.h"
#include "pool.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#define LARGE ((size_t)18 << 20)
#define ORDINARY 130000

static struct rig rig;
static uint8_t *text;
static const char *const names[] = {"gzip", "br", "zstd", "deflate", "gzip, zstd, br"};
#define N_NAMES (sizeof names / sizeof names[0])
static struct sink ordinary[N_NAMES];

static int coding_of(const char *name)
{
    return !strncmp(name, "gzip", 4) ? CODING_GZIP
           : *name == 'b'            ? CODING_BR
           : *name == 'z'            ? CODING_ZSTD
                                     : CODING_DEFLATE;
}

/* The codings of a list, one over the other. */
static struct sink coded_by(const char *list, const uint8_t *plain, size_t len)
{
    struct sink from = {0}, to;

    sink_add(&from, plain, len);
    for (const char *at = list; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL) {
        to = (struct sink){0};
        foreign_encode(coding_of(at), from.ptr, from.len, &to);
        sink_free(&from);
        from = to;
    }
    return from;
}

static int up(void **state)
{
    static const char *const settings[] = {"decode.requests=on", "decode.memory=512m",
                                           "pool.memory=256m", NULL};

    (void)state;
    rig_up(&rig, settings);
    return 0;
}

static void assert_quiet(void)
{
    assert_int_equal(counter(&rig, "streams.live"), 0);
    assert_int_equal(counter(&rig, "decode.held"), 0);
    assert_int_equal(rig.pool->shelf.owed, 0);
}

static int down(void **state)
{
    (void)state;
    assert_quiet();
    rig_down(&rig);
    return 0;
}

/* ---- steady state -------------------------------------------------------------------------- */

static void some_uploads(struct upload *u)
{
    for (size_t i = 0; i < N_NAMES; i++) {
        assert_int_equal(upload(u, names[i], &ordinary[i], text), 0);
        upload_open(u, names[i], ordinary[i].ptr, ordinary[i].len - 1);
        assert_int_equal(upload_close(u, upload_finish(u, text)), 400);
        upload_open(u, names[i], ordinary[i].ptr, ordinary[i].len); /* the client goes away */
        upload_run(u, 100, text);
        rig.api->exchange_end(u->x, TERSE_ABORTED, NULL);
    }
}

static void steady_state_allocates_nothing(void **state)
{
    struct upload u;
    size_t frees;

    (void)state;
    upload_new(&u, &rig);
    for (int i = 0; i < 3; i++)
        some_uploads(&u);
    gate_close(0);
    for (int i = 0; i < 20; i++)
        some_uploads(&u);
    assert_int_equal(gate_open(&frees), 0);
    assert_int_equal(frees, 0);
    upload_free(&u);
}

/* ---- a burst ------------------------------------------------------------------------------- */

static struct sink large_br(void)
{
    size_t room = LARGE + 4096;
    struct sink made = {malloc(room), 0, room};

    assert_true(BrotliEncoderCompress(2, 24, BROTLI_MODE_GENERIC, LARGE, text, &room, made.ptr));
    made.len = room;
    return made;
}

static struct sink large_zstd(void)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    struct sink made = {malloc(LARGE), 0, LARGE};

    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 23)) ||
                 ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1)));
    made.len = ZSTD_compress2(context, made.ptr, made.cap, text, LARGE);
    assert_false(ZSTD_isError(made.len));
    ZSTD_freeCCtx(context);
    return made;
}

static double resident_mb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    malloc_trim(0);
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

#define BURST_LARGE 4
#define BURST 24

/* All are open, and each has given more than its window, before any ends. */
static void burst(struct upload *u, struct sink large[2], size_t only)
{
    for (size_t i = 0; i < BURST; i++) {
        size_t k = only < N_NAMES ? only : i % N_NAMES;

        if (i < BURST_LARGE)
            upload_open(&u[i], i % 2 ? "zstd" : "br", large[i % 2].ptr, large[i % 2].len);
        else
            upload_open(&u[i], names[k], ordinary[k].ptr, ordinary[k].len);
    }
    for (size_t i = 0; i < BURST; i++)
        while (u[i].given < (i < BURST_LARGE ? LARGE - UPLOAD_ROOM : ORDINARY / 2))
            assert_int_equal(upload_run(&u[i], UPLOAD_ROOM, text), TERSE_MORE);
    assert_true(memory_in_use(&rig) > (2 * 16 + 2 * 8) << 20);
    assert_int_equal(counter(&rig, "streams.live"), BURST);
    for (size_t i = 0; i < BURST; i++)
        assert_int_equal(upload_close(&u[i], upload_finish(&u[i], text)), 0);
}

static void a_burst_leaves_little(void **state)
{
    static struct upload u[BURST];
    struct sink large[2];

    (void)state;
#if defined(SANITIZED)
    skip(); /* its memory is another */
#endif
    large[0] = large_br();
    large[1] = large_zstd();
    for (size_t i = 0; i < BURST; i++)
        upload_new(&u[i], &rig);
    for (size_t only = 0; only <= N_NAMES; only++) { /* the ordinary ones of one kind, or mixed */
        double before;

        rig.api->pool_free(rig.pool);
        assert_int_equal(rig.api->pool_new(rig.instance, rig.policy, &rig.pool), TERSE_OK);
        before = resident_mb();
        for (int i = 0; i < (only == N_NAMES ? 10 : 2); i++)
            burst(u, large, only);
        printf("%-15s parked %.1f MB, resident %+.1f MB\n", only < N_NAMES ? names[only] : "all",
               (double)counter(&rig, "memory.idle") / (1 << 20), resident_mb() - before);
        assert_true(counter(&rig, "memory.idle") <= 8 << 20);
        assert_true(counter(&rig, "memory.held") <= 8 << 20);
        assert_true(resident_mb() - before <= 8);
        assert_quiet();
    }
    for (size_t i = 0; i < BURST; i++)
        upload_free(&u[i]);
    sink_free(&large[0]);
    sink_free(&large[1]);
}

/* ---- given back once ------------------------------------------------------------------------ */

/* What may happen to a stream, in any order: a read, a client that goes away, a handler that asks
 * how it went, a time-out that frees it, and each of them again. */
enum event { RUN, FAIL, FREE, BODY, END, EVENTS };

static void happens(struct upload *u, enum event event)
{
    terse_stream *stream = u->stream;
    terse_decision d = {.struct_size = sizeof d};
    terse_facts f = rig_facts(&rig, &u->message, 0, -1);
    bool open = counter(&rig, "streams.live") > 0;

    if (event == RUN && open) {
        assert_true(upload_run(u, 100, text) >= 0 || counter(&rig, "streams.live"));
    } else if (event == FAIL && open) {
        terse_in in = {"\xff\xff\xff\xff\xff\xff\xff\xff", 8, 0};
        terse_status status;

        do { /* what came before may have more to give */
            terse_out out = {upload_room, UPLOAD_ROOM, 0};

            status = rig.api->stream_run(stream, TERSE_FINISH, &in, &out, NULL);
        } while (status == TERSE_MORE);
        assert_true(status < 0 || status == TERSE_END);
    } else if (event == RUN || event == FAIL) {
        terse_in in = {"x", 1, 0};
        terse_out out = {upload_room, UPLOAD_ROOM, 0};

        assert_int_equal(rig.api->stream_run(stream, TERSE_FINISH, &in, &out, NULL), TERSE_E_ARG);
    } else if (event == FREE) {
        rig.api->stream_free(stream);
    } else if (event == BODY) {
        (void)rig.api->request_body(u->x, &f, TERSE_E_BROKEN, 0, &d);
    } else {
        rig.api->exchange_end(u->x, TERSE_ABORTED, NULL);
    }
    assert_true(counter(&rig, "streams.live") ==
                (open && event != FREE && event != BODY && event != END));
}

static void any_order(void **state)
{
    struct upload u;

    (void)state;
    upload_new(&u, &rig);
    for (size_t i = 0; i < N_NAMES; i++)
        for (unsigned order = 0; order < EVENTS * EVENTS * EVENTS * EVENTS; order++) {
            unsigned rest = order;

            upload_open(&u, names[i], ordinary[i].ptr, ordinary[i].len);
            for (int n = 0; n < 4; n++, rest /= EVENTS)
                happens(&u, (enum event)(rest % EVENTS));
            rig.api->exchange_end(u.x, TERSE_DONE, NULL);
            assert_quiet();
            /* nothing of the last one is left in the handle or in the decoder */
            if (order % 25 == 0)
                assert_int_equal(upload(&u, names[i], &ordinary[i], text), 0);
        }
    upload_free(&u);
    /* no more memory is lent than the pool has for handles that wait */
    assert_true(memory_in_use(&rig) < 4096);
}

/* A pool that goes takes its streams with it; the exchanges have to end before, but need not. */
static void the_pool_goes_first(void **state)
{
    struct upload u[N_NAMES];

    (void)state;
    for (size_t i = 0; i < N_NAMES; i++) {
        upload_new(&u[i], &rig);
        upload_open(&u[i], names[i], ordinary[i].ptr, ordinary[i].len);
        upload_run(&u[i], 100, text);
    }
    rig.api->pool_free(rig.pool);
    assert_int_equal(rig.api->pool_new(rig.instance, rig.policy, &rig.pool), TERSE_OK);
    for (size_t i = 0; i < N_NAMES; i++) {
        rig.api->policy_unref(rig.policy); /* what each exchange held of it */
        free(u[i].x);
    }
}

static int make_bodies(void **state)
{
    (void)state;
    text = body_new(TEXT, LARGE);
    for (size_t i = 0; i < N_NAMES; i++)
        ordinary[i] = coded_by(names[i], text, ORDINARY);
    return 0;
}

static int free_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_NAMES; i++)
        sink_free(&ordinary[i]);
    free(text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steady_state_allocates_nothing, up, down),
        cmocka_unit_test_setup_teardown(a_burst_leaves_little, up, down),
        cmocka_unit_test_setup_teardown(any_order, up, down),
        cmocka_unit_test_setup_teardown(the_pool_goes_first, up, down),
    };

    return cmocka_run_group_tests(tests, make_bodies, free_bodies);
}
