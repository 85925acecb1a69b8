# SPDX-License-Identifier: MIT
"""Streams that go on for long: seen as they come, bounded in memory, ended by the server's end."""
import base64
import os
import random
import subprocess
import threading
import time

import client
import pytest
from decoders import decode
from gateways import FastCGI, add_relay
from origins import Reply
from server import until
from sites import Scope
from streams import Streams
from test_events import CLIENTS, EVENTS, STREAM, Decoder, Events, make_events

ONLY = ['lighttpd']
CODINGS = ['gzip', 'br', 'zstd']
STREAMS_KB = 64 << 10  # codecs of a worker, by the default of pool.memory


@pytest.fixture(scope='module')
def fastcgi():
    application = FastCGI()
    yield application
    application.close()


@pytest.fixture(scope='module')
def streaming_site(site, origin, fastcgi, files):
    add_relay(files)
    return site.but(streaming=1, scopes=(
        Scope('/origin/', origin=origin.port),
        Scope('/fastcgi/', origin=fastcgi.port, via='fastcgi')))


# ---- seen live -----------------------------------------------------------------------------------

def listen(server, path, coding, reply):
    """curl as somebody would run it: an event is reported when its lines are on the terminal."""
    process = subprocess.Popen(
        ['curl', '-q', '-s', '-N', '--compressed', '-H', f'Accept-Encoding: {coding}',
         f'http://127.0.0.1:{server.port}{path}'], stdout=subprocess.PIPE)
    for n, event in enumerate(reply.events):
        assert process.stdout.read(len(event)) == event
        reply.reported.put(n)
    assert process.stdout.read() == b''
    return process.wait(client.TIMEOUT)


@pytest.mark.parametrize('coding', CODINGS)
def test_curl_shows_events_live(launch, streaming_site, origin, files, coding):
    server = launch(streaming_site)
    # of a flush in br this curl shows 16 KB at most, and the rest with the next one
    events = [event for event in make_events(files.text, EVENTS) if len(event) < 16384]
    reply = Events(events, 'chunked')
    origin.replies['/origin/curl'] = reply
    assert listen(server, '/origin/curl', coding, reply) == 0
    assert server.wait_entry('/origin/curl').coding == coding


@pytest.mark.parametrize('coding', ['gzip', 'br'])
def test_mod_deflate_codes_none(launch, streaming_site, origin, files, coding):
    """The same events, with lighttpd's own module in the place of this one."""
    server = launch(streaming_site.but(
        order='stock', enable=None, raw='deflate.mimetypes = ( "text/" )\n'
        'deflate.allowed-encodings = ( "gzip", "br", "zstd" )'))
    reply = Events(make_events(files.text, EVENTS), 'chunked')
    origin.replies['/origin/stock'] = reply
    with client.Connection(server.port) as connection:
        connection.send('/origin/stock', [('Accept-Encoding', coding)])
        assert connection.head().coding is None
        chunks = connection.chunks()
        for n, event in enumerate(reply.events):
            seen = b''
            while len(seen) < len(event):
                seen += next(chunks)
            assert seen == event
            reply.reported.put(n)
    # but it does code what is complete
    assert client.h1(server.port, '/page.html', [('Accept-Encoding', 'gzip')]).coding == 'gzip'


# ---- slow readers --------------------------------------------------------------------------------

class Endless(Reply):
    """A backend that never ends; sent: bytes that it got rid of."""

    def __init__(self):
        super().__init__(headers=STREAM, framing='chunked')
        self.sent, self.over = 0, threading.Event()

    def pieces(self):
        rng = random.Random(7)
        while not self.over.is_set():
            piece = base64.b64encode(rng.randbytes(24576))
            yield b'%x\r\n%s\r\n' % (len(piece), piece)
            self.sent += len(piece)


def busy(server, files, seconds):
    """Others are served while so much time passes: how many."""
    served, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        answer = client.h1(server.port, '/page.html', [('Accept-Encoding', CODINGS[served % 3])])
        assert answer.plain == files.contents['page.html'] and answer.coding
        served += 1
    return served


def nothing_moves(replies):
    """No backend has got rid of a byte for half a second."""
    before = sum(reply.sent for reply in replies)
    time.sleep(0.5)
    return before == sum(reply.sent for reply in replies)


def cpu_seconds(server):
    """What the server has used of the processor."""
    with open(f'/proc/{server.pid}/stat', encoding='ascii') as stat:
        fields = stat.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def slow_readers(server, origin):
    """Clients that do not read, over HTTP/1 and HTTP/2, of backends that never end."""
    readers, replies = [], []
    for n in range(6):
        reply = Endless()
        origin.replies[f'/origin/endless-{n}'] = reply
        field = [('Accept-Encoding', CODINGS[n % 3])]
        if n % 2:
            readers.append(Streams(server.port, feed=False))
            readers[-1].ask(f'/origin/endless-{n}', field)
        else:
            readers.append(client.Connection(server.port))
            readers[-1].send(f'/origin/endless-{n}', field)
        replies.append(reply)
    return readers, replies


@pytest.mark.plain
def test_slow_readers_of_endless_bodies(launch, streaming_site, origin, files):
    """With stream-response-body = 2 the backend waits as well: nothing grows, on disk either."""
    server = launch(streaming_site.but(streaming=2))
    busy(server, files, 0.5)
    begin = server.rss()
    readers, replies = slow_readers(server, origin)
    until(lambda: all(reply.sent for reply in replies), what='the first bytes of each')
    until(lambda: nothing_moves(replies), 60, 'an end of what is taken of the backends')
    assert busy(server, files, 1) > 0
    full = server.rss()
    print(f'RSS {begin} KB, {full} KB with six of them, {[reply.sent for reply in replies]} bytes')
    assert full <= begin + STREAMS_KB
    used = cpu_seconds(server)
    assert nothing_moves(replies), 'nobody reads, and yet something is taken'
    assert cpu_seconds(server) - used < 0.25, 'it is busy with nothing'
    for reader in readers:
        reader.close()
    for reply in replies:
        reply.over.set()
    server.wait_idle()


@pytest.mark.plain
@pytest.mark.parametrize('streaming', [1, 2])
def test_an_endless_body_that_is_read(launch, streaming_site, origin, files, streaming):
    """Memory does not follow what went through."""
    server = launch(streaming_site.but(streaming=streaming))
    reply = Endless()
    origin.replies['/origin/read'] = reply
    with client.Connection(server.port) as connection:
        connection.send('/origin/read', [('Accept-Encoding', 'gzip')])
        assert connection.head().coding == 'gzip'
        sizes = []
        for _ in range(5):
            assert len(connection.reader.read(12 << 20)) == 12 << 20
            sizes.append(server.rss())
        reply.over.set()
    print(f'RSS {sizes} KB, after 12 MB each')
    assert sizes[-1] <= sizes[0] + 512


@pytest.mark.parametrize('streaming', [1, 2])
def test_a_quiet_stream_is_no_work(launch, streaming_site, origin, files, protocol, streaming):
    """Its source has paused; what it had sent has left."""
    server = launch(streaming_site.but(streaming=streaming))
    reply = Events(make_events(files.text, 3), 'chunked')
    origin.replies['/origin/quiet'] = reply
    answer = CLIENTS[protocol](server.port, '/origin/quiet', [('Accept-Encoding', 'br')], False)
    assert next(answer).coding == 'br'
    decoder, seen = Decoder('br'), b''
    while len(seen) < len(reply.events[0]):
        seen += decoder.more(next(answer))
    used = cpu_seconds(server)
    time.sleep(0.5)
    assert cpu_seconds(server) - used < 0.25, 'it is busy with nothing'
    for n in range(len(reply.events)):
        reply.reported.put(n)
    for data in answer:
        seen += decoder.more(data)
    assert seen == b''.join(reply.events)
    server.wait_idle()


# ---- the server's end ----------------------------------------------------------------------------

def begun(server, origin, name, text):
    """A client in the middle of a stream."""
    reply = Events([text[:20000], text[:20000], text[:20000]], 'chunked')
    origin.replies[f'/origin/{name}'] = reply
    connection = client.Connection(server.port)
    connection.send(f'/origin/{name}', [('Accept-Encoding', 'gzip')])
    assert connection.head().coding == 'gzip'
    return connection, reply


def timers_of(server):
    folder = f'/proc/{server.pid}/fd'
    return [os.readlink(f'{folder}/{fd}') for fd in os.listdir(folder)].count(
        'anon_inode:[timerfd]')


@pytest.mark.parametrize('streaming', [1, 2])
def test_a_restart_in_the_middle(launch, streaming_site, origin, files, streaming):
    """The server ends what it has begun before it starts again; new clients find it as before."""
    server = launch(streaming_site.but(streaming=streaming))
    starts = server.log().count('server started')
    connection, reply = begun(server, origin, f'usr1-{streaming}', files.text)
    server.reload()
    until(lambda: 'graceful shutdown started' in server.log(), what='a graceful restart')
    for n in range(3):
        reply.reported.put(n)
    assert decode('gzip', b''.join(connection.chunks())) == files.text[:20000] * 3
    connection.close()
    until(lambda: server.log().count('server started') > starts, 30, 'a second start')
    connection, reply = begun(server, origin, f'again-{streaming}', files.text)
    assert timers_of(server) == 1, 'what the module had before is still there'
    for n in range(3):
        reply.reported.put(n)
    assert b''.join(connection.chunks())
    connection.close()


@pytest.mark.parametrize('wait', [False, True], ids=['held', 'coded'])
def test_a_stop_in_the_middle(launch, streaming_site, origin, files, wait):
    """It ends well itself (launch looks at that), and the client sees that its body is not whole."""
    server = launch(streaming_site)
    if wait:
        connection, reply = begun(server, origin, 'term', files.text)
    else:
        reply = Events([b'ab'], 'length')
        reply.body = files.text[:1000]
        origin.replies['/origin/term-held'] = reply
        connection = client.Connection(server.port)
        connection.send('/origin/term-held', [('Accept-Encoding', 'gzip')])
        until(lambda: reply.sent_at, what='a backend that was asked')
    server.stop()
    with pytest.raises((client.Broken, OSError)):
        if wait:
            b''.join(connection.chunks())
        else:
            connection.answer()
    connection.close()
    reply.reported.put(0)
