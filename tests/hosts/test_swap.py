# SPDX-License-Identifier: MIT
"""The plugin is replaced by another one under a running server, which is not touched."""
import hashlib
import os
import re
import shutil

import client
import pytest
from server import until
from visitors import Visitors, single_h1

pytestmark = pytest.mark.needs('reload')


def digest(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


class Installed:
    """${libdir}/terse/1: two versions, and the link that says which one is used."""

    def __init__(self, folder, first, second):
        os.makedirs(folder)
        self.link = os.path.join(folder, 'terse.so')
        self.files = [shutil.copy(path, os.path.join(folder, f'terse-{name}.so'))
                      for name, path in (('one', first), ('two', second))]
        self.use(0)

    def use(self, n):
        os.symlink(os.path.basename(self.files[n]), self.link + '.new')
        os.replace(self.link + '.new', self.link)


def started_versions(server, versions):
    """The versions in the start lines so far, in order."""
    lines = server.own_lines(server.log())
    return [version for line in lines for version in versions
            if re.search(rf'(?<![\w.+-]){re.escape(version)}(?![\w.+-])', line)]


@pytest.mark.parametrize('workers', [0, 2])
def test_swap_and_back(launch, site, files, built, other_plugin, workshop, server_class, workers):
    folder = os.path.join(workshop, f'swap-{server_class.name}-{workers}')
    installed = Installed(folder, built.plugin, other_plugin)
    versions = [built.version(path) for path in installed.files]
    assert versions[0] != versions[1]
    server = launch(site.but(plugin=installed.link, workers=workers, reloads=True))
    digests = [digest(path) for path in server.binaries()]
    pid = server.pid
    expected = [versions[0]]
    with Visitors(server, files.contents, [single_h1] * 3) as visitors:
        for n in (1, 0, 1):
            seen = visitors.right
            until(lambda: visitors.right > seen + 10, what='visitors')
            installed.use(n)
            server.reload()
            expected.append(versions[n])
            until(lambda: started_versions(server, versions) == expected, 20,
                  f'{expected} in the log')
            assert built.version(installed.link) == versions[n]
            seen = visitors.right
            until(lambda: visitors.right > seen + 10, what='visitors after the swap')
    assert visitors.wrong == []
    most = visitors.right / 10 if 'open-door' in server_class.lacks else 0
    assert visitors.refused <= most
    assert server.pid == pid and server.alive()
    assert [digest(path) for path in server.binaries()] == digests


def test_a_reload_onto_a_wrong_plugin_says_so(launch, site, files, built, workshop, server_class):
    """lighttpd ends itself when its configuration fails at a reload; the line says why."""
    folder = os.path.join(workshop, f'wrong-{server_class.name}')
    installed = Installed(folder, built.plugin, files.path('page.html'))
    server = launch(site.but(plugin=installed.link, reloads=True))
    installed.use(1)
    assert built.terse('info', '--plugin', installed.link).returncode != 0
    installed.use(0)
    server.reload()
    until(lambda: server.log().count(built.version(installed.link)) >= 2, 20, 'a second start')
    assert client.h1(server.port, '/page.html').plain == files.contents['page.html']
