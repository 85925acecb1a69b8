# SPDX-License-Identifier: MIT
"""Backends that stop in the middle of a body: each client sees that it is not whole."""
import random
import subprocess
import threading

import client
import pytest
from breaks import ENDS_BADLY
from gateways import FastCGI, add_relay
from origins import Reply
from sites import Scope

ONLY = ['lighttpd']
CODINGS = ['gzip', 'br', 'zstd']
POINTS = 50
LENGTH = 700000  # more than is ever held back
PARAMS = {'pool.memory': '1g'}  # for all of those that wait at the same time
SHORT = 20000  # as much is, where its length is known
PARTIAL_FILE, HTTP2_STREAM = 18, 92  # curl's


class Stalls(Reply):
    """Gives a part of the body, and then nothing until it is let go."""

    def __init__(self, body, framing, cut):
        super().__init__(body, framing=framing, cut=cut)
        self.over = threading.Event()

    def pieces(self):
        yield from super().pieces()
        self.over.wait(client.TIMEOUT)


class Mute(Stalls):
    def head(self):
        self.over.wait(client.TIMEOUT)
        return b''


@pytest.fixture(scope='module')
def fastcgi():
    application = FastCGI()
    yield application
    application.close()


@pytest.fixture(scope='module', params=[1, 2], ids=lambda streaming: f'stream-{streaming}')
def server(request, launch_shared, site, origin, fastcgi, files):
    add_relay(files)
    patient = {'origin': origin.port, 'patience': 1}
    return launch_shared(site.but(
        streaming=request.param, params=PARAMS, raw='cgi.limits = ( "read-timeout" => 1 )',
        scopes=(
            Scope('/http/', origin=origin.port),
            Scope('/late/', **patient),
            Scope('/fastcgi/', origin=fastcgi.port, via='fastcgi'),
            Scope('/late-fastcgi/', origin=fastcgi.port, via='fastcgi', patience=1))))


def accept(n):
    return [('Accept-Encoding', CODINGS[n % 3])]


@pytest.mark.rule('R39', kinds=('generated', 'proxied'), sides=('coded',))
@pytest.mark.parametrize('via, framing', [
    ('http', 'length'), ('http', 'chunked'), ('fastcgi', 'close'), ('fastcgi', 'length')])
def test_a_backend_dies_anywhere(server, origin, fastcgi, files, protocol, via, framing):
    body = (files.text * 3)[:LENGTH]
    points = random.Random(f'{via} {framing}').sample(range(LENGTH), POINTS)
    application = fastcgi if via == 'fastcgi' else origin
    for n, point in enumerate(points):
        path = application.on(f'/{via}/dies-{framing}-{point}', body, framing=framing, cut=point)
        assert ENDS_BADLY[protocol](server, path, CODINGS[n % 3]), f'after {point} bytes'
    server.wait_idle()
    server.wait_idle()


@pytest.mark.rule('R39')
def test_one_that_is_held_back(server, origin, files, protocol):
    """The body is short enough to be coded in one call, and never comes in full."""
    body = files.text[:SHORT]
    for n, point in enumerate((0, 1, 5000, SHORT - 1)):
        path = origin.on(f'/http/held-{point}', body, framing='length', cut=point)
        assert ENDS_BADLY[protocol](server, path, CODINGS[n % 3]), f'after {point} bytes'
    server.wait_idle()
    server.wait_idle()


@pytest.mark.rule('R39')
@pytest.mark.parametrize('flags, code', [
    ([], PARTIAL_FILE), (['--http2-prior-knowledge'], HTTP2_STREAM)])
@pytest.mark.parametrize('framing', ['length', 'chunked'])
def test_what_curl_says(server, origin, files, framing, flags, code):
    path = origin.on(f'/http/curl-{framing}', (files.text * 3)[:LENGTH], framing=framing,
                     cut=LENGTH // 2)
    done = subprocess.run(
        ['curl', '-q', '-s', '-o', '/dev/null', '--compressed', *flags,
         f'http://127.0.0.1:{server.port}{path}'], timeout=client.TIMEOUT, check=False)
    assert done.returncode == code


# ---- time-outs -----------------------------------------------------------------------------------

def stalling(origin, fastcgi, files):
    """{target: reply} of every kind of body and of every module that has a time-out."""
    rng, body, found = random.Random(5), (files.text * 3)[:LENGTH], {}

    def stall(application, scope, number, reply):
        path = f'/{scope}/stalls-{number}'
        application.replies[path] = reply
        target = f'/relay.cgi?{origin.port}{path}' if scope == 'cgi' else path
        found[target] = reply

    for number in range(POINTS // 4):
        point = rng.randrange(LENGTH)
        stall(origin, 'late', f'length-{number}', Stalls(body, 'length', point))
        stall(origin, 'late', f'chunked-{number}', Stalls(body, 'chunked', point))
        stall(fastcgi, 'late-fastcgi', number, Stalls(body, 'close', point))
        stall(origin, 'late', f'held-{number}', Stalls(body[:SHORT], 'length', point % SHORT))
    stall(origin, 'late', 'mute', Mute(b'', 'close', 0))
    # one of these at a time: mod_cgi loses count of several, and with it their time-outs
    stall(origin, 'cgi', 'one', Stalls(body, 'close', LENGTH // 3))
    return found


@pytest.mark.rule('R39')
def test_a_backend_is_given_up(server, origin, fastcgi, files, protocol):
    """All at the same time: the server takes two seconds for it."""
    found, bad = stalling(origin, fastcgi, files), {}

    def ask(n, target):
        bad[target] = ENDS_BADLY[protocol](server, target, CODINGS[n % 3])

    threads = [threading.Thread(target=ask, args=pair) for pair in enumerate(found)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for reply in found.values():
        reply.over.set()
    assert [target for target in found if not bad.get(target)] == []
    server.wait_idle()


def test_a_program_that_says_nothing(server, origin):
    reply = origin.replies['/cgi/mute'] = Mute(b'', 'close', 0)
    answer = client.h1(server.port, f'/relay.cgi?{origin.port}/cgi/mute', accept(0))
    reply.over.set()
    assert answer.status == 504
    server.wait_idle()
