/* SPDX-License-Identifier: MIT */
/* Entity tags (RFC 9110 section 8.8.3), and the form of them that names a coding. */
#ifndef TERSE_ENTITY_TAG_H
#define TERSE_ENTITY_TAG_H

#include <stdbool.h>
#include <stdint.h>

#include <terse.h>

struct edits;

struct entity_tag {
    terse_str opaque; /* with its quotes; empty: no tag */
    bool weak;
};

/* One tag and nothing else. */
bool entity_tag_parse(terse_str text, struct entity_tag *tag);
/* The next tag of a list; a comma inside a tag does not count, and there is no escape.  False at the
 * list's end, or where it is malformed: what follows is not to be relied on. */
bool entity_tag_next(terse_str *rest, struct entity_tag *tag);
/* Same opaque part: the weak comparison (section 8.8.3.2). */
bool entity_tag_same(const struct entity_tag *a, const struct entity_tag *b);

/* "v1" in gzip is "v1-gzip.5e0c": the four digits are a check over the rest and over salt, so that a
 * tag of the origin's that ends in a coding's name is not taken for one of ours, and so that other
 * levels and libraries, which make other bytes, make another tag.  False: no room for it. */
bool entity_tag_suffix(struct edits *e, const struct entity_tag *plain, int coding, uint32_t salt,
                       struct entity_tag *coded);
/* The coding that a tag of ours names, and the tag that it was made of, which is without the closing
 * quote then; CODING_NONE when it is not ours. */
int entity_tag_coding(const struct entity_tag *tag, uint32_t salt, terse_str *plain_but_quote);

/* FNV-1a, 32 bits. */
#define ENTITY_TAG_SEED UINT32_C(2166136261)
uint32_t entity_tag_hash(uint32_t hash, const void *bytes, size_t len);

#endif
