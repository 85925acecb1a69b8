# SPDX-License-Identifier: MIT
"""What goes with bodies that come in parts, and what is no such body: it stays as it is."""
import base64
import itertools
import socket
import threading

import client
import h2.events
import pytest
from origins import Reply
from sites import Scope
from streams import Streams

ONLY = ['lighttpd']
ALL = [('Accept-Encoding', 'gzip, br, zstd')]
GZIP = [('Accept-Encoding', 'gzip')]
LENGTH = 700000


class Trailing(Reply):
    """Chunked, with a trailer."""
    trailers = b'X-Sum: 42\r\n'

    def pieces(self):
        yield from list(super().pieces())[:-1]
        yield b'0\r\n' + self.trailers + b'\r\n'


class Digested(Trailing):
    """Some of its trailers describe the bytes that the origin sent."""
    trailers = (b'Content-Digest: sha-256=:YQ==:\r\nX-Sum: 42\r\nREPR-DIGEST: sha-256=:Yg==:\r\n'
                b'Digest: a=b\r\nContent-MD5: Yw==\r\n')


@pytest.fixture(scope='module', params=[1, 2], ids=lambda streaming: f'stream-{streaming}')
def server(request, launch_shared, site, origin):
    return launch_shared(site.but(
        streaming=request.param, raw='proxy.header = ( "upgrade" => "enable" )', scopes=(
            Scope('/origin/', origin=origin.port), Scope('/old/', origin=origin.port,
                                                         params={'http10': 'on'}))))


@pytest.fixture
def body(files):
    return (files.text * 3)[:LENGTH]


# ---- trailers ------------------------------------------------------------------------------------

def trailers_h1(server, path):
    """(answer, what follows its last byte)"""
    with client.Connection(server.port) as connection:
        connection.send(path, GZIP + [('TE', 'trailers'), ('Connection', 'close')])
        answer = connection.head()
        return answer, b'0\r\n' + connection.rest().rpartition(b'\r\n0\r\n')[2]


class WithTrailers(Streams):
    def __init__(self, port):
        self.trailers = {}
        super().__init__(port)

    def _take(self, event):
        if isinstance(event, h2.events.TrailersReceived):
            self.trailers[event.stream_id] = event.headers
        super()._take(event)


def trailers_h2(server, path):
    """(answer, {name: value})"""
    with WithTrailers(server.port) as streams:
        stream = streams.ask(path, GZIP)
        answer = streams.whole(stream)[0]
        return answer, [tuple(field) for field in streams.trailers[stream]]


TRAILERS = {'h1': (trailers_h1, b'0\r\nX-Sum: 42\r\n\r\n'), 'h2': (trailers_h2, [('x-sum', '42')])}


@pytest.mark.rule('R33', 'R40')
@pytest.mark.parametrize('reply', [Trailing, Digested])
def test_trailers(server, origin, body, protocol, reply):
    """They come through, but for digests of a body that is not that one any more."""
    origin.replies['/origin/trailers'] = reply(body, framing='chunked')
    ask, left = TRAILERS[protocol]
    answer, trailers = ask(server, '/origin/trailers')
    assert (answer.coding, trailers) == ('gzip', left)
    if protocol == 'h2':
        assert answer.plain == body


class Paused(Trailing):
    """Two bytes; the rest, when the server has had a look at them."""

    def pieces(self):
        yield b'2\r\nab\r\n'
        threading.Event().wait(0.005)
        yield b'0\r\nX-Sum: 42\r\n\r\n'


def test_trailers_of_a_body_that_was_held_back(server, origin, get):
    """It is complete by then, and its trailers are headers.  Or it was not held for long enough."""
    origin.replies['/origin/held'] = Paused(framing='chunked')
    answer = get(server, '/origin/held', GZIP)
    assert answer.plain == b'ab'
    assert answer.coding == 'gzip' or answer.header('x-sum') == '42'


# ---- what is around a body -----------------------------------------------------------------------

@pytest.mark.rule('R40')
def test_pipelining(server, origin, body, files):
    first = origin.on('/origin/first', body, framing='chunked')
    with client.Connection(server.port) as connection:
        for _ in range(3):
            connection.send(first, GZIP)
            connection.send('/page.html', GZIP)
        for _ in range(3):
            answer = connection.answer()
            assert (answer.coding, answer.framing, answer.plain) == ('gzip', 'chunked', body)
            assert connection.answer().plain == files.contents['page.html']


@pytest.mark.rule('R40')
def test_expect_100_continue(server, origin, body):
    path = origin.on('/origin/expect', body, framing='chunked')
    with client.Connection(server.port) as connection:
        connection.send(path, GZIP + [('Expect', '100-continue'), ('Content-Length', '5')], 'POST')
        assert connection.head().status == 100
        connection.socket.sendall(b'hello')
        answer = connection.answer()
    assert (answer.status, answer.coding, answer.plain) == (200, 'gzip', body)


@pytest.mark.rule('R40')
def test_early_hints(server, origin, body):
    """A 103 before the response."""
    reply = Reply(body, framing='chunked')
    hints = b'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n'
    reply.head = lambda: hints + Reply.head(reply)
    origin.replies['/origin/hints'] = reply
    with client.Connection(server.port) as connection:
        connection.send('/origin/hints', GZIP)
        assert connection.head().status == 103
        answer = connection.answer()
    assert (answer.status, answer.coding, answer.plain) == (200, 'gzip', body)


@pytest.mark.rule('R34')
@pytest.mark.parametrize('framing', ['length', 'chunked', 'close'])
def test_head(server, origin, body, get, framing):
    """What GET would say, as far as the server knows; and no body."""
    path = origin.on(f'/origin/head-{framing}', body, framing=framing)
    answer = get(server, path, GZIP, method='HEAD')
    assert (answer.status, answer.body) == (200, b'')
    assert answer.vary == ['accept-encoding']
    assert get(server, path, GZIP).coding == 'gzip'


@pytest.mark.parametrize('framing', ['length', 'chunked', 'close'])
@pytest.mark.parametrize('scope, coding', [('origin', None), ('old', 'gzip')])
def test_http_1_0(server, origin, body, framing, scope, coding):
    path = origin.on(f'/{scope}/old-{framing}', body, framing=framing)
    answer = client.h1(server.port, path, GZIP, version='HTTP/1.0')
    assert (answer.status, answer.coding, answer.plain) == (200, coding, body)


@pytest.mark.parametrize('framing', ['length', 'chunked', 'close'])
@pytest.mark.rule('R39')
def test_a_cut_body_over_http_1_0(server, origin, body, framing):
    """The end of the connection is the end of the body: only a reset tells that it was cut."""
    path = origin.on(f'/old/cut-{framing}', body, framing=framing, cut=LENGTH // 2)
    if framing == 'close':
        assert client.h1(server.port, path, GZIP, version='HTTP/1.0').plain == body[:LENGTH // 2]
        return
    with pytest.raises((client.Broken, OSError)):
        client.h1(server.port, path, GZIP, version='HTTP/1.0')


@pytest.mark.parametrize('headers', [
    [('Content-Type', 'image/png')],
    [('Content-Type', 'text/html'), ('Content-Encoding', 'x-test')],
    [('Content-Type', 'text/html'), ('Cache-Control', 'no-transform')]])
@pytest.mark.parametrize('framing', ['length', 'chunked', 'close'])
def test_what_is_not_coded(server, origin, body, get, headers, framing):
    path = origin.on('/origin/plain', body, headers=headers, framing=framing)
    answer = get(server, path, ALL)
    assert answer.coding == dict(headers).get('Content-Encoding')
    assert answer.body == body
    if framing == 'length':
        assert answer.header('content-length') == str(LENGTH)


def test_clients_go_away(server, origin, body):
    """While the body is held back, while it is coded, and while nothing comes."""
    waiting = threading.Event()

    class Endless(Reply):
        def pieces(self):
            yield from super().pieces()
            waiting.wait(client.TIMEOUT)

    for n, sent in enumerate([b'', b'ab', body[:1000], body[:300000]] * 3):
        path = f'/origin/gone-{n}'
        origin.replies[path] = Endless(sent, framing='chunked', cut=LENGTH)
        connection = client.Connection(server.port)
        connection.send(path, GZIP)
        if n % 3:
            connection.socket.recv(100)
        connection.abort()
        with Streams(server.port) as streams:
            stream = streams.ask(path, GZIP)
            if n % 3:
                streams.until(lambda s=stream: s in streams.answers)
            streams.reset(stream)
            assert streams.whole(streams.ask('/two.json'))[0].plain == b'{}'
    waiting.set()
    server.wait_idle()


# ---- no HTTP any more ----------------------------------------------------------------------------

class Echo:
    """Switches protocols, and then says everything again."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                data = b''
                while not data.endswith(b'\r\n\r\n'):
                    data += connection.recv(4096)
                connection.sendall(b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n'
                                   b'Connection: Upgrade\r\nContent-Type: text/html\r\n\r\n')
                while (data := connection.recv(4096)):
                    connection.sendall(data)


@pytest.fixture(scope='module')
def echo():
    service = Echo()
    yield service
    service.listener.close()


@pytest.fixture(scope='module', params=[1, 2], ids=lambda streaming: f'stream-{streaming}')
def upgrading(request, launch_shared, site, echo):
    return launch_shared(site.but(
        streaming=request.param, raw='proxy.header = ( "upgrade" => "enable" )',
        scopes=(Scope('/echo', origin=echo.port),)))


@pytest.mark.rule('R40')
def test_web_sockets_h1(upgrading, files):
    key = base64.b64encode(files.text[:16]).decode()
    with client.Connection(upgrading.port) as connection:
        connection.send('/echo', ALL + [
            ('Connection', 'Upgrade'), ('Upgrade', 'websocket'), ('Sec-WebSocket-Key', key),
            ('Sec-WebSocket-Version', '13')])
        answer = connection.head()
        assert (answer.status, answer.coding, answer.header('upgrade')) == (101, None, 'websocket')
        for n in range(20):
            said = files.text[n * 500:(n + 1) * 500]
            connection.socket.sendall(said)
            assert connection.reader.read(500) == said


class Tunnel(Streams):
    """CONNECT with a protocol (RFC 8441)."""

    def open(self, path):
        stream = self.state.get_next_available_stream_id()
        self.state.send_headers(stream, [
            (':method', 'CONNECT'), (':protocol', 'websocket'), (':scheme', 'http'),
            (':path', path), (':authority', '127.0.0.1'), ('sec-websocket-version', '13'),
            ('accept-encoding', 'gzip, br, zstd')])
        self._send()
        self.until(lambda: stream in self.answers)
        return stream

    def say(self, stream, data):
        self.state.send_data(stream, data)
        self._send()


@pytest.mark.rule('R40')
def test_web_sockets_h2(upgrading, files):
    with Tunnel(upgrading.port) as tunnel:
        stream = tunnel.open('/echo')
        answer, said = tunnel.answers[stream], b''
        assert (answer.status, answer.coding) == (200, None)
        for n in range(20):
            tunnel.say(stream, files.text[n * 500:(n + 1) * 500])
            said += files.text[n * 500:(n + 1) * 500]
            tunnel.until(lambda a=answer, s=said: len(a.body) >= len(s))
            assert answer.body == said


def test_listed_before_the_gateways(launch, site, origin, body, files):
    """The module learns of a response when it begins: what streams is coded all the same."""
    server = launch(site.but(order='first', streaming=1, scopes=(
        Scope('/origin/', origin=origin.port),)))
    for framing, length in itertools.product(('length', 'chunked', 'close'), (LENGTH, 20000, 299)):
        path = origin.on(f'/origin/first-{framing}-{length}', body[:length], framing=framing)
        answer = client.h1(server.port, path, GZIP)
        assert answer.plain == body[:length]
        assert answer.coding == 'gzip' or length < LENGTH
