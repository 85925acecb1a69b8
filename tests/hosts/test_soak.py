# SPDX-License-Identifier: MIT
"""Requests and responses in every pair of codings, many at once, while a thousand connections are open
and say nothing."""
import hashlib
import itertools
import random
from concurrent.futures import ThreadPoolExecutor

import brotli
import client
import pytest
from applications import Echo
from coders import CODERS
from many import MANY_CONNECTIONS, many_files  # noqa: F401
from server import until
from sites import Scope

REQUESTS, AT_ONCE, IDLE = 1500, 48, 1000
SENT = {
    '': lambda data: data,
    'gzip': CODERS['gzip'],
    'zstd': CODERS['zstd'],
    'br 16': lambda data: brotli.compress(data, quality=3, lgwin=16),
    'br 22': lambda data: brotli.compress(data, quality=3, lgwin=22),
    'br 24': lambda data: brotli.compress(data, quality=3, lgwin=24),
}
ACCEPTED = [None, 'gzip', 'br', 'zstd']
PAIRS = list(itertools.product(SENT, ACCEPTED))


def text(rng):
    """From nothing to more than is coded in one call."""
    size = rng.choice((1, 45, 2000, 20000, 60000, 127000, 400000))
    words = b'some words of a form that somebody has filled in with numbers 1 2 3'.split()
    return b' '.join(rng.choices(words, k=size // 5 + 1))[:size]


def ask(server, n):
    """What is wrong with the answer to request n; None: nothing."""
    rng = random.Random(n)
    (sent, accepted), plain = PAIRS[n % len(PAIRS)], text(rng)
    headers = [('Content-Encoding', sent.split(' ')[0])] if sent else []
    headers += [('Accept-Encoding', accepted)] if accepted else []
    answer = client.h1(server.port, f'/echo/{n}', headers, method='POST', body=SENT[sent](plain))
    if answer.status == 200 and answer.plain == plain and answer.coding in (accepted, None):
        return None
    return f'{n}, {sent} and {accepted}: {answer}, {hashlib.sha256(plain).hexdigest()}'


def open_idle(server):
    """Connections that have had an answer."""
    connections = []
    for _ in range(IDLE):
        connection = client.Connection(server.port)
        connection.send('/two.json')
        assert connection.answer().body == b'{}'
        connections.append(connection)
    return connections


@pytest.mark.sanitized
def test_every_pair_of_codings(launch, server_class, site, many_files):  # noqa: F811
    origin = Echo()
    server = launch(site.but(
        params={'decode.requests': 'on', 'pool.memory': '512m', 'decode.memory': '1g'},
        raw=MANY_CONNECTIONS[server_class.name], scopes=(Scope('/echo/', origin=origin.port),)))
    idle = open_idle(server)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        wrong = [fault for fault in pool.map(lambda n: ask(server, n), range(REQUESTS)) if fault]
    assert wrong == []
    for counter in ('terse.streams.live', 'terse.decode.held'):
        until(lambda name=counter: server.counters().get(name) == 0, 15, f'{counter} of 0')
    for connection in idle:
        connection.close()
    origin.close()
