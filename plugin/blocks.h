/* SPDX-License-Identifier: MIT */
/* Memory of one pool: blocks in bins by size, kept warm.  What a cold codec costs is page faults,
 * not its set-up, so blocks that come back are kept as they are, up to a bound, until they have not
 * been wanted for a while. */
#ifndef TERSE_BLOCKS_H
#define TERSE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Four bins a power of two, from 256 bytes to 16 MB; what is larger is never kept. */
#define BLOCK_BINS 65
#define BLOCK_ALIGN 64

struct block;

/* Blocks that can be given back all at once. */
struct block_list {
    struct block *first;
};

struct blocks {
    struct block *idle[BLOCK_BINS];
    uint32_t count[BLOCK_BINS]; /* of idle blocks */
    uint32_t low[BLOCK_BINS];   /* the fewest that were idle since the last trim */
    uint64_t held;              /* bytes had from the system, lent and idle */
    uint64_t idle_bytes;
    uint64_t idle_max;
    size_t largest; /* that is kept idle */
};

/* No more than idle_max bytes lie idle, and no block of more than largest. */
void blocks_init(struct blocks *b, uint64_t idle_max, size_t largest);
/* Aligned to BLOCK_ALIGN; NULL when there is no memory.  errno is left alone. */
void *blocks_take(struct blocks *b, size_t size);
void *blocks_take_into(struct blocks *b, struct block_list *list, size_t size);
/* NULL is fine, and so is a block that was given back already and is idle. */
void blocks_give(struct blocks *b, void *ptr);
void blocks_give_list(struct blocks *b, struct block_list *list);
/* Whether a block for so many bytes lies idle. */
bool blocks_idle(const struct blocks *b, size_t size);
/* What a block for so many bytes holds in all. */
uint64_t blocks_cost(uint64_t size);
/* What can be used of a block: at least what was asked for. */
size_t blocks_size(const void *ptr);
/* Gives the system back what was idle all the time since the last trim, or a part of it: then false,
 * and there is more. */
bool blocks_trim(struct blocks *b);
/* Gives back at least so many bytes that are idle, or all of them; the largest blocks first. */
void blocks_shed(struct blocks *b, uint64_t bytes);
/* Memory that a library has had for a block's user from the system itself counts as held. */
void blocks_note_more(struct blocks *b, size_t bytes);
void blocks_note_less(struct blocks *b, size_t bytes);
/* Gives all that is idle back. */
void blocks_clear(struct blocks *b);

#endif
