/* SPDX-License-Identifier: MIT */
/* What the codec tests share: bodies, streams that are fed in pieces, and decoders that are not the
 * plugin's. */
#ifndef TERSE_TEST_BODIES_H
#define TERSE_TEST_BODIES_H

#include <stdbool.h>

#include "harness.h"

#include "coding.h"
#include "plugin_config.h"

enum body { TEXT, NOISE, ZEROS };

/* The same bytes each time; TEXT is words from a small vocabulary, a third of its length coded. */
void body_fill(enum body kind, uint8_t *to, size_t len);
uint8_t *body_new(enum body kind, size_t len);

/* Bytes that grow. */
struct sink {
    uint8_t *ptr;
    size_t len;
    size_t cap;
};
void sink_add(struct sink *sink, const void *ptr, size_t len);
void sink_free(struct sink *sink);
void assert_bytes(const struct sink *sink, const void *expected, size_t len);

/* The codings of this build; ends with CODING_NONE. */
const int *codings(void);
terse_str coding_str(int coding);

/* A sealed policy of the defaults and one setting more: "gzip.level", "9". */
terse_policy *policy_with(struct rig *rig, const char *key, const char *value);
/* The range of a coding's level, and the policy of one level. */
void level_range(int coding, int *low, int *high);
/* Takes long for what it does, or clears 100 MB of tables first. */
bool level_is_heavy(int coding, int level);
terse_policy *policy_of_level(struct rig *rig, int coding, int level);

terse_stream *open_stream(struct rig *rig, const terse_policy *policy, int32_t direction,
                          int coding, int64_t length);
/* How a body is cut: into inputs and output buffers of so many bytes; 0: all there is. */
struct cut {
    size_t in;
    size_t out;
};
/* Runs bytes through a stream, all but the last piece by RUN, the last by operation, each until
 * it is no longer MORE.  The last status; < 0 as soon as it comes. */
terse_status pump(terse_stream *stream, int32_t operation, const void *ptr, size_t len,
                  struct cut cut, struct sink *sink);
/* Codes a body as one stream into sink. */
void code_stream(struct rig *rig, const terse_policy *policy, int coding, int64_t length,
                 const void *ptr, size_t len, struct cut cut, struct sink *sink);
uint64_t counter(const struct rig *rig, const char *name);

/* A decoder of the codec's own library, fed bit by bit. */
struct foreign;
struct foreign *foreign_new(int coding);
/* Several zstd frames make one body. */
void foreign_expect_frames(struct foreign *f);
/* Decodes what can be decoded.  False when the bytes are not in the coding. */
bool foreign_feed(struct foreign *f, const void *ptr, size_t len, struct sink *sink);
/* Whether the coded body has ended, and nothing came after it. */
bool foreign_complete(const struct foreign *f);
void foreign_free(struct foreign *f);
/* The whole of it at once: complete, and equal to what is expected. */
void assert_decodes(int coding, const struct sink *coded, const void *expected, size_t len);

/* A whole body coded by the codec's own library, with its defaults. */
void foreign_encode(int coding, const void *ptr, size_t len, struct sink *sink);

/* Decodes a body, cut so, as one stream. */
terse_status decode(struct rig *rig, int coding, const void *ptr, size_t len, struct cut cut,
                    struct sink *plain);
/* The ways in which bodies are cut; the first is not at all. */
#define N_CUTS 7
extern const struct cut cuts[N_CUTS];
/* In every cut it is TERSE_E_DATA, and the pool's decoder is sound afterwards. */
void assert_refused(struct rig *rig, int coding, const void *ptr, size_t len);
/* In every cut it decodes to what is expected. */
void assert_decoded(struct rig *rig, int coding, const struct sink *coded, const void *expected,
                    size_t len);
void assert_sound(struct rig *rig, int coding);

#endif
