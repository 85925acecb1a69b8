# SPDX-License-Identifier: MIT
"""RULES.md, R09, unacceptable = 406: no handler has seen the request, and connections go on."""
import os

import client
import pytest
import rules
from rules import PAGE
from sites import Scope
from streams import Streams

REFUSING = [('Accept-Encoding', 'identity;q=0, compress')]
OFFER = b'The content codings on offer here are identity, gzip.\n'
SCRIPT = '''#!/bin/sh
echo "$QUERY_STRING" >>"${SCRIPT_FILENAME%/*}/calls"
printf 'Content-Type: text/plain\\r\\nContent-Length: 2\\r\\n\\r\\nOK'
'''
METHODS = ('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS')
BODIES = {'POST': b'something=new', 'PUT': b'new' * 5000}


class Watched:
    """What may see requests, and whether it did."""

    def __init__(self, files, origin):
        self.files, self.origin = files, origin
        files.add('watched/page.html', PAGE)
        files.add_script('watched/mark.cgi', SCRIPT)
        files.add('watched/calls', b'')
        os.chmod(files.path('watched/calls'), 0o666)
        origin.on('/watched/origin/page', PAGE)

    def scope(self):
        return Scope('/watched/', params={'unacceptable': '406', 'codings': 'gzip'}, scripts=True,
                     scopes=(Scope('/watched/origin/', origin=self.origin.port),))

    @staticmethod
    def target(kind):
        name = {'static': 'page.html', 'generated': 'mark.cgi', 'proxied': 'origin/page'}[kind]
        return f'/watched/{name}?{next(rules.serial)}'

    def saw(self, target):
        with open(self.files.path('watched/calls'), encoding='ascii') as calls:
            return target.split('?')[1] in calls.read().split() or \
                target in [path for path, _ in self.origin.seen]


@pytest.fixture(scope='module')
def watched(files, origin):
    return Watched(files, origin)


@pytest.fixture(scope='module')
def server(launch_shared, site, watched):
    return launch_shared(site.but(scopes=(watched.scope(),)))


def over_h2(server, target, method):
    """A server need not wait for the request's body: then it resets the stream when it has answered
    (RFC 9113 section 8.1), which curl takes for an error."""
    with Streams(server.port) as streams:
        stream = streams.ask(target, REFUSING, method, BODIES.get(method, b''))
        streams.until(lambda: stream in streams.ended)
        return streams.answers[stream]


def over_h1(server, target, method):
    return client.h1(server.port, target, REFUSING, method, body=BODIES.get(method, b''))


def is_refusal(answer, method='GET'):
    assert (answer.status, answer.coding) == (406, None), answer
    assert answer.header('content-type') == 'text/plain'
    assert answer.all('vary') == ['Accept-Encoding']
    assert answer.body == (b'' if method == 'HEAD' else OFFER)
    return True


@pytest.mark.rule('R09', kinds=rules.KINDS)
@pytest.mark.parametrize('kind', rules.KINDS)
@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('ask', [over_h1, over_h2], ids=['h1', 'h2'])
def test_nobody_sees_the_request(server, watched, ask, kind, method):
    target = watched.target(kind)
    assert is_refusal(ask(server, target, method), method)
    assert not watched.saw(target)
    entry = server.wait_entry(target)
    assert (entry.status, entry.reason) == (406, 'unacceptable')


@pytest.mark.rule('R09')
@pytest.mark.parametrize('kind', ['generated', 'proxied'])
def test_others_are_seen(server, watched, get, kind):
    target = watched.target(kind)
    assert get(server, target, [('Accept-Encoding', 'gzip, identity;q=0')]).status == 200
    assert watched.saw(target)


@pytest.mark.rule('R09')
@pytest.mark.parametrize('kind', rules.KINDS)
@pytest.mark.parametrize('method', METHODS)
def test_the_connection_goes_on(server, watched, kind, method):
    """The request's body, though nobody reads it, is not taken for another request.  lighttpd does
    not wait for it, and closes."""
    with client.Connection(server.port) as connection:
        for _ in range(2):
            connection.send(watched.target(kind), REFUSING, method, body=BODIES.get(method, b''))
            answer = connection.answer(method)
            assert is_refusal(answer, method)
            if server.name == 'lighttpd' and method in BODIES:
                assert answer.header('connection') == 'close'
                assert connection.rest() == b''
                return
        target = watched.target('proxied')
        connection.send(target, [('Accept-Encoding', 'gzip')])
        answer = connection.answer()
        assert (answer.status, answer.coding, answer.plain) == (200, 'gzip', PAGE)
        assert watched.saw(target)


@pytest.mark.rule('R09')
def test_the_connection_goes_on_over_h2(server, watched):
    with Streams(server.port) as streams:
        refused = [streams.ask(watched.target(kind), REFUSING) for kind in rules.KINDS]
        served = streams.ask(watched.target('proxied'), [('Accept-Encoding', 'gzip')])
        *refusals, answer = streams.whole(*refused, served)
    assert all(is_refusal(refusal) for refusal in refusals)
    assert (answer.status, answer.coding, answer.plain) == (200, 'gzip', PAGE)


@pytest.mark.rule('R09', 'R40')
@pytest.mark.parametrize('kind', rules.KINDS)
def test_expect_100_continue(server, watched, kind):
    """Its body is not waited for, or is sent after a 100; either way there is one 406."""
    target = watched.target(kind)
    with client.Connection(server.port) as connection:
        connection.send(target, REFUSING + [('Expect', '100-continue'), ('Content-Length', '5')],
                        'POST')
        head = connection.head()
        if head.status == 100:
            connection.socket.sendall(b'hello')
            head = connection.head()
        head.body = connection.reader.read(int(head.header('content-length')))
    assert is_refusal(head)
    assert not watched.saw(target)
