# SPDX-License-Identifier: MIT
"""Settings of nested parts of a site: an inner block adds to the outer one, key by key."""
import client
import pytest
from sites import Scope

ALL = [('Accept-Encoding', 'zstd, br, gzip')]

SCOPES = (
    Scope('/a/', params={'codings': 'br, gzip', 'min-length': '400'}, scopes=(
        Scope('/a/b/', params={'codings': 'gzip', 'gzip.level': '1'}, scopes=(
            Scope('/a/b/c/', params={'gzip.level': '9', 'etag': 'keep'}),)),)),
    Scope('/off/', enable=False, scopes=(Scope('/off/on/', enable=True),)),
    Scope(host='old.example', params={'codings': 'gzip'}),
    Scope('/a/b/', host='', params={'etag': 'drop'}),
)


@pytest.fixture(scope='module')
def server(launch_shared, site):
    return launch_shared(site.but(params={'codings': 'zstd, br, gzip'}, scopes=SCOPES))


def test_each_level(server, get, files):
    answers = [get(server, f'{path}page.html', ALL) for path in ('/', '/a/', '/a/b/', '/a/b/c/')]
    assert [answer.coding for answer in answers] == ['zstd', 'br', 'gzip', 'gzip']
    for answer in answers:
        assert answer.plain == files.contents['page.html']
    assert len(answers[3].body) < len(answers[2].body), 'gzip.level of the inner block'
    assert answers[1].header('etag').startswith('W/')
    assert answers[2].header('etag') is None, 'the later of two blocks that match'


def test_hosts_and_paths_together(server, get):
    assert get(server, '/page.html', ALL, host='old.example').coding == 'gzip'
    assert get(server, '/page.html', ALL, host='new.example').coding == 'zstd'
    # the block of the host comes after that of the path
    assert get(server, '/a/page.html', ALL, host='old.example').coding == 'gzip'


def test_off(server, get, files):
    answer = get(server, '/off/page.html', ALL)
    assert answer.coding is None and answer.vary == []
    assert answer.plain == files.contents['page.html']
    assert answer.header('etag').startswith('"')
    assert get(server, '/off/on/page.html', ALL).coding == 'zstd'


def test_off_is_not_in_the_log(server):
    client.h1(server.port, '/off/page.html?log', ALL)
    assert server.wait_entry('/off/page.html?log').reason == ''


def test_off_at_the_top(launch, site, get, files):
    server = launch(site.but(enable=False, scopes=(Scope('/a/', enable=True),)))
    answer = get(server, '/page.html', ALL)
    assert (answer.coding, answer.plain) == (None, files.contents['page.html'])
    assert get(server, '/a/page.html', ALL).coding == 'zstd'


def test_a_connection_across_scopes(server, files):
    """What one request left behind does not reach the next one."""
    paths = ['/a/b/page.html', '/off/page.html', '/page.html', '/a/page.html'] * 3
    with client.Connection(server.port) as connection:
        for path in paths:
            connection.send(path, ALL)
            answer = connection.answer()
            assert answer.coding == {'/a/b/page.html': 'gzip', '/off/page.html': None,
                                     '/page.html': 'zstd', '/a/page.html': 'br'}[path]
            assert answer.plain == files.contents['page.html']
