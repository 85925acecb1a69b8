# SPDX-License-Identifier: MIT
"""The README says what is so: its settings table is the plugin's, its commands print what it shows,
its configuration is one that lighttpd takes."""
import os
import re
import shutil
import subprocess

import pytest

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
README = open(os.path.join(CHECKOUT, 'README.md'), encoding='utf-8').read()
CLI, PLUGIN = os.environ['TERSE_CLI'], os.environ['TERSE_PLUGIN']
MODULE = os.environ.get('TERSE_LIGHTTPD_MODULE', '')


def blocks(language):
    return re.findall(rf'^```{language}\n(.*?)^```$', README, re.M | re.S)


def terse(command):
    assert command.startswith('terse ')
    line = f"'{CLI}' --plugin '{PLUGIN}' {command[len('terse '):]}"
    return subprocess.run(['sh', '-c', line], capture_output=True, text=True, check=True).stdout


def test_settings_table():
    between = re.search(r'<!-- terse keys --markdown: begin -->\n(.*)<!-- terse keys --markdown: end -->',
                        README, re.S)
    assert between.group(1) == terse('terse keys --markdown')


def commands():
    for block in blocks('console'):
        for example in re.split(r'^\$ ', block, flags=re.M)[1:]:
            command, _, output = example.partition('\n')
            yield command, output


@pytest.mark.parametrize('command, output', list(commands()))
def test_command(command, output):
    assert terse(command) == output


@pytest.mark.skipif(not MODULE, reason='this build has no lighttpd module')
@pytest.mark.parametrize('block', blocks('lighttpd'))
def test_lighttpd_configuration(block, tmp_path):
    for module in os.listdir('/usr/lib/lighttpd'):
        os.symlink(os.path.join('/usr/lib/lighttpd', module), tmp_path / module)
    (tmp_path / 'mod_terse.so').unlink(missing_ok=True)
    shutil.copy(MODULE, tmp_path)
    conf = tmp_path / 'lighttpd.conf'
    conf.write_text('server.document-root = "/tmp"\nserver.bind = "127.0.0.1"\nserver.port = 1\n'
                    f'server.modules = ( )\nterse.plugin = "{PLUGIN}"\n' + block)
    result = subprocess.run(['/usr/sbin/lighttpd', '-tt', '-f', str(conf), '-m', str(tmp_path)],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_refusal_is_quoted_word_for_word():
    result = subprocess.run([CLI, '--plugin', PLUGIN, 'explain', '--set', 'gzip.level=99'],
                            capture_output=True, text=True)
    assert result.returncode != 0
    quoted = 'gzip.level: "99" is not allowed; expected 1 to 9, or auto'
    assert quoted in result.stderr and quoted in README


def test_links_lead_somewhere():
    for target in re.findall(r'\]\(([^)#]+)\)', README):
        assert os.path.exists(os.path.join(CHECKOUT, target)), target
    for folder in re.findall(r'^\| `([a-z/]+/)` \|', README, re.M):
        assert os.path.isdir(os.path.join(CHECKOUT, folder)), folder
