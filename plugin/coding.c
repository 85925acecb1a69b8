/* SPDX-License-Identifier: MIT */
#include "coding.h"
#include "plugin_config.h"
#include "text.h"

#include <string.h>

static const char *const names[CODING_COUNT + 1] = {
    [CODING_GZIP] = "gzip",         [CODING_BR] = "br",
    [CODING_ZSTD] = "zstd",         [CODING_DEFLATE] = "deflate",
    [CODING_IDENTITY] = "identity",
};

const char *coding_name(int coding)
{
    return names[coding];
}

int coding_from_name(const char *name, size_t len)
{
    terse_str text = {name, len};

    for (int c = 0; c <= CODING_IDENTITY; c++)
        if (text_equal(text, names[c], strlen(names[c])))
            return c;
    if (text_equal(text, "x-gzip", 6)) /* RFC 9110 section 8.4.1.3 */
        return CODING_GZIP;
    return CODING_NONE;
}

bool coding_built(int coding)
{
    switch (coding) {
    case CODING_GZIP:
    case CODING_DEFLATE:
        return HAVE_ZLIB;
    case CODING_BR:
        return HAVE_BROTLI;
    case CODING_ZSTD:
        return HAVE_ZSTD;
    default:
        return coding == CODING_IDENTITY;
    }
}
