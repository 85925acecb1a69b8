# SPDX-License-Identifier: MIT
"""A request's body that takes long to decode is decoded in turns: others are served one after the
other meanwhile."""
import random
import select

import client
import pytest
from coders import coded
from test_request_hosts import head

MIB = 1 << 20
LONG = 32 * MIB
ROUNDS = 5  # a client that is held up itself sees little of it


@pytest.fixture(scope='module')
def server(launch_shared, site):
    return launch_shared(site.but(workers=1, params={
        'decode.requests': 'on', 'decode.max-length': '32m', 'decode.max-ratio': '100000',
        'decode.memory': '256m'}))


def served_meanwhile(server, codings, body):
    """How many, until the long one has its answer."""
    with client.Connection(server.port) as long, client.Connection(server.port) as other:
        long.socket.sendall(head('/it', f'Content-Length: {len(body)}', coding=codings) + body)
        count = 0
        while not select.select([long.socket], [], [], 0)[0]:
            other.send('/two.json')
            assert other.answer().body == b'{}'
            count += 1
        assert long.answer().status == 400
        return count


@pytest.mark.rule('R42', 'R43')
@pytest.mark.parametrize('codings', ['zstd', 'br', 'br, gzip', 'zstd, br, gzip'])
def test_others_are_served_meanwhile(server, codings):
    """All but the end of it is right, so that decoding is all that is done.  At once, that would
    let no more than the first few through."""
    block = random.Random(6).randbytes(4096)
    innermost, *others = codings.split(', ')
    body = coded(block * (LONG // len(block)), innermost)[:-1]
    if others:
        body = coded(body, ', '.join(others))
    assert any(served_meanwhile(server, codings, body) > 10 for _ in range(ROUNDS))
