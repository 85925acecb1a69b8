/* SPDX-License-Identifier: MIT */
/* What a swap tries in a process of its own: every coding of a policy, there and back. */
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "errno_keep.h"
#include "instance.h"
#include "policy.h"
#include "pool.h"
#include "sample.h"
#include "stream.h"
#include "text.h"

#define SAMPLE 6000
#define ROOM (2 * SAMPLE)

struct trial {
    terse_pool *pool;
    const terse_policy *policy;
    int coding;
    char sample[SAMPLE];
    char coded[ROOM];
    char decoded[ROOM];
};

static terse_status negotiates(const struct trial *t)
{
    const char *name = coding_name(t->coding);
    terse_str field = {name, strlen(name)};
    terse_choice choice = {.struct_size = sizeof choice};
    terse_status status = negotiate(&t->policy->negotiator, &field, 1, &choice);

    if (status < 0)
        return status;
    return choice.coding && !strcmp(choice.coding, name) ? TERSE_OK : TERSE_E_BROKEN;
}

/* Runs a whole stream from one buffer to another; *n is what came out. */
static terse_status run(const struct trial *t, int32_t direction, const char *from, size_t len,
                        char *to, size_t *n)
{
    const char *name = coding_name(t->coding);
    terse_spec spec = {sizeof spec, direction, t->policy, NULL, {name, strlen(name)}, -1};
    terse_in in = {from, len, 0};
    terse_out out = {to, ROOM, 0};
    terse_stream *stream;
    terse_status status = stream_open(t->pool, &spec, &stream);

    if (status < 0)
        return status;
    if (direction == TERSE_ENCODE)
        status = stream_run(stream, TERSE_FLUSH, &in, &out, NULL);
    if (status == TERSE_OK)
        status = stream_run(stream, TERSE_FINISH, &in, &out, NULL);
    stream_free(stream);
    *n = out.pos;
    return status == TERSE_END ? TERSE_OK : status < 0 ? status : TERSE_E_BROKEN;
}

static terse_status same(struct trial *t, size_t coded_len)
{
    size_t n = 0;
    terse_status status = run(t, TERSE_DECODE, t->coded, coded_len, t->decoded, &n);

    if (status < 0)
        return status;
    return n == SAMPLE && !memcmp(t->sample, t->decoded, n) ? TERSE_OK : TERSE_E_BROKEN;
}

static terse_status codes_whole(struct trial *t)
{
    size_t n = 0;
    terse_status status = codec_encode_whole(t->pool, &t->policy->settings, t->coding, t->sample,
                                             SAMPLE, t->coded, ROOM, &n);

    if (status != TERSE_OK)
        return status < 0 ? status : TERSE_E_BROKEN;
    return same(t, n);
}

static terse_status codes_stream(struct trial *t)
{
    size_t n = 0;
    terse_status status = run(t, TERSE_ENCODE, t->sample, SAMPLE, t->coded, &n);

    return status < 0 ? status : same(t, n);
}

static terse_status try_codings(struct trial *t, char *why, size_t why_len)
{
    const struct settings *s = &t->policy->settings;

    for (unsigned i = 0; i < s->n_codings; i++) {
        const char *step = "negotiating";
        terse_status status;

        t->coding = s->codings[i];
        if ((status = negotiates(t)) >= 0) {
            step = "coding a whole body in";
            status = codes_whole(t);
        }
        if (status >= 0) {
            step = "coding a stream in";
            status = codes_stream(t);
        }
        if (status < 0) {
            text_why(why, why_len, "%s %s failed (%d)", step, coding_name(t->coding), (int)status);
            return status;
        }
    }
    return TERSE_OK;
}

terse_status self_test(terse_instance *instance, const terse_policy *policy, char *why,
                       size_t why_len)
{
    struct trial *t;
    terse_status status;
    int saved = errno;

    if (!instance || !policy)
        return TERSE_E_ARG;
    if (!policy->sealed)
        return TERSE_E_STATE;
    t = calloc(1, sizeof *t);
    errno_keep(saved);
    if (!t)
        return TERSE_E_NOMEM;
    t->policy = policy;
    sample_fill(t->sample, SAMPLE);
    status = pool_new(instance, policy, &t->pool);
    if (status >= 0)
        status = try_codings(t, why, why_len);
    pool_free(t->pool);
    free(t);
    return status;
}
