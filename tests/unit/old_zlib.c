/* SPDX-License-Identifier: MIT */
/* A zlib that says it is older than the plugin allows; the rest of it is the system's. */
const char *zlibVersion(void);

const char *zlibVersion(void)
{
    return "1.2.11";
}
