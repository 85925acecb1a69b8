/* SPDX-License-Identifier: MIT */
#include "alloc_gate.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool closed, failed;
static size_t taken, freed, fails_at;

void gate_close(size_t nth)
{
    taken = freed = 0;
    fails_at = nth;
    failed = false;
    closed = true;
}

size_t gate_open(size_t *frees)
{
    closed = false;
    if (frees)
        *frees = freed;
    return taken;
}

bool gate_has_failed(void)
{
    return failed;
}

static bool passes(void)
{
    if (!closed)
        return true;
    if (++taken != fails_at)
        return true;
    failed = true;
    errno = ENOMEM;
    return false;
}

static void gone(const void *ptr)
{
    freed += closed && ptr;
}

#if defined(GATE_WRAPS)
#define GATE(name) __wrap_##name
#define REAL(name) __real_##name
#define REAL_ALIGNED REAL(aligned_alloc)
#else
#define GATE(name) name
#define REAL(name) __libc_##name
#define REAL_ALIGNED __libc_memalign
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t n, size_t size);
void *REAL(realloc)(void *ptr, size_t size);
void REAL(free)(void *ptr);
void *REAL_ALIGNED(size_t alignment, size_t size);

void *GATE(malloc)(size_t size);
void *GATE(calloc)(size_t n, size_t size);
void *GATE(realloc)(void *ptr, size_t size);
void GATE(free)(void *ptr);
void *GATE(aligned_alloc)(size_t alignment, size_t size);

void *GATE(malloc)(size_t size)
{
    return passes() ? REAL(malloc)(size) : NULL;
}

void *GATE(calloc)(size_t n, size_t size)
{
    return passes() ? REAL(calloc)(n, size) : NULL;
}

void *GATE(realloc)(void *ptr, size_t size)
{
    return passes() ? REAL(realloc)(ptr, size) : NULL;
}

void GATE(free)(void *ptr)
{
    gone(ptr);
    REAL(free)(ptr);
}

void *GATE(aligned_alloc)(size_t alignment, size_t size)
{
    return passes() ? REAL_ALIGNED(alignment, size) : NULL;
}

#if !defined(GATE_WRAPS)
/* malloc has its own way to pages, which does not pass here. */
void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
    return passes() ? (void *)syscall(SYS_mmap, at, len, protection, flags, fd, offset)
                    : MAP_FAILED;
}

int munmap(void *at, size_t len)
{
    gone(at);
    return (int)syscall(SYS_munmap, at, len);
}

void *memalign(size_t alignment, size_t size);

void *memalign(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

int posix_memalign(void **ptr, size_t alignment, size_t size)
{
    *ptr = aligned_alloc(alignment, size);
    return *ptr ? 0 : ENOMEM;
}
#endif
