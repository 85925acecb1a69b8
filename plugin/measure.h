/* SPDX-License-Identifier: MIT */
/* What one stream of a coding holds, for operators who size pools: measured, not guessed. */
#ifndef TERSE_MEASURE_H
#define TERSE_MEASURE_H

#include <terse.h>

/* Bytes of an encoder of unknown length under that policy, once it is well into a body. */
terse_status measure_stream(terse_instance *instance, const terse_policy *policy, int coding,
                            size_t *bytes);

#endif
