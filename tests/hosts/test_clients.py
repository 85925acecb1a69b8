# SPDX-License-Identifier: MIT
"""Clients of other people, as they are: what they send coded is understood, and they understand what
they get.  clients/README.md says what each prints."""
import hashlib
import os
import shutil
import subprocess

import pytest
from coders import CODERS, coded
from sites import Scope
from test_request_bodies import TELL

pytestmark = pytest.mark.clients
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'clients')
ENDINGS = {'gzip': '.gz', 'br': '.br', 'zstd': '.zst', 'deflate': '.zz'}
CLIENTS = {  # the command, and what it says of its version
    'curl': (['sh', 'curl.sh'], ['curl', '--version']),
    'curl, HTTP/2': (['sh', 'curl.sh'], ['curl', '--version']),
    'requests': (['/usr/bin/python3', '-B', 'with_requests.py'],
                 ['/usr/bin/python3', '-c', 'import requests; print("requests", requests.__version__)']),
    'httpx': (['/usr/bin/python3', '-B', 'with_httpx.py'],
              ['/usr/bin/python3', '-c', 'import httpx; print("httpx", httpx.__version__)']),
    'httpx, HTTP/2': (['/usr/bin/python3', '-B', 'with_httpx.py'],
                      ['/usr/bin/python3', '-c', 'import httpx; print("httpx", httpx.__version__)']),
    'Node fetch': (['node', 'fetch.mjs'], ['node', '--version']),
    'Go net/http': (['./client'], ['go', 'version']),
    'Go net/http, HTTP/2': (['./client'], ['go', 'version']),
    'Java HttpClient': (['java', 'Client.java'], ['java', '--version']),
    'PHP curl': (['php', 'client.php'], ['php', '--version']),
    'Ruby Net::HTTP': (['ruby', 'client.rb'], ['ruby', '--version']),
}
REFUSED = {'bad': '400', 'unknown': '415', 'long': '413'}
# lighttpd does not wait for a body that it does not want, whoever answers: over HTTP/2 these clients may
# see the end of the stream or of the connection before the answer
EARLY = {('lighttpd', name, 'unknown'): ['000'] for name in ('curl, HTTP/2', 'httpx, HTTP/2')}
NOT_OFFERED = ['deflate']  # by default
LIMIT = 200000


@pytest.fixture(scope='module')
def server(launch_shared, site, files, origin, certificate):
    files.add('tell.cgi', b'#!/bin/sh\n' + TELL.encode())
    os.chmod(files.path('tell.cgi'), 0o755)
    page = files.contents['page.html']
    for coding in CODERS:
        origin.on(f'/origin/{coding}', coded(page, coding),
                  headers=[('Content-Type', 'text/html'), ('Content-Encoding', coding)])
    return launch_shared(site.but(
        tls=certificate, params={'decode.requests': 'on', 'decode.responses': 'on',
                             'decode.max-length': str(LIMIT)},
        scopes=(Scope('/origin/', origin=origin.port),)))


@pytest.fixture(scope='module')
def folder(tmp_path_factory, files):
    """The programs, and the bodies."""
    made = tmp_path_factory.mktemp('clients')
    shutil.copytree(HERE, made, dirs_exist_ok=True)
    plain = files.text[:100000]
    for coding, ending in {**ENDINGS, '': ''}.items():
        (made / f'plain{ending}').write_bytes(coded(plain, coding) if coding else plain)
    (made / 'plain.long').write_bytes(coded(bytes(LIMIT + 1), 'gzip'))
    return made


def output_of(command, folder, *arguments):
    done = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True,
                          timeout=120, check=False, stdin=subprocess.DEVNULL,
                          env={'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': str(folder),
                               'GOFLAGS': '-mod=mod', 'GO111MODULE': 'off', 'LC_ALL': 'C.UTF-8'})
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(name, server, folder):
    command, _ = CLIENTS[name]
    if command == ['./client'] and not (folder / 'client').exists():
        output_of(['go', 'build', '-o', 'client', 'client.go'], folder)
    more = ['--http2-prior-knowledge'] if name == 'curl, HTTP/2' else []
    address = f'http://127.0.0.1:{server.port}'
    if name.endswith('HTTP/2') and not more:
        address = f'https://127.0.0.1:{server.tls_port}'
    return [line.split() for line in output_of(command, folder, address, str(folder), *more)
            .splitlines()]


@pytest.mark.parametrize('name', CLIENTS)
def test_client(server, folder, files, name, server_class, record_property):
    if not shutil.which(CLIENTS[name][1][0]):
        pytest.skip(f'{CLIENTS[name][1][0]} is not installed')
    version = output_of(CLIENTS[name][1], folder).split('\n')[0]
    plain, page = files.text[:100000], hashlib.sha256(files.contents['page.html']).hexdigest()
    told = f'{len(plain)}//{hashlib.sha256(plain).hexdigest()}'
    lines = run(name, server, folder)
    for kind, what, *rest in lines:
        if kind == 'send':
            assert rest[:2] == ['200', told], what
        elif kind == 'refused':
            assert rest in ([REFUSED[what]], EARLY.get((server_class.name, name, what))), what
        elif kind == 'receive':
            assert rest[-1] == page, what
            assert what in ('default', rest[0]) or what in NOT_OFFERED, what
        else:
            assert rest == [page], what
    kinds = [line[0] for line in lines]
    assert [kinds.count(kind) for kind in ('send', 'refused', 'origin')] == [4, 3, 4]
    assert kinds.count('receive') >= 2
    got = ', '.join(f'{line[1]}: {line[2]}' for line in lines if line[0] == 'receive')
    print(f'| {server_class.name} | {name} ({version}) | gzip, br, zstd, deflate | {got} |')
