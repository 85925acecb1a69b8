# SPDX-License-Identifier: MIT
"""hosts/try: the table, the check, and that nothing is left behind."""
import os
import re
import signal
import socket
import subprocess
import tempfile

import client
import pytest
from conftest import CHECKOUT
from server import free_port, until

pytestmark = [pytest.mark.plain,  # it has a build of its own
              pytest.mark.needs('try')]
TRY = os.path.join(CHECKOUT, 'hosts', 'try')


def run(server, *args):
    return subprocess.run([TRY, server, *args], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, check=False)


@pytest.fixture
def name(server_class):
    return server_class.name


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


def test_a_folder_without_pages(name, workshop):
    empty = os.path.join(workshop, 'empty')
    os.mkdir(empty)
    done = run(name, '--check', '--port', str(free_port()), '--root', empty)
    assert done.returncode != 0
    assert empty in done.stderr


def test_a_port_that_is_taken(name):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        done = run(name, '--check', '--port', str(port))
    assert done.returncode == 1
    assert f'port {port} of 127.0.0.1 is taken' in done.stderr


@pytest.mark.parametrize('args', [['apache'], ['lighttpd', '--prot', '1'], [],
                                  ['lighttpd', '--port', '0'], ['lighttpd', '--root', '/nowhere']])
def test_wrong_arguments(args):
    done = subprocess.run([TRY, *args], capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    assert done.stderr and not done.stdout


def serve(*args, **kwargs):
    """Like a command of an interactive shell: one in the background would not hear of SIGINT."""
    return subprocess.Popen([TRY, *args], stdin=subprocess.DEVNULL, start_new_session=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                            **kwargs)


@pytest.mark.parametrize('ending', [signal.SIGINT, signal.SIGTERM])
def test_serves_until_it_is_told_to_stop(name, files, ending, workshop):
    port = free_port()
    folder = tempfile.mkdtemp(dir=workshop)
    os.chmod(folder, 0o755)
    with tempfile.TemporaryFile('w+') as out:
        process = serve(name, '--port', str(port), '--root', files.root, stdout=out, stderr=out,
                        env={**os.environ, 'TMPDIR': folder})

        def serving():
            out.seek(0)
            return 'Serving until interrupted' in out.read() or process.poll() is not None

        try:
            until(serving, 120, 'the end of the table')
            assert process.poll() is None
            answer = client.h1(port, '/page.html', [('Accept-Encoding', 'br')])
            assert answer.coding == 'br' and answer.plain == files.contents['page.html']
            process.send_signal(ending)
            assert process.wait(20) == 0
        finally:
            process.terminate()
            process.wait(20)
    with pytest.raises(OSError):
        socket.create_connection(('127.0.0.1', port), 1).close()
    assert os.listdir(folder) == []
