# SPDX-License-Identifier: MIT
"""Clients that go away: nothing is lost, nothing grows, the next one is served right."""
import itertools
import os
import subprocess

import client
import pytest
from memory import NOTHING_KEPT, counter, settled, streams_ended
from server import until
from streams import Streams

CODINGS = ['zstd', 'br', 'gzip']
SLACK_KB = 256


def begin(server, name, coding, nbytes):
    """Asks, and reads so many bytes of the answer."""
    connection = client.Connection(server.port)
    connection.send(f'/{name}', [('Accept-Encoding', coding)])
    if nbytes:
        connection.socket.recv(nbytes)
    return connection


def pairs(count):
    """Two requests at a time, of every kind, in an order that comes back soon: what a server holds
    at most is then the same in each round of 1,000."""
    kinds = list(itertools.product(('long.txt', 'long.txt', 'page.html'), CODINGS, (0, 1, 4000)))
    for n in range(count):
        yield kinds[n % len(kinds)], kinds[n * 5 % len(kinds)]


def abort_many(server, count):
    with client.Connection(server.port) as other:
        for pair in pairs(count // 2):
            for connection in [begin(server, *kind) for kind in pair]:
                connection.abort()
            for _ in range(2):  # the server has seen the resets when it has answered this twice
                other.send('/two.json')
                other.answer()


def read_many(server, contents):
    """The same to the end: every page of memory that they can use has been used."""
    for pair in pairs(54):
        connections = [(name, begin(server, name, coding, 0)) for name, coding, _ in pair]
        for name, connection in connections:
            assert connection.answer().plain == contents[name]
            connection.close()


@pytest.mark.plain
@pytest.mark.needs('many-aborts')
def test_memory_stays(launch, site, files):
    files.add_large('long.txt', 2 << 20)
    server = launch(site.but(env=NOTHING_KEPT))
    read_many(server, files.contents)
    abort_many(server, 1000)
    early = settled(server)
    abort_many(server, 9000)
    late = settled(server)
    print(f'RSS {early} KB after 1,000 aborts, {late} KB after 10,000')
    assert late <= early + SLACK_KB


def test_the_next_client_is_served_right(launch, site, files):
    files.add_large('long.txt', 2 << 20)
    server = launch(site)
    for n in range(60):
        begin(server, 'long.txt', CODINGS[n % 3], (0, 1, 100, 10000)[n % 4]).abort()
        answer = client.h1(server.port, '/page.html', [('Accept-Encoding', CODINGS[n % 3])])
        assert answer.coding == CODINGS[n % 3]
        assert answer.plain == files.contents['page.html']
    streams_ended(server)


def test_streams_are_counted_while_they_live(launch, site, files):
    """The figure that the other cases wait for is not always 0."""
    files.add_large('longer.txt', 20 << 20)
    server = launch(site)
    with client.Connection(server.port) as connection:
        connection.send('/longer.txt', [('Accept-Encoding', 'br')])
        assert connection.head().coding == 'br'
        until(lambda: counter(server, 'streams.live') == 1, 10, 'a live stream')
    streams_ended(server)
    counters = server.counters()
    assert counters['terse.exchanges.aborted'] == 1
    assert counters['terse.streams.opened'] == 1
    assert counters['terse.calls.longest-us'] > 10


@pytest.fixture(scope='session')
def fast_clock(workshop):
    library = os.path.join(workshop, 'fast_clock.so')
    source = os.path.join(os.path.dirname(__file__), 'fast_clock.c')
    subprocess.run(['gcc', '-shared', '-fPIC', '-o', library, source], check=True)
    return library


@pytest.mark.plain
@pytest.mark.needs('fast-clock')
def test_connections_that_end_while_the_server_tidies_up(launch, site, files, fast_clock):
    """What it frees then is filled with rubbish: nothing may still point there."""
    files.add_large('long.txt', 2 << 20)
    server = launch(site.but(env={'LD_PRELOAD': fast_clock, 'MALLOC_PERTURB_': '85'}))
    for n in range(500):
        try:
            begin(server, 'long.txt', CODINGS[n % 3], (1, 4000)[n % 2]).abort()
        except OSError:
            pass  # its time-outs go as fast
        if n % 5 == 0:
            with Streams(server.port) as streams:
                streams.ask('/long.txt', [('Accept-Encoding', CODINGS[n % 3])])
        assert server.alive(), f'died at {n}'
