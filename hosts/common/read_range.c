/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "read_range.h"

int terse_read_range(int fd, int64_t offset, void *buf, size_t len)
{
    char *to = buf;
    while (len > 0) {
        ssize_t n = pread(fd, to, len, (off_t)offset);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return errno;
        }
        if (n == 0)
            return TERSE_READ_SHORT;
        to += n;
        offset += n;
        len -= (size_t)n;
    }
    return 0;
}
