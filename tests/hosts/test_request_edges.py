# SPDX-License-Identifier: MIT
"""Coded request bodies where the protocol or the server has its own ways with a request."""
import gzip
import hashlib
import os
import socket
import threading

import client
import h2.errors
import pytest
from coders import coded
from gateways import FastCGI
from server import until
from sites import Scope
from streams import Streams
from test_request_bodies import PLAIN, TELL, chunked, head, post, told

BODY = gzip.compress(PLAIN[:100000])
EXPECTED = (100000, '', hashlib.sha256(PLAIN[:100000]).hexdigest())


@pytest.fixture(scope='module')
def scripts(files):
    files.add('tell.cgi', b'#!/bin/sh\n' + TELL.encode())
    os.chmod(files.path('tell.cgi'), 0o755)


@pytest.fixture(scope='module')
def server(launch_shared, site, scripts, origin):
    return launch_shared(site.but(params={'decode.requests': 'on'}, scopes=(
        Scope('/proxied/', origin=origin.port),
        Scope('/scarce/', params={'decode.memory': '1m'}))))


def idle(server):
    for name in ('terse.streams.live', 'terse.decode.held'):
        until(lambda name=name: server.counters().get(name) == 0, 15, f'{name} of 0')


# ---- the field ------------------------------------------------------------------------------------

@pytest.mark.rule('R41')
@pytest.mark.parametrize('fields, codings', [
    (['GZIP'], 'gzip'), (['x-gzip'], 'gzip'), (['X-GZip , identity'], 'gzip'), (['identity'], None),
    (['Identity', 'identity'], None), (['br', 'gzip'], 'br, gzip'), ([' , gzip,, br ,'], 'gzip, br'),
    (['zstd, identity, BR'], 'zstd, br')])
def test_names_and_lines(server, protocol, get, fields, codings):
    body = coded(PLAIN[:5000], codings) if codings else PLAIN[:5000]
    answer = get(server, '/tell.cgi', [('Content-Encoding', field) for field in fields],
                 method='POST', body=body)
    assert answer.status == 200
    length, label, digest = answer.plain.decode().split('/')
    assert (int(length), digest.split()[0]) == (5000, hashlib.sha256(PLAIN[:5000]).hexdigest())
    assert codings is None or label == ''


# ---- HTTP/1 ---------------------------------------------------------------------------------------

@pytest.mark.rule('R41')
def test_who_waits_to_be_told(server):
    """Expect: 100-continue (section 10.1.1): the body is sent once it is asked for, or not at all."""
    with client.Connection(server.port) as connection:
        connection.socket.sendall(head(f'Content-Length: {len(BODY)}', 'Expect: 100-continue'))
        first = connection.head()
        assert first.status == 100
        connection.socket.sendall(BODY)
        assert told(connection.answer()) == EXPECTED


@pytest.mark.rule('R41')
def test_who_waits_and_is_refused(server):
    with client.Connection(server.port) as connection:
        connection.socket.sendall(head(f'Content-Length: {len(BODY)}', 'Expect: 100-continue')
                                  .replace(b'gzip', b'compress'))
        answer = connection.head()
        while answer.status == 100:  # a server may ask before it looks
            connection.socket.sendall(BODY)
            answer = connection.head()
        assert answer.status == 415
        assert 'gzip' in answer.header('accept-encoding')


@pytest.mark.rule('R42', 'R43')
@pytest.mark.parametrize('label, body, path, status', [
    (b'gzip', BODY[:-1], '/tell.cgi', 400), (b'compress', BODY, '/tell.cgi', 415),
    (b'gzip', gzip.compress(bytes(range(256)) * 8192), '/scarce/tell.cgi', 503),
    (b'gzip', gzip.compress(bytes(3 << 20)), '/tell.cgi', 413)],
                         ids=['bad', 'unknown', 'scarce', 'long'])
def test_what_follows_a_refusal(server, label, body, path, status):
    """The next request on the connection is answered, or the connection is closed cleanly."""
    with client.Connection(server.port) as connection:
        connection.socket.sendall(
            head(f'Content-Length: {len(body)}', path=path).replace(b'gzip', label) + body)
        answer = connection.answer()
        assert answer.status == status
        connection.socket.sendall(head(f'Content-Length: {len(BODY)}') + BODY)
        try:
            assert told(connection.answer()) == EXPECTED
        except (client.Broken, ConnectionError):
            assert answer.header('connection') == 'close' or status == 415
    idle(server)


def slowly(connection, body, gaps=20):
    connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    size = len(body) // gaps + 1
    for at in range(0, len(body), size):
        connection.socket.sendall(body[at:at + size])


@pytest.mark.rule('R41')
def test_a_body_in_many_segments(server):
    with client.Connection(server.port) as connection:
        connection.socket.sendall(head('Transfer-Encoding: chunked'))
        slowly(connection, chunked(BODY, 333), 60)
        assert told(connection.answer()) == EXPECTED


# ---- HTTP/2 ---------------------------------------------------------------------------------------

@pytest.mark.rule('R41')
def test_streams_that_are_reset(server):
    """In the middle of a body; the connection goes on."""
    with Streams(server.port) as streams:
        for sent in (1, len(BODY) // 2, len(BODY) - 1):
            stream = streams.state.get_next_available_stream_id()
            streams.state.send_headers(stream, [
                (':method', 'POST'), (':scheme', 'http'), (':authority', 'a'),
                (':path', '/tell.cgi'), ('content-encoding', 'gzip')])
            streams.state.send_data(stream, BODY[:sent][:16000])
            streams.socket.sendall(streams.state.data_to_send())
            streams.state.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
            streams.socket.sendall(streams.state.data_to_send())
        after = streams.ask('/tell.cgi', [('content-encoding', 'gzip')], 'POST',
                            gzip.compress(b'x' * 5000))
        assert streams.whole(after)[0].plain.startswith(b'5000//')
    idle(server)


@pytest.mark.rule('R41', 'R42')
def test_streams_side_by_side(server):
    """Good and bad ones on one connection."""
    with Streams(server.port) as streams:
        small = gzip.compress(PLAIN[:9000])
        asked = [(streams.ask('/tell.cgi', [('content-encoding', 'gzip')], 'POST',
                              small if n % 2 else small[:-2]), 200 if n % 2 else 400)
                 for n in range(6)]
        for stream, status in asked:
            assert streams.whole(stream)[0].status == status


# ---- servers' ways --------------------------------------------------------------------------------

@pytest.mark.rule('R41')
@pytest.mark.needs('gateways')
@pytest.mark.parametrize('streaming', [0, 1, 2])
def test_request_streaming(launch, site, scripts, origin, protocol, get, streaming):
    """lighttpd's server.stream-request-body: what is decoded is complete all the same."""
    server = launch(site.but(params={'decode.requests': 'on'}, scopes=(
        Scope('/proxied/', origin=origin.port),), raw=f'server.stream-request-body = {streaming}'))
    assert told(post(server, get, BODY, 'gzip')) == EXPECTED
    origin.on('/proxied/it', b'taken')
    origin.seen.clear()
    answer = get(server, '/proxied/it', [('Content-Encoding', 'gzip')], method='POST', body=BODY)
    assert answer.body == b'taken'
    (_, fields), = origin.seen
    assert fields['content-length'] == '100000' and 'content-encoding' not in fields


@pytest.mark.rule('R41')
@pytest.mark.needs('gateways')
def test_a_fastcgi_application(launch, site, protocol, get):
    application = FastCGI()
    server = launch(site.but(params={'decode.requests': 'on'}, scopes=(
        Scope('/fastcgi/', origin=application.port, via='fastcgi'),)))
    application.on('/fastcgi/it', b'taken')
    answer = get(server, '/fastcgi/it', [('Content-Encoding', 'gzip')], method='POST', body=BODY)
    assert (answer.status, answer.plain) == (200, b'taken')
    answer = get(server, '/fastcgi/it', [('Content-Encoding', 'gzip')], method='POST',
                 body=BODY[:-1])
    assert answer.status == 400
    application.close()


@pytest.mark.rule('R41', 'R44')
@pytest.mark.needs('gateways')
@pytest.mark.parametrize('raw', [
    'server.error-handler = "/gone.cgi"', 'server.error-handler-404 = "/gone.cgi"',
    'server.errorfile-prefix = "/nowhere/status-"'])
def test_error_documents(launch, site, scripts, raw):
    """lighttpd's pages for errors do not take the place of a refusal, nor its fields."""
    def ask(server, path, headers, **kwargs):
        return client.h1(server.port, path, headers, **kwargs)

    server = launch(site.but(params={'decode.requests': 'on', 'decode.memory': '1m'}, raw=raw))
    answer = post(server, ask, BODY, 'compress')
    assert answer.status == 415 and 'gzip' in answer.header('accept-encoding')
    answer = post(server, ask, gzip.compress(bytes(range(256)) * 8192), 'gzip')
    assert (answer.status, answer.header('retry-after')) == (503, '1')


@pytest.mark.needs('reload')
@pytest.mark.rule('R41')
def test_a_reload_in_the_middle(launch, site, scripts):
    """The body began before the server reads its configuration again, and ends after it."""
    server = launch(site.but(params={'decode.requests': 'on'}, reloads=True))
    with client.Connection(server.port) as connection:
        connection.socket.sendall(head(f'Content-Length: {len(BODY)}') + BODY[:1000])
        until(lambda: server.counters() is not None)
        reloading = threading.Thread(target=server.reload)
        reloading.start()
        connection.socket.sendall(BODY[1000:])
        assert told(connection.answer()) == EXPECTED
        reloading.join()
    # a signal in between would be lost on lighttpd, and the server would not end
    until(lambda: server.log().count(': plugin ') == 2, what='the next start')
    until(lambda: server.counters() is not None)
