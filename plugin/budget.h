/* SPDX-License-Identifier: MIT */
/* pool.memory: what one worker's pool may hold, and who gets how much of it.
 *
 * A coder is let in only when about the most that it is going to need fits; from then on that much
 * is set aside for it, so a stream that has begun is never refused anything.  One that needs more
 * than was foreseen takes it, beyond the limit if need be. */
#ifndef TERSE_BUDGET_H
#define TERSE_BUDGET_H

#include <terse.h>
#include "coder.h"

/* The most that lies idle in coders, and in blocks again, when so much may be held in all. */
uint64_t budget_idle_max(uint64_t limit);
/* Makes room for so many bytes more: what lies idle goes.  False: there is none. */
bool budget_room(terse_pool *pool, uint64_t bytes);
/* A coder for that body, with cheaper settings than wanted where memory is short.  NULL: no memory.
 */
struct coder *budget_coder(terse_pool *pool, const struct coder_kind *kind, struct coder_want *want,
                           bool *reused);

#endif
