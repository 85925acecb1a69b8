# SPDX-License-Identifier: MIT
"""Accept-Encoding, slow and obvious: the grammar of RFC 9110 as regular expressions, and what Terse
does where the RFC leaves it open.  Shares nothing with plugin/negotiator.c, which is held to it."""
import decimal
import re

# the ABNF; possessive (*+), so that a hostile field costs no more than its length
OWS = rb'[ \t]*+'                                                            # section 5.6.3
TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"                                     # 5.6.2
QUOTED_PAIR = rb'\\[\t \x21-\x7e\x80-\xff]'                                  # 5.6.4
QDTEXT = rb'[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]'
QUOTED_STRING = rb'"(?:%b|%b)*+"' % (QDTEXT, QUOTED_PAIR)
PARAMETER = rb'(%b)=(%b|%b)' % (TOKEN, TOKEN, QUOTED_STRING)                 # 5.6.6
PARAMETERS = re.compile(rb'(?:%b;%b(?:%b)?)*+%b' % (OWS, OWS, PARAMETER, OWS))
PARAMETER = re.compile(PARAMETER)
QVALUE = re.compile(rb'0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?')                   # 12.4.2

# Where the members of a list end (5.6.1) is found before their grammar is looked at: at commas
# outside of quotes.  Quotes that stay open reach to the end of their line.
IN_QUOTES = rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
MEMBER = re.compile(rb'((?:[^",]|%b)*+)(?:,|\Z)' % IN_QUOTES, re.DOTALL)
# Something else than parameters behind the name: it is a member that nobody knows.
KNOWN = re.compile(rb'(%b)(%b(?:;.*)?)' % (TOKEN, OWS), re.DOTALL)

ALIASES = {b'x-gzip': b'gzip'}                                               # 8.4.1.3
ABSENT, NAMED, WILDCARD, MALFORMED = range(4)                                # TERSE_WEIGHT_*
NO_IDENTITY, NOTHING = 1, 2                                                  # TERSE_CHOICE_*


def weight(parameters):
    """Thousandths; None when malformed.  Other parameters than q are passed over, q stands once."""
    if not PARAMETERS.fullmatch(parameters):
        return None
    values = [value for name, value in PARAMETER.findall(parameters) if name.lower() == b'q']
    if not values:
        return 1000
    if len(values) > 1 or not QVALUE.fullmatch(values[0]):
        return None
    return int(decimal.Decimal(values[0].decode()) * 1000)


def stated(lines):
    """{name: weight}: all lines are one list; of duplicates the last one counts."""
    found = {}
    for line in lines:
        for member in MEMBER.findall(line):
            known = KNOWN.fullmatch(member.strip(b' \t'))
            if known:
                name = known[1].lower()
                found[ALIASES.get(name, name)] = weight(known[2])
    return found


def judged(found, name):
    """(thousandths, where from); a malformed weight is no consent, and stands against "*"."""
    if name in found:
        return (0, MALFORMED) if found[name] is None else (found[name], NAMED)
    if b'*' in found:
        return found[b'*'] or 0, WILDCARD
    return 0, ABSENT


def choice(milli, order, prefer):
    """The first of the highest, or of all that are acceptable; identity only when above them."""
    ranked = [coding for coding in order if milli[coding]]
    if prefer == b'client':
        ranked.sort(key=lambda coding: -milli[coding])  # stable: ties stay in the server's order
        if ranked and milli[b'identity'] > milli[ranked[0]]:
            return None
    return ranked[0] if ranked else None


def negotiate(lines, order, prefer):
    """(coding or None, flags, [(coding, thousandths, where from)...])."""
    found = stated(lines)
    weights = [(name, *judged(found, name)) for name in (*order, b'identity')]
    coding = choice({name: milli for name, milli, _ in weights}, order, prefer)
    flags = NO_IDENTITY if weights[-1][2] != ABSENT and weights[-1][1] == 0 else 0
    if flags and coding is None:
        flags |= NOTHING
    return coding, flags, weights
