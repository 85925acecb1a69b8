# SPDX-License-Identifier: MIT
"""Cases with a thousand clients at once."""
import resource

import pytest

MANY_CONNECTIONS = {
    'lighttpd': 'server.max-fds = 4096\nserver.max-connections = 2000',
    'h2o': 'max-connections: 2000',
    'libh2o': '',
}


@pytest.fixture
def many_files():
    """As many open files as the system lets a process have."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
