/* SPDX-License-Identifier: MIT */
/* One encoder or decoder, and how a pool keeps those that can be used again. */
#ifndef TERSE_CODER_H
#define TERSE_CODER_H

#include <stdbool.h>

#include <terse.h>
#include "blocks.h"

/* What a body wants of its coder. */
struct coder_want {
    int coding;     /* enum coding */
    int level;      /* encoders: resolved, the library's own number */
    bool automatic; /* and it goes by the length */
    bool whole;     /* coded in one call */
    int64_t
        length; /* of the input, -1 when not known; a hint.  Decoders: 0, no window is set aside */
    int window; /* most bits of it; 0: the codec's own bound */
    uint64_t need; /* bytes to be set aside for it */
};

/* Bytes on their way: a run moves all four on.  No pointer is NULL, also with a length of 0. */
struct coder_io {
    const uint8_t *in;
    size_t in_len;
    uint8_t *out;
    size_t out_len;
};

/* What is left of an encoder whose stream is parked: enough to end its body, or to go on. */
#define PARKED_END_MAX 10
struct parked {
    uint64_t length;             /* of the input so far */
    uint32_t check;              /* over it, as the format wants it */
    uint8_t end_len;             /* 0: no byte of the body was written yet */
    uint8_t end[PARKED_END_MAX]; /* ends the body where it is */
};

struct coder;

/* What a codec's file has to offer.  Equal keys mean coders that can stand in for each other once
 * started: a key holds every parameter that is fixed at creation. */
struct coder_kind {
    bool decoder;
    bool kept; /* start makes a used one as new; else each body has its own */
    uint64_t (*key)(const struct coder_want *want);
    /* NULL: no memory */
    struct coder *(*make)(struct blocks *blocks, const struct coder_want *want);
    /* Sets it up for a new body, whatever became of the last one. */
    bool (*start)(struct coder *coder, const struct coder_want *want);
    /* As stream_run's RUN, FLUSH and FINISH; TERSE_OK, MORE, END or an error.  While MORE is the
     * answer the operation stays the same. */
    terse_status (*run)(struct coder *coder, int32_t operation, struct coder_io *io);
    /* A whole body: all of in, coded to out; TERSE_MORE when it does not fit.  NULL: run does it.
     */
    terse_status (*whole)(struct coder *coder, struct coder_io *io);
    /* Encoders whose bodies can be left and gone on with: what is to be kept when all that was
     * taken has been flushed, and no operation is half done.  NULL: never. */
    void (*park)(const struct coder *coder, struct parked *parked);
    /* After start: goes on with a body that was parked.  NULL: the parked end is written, and
     * another coded body follows it. */
    void (*resume)(struct coder *coder, const struct parked *parked);
    /* What it holds now. */
    uint64_t (*bytes)(const struct coder *coder);
    /* About the most that it is going to hold. */
    uint64_t (*need)(const struct coder_want *want);
    /* Takes less memory for more bytes: the next lower level or window.  False: there is none.
     * want may have changed all the same.  NULL: there never is. */
    bool (*cheaper)(struct coder_want *want);
    void (*drop)(struct blocks *blocks, struct coder *coder);
};

/* The first member of each codec's own struct. */
struct coder {
    const struct coder_kind *kind;
    struct coder *next; /* while idle */
    uint64_t key;
    uint64_t bytes;   /* as last counted */
    uint64_t need;    /* while lent: what is set aside for it, what it holds included */
    uint64_t settled; /* said by run: all that it is going to need after all; 0: nothing */
    uint64_t most;    /* while lent, of a decoder: bytes that it may hold */
    uint64_t longest; /* while lent: a body that gives more is refused */
    uint32_t period;  /* when it was last used */
    bool own_memory;  /* what it uses is not in the pool's blocks; said by make */
};

/* The idle coders of one pool, last used first. */
struct shelf {
    struct coder *first;
    uint32_t count;
    uint32_t period;   /* counts sweeps */
    uint64_t bytes;    /* of the idle ones */
    uint64_t own;      /* of all of them, idle or not, outside the blocks */
    uint64_t owed;     /* set aside for those that are lent, and not yet taken by them */
    uint64_t idle_max; /* bytes */
};

/* A coder that is set up for that body; *reused: it had been idle.  NULL: no memory. */
struct coder *coder_take(struct shelf *shelf, struct blocks *blocks, const struct coder_kind *kind,
                         const struct coder_want *want, bool *reused);
/* clean: it did not fail; it may be in the middle of a body. */
void coder_give(struct shelf *shelf, struct blocks *blocks, struct coder *coder, bool clean);
/* Counts its memory anew. */
void coder_count(struct shelf *shelf, struct coder *coder);
/* Whether one that fits lies idle. */
bool coder_idle(const struct shelf *shelf, const struct coder_kind *kind,
                const struct coder_want *want);
/* Drops the one that has been idle longest.  False: there is none. */
bool shelf_drop_last(struct shelf *shelf, struct blocks *blocks);
/* Drops the coders that have not been used since the last sweep. */
void shelf_sweep(struct shelf *shelf, struct blocks *blocks);
void shelf_clear(struct shelf *shelf, struct blocks *blocks);

extern const struct coder_kind coder_zlib_encoder, coder_zlib_decoder;
extern const struct coder_kind coder_libdeflate_encoder;
extern const struct coder_kind coder_brotli_encoder, coder_brotli_decoder;
extern const struct coder_kind coder_zstd_encoder, coder_zstd_decoder;

/* The smallest log2 in [low, high] with room for need bytes. */
static inline int coder_fit(int64_t need, int low, int high)
{
    int log2 = low;

    while (log2 < high && (int64_t)1 << log2 < need)
        log2++;
    return log2;
}

/* What a decoder sets aside for its window, which the body's first bytes declare: that of long bodies as
 * they mostly are.  A short one needs no more than it decodes to. */
static inline uint64_t coder_window_aside(const struct coder_want *want, int log2)
{
    int64_t usual = (int64_t)1 << log2;

    return (uint64_t)(want->length < 0 || want->length > usual / 16 ? usual : want->length * 16);
}

#endif
