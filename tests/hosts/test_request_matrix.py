# SPDX-License-Identifier: MIT
"""Request bodies of every coding, length and framing, whole and not: what the application gets of
them, by the word of other decoders, or that it is not asked."""
import base64
import hashlib
import os
import random
import subprocess
import zlib

import brotli
import client
import pytest
import zstandard
from coders import coded
from sites import Scope
from test_request_bodies import TELL, chunked, told

CODINGS = ['gzip', 'br', 'zstd', 'deflate', 'br, gzip', 'gzip, zstd, br']
LIMIT, LONG_LIMIT = 300000, 32 << 20
TEXT = base64.encodebytes(random.Random(7).randbytes(LONG_LIMIT * 3 // 4))  # shrinks by a quarter
STATES = ['valid', 'truncated', 'trailing', 'flipped', 'other label']


@pytest.fixture(scope='module')
def server(launch_shared, site, files):
    files.add('tell.cgi', b'#!/bin/sh\n' + TELL.encode())
    os.chmod(files.path('tell.cgi'), 0o755)
    return launch_shared(site.but(
        params={'decode.requests': 'on', 'decode.max-length': str(LIMIT)}, scopes=(
            Scope('/long/', params={'decode.max-length': '32m', 'decode.memory': '256m'}),)))


# ---- other people's word ---------------------------------------------------------------------------

def one_gzip(data):
    """All members; other bytes behind them are an error."""
    plain = b''
    while data:
        decoder = zlib.decompressobj(31)
        plain += decoder.decompress(data) + decoder.flush()
        assert decoder.eof
        data = decoder.unused_data
    return plain


def one_deflate(data):
    """The zlib format or raw, by its first byte."""
    decoder = zlib.decompressobj(15 if data[0] & 15 == 8 and data[0] >> 4 <= 7 else -15)
    plain = decoder.decompress(data) + decoder.flush()
    assert decoder.eof and not decoder.unused_data
    return plain


def one_zstd(data):
    plain = b''
    while data:
        decoder = zstandard.ZstdDecompressor(max_window_size=8 << 20).decompressobj()
        plain += decoder.decompress(data)
        assert decoder.eof
        data = decoder.unused_data
    return plain


DECODERS = {'gzip': one_gzip, 'deflate': one_deflate, 'zstd': one_zstd, 'br': brotli.decompress}
FAULTS = (AssertionError, zlib.error, brotli.error, zstandard.ZstdError, IndexError)


def decoded(data, codings):
    """None: it is not in its codings.  Nothing is nothing in each of them."""
    try:
        for coding in reversed(codings.split(', ')):
            data = DECODERS[coding](data) if data else b''
        return data
    except FAULTS:
        return None


# ---- bodies ---------------------------------------------------------------------------------------

def spoiled(data, codings, state):
    """(bytes, label)"""
    if state == 'truncated':
        return data[:-1], codings
    if state == 'trailing':
        return data + b'x', codings
    if state == 'flipped':
        at = len(data) * 2 // 3
        return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:], codings
    if state == 'other label':
        return data, 'gzip' if codings.endswith('zstd') else 'zstd'
    return data, codings


def framed_h1(server, path, headers, body, how):
    length = f'Content-Length: {len(body)}' if how == 'length' else 'Transfer-Encoding: chunked'
    lines = [f'POST {path} HTTP/1.1', 'Host: a', 'Connection: close', length]
    lines += [f'{name}: {value}' for name, value in headers]
    data = '\r\n'.join(lines + ['', '']).encode() + (body if how == 'length' else
                                                     chunked(body, 16384))
    with client.Connection(server.port) as connection:
        try:
            connection.socket.sendall(data)
        except OSError:
            pass  # it was refused before its end
        return connection.answer()


def send(server, path, label, body, framing):
    headers = [('Content-Encoding', label)]
    if framing == 'h2':
        return client.h2(server.port, path, headers, method='POST', body=body)
    return framed_h1(server, path, headers, body, framing)


def statuses(plain, limit, state):
    """What may be answered."""
    if plain is None:
        return (400,) if state != 'flipped' else (400, 413)
    return (200,) if len(plain) <= limit else (413,)


def check(server, path, codings, plain, framing, limit):
    whole = coded(plain, codings)
    for state in STATES:
        body, label = spoiled(whole, codings, state)
        if not body and framing == 'h2':
            continue  # curl sends no body at all
        expected = decoded(body, label)
        answer = send(server, path, label, body, framing)
        allowed = statuses(expected, limit, state)
        if len(plain) > limit:
            allowed += (413,)
        assert answer.status in allowed, f'{state}: {answer}'
        if answer.status == 200:
            assert told(answer) == (len(expected), '', hashlib.sha256(expected).hexdigest())


@pytest.mark.rule('R41', 'R42', 'R43')
@pytest.mark.parametrize('framing', ['length', 'chunked', 'h2'])
@pytest.mark.parametrize('size', [0, 1, 45, 100000, LIMIT, LIMIT + 1])
@pytest.mark.parametrize('codings', CODINGS)
def test_request_bodies(server, codings, size, framing):
    check(server, '/tell.cgi', codings, TEXT[:size], framing, LIMIT)


@pytest.mark.long
@pytest.mark.parametrize('framing', ['length', 'chunked', 'h2'])
@pytest.mark.parametrize('size', [LONG_LIMIT, LONG_LIMIT + 1])
@pytest.mark.parametrize('codings', CODINGS)
def test_long_request_bodies(server, files, codings, size, framing):
    os.makedirs(files.path('long'), exist_ok=True)
    files.add('long/tell.cgi', b'#!/bin/sh\n' + TELL.encode())
    os.chmod(files.path('long/tell.cgi'), 0o755)
    check(server, '/long/tell.cgi', codings, (TEXT + b'x')[:size], framing, LONG_LIMIT)


# ---- encoders of the commands ----------------------------------------------------------------------

def by_command(data, *command):
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def named_gzip(data):
    """With a name, a comment and an extra field, and in two members."""
    first, second = data[:len(data) // 2], data[len(data) // 2:]
    head = b'\x1f\x8b\x08\x1c' + bytes(6) + b'\x04\x00abcd' + b'a name\0' + b'a comment\0'
    raw = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = raw.compress(first) + raw.flush()
    tail = zlib.crc32(first).to_bytes(4, 'little') + len(first).to_bytes(4, 'little')
    return head + body + tail + by_command(second, 'gzip', '-1')


def zstd_with(**options):
    def encode(data):
        size = options.pop('size', False)
        compressor = zstandard.ZstdCompressor(write_content_size=size, **options)
        if size:
            return compressor.compress(data)
        stream = compressor.compressobj()
        return stream.compress(data) + stream.flush()
    return encode


ENCODERS = {
    'gzip-named-two-members': ('gzip', named_gzip),
    'gzip-from-a-pipe': ('gzip', lambda data: by_command(data, 'gzip', '-9')),
    'br-10': ('br', lambda data: brotli.compress(data, lgwin=10)),
    'br-16': ('br', lambda data: brotli.compress(data, lgwin=16)),
    'br-22': ('br', lambda data: brotli.compress(data, lgwin=22)),
    'br-24': ('br', lambda data: brotli.compress(data, lgwin=24)),
    'br-streamed': ('br', lambda data: b''.join(
        [(encoder := brotli.Compressor(quality=3)).process(data[:1000]), encoder.flush(),
         encoder.process(data[1000:]), encoder.finish()])),
    'zstd-plain': ('zstd', zstd_with()),
    'zstd-checksum': ('zstd', zstd_with(write_checksum=True)),
    'zstd-size': ('zstd', zstd_with(size=True)),
    'zstd-size-checksum': ('zstd', zstd_with(size=True, write_checksum=True)),
    'deflate-raw': ('deflate', lambda data: (raw := zlib.compressobj(6, zlib.DEFLATED, -15)).compress(
        data) + raw.flush()),
}


@pytest.mark.rule('R41')
@pytest.mark.parametrize('framing', ['length', 'chunked', 'h2'])
@pytest.mark.parametrize('size', [0, 1, 45, 100000, LIMIT])
@pytest.mark.parametrize('name', ENCODERS)
def test_streams_of_other_encoders(server, name, size, framing):
    coding, encode = ENCODERS[name]
    plain = TEXT[:size]
    answer = send(server, '/tell.cgi', coding, encode(plain), framing)
    assert answer.status == 200
    assert told(answer) == (size, '', hashlib.sha256(plain).hexdigest())
