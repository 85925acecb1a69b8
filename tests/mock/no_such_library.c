/* SPDX-License-Identifier: MIT */
/* Linked under a name that no file has. */
int no_such_library(void);
int no_such_library(void)
{
    return 0;
}
