# SPDX-License-Identifier: MIT
"""Options and fixtures of the host suite."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(CHECKOUT, 'hosts')]

import client  # noqa: E402
from built import Built  # noqa: E402
from files import Files  # noqa: E402
from h2o import H2O  # noqa: E402
from libh2o import LibH2O  # noqa: E402
from lighttpd import Lighttpd  # noqa: E402
from origins import Origin  # noqa: E402
from sites import Site  # noqa: E402

WHEN_NAMED = {  # markers of cases that have a part of tests/run of their own
    'long': 'takes minutes',
    'cache': 'needs Varnish',
    'browser': 'needs Chromium',
    'clients': 'needs clients of other people',
}
SERVERS = {cls.name: cls for cls in (Lighttpd, H2O, LibH2O)}


def pytest_addoption(parser):
    group = parser.getgroup('terse')
    group.addoption('--build', default=os.path.join(CHECKOUT, 'build-gcc'),
                    help='build folder to test')
    group.addoption('--other-plugin', default='',
                    help='terse.so of a build that differs in its version only')
    group.addoption('--server', action='append', choices=sorted(SERVERS),
                    help='server to test; may be given again (default: all)')
    group.addoption('--preload', default='', help='sanitizer runtime to preload into the servers')
    group.addoption('--libh2o', default='', help='folder of another libh2o-evloop, sanitized')
    group.addoption('--threads', type=int, default=1, help='of servers that have threads')


def pytest_configure(config):
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no server is left behind
    config.addinivalue_line('markers', 'plain: means nothing in a sanitized build')
    config.addinivalue_line('markers', 'sanitized: means little in any other')
    config.addinivalue_line('markers', 'rule(name): shows this rule of plugin/RULES.md')
    for name, why in WHEN_NAMED.items():
        config.addinivalue_line('markers', f'{name}: {why}; only when named by -m {name}')
    config.addinivalue_line('markers', 'needs(*what): see lacks and gaps of a server')
    config.addinivalue_line('markers', 'rule(*numbers, kinds, sides, lacks): shows rules of '
                                       'RULES.md; see cases.py')


def name_its_rules(item):
    """For -k R12."""
    item.extra_keyword_matches.update(
        number for mark in item.iter_markers('rule') for number in mark.args)


def mark_what_a_server_lacks(item):
    """A case that needs what its server lacks is skipped; one that meets a known gap must fail."""
    name = item.callspec.params.get('server_class') if hasattr(item, 'callspec') else None
    if name not in SERVERS:
        return
    server = SERVERS[name]
    for mark in item.iter_markers('rule'):
        if name in mark.kwargs.get('lacks', {}):
            item.add_marker(pytest.mark.skip(reason=mark.kwargs['lacks'][name]))
    for need in [need for mark in item.iter_markers('needs') for need in mark.args]:
        if need in server.lacks:
            item.add_marker(pytest.mark.skip(reason=f'{name}, {need}: {server.lacks[need]}'))
        if need in server.slow:
            item.add_marker(pytest.mark.long)
        if need in server.gaps:
            item.add_marker(pytest.mark.xfail(reason=f'{name}, {need}: {server.gaps[need]}',
                                              strict=True))


def waits_for_its_part(item, wanted):
    return any(name not in wanted and item.get_closest_marker(name) for name in WHEN_NAMED)


def is_about_others(item, names):
    """A case of a file about servers none of which is tested."""
    return not set(getattr(item.module, 'ONLY', names)) & set(names)


TABLES = ('test_rules_', 'test_request_matrix', 'test_origin_codings')


def says_nothing_to_a_sanitizer(item):
    """Tables run the same code over HTTP/2, and it takes curl's time."""
    params = item.callspec.params if hasattr(item, 'callspec') else {}
    over_h2 = 'h2' in (params.get('protocol'), params.get('framing'))
    return item.get_closest_marker('plain') or over_h2 and item.module.__name__.startswith(TABLES)


def pytest_collection_modifyitems(config, items):
    names = config.getoption('--server') or sorted(SERVERS)
    sanitized = config.getoption('--preload') or config.getoption('--libh2o')
    wanted = config.getoption('-m')
    for item in items:
        name_its_rules(item)
        mark_what_a_server_lacks(item)
    left_out = [item for item in items if is_about_others(item, names)
                or sanitized and says_nothing_to_a_sanitizer(item)
                or not sanitized and item.get_closest_marker('sanitized')
                or waits_for_its_part(item, wanted)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_generate_tests(metafunc):
    if 'server_class' in metafunc.fixturenames:
        names = metafunc.config.getoption('--server') or sorted(SERVERS)
        only = getattr(metafunc.module, 'ONLY', names)  # a file about some servers
        names = [name for name in names if name in only]
        metafunc.parametrize('server_class', names, indirect=True, scope='session')
    own = [name for mark in metafunc.definition.iter_markers('parametrize')
           for name in mark.args[0].replace(' ', '').split(',')]
    if 'protocol' in metafunc.fixturenames and 'protocol' not in own:
        metafunc.parametrize('protocol', sorted(client.PROTOCOLS))


@pytest.fixture(scope='session')
def server_class(request):
    """A server that was asked for by name must be there."""
    cls, option = SERVERS[request.param], request.config.getoption
    missing = cls.missing(os.path.abspath(option('--build')))
    if missing and cls.name in (option('--server') or ()):
        pytest.fail(missing)
    elif missing:
        pytest.skip(missing)
    return cls


@pytest.fixture(scope='session')
def workshop():
    """A folder that the user of a server can read, unlike pytest's own."""
    folder = tempfile.mkdtemp(prefix='terse-tests-')
    os.chmod(folder, 0o755)
    os.umask(0o022)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope='session')
def built(request, workshop):
    option = request.config.getoption
    return Built(os.path.abspath(option('--build')), os.path.join(workshop, 'built'),
                 option('--preload'), option('--libh2o'), option('--threads'))


@pytest.fixture(scope='session')
def other_plugin(request):
    path = request.config.getoption('--other-plugin')
    assert path, 'this case needs --other-plugin'
    return os.path.abspath(path)


@pytest.fixture(scope='session')
def files(workshop):
    return Files(os.path.join(workshop, 'site'))


@pytest.fixture(scope='session')
def site(files):
    """The plain case: everything on, nothing set. As root the server becomes www-data."""
    return Site(root=files.root, user='www-data' if os.geteuid() == 0 else '')


@pytest.fixture(scope='session')
def certificate(workshop):
    """(certificate, key) for 127.0.0.1: files, signed by nobody else."""
    pair = tuple(os.path.join(workshop, name) for name in ('certificate.pem', 'key.pem'))
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2',
                    '-subj', '/CN=127.0.0.1', '-out', pair[0], '-keyout', pair[1]],
                   check=True, capture_output=True)
    return pair


@pytest.fixture(scope='session')
def origin():
    application = Origin()
    yield application
    application.close()


def _launcher(server_class, built, workshop):
    servers = []

    def launch(site, start=True):
        folder = tempfile.mkdtemp(prefix=f'{server_class.name}-', dir=workshop)
        os.chmod(folder, 0o755)
        server = server_class(built, folder, site)
        if start:
            servers.append(server)
            server.start()
        return server

    yield launch
    failures = []
    for server in servers:
        try:
            server.stop()
        except AssertionError as error:
            failures.append(str(error))
    assert not failures, '\n'.join(failures)


@pytest.fixture
def launch(server_class, built, workshop):
    """launch(site) starts a server for this case; it must live and end well."""
    yield from _launcher(server_class, built, workshop)


@pytest.fixture(scope='module')
def launch_shared(server_class, built, workshop):
    """The same for the cases of one file."""
    yield from _launcher(server_class, built, workshop)


@pytest.fixture
def get(protocol):
    """get(server, path, headers, ...) over the protocol of this case."""
    ask = client.PROTOCOLS[protocol]

    def get(server, path, headers=(), **kwargs):
        return ask(server.port, path, headers, **kwargs)

    return get
