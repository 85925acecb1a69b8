/* SPDX-License-Identifier: MIT */
/* For an h2o that runs without Terse while its configuration speaks of it. */
#ifndef TERSE_PASSOVER_H
#define TERSE_PASSOVER_H

#include <stdbool.h>

/* From now on the program, which must be h2o, does not see the settings of Terse in what it reads
 * by libyaml.  False: it does not reach libyaml in a way that is known here, and sees them. */
bool passover_install(void);

#endif
