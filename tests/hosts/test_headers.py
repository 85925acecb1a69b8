# SPDX-License-Identifier: MIT
"""Vary, ETag, Accept-Ranges, Content-Length, and old protocol versions."""
import client
import pytest
from sites import Scope

ACCEPT = [('Accept-Encoding', 'br, gzip')]


@pytest.fixture(scope='module')
def server(launch_shared, site, origin):
    return launch_shared(site.but(scopes=(
        Scope('/origin/', origin=origin.port),
        Scope('/a/', params={'etag': 'keep', 'accept-ranges': 'none', 'http10': 'on'}),
        Scope('/off/', params={'etag': 'drop'}))))


def test_validators_and_ranges(server, get):
    plain = get(server, '/page.html')
    coded = get(server, '/page.html', ACCEPT)
    assert plain.header('etag').startswith('"')
    assert coded.header('etag') == 'W/' + plain.header('etag')
    assert plain.header('accept-ranges') == 'bytes'
    assert coded.header('accept-ranges') is None
    assert coded.header('last-modified') == plain.header('last-modified')
    assert coded.header('content-type') == plain.header('content-type')
    assert coded.header('content-length') == str(len(coded.body))


def test_a_weak_tag_stays(server, origin, get, files):
    path = origin.on('/origin/weak', files.text[:5000], headers=[
        ('Content-Type', 'text/plain'), ('ETag', 'W/"one"')])
    assert get(server, path, ACCEPT).header('etag') == 'W/"one"'


def test_settings_of_tags_and_ranges(server, get):
    kept, dropped = (get(server, f'/{path}/page.html', ACCEPT) for path in ('a', 'off'))
    assert kept.coding == dropped.coding == 'br'
    assert kept.header('etag').startswith('"')
    assert kept.header('accept-ranges') == 'none'
    assert dropped.header('etag') is None


@pytest.mark.parametrize('name, varies', [
    ('page.html', True), ('size-299.html', True), ('noise.txt', True), ('noise.unknown', True),
    ('picture.jpg', False)])
@pytest.mark.parametrize('accept', [ACCEPT, []])
def test_vary(server, get, name, varies, accept):
    assert get(server, f'/{name}', accept).vary == (['accept-encoding'] if varies else [])


@pytest.mark.parametrize('there, expected', [
    ('Cookie', {'cookie', 'accept-encoding'}), ('accept-ENCODING, Cookie',
                                                {'cookie', 'accept-encoding'}), ('*', {'*'})])
def test_vary_is_joined(server, origin, get, files, there, expected):
    path = origin.on('/origin/vary', files.text[:5000], headers=[
        ('Content-Type', 'text/html'), ('Vary', there)])
    vary = get(server, path, ACCEPT).vary
    assert len(vary) == len(set(vary)) and set(vary) >= expected
    assert '*' in vary or set(vary) == expected


def test_probe_of_an_unknown_type(server, get, files):
    assert get(server, '/prose.unknown', ACCEPT).coding == 'br'
    noise = get(server, '/noise.unknown', ACCEPT)
    assert (noise.coding, noise.plain) == (None, files.contents['noise.unknown'])


def test_http10(server, files):
    answer = client.h1(server.port, '/page.html', ACCEPT, version='HTTP/1.0')
    assert (answer.status, answer.coding) == (200, None)
    assert answer.plain == files.contents['page.html']
    answer = client.h1(server.port, '/a/page.html', ACCEPT, version='HTTP/1.0')
    assert answer.coding == 'br'
    assert answer.plain == files.contents['page.html']
    assert answer.framing in ('length', 'close')


def test_http10_large_body(server, files):
    name = 'size-1048576.html'
    answer = client.h1(server.port, f'/{name}', ACCEPT, version='HTTP/1.0')
    assert (answer.coding, answer.plain) == (None, files.contents[name])
