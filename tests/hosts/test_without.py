# SPDX-License-Identifier: MIT
"""H2O where Terse cannot be: one line says why, and the server runs as if its configuration did not
speak of Terse, or not at all when the operator has said so."""
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import tempfile
import textwrap

import client
import pytest
from h2o import H2O
from server import until

ONLY = ['h2o']
ALL = [('Accept-Encoding', 'zstd, br, gzip')]
# a relocation that puts an address anywhere, not just into a slot
PLAIN_ADDRESS = {'x86_64': 1, 'aarch64': 257}  # R_X86_64_64, R_AARCH64_ABS64


class Without(H2O):
    """A case sets what is different."""
    strict, preload, text = '0', '', ''

    def config(self):
        words = {'port': self.port, 'root': self.site.root, 'folder': self.folder,
                 'user': 'user: root' if os.geteuid() == 0 else ''}
        return self.text % words if self.text else super().config()

    def environment(self):
        env = super().environment()
        env['TERSE_STRICT'] = self.strict
        if self.preload:
            env['LD_PRELOAD'] = env['LD_PRELOAD'].replace(self.built.h2o_preload, self.preload)
        return env


@pytest.fixture
def without(server_class, built, workshop):
    """without(site, name=value, ...): a server with these attributes, not yet started."""
    assert built.h2o_preload, f'{built.build} has no shim for {server_class.name}'
    servers = []

    def without(site, **attributes):
        folder = tempfile.mkdtemp(prefix='without-', dir=workshop)
        os.chmod(folder, 0o755)
        server = Without(built, folder, site)
        vars(server).update(attributes)
        servers.append(server)
        return server

    yield without
    for server in servers:
        if server.alive():  # or the case has failed
            server.stop()


@pytest.fixture(scope='module')
def alone(built, workshop):
    """The preloaded file without the shim beside it."""
    folder = os.path.join(workshop, 'alone')
    os.mkdir(folder)
    return shutil.copy(built.h2o_preload, folder)


@pytest.fixture(scope='module')
def changed(workshop):
    """changed((old, new), ...): a copy of the server with some bytes replaced by as many others."""
    def changed(*pairs):
        with open(H2O.binary, 'rb') as file:
            content = file.read()
        for old, new in pairs:
            assert content.count(old) == 1 and len(old) == len(new), old
            content = content.replace(old, new)
        path = os.path.join(tempfile.mkdtemp(prefix='changed-', dir=workshop), 'h2o')
        with open(path, 'wb') as file:
            file.write(content)
        os.chmod(path, 0o755)
        os.chmod(os.path.dirname(path), 0o755)
        return path

    return changed


def no_exports():
    """What the bootstrap looks for has another name."""
    name = b'\0h2o_compress_register_configurator\0'
    return name, name.upper()


def other_version():
    return b'\0h2o/2.2.5\0', b'\0h2o/2.2.6\0'


def no_slot():
    """The server reaches libyaml, but not in the way that the bootstrap knows, as one with a
    libyaml of its own."""
    shown = subprocess.check_output(['readelf', '-rW', H2O.binary], text=True)
    line = re.search(r'^(\w+) +(\w+) .* yaml_parser_parse\b', shown, re.M)
    place, info = (int(word, 16) for word in line.groups())
    other = info >> 32 << 32 | PLAIN_ADDRESS[platform.machine()]
    return struct.pack('<QQ', place, info), struct.pack('<QQ', place, other)


CAUSES = [pytest.param(no_exports, 'does not export', id='no-exports'),
          pytest.param(other_version, 'is not version 2.2.5', id='other-version'),
          pytest.param(None, 'terse-h2o.so', id='no-shim')]


@pytest.fixture
def broken(without, changed, alone):
    """broken(site, change, ...): a server that has been changed so, or has no shim."""
    def broken(site, change, **attributes):
        what = {'binary': changed(change())} if change else {'preload': alone}
        return without(site, **what, **attributes)

    return broken


def serves(server, files):
    for name in ('page.html', 'size-1048576.html'):
        answer = client.h1(server.port, f'/{name}', ALL)
        assert (answer.coding, answer.plain) == (None, files.contents[name])
    assert server.alive()


# ---- the line ------------------------------------------------------------------------------------

@pytest.mark.parametrize('master', [False, True])
@pytest.mark.parametrize('change, why', CAUSES)
def test_one_line_and_the_server_goes_on(broken, site, files, change, why, master):
    """A master is a process of its own, with a line of its own."""
    server = broken(site.but(reloads=master), change).start()
    serves(server, files)
    lines = server.own_lines(server.log())
    assert len(lines) == 1 + master and len(set(lines)) == 1, server.log()
    assert why in lines[0] and lines[0].endswith('; h2o runs without Terse'), lines


@pytest.mark.parametrize('master', [False, True])
@pytest.mark.parametrize('change, why', CAUSES)
def test_a_strict_server_does_not_start(broken, site, change, why, master):
    server = broken(site.but(reloads=master), change, strict='1')
    code, said = server.refuse()
    assert code != 0
    lines = said.splitlines()
    assert len(lines) == 1 and why in lines[0] and 'TERSE_STRICT=1' in lines[0], said


# ---- the configuration ---------------------------------------------------------------------------

def configuration(said):
    """What is said stands at the begin and at the end of each level."""
    def at(depth):
        return textwrap.indent(said, depth * ' ')

    return '\n'.join([
        said, 'server-name: terse', 'listen: {host: 127.0.0.1, port: %(port)s}', '%(user)s',
        'hosts:', '  default:', at(4), '    paths:',
        '      /:', at(8), '        file.dir: %(root)s', at(8),
        at(4), said, ''])


SAID = {
    'word': 'terse: ON',
    'nothing': 'terse:',
    'quoted key': '"terse": {}',
    'key with a mark': '? terse\n: ON',
    'text': 'terse: |\n  file.dir: /nowhere\n  terse: ON',
    'itself': 'terse: {min-length: 1, terse: {terse: [terse, {terse: terse}]}, codings: zstd}',
    'lists': 'terse:\n- codings:\n  - terse\n  - - []\n    - {}\n- terse: {terse: }\n-',
    'keys of many parts': 'terse:\n  ? [a, {b: c}]\n  : d\n  ? {terse: e, ? [f] : g}\n  : [h]',
    'anchors': '&key terse: &all {codings: &some [zstd], again: *some}',
    'tag': 'terse: !file /nowhere',
    'one after the other': 'terse.plugin: [/nowhere]\nterse: ON',
}


@pytest.mark.parametrize('said', SAID.values(), ids=SAID)
def test_settings_are_passed_over(broken, site, files, said):
    server = broken(site, None, text=configuration(said)).start()
    answer = client.h1(server.port, '/page.html', ALL)
    assert (answer.coding, answer.plain) == (None, files.contents['page.html'])
    assert answer.all('server') == ['terse']
    assert len(server.own_lines(server.log())) == 1


MIXED = """\
listen: {host: 127.0.0.1, port: %(port)s}
%(user)s
terse: {codings: zstd}
access-log: {path: %(folder)s/access.log, format: "%%{terse}e"}
setenv: {terse: the environment}
file.index: [index.html, &word terse]
server-name: *word
terse: ON
hosts:
  default:
    terse: OFF
    paths:
      /: &outer {file.dir: &folder %(folder)s/index, terse: [OFF, *folder]}
      /merged: {terse: {}, <<: *outer}
      /empty: {terse: ON}
      /list: [{terse: ON}, *outer, {terse: OFF}]
      /file: !file %(folder)s/path.conf
  terse:
    paths: {/: {redirect: /elsewhere/, terse: ON}}
---
terse: ON
"""


@pytest.fixture
def mixed(broken, site):
    server = broken(site, None, text=MIXED)
    os.mkdir(os.path.join(server.folder, 'index'))
    for name, text in (('index/terse', 'the index'),
                       ('path.conf', f'{{terse: ON, file.dir: {server.folder}/index}}')):
        with open(os.path.join(server.folder, name), 'w', encoding='utf-8') as file:
            file.write(text)
    return server.start()


def test_what_only_looks_like_a_setting_stays(mixed):
    """A value, a name in a list, a host and a variable that are called the same."""
    for path in ('/', '/merged/', '/list/', '/file/'):
        answer = client.h1(mixed.port, path)
        assert (answer.status, answer.body) == (200, b'the index'), path
        assert answer.all('server') == ['terse']
    assert client.h1(mixed.port, '/empty/').status == 404
    answer = client.h1(mixed.port, '/', host='terse')
    assert (answer.status, answer.all('location')) == (302, ['/elsewhere/'])
    log = pathlib.Path(mixed.folder, 'access.log')
    until(lambda: 'the environment\n' in log.read_text(), what='the variable in the access log')


def test_an_alias_of_what_is_passed_over(broken, site):
    """H2O says that it does not know it."""
    text = configuration('') + 'terse: &all ON\ncompress: *all\n'
    code, said = broken(site, None, text=text).refuse()
    assert code != 0
    assert 'could not resolve the alias' in said


def test_the_operator_is_told_what_is_left_to_do(without, site, files, changed):
    """Nothing can be passed over, as when libyaml is a part of the server."""
    binary = changed(other_version(), no_slot())
    code, said = without(site, binary=binary).refuse()
    assert code != 0
    assert 'unknown command: terse' in said
    line, = [line for line in said.splitlines() if line.startswith('[terse] ')]
    assert '`terse` is taken out of its configuration' in line
    server = without(site, binary=binary, text=configuration('')).start()
    serves(server, files)
