/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "errno_keep.h"

/* Under AddressSanitizer an idle block is poisoned, and a lent one beyond what was asked for. */
#if defined(__SANITIZE_ADDRESS__)
#define BLOCKS_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BLOCKS_POISON 1
#endif
#endif
#if defined(BLOCKS_POISON)
#include <sanitizer/asan_interface.h>
#define POISON(ptr, size) ASAN_POISON_MEMORY_REGION(ptr, size)
#define UNPOISON(ptr, size) ASAN_UNPOISON_MEMORY_REGION(ptr, size)
#else
#define POISON(ptr, size) ((void)(ptr), (void)(size))
#define UNPOISON(ptr, size) ((void)(ptr), (void)(size))
#endif

#define LENT UINT32_C(0x4c454e54)
#define IDLE UINT32_C(0x49444c45)
#define SMALLEST_LOG2 8
#define TRIM_MAX ((uint64_t)4 << 20) /* about a millisecond's worth of pages */
#define PAGES_MIN ((size_t)32 << 10)

/* Before each block's bytes; as long as the alignment, so that they keep it. */
struct block {
    _Alignas(BLOCK_ALIGN) struct block *next; /* in its bin while idle, in its list while lent */
    struct block **link;                      /* what points to it in its list; NULL: in none */
    size_t size;                              /* of the bytes that follow */
    uint32_t bin;                             /* BLOCK_BINS: too large to be kept */
    uint32_t state;                           /* LENT or IDLE */
    bool pages;                               /* of its own */
};
_Static_assert(sizeof(struct block) == BLOCK_ALIGN, "the bytes after the head are aligned");

static unsigned log2_floor(size_t n)
{
    return 63 - (unsigned)__builtin_clzll(n);
}

/* The bin that holds size bytes, and the size that blocks in it have. */
static uint32_t bin_of(size_t size, size_t *rounded)
{
    unsigned power, quarter;

    if (size <= (size_t)1 << SMALLEST_LOG2) {
        *rounded = (size_t)1 << SMALLEST_LOG2;
        return 0;
    }
    power = log2_floor(size - 1);
    quarter = (unsigned)((size - 1) >> (power - 2)) & 3;
    *rounded = ((size_t)1 << power) + ((size_t)(quarter + 1) << (power - 2));
    return (power - SMALLEST_LOG2) * 4 + quarter + 1;
}

static struct block *head_of(const void *ptr)
{
    return (struct block *)((char *)(uintptr_t)ptr - sizeof(struct block));
}

void blocks_init(struct blocks *b, uint64_t idle_max, size_t largest)
{
    memset(b, 0, sizeof *b);
    b->idle_max = idle_max;
    b->largest = largest;
}

/* Large blocks are pages of their own, which go back to the system whole: malloc, once it has freed
 * one, takes the next from its heap, where any small piece behind it keeps its pages.  Not with a
 * sanitizer, which looks for pointers in malloc's blocks only. */
static void *from_pages(size_t bytes)
{
#if defined(BLOCKS_POISON)
    (void)bytes;
    return NULL;
#else
    void *pages = MAP_FAILED;
    if (bytes >= PAGES_MIN)
        pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
#endif
}

static struct block *from_system(struct blocks *b, size_t size, uint32_t bin)
{
    int saved = errno;
    size_t bytes = sizeof(struct block) + size;
    struct block *block = from_pages(bytes);
    bool pages = block != NULL;

    if (!pages) /* small, or the process has as many mappings as it may */
        block = aligned_alloc(BLOCK_ALIGN, bytes);
    errno_keep(saved);
    if (!block)
        return NULL;
    block->pages = pages;
    block->size = size;
    block->bin = bin;
    b->held += sizeof *block + size;
    return block;
}

static void to_system(struct blocks *b, struct block *block)
{
    int saved = errno;
    size_t bytes = sizeof *block + block->size;

    b->held -= bytes;
    UNPOISON(block + 1, block->size);
    if (block->pages)
        munmap(block, bytes);
    else
        free(block);
    errno_keep(saved);
}

static struct block *from_idle(struct blocks *b, uint32_t bin)
{
    struct block *block = b->idle[bin];

    if (!block)
        return NULL;
    b->idle[bin] = block->next;
    b->idle_bytes -= sizeof *block + block->size;
    if (--b->count[bin] < b->low[bin])
        b->low[bin] = b->count[bin];
    return block;
}

void *blocks_take(struct blocks *b, size_t size)
{
    struct block *block = NULL;
    size_t rounded = 0;
    uint32_t bin;

    if (size > SIZE_MAX / 4)
        return NULL;
    bin = bin_of(size, &rounded);
    if (bin < BLOCK_BINS) {
        block = from_idle(b, bin);
    } else {
        bin = BLOCK_BINS;
        rounded = (size + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
    }
    if (!block)
        block = from_system(b, rounded, bin);
    if (!block)
        return NULL;
    block->state = LENT;
    block->link = NULL;
    POISON(block + 1, block->size);
    UNPOISON(block + 1, size);
    return block + 1;
}

void *blocks_take_into(struct blocks *b, struct block_list *list, size_t size)
{
    void *ptr = blocks_take(b, size);
    struct block *block;

    if (!ptr)
        return NULL;
    block = head_of(ptr);
    block->next = list->first;
    block->link = &list->first;
    if (block->next)
        block->next->link = &block->next;
    list->first = block;
    return ptr;
}

static void unlink_block(struct block *block)
{
    if (!block->link)
        return;
    *block->link = block->next;
    if (block->next)
        block->next->link = block->link;
    block->link = NULL;
}

void blocks_give(struct blocks *b, void *ptr)
{
    struct block *block;
    uint64_t bytes;

    if (!ptr)
        return;
    block = head_of(ptr);
    if (block->state != LENT)
        return;
    unlink_block(block);
    bytes = sizeof *block + block->size;
    if (block->bin < BLOCK_BINS && block->size <= b->largest && b->idle_bytes + bytes > b->idle_max)
        blocks_trim(b);
    block->state = IDLE;
    if (block->bin == BLOCK_BINS || block->size > b->largest ||
        b->idle_bytes + bytes > b->idle_max) {
        to_system(b, block);
        return;
    }
    POISON(block + 1, block->size);
    block->next = b->idle[block->bin];
    b->idle[block->bin] = block;
    b->count[block->bin]++;
    b->idle_bytes += bytes;
}

void blocks_give_list(struct blocks *b, struct block_list *list)
{
    while (list->first)
        blocks_give(b, list->first + 1);
}

bool blocks_idle(const struct blocks *b, size_t size)
{
    size_t rounded;
    uint32_t bin = size > SIZE_MAX / 4 ? BLOCK_BINS : bin_of(size, &rounded);

    return bin < BLOCK_BINS && b->idle[bin];
}

uint64_t blocks_cost(uint64_t size)
{
    size_t rounded = 0;

    if (size > SIZE_MAX / 4 || bin_of((size_t)size, &rounded) >= BLOCK_BINS)
        rounded = (size_t)size;
    return sizeof(struct block) + rounded;
}

size_t blocks_size(const void *ptr)
{
    const struct block *block = head_of(ptr);

    UNPOISON(ptr, block->size);
    return block->size;
}

/* Gives idle blocks of a bin back, until so many bytes are.  How many were. */
static uint64_t shed(struct blocks *b, uint32_t bin, uint32_t n, uint64_t most)
{
    uint64_t before = b->idle_bytes, freed = 0;

    while (n-- && freed < most) {
        uint32_t low = b->low[bin];

        to_system(b, from_idle(b, bin));
        b->low[bin] = low ? low - 1 : 0;
        freed = before - b->idle_bytes;
    }
    return freed;
}

bool blocks_trim(struct blocks *b)
{
    uint64_t left = TRIM_MAX;

    for (uint32_t bin = 0; bin < BLOCK_BINS; bin++) {
        uint64_t freed = shed(b, bin, b->low[bin], left);

        if (freed >= left)
            return false;
        left -= freed;
    }
    memcpy(b->low, b->count, sizeof b->low);
    return true;
}

void blocks_shed(struct blocks *b, uint64_t bytes)
{
    for (uint32_t bin = BLOCK_BINS; bin-- && bytes;) {
        uint64_t freed = shed(b, bin, b->count[bin], bytes);

        bytes -= freed < bytes ? freed : bytes;
    }
}

void blocks_note_more(struct blocks *b, size_t bytes)
{
    b->held += bytes;
}

void blocks_note_less(struct blocks *b, size_t bytes)
{
    b->held -= bytes;
}

void blocks_clear(struct blocks *b)
{
    for (uint32_t bin = 0; bin < BLOCK_BINS; bin++)
        while (b->idle[bin])
            to_system(b, from_idle(b, bin));
}
