# SPDX-License-Identifier: MIT
"""Streams whose source pauses: the server's own ticks park them, and the next event of each arrives
right."""
import contextlib
import random
import time

import client
import pytest
import zstandard
from many import MANY_CONNECTIONS, many_files  # noqa: F401
from server import until
from sites import Scope
from test_events import Decoder, Events

STREAMS = 10
EVENTS = [b'data: the first event\n\n', b'data: the one after the pause\n\n', b'data: the last\n\n']
SETTINGS = {'stream.park': '200ms', 'zstd.frames': 'several'}


class Frames(Decoder):
    """Of zstd one frame after another."""

    def __init__(self, coding):
        super().__init__(coding)
        self.frames = 1

    def more(self, data):
        plain = b''
        while data:
            if self.codec.eof:
                self.codec = zstandard.ZstdDecompressor().decompressobj()
                self.frames += 1
            plain += super().more(data)
            data = self.codec.unused_data
        return plain


class Watcher:
    """One client, and what it has decoded so far."""

    def __init__(self, stack, server, path, coding, reply):
        self.reply, self.decoder, self.plain = reply, Frames(coding), b''
        self.connection = stack.enter_context(client.Connection(server.port))
        self.connection.send(path, [('Accept-Encoding', coding)])
        assert self.connection.head().coding == coding
        self.chunks = self.connection.chunks()

    def wait_for(self, plain):
        while len(self.plain) < len(plain):
            self.plain += self.decoder.more(next(self.chunks))
        assert self.plain == plain

    def wait_for_end(self):
        for data in self.chunks:
            self.plain += self.decoder.more(data)
        assert self.decoder.ended()
        assert self.plain == b''.join(EVENTS)


def until_parked(server, number, resumed=None):
    """Counters may be of the last full second: how many have gone on by then tells of when."""
    deadline = time.monotonic() + 60
    while True:
        counters = server.counters()
        if counters.get('terse.streams.parked') == number and \
                resumed in (None, counters['terse.streams.resumed']):
            return
        assert time.monotonic() < deadline, counters
        time.sleep(0.1)


@pytest.fixture(scope='module')
def server(launch_shared, site, origin):
    return launch_shared(site.but(params=SETTINGS, streaming=1, scopes=(
        Scope('/origin/', origin=origin.port),)))


@pytest.mark.parametrize('coding, frames', [('gzip', 1), ('zstd', len(EVENTS))])
def test_events_after_a_pause(server, origin, coding, frames):
    before = server.counters().get('terse.streams.resumed', 0)
    with contextlib.ExitStack() as stack:
        watchers = []
        for number in range(STREAMS):
            path = f'/origin/parked-{coding}-{number}'
            reply = origin.replies[path] = Events(EVENTS, 'chunked')
            watchers.append(Watcher(stack, server, path, coding, reply))
        for n in range(len(EVENTS)):
            for watcher in watchers:
                watcher.wait_for(b''.join(EVENTS[:n + 1]))
            until_parked(server, STREAMS, before + n * STREAMS)
            for watcher in watchers:
                watcher.reply.reported.put(n)
        for watcher in watchers:
            watcher.wait_for_end()
            assert watcher.decoder.frames == frames
    until_parked(server, 0)
    assert server.counters()['terse.streams.live'] == 0


# ---- a thousand ----------------------------------------------------------------------------------

MANY = 1000
PATIENCE = 400  # seconds that an event may be in coming, with so many threads and clients
IN_NO_HURRY = {'h2o': f'proxy.timeout.io: {PATIENCE * 1000}'}


def held(server):
    """Bytes of the pool that are in use; the counters come once a second."""
    counters = {}

    def there():
        counters.update(server.counters())
        return 'terse.memory.held' in counters

    until(there, what='counters')
    return counters['terse.memory.held'] - counters['terse.memory.idle']


@pytest.fixture
def crowded(launch, server_class, site, origin, many_files):
    raw = MANY_CONNECTIONS[server_class.name], IN_NO_HURRY.get(server_class.name, '')
    return launch(site.but(params={'stream.park': '200ms'}, streaming=1, workers=1,
                           scopes=(Scope('/origin/', origin=origin.port),), raw='\n'.join(raw)))


def watch_many(stack, server, origin):
    watchers = []
    for number in range(MANY):
        path = f'/origin/crowd-{number}'
        first, second = (f'data: {what} of {number}\n\n'.encode() for what in ('one', 'two'))
        reply = origin.replies[path] = Events([first, second], 'chunked')
        reply.patience = PATIENCE
        watchers.append(Watcher(stack, server, path, 'gzip', reply))
        watchers[-1].wait_for(first)
    return watchers


@pytest.mark.long
def test_a_thousand_pause(crowded, origin):
    """Each holds less than 1 KB meanwhile, and its next event arrives right."""
    client.h1(crowded.port, '/page.html', [('Accept-Encoding', 'gzip')])
    before = held(crowded)
    with contextlib.ExitStack() as stack:
        watchers = watch_many(stack, crowded, origin)
        until_parked(crowded, MANY)
        each = (held(crowded) - before) / MANY
        print(f'{each:.0f} bytes each, RSS {crowded.rss() / 1024:.1f} MB')
        assert each < 1024
        random.Random(4).shuffle(watchers)
        for watcher in watchers:
            watcher.reply.reported.put(0)
            watcher.wait_for(b''.join(watcher.reply.events))
        for watcher in watchers:
            watcher.reply.reported.put(1)
        for watcher in watchers:
            for data in watcher.chunks:
                watcher.plain += watcher.decoder.more(data)
            assert watcher.decoder.ended()
    crowded.wait_idle()
