/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read_range.h"
#include "say.h"

static int read_open(int fd, const char *name, char **bytes, size_t *len)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return complain("%s: %s", name, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return complain("%s: not a regular file", name);
    *bytes = malloc((size_t)st.st_size + 1);
    if (!*bytes)
        return complain("%s: no memory", name);
    *len = (size_t)st.st_size;
    (*bytes)[*len] = '\0';
    int failed = terse_read_range(fd, 0, *bytes, *len);
    if (failed)
        return complain("%s: %s", name, failed > 0 ? strerror(failed) : "became shorter");
    return 0;
}

int input_read(const char *name, char **bytes, size_t *len)
{
    *bytes = NULL;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return complain("%s: %s", name, strerror(errno));
    int result = read_open(fd, name, bytes, len);
    close(fd);
    if (result != 0) {
        free(*bytes);
        *bytes = NULL;
    }
    return result;
}
