/* SPDX-License-Identifier: MIT */
#include "harness.h"

static int32_t header(void *ctx, int32_t side, const char *name, size_t name_len, uint32_t nth,
                      terse_str *value)
{
    const struct message *m = ctx;
    const char *at = side == TERSE_REQUEST ? m->request : side == TERSE_RESPONSE ? m->response : "";

    while (at && *at) {
        const char *end = strchr(at, '\n');
        const char *colon = strchr(at, ':');

        if (!end)
            end = at + strlen(at);
        if (colon && colon < end && (size_t)(colon - at) == name_len &&
            !memcmp(at, name, name_len) && nth-- == 0) {
            colon += colon[1] == ' ' ? 2 : 1;
            *value = (terse_str){colon, (size_t)(end - colon)};
            return 1;
        }
        at = *end ? end + 1 : end;
    }
    return 0;
}

void rig_up(struct rig *rig, const char *const *settings)
{
    static const terse_host host = {.struct_size = sizeof host};

    memset(rig, 0, sizeof *rig);
    rig->api = terse_plugin_entry(TERSE_ABI_MAJOR);
    assert_non_null(rig->api);
    assert_int_equal(rig->api->open(&host, &rig->instance, rig->why, sizeof rig->why), TERSE_OK);
    assert_int_equal(rig->api->policy_new(rig->instance, &rig->policy), TERSE_OK);
    for (; settings && *settings; settings++) {
        const char *eq = strchr(*settings, '=');

        assert_int_equal(rig->api->policy_set(rig->policy,
                                              (terse_str){*settings, (size_t)(eq - *settings)},
                                              S(eq + 1), rig->why, sizeof rig->why),
                         TERSE_OK);
    }
    assert_int_equal(rig->api->policy_seal(rig->policy, rig->why, sizeof rig->why), TERSE_OK);
    assert_int_equal(rig->api->pool_new(rig->instance, rig->policy, &rig->pool), TERSE_OK);
    rig->x = calloc(1, rig->api->exchange_size);
    rig->d.struct_size = sizeof rig->d;
}

void rig_down(struct rig *rig)
{
    rig->api->exchange_end(rig->x, TERSE_DONE, NULL);
    rig->api->pool_free(rig->pool);
    rig->api->policy_unref(rig->policy);
    rig->api->close(rig->instance);
    free(rig->x);
}

terse_facts rig_facts(const struct rig *rig, struct message *m, uint32_t status, int64_t length)
{
    return (terse_facts){.struct_size = sizeof(terse_facts),
                         .flags = length >= 0 ? TERSE_FACT_COMPLETE : 0,
                         .policy = rig->policy,
                         .pool = rig->pool,
                         .header = header,
                         .header_ctx = m,
                         .method = S("GET"),
                         .http_version = 11,
                         .status = status,
                         .length = length};
}

const terse_edit *rig_edit(const struct rig *rig, const char *name)
{
    for (uint32_t i = 0; i < rig->d.n_edits; i++) {
        const terse_edit *e = &rig->d.edits[i];

        if (e->name.len == strlen(name) && !memcmp(e->name.ptr, name, e->name.len))
            return e;
    }
    return NULL;
}

const char *rig_value(const struct rig *rig, const char *name)
{
    static char value[8192];
    const terse_edit *e = rig_edit(rig, name);

    if (!e)
        return "";
    if (e->op == TERSE_EDIT_REMOVE)
        return "-";
    snprintf(value, sizeof value, "%s%.*s", e->op == TERSE_EDIT_ADD ? "+ " : "", (int)e->value.len,
             e->value.ptr);
    return value;
}
