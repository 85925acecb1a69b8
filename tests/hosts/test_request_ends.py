# SPDX-License-Identifier: MIT
"""Coded request bodies whose client goes away, whose server starts anew meanwhile, or whose refusal
meets an error document."""
import json
import random

import client
import pytest
from applications import Telling
from coders import coded
from memory import nothing_held
from server import until
from sites import Scope
from streams import Streams
from test_request_bodies import PLAIN, TELL, told
from test_request_hosts import REFUSALS, expected, head

LONG = 24 << 20  # takes many turns


@pytest.fixture(scope='module')
def application():
    it = Telling()
    yield it
    it.close()


def scopes(application):
    return (Scope('/to/', origin=application.port),
            Scope('/small/', origin=application.port, params={'decode.max-length': '1000'}),
            Scope('/scarce/', origin=application.port, params={
                'decode.memory': '4m', 'decode.max-ratio': '100000'}))


@pytest.fixture(scope='module')
def server(launch_shared, site, files, application):
    files.add_script('tell.cgi', '#!/bin/sh\n' + TELL)
    return launch_shared(site.but(params={'decode.requests': 'on', 'decode.max-ratio': '100000'},
                                  workers=1, scopes=scopes(application)))


@pytest.fixture(scope='module')
def long_body():
    """Little that comes, and much work."""
    block = random.Random(3).randbytes(3 << 10)
    return coded(block * (LONG // len(block)), 'zstd')


# ---- clients that go away ------------------------------------------------------------------------

@pytest.mark.rule('R44')
def test_clients_that_go_away_while_it_is_decoded(server, application, long_body):
    """All of the body is there; others are served meanwhile."""
    for n in range(20):
        connection = client.Connection(server.port)
        connection.socket.sendall(head('/to/gone', f'Content-Length: {len(long_body)}',
                                       coding='zstd') + long_body)
        if n % 2:
            assert client.h1(server.port, '/two.json').body == b'{}'
        connection.abort()
    answers = []

    def ask():
        """The memory of those may not be there yet."""
        answers.append(client.h1(server.port, '/to/gone', [('Content-Encoding', 'zstd')], 'POST',
                                 body=long_body))
        return answers[-1].status != 503

    until(ask, 30, 'memory that came back')
    assert told(answers[-1])[0] == LONG // 3072 * 3072
    nothing_held(server)
    assert application.lengths('/to/gone') == {LONG // 3072 * 3072}


@pytest.mark.rule('R44')
@pytest.mark.parametrize('coding', ['gzip', 'br', 'zstd', 'deflate', 'gzip, zstd, br'])
def test_streams_that_are_reset(server, application, coding):
    """At every part of the body, with a good one beside them."""
    path = '/to/reset-' + coding.replace(', ', '-')
    body = coded(PLAIN[:100000], coding)
    fields = [('Content-Encoding', coding)]
    with Streams(server.port) as streams:
        for n in range(12):
            stream = streams.begin(path, fields, len(body))
            streams.send(stream, body[:len(body) * n // 11], end=n == 11)
            good = streams.ask(path, fields, 'POST', body)
            if stream not in streams.ended:
                streams.reset(stream)
            answer, = streams.whole(good)
            assert told(answer) == expected(PLAIN[:100000])
        nothing_held(server)
    assert application.lengths(path) == {100000}  # no part of one


@pytest.mark.rule('R44')
def test_streams_that_are_reset_while_they_are_decoded(server, long_body):
    fields = [('Content-Encoding', 'zstd')]
    for _ in range(6):
        with Streams(server.port) as streams:
            for _ in range(3):  # many more, and lighttpd ends the connection
                stream = streams.ask('/to/it', fields, 'POST', long_body)
                if stream not in streams.ended:
                    streams.reset(stream)
            good = streams.ask('/to/it', fields, 'POST', coded(PLAIN[:9000], 'zstd'))
            answer, = streams.whole(good)
            assert told(answer) == expected(PLAIN[:9000])
    nothing_held(server)


# ---- error documents -----------------------------------------------------------------------------

ERROR_HANDLER = '''#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\nhandled %s %s' "$REDIRECT_STATUS" "$REQUEST_METHOD"
'''
DOCUMENTS = {
    'prefix': 'server.errorfile-prefix = "{root}/error-"',
    'prefix-intercept': 'server.errorfile-prefix = "{root}/error-"\n'
                        'server.error-intercept = "enable"',
    'handler': 'server.error-handler = "/error.cgi"',
    'handler-intercept': 'server.error-handler = "/error.cgi"\nserver.error-intercept = "enable"',
    'handler-404': 'server.error-handler-404 = "/error.cgi"\nserver.error-intercept = "enable"',
}
BODIES = {'prefix-intercept': '<p>document</p>', 'handler-intercept': 'handled {} GET'}
STATUSES = (*REFUSALS, 406)
WITH_IT = {406: ('vary', 'Accept-Encoding'), 415: ('accept-encoding', 'gzip, br, zstd, deflate'),
           503: ('retry-after', '1')}


@pytest.mark.rule('R41', 'R44')
@pytest.mark.needs('error-handlers')
@pytest.mark.parametrize('name', DOCUMENTS)
def test_refusals_and_error_documents(launch, site, files, application, name):
    """The status stays, and the field that goes with it."""
    files.add_script('error.cgi', ERROR_HANDLER)
    raw = DOCUMENTS[name].format(root=files.root)
    refused_with_documents(launch, site, files, application, raw, BODIES.get(name))


@pytest.mark.rule('R41', 'R44')
@pytest.mark.needs('error-doc')
def test_refusals_and_documents_of_h2o(launch, site, files, application):
    documents = [{'status': status, 'url': f'/error-{status}.html'} for status in STATUSES]
    refused_with_documents(launch, site, files, application,
                           f'error-doc: {json.dumps(documents)}', '<p>document</p>')


def refused_with_documents(launch, site, files, application, raw, document):
    """document: None for the answer's own text, or any."""
    for status in STATUSES:
        files.add(f'error-{status}.html', b'<p>document</p>')
    server = launch(site.but(
        params={'decode.requests': 'on', 'unacceptable': '406'}, scopes=scopes(application),
        raw=raw))
    refusals = {status: ([('Content-Encoding', coding)], path, body)
                for status, (path, coding, body) in REFUSALS.items()}
    refusals[406] = [('Accept-Encoding', '*;q=0')], '/to/it', b'x'
    for status, (fields, path, body) in refusals.items():
        answer = client.h1(server.port, path, fields, 'POST', body=body)
        field, value = WITH_IT.get(status, ('content-encoding', None))
        assert (answer.status, answer.header(field)) == (status, value)
        if document:
            assert answer.body.decode() == document.format(status)
    nothing_held(server)


@pytest.mark.rule('R41')
@pytest.mark.needs('error-handlers')
@pytest.mark.parametrize('setting', ['error-handler', 'error-handler-404'])
def test_an_error_handler_behind_a_decoded_body(launch, site, files, setting):
    files.add_script('error.cgi', ERROR_HANDLER)
    server = launch(site.but(params={'decode.requests': 'on'},
                             raw=f'server.{setting} = "/error.cgi"'))
    for size in (500, 600000):
        answer = client.h1(server.port, '/not/there', [('Content-Encoding', 'gzip')], 'POST',
                           body=coded(PLAIN[:size], 'gzip'))
        assert answer.body.startswith(b'handled 404 ')
    nothing_held(server)


# ---- a server that starts anew -------------------------------------------------------------------

@pytest.mark.rule('R41')
@pytest.mark.plain
@pytest.mark.needs('reload')
def test_a_reload_while_a_body_comes(launch, site, application):
    """The request that has begun ends well, and so does one that comes behind."""
    server = launch(site.but(params={'decode.requests': 'on'}, scopes=scopes(application),
                             reloads=True))
    body = coded(PLAIN, 'br')
    for cut in (0, 1, len(body) // 2, len(body) - 1):
        begun = client.Connection(server.port)
        begun.socket.sendall(head('/to/it', f'Content-Length: {len(body)}', coding='br')
                             + body[:cut])
        until(lambda: client.h1(server.port, '/two.json').status == 200)
        server.reload()
        begun.socket.sendall(body[cut:])
        assert told(begun.answer()) == expected(PLAIN)
        begun.close()
        until(lambda: asked_again(server, body), 20, 'an answer of the new one')


def asked_again(server, body):
    try:
        answer = client.h1(server.port, '/to/it', [('Content-Encoding', 'br')], 'POST', body=body)
    except (OSError, client.Broken):
        return False
    return told(answer) == expected(PLAIN)
