# SPDX-License-Identifier: MIT
"""Streams whose source pauses: the server's own ticks park them, and the next event of each arrives
right."""
import contextlib
import time

import client
import pytest
import zstandard
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
            if self.library.eof:
                self.library = zstandard.ZstdDecompressor().decompressobj()
                self.frames += 1
            plain += super().more(data)
            data = self.library.unused_data
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
