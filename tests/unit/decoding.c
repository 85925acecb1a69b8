/* SPDX-License-Identifier: MIT */
#include "bodies.h"

const struct cut cuts[N_CUTS] = {{0, 0}, {1, 1}, {1, 0}, {0, 1}, {7, 3}, {13, 64}, {1000, 999}};

terse_status decode(struct rig *rig, int coding, const void *ptr, size_t len, struct cut cut,
                    struct sink *plain)
{
    terse_stream *stream = open_stream(rig, rig->policy, TERSE_DECODE, coding, -1);
    terse_status status;

    plain->len = 0;
    status = pump(stream, TERSE_FINISH, ptr, len, cut, plain);
    rig->api->stream_free(stream);
    return status;
}

/* The pool's one decoder still decodes. */
void assert_sound(struct rig *rig, int coding)
{
    static const char text[] = "a body that is right";
    struct sink coded = {0}, plain = {0};

    foreign_encode(coding, text, sizeof text, &coded);
    assert_int_equal(decode(rig, coding, coded.ptr, coded.len, cuts[0], &plain), TERSE_END);
    assert_bytes(&plain, text, sizeof text);
    sink_free(&coded);
    sink_free(&plain);
}

void assert_refused(struct rig *rig, int coding, const void *ptr, size_t len)
{
    struct sink plain = {0};

    for (size_t k = 0; k < N_CUTS; k++)
        assert_int_equal(decode(rig, coding, ptr, len, cuts[k], &plain), TERSE_E_DATA);
    assert_sound(rig, coding);
    sink_free(&plain);
}

void assert_decoded(struct rig *rig, int coding, const struct sink *coded, const void *expected,
                    size_t len)
{
    struct sink plain = {0};

    for (size_t k = 0; k < N_CUTS; k++) {
        assert_int_equal(decode(rig, coding, coded->ptr, coded->len, cuts[k], &plain), TERSE_END);
        assert_bytes(&plain, expected, len);
    }
    sink_free(&plain);
}
