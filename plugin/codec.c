/* SPDX-License-Identifier: MIT */
#include "codec.h"

#include "budget.h"
#include "coder.h"
#include "errno_keep.h"
#include "plugin_config.h"
#include "pool.h"
#include "settings.h"

bool codec_uses_libdeflate(const struct settings *s)
{
    return HAVE_LIBDEFLATE && s->gzip_engine != ENGINE_ZLIB;
}

static const struct coder_kind *encoder_kind(const struct settings *s, int coding, bool whole)
{
    switch (coding) {
#if HAVE_ZLIB
    case CODING_GZIP:
    case CODING_DEFLATE:
#if HAVE_LIBDEFLATE
        if (whole && codec_uses_libdeflate(s))
            return &coder_libdeflate_encoder;
#endif
        return &coder_zlib_encoder;
#endif
#if HAVE_BROTLI
    case CODING_BR:
        return &coder_brotli_encoder;
#endif
#if HAVE_ZSTD
    case CODING_ZSTD:
        return &coder_zstd_encoder;
#endif
    default:
        (void)s;
        (void)whole;
        return NULL;
    }
}

const struct coder_kind *codec_encoder(const struct settings *s, int coding, int64_t length,
                                       bool whole, struct coder_want *want)
{
    const struct coder_kind *kind = encoder_kind(s, coding, whole);

    if (!kind)
        return NULL;
    if (length < -1)
        length = -1;
    *want = (struct coder_want){
        .coding = coding,
        .level = codec_level(s, coding, length, whole),
        .automatic = codec_level_is_automatic(s, coding),
        .whole = whole,
        .length = length,
    };
    return kind;
}

const struct coder_kind *codec_decoder(int coding, struct coder_want *want)
{
    *want = (struct coder_want){.coding = coding};
    switch (coding) {
#if HAVE_ZLIB
    case CODING_GZIP:
    case CODING_DEFLATE:
        return &coder_zlib_decoder;
#endif
#if HAVE_BROTLI
    case CODING_BR:
        return &coder_brotli_decoder;
#endif
#if HAVE_ZSTD
    case CODING_ZSTD:
        return &coder_zstd_decoder;
#endif
    default:
        return NULL;
    }
}

static terse_status whole(struct terse_pool *pool, const struct settings *s, int coding,
                          struct coder_io *io)
{
    struct coder_want want;
    const struct coder_kind *kind = codec_encoder(s, coding, (int64_t)io->in_len, true, &want);
    struct coder *coder;
    terse_status status;
    bool reused;

    if (!kind)
        return TERSE_E_CODING;
    coder = budget_coder(pool, kind, &want, &reused);
    if (!coder)
        return TERSE_E_NOMEM;
    status = kind->whole ? kind->whole(coder, io) : kind->run(coder, TERSE_FINISH, io);
    pool_take_back(pool, coder, status >= 0);
    return status;
}

terse_status codec_encode_whole(terse_pool *pool, const struct settings *s, int coding,
                                const void *src, size_t len, void *dst, size_t cap, size_t *out_len)
{
    uint8_t none = 0;
    struct coder_io io = {src ? src : &none, len, dst ? dst : &none, cap};
    int saved = errno;
    terse_status status = whole(pool, s, coding, &io);

    errno_keep(saved);
    if (status != TERSE_END)
        return status;
    *out_len = cap - io.out_len;
    pool->wholes++;
    pool->bytes_in += len;
    pool->bytes_out += *out_len;
    return TERSE_OK;
}
