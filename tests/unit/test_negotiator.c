/* SPDX-License-Identifier: MIT */
#include "harness.h"

struct row {
    const char *fields[3]; /* NULL: no such line */
    const char *coding;    /* NULL: identity */
};

static const char *choose(const struct rig *rig, const char *const fields[3], uint32_t *flags)
{
    terse_str lines[3];
    size_t n = 0;
    terse_choice choice = {.struct_size = sizeof choice};

    while (n < 3 && fields[n]) {
        lines[n] = S(fields[n]);
        n++;
    }
    assert_int_equal(rig->api->negotiate(rig->api->negotiator(rig->policy), lines, n, &choice), 0);
    if (flags)
        *flags = choice.flags;
    return choice.coding ? choice.coding : "identity";
}

static void check(const char *const *settings, const struct row *rows, size_t n)
{
    struct rig rig;

    rig_up(&rig, settings);
    for (size_t i = 0; i < n; i++) {
        const char *got = choose(&rig, rows[i].fields, NULL);

        if (strcmp(got, rows[i].coding))
            fail_msg("\"%s\": got %s, not %s", rows[i].fields[0] ? rows[i].fields[0] : "(none)",
                     got, rows[i].coding);
    }
    rig_down(&rig);
}
#define CHECK(settings, rows) check(settings, rows, sizeof(rows) / sizeof(rows[0]))

static void fields_of_clients(void **state)
{
    static const struct row rows[] = {
        {{"gzip;q=0"}, "identity"},
        {{"gzip;q=1.0"}, "gzip"},
        {{"GZIP"}, "gzip"},
        {{"x-gzip"}, "gzip"},
        {{"*"}, "zstd"},
        {{"*;q=0"}, "identity"},
        {{"identity;q=0, br"}, "br"},
        {{"br", "gzip;q=0.5"}, "br"},
        {{"gzip;q=bogus"}, "identity"},
        {{"gzip;q=bogus, *"}, "zstd"},
        {{"zstd;q=bogus, *"}, "br"},
        {{""}, "identity"},
        {{NULL}, "identity"},
        {{"gzip;q=0.5, identity;q=0.5"}, "gzip"},
        {{"gzip;q=0.5, identity"}, "identity"},
        {{"br, deflate"}, "br"},
        {{"zstd;q=0, *"}, "br"},
        {{"*, zstd;q=0"}, "br"},
        {{"gzip, deflate, br"}, "br"},
        {{"br, zstd"}, "zstd"},
        {{"gzip, deflate, br, zstd"}, "zstd"},
        {{"gzip, gzip;q=0"}, "identity"},
        {{"gzip;q=0, gzip"}, "gzip"},
        {{"gzip", "gzip;q=0"}, "identity"},
        {{"gzip", "x-gzip;q=0"}, "identity"},
        {{"gzip;q=0.4, br;q=0.6"}, "br"},
        {{"*;q=0, gzip"}, "gzip"},
        {{"deflate, *;q=0"}, "identity"},
        {{"zstd;q=0.001, *;q=0.002"}, "br"},
        {{"*;q=bogus"}, "identity"},
        {{"*;q=bogus, gzip"}, "gzip"},
        {{"identity"}, "identity"},
        {{"identity, gzip"}, "gzip"},
        {{"gzip, identity;q=0.5"}, "gzip"},
        {{"xbr, brotli, gzipped, my-gzip, zstdfoo"}, "identity"},
    };

    (void)state;
    CHECK(NULL, rows);
}

static void grammar_of_weights(void **state)
{
    static const struct row rows[] = {
        {{"gzip;q=0."}, "identity"},
        {{"gzip;q=1."}, "gzip"},
        {{"gzip;q=1.000"}, "gzip"},
        {{"gzip;q=0.001"}, "gzip"},
        {{"gzip;q=0.000"}, "identity"},
        {{"gzip;Q=1"}, "gzip"},
        {{"gzip ; q=1"}, "gzip"},
        {{"gzip;\tq=1"}, "gzip"},
        {{" gzip "}, "gzip"},
        {{",, ,gzip,,"}, "gzip"},
        {{"gzip;q="}, "identity"},
        {{"gzip;q"}, "identity"},
        {{"gzip;q=1x"}, "identity"},
        {{"gzip;q=2"}, "identity"},
        {{"gzip;q=-1"}, "identity"},
        {{"gzip;q=0.0001"}, "identity"},
        {{"gzip;q=1.0000"}, "identity"},
        {{"gzip;q=.5"}, "identity"},
        {{"gzip;q=1.001"}, "identity"},
        {{"gzip;q=00"}, "identity"},
        {{"gzip;q=0.0a"}, "identity"},
        {{"gzip;q=0./"}, "identity"},
        {{"gzip;q=0.9, br;q=0.899"}, "gzip"},
        {{"gzip;q=nan"}, "identity"},
        {{"gzip;q=1e0"}, "identity"},
        {{"gzip;q=0,5"}, "identity"},
        {{"gzip;q=1;q=1"}, "identity"},
        {{"gzip;q =1"}, "identity"},
        {{"gzip;q= 1"}, "identity"},
        {{"gzip;q=\"1\""}, "identity"},
        {{"gzip;"}, "gzip"},
        {{"gzip;;q=0"}, "identity"},
        {{"gzip;;q=0.5"}, "gzip"},
        {{"gzip;x=1"}, "gzip"},
        {{"gzip;x=1;q=0"}, "identity"},
        {{"gzip;q=1;x=y"}, "gzip"},
        {{"gzip;x"}, "identity"},
        {{"gzip;=1"}, "identity"},
        {{"gzip;x=\"a b\\\"c\""}, "gzip"},
        {{"gz ip"}, "identity"},
        {{"gzip br"}, "identity"},
        {{"g@zip, br"}, "br"},
        {{";q=1, br"}, "br"},
        {{"gzip;x=\"a,zstd\""}, "gzip"},
        {{"gzip;x=\"\\\",zstd\";q=0"}, "identity"},
        {{"gzip;x=\"zstd"}, "identity"},
        {{"gzip;x=\"\t\\\t\x80\""}, "gzip"},
        {{"gzip;x=\"\x1f\""}, "identity"},
        {{"gzip;x=\"\x7f\""}, "identity"},
        {{"gzip;x=\"\\\x01\""}, "identity"},
        {{"foo;x=\"gzip, br\", br"}, "br"},
        {{"foo\\\"x, zstd\", br"}, "br"}, /* a backslash out of quotes is none */
        {{"gzip;x=\"open", "br"}, "br"},
    };

    (void)state;
    CHECK(NULL, rows);
}

static void server_preference(void **state)
{
    static const char *const server[] = {"prefer=server", "codings=gzip, br", NULL};
    static const struct row rows[] = {
        {{"br, gzip;q=0.1"}, "gzip"}, {{"br, gzip;q=0"}, "br"}, {{"identity, gzip;q=0.1"}, "gzip"},
        {{"zstd"}, "identity"},       {{"*"}, "gzip"},
    };
    static const char *const deflate[] = {"codings=deflate", NULL};
    static const struct row only_deflate[] = {{{"gzip, deflate"}, "deflate"},
                                              {{"gzip"}, "identity"}};

    (void)state;
    CHECK(server, rows);
    CHECK(deflate, only_deflate);
}

static void refused_identity(void **state)
{
    struct rig rig;
    uint32_t flags;

    (void)state;
    rig_up(&rig, NULL);
    choose(&rig, (const char *const[3]){"identity;q=0"}, &flags);
    assert_int_equal(flags, TERSE_CHOICE_NO_IDENTITY | TERSE_CHOICE_NOTHING);
    choose(&rig, (const char *const[3]){"*;q=0"}, &flags);
    assert_int_equal(flags, TERSE_CHOICE_NO_IDENTITY | TERSE_CHOICE_NOTHING);
    choose(&rig, (const char *const[3]){"*;q=0, identity;q=0.1"}, &flags);
    assert_int_equal(flags, 0);
    choose(&rig, (const char *const[3]){"gzip, identity;q=0"}, &flags);
    assert_int_equal(flags, TERSE_CHOICE_NO_IDENTITY);
    choose(&rig, (const char *const[3]){"compress;q=0.5, *;q=0"}, &flags);
    assert_int_equal(flags, TERSE_CHOICE_NO_IDENTITY | TERSE_CHOICE_NOTHING);
    rig_down(&rig);
}

static void weights_are_told(void **state)
{
    terse_weight w[8];
    terse_str field = S("gzip;q=0.25, br;q=x, *;q=0.5");
    terse_choice choice = {.struct_size = sizeof choice, .weights = w, .weights_cap = 8};
    struct rig rig;

    (void)state;
    rig_up(&rig, NULL);
    assert_int_equal(rig.api->negotiate(rig.api->negotiator(rig.policy), &field, 1, &choice), 0);
    assert_int_equal(choice.n_weights, 4);
    assert_string_equal(w[0].coding, "zstd");
    assert_int_equal(w[0].milli, 500);
    assert_int_equal(w[0].source, TERSE_WEIGHT_WILDCARD);
    assert_string_equal(w[1].coding, "br");
    assert_int_equal(w[1].milli, 0);
    assert_int_equal(w[1].source, TERSE_WEIGHT_MALFORMED);
    assert_string_equal(w[2].coding, "gzip");
    assert_int_equal(w[2].milli, 250);
    assert_int_equal(w[2].source, TERSE_WEIGHT_NAMED);
    assert_string_equal(w[3].coding, "identity");
    choice.weights_cap = 1;
    assert_int_equal(rig.api->negotiate(rig.api->negotiator(rig.policy), &field, 1, &choice), 0);
    assert_int_equal(choice.n_weights, 4); /* how many there are, not how many fitted */
    rig_down(&rig);
}

/* Exact-size heap copies, so that a read past the end is seen under ASan. */
static void never_reads_past_the_end(void **state)
{
    static const char field[] = "gzip;q=0.5, br;x=\"a\\\"b\";q=1.000, *;q=0, identity;q=0.1";
    struct rig rig;

    (void)state;
    rig_up(&rig, NULL);
    for (size_t n = 0; n < sizeof field; n++) {
        terse_choice choice = {.struct_size = sizeof choice};
        char *copy = malloc(n ? n : 1);
        terse_str line = {copy, n};

        memcpy(copy, field, n);
        assert_int_equal(rig.api->negotiate(rig.api->negotiator(rig.policy), &line, 1, &choice), 0);
        free(copy);
    }
    rig_down(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_clients), cmocka_unit_test(grammar_of_weights),
        cmocka_unit_test(server_preference), cmocka_unit_test(refused_identity),
        cmocka_unit_test(weights_are_told),  cmocka_unit_test(never_reads_past_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
