/* SPDX-License-Identifier: MIT */
/* Entity tags of coded representations, and the conditions that name them. */
#include "harness.h"

#define TYPE "content-type: text/html\n"
#define GZIP "accept-encoding: gzip\n"
#define BR "accept-encoding: br\n"
#define INM(list) "if-none-match: " list "\n"

static char text[400000];
static struct rig rig;

static void up(const char *mode)
{
    char setting[32];

    snprintf(setting, sizeof setting, "etag=%s", mode);
    rig_up(&rig, (const char *const[]){setting, NULL});
}

/* The request's edit of that name: its value, "-" when it goes, "" when it stays. */
static const char *ask(const char *method, const char *name, const char *request)
{
    struct message m = {request, ""};
    terse_facts f = rig_facts(&rig, &m, 0, -1);

    f.method = S(method);
    rig.api->exchange_end(rig.x, TERSE_DONE, NULL);
    assert_int_equal(rig.api->request(rig.x, &f, &rig.d), TERSE_OK);
    for (uint32_t i = 0; i < rig.d.n_edits; i++)
        assert_int_equal(rig.d.edits[i].side, TERSE_REQUEST);
    return rig_value(&rig, name);
}

/* The tag that leaves, after a request like the last one that was asked. */
static const char *reply(const char *method, uint32_t status, const char *request,
                         const char *response, size_t length)
{
    struct message m = {request, response};
    terse_facts f = rig_facts(&rig, &m, status, (int64_t)length);
    terse_str coded;

    f.method = S(method);
    assert_int_equal(rig.api->decide(rig.x, &f, &rig.d), TERSE_OK);
    if (rig.d.action == TERSE_WHOLE)
        assert_int_equal(
            rig.api->encode_whole(rig.x, &f, (terse_str){text, length}, &coded, &rig.d), TERSE_OK);
    return rig_value(&rig, "etag");
}

static const char *get(const char *request, const char *response, size_t length)
{
    ask("GET", "none", request);
    return reply("GET", 200, request, response, length);
}

/* "v1" as it is in gzip, with room for a few. */
static const char *gzip_tag(const char *plain)
{
    static char tags[8][64];
    static unsigned next;
    char response[128];
    char *tag = tags[next++ % 8];

    snprintf(response, sizeof response, TYPE "etag: %s\n", plain);
    snprintf(tag, sizeof tags[0], "%s", get(GZIP, response, 1000));
    return tag;
}

static const char *asking(const char *accept, const char *field, const char *tag)
{
    static char request[512];

    snprintf(request, sizeof request, "%s%s: %s\n", accept, field, tag);
    return request;
}

static void suffix_names_the_coding(void **state)
{
    const char *tag;

    (void)state;
    up("suffix");
    tag = gzip_tag("\"v1\"");
    assert_int_equal(strlen(tag), strlen("\"v1-gzip.0000\""));
    assert_memory_equal(tag, "\"v1-gzip.", 9);
    assert_string_equal(gzip_tag("\"v1\""), tag);
    assert_string_not_equal(gzip_tag("\"v2\"") + 8, tag + 8); /* the check is over the tag too */
    assert_memory_equal(get(BR, TYPE "etag: \"v1\"\n", 1000), "\"v1-br.", 7);
    assert_string_equal(get(GZIP, TYPE "etag: W/\"v1\"\n", 1000), ""); /* of all codings already */
    assert_string_equal(get("", TYPE "etag: \"v1\"\n", 1000), "");
    /* what a stream gives depends on when its pieces come */
    assert_memory_equal(get(GZIP, TYPE "etag: \"v1\"\n", 300000), "W/\"v1-gzip.", 11);
    ask("HEAD", "none", GZIP);
    assert_string_equal(reply("HEAD", 200, GZIP, TYPE "etag: \"v1\"\n", 1000), tag);
    ask("HEAD", "none", GZIP); /* a length that is not known makes a stream of it */
    assert_memory_equal(reply("HEAD", 200, GZIP, TYPE "etag: \"v1\"\n", (size_t)-1), "W/\"v1-gzip.",
                        11);
    rig_down(&rig);
    up("suffix");
    assert_string_equal(gzip_tag("\"v1\""), tag);
    rig_down(&rig);
    rig_up(&rig, (const char *const[]){"etag=suffix", "gzip.level=9", NULL});
    assert_string_not_equal(gzip_tag("\"v1\""), tag); /* other bytes */
    rig_down(&rig);
}

static void tags_of_ours_are_mapped_back(void **state)
{
    const char *v1, *v2, *empty;
    char list[256];

    (void)state;
    up("suffix");
    v1 = gzip_tag("\"v1\"");
    v2 = gzip_tag("\"v2\"");
    empty = gzip_tag("\"\"");
    assert_string_equal(ask("GET", "if-none-match", asking(GZIP, "if-none-match", v1)), "\"v1\"");
    assert_string_equal(ask("HEAD", "if-none-match", asking(GZIP, "if-none-match", v1)), "\"v1\"");
    snprintf(list, sizeof list, "W/%s", v1);
    assert_string_equal(ask("GET", "if-none-match", asking(GZIP, "if-none-match", list)), "\"v1\"");
    snprintf(list, sizeof list, "%s,\t\"a,b\" , W/\"c\", %s", v1, v2);
    assert_string_equal(ask("GET", "if-none-match", asking(GZIP, "if-none-match", list)),
                        "\"v1\", \"a,b\", W/\"c\", \"v2\"");
    assert_string_equal(ask("GET", "if-none-match", asking(GZIP, "if-none-match", empty)), "\"\"");
    snprintf(list, sizeof list, "%s, v1", v1); /* malformed: it stays, and fits nothing */
    assert_string_equal(ask("GET", "if-none-match", asking(GZIP, "if-none-match", list)), "");
    assert_string_equal(ask("PUT", "if-match", asking(GZIP, "if-match", list)), "");
    /* this client would not get that coding now */
    assert_string_equal(ask("GET", "if-none-match", asking(BR, "if-none-match", v1)), "");
    assert_string_equal(ask("GET", "if-none-match", asking("", "if-none-match", v1)), "");
    rig_down(&rig);
}

static void only_like_ours(void **state)
{
    static const char *const tags[] = {
        "\"v1\"",   "\"v1-gzip\"",    "\"v1-gzip.0000\"", "\"-gzip.\"",        "\"\"",
        "*",        "\"gzip.1234\"",  "v1-gzip.1234",     "\"v1-gzip.12345\"", "\"v1-GZIP.1234\"",
        "W/\"v1\"", "\"v1-br.1234\"",
    };

    (void)state;
    up("suffix");
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        assert_string_equal(ask("GET", "if-none-match", asking(GZIP, "if-none-match", tags[i])),
                            "");
        assert_string_equal(ask("PUT", "if-match", asking(GZIP, "if-match", tags[i])), "");
    }
    rig_down(&rig);
    up("weaken");
    assert_string_equal(ask("GET", "if-none-match", GZIP INM("W/\"v1\"")), "");
    rig_down(&rig);
}

static void other_methods_name_a_version(void **state)
{
    const char *v1;
    char weak[64];

    (void)state;
    up("suffix");
    v1 = gzip_tag("\"v1\"");
    snprintf(weak, sizeof weak, "W/%s", v1);
    assert_string_equal(ask("PUT", "if-match", asking("", "if-match", v1)), "\"v1\"");
    assert_string_equal(ask("DELETE", "if-match", asking(BR, "if-match", v1)), "\"v1\"");
    assert_string_equal(ask("PUT", "if-none-match", asking("", "if-none-match", v1)), "\"v1\"");
    assert_string_equal(ask("GET", "if-match", asking(GZIP, "if-match", v1)), "\"v1\"");
    assert_string_equal(ask("GET", "if-match", asking("", "if-match", v1)), "");
    /* it compares strongly, and a weak tag never fits */
    assert_string_equal(ask("PUT", "if-match", asking("", "if-match", weak)), "");
    assert_string_equal(ask("GET", "if-match", asking(GZIP "range: bytes=0-9\n", "if-match", v1)),
                        "");
    /* the tag of an answer to PUT is that of the resource */
    ask("PUT", "none", GZIP);
    assert_string_equal(reply("PUT", 200, GZIP, TYPE "etag: \"v1\"\n", 1000), "");
    assert_string_equal(rig.d.coding, "gzip");
    ask("POST", "none", GZIP);
    assert_string_equal(reply("POST", 200, GZIP, TYPE "etag: \"v1\"\ncontent-location: /x\n", 1000),
                        v1);
    rig_down(&rig);
}

static void if_range(void **state)
{
    static const char *const gone[] = {"W/\"v1\"", "W/\"\""};
    static const char *const stay[] = {"\"v1\"", "Mon, 30 Nov 2026 00:00:00 GMT", "\"v1-gzip\"",
                                       "v1"};
    const char *range = GZIP "range: bytes=0-9\n";
    const char *v1;

    (void)state;
    up("suffix");
    v1 = gzip_tag("\"v1\"");
    assert_string_equal(ask("GET", "range", asking(range, "if-range", v1)), "-");
    assert_string_equal(rig_value(&rig, "if-range"), "-");
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(ask("GET", "range", asking(range, "if-range", gone[i])), "-");
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(ask("GET", "range", asking(range, "if-range", stay[i])), "");
    assert_string_equal(ask("GET", "if-range", asking(GZIP, "if-range", "W/\"v1\"")), "");
    rig_down(&rig);
    up("keep"); /* one tag for all codings: it could be of the coded bytes */
    assert_string_equal(ask("GET", "range", asking(range, "if-range", "\"v1\"")), "-");
    assert_string_equal(ask("GET", "range", asking("range: bytes=0-9\n", "if-range", "\"v1\"")),
                        "");
    rig_down(&rig);
}

/* A 304 that server or origin made: which tag leaves with it? */
static const char *not_modified(const char *request, const char *tag)
{
    static char response[128];

    snprintf(response, sizeof response, "etag: %s\n", tag);
    ask("GET", "none", request);
    reply("GET", 304, request, response, 0);
    assert_string_equal(rig.d.reason_name, "not-modified");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    return rig_value(&rig, "etag");
}

static void tag_of_a_304(void **state)
{
    const char *v1;
    char list[256];

    (void)state;
    up("suffix");
    v1 = gzip_tag("\"v1\"");
    assert_string_equal(not_modified(asking(GZIP, "if-none-match", v1), "\"v1\""), v1);
    snprintf(list, sizeof list, "W/%s", v1);
    assert_string_equal(not_modified(asking(GZIP, "if-none-match", list), "\"v1\""), list);
    /* the client has the identity, under the identity's tag */
    assert_string_equal(not_modified(GZIP INM("\"v1\""), "\"v1\""), "");
    snprintf(list, sizeof list, "\"v1\", %s", v1);
    assert_string_equal(not_modified(asking(GZIP, "if-none-match", list), "\"v1\""), v1);
    snprintf(list, sizeof list, "%s, \"v2\"", v1);
    assert_string_equal(not_modified(asking(GZIP, "if-none-match", list), "\"v2\""), "");
    assert_string_equal(not_modified(INM("\"v1\""), "\"v1\""), "");
    assert_string_equal(not_modified(GZIP, "\"v1\""), v1); /* If-Modified-Since */
    rig_down(&rig);
    up("weaken");
    assert_string_equal(not_modified(GZIP INM("W/\"v1\""), "\"v1\""), "W/\"v1\"");
    assert_string_equal(not_modified(GZIP INM("\"v1\""), "\"v1\""), ""); /* was too short */
    assert_string_equal(not_modified(INM("W/\"v1\""), "\"v1\""), "");
    assert_string_equal(not_modified(GZIP INM("\"v1\", W/\"v1\""), "\"v1\""), "W/\"v1\"");
    assert_string_equal(not_modified(GZIP, "\"v1\""), "W/\"v1\"");
    assert_string_equal(not_modified(GZIP, "v1"), "-");
    rig_down(&rig);
    up("drop");
    assert_string_equal(not_modified(GZIP INM("\"v1\""), "\"v1\""), "");
    assert_string_equal(not_modified(GZIP, "\"v1\""), "-");
    rig_down(&rig);
}

/* Whoever evaluates the condition saw another list: what counts is the one that the client sent. */
static void the_clients_own_list(void **state)
{
    const char *v1;
    char sent[256];

    (void)state;
    up("suffix");
    v1 = gzip_tag("\"v1\"");
    snprintf(sent, sizeof sent, GZIP INM("\"v0\"") "if-none-match: %s\n", v1);
    assert_string_equal(ask("GET", "if-none-match", sent), "\"v0\", \"v1\"");
    reply("GET", 304, GZIP INM("\"v0\", \"v1\""), "etag: \"v1\"\n", 0);
    assert_string_equal(rig_value(&rig, "etag"), v1);
    snprintf(sent, sizeof sent, GZIP "if-none-match: %s\n" INM("\"v0\""), v1);
    ask("GET", "none", sent);
    reply("GET", 200, GZIP INM("\"v1\", \"v0\""), TYPE "etag: \"v1\"\n", 1000);
    assert_int_equal(rig.d.action, TERSE_NO_BODY);
    assert_string_equal(rig_value(&rig, "etag"), v1);
    rig_down(&rig);
}

/* A 200 that should have been a 304; its tag. */
static const char *seen(const char *request, const char *response)
{
    get(request, response, 1000);
    if (rig.d.action != TERSE_NO_BODY)
        return NULL;
    assert_int_equal(rig.d.status, 304);
    assert_int_equal(rig.d.length, TERSE_LENGTH_UNKNOWN);
    assert_string_equal(rig.d.reason_name, "not-modified");
    assert_string_equal(rig_value(&rig, "vary"), "Accept-Encoding");
    assert_string_equal(rig_value(&rig, "content-type"), "-");
    assert_string_equal(rig_value(&rig, "content-encoding"), "");
    return rig_value(&rig, "etag");
}

static void what_nobody_has_seen(void **state)
{
    const char *html = TYPE "etag: \"v1\"\n", *v1;

    (void)state;
    up("weaken");
    assert_string_equal(seen(GZIP INM("W/\"v1\""), html), "W/\"v1\"");
    assert_string_equal(seen(GZIP INM("\"v0\", W/\"v1\", \"v2\""), html), "W/\"v1\"");
    assert_string_equal(seen(GZIP INM("\"v0\"") INM("\"v1\""), html), "");
    assert_string_equal(seen(GZIP INM("*"), html), "W/\"v1\"");
    assert_string_equal(seen(INM("W/\"v1\""), html), "");
    assert_string_equal(seen(GZIP INM(" * "), html), "W/\"v1\"");
    assert_null(seen(GZIP INM("*x"), html));
    assert_null(seen(GZIP INM("x"), html));
    assert_non_null(seen(GZIP INM("W/\"v1\""), TYPE "etag: \"v1\"\ncontent-digest: x\n"));
    assert_string_equal(rig_value(&rig, "content-digest"), "-");
    assert_null(seen(GZIP INM("\"v0\", v1, \"v1\""), html)); /* malformed before it fits */
    assert_null(seen(GZIP INM("\"V1\""), html));
    assert_null(seen(GZIP, html));
    assert_null(seen(GZIP INM("*"), TYPE)); /* no tag: nothing to stand by */
    assert_null(seen(GZIP INM("\"v1\""), TYPE "etag: \"v1\"\netag: \"v2\"\n"));
    assert_null(seen(GZIP INM("\"v1\""), "content-type: image/png\netag: \"v1\"\n"));
    assert_null(seen(GZIP INM("\"v1\""), TYPE "etag: \"v1\"\ncache-control: no-transform\n"));
    ask("POST", "none", GZIP INM("\"v1\""));
    reply("POST", 200, GZIP INM("\"v1\""), html, 1000);
    assert_string_equal(rig.d.coding, "gzip");
    ask("GET", "none", GZIP INM("\"v1\""));
    reply("GET", 404, GZIP INM("\"v1\""), html, 1000);
    assert_string_equal(rig.d.coding, "gzip");
    rig_down(&rig);
    up("suffix");
    v1 = gzip_tag("\"v1\"");
    assert_string_equal(seen(asking(GZIP, "if-none-match", v1), html), v1);
    assert_null(seen(asking(BR, "if-none-match", v1), html));
    assert_null(seen(asking("", "if-none-match", v1), html));
    assert_null(seen(GZIP INM("\"v1-gzip\""), html));
    assert_string_equal(seen(GZIP INM("\"v1\""), html), "");
    rig_down(&rig);
}

/* Longer than what is kept of a list, and one that is as long as a header may be. */
static void long_lists(void **state)
{
    static char request[70000];
    size_t n;

    (void)state;
    up("suffix");
    n = (size_t)snprintf(request, sizeof request, GZIP "if-none-match: %s", gzip_tag("\"v1\""));
    while (n < 400)
        n += (size_t)snprintf(request + n, sizeof request - n, ", \"other\"");
    request[n] = '\n';
    request[n + 1] = '\0';
    assert_string_equal(ask("GET", "if-none-match", request), "");
    assert_non_null(seen(request, TYPE "etag: \"v1\"\n")); /* compared as it came */
    /* longer than all edits, for methods of which nothing is kept */
    n = (size_t)snprintf(request, sizeof request, "if-match: ");
    while (n < 5000)
        n += (size_t)snprintf(request + n, sizeof request - n, "\"other\", ");
    snprintf(request + n, sizeof request - n, "%s\n", gzip_tag("\"v1\""));
    assert_string_equal(ask("PUT", "if-match", request), "");
    n = (size_t)snprintf(request, sizeof request, GZIP "if-none-match: ");
    while (n < 65000)
        n += (size_t)snprintf(request + n, sizeof request - n, "\"%zu\", ", n);
    snprintf(request + n, sizeof request - n, "\"v1\"\n");
    assert_non_null(seen(request, TYPE "etag: \"v1\"\n"));
    rig_down(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suffix_names_the_coding),
        cmocka_unit_test(tags_of_ours_are_mapped_back),
        cmocka_unit_test(only_like_ours),
        cmocka_unit_test(other_methods_name_a_version),
        cmocka_unit_test(if_range),
        cmocka_unit_test(tag_of_a_304),
        cmocka_unit_test(the_clients_own_list),
        cmocka_unit_test(what_nobody_has_seen),
        cmocka_unit_test(long_lists),
    };

    memset(text, 'a', sizeof text);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
