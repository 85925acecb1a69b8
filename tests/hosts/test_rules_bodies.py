# SPDX-License-Identifier: MIT
"""RULES.md, rules about what comes behind the headers: R22, R24, and R33 in trailers."""
import client
import h2.events
import pytest
import rules
from files import page
from origins import Reply
from rules import PAGE, TEXT, Case
from sites import Scope
from streams import Streams

BR = [('Accept-Encoding', 'br')]
LONG = page(TEXT, 300000)  # a stream
CODED = ('br', 'coded', ('br',))
FIELD = Case('R22', 'a field of the configuration', headers=(('Transfer-Encoding', 'gzip'),),
             lacks=rules.NO_SUCH_FIELD,
             left_out=(('generated', 'the servers take the field away'),
                       ('proxied', 'the servers take the field away')))
CASES = [
    Case('R22', 'taken away', *CODED, framing='chunked'),
    Case('R24', 'no doubt', *CODED),
    FIELD,
]


# ---- bodies that are not as they should be -------------------------------------------------------

@pytest.fixture(scope='module')
def stage(files, origin, server_class):
    cases = [case for case in CASES if server_class.name not in case.lacks]
    return rules.Stage('bodies', cases, files, origin)


@pytest.fixture(scope='module')
def scopes(stage, files, origin):
    files.add_script('cut/say.cgi', rules.SCRIPT)
    for name, body in (('page', PAGE), ('long', LONG)):
        cut = len(body) * 2 // 3
        head = f'Content-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n'
        files.add(f'cut/{name}', head.encode() + body[:cut])
        origin.on(f'/cut/proxied/{name}', body, cut=cut)
    return (*stage.scopes(), Scope('/cut/', scripts=True), Scope('/trailers/', origin=origin.port),
            Scope('/cut/proxied/', origin=origin.port))


@pytest.fixture(scope='module')
def server(launch_shared, site, scopes):
    return launch_shared(site.but(scopes=scopes))


@pytest.fixture(scope='module')
def streaming(launch_shared, site, scopes):
    return launch_shared(site.but(streaming=1, scopes=scopes))


@pytest.mark.parametrize('case, kind, over', rules.listed([c for c in CASES if c is not FIELD]))
def test_case(server, stage, case, kind, over):
    rules.run(server, stage, case, kind, over)


def head_of(server, target):
    """Of a response whose body may have no end."""
    with client.Connection(server.port) as connection:
        connection.send(target, BR + [('Connection', 'close')])
        return connection.head()


def ends_badly(server, target):
    with pytest.raises((client.Broken, ConnectionError)):
        client.h1(server.port, target, BR)


@pytest.mark.rule('R22', kinds=('static',), sides=('plain',), lacks=rules.NO_SUCH_FIELD)
def test_a_transfer_encoding(server, stage):
    target = stage.target(FIELD, 'static')
    head = head_of(server, target)
    assert (head.status, head.coding, head.all('vary')) == (200, None, [])
    assert head.header('transfer-encoding') == 'gzip'
    assert server.wait_entry(target).reason == 'framed'


@pytest.mark.rule('R24', 'R39', kinds=('generated', 'proxied'), sides=('plain',))
@pytest.mark.parametrize('path', ['say.cgi?page&', 'proxied/page?'])
def test_a_body_that_cannot_be_had(server, path):
    """It is cut short, as the headers tell; what there is of it leaves as it is."""
    target = f'/cut/{path}{next(rules.serial)}'
    head = head_of(server, target)
    assert (head.status, head.coding, head.all('vary')) == (200, None, ['Accept-Encoding'])
    entry = server.wait_entry(target)
    assert (entry.coding, entry.reason) == ('identity', 'host')
    ends_badly(server, f'/cut/{path}{next(rules.serial)}')


@pytest.mark.rule('R39', kinds=('generated', 'proxied'), sides=('coded',))
@pytest.mark.parametrize('path', ['say.cgi?long&', 'proxied/long?'])
def test_a_stream_that_is_cut(streaming, path):
    """Its coding has begun by then."""
    assert head_of(streaming, f'/cut/{path}{next(rules.serial)}').coding == 'br'
    ends_badly(streaming, f'/cut/{path}{next(rules.serial)}')


# ---- what is around a body -----------------------------------------------------------------------

@pytest.mark.rule('R40', kinds=('generated', 'proxied'))
@pytest.mark.parametrize('kind', ['generated', 'proxied'])
@pytest.mark.parametrize('accept, coding', [(BR, 'br'), ([], None)], ids=['br', 'none'])
def test_expect_100_continue(server, stage, kind, accept, coding):
    with client.Connection(server.port) as connection:
        connection.send(stage.target(CASES[1], kind), accept + [
            ('Expect', '100-continue'), ('Content-Length', '5')], 'POST')
        assert connection.head().status == 100
        connection.socket.sendall(b'hello')
        answer = connection.answer()
    assert (answer.status, answer.coding, answer.plain) == (200, coding, PAGE)


@pytest.mark.rule('R40', kinds=rules.KINDS)
def test_pipelining(server, stage):
    asked = [(kind, coding) for kind in rules.KINDS for coding in ('br', None, 'gzip')] * 2
    with client.Connection(server.port) as connection:
        for kind, coding in asked:
            connection.send(stage.target(CASES[1], kind),
                            [('Accept-Encoding', coding)] if coding else [])
        for kind, coding in asked:
            answer = connection.answer()
            assert (answer.status, answer.coding, answer.plain) == (200, coding, PAGE), kind


# ---- trailers ------------------------------------------------------------------------------------

DIGESTS = {'content-digest': 'sha-256=:AAAA:', 'repr-digest': 'sha-256=:BBBB:',
           'digest': 'sha-256=CCCC', 'content-md5': 'DDDD'}
FIELDS = {**DIGESTS, 'x-sum': '42'}


class Trailing(Reply):
    """Chunked, with digests behind."""

    def pieces(self):
        yield from list(super().pieces())[:-1]
        lines = ''.join(f'{name}: {value}\r\n' for name, value in FIELDS.items())
        yield f'0\r\n{lines}\r\n'.encode()


class WithTrailers(Streams):
    trailers = ()

    def _take(self, event):
        if isinstance(event, h2.events.TrailersReceived):
            self.trailers = event.headers
        super()._take(event)


def behind_h1(server, path, headers):
    """(answer, its trailers)"""
    with client.Connection(server.port) as connection:
        connection.send(path, headers + [('TE', 'trailers'), ('Connection', 'close')])
        answer, whole = connection.head(), connection.rest()
    if answer.header('transfer-encoding') != 'chunked':
        return answer, {}
    lines = whole[whole.rindex(b'\r\n0\r\n') + 5:].decode().split('\r\n')
    return answer, dict(line.lower().split(': ', 1) for line in lines if line)


def behind_h2(server, path, headers):
    with WithTrailers(server.port) as streams:
        answer, = streams.whole(streams.ask(path, headers))
        return answer, dict(tuple(field) for field in streams.trailers)


BEHIND = {'h1': behind_h1, 'h2': behind_h2}
# Trailers of a body that is complete at once become headers, in lighttpd itself, with the ends of
# their lines in them: over HTTP/2 no client takes these, with Terse and without.
SIZES = [('h1', 5000), ('h1', len(LONG)), ('h2', len(LONG))]


@pytest.mark.rule('R33', 'R40')
@pytest.mark.parametrize('protocol, size', SIZES)
def test_digests_of_a_coded_body_do_not_follow_it(streaming, origin, protocol, size):
    """Nor do they become headers where a server has the trailers before the headers leave."""
    origin.replies['/trailers/coded'] = Trailing(LONG[:size], framing='chunked')
    answer, trailers = BEHIND[protocol](streaming, '/trailers/coded', BR)
    assert answer.coding == 'br'
    for name in DIGESTS:
        assert name not in trailers and answer.all(name) == [], name
    if streaming.name == 'lighttpd':  # H2O drops all of them
        assert trailers.get('x-sum') == '42' or answer.header('x-sum') == '42'


@pytest.mark.rule('R33', 'R40', lacks=rules.NO_TRAILERS)
@pytest.mark.parametrize('protocol, size', SIZES)
def test_digests_of_the_identity_follow_it(streaming, origin, protocol, size):
    origin.replies['/trailers/plain'] = Trailing(LONG[:size], framing='chunked')
    answer, trailers = BEHIND[protocol](streaming, '/trailers/plain', [])
    assert answer.coding is None
    for name, value in DIGESTS.items():
        assert trailers.get(name, '').lower() == value.lower() or answer.header(name) == value, name
