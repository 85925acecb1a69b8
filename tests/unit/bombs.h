/* SPDX-License-Identifier: MIT */
/* Bodies that are made to cost a server much: by what they decode to, or by giving nothing for ever. */
#ifndef TERSE_TEST_BOMBS_H
#define TERSE_TEST_BOMBS_H

#include "bodies.h"

struct bomb {
    const char *name;
    const char *codings; /* as Content-Encoding has them */
    void (*make)(struct sink *to);
    enum { BOMB_LARGE, BOMB_EMPTY, BOMB_ODD } kind; /* decodes to too much; to nothing; to little */
};

/* Ends with one that has no name. */
extern const struct bomb bombs[];

#endif
