# SPDX-License-Identifier: MIT
"""Request bodies that have a content coding: what the application sees, and what is refused."""
import gzip
import hashlib
import os
import zlib

import brotli
import pytest
import zstandard
from sites import Scope

PLAIN = b''.join(b'line %d of a form\n' % n for n in range(40000))[:600000]
TELL = '''printf 'Content-Type: text/plain\\r\\n\\r\\n%s/%s/' "$CONTENT_LENGTH" "$HTTP_CONTENT_ENCODING"
exec sha256sum
'''
CODERS = {
    'gzip': lambda data: gzip.compress(data, 6, mtime=0),
    'deflate': zlib.compress,
    'br': lambda data: brotli.compress(data, quality=4),
    'zstd': zstandard.ZstdCompressor().compress,
}


def coded(data, codings):
    for coding in codings.split(', '):
        data = CODERS[coding](data)
    return data


@pytest.fixture(scope='module')
def server(launch_shared, site, files, origin):
    files.add('tell.cgi', b'#!/bin/sh\n' + TELL.encode())
    os.chmod(files.path('tell.cgi'), 0o755)
    return launch_shared(site.but(params={'decode.requests': 'on'}, scopes=(
        Scope('/small/', params={'decode.max-length': '1000'}),
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


def test_an_unknown_coding(server, get):
    answer = post(server, get, b'x' * 500, 'aws-chunked')
    assert answer.status == 415
    assert answer.header('accept-encoding') == 'gzip, br, zstd, deflate'


def test_the_longest_body(server, get):
    assert post(server, get, coded(PLAIN[:1000], 'gzip'), 'gzip', '/small/tell.cgi').status == 404
    assert post(server, get, coded(PLAIN[:1001], 'gzip'), 'gzip', '/small/tell.cgi').status == 413


def test_a_bomb(server, get):
    bomb = gzip.compress(bytes(10 << 20), 9)
    answer = post(server, get, gzip.compress(bomb, 9), 'gzip, gzip')
    assert answer.status == 413


def test_off(server, get, files):
    answer = post(server, get, coded(PLAIN[:5000], 'gzip'), 'gzip', '/off/tell.cgi')
    assert answer.status == 404


