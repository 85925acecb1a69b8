/* SPDX-License-Identifier: MIT */
/* The codec libraries as they are at run time.  A host that exports codec symbols of its own would
 * capture the plugin's calls, for the global scope is searched first: then the plugin refuses. */
#include "codec.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

#include "plugin_config.h"
#include "text.h"

#if HAVE_ZLIB
#include <zlib.h>
#endif
#if HAVE_BROTLI
#include <brotli/decode.h>
#include <brotli/encode.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif
#if HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

struct entry {
    const char *library;
    const char *name;
    void (*address)(void);
};

/* What the codecs call; each alone could be captured. */
#define E(library, name)                                                                           \
    {                                                                                              \
        library, #name, (void (*)(void))(name)                                                     \
    }
static const struct entry entries[] = {
#if HAVE_ZLIB
    E("zlib", zlibVersion),
    E("zlib", deflateInit2_),
    E("zlib", deflate),
    E("zlib", deflateReset),
    E("zlib", deflateParams),
    E("zlib", deflateEnd),
    E("zlib", crc32_z),
    E("zlib", adler32_z),
    E("zlib", inflateInit2_),
    E("zlib", inflate),
    E("zlib", inflateReset),
    E("zlib", inflateReset2),
    E("zlib", inflateEnd),
#endif
#if HAVE_BROTLI
    E("brotli", BrotliEncoderVersion),
    E("brotli", BrotliEncoderCreateInstance),
    E("brotli", BrotliEncoderSetParameter),
    E("brotli", BrotliEncoderCompressStream),
    E("brotli", BrotliEncoderHasMoreOutput),
    E("brotli", BrotliEncoderIsFinished),
    E("brotli", BrotliEncoderDestroyInstance),
    E("brotli", BrotliDecoderVersion),
    E("brotli", BrotliDecoderCreateInstance),
    E("brotli", BrotliDecoderDecompressStream),
    E("brotli", BrotliDecoderHasMoreOutput),
    E("brotli", BrotliDecoderIsFinished),
    E("brotli", BrotliDecoderGetErrorCode),
    E("brotli", BrotliDecoderDestroyInstance),
#endif
#if HAVE_ZSTD
    E("zstd", ZSTD_versionString),
    E("zstd", ZSTD_versionNumber),
    E("zstd", ZSTD_isError),
    E("zstd", ZSTD_getErrorCode),
    E("zstd", ZSTD_sizeof_CCtx),
    E("zstd", ZSTD_sizeof_DCtx),
    E("zstd", ZSTD_createCCtx),
    E("zstd", ZSTD_CCtx_reset),
    E("zstd", ZSTD_CCtx_setParameter),
    E("zstd", ZSTD_compressStream2),
    E("zstd", ZSTD_compress2),
    E("zstd", ZSTD_freeCCtx),
    E("zstd", ZSTD_createDCtx),
    E("zstd", ZSTD_DCtx_reset),
    E("zstd", ZSTD_DCtx_setParameter),
    E("zstd", ZSTD_decompressStream),
    E("zstd", ZSTD_freeDCtx),
#endif
#if HAVE_LIBDEFLATE
    E("libdeflate", libdeflate_alloc_compressor),
    E("libdeflate", libdeflate_gzip_compress),
    E("libdeflate", libdeflate_zlib_compress),
    E("libdeflate", libdeflate_free_compressor),
#endif
    {NULL, NULL, NULL},
};

/* ---- where the symbols are --------------------------------------------------------------- */

/* The object that an address lies in. */
static bool object_of(const void *address, Dl_info *info)
{
    return dladdr(address, info) && info->dli_fname;
}

static bool object_of_function(void (*function)(void), Dl_info *info)
{
    void *address;

    memcpy(&address, &function, sizeof address); /* POSIX has them the same */
    return object_of(address, info);
}

static bool is_main_program(const Dl_info *info)
{
    Dl_info program;

    return object_of((const void *)(uintptr_t)getauxval(AT_PHDR), &program) &&
           program.dli_fbase == info->dli_fbase;
}

static bool is_in_place(const struct entry *entry, const char **where)
{
    Dl_info found, own;
    bool inside;

    *where = "nowhere";
    if (!object_of_function(entry->address, &found) ||
        !object_of_function((void (*)(void))libraries_check, &own))
        return false;
    *where = found.dli_fname;
    inside = found.dli_fbase == own.dli_fbase;
    if (STATIC_CODECS)
        return inside;
    return !inside && !is_main_program(&found);
}

static terse_status check_places(char *why, size_t why_len)
{
    const char *where;

    for (const struct entry *e = entries; e->library; e++)
        if (!is_in_place(e, &where)) {
            text_why(why, why_len, "%s: %s comes from %s and not from the library%s", e->library,
                     e->name, where,
                     STATIC_CODECS ? "" : "; a plugin built with static_codecs has its own");
            return TERSE_E_LIBRARY;
        }
    return TERSE_OK;
}

/* ---- versions ---------------------------------------------------------------------------- */

struct version {
    unsigned major, minor, patch;
};

static bool is_older(struct version v, struct version least)
{
    if (v.major != least.major)
        return v.major < least.major;
    return v.minor != least.minor ? v.minor < least.minor : v.patch < least.patch;
}

static terse_status check_version(const char *library, struct version v, struct version least,
                                  char *why, size_t why_len)
{
    if (!is_older(v, least))
        return TERSE_OK;
    text_why(why, why_len, "%s %u.%u.%u is too old: %u.%u.%u is the first that can be used",
             library, v.major, v.minor, v.patch, least.major, least.minor, least.patch);
    return TERSE_E_LIBRARY;
}

#if HAVE_ZLIB
/* "1.2.13", also "1.3" and "1.2.13.zlib-ng" */
static struct version running_zlib(void)
{
    unsigned part[3] = {0, 0, 0}, n = 0;

    for (const char *at = zlibVersion(); *at && n < 3; at++)
        if (*at >= '0' && *at <= '9' && part[n] < 1000)
            part[n] = part[n] * 10 + (unsigned)(*at - '0');
        else
            n++;
    return (struct version){part[0], part[1], part[2]};
}
#endif

#if HAVE_BROTLI
static struct version running_brotli(uint32_t number)
{
    return (struct version){number >> 24, number >> 12 & 0xfff, number & 0xfff};
}
#endif

#if HAVE_ZSTD
static struct version running_zstd(void)
{
    unsigned number = ZSTD_versionNumber();

    return (struct version){number / 10000, number / 100 % 100, number % 100};
}
#endif

/* zlib before 1.2.12 could write past its memory (CVE-2018-25032), brotli before 1.0.9 could read
 * past its input (CVE-2020-8927), zstd has the calls that are used here since 1.4.0. */
static terse_status check_versions(char *why, size_t why_len)
{
    terse_status status = TERSE_OK;

#if HAVE_ZLIB
    if (status == TERSE_OK)
        status = check_version("zlib", running_zlib(), (struct version){1, 2, 12}, why, why_len);
#endif
#if HAVE_BROTLI
    for (int decoder = 0; decoder < 2 && status == TERSE_OK; decoder++)
        status = check_version(
            "brotli", running_brotli(decoder ? BrotliDecoderVersion() : BrotliEncoderVersion()),
            (struct version){1, 0, 9}, why, why_len);
#endif
#if HAVE_ZSTD
    if (status == TERSE_OK)
        status = check_version("zstd", running_zstd(), (struct version){1, 4, 0}, why, why_len);
#endif
    return status;
}

terse_status libraries_check(char *why, size_t why_len)
{
    terse_status status = check_places(why, why_len);

    return status == TERSE_OK ? check_versions(why, why_len) : status;
}

static void list_add(struct library *list, uint32_t *count, const char *name, const char *version)
{
    struct library *library = &list[(*count)++];

    library->name = name;
    text_why(library->version, sizeof library->version, "%s", version);
}

uint32_t libraries_list(struct library list[LIBRARIES_MAX])
{
    uint32_t count = 0;

#if HAVE_ZLIB
    list_add(list, &count, "zlib", zlibVersion());
#endif
#if HAVE_LIBDEFLATE
    list_add(list, &count, "libdeflate", LIBDEFLATE_VERSION_STRING); /* it has no call for it */
#endif
#if HAVE_BROTLI
    struct version v = running_brotli(BrotliEncoderVersion());
    char text[sizeof list->version];

    text_why(text, sizeof text, "%u.%u.%u", v.major, v.minor, v.patch);
    list_add(list, &count, "brotli", text);
#endif
#if HAVE_ZSTD
    list_add(list, &count, "zstd", ZSTD_versionString());
#endif
    return count;
}
