/* SPDX-License-Identifier: MIT */
#include "reasons.h"

#include <stddef.h>

/* The name is the end of the counter's name. */
#define PREFIX "reason."
#define PREFIX_LEN (sizeof PREFIX - 1)
#define R(number, rule, name, sentence)                                                            \
    {                                                                                              \
        sizeof(terse_reason), number, &(PREFIX name)[PREFIX_LEN], sentence, rule, 0                \
    }

/* The rule is that of RULES.md. */
static const terse_reason table[] = {
    R(REASON_NONE, 0, "none", "The response has not been decided on."),
    R(REASON_CODED, 26, "coded",
      "The body leaves in the content coding that the client ranks first."),
    R(REASON_METHOD, 10, "method", "Responses to CONNECT and TRACE are not coded."),
    R(REASON_STATUS, 10, "status", "A response with this status has no content."),
    R(REASON_ENCODED, 11, "encoded", "The response has a content coding already."),
    R(REASON_PARTIAL, 12, "partial", "The response is a part of a representation."),
    R(REASON_RANGE, 13, "range", "The request asks for a range, which is cut from the identity."),
    R(REASON_NO_TRANSFORM, 15, "no-transform", "Cache-Control: no-transform forbids it."),
    R(REASON_TYPE, 16, "type", "The media type is not one that is coded."),
    R(REASON_EMPTY, 18, "empty", "The body is empty."),
    R(REASON_TOO_SMALL, 18, "too-small", "The body is shorter than min-length."),
    R(REASON_TOO_LARGE, 19, "too-large", "The body is longer than max-length."),
    R(REASON_HTTP10, 20, "http10", "The client speaks HTTP/1.0, and http10 is off."),
    R(REASON_NOT_ACCEPTED, 1, "not-accepted", "The client accepts no coding that is on offer."),
    R(REASON_IDENTITY, 7, "identity", "The client ranks identity above every coding on offer."),
    R(REASON_PROBE, 17, "probe", "The media type is unknown, and the body's bytes look packed."),
    R(REASON_NO_GAIN, 21, "no-gain", "The coded body would not have been shorter."),
    R(REASON_MEMORY, 24, "memory", "There was no memory for a codec, or none within pool.memory."),
    R(REASON_CODEC, 24, "codec", "The codec failed before its first byte had left."),
    R(REASON_HOST, 24, "host", "The server does not hand this body over."),
    R(REASON_HEAD, 34, "head", "HEAD: the headers are those of the coded response to GET."),
    R(REASON_NOT_MODIFIED, 35, "not-modified",
      "304: the headers are those of the response it stands for."),
    R(REASON_ETAG, 25, "etag", "The response has an ETag, and etag is skip."),
    R(REASON_FRAMED, 22, "framed", "The response has a Transfer-Encoding of its own."),
    R(REASON_HINT, 23, "hint", "The origin said x-compress-hint: off."),
    R(REASON_UNACCEPTABLE, 9, "unacceptable",
      "The client refuses identity and every coding on offer, and unacceptable is 406."),
    R(REASON_UNSUPPORTED, 41, "unsupported",
      "The request has a content coding that is not on offer."),
    R(REASON_BAD_BODY, 42, "bad-body", "The request's body is not what its content coding says."),
    R(REASON_BODY_LIMIT, 43, "body-limit", "The request's body decodes to more than is allowed."),
    R(REASON_BODY_MEMORY, 44, "body-memory", "There was no memory to decode the request's body."),
    R(REASON_DECODED, 46, "decoded",
      "The client does not accept the content coding that the response came in."),
    R(REASON_BAD_ORIGIN, 47, "bad-origin",
      "The response's body is not what its content coding says."),
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
