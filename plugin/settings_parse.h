/* SPDX-License-Identifier: MIT */
/* How the text of one setting becomes a value. */
#ifndef TERSE_SETTINGS_PARSE_H
#define TERSE_SETTINGS_PARSE_H

#include "settings.h"

enum setting_kind {
    KIND_CHOICE,  /* uint8_t: which member of `range` */
    KIND_ENGINE,  /* the same, if it is built in */
    KIND_INTEGER, /* int32_t, or LEVEL_AUTO */
    KIND_BYTES,   /* uint64_t; k, m and g are 1024 each time */
    KIND_TIME,    /* uint32_t, in ms */
    KIND_CODINGS,
    KIND_OFFER, /* uint8_t: a bit for each coding; 0: client */
    KIND_TYPES,
    KIND_TYPES_DENY
};

struct setting {
    terse_key key;
    enum setting_kind kind;
    size_t at; /* of the value in struct settings */
};

/* Entry index of the table, NULL past its end. */
const struct setting *settings_at(uint32_t index);

size_t setting_size(enum setting_kind kind);
terse_status setting_initial(const struct setting *setting, struct settings *s);
/* On failure s is as before, and why names the key, the value and what is allowed. */
terse_status setting_parse(const struct setting *setting, struct settings *s, terse_str value,
                           char *why, size_t why_len);

#endif
