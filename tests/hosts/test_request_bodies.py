# SPDX-License-Identifier: MIT
"""Request bodies that have a content coding: what the application sees, and what is refused."""
import gzip
import hashlib
import os
import zlib

import brotli
import client
import pytest
import zstandard
from coders import CODERS, coded
from server import until
from sites import Scope

PLAIN = b''.join(b'line %d of a form\n' % n for n in range(40000))[:600000]
TELL = '''printf 'Content-Type: text/plain\\r\\n\\r\\n%s/%s/' "$CONTENT_LENGTH" "$HTTP_CONTENT_ENCODING"
exec sha256sum
'''


@pytest.fixture(scope='module')
def server(launch_shared, site, files, origin):
    files.add('tell.cgi', b'#!/bin/sh\n' + TELL.encode())
    os.chmod(files.path('tell.cgi'), 0o755)
    return launch_shared(site.but(params={'decode.requests': 'on'}, scopes=(
        Scope('/proxied/', origin=origin.port),
        Scope('/small/', params={'decode.max-length': '1000'}),
        Scope('/scarce/', params={'decode.memory': '1m'}),
        Scope('/off/', params={'decode.requests': 'off'}))))


def post(server, get, body, coding, path='/tell.cgi', more=()):
    headers = [('Content-Encoding', coding)] if coding else []
    return get(server, path, headers + list(more), method='POST', body=body)


def told(answer):
    length, coding, digest = answer.plain.decode().split('/', 2)
    return int(length), coding, digest.split()[0]


@pytest.mark.parametrize('size', [0, 1, 45, 5000, 100000, 600000])
@pytest.mark.parametrize('codings', ['gzip', 'br', 'zstd', 'deflate', 'br, gzip',
                                     'gzip, zstd, br'])
def test_the_application_sees_the_plain_body(server, get, codings, size):
    plain = PLAIN[:size]
    answer = post(server, get, coded(plain, codings), codings)
    assert answer.status == 200
    assert told(answer) == (size, '', hashlib.sha256(plain).hexdigest())


@pytest.mark.parametrize('coding', sorted(CODERS))
@pytest.mark.parametrize('fault, change', [
    ('cut short', lambda data: data[:-3]), ('bytes behind it', lambda data: data + b'x'),
    ('text', lambda data: PLAIN[:2000])])
def test_what_is_not_in_its_coding(server, get, coding, fault, change):
    answer = post(server, get, change(coded(PLAIN[:20000], coding)), coding)
    assert answer.status == 400
    assert b'content coding' in answer.body


def test_an_unknown_coding(server, protocol, get):
    """lighttpd may answer, and reset the stream, before the body came: curl takes that for an
    error, so the body is left out over HTTP/2."""
    answer = post(server, get, b'', 'aws-chunked', more=[('Content-Length', '0')]) \
        if protocol == 'h2' else post(server, get, b'x' * 500, 'aws-chunked')
    assert answer.status == 415
    assert answer.header('accept-encoding') == 'gzip, br, zstd, deflate'


@pytest.mark.rule('R43')
def test_the_longest_body(server, get):
    assert post(server, get, coded(PLAIN[:1000], 'gzip'), 'gzip', '/small/tell.cgi').status == 404
    assert post(server, get, coded(PLAIN[:1001], 'gzip'), 'gzip', '/small/tell.cgi').status == 413


@pytest.mark.rule('R43')
def test_a_bomb(server, get):
    bomb = gzip.compress(bytes(10 << 20), 9)
    answer = post(server, get, gzip.compress(bomb, 9), 'gzip, gzip')
    assert answer.status == 413


@pytest.mark.rule('R44')
def test_no_memory_for_it(server, get):
    """The body and its decoder are more than may be held; nothing is held afterwards."""
    answer = post(server, get, coded(bytes(range(256)) * 8192, 'gzip'), 'gzip', '/scarce/tell.cgi')
    assert (answer.status, answer.header('retry-after')) == (503, '1')
    until(lambda: server.counters().get('terse.decode.held') == 0)


def test_off(server):
    """Not over HTTP/2: curl takes an answer before the end of its body for an error."""
    body = coded(PLAIN[:5000], 'gzip')[:-3]
    answer = client.h1(server.port, '/off/tell.cgi', [('Content-Encoding', 'gzip')], 'POST',
                       body=body)
    assert answer.status == 404


@pytest.mark.rule('R42')
@pytest.mark.parametrize('first', range(0x20, 0x7f))
def test_text_that_is_labelled_br(server, first):
    body = bytes([first]) + PLAIN[:300]
    answer = client.h1(server.port, '/tell.cgi', [('Content-Encoding', 'br')], 'POST', body=body)
    assert answer.status == 400


def members(data):
    """Two members, the first with a name and a comment."""
    first, second = data[:len(data) // 2], data[len(data) // 2:]
    raw = gzip.compress(first, 6, mtime=0)
    return raw[:3] + b'\x18' + raw[4:10] + b'name\0comment\0' + raw[10:] + gzip.compress(second)


def raw_deflate(data):
    coder = zlib.compressobj(6, zlib.DEFLATED, -15)
    return coder.compress(data) + coder.flush()


def zstd_with(**options):
    return lambda data: zstandard.ZstdCompressor(**options).compress(data)


FOREIGN = [('gzip', members), ('deflate', raw_deflate),
           ('zstd', zstd_with(write_checksum=True)), ('zstd', zstd_with(write_content_size=False)),
           *(('br', lambda data, bits=bits: brotli.compress(data, quality=5, lgwin=bits))
             for bits in (10, 16, 22, 24))]


@pytest.mark.rule('R41')
@pytest.mark.parametrize('coding, coder', FOREIGN)
def test_other_encoders(server, get, coding, coder):
    answer = post(server, get, coder(PLAIN), coding)
    assert told(answer) == (len(PLAIN), '', hashlib.sha256(PLAIN).hexdigest())


@pytest.mark.rule('R41')
@pytest.mark.parametrize('stream', [b'\x06', b'\x3b'])
def test_the_shortest_brotli_streams(server, get, stream):
    assert told(post(server, get, stream, 'br'))[:2] == (0, '')


@pytest.mark.rule('R45')
def test_a_part_is_not_decoded(server, get):
    body = gzip.compress(PLAIN[:5000])
    answer = post(server, get, body, 'gzip', more=[('Content-Range', 'bytes 0-99/200')])
    assert told(answer) == (len(body), 'gzip', hashlib.sha256(body).hexdigest())


def chunked(data, size=1000):
    pieces = [data[at:at + size] for at in range(0, len(data), size)] + [b'']
    return b''.join(b'%x\r\n%s\r\n' % (len(piece), piece) for piece in pieces)


def head(*more, path='/tell.cgi'):
    lines = [f'POST {path} HTTP/1.1', 'Host: a', 'Content-Encoding: gzip', *more]
    return '\r\n'.join(lines + ['', '']).encode()


@pytest.mark.rule('R41')
@pytest.mark.parametrize('size', [45, 100000, 600000])
def test_chunked_and_the_request_behind_it(server, size):
    """Both are sent at once."""
    request = head('Transfer-Encoding: chunked') + chunked(gzip.compress(PLAIN[:size]))
    with client.Connection(server.port) as connection:
        connection.socket.sendall(request * 2)
        for _ in range(2):
            expected = (size, '', hashlib.sha256(PLAIN[:size]).hexdigest())
            assert told(connection.answer()) == expected


@pytest.mark.rule('R42')
def test_the_request_behind_a_refused_one(server):
    body = gzip.compress(PLAIN[:5000])
    bad = head(f'Content-Length: {len(body) - 3}') + body[:-3]
    with client.Connection(server.port) as connection:
        connection.socket.sendall(bad + head(f'Content-Length: {len(body)}') + body)
        assert connection.answer().status == 400
        assert told(connection.answer())[0] == 5000


def test_a_body_whose_framing_breaks(server):
    """The server answers before the body is whole, and Terse leaves the answer to it."""
    with client.Connection(server.port) as connection:
        connection.socket.sendall(head('Transfer-Encoding: chunked') + b'5\r\nabcdeXX\r\n')
        try:
            assert connection.head().status == 400
        except (client.Broken, OSError):
            pass  # H2O closes the connection
    assert 'no decision' not in server.log()


def test_clients_that_go_away(server):
    body = brotli.compress(PLAIN, quality=4)
    for sent in (0, 10, len(body) // 2, len(body)):
        connection = client.Connection(server.port)
        connection.socket.sendall(head(f'Content-Length: {len(body)}').replace(
            b'gzip', b'br') + body[:sent])
        connection.abort()
    server.wait_idle()
    until(lambda: server.counters()['terse.decode.held'] == 0, 15, 'an end of what is held')


@pytest.mark.rule('R41')
@pytest.mark.parametrize('method', ['POST', 'PUT', 'PATCH'])
def test_a_proxied_application(server, get, origin, method):
    origin.on('/proxied/it', b'taken')
    origin.seen.clear()
    answer = get(server, '/proxied/it', [('Content-Encoding', 'br'), ('Content-Digest', 'x=:YQ==:')],
                 method=method, body=CODERS['br'](PLAIN[:100000]))
    assert answer.body == b'taken'
    (_, fields), = origin.seen
    assert fields['content-length'] == '100000'
    assert 'content-encoding' not in fields and 'content-digest' not in fields
