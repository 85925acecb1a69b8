# SPDX-License-Identifier: MIT
"""A request's body that takes long to decode is decoded in turns: others are served one after the
other meanwhile."""
import random
import select

import client
import pytest
from applications import Telling
from coders import coded
from sites import Scope
from test_request_bodies import told
from test_request_hosts import head

MIB = 1 << 20
LONG = 32 * MIB
ROUNDS = 5  # a client that is held up itself sees little of it


@pytest.fixture(scope='module')
def application():
    it = Telling()
    yield it
    it.close()


@pytest.fixture(scope='module')
def server(launch_shared, site, application):
    return launch_shared(site.but(workers=1, params={
        'decode.requests': 'on', 'decode.max-length': '32m', 'decode.max-ratio': '100000',
        'decode.memory': '256m'}, scopes=(Scope('/to/', origin=application.port),)))


def served_meanwhile(server, codings, body):
    """How many, until the long one has its answer."""
    with client.Connection(server.port) as long, client.Connection(server.port) as other:
        long.socket.sendall(head('/to/it', f'Content-Length: {len(body)}', coding=codings) + body)
        count = 0
        while not select.select([long.socket], [], [], 0)[0]:
            other.send('/two.json')
            assert other.answer().body == b'{}'
            count += 1
        assert told(long.answer())[:2] == (LONG, '')
        return count


@pytest.mark.rule('R43')
@pytest.mark.parametrize('codings', ['gzip', 'zstd', 'br', 'br, gzip'])
def test_others_are_served_meanwhile(server, codings):
    """A body that was decoded at once would let no more than the first few through."""
    block = random.Random(6).randbytes(4096)
    body = coded(block * (LONG // len(block)), codings)
    assert any(served_meanwhile(server, codings, body) > 10 for _ in range(ROUNDS))
