# SPDX-License-Identifier: MIT
"""Coded request bodies and the applications behind them: what they get, what a refusal leaves of
the connection, and what several open requests hold."""
import hashlib
import threading

import client
import pytest
from applications import Telling, TellingFastCGI
from coders import coded
from memory import nothing_held
from server import until
from sites import Scope
from streams import Streams
from test_request_bodies import PLAIN, TELL, chunked, told

MIB = 1 << 20


def expected(plain):
    return len(plain), '', hashlib.sha256(plain).hexdigest()


@pytest.fixture(scope='module')
def application():
    it = Telling()
    yield it
    it.close()


@pytest.fixture(scope='module')
def server(launch_shared, site, files, application):
    files.add_script('tell.cgi', '#!/bin/sh\n' + TELL)
    return launch_shared(site.but(params={'decode.requests': 'on'}, workers=1, scopes=(
        Scope('/to/', origin=application.port),
        Scope('/small/', origin=application.port, params={'decode.max-length': '1000'}),
        Scope('/scarce/', origin=application.port, params={
            'decode.memory': '4m', 'decode.max-ratio': '100000'}))))


# ---- fields --------------------------------------------------------------------------------------

@pytest.mark.rule('R41')
@pytest.mark.parametrize('name', ['identity', 'Identity'])
def test_identity_changes_nothing(server, get, name):
    answer = get(server, '/to/it', [('Content-Encoding', name)], method='POST', body=PLAIN[:5000])
    assert told(answer) == (5000, name, hashlib.sha256(PLAIN[:5000]).hexdigest())


@pytest.mark.rule('R41')
@pytest.mark.parametrize('coding', ['gzip, gzip, gzip, gzip', 'gzip, compress', 'aws-chunked, gzip',
                                    'gzip;q=1', 'gzi', 'gzipp'])
def test_what_is_not_on_offer(server, coding):
    answer = client.h1(server.port, '/to/it', [('Content-Encoding', coding)], 'POST',
                       body=coded(PLAIN[:5000], 'gzip'))
    assert answer.status == 415
    assert answer.header('accept-encoding') == 'gzip, br, zstd, deflate'


@pytest.mark.rule('R45')
def test_a_part_for_a_proxied_application(server, get, application):
    body = coded(PLAIN[:5000], 'gzip')
    answer = get(server, '/to/it', [('Content-Encoding', 'gzip'),
                                    ('Content-Range', 'bytes 0-99/200')], method='POST', body=body)
    assert told(answer) == (len(body), 'gzip', hashlib.sha256(body).hexdigest())


# ---- the connection ------------------------------------------------------------------------------

def head(path, *more, coding='gzip'):
    lines = [f'POST {path} HTTP/1.1', 'Host: a', f'Content-Encoding: {coding}', *more]
    return '\r\n'.join(lines + ['', '']).encode()


# ---- applications --------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def fastcgi():
    it = TellingFastCGI()
    yield it
    it.close()


@pytest.mark.rule('R41', 'R42')
@pytest.mark.needs('gateways')
@pytest.mark.parametrize('streaming', [0, 1, 2])
def test_applications_under_each_way_to_stream(launch, site, files, application, fastcgi,
                                               streaming):
    """lighttpd gives gateways what has come of a body, but not of one that is to be decoded."""
    files.add_script('tell.cgi', '#!/bin/sh\n' + TELL)
    server = launch(site.but(
        params={'decode.requests': 'on'}, raw=f'server.stream-request-body = {streaming}', scopes=(
            Scope('/to/', origin=application.port),
            Scope('/fast/', origin=fastcgi.port, via='fastcgi'))))
    for path in ('/tell.cgi', '/to/it', '/fast/it'):
        for size in (0, 45, 600000):
            slow_pieces(server, path, size)
        over_h2(server, path)


def how_long(data, framing):
    """The field that says so."""
    return f'Content-Length: {len(data)}' if framing == 'length' else 'Transfer-Encoding: chunked'


def slow_pieces(server, path, size):
    """Whole: as it is; without its last byte: refused, and the application is not asked."""
    body = coded(PLAIN[:size], 'zstd')
    for data, framing in ((body, 'length'), (body, 'chunked'), (body[:-1], 'length'),
                          (body[:-1], 'chunked')):
        line = how_long(data, framing)
        wire = data if framing == 'length' else chunked(data)
        with client.Connection(server.port) as connection:
            connection.socket.sendall(head(path, line, coding='zstd'))
            for part in (wire[:len(wire) // 2], wire[len(wire) // 2:]):
                assert client.h1(server.port, '/two.json').status == 200
                connection.socket.sendall(part)
            answer = connection.answer()
        if data is body:
            assert told(answer) == expected(PLAIN[:size]), (path, size, framing)
        else:
            assert answer.status == 400, (path, size, framing)


def over_h2(server, path):
    body = coded(PLAIN, 'br')
    answer = client.h2(server.port, path, [('Content-Encoding', 'br')], 'POST', body=body)
    assert told(answer) == expected(PLAIN)
    answer = client.h2(server.port, path, [('Content-Encoding', 'br')], 'POST', body=body[:-1])
    assert answer.status == 400


@pytest.mark.rule('R41')
def test_one_location_only(launch, site, application):
    server = launch(site.but(scopes=(
        Scope('/plain/', origin=application.port),
        Scope('/on/', origin=application.port, params={'decode.requests': 'on'}))))
    body = coded(PLAIN[:5000], 'gzip')
    as_it_came = len(body), 'gzip', hashlib.sha256(body).hexdigest()
    for _ in range(2):
        for path, there in (('/on/it', expected(PLAIN[:5000])), ('/plain/it', as_it_came)):
            answer = client.h1(server.port, path, [('Content-Encoding', 'gzip')], 'POST', body=body)
            assert told(answer) == there


# ---- behind a refusal ----------------------------------------------------------------------------

REFUSALS = {
    400: ('/to/it', 'gzip', coded(PLAIN[:5000], 'gzip')[:-1]),
    413: ('/small/it', 'gzip', coded(PLAIN[:1001], 'gzip')),
    415: ('/to/it', 'compress', b'x' * 3000),
    503: ('/scarce/it', 'gzip', coded(bytes(range(256)) * 32768, 'gzip')),
}


@pytest.mark.rule('R41', 'R42', 'R43', 'R44')
@pytest.mark.parametrize('framing', ['length', 'chunked'])
@pytest.mark.parametrize('status', REFUSALS)
def test_the_next_request_of_the_connection(server, status, framing):
    """It is right, or the server has closed the connection behind the refusal and said so."""
    path, coding, body = REFUSALS[status]
    line = how_long(body, framing)
    good = coded(PLAIN[:5000], 'gzip')
    with client.Connection(server.port) as connection:
        connection.socket.sendall(
            head(path, line, coding=coding) + (body if framing == 'length' else chunked(body))
            + head('/to/it', f'Content-Length: {len(good)}') + good)
        answer = connection.answer()
        assert answer.status == status
        if answer.header('connection') == 'close':
            assert connection.rest() == b''
        else:
            assert told(connection.answer()) == expected(PLAIN[:5000])


@pytest.mark.rule('R41', 'R42', 'R43', 'R44')
def test_the_next_streams_of_the_connection(server):
    """Refused ones among good ones, all at once."""
    good = coded(PLAIN[:5000], 'br')
    with Streams(server.port) as streams:
        asked = {}
        for status, (path, coding, body) in REFUSALS.items():
            asked[streams.ask(path, [('Content-Encoding', coding)], 'POST', body)] = status
            asked[streams.ask('/to/it', [('Content-Encoding', 'br')], 'POST', good)] = 200
        for stream, status in asked.items():
            streams.until(lambda s=stream: s in streams.ended | streams.broken)
            answer = streams.answers[stream]
            assert answer.status == status
            if status == 200:
                answer.body = bytes(answer.body)
                assert told(answer) == expected(PLAIN[:5000])


# ---- several at once -----------------------------------------------------------------------------

@pytest.mark.rule('R44')
def test_several_large_requests_at_once(server, application):
    """What an application has not answered yet counts: 1 MB each, of 4."""
    body = coded(PLAIN[:1] * MIB, 'zstd')
    answers = []

    def ask():
        answers.append(client.h1(server.port, '/scarce/it', [('Content-Encoding', 'zstd')], 'POST',
                                 body=body))

    def refused():
        return [answer for answer in answers if answer.status == 503]

    application.gate.clear()
    threads = [threading.Thread(target=ask) for _ in range(8)]
    try:
        for thread in threads:
            thread.start()
        until(lambda: len(refused()) >= 5, 30, 'five refusals')
    finally:
        application.gate.set()
        for thread in threads:
            thread.join()
    assert all(answer.header('retry-after') == '1' for answer in refused())
    right = [answer for answer in answers if answer.status == 200]
    assert 1 <= len(right) <= 3 and len(right) + len(refused()) == 8
    assert {told(answer) for answer in right} == {expected(PLAIN[:1] * MIB)}
    nothing_held(server)
    ask()
    assert told(answers[-1]) == expected(PLAIN[:1] * MIB)


# ---- lighttpd's temporary files ------------------------------------------------------------------

@pytest.mark.rule('R41')
@pytest.mark.needs('spools')
def test_no_room_for_a_temporary_file(launch, site, files):
    """The server's fault, not the client's; the application is not asked."""
    files.add_script('tell.cgi', '#!/bin/sh\n' + TELL)
    server = launch(site.but(params={'decode.requests': 'on'}, raw='''
server.upload-dirs := ( "/nowhere/at/all" )
'''))
    small, long = (coded(b'x' * size, 'gzip') for size in (60000, 6000000))
    fields = [('Content-Encoding', 'gzip')]
    answer = client.h1(server.port, '/tell.cgi', fields, 'POST', body=long)
    assert answer.status == 500
    answer = client.h1(server.port, '/tell.cgi', fields, 'POST', body=small)
    assert told(answer) == expected(b'x' * 60000)
