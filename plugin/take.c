/* SPDX-License-Identifier: MIT */
#include "take.h"

#include <string.h>

/* A sane bound for any struct of this ABI, as the kernel has one page. */
#define STRUCT_MAX 4096

static uint32_t size_of(const void *any)
{
    uint32_t size;

    memcpy(&size, any, sizeof size);
    return size;
}

terse_status take(void *dst, size_t mine, size_t floor, const void *src)
{
    const unsigned char *bytes = src;
    size_t theirs;

    if (!src)
        return TERSE_E_ARG;
    theirs = size_of(src);
    if (theirs < floor || theirs > STRUCT_MAX)
        return TERSE_E_ARG;
    memset(dst, 0, mine);
    memcpy(dst, src, theirs < mine ? theirs : mine);
    for (size_t i = mine; i < theirs; i++)
        if (bytes[i])
            return TERSE_E_TOOBIG;
    return TERSE_OK;
}

terse_status give(void *dst, size_t floor, const void *src, size_t mine)
{
    size_t theirs;

    if (!dst)
        return TERSE_E_ARG;
    theirs = size_of(dst);
    if (theirs < floor || theirs > STRUCT_MAX)
        return TERSE_E_ARG;
    memcpy((char *)dst + sizeof(uint32_t), (const char *)src + sizeof(uint32_t),
           (theirs < mine ? theirs : mine) - sizeof(uint32_t));
    if (theirs > mine)
        memset((char *)dst + mine, 0, theirs - mine);
    return TERSE_OK;
}
