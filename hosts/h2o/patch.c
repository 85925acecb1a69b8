/* SPDX-License-Identifier: MIT */
/* Writes over code.  The kernel lets a process write to its own memory through /proc/self/mem
 * whatever the protection of the page, so no page is ever writable and executable, which services
 * under MemoryDenyWriteExecute are not allowed.  Where that is shut, pages are made writable once,
 * and stay executable: taking that away and giving it back would be the end of such a service. */
#include "patch.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool write_through_kernel(void *at, const void *bytes, size_t n)
{
    int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool written = pwrite(fd, bytes, n, (off_t)(uintptr_t)at) == (ssize_t)n;
    close(fd);
    return written && memcmp(at, bytes, n) == 0;
}

/* The pages that n bytes lie in. */
static bool protect(void *at, size_t n, int protection)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)at & ~(page - 1);
    uintptr_t end = ((uintptr_t)at + n + page - 1) & ~(page - 1);
    return mprotect((void *)first, end - first, protection) == 0;
}

static bool overwrite(struct patch *p, const void *bytes)
{
    if (!p->opened && !write_through_kernel(p->target, bytes, p->size)) {
        p->opened = protect(p->target, p->size, PROT_READ | PROT_WRITE | PROT_EXEC);
        if (!p->opened)
            return false;
    }
    if (p->opened)
        memcpy(p->target, bytes, p->size);
    __builtin___clear_cache((char *)p->target, (char *)p->target + p->size);
    return true;
}

/* Length of the jump; 0: not for this machine. */
static size_t make_jump(unsigned char *code, void *to)
{
#if defined(__x86_64__)
    static const unsigned char load[] = {0x48, 0xb8}; /* mov rax, imm64 */
    static const unsigned char jump[] = {0xff, 0xe0}; /* jmp rax */
    memcpy(code, load, sizeof load);
    memcpy(code + 2, &to, sizeof to);
    memcpy(code + 10, jump, sizeof jump);
    return 12;
#elif defined(__aarch64__)
    static const uint32_t branch[] = {0x58000050, 0xd61f0200}; /* ldr x16, #8; br x16 */
    memcpy(code, branch, sizeof branch);
    memcpy(code + 8, &to, sizeof to);
    return 16;
#else
    (void)code;
    (void)to;
    return 0;
#endif
}

const char *patch_write(struct patch *p, void *target, size_t size, void *to)
{
    unsigned char code[PATCH_SIZE];
    *p = (struct patch){.target = target, .size = make_jump(code, to)};
    if (p->size == 0)
        return "the bootstrap does not know this kind of processor";
    if (size < p->size)
        return "the function to be hooked is too short";
    memcpy(p->saved, target, p->size);
    return overwrite(p, code) ? NULL : "this system does not let the bootstrap hook a function";
}

bool patch_restore(struct patch *p)
{
    bool restored = overwrite(p, p->saved);
    if (p->opened) {
        (void)protect(p->target, p->size, PROT_READ | PROT_EXEC);
        p->opened = false;
    }
    return restored;
}
