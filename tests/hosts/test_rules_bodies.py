# SPDX-License-Identifier: MIT
"""RULES.md, rules about how a body comes: R22, R24, and R33 in trailers."""
import client
import h2.events
import pytest
import rules
from origins import Reply
from rules import PAGE, TEXT, Case
from sites import Scope
from streams import Streams

BR = [('Accept-Encoding', 'br')]
CUT = PAGE[:2000]
DECODES = {server: f'{said} So only a header that the server adds itself could be told to Terse.'
           for server, said in ()}
BY_H2O = 'H2O knows `chunked` only and takes it away'

WHOLE = [Case('R24', 'whole', 'br', 'coded'), Case('R22', 'the server took it away', 'br', 'coded',
                                                   framing='chunked')]
CASES = [
    *WHOLE,
    Case('R22', 'a field of the configuration', None, 'framed', vary=False,
         headers=(('Transfer-Encoding', 'gzip'),),
         left_out=(('generated', 'lighttpd decodes it'), ('proxied', 'lighttpd decodes it'))),
]


@pytest.fixture(scope='module')
def stage(files, origin, server_class):
    cases = [case for case in CASES if server_class.name == 'lighttpd' or not case.headers]
    return rules.Stage('bodies', cases, files, origin)


@pytest.fixture(scope='module')
def server(launch_shared, site, stage, origin, files):
    files.add('bodies/cut/cut', b'Content-Type: text/html\r\nContent-Length: 5000\r\n\r\n' + CUT)
    files.add('bodies/cut/say.cgi', rules.SCRIPT.encode(), 0o755)
    origin.on('/bodies/cut/proxied/cut', PAGE, cut=len(CUT))
    scopes = (Scope('/bodies/cut/', scripts=True, scopes=(
        Scope('/bodies/cut/proxied/', origin=origin.port),)),
        Scope('/trailers/', origin=origin.port))
    return launch_shared(site.but(streaming=1, scopes=(*stage.scopes(), *scopes)))


@pytest.mark.parametrize('case, kind, over', rules.listed(WHOLE))
def test_case(server, stage, case, kind, over):
    rules.run(server, stage, case, kind, over)


def head_of(server, target):
    """Of a response whose body is not as it should be."""
    with client.Connection(server.port) as connection:
        connection.send(target, BR + [('Connection', 'close')])
        return connection.head()


@pytest.mark.rule('R22', kinds=('static',))
def test_a_transfer_encoding(server, stage):
    """A file cannot have one but by the server's configuration, and that would be a fault."""
    if server.name != 'lighttpd':
        pytest.skip('H2O refuses to add one to a file, takes that of a script away, and dies of an '
                    "origin's that is not `chunked`, with Terse and without.")
    target = stage.target(CASES[-1], 'static')
    head = head_of(server, target)
    assert (head.status, head.coding, head.all('vary')) == (200, None, [])
    assert head.header('transfer-encoding') == 'gzip'
    assert server.wait_entry(target).reason == 'framed'
