/* SPDX-License-Identifier: MIT */
/* The headers of a coded response that are about its representation: Vary, ETag, digests, ranges. */
#include "harness.h"

#define HTML "content-type: text/html\n"
#define GZIP "accept-encoding: gzip\n"

static char text[1000];
static struct rig rig;

/* A GET, its body coded in one call where it is coded. */
static void get(const char *request, const char *response)
{
    struct message m = {request, response};
    terse_facts f = rig_facts(&rig, &m, 200, sizeof text);
    terse_str coded;

    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
    if (rig.d.action == TERSE_WHOLE)
        assert_int_equal(
            rig.api->encode_whole(rig.x, &f, (terse_str){text, sizeof text}, &coded, &rig.d),
            TERSE_OK);
    assert_string_equal(rig.d.reason_name, *request ? "coded" : "not-accepted");
}

static void vary_is_merged(void **state)
{
    static const char *const rows[][2] = {
        {"vary: Origin\n", "Origin, Accept-Encoding"},
        {"vary: Origin\nvary: Cookie, X\n", "Origin, Cookie, X, Accept-Encoding"},
        {"vary: accept-ENCODING\n", ""},
        {"vary: Origin, Accept-Encoding\n", ""},
        {"vary: *\n", ""},
        {"vary: Origin, *\n", ""},
        {"vary: X-Accept-Encoding\n", "X-Accept-Encoding, Accept-Encoding"},
        {"vary: \n", "Accept-Encoding"},
        {"vary:  \nvary: \tOrigin \n", "Origin, Accept-Encoding"},
    };
    static char long_vary[6000] = "vary: ";
    char response[7000];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(response, sizeof response, HTML "%s", rows[i][0]);
        get(GZIP, response);
        assert_string_equal(rig_value(&rig, "vary"), rows[i][1]);
    }
    memset(long_vary + 6, 'x', 5000);
    snprintf(response, sizeof response, HTML "%s\n", long_vary);
    get(GZIP, response);
    assert_string_equal(rig_value(&rig, "vary"), "+ Accept-Encoding");
}

/* As many as are looked at. */
static void vary_of_many_lines(void **state)
{
    static char response[2000] = HTML;
    const char *end = "x, Accept-Encoding", *vary;

    (void)state;
    for (int i = 0; i < 64; i++)
        strcat(response, "vary: x\n");
    get(GZIP, response);
    vary = rig_value(&rig, "vary");
    assert_int_equal(strlen(vary), 63 * strlen("x, ") + strlen(end));
    assert_string_equal(vary + strlen(vary) - strlen(end), end);
}

static void etag_is_weakened(void **state)
{
    static const char *const rows[][2] = {
        {"etag: \"v1\"\n", "W/\"v1\""},
        {"etag: W/\"v1\"\n", ""},
        {"etag: v1\n", "-"},
        {"etag: \"v\"1\"\n", "-"},
        {"etag: w/\"v1\"\n", "-"},
        {"etag: \"\n", "-"},
        {"etag: \"a\"\netag: \"b\"\n", "-"},
        {"etag: \"\"\n", "W/\"\""},
        {"etag:  \"v1\" \n", "W/\"v1\""},
        {"etag: \"!#~\x80\"\n", "W/\"!#~\x80\""},
        {"etag: \"a b\"\n", "-"},
        {"etag: \"a\x7f\"\n", "-"},
        {"etag: \"a\tb\"\n", "-"},
        {"etag: \n", "-"},
        {"etag: W/\n", "-"},
        {"etag: \"v1\n", "-"},
    };
    char response[256];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(response, sizeof response, HTML "%s", rows[i][0]);
        get(GZIP, response);
        assert_string_equal(rig_value(&rig, "etag"), rows[i][1]);
        get("", response);
        assert_string_equal(rig_value(&rig, "etag"), ""); /* the identity keeps its own */
    }
}

static void stale_fields_go(void **state)
{
    (void)state;
    get(GZIP, HTML
        "accept-ranges: bytes\ncontent-md5: x\ncontent-digest: y\ndigest: z\nrepr-digest: w\n");
    assert_string_equal(rig_value(&rig, "accept-ranges"), "-");
    assert_string_equal(rig_value(&rig, "content-md5"), "-");
    assert_string_equal(rig_value(&rig, "content-digest"), "-");
    assert_string_equal(rig_value(&rig, "digest"), "-");
    assert_string_equal(rig_value(&rig, "repr-digest"), "-");
}

/* With etag = keep a tag is nobody's business here, malformed or not. */
static void kept_tags(void **state)
{
    static const char *const rows[] = {"etag: \"v1\"\n", "etag: v1\n",
                                       "etag: \"a\"\netag: \"b\"\n"};
    struct rig saved = rig;
    char response[256];

    (void)state;
    rig_up(&rig, (const char *const[]){"etag=keep", "accept-ranges=keep", NULL});
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(response, sizeof response, HTML "accept-ranges: bytes\n%s", rows[i]);
        get(GZIP, response);
        assert_string_equal(rig_value(&rig, "etag"), "");
        assert_string_equal(rig_value(&rig, "accept-ranges"), "");
    }
    rig_down(&rig);
    rig = saved;
}

/* A tag that there is no room for is never sent as a part of itself. */
static void endless_tags(void **state)
{
    static const char *const modes[] = {"etag=weaken", "etag=suffix"};
    static char response[6000];
    struct rig saved = rig;

    (void)state;
    for (int i = 0; i < 2; i++) {
        rig_up(&rig, (const char *const[]){modes[i], NULL});
        for (int len = 4000; len < 4150; len++) {
            const char *tag;
            int n = snprintf(response, sizeof response, HTML "etag: \"");

            memset(response + n, 'x', (size_t)len);
            snprintf(response + n + len, 8, "\"\n");
            get(GZIP, response);
            tag = rig_value(&rig, "etag");
            assert_true(!strcmp(tag, "-") || strlen(tag) >= (size_t)len + 2);
            assert_true(!strcmp(tag, "-") || tag[0] == 'W' || strstr(tag, "-gzip."));
        }
        rig_down(&rig);
    }
    rig = saved;
}

static int setup(void **state)
{
    (void)state;
    memset(text, 'a', sizeof text);
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
        cmocka_unit_test(vary_is_merged),   cmocka_unit_test(vary_of_many_lines),
        cmocka_unit_test(etag_is_weakened), cmocka_unit_test(stale_fields_go),
        cmocka_unit_test(kept_tags),        cmocka_unit_test(endless_tags),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
