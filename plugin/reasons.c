/* SPDX-License-Identifier: MIT */
#include "reasons.h"

#include <stddef.h>

/* The name is the end of the counter's name. */
#define PREFIX "reason."
#define PREFIX_LEN (sizeof PREFIX - 1)
#define R(number, name, sentence)                                                                  \
    {                                                                                              \
        sizeof(terse_reason), number, &(PREFIX name)[PREFIX_LEN], sentence                         \
    }

static const terse_reason table[] = {
    R(REASON_NONE, "none", "The response has not been decided on."),
    R(REASON_CODED, "coded", "The body leaves in the content coding that the client ranks first."),
    R(REASON_METHOD, "method", "Responses to CONNECT and TRACE are not coded."),
    R(REASON_STATUS, "status", "A response with this status has no content."),
    R(REASON_ENCODED, "encoded", "The response has a content coding already."),
    R(REASON_PARTIAL, "partial", "The response is a part of a representation."),
    R(REASON_RANGE, "range", "The request asks for a range, which is cut from the identity."),
    R(REASON_NO_TRANSFORM, "no-transform", "Cache-Control: no-transform forbids it."),
    R(REASON_TYPE, "type", "The media type is not one that is coded."),
    R(REASON_EMPTY, "empty", "The body is empty."),
    R(REASON_TOO_SMALL, "too-small", "The body is shorter than min-length."),
    R(REASON_TOO_LARGE, "too-large", "The body is longer than max-length."),
    R(REASON_HTTP10, "http10", "The client speaks HTTP/1.0, and http10 is off."),
    R(REASON_NOT_ACCEPTED, "not-accepted", "The client accepts no coding that is on offer."),
    R(REASON_IDENTITY, "identity", "The client ranks identity above every coding on offer."),
    R(REASON_PROBE, "probe", "The media type is unknown, and the body's bytes look packed."),
    R(REASON_NO_GAIN, "no-gain", "The coded body would not have been shorter."),
    R(REASON_MEMORY, "memory", "There was no memory for a codec, or none within pool.memory."),
    R(REASON_CODEC, "codec", "The codec failed before its first byte had left."),
    R(REASON_HOST, "host", "The server does not hand this body over."),
    R(REASON_HEAD, "head", "HEAD: the headers are those of the coded response to GET."),
    R(REASON_NOT_MODIFIED, "not-modified",
      "304: the headers are those of the response it stands for."),
    R(REASON_ETAG, "etag", "The response has an ETag, and etag is skip."),
    R(REASON_FRAMED, "framed", "The response has a Transfer-Encoding of its own."),
    R(REASON_HINT, "hint", "The origin said x-compress-hint: off."),
    R(REASON_UNACCEPTABLE, "unacceptable",
      "The client refuses identity and every coding on offer, and unacceptable is 406."),
};

#define COUNT (sizeof(table) / sizeof(table[0]))
_Static_assert(COUNT == REASON_COUNT, "each reason has a name and a sentence");

static const terse_reason *reason_at(uint32_t index)
{
    return index < COUNT ? &table[index] : NULL;
}

const terse_reasons reasons_list = {sizeof(terse_reasons), COUNT, reason_at};

const char *reason_name(uint32_t number)
{
    return number < COUNT ? table[number].name : table[0].name;
}

const char *reason_text(uint32_t number)
{
    return number < COUNT ? table[number].sentence : table[0].sentence;
}

const char *reason_counter(uint32_t number)
{
    return reason_name(number) - PREFIX_LEN;
}
