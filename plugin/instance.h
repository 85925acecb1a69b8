/* SPDX-License-Identifier: MIT */
/* One load of the plugin by one host. */
#ifndef TERSE_INSTANCE_H
#define TERSE_INSTANCE_H

#include <terse.h>
#include "codec.h"

struct terse_instance {
    terse_host host;
    uint32_t n_libraries;
    struct library libraries[LIBRARIES_MAX];
    char stream_bytes[CODING_COUNT][24]; /* what one encoder holds, as text */
};

/* The slots of the table. */
terse_status instance_open(const terse_host *host, terse_instance **out, char *why, size_t why_len);
void instance_close(terse_instance *instance);
terse_status instance_info(const terse_instance *instance, uint32_t index, terse_str *name,
                           terse_str *value);
terse_status self_test(terse_instance *instance, const terse_policy *policy, char *why,
                       size_t why_len);

#endif
