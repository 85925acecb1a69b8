# SPDX-License-Identifier: MIT
"""Request bodies that decode to a thousand times as much and more: 10 MB of zeros, 100 times."""
import functools
import gzip
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor

import brotli
import client
import pytest
import zstandard
from applications import Telling
from coders import coded
from memory import NOTHING_KEPT, nothing_held
from sites import Scope
from test_request_bodies import told
from test_request_hosts import expected

MIB = 1 << 20
ZEROS, TIMES = bytes(10 * MIB), 100
MEMORY = 64  # MB, of decoders and decoded bodies
# MB beside them: the bodies as they came, of which H2O has all in memory, and what malloc keeps
BESIDE = 32
AT_ONCE = 12
QUICK = ('zstd', 'gzip, gzip')


# ---- bodies --------------------------------------------------------------------------------------

def of_deflate():
    """Blocks that know nothing of those before them, and an empty last one."""
    encoder = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (encoder.compress(ZEROS) + encoder.flush(zlib.Z_FULL_FLUSH)) * TIMES + b'\x03\x00'


def of_brotli():
    encoder = brotli.Compressor(quality=1, lgwin=24)
    return b''.join(encoder.process(ZEROS) for _ in range(TIMES)) + encoder.finish()


def of_zstd():
    """Frames with the largest window that is taken (RFC 9659 section 3)."""
    window = zstandard.ZstdCompressionParameters(window_log=23, write_content_size=False)
    encoder = zstandard.ZstdCompressor(compression_params=window).compressobj()
    return (encoder.compress(ZEROS) + encoder.flush()) * TIMES


BOMBS = {
    'gzip': lambda: gzip.compress(ZEROS, 9) * TIMES,
    'deflate': of_deflate,
    'br': of_brotli,
    'zstd': of_zstd,
    'gzip, gzip': lambda: gzip.compress(bomb('gzip'), 9),
    'zstd, br': lambda: brotli.compress(bomb('zstd')),
    'br, zstd, gzip': lambda: coded(bomb('br'), 'zstd, gzip'),
    'gzip, gzip, gzip': lambda: coded(bomb('gzip'), 'gzip, gzip'),
}


@functools.cache
def bomb(codings):
    return BOMBS[codings]()


# ---- cases ---------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def application():
    it = Telling()
    yield it
    it.close()


@pytest.fixture(scope='module')
def server(launch_shared, site, application):
    """/long/: no ratio is too much: the length alone decides.  Nothing is left at the end."""
    it = launch_shared(site.but(
        params={'decode.requests': 'on', 'decode.memory': f'{MEMORY}m'},
        env=NOTHING_KEPT, scopes=(
            Scope('/to/', origin=application.port),
            Scope('/long/', origin=application.port, params={'decode.max-ratio': '100000'}))))
    yield it
    nothing_held(it)


@pytest.mark.rule('R43')
@pytest.mark.parametrize('path', ['/to/', '/long/'])
@pytest.mark.parametrize('codings', BOMBS)
def test_a_bomb(server, protocol, get, application, codings, path):
    """Refused, and the application is not asked."""
    path += codings.replace(', ', '-') + protocol
    fields = [('Content-Encoding', codings)]
    if protocol == 'h2' and len(bomb(codings)) > 60000:
        pytest.skip('curl takes an answer before the end of its body for an error')
    assert get(server, path, fields, method='POST', body=bomb(codings)).status == 413
    assert application.lengths(path) == set()


class Peaks:
    """The most that the server had while it was at work, in MB; and that others got an answer."""

    def __init__(self, server):
        self.server, self.over = server, threading.Event()
        self.resident = self.held = self.answers = 0
        self.thread = threading.Thread(target=self._watch)

    def _watch(self):
        while not self.over.is_set():
            self.resident = max(self.resident, self.server.rss() / 1024)
            self.held = max(self.held, self.server.counters().get('terse.decode.held', 0) / MIB)
            self.answers += client.h1(self.server.port, '/two.json').body == b'{}'

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


@pytest.mark.rule('R43', 'R44')
@pytest.mark.plain  # of memory
@pytest.mark.parametrize('codings', [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in BOMBS])
def test_memory_under_many_bombs(server, application, codings):
    """They are refused for their length, or for the memory; others are served meanwhile."""
    def ask(path):
        return client.h1(server.port, path, [('Content-Encoding', codings)], 'POST',
                         body=bomb(codings)).status

    nothing_held(server)
    before = server.rss() / 1024
    with Peaks(server) as peaks, ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = set(pool.map(ask, ['/long/bomb'] * (3 * AT_ONCE)))
        begun = peaks.answers
        statuses |= set(pool.map(ask, ['/to/bomb'] * AT_ONCE))
    print(f'{before:.1f} MB before, {peaks.resident:.1f} at most, {peaks.held:.1f} held,'
          f' {begun} others served, {sorted(statuses)}')
    assert statuses <= {413, 503} and 413 in statuses
    assert begun > 0 and peaks.held <= MEMORY
    assert peaks.resident <= before + MEMORY + BESIDE
    assert application.lengths('/long/bomb') | application.lengths('/to/bomb') == set()
    nothing_held(server)


# ---- much that decodes to nothing ----------------------------------------------------------------

EMPTY = {
    'deflate': b'\x00\x00\x00\xff\xff' * 400000 + b'\x03\x00',
    'br': b'\x0c' + b'\x06' * 2000000 + b'\x03',  # metadata, 0 bytes each (RFC 7932 section 9.2)
    'gzip': gzip.compress(b'', mtime=0) * 100000,
    'zstd': zstandard.ZstdCompressor().compress(b'') * 200000,
}


@pytest.mark.rule('R41')
@pytest.mark.parametrize('coding', EMPTY)
def test_much_that_decodes_to_nothing(server, coding):
    """Empty blocks, members and frames, 2 MB of them; others are served meanwhile."""
    with ThreadPoolExecutor(1) as pool, Peaks(server) as peaks:
        asked = [pool.submit(client.h1, server.port, '/to/nothing', [('Content-Encoding', coding)],
                             'POST', body=EMPTY[coding]) for _ in range(4)]
        assert {told(one.result()) for one in asked} == {expected(b'')}
    assert peaks.answers > 0


@pytest.mark.rule('R42')
@pytest.mark.parametrize('coding', EMPTY)
def test_flushes_without_an_end(server, coding):
    body = EMPTY[coding][:-1]
    answer = client.h1(server.port, '/to/it', [('Content-Encoding', coding)], 'POST', body=body)
    assert answer.status == 400
