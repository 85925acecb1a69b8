# SPDX-License-Identifier: MIT
"""The preload of H2O in a service that is allowed less: no memory that becomes code (systemd's
MemoryDenyWriteExecute), no /proc, or neither."""
import os
import subprocess
import sys
import tempfile

import client
import pytest
from h2o import H2O
from server import until

ONLY = ['h2o']
# prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN); what is started then inherits it
MDWE = """
import ctypes, mmap, os, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) != 0:
    sys.exit('this kernel has no PR_SET_MDWE')
try:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
except PermissionError:
    os.execvp(sys.argv[1], sys.argv[1:])
sys.exit('memory can be made writable and executable')
"""
NO_EXEC_GAIN = (sys.executable, '-c', MDWE)
NO_PROC = ('unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh')


class Hardened(H2O):
    launcher, strict = (), '1'

    def command(self):
        return [*self.launcher, *super().command()]

    def environment(self):
        return {**super().environment(), 'TERSE_STRICT': self.strict}


@pytest.fixture(autouse=True)
def preload(server_class, built):
    assert built.h2o_preload, f'{built.build} has no shim for {server_class.name}'


@pytest.fixture
def harden(built, workshop):
    """harden(site, launcher): a server that is started by the launcher, if the launcher can."""
    servers = []

    def harden(site, *launcher, strict='1'):
        done = subprocess.run([*launcher, 'true'], capture_output=True, check=False)
        if done.returncode != 0:
            pytest.skip(f'not to be had here: {done.stderr.decode().strip()}')
        folder = tempfile.mkdtemp(prefix='hardened-', dir=workshop)
        os.chmod(folder, 0o755)
        server = Hardened(built, folder, site)
        server.launcher, server.strict = launcher, strict
        servers.append(server)
        return server

    yield harden
    for server in servers:
        if server.alive():  # or the case has failed
            server.stop()


def look(server, files, coded=True):
    for name in ('page.html', 'size-1048576.html'):
        for coding in ('zstd', 'br', 'gzip'):
            answer = client.h1(server.port, f'/{name}', [('Accept-Encoding', coding)])
            assert answer.coding == (coding if coded else None)
            assert answer.plain == files.contents[name]
    assert server.alive()


@pytest.mark.parametrize('master', [False, True])
@pytest.mark.parametrize('launcher', [
    pytest.param(NO_EXEC_GAIN, id='mdwe'), pytest.param(NO_PROC, id='no-proc')])
def test_one_way_is_left(harden, site, files, launcher, master):
    """The kernel writes into code through /proc/self/mem; without it, pages are made writable."""
    server = harden(site.but(reloads=master), *launcher).start()
    look(server, files)
    if master:
        started = server.log().count('[terse] ')
        server.reload()
        until(lambda: server.log().count('[terse] ') > started, what='a second start')
        look(server, files)


@pytest.mark.parametrize('master', [False, True])
def test_no_way_is_left(harden, site, files, master):
    """One line of each process (a master is one), and a server without Terse."""
    server = harden(site.but(reloads=master), *NO_PROC, *NO_EXEC_GAIN, strict='0').start()
    look(server, files, coded=False)
    lines = server.own_lines(server.log())
    assert 1 <= len(lines) <= 1 + master and 'runs without Terse' in lines[0], lines
    assert len(set(lines)) == 1, lines


def test_no_way_is_left_and_the_server_is_strict(harden, site):
    server = harden(site, *NO_PROC, *NO_EXEC_GAIN)
    code, said = server.refuse()
    assert code != 0
    lines = server.own_lines(said)
    assert len(lines) == 1 and 'TERSE_STRICT=1' in lines[0], lines
