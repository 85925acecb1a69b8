# SPDX-License-Identifier: MIT
"""Responses that come in a content coding: decoded for the client that does not accept it, coded
anew where it accepts another, untouched where it accepts that one."""
import client
import pytest
from coders import coded
from gateways import FastCGI, add_relay
from sites import Scope

HTML = [('Content-Type', 'text/html')]
CODINGS = ['gzip', 'br', 'zstd', 'deflate', 'br, gzip', 'gzip, br, zstd']
ACCEPTED = ['', 'identity', 'gzip', 'br', 'zstd', 'gzip;q=0, br;q=0.5']
TAG = '"0123"'


@pytest.fixture(scope='module')
def fastcgi():
    application = FastCGI()
    yield application
    application.close()


@pytest.fixture(scope='module')
def server(launch_shared, site, origin, fastcgi, files, server_class):
    on = {'decode.responses': 'on'}
    add_relay(files)
    files.add('kept/page.html', coded(files.contents['page.html'], 'gzip'))
    scopes = [
        Scope('/origin/', origin=origin.port),
        Scope('/off/', origin=origin.port, params={'decode.responses': 'off'}),
        Scope('/short/', origin=origin.port, params={'decode.max-codings': '1'}),
        Scope('/kept/', headers={'Content-Encoding': 'gzip'})]
    scopes += [Scope(f'/{mode}/', origin=origin.port, params={'etag': mode})
               for mode in ('suffix', 'drop', 'keep', 'skip')]
    if 'gateways' not in server_class.lacks:
        scopes.append(Scope('/fastcgi/', origin=fastcgi.port, via='fastcgi'))
    return launch_shared(site.but(params=on, scopes=tuple(scopes)))


def accept(field, *more):
    return ([('Accept-Encoding', field)] if field else []) + list(more)


def takes(field, codings):
    """Whether a client that sends the field can read what comes."""
    weights = [member.strip().split(';q=') for member in field.split(',') if member]
    named = {name: float(more[0]) if more else 1.0 for name, *more in weights}
    return all(named.get(coding, named.get('*', 0)) > 0 for coding in codings.split(', '))


def expected_coding(field, codings):
    """What leaves: as it came, or the one that is accepted, or none."""
    if takes(field, codings):
        return codings
    return next((one for one in ('zstd', 'br', 'gzip') if takes(field, one)), None)


def check(answer, plain, field, codings):
    leaves = expected_coding(field, codings)
    assert answer.status == 200
    assert answer.coding == leaves
    if leaves == codings:
        assert answer.body == coded(plain, codings)
    else:
        assert answer.plain == plain
        assert answer.framing in ('chunked', 'h2', 'close')
    assert 'accept-encoding' in answer.vary


@pytest.mark.rule('R46', kinds=('proxied',), sides=('coded', 'identity'))
@pytest.mark.parametrize('framing', ['length', 'chunked', 'close'])
@pytest.mark.parametrize('field', ACCEPTED)
@pytest.mark.parametrize('codings', CODINGS)
def test_what_leaves(server, get, origin, files, codings, field, framing):
    plain = files.contents['page.html']
    path = origin.on(f'/origin/{codings}-{framing}'.replace(', ', '-'), coded(plain, codings),
                     headers=HTML + [('Content-Encoding', codings)], framing=framing)
    check(get(server, path, accept(field)), plain, field, codings)


@pytest.mark.rule('R46')
@pytest.mark.parametrize('size', [0, 1, 45, 15000, 300000, 3000000])
@pytest.mark.parametrize('codings', CODINGS)
def test_sizes(server, get, origin, files, codings, size):
    plain = (files.text * 11)[:size]
    path = origin.on(f'/origin/{size}-{codings}'.replace(', ', '-'), coded(plain, codings),
                     headers=HTML + [('Content-Encoding', codings)], framing='chunked')
    assert get(server, path).plain == plain
    assert get(server, path, accept('gzip;q=0, br;q=0, zstd')).plain == plain


@pytest.mark.rule('R46')
def test_an_empty_body_is_empty_in_any_coding(server, get, origin):
    path = origin.on('/origin/none', b'', headers=HTML + [('Content-Encoding', 'gzip')])
    answer = get(server, path)
    assert (answer.status, answer.coding, answer.body) == (200, None, b'')


@pytest.mark.rule('R46', kinds=('static',))
def test_a_file(server, get, files):
    """A file that is kept coded, and whose server says so."""
    answer = get(server, '/kept/page.html')
    assert answer.coding is None
    assert answer.body == files.contents['page.html']
    check(get(server, '/kept/page.html', accept('gzip')), files.contents['page.html'], 'gzip',
          'gzip')


@pytest.mark.rule('R46', kinds=('generated',))
@pytest.mark.needs('gateways')
@pytest.mark.parametrize('codings', CODINGS)
def test_scripts_and_gateways(server, get, origin, fastcgi, files, codings):
    plain = files.contents['page.html']
    headers = HTML + [('Content-Encoding', codings)]
    name = codings.replace(', ', '-')
    origin.on(f'/origin/cgi-{name}', coded(plain, codings), headers=headers)
    paths = [f'/relay.cgi?{origin.port}/origin/cgi-{name}',
             fastcgi.on(f'/fastcgi/{name}', coded(plain, codings), headers=headers)]
    for path in paths:
        assert get(server, path).plain == plain
        check(get(server, path, accept('br')), plain, 'br', codings)


@pytest.mark.rule('R46')
def test_nothing_is_acceptable(server, get, origin, files):
    """Decoded it would be as unacceptable as it is: it stays."""
    plain = files.contents['page.html']
    path = origin.on('/origin/refused', coded(plain, 'gzip'),
                     headers=HTML + [('Content-Encoding', 'gzip')])
    answer = get(server, path, accept('*;q=0'))
    assert (answer.coding, answer.body) == ('gzip', coded(plain, 'gzip'))
    assert answer.vary == ['accept-encoding']


@pytest.mark.rule('R46')
@pytest.mark.parametrize('name, value, status, coding', [
    ('Cache-Control', 'no-transform', 200, 'gzip'), ('Content-Range', 'bytes 0-9/100', 206, 'gzip'),
    ('X-Other', 'none', 200, 'compress'), ('X-Other', 'none', 200, 'gzip, compress')])
def test_what_stays_as_it_came(server, get, origin, name, value, status, coding):
    body = coded(b'text of a page\n' * 400, 'gzip')
    path = origin.on(f'/origin/stays-{name}-{coding}'.replace(', ', '-'), body, status=status,
                     headers=HTML + [(name, value), ('Content-Encoding', coding)])
    answer = get(server, path)
    assert (answer.status, answer.coding, answer.body) == (status, coding, body)
    assert answer.vary == []


@pytest.mark.rule('R46')
@pytest.mark.parametrize('folder, codings', [('off', 'gzip'), ('short', 'br, gzip')])
def test_where_it_is_off(server, get, origin, folder, codings):
    data = coded(b'text of a page\n' * 400, codings)
    path = origin.on(f'/{folder}/page', data, headers=HTML + [('Content-Encoding', codings)])
    answer = get(server, path)
    assert (answer.coding, answer.body, answer.vary) == (codings, data, [])


@pytest.mark.rule('R46')
def test_a_type_that_is_never_coded(server, get, origin):
    """It is decoded, but not coded anew."""
    plain = b'\x89PNG' + bytes(5000)
    path = origin.on('/origin/picture', coded(plain, 'gzip'),
                     headers=[('Content-Type', 'image/png'), ('Content-Encoding', 'gzip')])
    answer = get(server, path, accept('br'))
    assert (answer.coding, answer.body) == (None, plain)


@pytest.mark.rule('R46')
@pytest.mark.parametrize('status', [201, 404, 500])
def test_any_status_with_content(server, get, origin, status):
    plain = b'what went wrong\n' * 100
    path = origin.on(f'/origin/status-{status}', coded(plain, 'zstd'), status=status,
                     headers=HTML + [('Content-Encoding', 'zstd')])
    answer = get(server, path)
    assert (answer.status, answer.coding, answer.body) == (status, None, plain)


# ---- what the headers say -------------------------------------------------------------------------

DIGESTS = [('Digest', 'sha-256=abc'), ('Content-Digest', 'sha-256=:YQ==:'),
           ('Repr-Digest', 'sha-256=:YQ==:'), ('Content-MD5', 'YQ==')]


def with_everything(origin, folder):
    headers = HTML + DIGESTS + [('Content-Encoding', 'gzip'), ('ETag', TAG),
                                ('Accept-Ranges', 'bytes'), ('Vary', 'Origin')]
    return origin.on(f'/{folder}/everything', coded(b'some text of it\n' * 500, 'gzip'),
                     headers=headers)


@pytest.mark.rule('R46')
@pytest.mark.parametrize('field', ['', 'br'])
@pytest.mark.parametrize('method', ['GET', 'HEAD'])
def test_headers_of_what_is_decoded(server, get, origin, field, method):
    answer = get(server, with_everything(origin, 'origin'), accept(field), method=method)
    assert answer.coding == (field or None)
    assert sorted(answer.vary) == ['accept-encoding', 'origin']
    assert answer.header('etag') == 'W/' + TAG
    for name in ('content-length', *(name.lower() for name, _ in DIGESTS)):
        assert answer.header(name) is None, name
    if method == 'GET':
        assert answer.header('accept-ranges') is None


@pytest.mark.rule('R46')
@pytest.mark.parametrize('method', ['GET', 'HEAD'])
def test_headers_of_what_passes(server, get, origin, method):
    answer = get(server, with_everything(origin, 'origin'), accept('gzip'), method=method)
    assert answer.coding == 'gzip'
    assert sorted(answer.vary) == ['accept-encoding', 'origin']
    for name, value in [('ETag', TAG), ('Accept-Ranges', 'bytes')] + DIGESTS:
        assert answer.header(name.lower()) == value
    assert int(answer.header('content-length')) == len(coded(b'some text of it\n' * 500, 'gzip'))


@pytest.mark.rule('R46')
@pytest.mark.parametrize('mode, tag, coding', [
    ('suffix', 'W/' + TAG, None), ('drop', None, None), ('keep', TAG, None), ('skip', TAG, 'gzip')])
def test_the_tag_by_etag(server, get, origin, mode, tag, coding):
    answer = get(server, with_everything(origin, mode))
    assert (answer.header('etag'), answer.coding) == (tag, coding)


@pytest.mark.rule('R46', 'R35')
def test_the_tag_is_known_again(server, get, origin):
    """The origin answers 200 to any condition; the client has what it would get."""
    path = with_everything(origin, 'origin')
    tag = get(server, path).header('etag')
    answer = get(server, path, [('If-None-Match', tag)])
    assert answer.status == 304
    assert answer.header('etag') == tag
    assert answer.coding is None or answer.coding == 'gzip'
    assert 'accept-encoding' in answer.vary


@pytest.mark.rule('R46', 'R35')
def test_a_304_of_the_origin(server, get, origin):
    path = origin.on('/origin/304', status=304, framing='none', headers=[('ETag', TAG)])
    assert get(server, path, [('If-None-Match', 'W/' + TAG)]).header('etag') == 'W/' + TAG
    assert get(server, path, [('If-None-Match', TAG)]).header('etag') == TAG


# ---- what the origin is asked for -----------------------------------------------------------------

@pytest.fixture(scope='module')
def asking(launch_shared, site, origin):
    return launch_shared(site.but(params={'decode.responses': 'on', 'decode.offer': 'gzip, br'},
                                  scopes=(
        Scope('/offer/', origin=origin.port),
        Scope('/identity/', origin=origin.port,
              params={'decode.responses': 'off', 'decode.offer': 'identity'}),
        Scope('/without/', origin=origin.port, params={'decode.responses': 'off'}),
        Scope('/client/', origin=origin.port, params={'decode.offer': 'client'}))))


def asked(origin, path):
    return [headers.get('accept-encoding') for seen, headers in origin.seen if seen == path]


@pytest.mark.rule('R48')
@pytest.mark.parametrize('folder, offer', [
    ('offer', 'gzip, br'), ('identity', 'identity'), ('without', 'zstd'), ('client', 'zstd')])
def test_the_offer(asking, get, origin, files, protocol, folder, offer):
    """The decision goes by the client's own field."""
    plain = files.contents['page.html']
    path = origin.on(f'/{folder}/{protocol}', coded(plain, 'gzip') if folder == 'offer' else plain,
                     headers=HTML + ([('Content-Encoding', 'gzip')] if folder == 'offer' else []))
    answer = get(asking, path, accept('zstd'))
    assert asked(origin, path) == [offer]
    assert (answer.coding, answer.plain) == ('zstd', plain)


@pytest.mark.rule('R48')
def test_the_offer_to_who_says_nothing(asking, get, origin, protocol):
    path = origin.on(f'/offer/nothing-{protocol}', coded(b'a page\n' * 100, 'br'),
                     headers=HTML + [('Content-Encoding', 'br')])
    answer = get(asking, path)
    assert asked(origin, path) == ['gzip, br']
    assert (answer.coding, answer.body) == (None, b'a page\n' * 100)


@pytest.mark.rule('R48')
def test_a_range_is_asked_for_as_it_is(asking, get, origin, protocol):
    path = origin.on(f'/offer/range-{protocol}', b'0123456789', status=206,
                     headers=HTML + [('Content-Range', 'bytes 0-9/100')])
    answer = get(asking, path, accept('gzip', ('Range', 'bytes=0-9')))
    assert asked(origin, path) == ['identity']
    assert (answer.status, answer.body) == (206, b'0123456789')


def test_the_reason_is_in_the_log(server, origin):
    path = origin.on('/origin/said', coded(b'a page\n' * 100, 'br'),
                     headers=HTML + [('Content-Encoding', 'br')])
    client.h1(server.port, path)
    assert server.wait_entry(path).reason == 'decoded'
