/* SPDX-License-Identifier: MIT */
/* The smallest plugin that answers every call as the ABI says: it knows no coding and no setting.
 */
#ifndef TERSE_TINY_H
#define TERSE_TINY_H

#include <terse.h>

extern const terse_api tiny_api;

/* Instances that are open right now, for tests to look at: a real plugin has no such state. */
extern int tiny_open;

#endif
