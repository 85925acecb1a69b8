/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <stddef.h>
#include <string.h>

#include "settings_parse.h"
#include "text.h"

#define AT(field) offsetof(struct settings, field)

/* The one table.  `range` and `initial` are not only shown: the parser reads them. */
static const struct setting table[] = {
    {{sizeof(terse_key), 0, "codings", "list", "zstd, br, gzip, deflate", "zstd, br, gzip",
      "Content codings that may be used, in the server's order."},
     KIND_CODINGS,
     AT(codings)},
    {{sizeof(terse_key), 0, "prefer", "choice", "client, server", "client",
      "client: the highest weight of Accept-Encoding wins, ties go to the order of codings; "
      "server: the first of codings that the client accepts."},
     KIND_CHOICE,
     AT(prefer)},
    {{sizeof(terse_key), 0, "min-length", "bytes", "0 to 1g", "300",
      "Bodies known to be shorter leave as identity; an empty body always does."},
     KIND_BYTES,
     AT(min_length)},
    {{sizeof(terse_key), 0, "max-length", "bytes", "0 to 1024g", "0",
      "Bodies known to be longer leave as identity; 0: no limit."},
     KIND_BYTES,
     AT(max_length)},
    {{sizeof(terse_key), 0, "types", "types",
      "media types, type/*, *+suffix, */*; a leading + adds to the built-in list", "built-in",
      "Media types that are coded; a type on neither list is judged by its bytes, unless this list "
      "has "
      "been written whole."},
     KIND_TYPES,
     AT(types)},
    {{sizeof(terse_key), 0, "types-deny", "types",
      "media types, type/*, *+suffix, */*; a leading + adds to the built-in list", "built-in",
      "Media types that are never coded; this list wins over types."},
     KIND_TYPES_DENY,
     AT(types_deny)},
    {{sizeof(terse_key), 0, "gzip.level", "integer", "1 to 9, or auto", "auto",
      "Level of gzip and deflate; auto picks by the body's length."},
     KIND_INTEGER,
     AT(level[CODING_GZIP])},
    {{sizeof(terse_key), 0, "gzip.engine", "choice", "auto, zlib, libdeflate", "auto",
      "Library for gzip bodies that are coded whole; auto takes the fastest that is built in."},
     KIND_ENGINE,
     AT(gzip_engine)},
    {{sizeof(terse_key), 0, "br.quality", "integer", "0 to 11, or auto", "auto",
      "Quality of br; auto picks by the body's length. With 4 or more, coding a piece of a long "
      "body "
      "may take 3 ms and more at a time."},
     KIND_INTEGER,
     AT(level[CODING_BR])},
    {{sizeof(terse_key), 0, "zstd.level", "integer", "-7 to 19, or auto", "auto",
      "Level of zstd; auto picks by the body's length. The window is never above 8 MB. With 5 or "
      "more, "
      "coding a piece of a long body may take 2 ms and more at a time."},
     KIND_INTEGER,
     AT(level[CODING_ZSTD])},
    {{sizeof(terse_key), 0, "etag", "choice", "weaken, suffix, drop, keep, skip", "weaken",
      "ETag of a coded response: made weak, given the coding's name, removed, or left as it is; "
      "skip: a response that has one is not coded."},
     KIND_CHOICE,
     AT(etag)},
    {{sizeof(terse_key), 0, "accept-ranges", "choice", "remove, none, keep", "remove",
      "Accept-Ranges of a coded response."},
     KIND_CHOICE,
     AT(accept_ranges)},
    {{sizeof(terse_key), 0, "no-transform", "choice", "response, both, ignore", "response",
      "Whose Cache-Control: no-transform keeps a response as it is."},
     KIND_CHOICE,
     AT(no_transform)},
    {{sizeof(terse_key), 0, "unacceptable", "choice", "identity, 406", "identity",
      "What a client gets that refuses identity and every coding on offer; 406 comes before the "
      "request is handled."},
     KIND_CHOICE,
     AT(unacceptable)},
    {{sizeof(terse_key), 0, "http10", "choice", "off, on", "off",
      "Whether responses to HTTP/1.0 clients are coded."},
     KIND_CHOICE,
     AT(http10)},
    {{sizeof(terse_key), 0, "flush", "choice", "auto, each, none", "auto",
      "auto: a stream is flushed when its source pauses or asks for it; each: after each piece "
      "that "
      "the source gives; none: not before its end."},
     KIND_CHOICE,
     AT(flush)},
    {{sizeof(terse_key), 0, "flush.delay", "time", "1ms to 60s", "20ms",
      "A source that says nothing for so long has paused; headers wait no longer for a body."},
     KIND_TIME,
     AT(flush_delay)},
    {{sizeof(terse_key), 0, "stream.park", "time", "0 to 1h", "5s",
      "A gzip or deflate stream whose source pauses for so long gives its codec back until the "
      "source goes on; zstd only with zstd.frames = several; 0: never."},
     KIND_TIME,
     AT(stream_park)},
    {{sizeof(terse_key), 0, "zstd.frames", "choice", "one, several", "one",
      "several: a zstd stream may be parked, and goes on in another frame; browsers and curl take "
      "that, but some clients read the first frame only."},
     KIND_CHOICE,
     AT(zstd_frames)},
    {{sizeof(terse_key), 0, "slice", "bytes", "16k to 1g", "256k",
      "Longer bodies are coded piece by piece, so that one body never holds up the others."},
     KIND_BYTES,
     AT(slice)},
    {{sizeof(terse_key), 0, "pool.memory", "bytes", "4m to 64g", "64m",
      "Most memory that the codecs and buffers of one worker hold; past it bodies get cheaper "
      "settings, then identity. There is always a limit; in an inner scope it changes nothing."},
     KIND_BYTES,
     AT(pool_memory)},
    {{sizeof(terse_key), 0, "decode.requests", "choice", "off, on", "off",
      "Whether request bodies that have a content coding are decoded before they are handled."},
     KIND_CHOICE,
     AT(decode_requests)},
    {{sizeof(terse_key), 0, "decode.responses", "choice", "off, on", "off",
      "Whether a response that comes in a content coding which the client does not accept is "
      "decoded, "
      "and coded anew in one that it accepts."},
     KIND_CHOICE,
     AT(decode_responses)},
    {{sizeof(terse_key), 0, "decode.offer", "list", "client, identity, gzip, br, zstd, deflate",
      "client",
      "Accept-Encoding for the origin: the client's own, or these; codings only where "
      "decode.responses is on."},
     KIND_OFFER,
     AT(decode_offer)},
    {{sizeof(terse_key), 0, "decode.max-length", "bytes", "1 to 1024g", "32m",
      "Longest decoded body; a longer one is refused with 413. The server's own limit holds as "
      "well."},
     KIND_BYTES,
     AT(decode_length)},
    {{sizeof(terse_key), 0, "decode.max-ratio", "integer", "2 to 100000", "200",
      "Most decoded bytes for each byte that came, past the first megabyte; 413 above it."},
     KIND_INTEGER,
     AT(decode_ratio)},
    {{sizeof(terse_key), 0, "decode.max-codings", "integer", "1 to 8", "3",
      "Most content codings of one body; above it a request gets 415, and a response stays as it "
      "is."},
     KIND_INTEGER,
     AT(decode_codings)},
    {{sizeof(terse_key), 0, "decode.memory", "bytes", "1m to 64g", "64m",
      "Most memory that decoders and the decoded bodies of one worker's open requests hold; past "
      "it a "
      "request is refused with 503."},
     KIND_BYTES,
     AT(decode_memory)},
};

#define COUNT (sizeof(table) / sizeof(table[0]))
_Static_assert(COUNT <= 64, "terse_policy.set has one bit for each");

uint32_t settings_count(void)
{
    return COUNT;
}

const struct setting *settings_at(uint32_t index)
{
    return index < COUNT ? &table[index] : NULL;
}

uint32_t settings_find(const char *key, size_t len)
{
    for (uint32_t i = 0; i < COUNT; i++)
        if (strlen(table[i].key.key) == len && !memcmp(table[i].key.key, key, len))
            return i;
    return UINT32_MAX;
}

void settings_unknown(terse_str key, char *why, size_t why_len)
{
    uint32_t nearest = 0;
    unsigned least = UINT32_MAX;
    int shown = (int)(key.len < 60 ? key.len : 60);

    for (uint32_t i = 0; i < COUNT; i++) {
        unsigned d = text_distance(key.ptr, key.len, table[i].key.key, strlen(table[i].key.key));

        if (d < least) {
            least = d;
            nearest = i;
        }
    }
    text_why(why, why_len, "%.*s: no such setting; the nearest is %s", shown, key.ptr,
             table[nearest].key.key);
}

static const terse_key *key_at(uint32_t index)
{
    return index < COUNT ? &table[index].key : NULL;
}

const terse_keys settings_keys = {sizeof(terse_keys), COUNT, key_at};

/* ---- a set of values -------------------------------------------------------------------------- */

terse_status settings_init(struct settings *s)
{
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < COUNT; i++) {
        terse_status status = setting_initial(&table[i], s);

        if (status < 0) {
            settings_clear(s);
            return status;
        }
    }
    return TERSE_OK;
}

void settings_clear(struct settings *s)
{
    media_types_unref(s->types);
    media_types_unref(s->types_deny);
    s->types = s->types_deny = NULL;
}

void settings_copy(struct settings *to, const struct settings *from)
{
    *to = *from;
    media_types_ref(to->types);
    media_types_ref(to->types_deny);
}

static void copy_list(const struct media_types **to, const struct media_types *from)
{
    media_types_ref(from);
    media_types_unref(*to);
    *to = from;
}

void settings_copy_key(struct settings *to, const struct settings *from, uint32_t index)
{
    switch (table[index].kind) {
    case KIND_TYPES:
        copy_list(&to->types, from->types);
        break;
    case KIND_TYPES_DENY:
        copy_list(&to->types_deny, from->types_deny);
        break;
    case KIND_CODINGS:
        memcpy(to->codings, from->codings, sizeof to->codings);
        to->n_codings = from->n_codings;
        break;
    default:
        memcpy((char *)to + table[index].at, (const char *)from + table[index].at,
               setting_size(table[index].kind));
        break;
    }
}
