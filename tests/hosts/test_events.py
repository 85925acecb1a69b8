# SPDX-License-Identifier: MIT
"""An origin that pauses: it sends an event only after the client has reported the one before, so a
coded event that waits somewhere is a hang, however long anything takes."""
import queue
import statistics
import time
import zlib

import brotli
import client
import pytest
import zstandard
from gateways import FastCGI, add_relay
from origins import Reply
from sites import Scope
from streams import Streams

CODINGS = ['gzip', 'br', 'zstd']
EVENTS = 20
LARGE = 70000  # more than one send has room for
STREAM = [('Content-Type', 'text/event-stream'), ('Cache-Control', 'no-cache')]


class Events(Reply):
    """Event n + 1 leaves when `reported` says n."""

    def __init__(self, events, framing):
        super().__init__(headers=STREAM, framing=framing)
        self.patience = client.TIMEOUT
        self.events, self.reported, self.sent_at = events, queue.Queue(), []

    def _framed(self, data):
        return b'%x\r\n%s\r\n' % (len(data), data) if self.framing == 'chunked' else data

    def _wait_for(self, n):
        try:
            assert self.reported.get(timeout=self.patience) == n
        except queue.Empty:
            raise TimeoutError from None  # ends the connection: the client sees it

    def pieces(self):
        for n, event in enumerate(self.events):
            self.sent_at.append(time.monotonic())
            yield self._framed(event)
            self._wait_for(n)
        if self.framing == 'chunked':
            yield b'0\r\n\r\n'


class Late(Events):
    """The first event leaves when the client has the headers."""

    def pieces(self):
        self._wait_for(-1)
        yield from super().pieces()


# ---- clients that take what comes ----------------------------------------------------------------

def over_h1(port, path, headers, tls):
    """The answer's head, then its bytes, as they come."""
    with client.Connection(port, tls=tls) as connection:
        connection.send(path, headers)
        head = connection.head()
        assert head.header('transfer-encoding') == 'chunked', head
        yield head
        yield from connection.chunks()


def over_h2(port, path, headers, tls):
    with Streams(port, tls=tls) as streams:
        stream, taken = streams.ask(path, headers), 0
        streams.until(lambda: stream in streams.answers)
        answer = streams.answers[stream]
        yield answer
        while stream not in streams.ended:
            yield bytes(answer.body[taken:])
            taken = len(answer.body)
            streams.turn()
            if stream in streams.broken:
                raise client.Broken('the server reset the stream')
        yield bytes(answer.body[taken:])


CLIENTS = {'h1': over_h1, 'h2': over_h2}


class Plain:
    """What is not coded."""

    def decompress(self, data):
        return data

    eof, unused_data = True, b''


class Decoder:
    """What each library makes of bytes so far."""

    def __init__(self, coding):
        if coding is None:
            self.codec = Plain()
        elif coding == 'gzip':
            self.codec = zlib.decompressobj(31)
        elif coding == 'br':
            self.codec = brotli.Decompressor()
        else:
            self.codec = zstandard.ZstdDecompressor().decompressobj()

    def more(self, data):
        if isinstance(self.codec, brotli.Decompressor):
            return self.codec.process(data)
        return self.codec.decompress(data) if data else b''

    def ended(self):
        if isinstance(self.codec, brotli.Decompressor):
            return self.codec.is_finished()
        return self.codec.eof and not self.codec.unused_data


# ---- cases ---------------------------------------------------------------------------------------

def make_events(text, n):
    """The first is shorter than what is coded at all; one is long."""
    sizes = [20] + [60 + 97 * i % 700 for i in range(1, n)]
    sizes[n // 2] = LARGE
    line, events, at = b' '.join(text.split()), [], 0
    for number, size in enumerate(sizes):
        events.append(b'id: %d\ndata: %s\n\n' % (number, line[at:at + size]))
        at += size
    return events


def follow(answer, decoder, reply):
    """Reports each event once its whole text has been decoded: [seconds that each took]"""
    whole = b''.join(reply.events)
    ends = [len(b''.join(reply.events[:n + 1])) for n in range(len(reply.events))]
    seen, took = b'', []
    for data in answer:
        seen += decoder.more(data)
        sent = len(reply.sent_at)
        assert seen == whole[:len(seen)], 'not the bytes of the origin'
        assert len(seen) <= ends[sent - 1]
        while len(took) < sent and len(seen) == ends[len(took)]:
            took.append(time.monotonic() - reply.sent_at[len(took)])
            reply.reported.put(len(took) - 1)
    assert decoder.ended(), 'the coded body has no end'
    assert len(took) == len(reply.events)
    assert seen == whole
    return took


@pytest.fixture(scope='module')
def fastcgi():
    application = FastCGI()
    yield application
    application.close()


def streaming_site(site, origin, fastcgi, certificate, server_class):
    """The module is told of FastCGI where it is of use."""
    scopes = [Scope('/origin/', origin=origin.port)]
    if 'gateways' not in server_class.lacks:
        scopes.append(Scope('/fastcgi/', origin=fastcgi.port, via='fastcgi'))
    return site.but(tls=certificate, streaming=1, scopes=tuple(scopes))


@pytest.fixture(scope='module')
def servers(launch_shared, site, origin, fastcgi, certificate, server_class, files):
    """One for each of lighttpd's ways, once it is asked for: servers(2)."""
    add_relay(files)
    whole = streaming_site(site, origin, fastcgi, certificate, server_class)
    running = {}

    def server(streaming):
        if streaming not in running:
            running[streaming] = launch_shared(whole.but(streaming=streaming))
        return running[streaming]

    yield server
    for one in running.values():
        one.wait_idle()


def announce(origin, fastcgi, via, name, reply):
    """Where a client asks for the reply."""
    path = f'/{"fastcgi" if via == "fastcgi" else "origin"}/{name}'
    (fastcgi if via == 'fastcgi' else origin).replies[path] = reply
    return f'/relay.cgi?{origin.port}{path}' if via == 'cgi' else path


@pytest.mark.rule('R38', kinds=('proxied',), sides=('coded',))
@pytest.mark.parametrize('via, framing, streaming', [
    ('proxy', 'chunked', 1), ('proxy', 'close', 1),
    pytest.param('proxy', 'chunked', 2, marks=pytest.mark.needs('gateways')),
    pytest.param('fastcgi', 'close', 1, marks=pytest.mark.needs('gateways')),
    pytest.param('cgi', 'close', 1, marks=pytest.mark.needs('gateways'))])
@pytest.mark.parametrize('secured', [False, True], ids=['cleartext', 'tls'])
@pytest.mark.parametrize('coding', CODINGS)
def test_events(servers, origin, fastcgi, files, protocol, secured, coding, via, framing,
                streaming):
    server = servers(streaming)
    reply = Events(make_events(files.text, EVENTS), framing)
    path = announce(origin, fastcgi, via, f'events-{protocol}-{secured}-{coding}-{framing}', reply)
    port = server.tls_port if secured else server.port
    answer = CLIENTS[protocol](port, path, [('Accept-Encoding', coding)], secured)
    head = next(answer)
    assert (head.status, head.coding) == (200, coding)
    took = follow(answer, Decoder(coding), reply)
    print(f'{via}, {protocol}{" over TLS" if secured else ""}, {coding}: an event is there after '
          f'{statistics.median(took) * 1000:.1f} ms (median)')


@pytest.mark.rule('R38', kinds=('generated', 'proxied'), sides=('coded',))
@pytest.mark.parametrize('via, framing', [
    ('proxy', 'chunked'),
    pytest.param('fastcgi', 'close', marks=pytest.mark.needs('gateways')),
    ('cgi', 'close')])
@pytest.mark.parametrize('coding', CODINGS)
def test_headers_do_not_wait_for_the_first_event(servers, origin, fastcgi, files, protocol, coding,
                                                 via, framing):
    reply = Late(make_events(files.text, 3), framing)
    path = announce(origin, fastcgi, via, f'late-{protocol}-{coding}', reply)
    answer = CLIENTS[protocol](servers(1).port, path, [('Accept-Encoding', coding)], False)
    assert next(answer).coding == coding
    reply.reported.put(-1)
    follow(answer, Decoder(coding), reply)


@pytest.mark.rule('R38', kinds=('generated', 'proxied'), sides=('plain',))
@pytest.mark.parametrize('via, framing', [('proxy', 'chunked'), ('cgi', 'close')])
def test_events_that_are_not_coded(servers, origin, fastcgi, files, protocol, via, framing):
    reply = Events(make_events(files.text, 3), framing)
    path = announce(origin, fastcgi, via, f'plain-{protocol}', reply)
    answer = CLIENTS[protocol](servers(1).port, path, [], False)
    head = next(answer)
    assert (head.coding, head.vary) == (None, ['accept-encoding'])
    follow(answer, Decoder(None), reply)
