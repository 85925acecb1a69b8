# SPDX-License-Identifier: MIT
"""The two examples of programs over libh2o: how the one with a configuration file starts, shares
its work and ends, and all of the one without."""
import os
import random
import signal
import subprocess

import client
import pytest
from decoders import decode
from server import START_SECONDS, STOP_SECONDS, free_port, until

ONLY = ['libh2o']
CODINGS = ['zstd', 'br', 'gzip']


# ---- with a configuration file -------------------------------------------------------------------

@pytest.mark.plain  # a sanitizer has a thread of its own
def test_threads(launch, site, files, get):
    server = launch(site.but(workers=3))
    assert len(os.listdir(f'/proc/{server.pid}/task')) == 3
    for n in range(30):
        coding = CODINGS[n % 3]
        answer = get(server, '/page.html', [('Accept-Encoding', coding)])
        assert (answer.coding, answer.plain) == (coding, files.contents['page.html'])
    assert server.counters()['terse.streams.live'] == 0


def slow_curl(server, name, folder):
    """A client over HTTP/2 that takes its time: (process, file of the body, file of the head)."""
    body, head = os.path.join(folder, 'body'), os.path.join(folder, 'head')
    command = ['curl', '-q', '-s', '-S', '--http2-prior-knowledge', '--noproxy', '*', '-D', head,
               '-H', 'Accept-Encoding: br', '--limit-rate', '4M', '-o', body,
               f'http://127.0.0.1:{server.port}/{name}']
    return subprocess.Popen(command), body, head


@pytest.mark.parametrize('workers', [1, 3])
def test_what_was_begun_is_finished_when_it_ends(launch, site, files, tmp_path, workers):
    """Coded answers over both protocols: SIGTERM comes when their first bytes have."""
    # Coded it is half as long: more than the kernel takes for a client that does not read, less than
    # curl's window needs updates for.  One that H2O has not read when it closes would cost the end.
    whole = files.add('hex.txt', random.Random(5).randbytes(11 << 20).hex().encode())
    server = launch(site.but(workers=workers))
    curl, body, head_of_curl = slow_curl(server, 'hex.txt', tmp_path)
    with client.Connection(server.port) as connection:
        connection.send('/hex.txt', [('Accept-Encoding', 'gzip')])
        head = connection.head()
        until(lambda: os.path.exists(body) and os.path.getsize(body), client.TIMEOUT, 'a byte')
        server.process.send_signal(signal.SIGTERM)
        until(lambda: not accepts(server.port), STOP_SECONDS, 'the end of listening')
        assert (server.process.poll(), curl.poll()) == (None, None)
        assert decode(head.coding, b''.join(connection.chunks())) == whole
    assert curl.wait(client.TIMEOUT) == 0
    with open(body, 'rb') as file, open(head_of_curl, encoding='ascii') as heads:
        assert 'content-encoding: br' in heads.read()
        assert decode('br', file.read()) == whole
    assert server.process.wait(STOP_SECONDS) == 0, server.log()
    assert not server.built.sanitizer_reports()
    server.process = None


def accepts(port):
    try:
        client.connect(port).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize('raw, line, words', [
    ('listen: {host: 127.0.0.1}', 1, ['no port']),
    ('listen: {port: 1, ssl: {certificate-file: /nowhere}}', 1, ['certificate-file']),
    ('num-threads: 0', 1, ['num-threads', '1 to']),
    ('setenv: &self {A: *self}', 1, ['nested']),
    ('setenv: [', 2, ['did not find']),
    ('user: nobody', 1, ['unknown command: user']),
])
def test_mistakes_are_placed(launch, site, raw, line, words):
    server = launch(site.but(raw=raw), start=False)
    code, said = server.check()
    assert code not in (0, None), said
    place = said.splitlines()[-1].split(']')[0]
    lines = server.config().count('\n')
    assert place == f'[{server.folder}/h2o.conf:{lines - 1 + line}', said
    for word in words:
        assert word in said


def test_an_alias_is_what_its_anchor_is(launch, site, files):
    server = launch(site.but(raw='setenv: &same {codings: br}\nterse: *same'))
    answer = client.h1(server.port, '/page.html', [('Accept-Encoding', 'zstd, br, gzip')])
    assert (answer.coding, answer.plain) == ('br', files.contents['page.html'])


def test_arguments(server_class, built):
    program = os.path.join(built.build, server_class.module_built)
    for arguments in ([], ['-t'], ['-x'], ['-c']):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=START_SECONDS)
        assert (done.returncode, done.stdout) == (os.EX_USAGE, '')
        assert done.stderr.splitlines()[-1] == f'usage: {program} [-t] -c FILE'


# ---- without one ---------------------------------------------------------------------------------

def small(built, *arguments):
    return subprocess.Popen(
        [os.path.join(built.build, 'hosts/h2o/terse-h2o-example'), *map(str, arguments)],
        env={'PATH': '/usr/bin:/bin', 'LC_ALL': 'C'}, start_new_session=True, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.fixture
def small_port(server_class, built, files):
    """The port of the server without a configuration file.  It has no end of its own."""
    port = free_port()
    process = small(built, port, files.root, built.plugin, 'codings', 'br, zstd, gzip',
                    'min-length', '400')
    until(lambda: process.poll() is not None or accepts(port), START_SECONDS, 'a listener')
    yield port
    died = process.poll()
    process.terminate()
    said = process.communicate(timeout=STOP_SECONDS)[0]
    assert (died, process.returncode) == (None, -signal.SIGTERM), said
    assert said == ''


@pytest.mark.plain  # it ends by a signal: nobody searches for leaks
@pytest.mark.parametrize('coding', CODINGS)
def test_small_server(small_port, get_at, files, coding):
    for name in ('page.html', 'size-1048576.html'):
        answer = get_at(small_port, f'/{name}', [('Accept-Encoding', coding)])
        assert (answer.status, answer.coding, answer.vary) == (200, coding, ['accept-encoding'])
        assert answer.plain == files.contents[name]


@pytest.mark.plain
def test_settings_of_the_small_server(small_port, get_at, files):
    accept = [('Accept-Encoding', 'gzip, zstd, br')]
    assert get_at(small_port, '/page.html', accept).coding == 'br'
    short = get_at(small_port, '/size-300.html', accept)
    assert (short.coding, short.plain) == (None, files.contents['size-300.html'])


@pytest.fixture
def get_at(protocol):
    return client.PROTOCOLS[protocol]


@pytest.mark.parametrize('settings, words', [
    (['gzip.level', '99'], ['gzip.level', '99', '1 to 9']),
    (['colour', 'blue'], ['colour']),
    (['min-lenght', '300'], ['min-lenght', 'min-length']),
])
def test_wrong_settings_of_the_small_server(server_class, built, files, settings, words):
    process = small(built, free_port(), files.root, built.plugin, *settings)
    said = process.communicate(timeout=START_SECONDS)[0]
    assert process.returncode == 1, said
    assert len(said.splitlines()) == 1 and said.endswith('\n'), said
    for word in words:
        assert word in said


def test_wrong_plugin_of_the_small_server(server_class, built, files):
    process = small(built, free_port(), files.root, '/nowhere/terse.so')
    said = process.communicate(timeout=START_SECONDS)[0]
    assert process.returncode == 1, said
    assert len(said.splitlines()) == 1 and '/nowhere/terse.so' in said, said
