/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "find.h"
#include "loader.h"
#include "why.h"

#ifndef TERSE_PLUGIN_DIR
#error "TERSE_PLUGIN_DIR: the folder where the plugin is installed"
#endif

#define LINKS_MAX 40 /* as the kernel has it */

/* A way through the file system, walked part by part so that no link and no folder on it goes
 * unseen; realpath() would tell where it ends, not whom it depends on. */
struct way {
    const char *name; /* as configured, for messages */
    char *why;
    size_t why_len;
    int links;
    size_t len;                 /* of done */
    char done[TERSE_PATH_SIZE]; /* the resolved part, "" for the root folder */
    char rest[TERSE_PATH_SIZE]; /* what is still to be walked */
};

static int fail(struct way *w, const char *reason)
{
    return terse_why(w->why, w->why_len, w->name, "%s", reason);
}

static const char *done(const struct way *w)
{
    return w->len ? w->done : "/";
}

static int check_owner(struct way *w, const struct stat *st)
{
    if (st->st_uid == 0 || st->st_uid == geteuid())
        return 0;
    return terse_why(w->why, w->why_len, w->name,
                     "%s belongs to user %lu, not to root or to the user of this process", done(w),
                     (unsigned long)st->st_uid);
}

static size_t parent_len(const struct way *w)
{
    size_t len = w->len;
    while (len > 0 && w->done[len - 1] != '/')
        len--;
    return len > 0 ? len - 1 : 0;
}

/* The folder that holds the last part, which is the plugin or a link. */
static int check_holder(struct way *w)
{
    char folder[TERSE_PATH_SIZE] = "/";
    size_t len = parent_len(w);
    struct stat st;
    if (len > 0) {
        memcpy(folder, w->done, len);
        folder[len] = '\0';
    }
    if (lstat(folder, &st) != 0)
        return fail(w, strerror(errno));
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return terse_why(w->why, w->why_len, w->name,
                         "others than its owner can write to the folder %s (mode %04o)", folder,
                         (unsigned)st.st_mode & 07777u);
    return 0;
}

/* A folder on the way: where anybody can rename what is in it, it leads anywhere. */
static int check_passed(struct way *w, const struct stat *st)
{
    if (check_owner(w, st) != 0)
        return -1;
    if ((st->st_mode & S_IWOTH) && !(st->st_mode & S_ISVTX))
        return terse_why(w->why, w->why_len, w->name, "everybody can write to the folder %s",
                         done(w));
    return 0;
}

/* Takes the first part off the rest: its length, 0 when nothing is left.  A part that is too long
 * for a name is not copied. */
static size_t next_part(struct way *w, char part[NAME_MAX + 1])
{
    const char *from = w->rest + strspn(w->rest, "/");
    size_t len = strcspn(from, "/");
    if (len <= NAME_MAX) {
        memcpy(part, from, len);
        part[len] = '\0';
    }
    memmove(w->rest, from + len, strlen(from + len) + 1);
    return len;
}

static void go_up(struct way *w)
{
    w->len = parent_len(w);
    w->done[w->len] = '\0';
}

static int go_down(struct way *w, const char *part)
{
    size_t len = strlen(part);
    if (w->len + 1 + len >= sizeof w->done)
        return fail(w, strerror(ENAMETOOLONG));
    w->done[w->len] = '/';
    memcpy(w->done + w->len + 1, part, len + 1);
    w->len += 1 + len;
    return 0;
}

/* Puts a link's target in front of the rest. */
static int follow(struct way *w)
{
    char target[TERSE_PATH_SIZE];
    ssize_t n = readlink(done(w), target, sizeof target);
    if (n < 0)
        return fail(w, strerror(errno));
    size_t len = (size_t)n, rest = strlen(w->rest);
    if (++w->links > LINKS_MAX)
        return fail(w, strerror(ELOOP));
    if (len == 0 || len + rest >= sizeof w->rest)
        return fail(w, strerror(ENAMETOOLONG));
    memmove(w->rest + len, w->rest, rest + 1);
    memcpy(w->rest, target, len);
    if (check_holder(w) != 0)
        return -1;
    go_up(w);
    if (target[0] == '/') {
        w->len = 0;
        w->done[0] = '\0';
    }
    return 0;
}

/* The last part: the file itself. */
static int arrive(struct way *w, const struct stat *st)
{
    if (w->rest[0] != '\0')
        return terse_why(w->why, w->why_len, w->name, "%s is not a folder", done(w));
    if (!S_ISREG(st->st_mode))
        return fail(w, "not a regular file");
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return terse_why(w->why, w->why_len, w->name,
                         "others than its owner can write to the file (mode %04o)",
                         (unsigned)st->st_mode & 07777u);
    return check_holder(w);
}

/* 1: there, 0: go on, -1: refused. */
static int step(struct way *w)
{
    char part[NAME_MAX + 1];
    size_t len = next_part(w, part);
    struct stat st;

    if (len == 0)
        return fail(w, "it is a folder");
    if (len > NAME_MAX)
        return fail(w, strerror(ENAMETOOLONG));
    if (strcmp(part, ".") == 0)
        return 0;
    if (strcmp(part, "..") == 0) {
        go_up(w);
        return 0;
    }
    if (go_down(w, part) != 0)
        return -1;
    if (lstat(done(w), &st) != 0)
        return fail(w, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return check_passed(w, &st);
    if (check_owner(w, &st) != 0)
        return -1;
    if (S_ISLNK(st.st_mode))
        return follow(w);
    return arrive(w, &st) == 0 ? 1 : -1;
}

int terse_find(const char *configured, char *path, size_t path_size, char *why, size_t why_len)
{
    struct way w = {.why = why, .why_len = why_len};
    w.name = configured && *configured ? configured : TERSE_PLUGIN_DIR "/terse.so";
    if (w.name[0] != '/')
        return fail(&w, "the path of a plugin must be absolute");
    if (strlen(w.name) >= sizeof w.rest)
        return fail(&w, strerror(ENAMETOOLONG));
    memcpy(w.rest, w.name, strlen(w.name) + 1);

    struct stat root;
    if (lstat("/", &root) != 0)
        return fail(&w, strerror(errno));
    int result = check_passed(&w, &root);
    while (result == 0)
        result = step(&w);
    if (result < 0)
        return -1;
    if (w.len >= path_size)
        return fail(&w, strerror(ENAMETOOLONG));
    memcpy(path, w.done, w.len + 1);
    return 0;
}
