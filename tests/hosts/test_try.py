# SPDX-License-Identifier: MIT
"""hosts/try: the table, the check, and that nothing is left behind."""
import contextlib
import os
import re
import signal
import socket
import subprocess
import tempfile

import client
import pytest
from conftest import CHECKOUT
from files import Files
from server import free_port, until

pytestmark = [pytest.mark.plain,  # it has a build of its own
              pytest.mark.needs('try')]
TRY = os.path.join(CHECKOUT, 'hosts', 'try')


def run(*args):
    return subprocess.run([TRY, *args], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, check=False)


@pytest.fixture
def name(server_class):
    return server_class.name


@pytest.fixture
def folder(workshop):
    """A new one, which the server can read."""
    made = tempfile.mkdtemp(dir=workshop)
    os.chmod(made, 0o755)
    return made


def test_check_over_its_own_site(name):
    done = run(name, '--check', '--port', str(free_port()))
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in done.stdout.splitlines() if 'the same bytes' in line]
    assert len(rows) >= 30
    for coding in ('zstd', 'br', 'gzip', 'identity'):
        for protocol in ('HTTP/1.1', 'HTTP/2'):
            assert [row for row in rows if re.search(rf'{protocol} +{coding} ', row)], coding
    assert 'curl --compressed' in done.stdout


def test_check_over_a_folder(name, files):
    done = run(name, '--check', '--port', str(free_port()), '--root', files.root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '/size-1048576.html' in done.stdout


def test_a_folder_without_pages(name, folder):
    done = run(name, '--check', '--port', str(free_port()), '--root', folder)
    assert done.returncode != 0
    assert 'no file of .html' in done.stderr and done.stderr.endswith(f' in {folder}\n')


def test_a_port_that_is_taken(name):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        done = run(name, '--check', '--port', str(port))
    assert done.returncode == 1
    assert f'port {port} of 127.0.0.1 is taken' in done.stderr


@pytest.mark.parametrize('args, said', [
    (['--prot', '1'], 'usage: hosts/try'), (['--port', '0'], 'not a port: 0'),
    (['--port'], 'not a port: '), (['--root', '/nowhere'], 'not a folder: /nowhere'),
    (['--root'], '--root takes a folder'), (['lighttpd', 'h2o'], 'usage: hosts/try')])
def test_wrong_arguments(name, args, said):
    done = run(name, *args)
    assert done.returncode in (1, 2)
    assert said in done.stderr and not done.stdout


@pytest.mark.parametrize('args', [[], ['apache'], [''], ['../h2o'], ['lighttpd h2o']])
def test_unknown_server(name, args):
    done = run(*args)
    assert done.returncode in (1, 2)
    assert name in done.stderr and not done.stdout


def serve(*args, **kwargs):
    """Like a command of an interactive shell: one in the background would not hear of SIGINT."""
    return subprocess.Popen([TRY, *args], stdin=subprocess.DEVNULL, start_new_session=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                            **kwargs)


@contextlib.contextmanager
def serving(name, port, root, folder):
    """(process, what it has said): after the table; what it keeps is in the folder."""
    with tempfile.TemporaryFile('w+') as out:
        process = serve(name, '--port', str(port), '--root', root, stdout=out, stderr=out,
                        env={**os.environ, 'TMPDIR': folder})

        def said():
            out.seek(0)
            return out.read()

        try:
            until(lambda: 'Serving until' in said() or process.poll() is not None, 120,
                  'the end of the table')
            assert process.poll() is None, said()
            yield process, said()
        finally:
            process.terminate()
            process.wait(20)


def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
        return file.read().split()


@pytest.mark.parametrize('ending', [signal.SIGINT, signal.SIGTERM])
def test_serves_until_it_is_told_to_stop(name, files, ending, folder):
    port = free_port()
    with serving(name, port, files.root, folder) as (process, _):
        server, = children(process.pid)
        assert os.stat(f'/proc/{server}').st_uid != 0
        started = [server, *children(server)]  # H2O keeps a process that would explain its crash
        answer = client.h1(port, '/page.html', [('Accept-Encoding', 'br')])
        assert answer.coding == 'br' and answer.plain == files.contents['page.html']
        process.send_signal(ending)
        assert process.wait(20) == 0
    with pytest.raises(OSError):
        socket.create_connection(('127.0.0.1', port), 1).close()
    until(lambda: not [pid for pid in started if os.path.exists(f'/proc/{pid}')], 10, 'their end')
    assert os.listdir(folder) == []


@pytest.fixture(scope='module')
def large(workshop):
    """A document root with one file that is larger than what the kernel takes for a client."""
    files = Files(tempfile.mkdtemp(dir=workshop))
    os.chmod(files.root, 0o755)
    files.add_large('large.html', 32 << 20)
    return files


def test_a_client_that_reads_nothing_does_not_keep_it(name, large, folder):
    """A server that ends gracefully waits for such a client for ever."""
    port = free_port()
    with serving(name, port, large.root, folder) as (process, _), socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(('127.0.0.1', port))
        slow.sendall(b'GET /large.html HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
        assert slow.recv(5) == b'HTTP/'
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert os.listdir(folder) == []


def test_its_log_says_why(name, files, folder):
    port = free_port()
    with serving(name, port, files.root, folder) as (_, said):
        path = re.search(r'tail -f (\S+)$', said, re.M).group(1)
        client.h1(port, '/page.html?why', [('Accept-Encoding', 'br')])
        client.h1(port, '/two.json?why', [('Accept-Encoding', 'br')])

        def why():
            with open(path, encoding='utf-8') as log:
                return dict(re.findall(r' (/\S+\?why) HTTP/1.1 200 \d+ (\S+)$', log.read(), re.M))

        until(lambda: len(why()) == 2, 20, 'both entries')  # lighttpd keeps lines for a while
        assert why() == {'/page.html?why': 'br/coded', '/two.json?why': 'identity/too-small'}
