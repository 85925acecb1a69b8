/* SPDX-License-Identifier: MIT */
/* Bombs end within the limits, and no call takes or gives more than its share. */
#include "bombs.h"
#include "upload.h"

#define ROOM ((size_t)1 << 20)
#define INPUT_MAX 65536
#define OUTPUT_MAX 262144
/* Of a worker: beyond decode.memory by what three decoders were given before they were counted. */
#define MORE_MAX (1u << 20)

static uint8_t room[ROOM];

/* Until it is over; the memory that was in use at most. */
static terse_status run(struct upload *u, uint64_t *held)
{
    terse_status status;

    *held = 0;
    do {
        terse_in in = {u->coded + u->pos, u->len - u->pos, 0};
        terse_out out = {room, ROOM, 0};

        status = u->rig->api->stream_run(u->stream, TERSE_FINISH, &in, &out, NULL);
        assert_true(in.pos <= INPUT_MAX && out.pos <= OUTPUT_MAX);
        assert_true(in.pos || out.pos || status != TERSE_MORE);
        u->pos += in.pos;
        u->given += out.pos;
        if (memory_in_use(u->rig) > *held)
            *held = memory_in_use(u->rig);
    } while (status == TERSE_MORE);
    return status;
}

struct limits {
    uint64_t length, memory;
    uint32_t status; /* of the refusal */
};

static void set_off(struct rig *rig, const struct bomb *bomb, const struct sink *coded,
                    const struct limits *limits)
{
    struct upload u;
    uint64_t held;
    uint32_t status;

    upload_new(&u, rig);
    upload_open(&u, bomb->codings, coded->ptr, coded->len);
    status = upload_close(&u, run(&u, &held));
    assert_true(held <= limits->memory + MORE_MAX);
    assert_true(u.given <= limits->length);
    if (bomb->kind == BOMB_LARGE)
        assert_true(status == limits->status || status == 413); /* nested: any ratio is passed */
    else if (bomb->kind == BOMB_EMPTY)
        assert_int_equal(u.given, 0);
    assert_int_equal(counter(rig, "decode.held"), 0);
    upload_free(&u);
}

static struct sink coded[64];

static void all(const char *const *settings, struct limits limits)
{
    struct rig rig;

    rig_up(&rig, settings);
    for (size_t i = 0; bombs[i].name; i++)
        set_off(&rig, &bombs[i], &coded[i], &limits);
    assert_int_equal(counter(&rig, "streams.live"), 0);
    rig_down(&rig);
}

/* A megabyte, and then 200 bytes for each that came. */
static void by_ratio(void **state)
{
    (void)state;
    all((const char *const[]){"decode.requests=on", NULL},
        (struct limits){32 << 20, 64 << 20, 413});
}

static void by_length(void **state)
{
    (void)state;
    all((const char *const[]){"decode.requests=on", "decode.max-ratio=100000",
                              "decode.max-length=3m", NULL},
        (struct limits){(3 << 20) + 1, 64 << 20, 413});
}

static void by_memory(void **state)
{
    (void)state;
    all((const char *const[]){"decode.requests=on", "decode.max-ratio=100000",
                              "decode.max-length=1g", "decode.memory=6m", NULL},
        (struct limits){(6 << 20) + OUTPUT_MAX, 6 << 20, 503});
}

/* What is announced to be too much is refused before there is memory for it. */
static void announced(void **state)
{
    struct upload u;
    struct rig rig;
    size_t n = 0;

    (void)state;
    rig_up(&rig, (const char *const[]){"decode.requests=on", NULL});
    upload_new(&u, &rig);
    while (strcmp(bombs[n].name, "br, widest window") != 0)
        n++;
    for (size_t i = 0; i < 2; i++) { /* all of it, or its first tenth */
        uint64_t held;

        upload_open(&u, "br", coded[n].ptr, i ? 27 : coded[n].len);
        assert_int_equal(run(&u, &held), TERSE_E_LIMIT);
        assert_int_equal(u.given, 0);
        assert_true(held < 200000);
        assert_int_equal(upload_close(&u, TERSE_E_LIMIT), 413);
    }
    upload_free(&u);
    rig_down(&rig);
}

/* Bodies that shrink by less than the limit pass, to the end. */
static void below_the_ratio(void **state)
{
    static const size_t part = 256 << 10, noise = 1080, parts = 16;
    uint8_t *plain = calloc(parts, part);
    struct rig rig;
    struct upload u;

    (void)state;
    for (size_t i = 0; i < parts; i++)
        body_fill(NOISE, plain + i * part, noise);
    rig_up(&rig, (const char *const[]){"decode.requests=on", NULL});
    upload_new(&u, &rig);
    for (const int *c = codings(); *c != CODING_NONE; c++) {
        struct sink body = {0};
        char name[16];
        uint64_t held;

        if (*c != CODING_GZIP && *c != CODING_DEFLATE)
            continue; /* the others know the noise again, over such a distance */
        snprintf(name, sizeof name, "%.*s", (int)coding_str(*c).len, coding_str(*c).ptr);
        foreign_encode(*c, plain, parts * part, &body);
        assert_in_range(parts * part / body.len, 170, 199);
        upload_open(&u, name, body.ptr, body.len);
        assert_int_equal(run(&u, &held), TERSE_END);
        assert_int_equal(u.given, parts * part);
        assert_int_equal(upload_close(&u, TERSE_END), 0);
        sink_free(&body);
    }
    upload_free(&u);
    rig_down(&rig);
    free(plain);
}

static int make_bombs(void **state)
{
    (void)state;
    for (size_t i = 0; bombs[i].name; i++) {
        assert_true(i < sizeof coded / sizeof coded[0]);
        bombs[i].make(&coded[i]);
    }
    return 0;
}

static int free_bombs(void **state)
{
    (void)state;
    for (size_t i = 0; bombs[i].name; i++)
        sink_free(&coded[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_ratio),  cmocka_unit_test(by_length),       cmocka_unit_test(by_memory),
        cmocka_unit_test(announced), cmocka_unit_test(below_the_ratio),
    };

    return cmocka_run_group_tests(tests, make_bombs, free_bombs);
}
