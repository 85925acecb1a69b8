# SPDX-License-Identifier: MIT
"""Accept-Encoding in, Content-Encoding out (RFC 9110 sections 12.4.2 and 12.5.3)."""
import pytest

TABLE = [
    (['gzip;q=0'], None),
    (['gzip;q=1.0'], 'gzip'),
    (['GZIP'], 'gzip'),
    (['*'], 'zstd'),
    (['*;q=0'], None),
    (['identity;q=0, br'], 'br'),
    (['br', 'gzip;q=0.5'], 'br'),
    (['gzip;q=bogus'], None),
    (['gzip;q=bogus, *'], 'zstd'),
    ([''], None),
    ([], None),
    (['gzip;q=0.5, identity;q=0.5'], 'gzip'),
    (['gzip;q=0.5, identity'], None),
    (['br, deflate'], 'br'),
    (['zstd;q=0, *'], 'br'),
    (['*, zstd;q=0'], 'br'),
    (['gzip, deflate, br'], 'br'),
    (['br, zstd'], 'zstd'),
    (['gzip, deflate, br, zstd'], 'zstd'),
    (['gzip, gzip;q=0'], None),
    # what other servers have got wrong
    (['x-gzip'], 'gzip'),
    (['gzip;q=0.4, br;q=0.6'], 'br'),
    (['gzip;q=0.4', 'br;q=0.6'], 'br'),
    (['xbr, brotli-dict, gzipped, my-gzip'], None),
    ([',gzip'], 'gzip'),
    (['gzip ; q=0.001'], 'gzip'),
    (['br;q=0.0001, gzip;q=0.1'], 'gzip'),
    (['br;q=2, gzip;q=0.1'], 'gzip'),
    (['gzip;q=nan'], None),
    (['deflate'], None),
    (['gzip;x="a, br", deflate'], 'gzip'),
]


@pytest.fixture(scope='module')
def server(launch_shared, site):
    return launch_shared(site.but(params={'codings': 'zstd, br, gzip'}))


@pytest.mark.parametrize('fields, coding', TABLE, ids=[' | '.join(f) or 'none' for f, _ in TABLE])
def test_table(server, get, files, fields, coding):
    answer = get(server, '/page.html', [('Accept-Encoding', field) for field in fields])
    assert answer.status == 200
    assert answer.coding == coding
    assert answer.plain == files.contents['page.html']
    assert answer.vary == ['accept-encoding']
    assert (len(answer.body) < len(answer.plain)) == (coding is not None)


@pytest.mark.parametrize('coding', ['gzip', 'br', 'zstd', 'deflate'])
def test_every_coding(launch, site, files, get, coding):
    server = launch(site.but(params={'codings': coding}))
    answer = get(server, '/page.html', [('Accept-Encoding', 'zstd, br, gzip, deflate')])
    assert answer.coding == coding
    assert answer.plain == files.contents['page.html']
    assert len(answer.body) < len(answer.plain) / 2


def test_the_servers_preference(launch, site, get):
    server = launch(site.but(params={'codings': 'gzip, br', 'prefer': 'server'}))
    assert get(server, '/page.html', [('Accept-Encoding', 'br, gzip;q=0.1')]).coding == 'gzip'
    assert get(server, '/page.html', [('Accept-Encoding', 'br, gzip;q=0')]).coding == 'br'


def test_gzip_bytes_do_not_depend_on_the_clock(server, get):
    bodies = {get(server, '/page.html', [('Accept-Encoding', 'gzip')]).body for _ in range(3)}
    assert len(bodies) == 1
    assert bodies.pop()[4:8] == b'\0\0\0\0'  # RFC 1952 section 2.3.1: no time stamp
