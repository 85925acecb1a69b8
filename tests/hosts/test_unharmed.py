# SPDX-License-Identifier: MIT
"""What must not be coded leaves as it would without Terse; the access log says why, and
`terse explain`, given the same facts, says the same."""
from dataclasses import dataclass

import client
import pytest
from sites import Scope

ALL = ('Accept-Encoding', 'zstd, br, gzip')
HTML = ('Content-Type', 'text/html')
NOT_COMPARED = {'date', 'vary', 'age', 'server'}


@dataclass(frozen=True)
class Case:
    path: str
    reason: str
    method: str = 'GET'
    headers: tuple = (ALL,)
    version: str = 'HTTP/1.1'
    late: tuple = ()  # headers that the server looks at only after the decision
    reply: tuple = None  # of the origin: status, headers, number of body bytes

    @property
    def asked(self):
        return self.headers + self.late


CASES = {
    'json of 2 bytes': Case('/two.json', 'too-small'),
    'json of 15 bytes': Case('/fifteen.json', 'too-small'),
    'one byte below min-length': Case('/size-299.html', 'too-small'),
    'an empty file': Case('/size-0.html', 'empty'),
    'a JPEG': Case('/picture.jpg', 'type'),
    'a file that does not shrink': Case('/noise.txt', 'no-gain'),
    'an unknown type full of noise': Case('/noise.unknown', 'probe'),
    'a range': Case('/page.html', 'range', late=(('Range', 'bytes=100-299'),)),
    'nothing accepted': Case('/page.html', 'not-accepted', headers=()),
    'everything refused': Case('/page.html', 'not-accepted',
                               headers=(('Accept-Encoding', '*;q=0'),)),
    'identity preferred': Case('/page.html', 'identity',
                               headers=(('Accept-Encoding', 'gzip;q=0.5, identity'),)),
    'HTTP/1.0': Case('/page.html', 'http10', version='HTTP/1.0'),
    '204 of an origin': Case('/origin/204', 'status', reply=(204, (), None)),
    '204 of a script': Case('/none.cgi', 'status'),
    '206 of an origin': Case('/origin/206', 'partial', reply=(
        206, (HTML, ('Content-Range', 'bytes 0-4999/9000')), 5000)),
    'no-transform': Case('/origin/no-transform', 'no-transform', reply=(
        200, (HTML, ('Cache-Control', 'public, No-Transform')), 5000)),
    'no-transform on a second line': Case('/origin/two-lines', 'no-transform', reply=(
        200, (HTML, ('Cache-Control', 'public'), ('Cache-Control', 'no-transform')), 5000)),
    'no-transform of the server': Case('/no-transform/page.html', 'no-transform'),
    'coded by the origin': Case('/origin/coded', 'encoded', reply=(
        200, (HTML, ('Content-Encoding', 'br')), 5000)),
    'coded by the origin in a way unknown here': Case('/origin/strange', 'encoded', reply=(
        200, (HTML, ('Content-Encoding', 'aws-chunked')), 5000)),
}


@pytest.fixture(scope='module')
def scopes(origin, files):
    files.add('no-transform/page.html', files.contents['page.html'])
    for case in CASES.values():
        if case.reply:
            status, headers, size = case.reply
            origin.on(case.path, files.text[:size or 0], status=status,
                      headers=headers or (('X-Nothing', 'here'),),
                      framing='none' if size is None else 'length')
    return (Scope('/origin/', origin=origin.port),
            Scope('/no-transform/', headers={'Cache-Control': 'no-transform'}))


@pytest.fixture(scope='module')
def server(launch_shared, site, scopes):
    return launch_shared(site.but(scopes=scopes))


@pytest.fixture(scope='module')
def without(launch_shared, site, scopes):
    """The same server with Terse off."""
    return launch_shared(site.but(scopes=scopes, enable=False))


def compared(answer, edited=()):
    return sorted((name, value) for name, value in answer.headers
                  if name not in NOT_COMPARED and name not in edited)


def ask(server, case, protocol, headers, suffix=''):
    kwargs = {'version': case.version} if case.version != 'HTTP/1.1' else {}
    return client.PROTOCOLS[protocol](server.port, case.path + suffix, headers,
                                      method=case.method, **kwargs)


@pytest.mark.parametrize('name', CASES)
def test_leaves_as_it_was(server, without, name, protocol):
    case = CASES[name]
    if case.version == 'HTTP/1.0' and protocol != 'h1':
        return
    before, after = (ask(where, case, protocol, case.asked) for where in (without, server))
    assert after.status == before.status
    assert after.body == before.body
    assert after.framing == before.framing
    assert compared(after) == compared(before)


@pytest.mark.parametrize('name', CASES)
def test_one_reason(server, without, built, files, name):
    case = CASES[name]
    target = '?' + name.replace(' ', '-').replace('/', '-')
    ask(server, case, 'h1', case.asked, target)
    entry = server.wait_entry(case.path + target)
    assert (entry.coding, entry.reason) == ('identity', case.reason)
    before = ask(without, case, 'h1', case.headers)
    told = built.explain(
        method=case.method, version=case.version, request=case.asked,
        status=before.status,
        response=before.headers, body=files.contents.get(case.path[1:], before.body))
    assert told == (entry.coding, entry.reason)


def test_the_reason_of_a_coded_one(server, built, files):
    answer = client.h1(server.port, '/page.html?coded', [ALL])
    entry = server.wait_entry('/page.html?coded')
    assert (entry.coding, entry.reason) == (answer.coding, 'coded')
    told = built.explain(method='GET', request=[ALL], status=200, body=files.contents['page.html'],
                         response=[('content-type', 'text/html')])
    assert told == (answer.coding, 'coded')


@pytest.mark.needs('ratio')
def test_the_ratio_of_a_coded_one(server, files):
    answer = client.h1(server.port, '/page.html?ratio', [ALL])
    assert int(server.wait_entry('/page.html?ratio').ratio) == \
        len(answer.body) * 100 // len(files.contents['page.html'])


@pytest.mark.parametrize('name, coding', [
    ('page.html', 'br'), ('size-299.html', None), ('picture.jpg', None),
    ('size-1048576.html', 'br')])
def test_head_has_the_headers_of_get(server, get, name, coding):
    """RFC 9110 section 9.3.2; only those of the framing may be missing."""
    accept = [('Accept-Encoding', 'br')]
    got, head = (get(server, f'/{name}', accept, method=method) for method in ('GET', 'HEAD'))
    assert head.body == b''
    assert head.coding == coding
    assert compared(head, {'content-length', 'transfer-encoding', 'connection'}) == \
        compared(got, {'content-length', 'transfer-encoding', 'connection'})
    assert head.vary == got.vary
    assert head.header('content-length') == (
        None if coding else got.header('content-length'))


def test_head_in_the_log(server):
    client.h1(server.port, '/page.html?head', [ALL], method='HEAD')
    assert server.wait_entry('/page.html?head').reason == 'head'


@pytest.mark.parametrize('weak', [False, True])
@pytest.mark.parametrize('accept', [[ALL], []])
def test_304(server, get, weak, accept):
    """RFC 9110 section 15.4.5: with the validator and Vary of the 200 that it stands for."""
    full = get(server, '/page.html', accept)
    tag = full.header('etag').removeprefix('W/')
    answer = get(server, '/page.html',
                 accept + [('If-None-Match', 'W/' + tag if weak else tag)])
    assert (answer.status, answer.body, answer.coding) == (304, b'', None)
    # a client that has a strong tag has the identity
    assert answer.header('etag') == (full.header('etag') if weak else tag)
    assert answer.vary == full.vary


def test_304_by_the_tag_that_was_given(server, get):
    tag = get(server, '/page.html', [ALL]).header('etag')
    answer = get(server, '/page.html', [ALL, ('If-None-Match', f'"other", {tag}')])
    assert answer.status == 304


def test_304_of_a_denied_type(server, get):
    """What has no Vary at 200 has none at 304, also where a server's 304 has no type."""
    full = get(server, '/picture.jpg', [ALL])
    answer = get(server, '/picture.jpg', [ALL, ('If-None-Match', full.header('etag'))])
    assert (answer.status, answer.vary) == (304, full.vary) == (304, [])


def test_304_where_the_origin_compares_nothing(server, origin, files, get):
    path = origin.on('/origin/tagged', files.text[:5000], headers=[HTML, ('ETag', '"v1"')])
    tag = get(server, path, [ALL]).header('etag')
    answer = get(server, path, [ALL, ('If-None-Match', f'"v0", {tag}')])
    assert (answer.status, answer.body, answer.header('etag')) == (304, b'', tag)
    assert answer.header('content-length') is None and answer.vary == ['accept-encoding']


def test_304_in_the_log(server):
    tag = client.h1(server.port, '/page.html').header('etag')
    client.h1(server.port, '/page.html?304', [ALL, ('If-None-Match', tag)])
    assert server.wait_entry('/page.html?304').reason == 'not-modified'


def test_206_in_full(server, get, files):
    answer = get(server, '/page.html', [ALL, ('Range', 'bytes=100-299')])
    assert answer.status == 206
    assert answer.body == files.contents['page.html'][100:300]
    assert answer.vary == ['accept-encoding']
