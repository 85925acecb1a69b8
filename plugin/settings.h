/* SPDX-License-Identifier: MIT */
/* What an operator can set.  One table in settings.c says key, type, range, default and help. */
#ifndef TERSE_SETTINGS_H
#define TERSE_SETTINGS_H

#include <stdint.h>

#include <terse.h>
#include "coding.h"
#include "media_types.h"

#define LEVEL_AUTO INT32_MIN

/* In the order of the table's ranges. */
enum prefer { PREFER_CLIENT, PREFER_SERVER };
enum etag_mode { ETAG_WEAKEN, ETAG_SUFFIX, ETAG_DROP, ETAG_KEEP, ETAG_SKIP };
enum ranges_mode { RANGES_REMOVE, RANGES_NONE, RANGES_KEEP };
enum no_transform { NO_TRANSFORM_RESPONSE, NO_TRANSFORM_BOTH, NO_TRANSFORM_IGNORE };
enum unacceptable { UNACCEPTABLE_IDENTITY, UNACCEPTABLE_406 };
enum decode { DECODE_OFF, DECODE_ON };
enum zstd_frames { FRAMES_ONE, FRAMES_SEVERAL };
enum flush_mode { FLUSH_AUTO, FLUSH_EACH, FLUSH_NONE };
enum gzip_engine { ENGINE_AUTO, ENGINE_ZLIB, ENGINE_LIBDEFLATE };

struct settings {
    uint8_t codings[CODING_COUNT]; /* enum coding, in the server's order; only built ones */
    uint8_t n_codings;
    uint8_t prefer;              /* enum prefer */
    uint8_t etag;                /* enum etag_mode */
    uint8_t accept_ranges;       /* enum ranges_mode */
    uint8_t no_transform;        /* enum no_transform */
    uint8_t unacceptable;        /* enum unacceptable */
    uint8_t gzip_engine;         /* enum gzip_engine */
    uint8_t http10;              /* 1: code for HTTP/1.0 clients too */
    uint8_t flush;               /* enum flush_mode */
    uint8_t zstd_frames;         /* enum zstd_frames */
    int32_t level[CODING_COUNT]; /* LEVEL_AUTO, or that library's own number; deflate has gzip's */
    uint64_t min_length;         /* bytes */
    uint64_t max_length;         /* bytes; 0: none */
    uint64_t slice;              /* bytes; longer bodies are coded piece by piece */
    uint32_t flush_delay;        /* ms */
    uint32_t stream_park;        /* ms; 0: never */
    uint64_t pool_memory;        /* bytes that a pool may hold */
    uint8_t decode_requests;     /* enum decode */
    uint8_t decode_responses;    /* enum decode */
    uint8_t decode_offer;        /* bit n: enum coding n, identity too; 0: what the client said */
    int32_t decode_codings;      /* most of one body */
    int32_t decode_ratio;        /* most bytes for one that came */
    uint64_t decode_length;      /* bytes of one decoded body */
    uint64_t decode_memory;      /* bytes that one worker's decoders and decoded bodies hold */
    const struct media_types *types;      /* counted */
    const struct media_types *types_deny; /* counted */
};

/* The setting's index; UINT32_MAX when there is none of that name. */
uint32_t settings_find(const char *key, size_t len);
uint32_t settings_count(void);
/* Words for an unknown key, with the nearest known one. */
void settings_unknown(terse_str key, char *why, size_t why_len);
/* query("terse.keys/1") */
extern const terse_keys settings_keys;

terse_status settings_init(struct settings *s);
void settings_clear(struct settings *s);
void settings_copy(struct settings *to, const struct settings *from);
/* Copies one setting's value from one set to another. */
void settings_copy_key(struct settings *to, const struct settings *from, uint32_t index);

#endif
