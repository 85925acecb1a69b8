# SPDX-License-Identifier: MIT
"""Responses that come coded in parts, that break off, and that decode to much more than came."""
import gzip
import random
import zlib

import brotli
import client
import pytest
import zstandard
from breaks import ENDS_BADLY
from coders import coded
from origins import Reply
from server import until
from sites import Scope
from test_events import CLIENTS, Decoder, Events, follow, make_events

HTML = [('Content-Type', 'text/html')]
CODINGS = ['gzip', 'br', 'zstd', 'deflate']
ZEROS = 64 << 20


@pytest.fixture(scope='module')
def server(launch_shared, site, origin):
    running = launch_shared(site.but(params={'decode.responses': 'on'}, streaming=1, scopes=(
        Scope('/origin/', origin=origin.port),)))
    yield running
    running.wait_idle()


# ---- in parts -------------------------------------------------------------------------------------

class Flushed:
    """An encoder that ends each part so that it can be decoded."""

    def __init__(self, coding):
        self.coding = coding
        if coding == 'br':
            self.codec = brotli.Compressor(quality=4)
        elif coding == 'zstd':
            self.codec = zstandard.ZstdCompressor().compressobj()
        else:
            self.codec = zlib.compressobj(6, zlib.DEFLATED, 31 if coding == 'gzip' else 15)

    def part(self, data):
        if self.coding == 'br':
            return self.codec.process(data) + self.codec.flush()
        how = zstandard.COMPRESSOBJ_FLUSH_BLOCK if self.coding == 'zstd' else zlib.Z_SYNC_FLUSH
        return self.codec.compress(data) + self.codec.flush(how)

    def end(self):
        return self.codec.finish() if self.coding == 'br' else self.codec.flush()


class CodedEvents(Events):
    """Events that leave the origin coded, one by one."""

    def __init__(self, events, coding):
        super().__init__(events, 'chunked')
        self.headers = self.headers + [('Content-Encoding', coding)]
        self.encoder = Flushed(coding)

    def _framed(self, data):
        return super()._framed(self.encoder.part(data))

    def pieces(self):
        for piece in super().pieces():
            if piece == b'0\r\n\r\n':
                yield super()._framed(self.encoder.end())
            yield piece


@pytest.mark.rule('R46', 'R38', kinds=('proxied',))
@pytest.mark.parametrize('field', ['', 'gzip', 'br', 'zstd'])
@pytest.mark.parametrize('coding', CODINGS)
def test_coded_events(server, origin, files, protocol, coding, field):
    """Each is there, decoded or coded anew, before the origin sends the next one."""
    if field == coding:
        field = 'deflate;q=0'
    reply = CodedEvents(make_events(files.text, 6), coding)
    path = f'/origin/events-{protocol}-{coding}-{field}'
    origin.replies[path] = reply
    headers = [('Accept-Encoding', field)] if field else []
    answer = CLIENTS[protocol](server.port, path, headers, False)
    head = next(answer)
    assert head.coding == (field if field in CODINGS else None)
    follow(answer, Decoder(head.coding), reply)


# ---- that are not whole ---------------------------------------------------------------------------

BODY = b''.join(b'line %d of a page\n' % n for n in range(20000))


def wrong(coding):
    """{name: bytes} that are no body in that coding."""
    whole = coded(BODY, coding)
    flipped = bytearray(whole)
    flipped[-6] ^= 0x10  # in the checksum, where there is one
    found = {'cut': whole[:-1], 'half': whole[:len(whole) // 2], 'more': whole + b'x',
             'other': BODY, 'first-wrong': b'\xff' + whole[1:]}
    if coding in ('gzip', 'zstd'):
        found['flipped'] = bytes(flipped)
    return found


CASES_OF_WRONG = [(coding, name) for coding in CODINGS for name in sorted(wrong(coding))]


@pytest.mark.rule('R47')
@pytest.mark.parametrize('framing', ['length', 'chunked'])
@pytest.mark.parametrize('field', ['identity', 'other'])
@pytest.mark.parametrize('coding, name', CASES_OF_WRONG)
def test_a_body_that_is_not_what_it_says(server, origin, protocol, coding, name, field, framing):
    """The end does not come, whatever the client gets of it before."""
    if field == 'other':
        field = 'zstd' if coding == 'gzip' else 'gzip'
    path = origin.on(f'/origin/{coding}-{name}-{framing}', wrong(coding)[name], framing=framing,
                     headers=HTML + [('Content-Encoding', coding)])
    assert ENDS_BADLY[protocol](server, path, field)


class OneMore(Reply):
    """Announces one byte more than comes, in its length or in its one chunk."""

    def __init__(self, body, framing, headers):
        super().__init__(body + b'x', framing=framing, cut=len(body), headers=headers)

    def pieces(self):
        if self.framing == 'chunked':
            yield b'%x\r\n' % len(self.body)
        yield self.body[:self.cut]


@pytest.mark.rule('R47', 'R39')
@pytest.mark.parametrize('framing', ['length', 'chunked'])
@pytest.mark.parametrize('coding', CODINGS)
def test_a_transport_that_breaks_behind_the_end(server, origin, protocol, coding, framing):
    """The coded body is whole, but the message is not."""
    path = f'/origin/behind-{coding}-{framing}'
    origin.replies[path] = OneMore(coded(BODY, coding), framing,
                                   HTML + [('Content-Encoding', coding)])
    assert ENDS_BADLY[protocol](server, path, 'identity')


@pytest.mark.rule('R47')
def test_counters_keep_origins_and_clients_apart(launch, site, origin):
    server = launch(site.but(params={'decode.responses': 'on'}, scopes=(
        Scope('/origin/', origin=origin.port),)))
    headers = HTML + [('Content-Encoding', 'gzip')]
    bad = origin.on('/origin/bad', coded(BODY, 'gzip')[:-3], headers=headers)
    for _ in range(3):
        assert ENDS_BADLY['h1'](server, bad, 'identity')
    long = origin.on('/origin/long', coded(random.Random(5).randbytes(9 << 20), 'gzip'),
                     headers=headers)
    for _ in range(2):
        with client.Connection(server.port) as connection:
            connection.send(long)
            connection.head()
            connection.abort()
    until(lambda: server.counters().get('terse.exchanges.aborted') == 2)
    counters = server.counters()
    assert counters['terse.exchanges.source-broke'] == 3
    assert counters['terse.reason.bad-origin'] == 3


# ---- that decode to much more ---------------------------------------------------------------------

def bomb(coding, size=ZEROS):
    """A body of zeros, which shrinks to a thousandth and less."""
    encoder = Flushed(coding)
    block = bytes(1 << 20)
    return b''.join(encoder.part(block) for _ in range(size >> 20)) + encoder.end()


@pytest.mark.rule('R46')
@pytest.mark.parametrize('field', ['identity', 'other'])
@pytest.mark.parametrize('coding', CODINGS)
def test_a_body_that_decodes_to_much_more(server, origin, coding, field):
    """It comes whole, at the client's pace, and holds up nobody: another client gets an answer while
    the first reads nothing."""
    if field == 'other':
        field = 'zstd' if coding == 'gzip' else 'gzip'
    path = origin.on(f'/origin/zeros-{coding}', bomb(coding),
                     headers=HTML + [('Content-Encoding', coding)])
    with client.Connection(server.port) as connection:
        connection.send(path, [('Accept-Encoding', field)])
        head = connection.head()
        before = server.rss()
        assert client.h1(server.port, '/two.json').body == b'{}'
        decoder, length = Decoder(head.coding), 0
        for chunk in connection.chunks():
            plain = decoder.more(chunk)
            assert plain.count(0) == len(plain)
            length += len(plain)
        assert length == ZEROS
        assert server.rss() - before < 24 << 10


@pytest.mark.rule('R46')
def test_codings_within_codings(server, origin):
    """Three layers of it: the first gives 64 MB for 200 bytes."""
    inner = gzip.compress(gzip.compress(bomb('gzip')))
    path = origin.on('/origin/nested', inner,
                     headers=HTML + [('Content-Encoding', 'gzip, gzip, gzip')])
    with client.Connection(server.port) as connection:
        connection.send(path)
        connection.head()
        assert sum(len(chunk) for chunk in connection.chunks()) == ZEROS
