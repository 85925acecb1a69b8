/* SPDX-License-Identifier: MIT */
/* What shims share beside the loader: the table's checks, the log limit, reading of a range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "limit.h"
#include "read_range.h"
#include "table.h"
#include "../mock/tiny.h"

static char why[512];

static terse_api table(void)
{
    terse_api api;
    memcpy(&api, &tiny_api, sizeof api);
    return api;
}

/* Each slot of the floor in turn; a refusal names another slot each time. */
static void test_every_slot(void **state)
{
    char last[sizeof why] = "";
    (void)state;
    assert_int_equal(terse_table_check(&tiny_api, "P", why, sizeof why), 0);
    for (size_t at = offsetof(terse_api, query); at < TERSE_API_SIZE_V0; at += sizeof(void *)) {
        terse_api api = table();
        memset((char *)&api + at, 0, sizeof(void *));
        assert_int_equal(terse_table_check(&api, "P", why, sizeof why), -1);
        assert_int_equal(strncmp(why, "P: slot ", 8), 0);
        assert_string_not_equal(why, last);
        memcpy(last, why, sizeof last);
    }
}

static void test_sizes(void **state)
{
    static const struct {
        uint32_t size;
        int result;
    } cases[] = {{0, -1},
                 {4, -1},
                 {8, -1},
                 {TERSE_API_SIZE_V0 - 1, -1},
                 {TERSE_API_SIZE_V0, 0},
                 {TERSE_API_SIZE_V0 + 8, 0}, /* a newer plugin */
                 {65536, 0},
                 {65537, -1},
                 {UINT32_MAX, -1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        terse_api api = table();
        api.struct_size = cases[i].size;
        assert_int_equal(terse_table_check(&api, "P", why, sizeof why), cases[i].result);
        api.struct_size = TERSE_API_SIZE_V0;
        api.exchange_size = cases[i].size;
        int fits = cases[i].size >= 1 && cases[i].size <= 65536;
        assert_int_equal(terse_table_check(&api, "P", why, sizeof why), fits ? 0 : -1);
    }
}

static void test_majors(void **state)
{
    (void)state;
    for (unsigned major = 0; major < 4; major++) {
        terse_api api = table();
        api.abi_major = (uint16_t)major;
        api.abi_minor = 7; /* of no interest */
        assert_int_equal(terse_table_check(&api, "P", why, sizeof why), major == 1 ? 0 : -1);
    }
    terse_api api = table();
    api.abi_major = 2;
    api.struct_size = 64; /* the reason is the major, whatever its table is like */
    assert_int_equal(terse_table_check(&api, "P", why, sizeof why), -1);
    assert_non_null(strstr(why, "ABI 2.0"));
}

static void test_strings(void **state)
{
    /* 200 bytes without an end, right before memory that is not there */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const char *const bad[] = {NULL, "", "1.0\n", "\x01", "1.0\xff", pages + page - 200};
    (void)state;
    assert_true(pages != MAP_FAILED);
    memset(pages, '1', page);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        terse_api api = table();
        api.version = bad[i];
        assert_int_equal(terse_table_check(&api, "P", why, sizeof why), -1);
        assert_string_equal(why, "P: it has no version that can be shown");
        api = table();
        api.build = bad[i];
        assert_int_equal(terse_table_check(&api, "P", why, sizeof why), -1);
        assert_string_equal(why, "P: it has no build id that can be shown");
    }
    munmap(pages, 2 * page);
}

static void test_no_room_for_words(void **state)
{
    (void)state;
    terse_api api = table();
    api.close = NULL;
    char small[6] = "xxxxx";
    assert_int_equal(terse_table_check(&api, "P", small, 0), -1);
    assert_string_equal(small, "xxxxx");
    assert_int_equal(terse_table_check(&api, "P", small, 5), -1);
    assert_string_equal(small, "P: s");
    assert_int_equal(terse_table_check(&api, "/a/long/path", small, 5), -1);
    assert_string_equal(small, "/a/l");
}

static void test_limit(void **state)
{
    struct terse_limit limit = {0};
    uint32_t left_out = 99;
    (void)state;
    assert_true(terse_limit_pass(&limit, 0, &left_out));
    assert_int_equal(left_out, 0);
    assert_false(terse_limit_pass(&limit, 0, &left_out));
    assert_false(terse_limit_pass(&limit, 999, &left_out));
    assert_true(terse_limit_pass(&limit, 1000, &left_out));
    assert_int_equal(left_out, 2);
    assert_true(terse_limit_pass(&limit, 2000, &left_out));
    assert_int_equal(left_out, 0);
    assert_true(terse_limit_pass(&limit, 1, &left_out)); /* the clock went back */
    limit.left_out = UINT32_MAX;
    assert_false(terse_limit_pass(&limit, 2, &left_out));
    assert_true(terse_limit_pass(&limit, UINT64_MAX, &left_out));
    assert_int_equal(left_out, UINT32_MAX);
}

static void test_read_range(void **state)
{
    char buf[8] = "", name[] = "/tmp/terse-range.XXXXXX";
    int ends[2], fd = mkstemp(name);
    (void)state;
    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(write(fd, "0123456789", 10), 10);
    assert_int_equal(terse_read_range(fd, 3, buf, 4), 0);
    assert_memory_equal(buf, "3456\0\0\0", 8);
    assert_int_equal(terse_read_range(fd, 6, buf, 4), 0);
    assert_memory_equal(buf, "6789", 4);
    assert_int_equal(terse_read_range(fd, 7, buf, 4), TERSE_READ_SHORT);
    assert_int_equal(terse_read_range(fd, 20, buf, 1), TERSE_READ_SHORT);
    assert_int_equal(terse_read_range(fd, 20, buf, 0), 0);
    assert_int_equal(ftruncate(fd, 2), 0);
    assert_int_equal(terse_read_range(fd, 3, buf, 4), TERSE_READ_SHORT);
    assert_int_equal(terse_read_range(fd, -1, buf, 1), EINVAL);
    close(fd);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(terse_read_range(ends[0], 0, buf, 1), ESPIPE);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(terse_read_range(ends[0], 0, buf, 1), EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_slot),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_majors),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_no_room_for_words),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_read_range),
    };
    return cmocka_run_group_tests_name("host common", tests, NULL, NULL);
}
