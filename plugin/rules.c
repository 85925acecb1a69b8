/* SPDX-License-Identifier: MIT */
#include "rules.h"

#define R(number, title, fields)                                                                   \
    {                                                                                              \
        sizeof(terse_rule), number, title, fields                                                  \
    }

static const terse_rule table[] = {
    R(1, "A coding is used only where the client accepts it", ""),
    R(2, "A weight of 0 refuses, and so does a malformed one", ""),
    R(3, "* stands for every coding that is not named", ""),
    R(4, "Names are whole tokens, in any case", ""),
    R(5, "All lines of the field are one list", ""),
    R(6, "The highest weight wins, and ties go to the server's order", ""),
    R(7, "Identity is a candidate like the others", ""),
    R(8, "No field, or an empty one, means identity", ""),
    R(9, "Who refuses everything gets identity, or 406", ""),
    R(10, "What has no content is not coded", ""),
    R(11, "What is coded already passes untouched", ""),
    R(12, "A part is never coded", ""),
    R(13, "A range is cut from the identity", ""),
    R(14, "If-Range holds for a strong tag of the identity only", "range if-range"),
    R(15, "no-transform is obeyed", ""),
    R(16, "Media types that are denied, or left out on purpose, are not coded", ""),
    R(17, "A type on no list is judged by its bytes", ""),
    R(18, "A short body is not coded, an empty one never", ""),
    R(19, "Nor is one that is longer than max-length", ""),
    R(20, "HTTP/1.0 clients get identity", ""),
    R(21, "A whole body that does not shrink leaves as it was", ""),
    R(22, "A Transfer-Encoding of the origin's own keeps the body as it is", ""),
    R(23, "The origin has its say", "x-compress-hint"),
    R(24, "On doubt the response leaves as identity", ""),
    R(25, "With etag = skip a response that has a tag is not coded", ""),
    R(26, "Content-Encoding, length and bytes are of one piece", "content-encoding"),
    R(27, "Vary is there whenever another request could have got another coding", "vary"),
    R(28, "Vary is merged, and never says a thing twice", ""),
    R(29, "A coded representation has a validator of its own", "etag"),
    R(30, "A malformed tag, or several, stand for nothing", ""),
    R(31, "The tag of an answer to another method names the resource", ""),
    R(32, "A coded response offers no ranges", "accept-ranges"),
    R(33, "Digests never survive a body that they do not describe",
      "content-digest repr-digest digest content-md5"),
    R(34, "HEAD says what GET would", ""),
    R(35, "A 304 carries the Vary and the tag of the 200 that it stands for", ""),
    R(36, "A tag that was given is known again", "if-none-match"),
    R(37, "If-Match is strong, and a tag names a version to other methods", "if-match"),
    R(38, "What comes in parts leaves in parts", ""),
    R(39, "A body that broke off never ends as if it were whole", ""),
    R(40, "What is not a response's content is untouched", ""),
    R(41, "A request's codings are taken off before its handler runs", ""),
    R(42, "A body that is not what its coding says is refused", ""),
    R(43, "A body that decodes to too much is refused", ""),
    R(44, "Decoding has a budget of its own", "retry-after"),
    R(45, "A part of a request's body is not decoded", ""),
    R(46, "What the client does not accept is decoded", ""),
    R(47, "A coded body of an origin that is not whole stays broken", ""),
    R(48, "The origin is asked for what the operator offers", "accept-encoding"),
};

#define COUNT (sizeof(table) / sizeof(table[0]))

static const terse_rule *rule_at(uint32_t index)
{
    return index < COUNT ? &table[index] : NULL;
}

const terse_rules rules_list = {sizeof(terse_rules), COUNT, rule_at};
