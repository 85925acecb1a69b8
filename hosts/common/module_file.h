/* SPDX-License-Identifier: MIT */
#ifndef TERSE_MODULE_FILE_H
#define TERSE_MODULE_FILE_H

#include <stddef.h>

/* Whether path is an ELF shared object with all its bytes there: the dynamic linker maps what the
 * program headers promise, and dies of SIGBUS on a half-copied file.  0, or -1 with words. */
int terse_module_file_check(const char *path, char *why, size_t why_len);

#endif
