/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module_file.h"
#include "read_range.h"
#include "why.h"

#define SEGMENTS_MAX 64

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Phdr) elf_segment;

static bool of_this_machine(const elf_header *header)
{
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    const uint16_t one = 1;
    const unsigned char data = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
    return header->e_ident[EI_CLASS] == class && header->e_ident[EI_DATA] == data;
}

/* Where the last loadable segment ends in the file; 0 when the headers make no sense. */
static uint64_t end_of_segments(int fd, const elf_header *header)
{
    elf_segment segments[SEGMENTS_MAX];
    uint64_t end = 0;
    if (header->e_phentsize != sizeof segments[0] || header->e_phnum > SEGMENTS_MAX)
        return 0;
    if (header->e_phoff > INT64_MAX || terse_read_range(fd, (int64_t)header->e_phoff, segments,
                                                        header->e_phnum * sizeof segments[0]) != 0)
        return 0;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        uint64_t offset = segments[i].p_offset, size = segments[i].p_filesz;
        if (segments[i].p_type != PT_LOAD)
            continue;
        if (offset > UINT64_MAX - size)
            return 0;
        if (offset + size > end)
            end = offset + size;
    }
    return end;
}

static int check(int fd, const char *path, char *why, size_t why_len)
{
    elf_header header;
    struct stat st;
    if (fstat(fd, &st) != 0)
        return terse_why(why, why_len, path, "%s", strerror(errno));
    int failed = terse_read_range(fd, 0, &header, sizeof header);
    if (failed > 0)
        return terse_why(why, why_len, path, "%s", strerror(failed));
    if (failed || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return terse_why(why, why_len, path, "not a shared object");
    if (!of_this_machine(&header))
        return 0; /* dlopen has the words for it */
    if (header.e_type != ET_DYN)
        return terse_why(why, why_len, path, "not a shared object");
    uint64_t end = end_of_segments(fd, &header);
    if (end == 0)
        return terse_why(why, why_len, path, "not a shared object, or a damaged one");
    if (end > (uint64_t)st.st_size)
        return terse_why(why, why_len, path, "cut short: %lld of at least %llu bytes are there",
                         (long long)st.st_size, (unsigned long long)end);
    return 0;
}

int terse_module_file_check(const char *path, char *why, size_t why_len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return terse_why(why, why_len, path, "%s", strerror(errno));
    int result = check(fd, path, why, why_len);
    close(fd);
    return result;
}
