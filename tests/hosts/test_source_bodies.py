# SPDX-License-Identifier: MIT
"""Bodies that backends send in parts: every framing, protocol, setting, coding and size."""
import itertools

import client
import pytest
from gateways import SCGI, FastCGI
from sites import Scope
from streams import Streams

ONLY = ['lighttpd']
CODINGS = ['gzip', 'br', 'zstd']
SHORTEST_CODED = 300  # min-length
SIZES = [1, 299, 300, 65535, 65536, 65537]
LONG = 8 << 20
# A machine that is slow to answer must not make a short body look like one that has paused.
PARAMS = {'?flush.delay': '10s'}


@pytest.fixture(scope='module')
def gateways(origin):
    found = {'http': origin, 'fastcgi': FastCGI(), 'scgi': SCGI()}
    yield found
    for via in ('fastcgi', 'scgi'):
        found[via].close()


@pytest.fixture(scope='module', params=[0, 1, 2], ids=lambda streaming: f'stream-{streaming}')
def server(request, launch_shared, site, gateways, certificate):
    scopes = tuple(Scope(f'/{via}/', origin=gateway.port, via=via)
                   for via, gateway in gateways.items())
    return launch_shared(site.but(streaming=request.param, params=PARAMS, tls=certificate,
                                  scopes=scopes))


@pytest.fixture(scope='module')
def bodies(files):
    """{size: body}; no two blocks of the long one are alike."""
    return {**{size: files.text[:size] for size in SIZES},
            LONG: files.add_large('eight.txt', LONG)}


class Kept:
    """Asks one request after the other on one connection."""

    def __init__(self, port, tls):
        self.connection = client.Connection(port, tls=tls)

    def get(self, path, headers):
        self.connection.send(path, headers)
        return self.connection.answer()

    def close(self):
        self.connection.close()


class Multiplexed:
    def __init__(self, port, tls):
        self.streams = Streams(port, window=1 << 20, tls=tls)

    def get(self, path, headers):
        return self.streams.whole(self.streams.ask(path, headers))[0]

    def close(self):
        self.streams.close()


CLIENTS = {'h1': Kept, 'h2': Multiplexed}


def check(answer, body, coding, streamed):
    """A body too short is seen to be so: it leaves as it is, with its length."""
    where = f'{len(body)} bytes, {coding}: {answer!r}'
    if len(body) < SHORTEST_CODED:
        assert answer.coding is None, where
        assert answer.header('content-length') == str(len(body)), where
    else:
        assert answer.coding == coding, where
        assert answer.header('content-length') is None or not streamed, where
    assert answer.plain == body, where


@pytest.mark.parametrize('secured, via, framing', [
    *itertools.product([False, True], ['http'], ['length', 'chunked', 'close']),
    *itertools.product([False], ['fastcgi', 'scgi'], ['length', 'close'])])
def test_bodies(server, gateways, bodies, protocol, secured, via, framing):
    visitor = CLIENTS[protocol](server.tls_port if secured else server.port, secured)
    for size, body in bodies.items():
        path = gateways[via].on(f'/{via}/{framing}-{size}', body, framing=framing)
        for coding in CODINGS:
            answer = visitor.get(path, [('Accept-Encoding', coding)])
            streamed = server.site.streaming > 0 and size > 262144
            check(answer, body, coding, streamed)
    visitor.close()
