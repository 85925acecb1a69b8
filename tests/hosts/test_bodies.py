# SPDX-License-Identifier: MIT
"""Bodies of every size and from every source come back the same."""
import os
import threading
import time

import client
import pytest
from files import SIZES
from sites import Scope

ACCEPT = [('Accept-Encoding', 'gzip, deflate, br, zstd')]
CODINGS = ['zstd', 'br', 'gzip']
LARGE = 50 << 20
SHORTEST_CODED = 300  # min-length


@pytest.fixture(scope='module')
def large(files):
    return files.add_large('large.txt', LARGE)


@pytest.fixture(scope='module')
def server(launch_shared, site, origin, large):
    return launch_shared(site.but(scopes=(
        Scope('/origin/', origin=origin.port),
        Scope('/gzip/', params={'codings': 'gzip'}))))


@pytest.mark.parametrize('coding', CODINGS)
@pytest.mark.parametrize('size', SIZES)
def test_file(server, get, files, size, coding):
    name = f'size-{size}.html'
    answer = get(server, f'/{name}', [('Accept-Encoding', coding)])
    assert answer.coding == (coding if size >= SHORTEST_CODED else None)
    assert answer.plain == files.contents[name]


@pytest.mark.rule('R21')
def test_file_that_does_not_shrink(server, get, files):
    answer = get(server, '/noise.txt', ACCEPT)
    assert answer.coding is None
    assert answer.plain == files.contents['noise.txt']
    assert answer.header('content-length') == '20000'
    assert answer.vary == ['accept-encoding']


@pytest.mark.plain
@pytest.mark.parametrize('coding', CODINGS + [None])
def test_50_mb(server, get, large, coding):
    answer = get(server, '/large.txt', [('Accept-Encoding', coding or 'identity')], timeout=120)
    assert answer.coding == coding
    assert answer.plain == large


@pytest.mark.plain
@pytest.mark.parametrize('coding', CODINGS)
def test_a_second_client_is_answered_meanwhile(server, get, large, coding):
    """No other answer waits for a great part of the time that the large one takes."""
    done, answers = threading.Event(), []

    def fetch():
        answers.append(get(server, '/large.txt', [('Accept-Encoding', coding)], timeout=120))
        done.set()

    fetching = threading.Thread(target=fetch)
    begin = time.monotonic()
    fetching.start()
    waits = []
    while not done.is_set():
        start = time.monotonic()
        small = client.h1(server.port, '/page.html', ACCEPT)
        waits.append(time.monotonic() - start)
        assert small.status == 200 and small.coding
        time.sleep(0.01)
    fetching.join()
    took = time.monotonic() - begin
    assert answers[0].coding == coding
    assert len(waits) >= 3
    assert max(waits) < max(took / 4, 0.25), f'{max(waits):.3f} s of {took:.3f} s'


def test_cgi(server, get, files):
    answer = get(server, '/page.cgi', ACCEPT)
    assert answer.status == 200 and answer.coding == 'zstd'
    assert answer.plain == files.contents['page.html']


@pytest.mark.parametrize('framing', ['length', 'chunked', 'close'])
@pytest.mark.parametrize('size', [0, 15, 299, 300, 30000, 300000, 3 << 20])
def test_proxied(server, origin, get, files, framing, size):
    body = (files.text * (1 + size // len(files.text)))[:size]
    path = origin.on(f'/origin/{framing}-{size}', body, framing=framing)
    answer = get(server, path, ACCEPT, timeout=60)
    assert answer.status == 200
    assert answer.coding == ('zstd' if size >= SHORTEST_CODED else None)
    assert answer.plain == body


@pytest.mark.rule('R10')
def test_proxied_error_page(server, origin, get, files):
    path = origin.on('/origin/404', files.text[:5000], status=404)
    answer = get(server, path, ACCEPT)
    assert (answer.status, answer.coding, answer.plain) == (404, 'zstd', files.text[:5000])


@pytest.mark.rule('R39')
def test_a_cut_origin_never_ends_well_formed(server, origin, files):
    path = origin.on('/origin/cut', files.text[:100000], cut=40000)
    try:
        answer = client.h1(server.port, path, ACCEPT)
    except client.Broken:
        return
    assert answer.status >= 500, answer


def shrink(server, files, whole, coding):
    """Asks for a large file and cuts it while it is sent: what came after the first bytes."""
    with open(files.path('shrinking.txt'), 'wb') as file:
        file.write(whole)
    with client.Connection(server.port) as connection:
        connection.send('/shrinking.txt', [('Accept-Encoding', coding)])
        assert connection.head().status == 200
        connection.reader.read(10000)
        os.truncate(files.path('shrinking.txt'), 100000)
        try:
            return connection.reader.read()
        except OSError:
            return b''


@pytest.mark.rule('R39', kinds=('static',))
def test_a_file_that_shrinks_while_it_is_served(server, files, large):
    """An error for its client, nothing for the others."""
    for n in range(12):
        coding = (CODINGS + ['identity'])[n % 4]
        rest = shrink(server, files, large[:20 << 20], coding)
        assert not rest.endswith(b'\r\n0\r\n\r\n'), 'a cut body was ended as if whole'
        assert server.alive()
        assert client.h1(server.port, '/page.html', ACCEPT).plain == files.contents['page.html']


def test_files_that_shrink_are_no_flood_of_complaints(launch, site, files, large, built):
    """A line a second at most, of each thread."""
    server = launch(site)
    begin = time.monotonic()
    for n in range(12):
        shrink(server, files, large[:20 << 20], (CODINGS + ['identity'])[n % 4])
    complaints = [line for line in server.own_lines(server.log()) if 'shrinking.txt' in line]
    assert 1 <= len(complaints) <= (time.monotonic() - begin + 2) * built.threads
