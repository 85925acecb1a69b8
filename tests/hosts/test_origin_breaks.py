# SPDX-License-Identifier: MIT
"""Origins of H2O that stop in the middle of a body.  It can know when they had declared a length, or
stop inside a chunk: then the client sees that the body is not whole.  An origin that closes behind
a whole chunk, or a FastCGI application that dies, is a good end to H2O itself."""
import random

import pytest
from breaks import ENDS_BADLY
from memory import streams_ended
from origins import Reply
from sites import Scope

ONLY = ['h2o', 'libh2o']
CODINGS = ['gzip', 'br', 'zstd']
POINTS = 50
LENGTH = 700000  # a stream
SHORT = 20000  # collected, then coded in one call


class InsideAChunk(Reply):
    """Its last chunk is longer than what comes of it."""

    def __init__(self, body, cut):
        super().__init__(body, framing='chunked', cut=cut)

    def pieces(self):
        whole = b''.join(Reply(self.body, framing='chunked').pieces())
        yield whole[:whole.index(self.body[:20]) + 1 + self.cut // 8192 * 8200 + self.cut % 8000]


@pytest.fixture(scope='module')
def server(launch_shared, site, origin):
    return launch_shared(site.but(scopes=(Scope('/origin/', origin=origin.port),)))


@pytest.mark.rule('R39', kinds=('proxied',), sides=('coded',))
@pytest.mark.parametrize('size', [SHORT, LENGTH])
@pytest.mark.parametrize('framing', ['length', 'inside-a-chunk'])
def test_an_origin_dies_anywhere(server, origin, files, protocol, framing, size):
    body = (files.text * 3)[:size]
    for n, point in enumerate(random.Random(framing).sample(range(size - 8192), POINTS)):
        path = f'/origin/dies-{framing}-{size}-{point}'
        origin.replies[path] = (Reply(body, cut=point) if framing == 'length'
                                else InsideAChunk(body, point))
        assert ENDS_BADLY[protocol](server, path, CODINGS[n % 3]), f'after {point} bytes'
    streams_ended(server)
