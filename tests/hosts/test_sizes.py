# SPDX-License-Identifier: MIT
"""What coding piece by piece costs: a stream against the codec's own one-call form, at the same
level."""
import html
import json
import os
import zlib

import brotli
import client
import pytest
import zstandard
from sites import Scope

SIZE = 1 << 20  # more than a slice: a stream
LEVELS = {'gzip': 6, 'br': 5, 'zstd': 3}
SETTINGS = {'gzip.level': '6', 'br.quality': '5', 'zstd.level': '3'}
MOST = 1.005
LONG, LONG_MOST = 8 << 20, 1.01
AUTOMATIC = {'gzip': 4, 'br': 3, 'zstd': 3}  # of long streams
KEYS = {'gzip': 'gzip.level', 'br': 'br.quality', 'zstd': 'zstd.level'}


def sources():
    """(name, text) of Python's own library: some megabytes, the same wherever one release is."""
    folder = os.path.dirname(os.__file__)
    for name in sorted(os.listdir(folder)):
        if name.endswith('.py'):
            with open(os.path.join(folder, name), encoding='utf-8') as file:
                yield name, file.read()


def manual():
    """A long page of HTML."""
    page, length = ['<!doctype html>\n<title>Modules</title>\n'], 0
    for name, text in sources():
        page.append(f'<h2 id="{name}">{name}</h2>\n<pre>{html.escape(text)}</pre>\n')
        length += len(page[-1])
        if length > SIZE:
            break
    return ''.join(page).encode()[:SIZE]


def records(size):
    """What an API might answer."""
    found, length = [], 0
    for name, text in sources():
        for number, line in enumerate(text.splitlines(), 1):
            found.append({'file': name, 'line': number, 'text': line})
            length += len(line)
        if length > size:
            break
    return json.dumps(found, indent=1).encode()[:size]


def in_one_call(coding, data, level):
    if coding == 'gzip':
        codec = zlib.compressobj(level, wbits=31)
        return codec.compress(data) + codec.flush()
    if coding == 'br':
        return brotli.compress(data, quality=level)
    return zstandard.ZstdCompressor(level).compress(data)


@pytest.fixture(scope='module')
def server(launch_shared, site, files):
    for name, body in (('manual.html', manual()), ('records.json', records(SIZE))):
        assert len(files.add(name, body)) == SIZE
    return launch_shared(site.but(params=SETTINGS))


@pytest.mark.parametrize('name', ['manual.html', 'records.json'])
@pytest.mark.parametrize('coding', LEVELS)
def test_a_stream_is_as_small(server, files, coding, name):
    answer = client.h1(server.port, f'/{name}', [('Accept-Encoding', coding)])
    assert (answer.coding, answer.framing) == (coding, 'chunked')
    assert answer.plain == files.contents[name]
    streamed = len(answer.body)
    alone = len(in_one_call(coding, files.contents[name], LEVELS[coding]))
    print(f'{name}, {coding}: {streamed} bytes, in one call {alone} ({streamed / alone - 1:+.2%})')
    assert streamed <= alone * MOST
    assert streamed >= alone / MOST, 'not the level that was asked for'


def check_long(coding, level, answer, body):
    assert (answer.coding, answer.framing, answer.plain) == (coding, 'chunked', body)
    streamed, alone = len(answer.body), len(in_one_call(coding, body, level))
    print(f'{coding} {level}: {streamed} bytes, in one call {alone} ({streamed / alone - 1:+.2%})')
    assert alone / LONG_MOST <= streamed <= alone * LONG_MOST


@pytest.mark.parametrize('coding, level', [*AUTOMATIC.items(), ('br', 4), ('br', 5)])
def test_a_long_stream_is_about_as_small(launch, site, files, coding, level):
    body = files.add('long.json', records(LONG))
    assert len(body) == LONG
    server = launch(site.but(params={KEYS[coding]: str(level)}))
    answer = client.h1(server.port, '/long.json', [('Accept-Encoding', coding)])
    check_long(coding, level, answer, body)


@pytest.mark.parametrize('coding, level', [*AUTOMATIC.items(), ('br', 4), ('br', 5)])
def test_so_is_one_of_unknown_length(launch, site, origin, coding, level):
    """From a busy source, by the automatic levels and by others that are set."""
    params = {'?flush.delay': '10s'}  # a slow machine is no source that pauses
    if level != AUTOMATIC[coding]:
        params[KEYS[coding]] = str(level)
    server = launch(site.but(streaming=2, params=params,
                             scopes=(Scope('/origin/', origin=origin.port),)))
    body = records(LONG)
    path = origin.on('/origin/long', body, framing='chunked')
    answer = client.h1(server.port, path, [('Accept-Encoding', coding)])
    check_long(coding, level, answer, body)
