# SPDX-License-Identifier: MIT
"""Clients that go away: nothing is lost, nothing grows, the next one is served right."""
import itertools
import time

import client
import pytest
from server import until

CODINGS = ['zstd', 'br', 'gzip']
SLACK_KB = 256


def begin(server, name, coding, nbytes):
    """Asks, and reads so many bytes of the answer."""
    connection = client.Connection(server.port)
    connection.send(f'/{name}', [('Accept-Encoding', coding)])
    if nbytes:
        connection.socket.recv(nbytes)
    return connection


def abort_many(server, count):
    """Two are under way at a time and go away at once.  The kinds follow each other quickly and in
    the same order, so that what the server holds at most is the same in each round of 1,000."""
    kinds = list(itertools.product(('long.txt', 'long.txt', 'page.html'), CODINGS, (0, 1, 4000)))
    with client.Connection(server.port) as other:
        for n in range(count // 2):
            pair = kinds[n % len(kinds)], kinds[n * 5 % len(kinds)]
            for connection in [begin(server, *kind) for kind in pair]:
                connection.abort()
            for _ in range(2):  # the server has seen the resets when it has answered this twice
                other.send('/two.json')
                other.answer()


def read_many(server, contents, together=2):
    """As many at a time, but to the end: every page of memory that a stream can use is used."""
    for coding in CODINGS * 2:
        connections = [begin(server, 'long.txt', coding, 0) for _ in range(together)]
        for connection in connections:
            assert connection.answer().plain == contents['long.txt']
            connection.close()


def live_streams(server):
    return server.counters().get('terse.streams.live')  # absent in the first second


def settle(server):
    time.sleep(1.5)  # the counters are of the last full second
    until(lambda: live_streams(server) == 0, 15, 'the end of every stream')


@pytest.mark.plain
def test_memory_stays(launch, site, files):
    files.add_large('long.txt', 2 << 20)
    server = launch(site)
    read_many(server, files.contents)
    abort_many(server, 1000)
    settle(server)
    early = server.rss()
    abort_many(server, 9000)
    settle(server)
    late = server.rss()
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
    settle(server)


def test_streams_are_counted_while_they_live(launch, site, files):
    """The figure that the other cases wait for is not always 0."""
    files.add_large('longer.txt', 20 << 20)
    server = launch(site)
    with client.Connection(server.port) as connection:
        connection.send('/longer.txt', [('Accept-Encoding', 'br')])
        assert connection.head().coding == 'br'
        until(lambda: live_streams(server) == 1, 10, 'a live stream')
    settle(server)
    counters = server.counters()
    assert counters['terse.exchanges.aborted'] == 1
    assert counters['terse.streams.opened'] == 1
