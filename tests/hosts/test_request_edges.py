# SPDX-License-Identifier: MIT
"""Coded request bodies: the ways to say which codings, and those of HTTP/1 to send a body."""
import gzip
import hashlib
import os
import socket

import client
import pytest
from coders import coded
from test_request_bodies import PLAIN, TELL, chunked, head, told

BODY = gzip.compress(PLAIN[:100000])
EXPECTED = (100000, '', hashlib.sha256(PLAIN[:100000]).hexdigest())


@pytest.fixture(scope='module')
def scripts(files):
    files.add('tell.cgi', b'#!/bin/sh\n' + TELL.encode())
    os.chmod(files.path('tell.cgi'), 0o755)


@pytest.fixture(scope='module')
def server(launch_shared, site, scripts):
    return launch_shared(site.but(params={'decode.requests': 'on'}))


# ---- the field -----------------------------------------------------------------------------------

@pytest.mark.rule('R41')
@pytest.mark.parametrize('fields, codings', [
    (['GZIP'], 'gzip'), (['x-gzip'], 'gzip'), (['X-GZip , identity'], 'gzip'), (['identity'], None),
    (['Identity', 'identity'], None), (['br', 'gzip'], 'br, gzip'),
    ([' , gzip,, br ,'], 'gzip, br'), (['zstd, identity, BR'], 'zstd, br')])
def test_names_and_lines(server, protocol, get, fields, codings):
    body = coded(PLAIN[:5000], codings) if codings else PLAIN[:5000]
    answer = get(server, '/tell.cgi', [('Content-Encoding', field) for field in fields],
                 method='POST', body=body)
    assert answer.status == 200
    length, label, digest = answer.plain.decode().split('/')
    assert (int(length), digest.split()[0]) == (5000, hashlib.sha256(PLAIN[:5000]).hexdigest())
    assert codings is None or label == ''


# ---- HTTP/1 --------------------------------------------------------------------------------------

@pytest.mark.rule('R41')
def test_who_waits_to_be_told(server):
    """Expect: 100-continue (section 10.1.1): the body is sent once it is asked for, or never."""
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
