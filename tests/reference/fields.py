# SPDX-License-Identifier: MIT
"""Endless lines of Accept-Encoding, made from a seed: what clients send, what the grammar allows,
what is nearly that, and what nobody should send."""
import random

CLIENTS = (
    b'gzip, deflate, br, zstd', b'gzip, deflate, br', b'gzip, deflate', b'gzip', b'identity',
    b'*', b'deflate, gzip, br, zstd', b'deflate, gzip', b'br, gzip, deflate', b'gzip,deflate', b'',
    b'br', b'gzip, deflate, br;q=0.9, *;q=0.1', b'gzip;q=1.0, identity; q=0.5, *;q=0',
    b'gzip, x-gzip',
    b'deflate, gzip;q=1.0, *;q=0.5', b'*;q=0', b'identity;q=1, *;q=0',
    b'zstd, br;q=0.8, gzip;q=0.6',
    b'compress, gzip', b'gzip,deflate,sdch', b'gzip, deflate, br, zstd, dcb, dcz', b'identity;q=0',
    b'gzip, identity', b'x-gzip;q=0.3, deflate;q=0', b'gzip;q=0.5, br;q=0.5, identity;q=0.5',
)
NAMES = (b'gzip', b'br', b'zstd', b'deflate', b'identity', b'*', b'x-gzip', b'GZip', b'BR',
         b'X-GZIP', b'compress', b'gzipp', b'xbr', b'zst', b'**', b'q', b'dcb', b'Identity',
         b'ZSTD')
QVALUES = (b'0', b'1', b'0.5', b'1.0', b'0.', b'1.', b'0.001', b'0.999', b'1.000', b'0.000',
           b'0.25')
BAD_QVALUES = (b'', b'1.0000', b'.5', b'1e0', b'2', b'-1', b'+1', b'1.001', b'0.0001', b'nan',
               b'00', b'inf', b'0x1', b'1,0', b'"1"', b'"0.5"', b'0.5 ', b'0 .5', b'\xd9\xa1',
               b'1\0', b'0,5')
OTHERS = (b'x=1', b'level=9', b'x="a,b"', b'x="q=0;q=1"', b'x="\\""', b'x=""', b'x="\xc3\xa4"',
          b'x="\t"', b'')
BAD_OTHERS = (b'x', b'=', b'x=', b'=1', b'x="', b'x="\\', b'x="a"b', b'x =1', b'x= 1', b'"x"=1',
              b'x="\0"', b'x="\x7f"', b'x="\\\x01"', b'\xff=1', b'x=\xe4', b'q', b'q;')
SPACES = (b'', b'', b'', b' ', b'\t', b'  ', b' \t ')
COMMAS = (b', ', b', ', b',', b' , ', b',,', b', ,', b',\t')
PIECES = (*NAMES, *NAMES[:6], *QVALUES, *BAD_QVALUES, *OTHERS, *BAD_OTHERS, b'q=', b'q=', b';q=',
          b';Q=', b';', b';', b';;', b',', b',', b', ', b'"', b'\\', b'\\"', b'=', b' ', b'\t',
          b'\0', b'\r', b'\n', b'\x0b', b'\x7f', b'\x80', b'\xff', b'\xc2\xa0', b'(', b'/',
          b'@', b'[', b'{', b':', b'?')


class Fields:
    """next(fields) is a list of lines, one or more; the same seed gives the same ones."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.pick = self.rng.choice
        self.kinds = [kind for kind, share in (
            (self.sent, 8), (self.grammatical, 30), (self.mutated, 30), (self.soup, 28),
            (self.noise, 4)) for _ in range(share)]

    def __iter__(self):
        return self

    def __next__(self):
        if self.rng.random() < 0.0005:
            return [self.vast()]
        line = self.pick(self.kinds)()
        if self.rng.random() < 0.85:
            return [line]
        if self.rng.random() < 0.5:
            return [line] + [self.pick(self.kinds)() for _ in range(self.rng.randrange(1, 4))]
        at = self.rng.randint(0, len(line))
        return [line[:at], line[at:]]

    def sent(self):
        return self.pick(CLIENTS)

    def parameter(self):
        chance = self.rng.random()
        if chance < 0.55:
            return self.pick((b'q=', b'q=', b'Q=')) + self.pick(QVALUES)
        if chance < 0.8:
            return self.pick(OTHERS)
        return b'q=' + self.pick(BAD_QVALUES) if chance < 0.9 else self.pick(BAD_OTHERS)

    def member(self):
        parts = [self.pick(NAMES)]
        for _ in range(self.pick((0, 0, 1, 1, 1, 1, 2, 3))):
            parts += [self.pick(SPACES), b';', self.pick(SPACES), self.parameter()]
        return b''.join(parts) + self.pick(SPACES)

    def grammatical(self, most=6):
        return self.pick(COMMAS).join([self.member() for _ in range(self.rng.randint(1, most))])

    def mutated(self):
        line = bytearray(self.pick((self.sent, self.grammatical))())
        for _ in range(self.rng.randrange(1, 4)):
            at = self.rng.randint(0, len(line))
            to = at + self.pick((0, 0, 1, 1, 2, 8))  # nothing, some bytes
            line[at:to] = self.pick((b'', line[at:to] * 2, self.pick(PIECES),
                                     self.rng.randbytes(1)))
        return bytes(line)

    def soup(self):
        return b''.join(self.rng.choices(PIECES, k=self.rng.randrange(1, 20)))

    def noise(self):
        return self.rng.randbytes(self.rng.randrange(40))

    def vast(self):
        """Tens of thousands of bytes: many members, or one piece again and again."""
        if self.rng.random() < 0.3:
            return self.grammatical(5000)
        piece = self.pick(PIECES) + self.pick((b'', self.pick(PIECES), self.pick(PIECES)))
        run = piece * self.rng.randrange(2000, 10000)
        return self.pick((b'', b'gzip', b'br;x="', b'gzip;q=0.', b'*;')) + run + self.soup()
