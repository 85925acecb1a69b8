/* SPDX-License-Identifier: MIT */
#include "upload.h"

uint8_t upload_room[UPLOAD_ROOM];

uint64_t memory_in_use(const struct rig *rig)
{
    uint64_t held = counter(rig, "memory.held"), idle = counter(rig, "memory.idle");

    return idle < held ? held - idle : 0; /* codecs say more than some have taken */
}

void upload_new(struct upload *u, struct rig *rig)
{
    memset(u, 0, sizeof *u);
    u->rig = rig;
    u->x = calloc(1, rig->api->exchange_size);
    assert_non_null(u->x);
}

void upload_free(struct upload *u)
{
    u->rig->api->exchange_end(u->x, TERSE_ABORTED, NULL);
    free(u->x);
}

static terse_facts facts_of(struct upload *u)
{
    terse_facts f = rig_facts(u->rig, &u->message, 0, -1);

    f.method = S("POST");
    return f;
}

void upload_open(struct upload *u, const char *codings, const void *coded, size_t len)
{
    struct rig *rig = u->rig;
    terse_spec spec = {.struct_size = sizeof spec,
                       .direction = TERSE_DECODE,
                       .policy = rig->policy,
                       .exchange = u->x,
                       .length = -1};
    terse_decision d = {.struct_size = sizeof d};
    terse_facts f;

    snprintf(u->request, sizeof u->request, "content-encoding: %s\n", codings);
    u->message = (struct message){u->request, ""};
    u->coded = coded;
    u->len = len;
    u->pos = 0;
    u->given = 0;
    u->most_in = u->most_out = u->most_held = 0;
    f = facts_of(u);
    assert_int_equal(rig->api->request(u->x, &f, &d), TERSE_OK);
    assert_int_equal(d.action, TERSE_UNCODE);
    assert_int_equal(rig->api->stream_open(rig->pool, &spec, &u->stream), TERSE_OK);
}

static void raise_to(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

terse_status upload_run(struct upload *u, size_t room, const uint8_t *plain)
{
    terse_in in = {u->coded + u->pos, u->len - u->pos, 0};
    terse_out out = {upload_room, room, 0};
    terse_status status = u->rig->api->stream_run(u->stream, TERSE_FINISH, &in, &out, NULL);

    if (plain && status >= 0)
        assert_int_equal(memcmp(upload_room, plain + u->given, out.pos), 0);
    u->pos += in.pos;
    u->given += out.pos;
    raise_to(&u->most_in, in.pos);
    raise_to(&u->most_out, out.pos);
    raise_to(&u->most_held, memory_in_use(u->rig));
    return status;
}

terse_status upload_finish(struct upload *u, const uint8_t *plain)
{
    terse_status status;

    do
        status = upload_run(u, UPLOAD_ROOM, plain);
    while (status == TERSE_MORE);
    return status;
}

uint32_t upload_close(struct upload *u, terse_status how)
{
    terse_decision d = {.struct_size = sizeof d};
    terse_facts f = facts_of(u);

    assert_int_equal(u->rig->api->request_body(u->x, &f, how, u->given, &d), TERSE_OK);
    u->rig->api->exchange_end(u->x, TERSE_DONE, NULL);
    u->stream = NULL;
    return d.action == TERSE_REPLY ? d.status : 0;
}

uint32_t upload(struct upload *u, const char *codings, const struct sink *coded,
                const uint8_t *plain)
{
    upload_open(u, codings, coded->ptr, coded->len);
    return upload_close(u, upload_finish(u, plain));
}
