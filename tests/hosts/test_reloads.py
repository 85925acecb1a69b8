# SPDX-License-Identifier: MIT
"""H2O with a master: a new process for each SIGHUP, the old one answers what it has begun."""
import os
import re

import pytest
from server import until
from test_swap import Installed, started_versions
from visitors import Visitors, kept_h1, many_h2, single_h1

ONLY = ['h2o']
RELOADS = 20
BETWEEN = 20  # answers at least, of all visitors


def ended(server):
    """The exit codes of the old processes."""
    return re.findall(r'old worker \d+ died, status:(\d+)', server.log())


@pytest.mark.plain
def test_reloads_under_load(launch, site, files, built, other_plugin, workshop, server_class):
    installed = Installed(os.path.join(workshop, 'reloads'), built.plugin, other_plugin)
    versions = [built.version(path) for path in installed.files]
    assert versions[0] != versions[1]
    server = launch(site.but(plugin=installed.link, workers=2, reloads=True))
    expected = [versions[0]]
    with Visitors(server, files.contents, [single_h1, kept_h1, many_h2, many_h2]) as visitors:
        for n in range(RELOADS):
            seen = visitors.right
            until(lambda: visitors.right > seen + BETWEEN, what='visitors')
            if n == RELOADS // 2:
                installed.use(1)
            server.reload()
            expected.append(versions[n >= RELOADS // 2])
            until(lambda: started_versions(server, versions) == expected, 20, str(expected))
        seen = list(visitors.tally)
        until(lambda: all(now > before for now, before in zip(visitors.tally, seen)),
              what='an answer for each visitor')
        until(lambda: len(ended(server)) == RELOADS, what='the end of each old process')
    print(f'{visitors.tally} right, {visitors.again} asked again')
    assert visitors.wrong == []
    assert visitors.refused == 0
    assert ended(server) == ['0'] * RELOADS
