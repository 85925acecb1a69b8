/* SPDX-License-Identifier: MIT */
/* What "auto" means.
 *
 *   body            gzip whole      gzip stream   zstd   br whole   br stream
 *                   (libdeflate)    (zlib)
 *   up to 8 KB      1               6             3      5          5
 *   up to 64 KB     3               4             3      4          3
 *   above, unknown  4               4             3      4          3
 *
 * In CPU time and bytes, each against zlib level 6 on real HTML, CSS, JavaScript, JSON and SVG:
 *
 *   libdeflate 1   0.74 to 0.38 of the time up to 8 KB, 0.5 to 1.6 % more bytes; above that its
 *                  bytes grow by 8 % and more, hence
 *   libdeflate 3   0.44 to 0.26, 3 to 4 % more, and
 *   libdeflate 4   0.30 to 0.27, 4 to 7 % more.  9 and up cost more than zlib and gain little.
 *   zlib 6         no dearer than the lower levels as long as a body is short;
 *   zlib 4         0.42 to 0.56 above, 5 to 10 % more.
 *   zstd 3         0.58 (300 bytes) to 0.10 (1 MB) at equal bytes, 4 % more at most; 1 saves a
 *                  little time and costs up to 8 % more bytes, 6 takes three times as long.
 *   br 5           2.5 to 1.6 up to 8 KB, but 9 to 19 % fewer bytes, which is what a client that
 *                  takes br and not zstd is sent it for; br 4 costs nearly the same there, for more
 *                  bytes, and 2 and 3 are no smaller than gzip;
 *   br 4           0.94 (16 KB) to 0.32 (1 MB), up to 8 % fewer bytes.  Above 5 nothing pays for
 *                  bodies that are coded as they are sent.
 *   br 3           for streams.  On 100 MB of this and that text, in pieces of 32 KB: 0.62 of the time
 *                  of zlib 4, for 8 % fewer bytes, and no call takes long.  4 has 6 % fewer bytes than
 *                  3 when the library knows that the body is large, and 2 % when it does not, but
 *                  takes 2.5 and 1.6 times as long; on 64 KB to 1 MB it has 3 % fewer.  And 4 does a
 *                  block of 64 KB in one call, up to 7 ms of it where text shrinks badly.
 *                  An unknown length of up to 32 KB is mostly known in time: see codec_brotli.c.
 */
#include "codec.h"

#include "settings.h"

#define SHORT_MAX (8 * 1024)
#define MIDDLE_MAX (64 * 1024)

enum row { ROW_LIBDEFLATE, ROW_ZLIB, ROW_ZSTD, ROW_BR, ROW_BR_STREAM };
enum column { SHORT, MIDDLE, LONG };

static const int8_t automatic[][3] = {
    [ROW_LIBDEFLATE] = {1, 3, 4}, [ROW_ZLIB] = {6, 4, 4},      [ROW_ZSTD] = {3, 3, 3},
    [ROW_BR] = {5, 4, 4},         [ROW_BR_STREAM] = {5, 3, 3},
};

static enum column column_of(int64_t length)
{
    if (length < 0 || length > MIDDLE_MAX)
        return LONG;
    return length > SHORT_MAX ? MIDDLE : SHORT;
}

static enum row row_of(const struct settings *s, int coding, int whole)
{
    if (coding == CODING_ZSTD)
        return ROW_ZSTD;
    if (coding == CODING_BR)
        return whole ? ROW_BR : ROW_BR_STREAM;
    return whole && codec_uses_libdeflate(s) ? ROW_LIBDEFLATE : ROW_ZLIB;
}

/* At most 2 ms where that can be had.  From quality 4 on br works in blocks of 64 KB whatever it is
 * given, and writes a meta-block when more comes: a piece that is half a block keeps the two apart. */
uint64_t codec_piece(int coding, int level)
{
    switch (coding) {
    case CODING_GZIP:
    case CODING_DEFLATE:
        return level < 4 ? 64 << 10 : level < 7 ? 32 << 10 : 16 << 10;
    case CODING_BR:
        return 32 << 10;
    default:
        return 64 << 10;
    }
}

static int level_set(const struct settings *s, int coding)
{
    return s->level[coding == CODING_DEFLATE ? CODING_GZIP : coding];
}

bool codec_level_is_automatic(const struct settings *s, int coding)
{
    return level_set(s, coding) == LEVEL_AUTO;
}

int codec_br_level(int64_t length, bool whole)
{
    return automatic[whole ? ROW_BR : ROW_BR_STREAM][column_of(length)];
}

int codec_level(const struct settings *s, int coding, int64_t length, int whole)
{
    if (!codec_level_is_automatic(s, coding))
        return level_set(s, coding);
    return automatic[row_of(s, coding, whole)][column_of(length)];
}
