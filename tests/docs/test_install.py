# SPDX-License-Identifier: MIT
"""What `meson install` puts where, and that what it puts there works."""
import os
import re
import subprocess

import pytest

BUILD = os.environ['TERSE_BUILD']
MODULE = os.environ.get('TERSE_LIGHTTPD_MODULE', '')
MESON = os.environ.get('TERSE_MESON', '/usr/bin/meson')


@pytest.fixture(scope='module')
def root(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp('root'))
    os.chmod(folder, 0o755)
    subprocess.run([MESON, 'install', '-C', BUILD, '--no-rebuild', '--quiet'], check=True,
                   env={**os.environ, 'DESTDIR': folder}, stdout=subprocess.DEVNULL)
    return folder


def find(root, pattern):
    found = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
             if re.search(pattern, os.path.join(folder, name))]
    assert len(found) == 1, (pattern, found)
    return found[0]


def test_plugin_has_its_version_in_its_name(root):
    plugin = find(root, r'/terse/1/terse-[0-9.]+\.so$')
    link = os.path.join(os.path.dirname(plugin), 'terse.so')
    assert os.readlink(link) == os.path.basename(plugin)
    assert os.stat(plugin).st_mode & 0o022 == 0


def test_header_and_pkg_config(root):
    assert find(root, r'/include/terse\.h$')
    text = open(find(root, r'/pkgconfig/terse\.pc$')).read()
    plugindir = re.search(r'^plugindir=(.*)$', text, re.M).group(1)
    assert os.path.dirname(find(root, r'/terse-[0-9.]+\.so$')) == root + plugindir
    assert re.search(r'^abi_major=1$', text, re.M)


def test_command_finds_its_plugin_by_itself(root):
    cli = find(root, r'/bin/terse$')
    plugin = find(root, r'/terse-[0-9.]+\.so$')
    result = subprocess.run([cli, '--plugin', os.path.join(os.path.dirname(plugin), 'terse.so'),
                             'info'], capture_output=True, text=True, check=True)
    assert plugin in result.stdout # the link is resolved, and the file is named
    # without --plugin it is the installed path, which is not there under this root
    result = subprocess.run([cli, 'info'], capture_output=True, text=True)
    installed = plugin[len(root):]
    assert os.path.exists(installed) or \
        os.path.join(os.path.dirname(installed), 'terse.so') in result.stderr


@pytest.mark.skipif(not MODULE, reason='this build has no lighttpd module')
def test_lighttpd_module_and_its_configuration(root):
    assert find(root, r'/usr/lib/lighttpd/mod_terse\.so$')
    conf = open(find(root, r'/conf-available/20-terse\.conf$')).read()
    assert re.search(r'^server\.modules \+= \( "mod_terse" \)$', conf, re.M)
