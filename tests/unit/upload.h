/* SPDX-License-Identifier: MIT */
/* Request bodies that are decoded call by call, several at a time, by the codings that they name. */
#ifndef TERSE_TEST_UPLOAD_H
#define TERSE_TEST_UPLOAD_H

#include "bodies.h"

#define UPLOAD_ROOM 65536

struct upload {
    struct rig *rig;
    terse_exchange *x;
    terse_stream *stream; /* NULL: not open */
    const uint8_t *coded;
    size_t len, pos;
    uint64_t given;
    char request[128];
    struct message message;
    uint64_t most_in, most_out, most_held; /* of one call; and memory in use after one */
};

void upload_new(struct upload *u, struct rig *rig);
void upload_free(struct upload *u);
/* codings: as Content-Encoding has them. */
void upload_open(struct upload *u, const char *codings, const void *coded, size_t len);
/* One call with all that is left, and room of UPLOAD_ROOM (or less); what comes out is compared
 * with plain, unless that is NULL. */
terse_status upload_run(struct upload *u, size_t room, const uint8_t *plain);
/* Until it is over. */
terse_status upload_finish(struct upload *u, const uint8_t *plain);
/* Says how it went; the status of the refusal, or 0. */
uint32_t upload_close(struct upload *u, terse_status how);
/* All of it. */
uint32_t upload(struct upload *u, const char *codings, const struct sink *coded,
                const uint8_t *plain);

/* Memory that is lent, in all. */
uint64_t memory_in_use(const struct rig *rig);
/* What has come out of the last call. */
extern uint8_t upload_room[UPLOAD_ROOM];

#endif
