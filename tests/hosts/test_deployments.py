# SPDX-License-Identifier: MIT
"""Workers, another user, and a changed root folder."""
import os
import shutil
import signal

import client
import pytest
from server import until

ALL = [('Accept-Encoding', 'zstd, br, gzip')]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason='needs root')


def serves(server, files, count=1):
    for n in range(count):
        coding = ('zstd', 'br', 'gzip')[n % 3]
        answer = client.h1(server.port, '/page.html', [('Accept-Encoding', coding)])
        assert (answer.status, answer.coding) == (200, coding)
        assert answer.plain == files.contents['page.html']
        large = client.h1(server.port, '/size-1048576.html', [('Accept-Encoding', coding)])
        assert large.plain == files.contents['size-1048576.html']


def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
        return [int(child) for child in file.read().split()]


@pytest.mark.needs('processes')
def test_workers(launch, site, files):
    server = launch(site.but(workers=3))
    until(lambda: len(children(server.pid)) == 3, what='three workers')
    serves(server, files, 12)


@pytest.mark.needs('processes')
def test_a_worker_that_died_is_replaced(launch, site, files):
    server = launch(site.but(workers=2))
    until(lambda: len(children(server.pid)) == 2, what='two workers')
    before = set(children(server.pid))
    gone = before.pop()
    os.kill(gone, signal.SIGKILL)
    until(lambda: len(set(children(server.pid)) - {gone}) == 2, what='a new worker')
    serves(server, files, 12)


@as_root
@pytest.mark.needs('other-user')
def test_another_user(launch, site, files):
    server = launch(site.but(user='www-data'))
    assert os.stat(f'/proc/{server.pid}').st_uid != 0
    serves(server, files, 3)


@as_root
def test_no_other_user(launch, site, files):
    server = launch(site.but(user=''))
    assert os.stat(f'/proc/{server.pid}').st_uid == 0
    serves(server, files, 3)


@as_root
@pytest.mark.needs('chroot')
@pytest.mark.plain  # the leak check needs /proc
def test_chroot(launch, site, files, workshop):
    """The plugin and its libraries are outside; they are opened before."""
    jail = os.path.join(workshop, 'jail')
    shutil.copytree(files.root, os.path.join(jail, 'site'))
    server = launch(site.but(chroot=jail, root=os.path.join(jail, 'site'), user='www-data'))
    assert os.readlink(f'/proc/{server.pid}/root') == jail
    serves(server, files, 3)


@as_root
@pytest.mark.needs('chroot')
@pytest.mark.plain
def test_chroot_with_workers(launch, site, files, workshop):
    jail = os.path.join(workshop, 'jail-of-workers')
    shutil.copytree(files.root, os.path.join(jail, 'site'))
    server = launch(site.but(chroot=jail, root=os.path.join(jail, 'site'), user='www-data',
                             workers=2))
    serves(server, files, 6)
