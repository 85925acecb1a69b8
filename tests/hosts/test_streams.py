# SPDX-License-Identifier: MIT
"""Several responses of one connection at a time: HTTP/2 streams, and HTTP/1.1 in a row."""
import os

import client
import pytest
from streams import Streams

ALL = [('Accept-Encoding', 'gzip, deflate, br, zstd')]
CODINGS = ['zstd', 'br', 'gzip']
LONG = 8 << 20
WINDOW = 20000
# What is left of a window may be too little for a frame: with lighttpd, below 2 KB.
FULL = WINDOW - 2047


@pytest.fixture(scope='module')
def server(launch_shared, site, files):
    files.add_large('eight.txt', LONG)
    return launch_shared(site)


def accept(n):
    return [('Accept-Encoding', CODINGS[n % len(CODINGS)])]


def test_many_at_once(server, files):
    names = ['page.html', 'size-262145.html', 'size-1048576.html', 'style.css', 'two.json'] * 4
    with Streams(server.port) as streams:
        asked = [streams.ask(f'/{name}', accept(n)) for n, name in enumerate(names)]
        for name, answer in zip(names, streams.whole(*asked)):
            assert answer.status == 200
            assert answer.plain == files.contents[name]


@pytest.mark.parametrize('coding', CODINGS)
def test_a_short_one_overtakes_a_long_one(server, files, coding):
    """The long body is asked for first and is not over when the short one is."""
    with Streams(server.port) as streams:
        long = streams.ask('/eight.txt', [('Accept-Encoding', coding)])
        streams.until(lambda: long in streams.answers)
        short = streams.ask('/page.html', [('Accept-Encoding', coding)])
        assert streams.whole(short)[0].plain == files.contents['page.html']
        assert long not in streams.ended
        assert streams.whole(long)[0].plain == files.contents['eight.txt']


@pytest.mark.parametrize('coding', CODINGS)
def test_a_reader_that_stops(server, files, coding):
    """No window for a long body: the others go on, and so does it when there is room again."""
    with Streams(server.port, window=WINDOW, feed=False) as streams:
        long = streams.ask('/eight.txt', [('Accept-Encoding', coding)])
        streams.until(lambda: long in streams.answers and len(streams.answers[long].body) >= FULL)
        for n in range(5):
            other = streams.ask('/page.html', accept(n))
            assert streams.whole(other)[0].plain == files.contents['page.html']
            assert client.h1(server.port, '/page.html', accept(n)).plain == \
                files.contents['page.html']
        assert FULL <= len(streams.answers[long].body) <= WINDOW
        streams.feed = True
        streams.open_window(long, 1 << 24)
        assert streams.whole(long)[0].plain == files.contents['eight.txt']


@pytest.mark.rule('R39')
@pytest.mark.parametrize('coding', CODINGS)
def test_a_file_that_shrinks(server, files, coding):
    """A stream whose body is cut never ends well, and the others of its connection are answered."""
    files.add('shrinking.txt', files.contents['eight.txt'] * 3)
    with Streams(server.port, window=WINDOW, feed=False) as streams:
        long = streams.ask('/shrinking.txt', [('Accept-Encoding', coding)])
        streams.until(lambda: long in streams.answers and len(streams.answers[long].body) >= FULL)
        os.truncate(files.path('shrinking.txt'), 10000)
        streams.open_window(long, 1 << 24)
        streams.until(lambda: long in streams.ended or long in streams.broken)
        assert long in streams.broken
        after = streams.ask('/page.html', accept(0))
        assert streams.whole(after)[0].plain == files.contents['page.html']


def test_resets(server, files):
    """Streams that are given up leave nothing behind for the next ones."""
    with Streams(server.port) as streams:
        for n in range(60):
            long = streams.ask('/eight.txt', accept(n))
            if n % 3:
                streams.until(lambda: long in streams.answers)
            if n % 3 == 2:
                streams.until(lambda: len(streams.answers[long].body) > 10000)
            streams.reset(long)
            name = ('page.html', 'size-262145.html')[n % 2]
            after = streams.ask(f'/{name}', accept(n + n // 3))
            assert streams.whole(after)[0].plain == files.contents[name]


@pytest.mark.rule('R40')
def test_keep_alive_and_pipelining(server, files):
    names = ['page.html', 'size-300.html', 'two.json', 'page.html', 'size-262145.html',
             'noise.txt', 'page.html']
    with client.Connection(server.port) as connection:
        for _ in range(2):
            for name in names:  # all asked before the first answer is read
                connection.send(f'/{name}', ALL)
            for name in names:
                answer = connection.answer()
                assert answer.status == 200
                assert answer.plain == files.contents[name]


def test_a_request_behind_every_kind_of_answer(server, files):
    """What is kept of one exchange does not reach the next on its connection."""
    tag = client.h1(server.port, '/page.html').header('etag')
    kinds = [('GET', '/page.html', ALL), ('HEAD', '/page.html', ALL),
             ('GET', '/page.html', ALL + [('If-None-Match', tag)]),
             ('GET', '/page.html', ALL + [('Range', 'bytes=0-99')]), ('GET', '/nowhere', ALL),
             ('GET', '/two.json', ALL), ('GET', '/eight.txt', ALL), ('OPTIONS', '/', ALL)]
    with client.Connection(server.port) as connection:
        for method, path, headers in kinds * 2:
            connection.send(path, headers, method)
            connection.answer(method)
            connection.send('/page.html', [('Accept-Encoding', 'br')])
            answer = connection.answer()
            assert answer.coding == 'br'
            assert answer.plain == files.contents['page.html']
