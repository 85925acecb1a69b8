/* SPDX-License-Identifier: MIT */
#include "common_fields.h"

#include <string.h>

#include "negotiator.h"

#define COMMON_FIELD_TEXT(text) {text, sizeof(text) - 1},
static const terse_str fields[COMMON_FIELDS] = {COMMON_FIELD_LIST(COMMON_FIELD_TEXT)};

void common_fields_compile(terse_negotiator *n)
{
    for (uint8_t i = 0; i < COMMON_FIELDS; i++) {
        struct common_field *c = &n->common[i];

        weights_read(&c->weights, &fields[i], 1);
        c->coding = (uint8_t)negotiator_choose(n, &c->weights);
        c->weights.common = i + 1;
    }
}

bool common_fields_find(const terse_negotiator *n, terse_str line, struct weights *w)
{
    for (size_t i = 0; i < COMMON_FIELDS; i++)
        if (line.len == fields[i].len && !memcmp(line.ptr, fields[i].ptr, line.len)) {
            *w = n->common[i].weights;
            return true;
        }
    return false;
}
