/* SPDX-License-Identifier: MIT */
/* The loader against right and wrong plugins, and against paths that cannot be trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "find.h"
#include "loader.h"

static char folder[PATH_MAX]; /* a new one for each test, mode 0755 */
static int logged;
static char why[TERSE_WHY_SIZE];

static void count_log(void *data, int32_t level, const char *msg, size_t len)
{
    assert_ptr_equal(data, folder);
    assert_int_equal(level, TERSE_LOG_INFO);
    assert_memory_equal(msg, "tiny", len);
    logged++;
}

static const terse_host host = {
    .struct_size = sizeof(terse_host), .data = folder, .log = count_log};

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/terse-loader.XXXXXX");
    logged = 0;
    memset(why, 0, sizeof why);
    return !mkdtemp(folder) || chmod(folder, 0755) != 0;
}

static int teardown(void **state)
{
    char command[PATH_MAX + 32];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char *in_folder(const char *name)
{
    static char path[2][PATH_MAX + NAME_MAX];
    static int turn;
    turn ^= 1;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static const char *mocked(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, MOCK_DIR "/%s.so", name);
    return path;
}

static void write_file(const char *path, const void *bytes, size_t len, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

/* Copies a mock into the folder, the first `most` bytes of it. */
static const char *copy(const char *name, const char *as, size_t most, mode_t mode)
{
    static char bytes[4 << 20];
    int fd = open(mocked(name), O_RDONLY);
    assert_true(fd >= 0);
    ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    assert_in_range(n, 1, sizeof bytes - 1);
    const char *path = in_folder(as);
    write_file(path, bytes, (size_t)n < most ? (size_t)n : most, mode);
    return path;
}

static void refused(const char *path, const char *words)
{
    struct terse_plugin plugin, zero;
    memset(&plugin, 0xa5, sizeof plugin);
    memset(&zero, 0, sizeof zero);
    logged = 0;
    assert_int_equal(terse_load(&plugin, path, &host, why, sizeof why), -1);
    if (!strstr(why, words))
        fail_msg("\"%s\" does not say \"%s\"", why, words);
    assert_null(strpbrk(why, "\r\n"));
    assert_memory_equal(&plugin, &zero, sizeof plugin);
    assert_int_equal(logged, 0);
}

static void names_path(const char *path)
{
    if (strncmp(why, path, strlen(path)) != 0 || why[strlen(path)] != ':')
        fail_msg("\"%s\" does not begin with \"%s\"", why, path);
}

static void test_good(void **state)
{
    struct terse_plugin plugin, again;
    (void)state;
    assert_int_equal(terse_load(&plugin, mocked("good"), &host, why, sizeof why), 0);
    assert_int_equal(logged, 1);
    assert_string_equal(plugin.api->version, "0.0.1");
    assert_string_equal(plugin.path, mocked("good"));
    int (*instances)(void);
    void *symbol = dlsym(plugin.handle, "mock_instances");
    memcpy(&instances, &symbol, sizeof instances);
    assert_int_equal(instances(), 1);
    assert_int_equal(terse_load(&again, mocked("good"), &host, why, sizeof why), 0);
    assert_int_equal(instances(), 2);
    terse_unload(&again);
    assert_int_equal(instances(), 1);
    terse_unload(&plugin);
    assert_null(plugin.handle);
    terse_unload(&plugin);
}

static void test_local(void **state)
{
    struct terse_plugin plugin;
    (void)state;
    assert_int_equal(terse_load(&plugin, mocked("good"), &host, why, sizeof why), 0);
    assert_null(dlsym(RTLD_DEFAULT, TERSE_ENTRY_NAME));
    assert_null(dlsym(RTLD_DEFAULT, "mock_instances"));
    terse_unload(&plugin);
}

static int is_mapped(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle != NULL;
}

static void test_dlclose(void **state)
{
    struct terse_plugin plugin;
    (void)state;
    const char *path = copy("good", "kept.so", SIZE_MAX, 0644);
    assert_int_equal(terse_load(&plugin, path, &host, why, sizeof why), 0);
    terse_unload(&plugin);
    assert_false(is_mapped(path));
    assert_int_equal(setenv("TERSE_NO_DLCLOSE", "1", 1), 0);
    assert_int_equal(terse_load(&plugin, path, &host, why, sizeof why), 0);
    terse_unload(&plugin);
    unsetenv("TERSE_NO_DLCLOSE");
    assert_true(is_mapped(path));
}

/* A refused plugin is not left behind. */
static void test_refused_is_gone(void **state)
{
    (void)state;
    const char *path = copy("open-fails", "fails.so", SIZE_MAX, 0644);
    refused(path, "libz.so.1 is version 1.1.4");
    assert_false(is_mapped(path));
}

static void test_wrong_plugins(void **state)
{
    static const char *const cases[][2] = {
        {"no-entry", "not a plugin: it has no terse_plugin_entry"},
        {"borrowed-entry", "not a plugin: it has no terse_plugin_entry"},
        {"null-api", "does not speak ABI 1"},
        {"short-table", "table is too short"},
        {"null-slot", "slot decide_more of its table is empty"},
        {"major-9", "table is of ABI 9.0, this host speaks ABI 1"},
        {"absurd-size", "absurd size: 4294967295 bytes"},
        {"absurd-exchange", "wants 1073741824 bytes for an exchange"},
        {"zero-exchange", "wants 0 bytes for an exchange"},
        {"null-version", "no version that can be shown"},
        {"open-fails", "libz.so.1 is version 1.1.4,?at least 1.2.3 is needed (status -11)"},
        {"open-silent", "no reason given (status -2)"},
        {"no-instance", "gave no instance"},
        {"undefined-symbol", "undefined symbol: no_such_function"},
        {"missing-dependency", "libterse-no-such-library.so.9"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refused(mocked(cases[i][0]), cases[i][1]);
        names_path(mocked(cases[i][0]));
    }
}

static void test_path_said_once(void **state)
{
    (void)state;
    refused(mocked("undefined-symbol"), "cannot be loaded");
    assert_null(strstr(why + 1, mocked("undefined-symbol")));
}

static void test_relative(void **state)
{
    static const char *const paths[] = {"terse.so", "./terse.so", "../terse.so", "~/terse.so", " "};
    (void)state;
    assert_int_equal(chdir(MOCK_DIR), 0);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        refused(paths[i], "must be absolute");
    refused("good.so", "must be absolute");
    names_path("good.so");
}

static void test_not_a_file(void **state)
{
    (void)state;
    refused(in_folder("missing.so"), "No such file or directory");
    names_path(in_folder("missing.so"));
    refused(in_folder("missing/terse.so"), "No such file or directory");
    refused(folder, "it is a folder");
    refused("/", "it is a folder");
    refused("/dev/null", "not a regular file");
    refused("/etc/passwd/terse.so", "/etc/passwd is not a folder");
    assert_int_equal(mkfifo(in_folder("fifo.so"), 0600), 0);
    refused(in_folder("fifo.so"), "not a regular file"); /* and does not wait for a writer */
}

static void test_not_a_module(void **state)
{
    static const char text[] = "not a shared object, but long enough to be the header of one, if "
                               "only it began as one does\n";
    (void)state;
    write_file(in_folder("text.so"), text, sizeof text - 1, 0644);
    refused(in_folder("text.so"), "not a shared object");
    names_path(in_folder("text.so"));
    write_file(in_folder("empty.so"), "", 0, 0644);
    refused(in_folder("empty.so"), "not a shared object");
}

/* The dynamic linker would die of SIGBUS on these. */
static void test_cut_short(void **state)
{
    static const size_t lengths[] = {5, 63, 64, 200, 4096, 8192};
    char name[NAME_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        snprintf(name, sizeof name, "cut-%zu.so", lengths[i]);
        const char *path = copy("good", name, lengths[i], 0644);
        refused(path, lengths[i] < 4096 ? "not a shared object" : "cut short");
    }
}

static void test_others_write(void **state)
{
    static const mode_t modes[] = {0666, 0646, 0664, 0777};
    char name[NAME_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        snprintf(name, sizeof name, "mode-%03o.so", (unsigned)modes[i]);
        const char *path = copy("good", name, SIZE_MAX, modes[i]);
        refused(path, "can write to the file");
        names_path(path);
    }
}

static void test_folder_others_write(void **state)
{
    struct terse_plugin plugin;
    (void)state;
    const char *path = copy("good", "good.so", SIZE_MAX, 0644);
    static const mode_t modes[] = {0777, 0757, 0775, 01777};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(folder, modes[i]), 0);
        refused(path, modes[i] & 01000 || !(modes[i] & 2) ? "can write to the folder"
                                                          : "everybody can write to the folder");
        assert_non_null(strstr(why, folder));
    }
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(terse_load(&plugin, path, &host, why, sizeof why), 0);
    terse_unload(&plugin);
}

static void test_links(void **state)
{
    struct terse_plugin plugin;
    (void)state;
    copy("good", "terse-1.0.0.so", SIZE_MAX, 0644);
    assert_int_equal(symlink("terse-1.0.0.so", in_folder("terse.so")), 0);
    assert_int_equal(symlink("nowhere.so", in_folder("dangling.so")), 0);
    assert_int_equal(symlink("loop.so", in_folder("loop.so")), 0);
    assert_int_equal(terse_load(&plugin, in_folder("terse.so"), &host, why, sizeof why), 0);
    assert_string_equal(plugin.path, in_folder("terse-1.0.0.so"));
    terse_unload(&plugin);
    refused(in_folder("dangling.so"), "No such file or directory");
    refused(in_folder("loop.so"), "Too many levels of symbolic links");
}

/* Links through folders, absolute targets, "." and ".." end where realpath() does. */
static void test_long_way(void **state)
{
    char found[TERSE_PATH_SIZE], real[PATH_MAX];
    (void)state;
    assert_int_equal(mkdir(in_folder("1"), 0755), 0);
    assert_int_equal(mkdir(in_folder("2"), 0755), 0);
    copy("good", "1/terse-1.so", SIZE_MAX, 0644);
    assert_int_equal(symlink(in_folder("1"), in_folder("2/now")), 0);
    assert_int_equal(symlink("../2/./now/..//1/terse-1.so", in_folder("2/terse.so")), 0);
    assert_non_null(realpath(in_folder("2/terse.so"), real));
    assert_int_equal(terse_find(in_folder("2/../2/terse.so"), found, sizeof found, why, sizeof why),
                     0);
    assert_string_equal(found, real);
    assert_int_equal(terse_find(in_folder("2/terse.so"), found, strlen(real), why, sizeof why), -1);
    assert_non_null(strstr(why, "File name too long"));
    refused(in_folder("2/terse.so/"), "is not a folder");
}

/* Who can change the link decides what is loaded. */
static void test_link_folder_others_write(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_folder("open"), 0755), 0);
    copy("good", "good.so", SIZE_MAX, 0644);
    assert_int_equal(symlink("../good.so", in_folder("open/terse.so")), 0);
    assert_int_equal(symlink("open/terse.so", in_folder("two.so")), 0);
    assert_int_equal(chmod(in_folder("open"), 0775), 0);
    refused(in_folder("open/terse.so"), "can write to the folder");
    refused(in_folder("two.so"), "can write to the folder");
    assert_non_null(strstr(why, "/open "));
}

static void test_too_long(void **state)
{
    char path[2 * PATH_MAX];
    (void)state;
    memset(path, 'a', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    refused(path, "aaaa"); /* the line is cut, but it is a line */
    assert_int_equal(strlen(why), sizeof why - 1);
    path[NAME_MAX + 2] = '\0';
    refused(path, "File name too long");
}

static void test_hostile_name(void **state)
{
    (void)state;
    refused("/no\nsuch\x1b[2Jfile", "/no?such?[2Jfile: No such file or directory");
}

static void test_foreign_owner(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("SKIP: only root can give a file away\n");
        skip();
    }
    const char *path = copy("good", "good.so", SIZE_MAX, 0644);
    assert_int_equal(chown(path, 12345, 0), 0);
    refused(path, "belongs to user 12345");
    assert_int_equal(chown(path, 0, 0), 0);
    assert_int_equal(chown(folder, 12345, 0), 0);
    refused(path, "belongs to user 12345");
    assert_int_equal(chown(folder, 0, 0), 0);
    assert_int_equal(symlink("good.so", in_folder("link.so")), 0);
    assert_int_equal(lchown(in_folder("link.so"), 12345, 0), 0);
    refused(in_folder("link.so"), "belongs to user 12345");
}

static void test_default(void **state)
{
    struct terse_plugin plugin;
    (void)state;
    unlink(TERSE_PLUGIN_DIR "/terse.so");
    assert_true(mkdir(TERSE_PLUGIN_DIR, 0755) == 0 || errno == EEXIST);
    refused(NULL, "No such file or directory");
    names_path(TERSE_PLUGIN_DIR "/terse.so");
    assert_int_equal(setenv("LD_LIBRARY_PATH", MOCK_DIR, 1), 0);
    refused("", "No such file or directory");
    unsetenv("LD_LIBRARY_PATH");
    assert_int_equal(symlink("../good.so", TERSE_PLUGIN_DIR "/terse.so"), 0);
    assert_int_equal(terse_load(&plugin, NULL, &host, why, sizeof why), 0);
    assert_string_equal(plugin.path, mocked("good"));
    terse_unload(&plugin);
    assert_int_equal(terse_load(&plugin, "", &host, why, sizeof why), 0);
    terse_unload(&plugin);
    unlink(TERSE_PLUGIN_DIR "/terse.so");
}

/* A refusal ends it: a bad configured plugin is never made up for by the installed one. */
static void test_no_second_try(void **state)
{
    (void)state;
    assert_true(mkdir(TERSE_PLUGIN_DIR, 0755) == 0 || errno == EEXIST);
    assert_int_equal(symlink("../good.so", TERSE_PLUGIN_DIR "/terse.so"), 0);
    refused(in_folder("missing.so"), "No such file or directory");
    refused(mocked("null-api"), "does not speak ABI 1");
    unlink(TERSE_PLUGIN_DIR "/terse.so");
}

/* A relinked terse.so is new code, also while the old one is still open (A12). */
static void test_swap(void **state)
{
    struct terse_plugin old, new;
    (void)state;
    copy("good", "terse-1.so", SIZE_MAX, 0644);
    copy("good", "terse-2.so", SIZE_MAX, 0644);
    assert_int_equal(symlink("terse-1.so", in_folder("terse.so")), 0);
    assert_int_equal(terse_load(&old, in_folder("terse.so"), &host, why, sizeof why), 0);
    assert_int_equal(symlink("terse-2.so", in_folder("next")), 0);
    assert_int_equal(rename(in_folder("next"), in_folder("terse.so")), 0);
    assert_int_equal(terse_load(&new, in_folder("terse.so"), &host, why, sizeof why), 0);
    assert_ptr_not_equal(old.api, new.api);
    assert_string_equal(new.path, in_folder("terse-2.so"));
    terse_unload(&old);
    terse_unload(&new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_good, setup, teardown),
        cmocka_unit_test_setup_teardown(test_local, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dlclose, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_plugins, setup, teardown),
        cmocka_unit_test_setup_teardown(test_path_said_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_relative, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_a_module, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut_short, setup, teardown),
        cmocka_unit_test_setup_teardown(test_others_write, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folder_others_write, setup, teardown),
        cmocka_unit_test_setup_teardown(test_links, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_link_folder_others_write, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_long, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile_name, setup, teardown),
        cmocka_unit_test_setup_teardown(test_foreign_owner, setup, teardown),
        cmocka_unit_test_setup_teardown(test_default, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_second_try, setup, teardown),
        cmocka_unit_test_setup_teardown(test_swap, setup, teardown),
    };
    return cmocka_run_group_tests_name("loader", tests, NULL, NULL);
}
