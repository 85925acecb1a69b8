/* SPDX-License-Identifier: MIT */
/* What the rest of the plugin asks of the codecs: one file each behind this. */
#ifndef TERSE_CODEC_H
#define TERSE_CODEC_H

#include <terse.h>
#include "coding.h"

struct settings;
struct coder_kind;
struct coder_want;

/* Codes src whole into dst.  TERSE_OK and *out_len; TERSE_MORE when it needs more than cap bytes;
 * < 0 when the codec failed.  The pool's codecs stay clean whatever the outcome. */
terse_status codec_encode_whole(terse_pool *pool, const struct settings *s, int coding,
                                const void *src, size_t len, void *dst, size_t cap,
                                size_t *out_len);

/* The coder of a stream, or of a whole body; NULL when this build has none.  Fills want. */
const struct coder_kind *codec_encoder(const struct settings *s, int coding, int64_t length,
                                       bool whole, struct coder_want *want);
const struct coder_kind *codec_decoder(int coding, struct coder_want *want);

/* The level for a body of that length (-1: not known) as the settings have it; "auto" resolved. */
int codec_level(const struct settings *s, int coding, int64_t length, int whole);
bool codec_level_is_automatic(const struct settings *s, int coding);
/* The automatic one of br. */
int codec_br_level(int64_t length, bool whole);
/* Input of one turn of the server's loop. */
uint64_t codec_piece(int coding, int level);
/* Whether whole gzip and deflate bodies go to libdeflate. */
bool codec_uses_libdeflate(const struct settings *s);

#define LIBRARIES_MAX 4
struct library {
    const char *name;
    char version[24];
};

/* Checks that each codec's symbols come from their own library and that it is new enough. */
terse_status libraries_check(char *why, size_t why_len);
/* The codec libraries in use, with the versions that are running; how many there are. */
uint32_t libraries_list(struct library list[LIBRARIES_MAX]);

#endif
