# SPDX-License-Identifier: MIT
"""The rest of the program: check, keys, reasons, info, usage, and which plugin it takes."""
import os
import re
import subprocess

import pytest

from conftest import CODINGS, PLUGIN, TERSE

MOCKS = os.environ['TERSE_MOCKS']
VERSION = os.environ['TERSE_VERSION']


def test_check(terse, tmp_path):
    good, bad = tmp_path / 'good', tmp_path / 'bad'
    good.write_text(f'# a comment\n\ncodings = {CODINGS[0]}\n\tmin-length=1k\n?br.future = 7')
    bad.write_text('min-length = 300\ngzip.levle = 3\nmin-length = many\nno equals\n= 3\nprefer=\n')
    assert terse('check', good).ok().out == f'{good}: right, settings: 3\n'
    result = terse('check', bad, good).fails('')
    lines = result.err.splitlines()
    assert [re.match(r'terse: (.*?:\d+): .', line).group(1) for line in lines] == [
        f'{bad}:{n}' for n in (2, 3, 4, 5, 6)]
    assert 'gzip.level' in lines[0] and 'min-length' in lines[1] and 'many' in lines[1]
    assert result.out == f'{good}: right, settings: 3\n'


def test_check_hostile(terse, tmp_path):
    for name, data, words in (
            ('long', b'a' * 20000 + b'\nmin-length = 1\n', ':1: the line is too long'),
            ('nul', b'min-length = 1\n\nmin-length = 1\x000\n', ':3: a NUL byte'),
            ('binary', bytes(range(256)), ':1:'),
            ('escape', b'\x1b[2J = 1\n', ':1:')):
        path = tmp_path / name
        path.write_bytes(data)
        result = terse('check', path).fails(f'{path}{words}')
        assert '\x1b' not in result.err
    terse('check', tmp_path / 'none').fails('none: No such file')
    terse('check', tmp_path).fails('Is a directory')
    assert terse('check', '-', input=b'min-length = 5').ok().out == '-: right, settings: 1\n'
    terse('check').fails('FILE...', status=2)


def table(text):
    """The rows of a Markdown table, as lists of cells."""
    rows = [re.split(r'(?<!\\)\|', line)[1:-1] for line in text.splitlines()]
    assert all(re.fullmatch('-+', cell) for cell in rows[1])
    assert len({len(row) for row in rows}) == 1
    return [[cell.strip().strip('`') for cell in row] for row in rows[:1] + rows[2:]]


def test_keys(terse):
    plain = terse('keys').ok().out.splitlines()
    rows = table(terse('keys', '--markdown').ok().out)
    assert rows[0] == ['key', 'type', 'default', 'values', 'meaning'] == plain[0].split()
    assert [row[0] for row in rows] == [line.split()[0] for line in plain]
    assert len(rows) == len(plain) > 10
    for row, line in zip(rows, plain):
        assert all(cell for cell in row)
        assert line.endswith(row[-1].replace('\\|', '|'))


def test_defaults_can_be_set(terse, tmp_path):
    """What is shown as a default is taken as a value, unless it is a word for "built in", or names
    a coding that this build lacks."""
    settings = tmp_path / 'settings'
    rows = table(terse('keys', '--markdown').ok().out)[1:]
    if not {'zstd', 'br', 'gzip'} <= set(CODINGS):
        rows = [row for row in rows if row[0] != 'codings']
    settings.write_text(''.join(f'{r[0]} = {r[2]}\n' for r in rows if r[2] != 'built-in'))
    terse('check', settings).ok()


def test_reasons(terse):
    rows = table(terse('reasons', '--markdown').ok().out)
    plain = terse('reasons').ok().out.splitlines()
    assert rows[0] == ['number', 'name', 'meaning'] and len(rows) == len(plain) > 20
    assert len({row[0] for row in rows}) == len({row[1] for row in rows}) == len(rows)
    assert ['1', 'coded'] == rows[2][:2]


def pairs(text):
    return dict(line.split(None, 1) for line in re.sub(r'(?m)^(.*?):', lambda m: m.group(1).replace(
        ' ', '-'), text).splitlines())


def test_info(terse):
    told = pairs(terse('info').ok().out)
    assert told['path'] == os.path.realpath(PLUGIN)
    assert told['plugin'] == VERSION and told['build'] and told['abi'] == '1.0'
    assert told['self-test'] == 'passed'
    for coding in CODINGS:
        assert int(told[f'stream-bytes-{coding}']) > 0


def test_info_with_settings(terse):
    terse('info', '--set', f'codings={CODINGS[0]}').ok()
    assert terse('info', '--set', 'codings=nope').fails('codings').out == ''


@pytest.mark.parametrize('name, words', [
    ('no-entry', 'it has no terse_plugin_entry'), ('null-api', 'does not speak ABI 1'),
    ('short-table', 'too short'), ('null-slot', 'slot decide_more'), ('major-9', 'ABI 9.0'),
    ('absurd-size', '4294967295 bytes'), ('absurd-exchange', '1073741824 bytes'),
    ('zero-exchange', 'wants 0 bytes'), ('null-version', 'no version'),
    ('open-fails', 'version 1.1.4'), ('open-silent', 'no reason given'),
    ('no-instance', 'no instance'), ('undefined-symbol', 'no_such_function'),
    ('missing-dependency', 'libterse-no-such-library.so.9'), ('borrowed-entry', 'has no'),
])
def test_wrong_plugins(terse, name, words):
    path = f'{MOCKS}/{name}.so'
    result = terse('info', plugin=path).fails(words)
    assert result.out == '' and len(result.err.splitlines()) == 1
    assert result.err.startswith(f'terse: {path}: ')


def test_tiny_plugin(terse, tmp_path):
    """Extensions are asked for, never taken for granted."""
    good = f'{MOCKS}/good.so'
    assert pairs(terse('info', plugin=good).ok().out)['plugin'] == 'tiny'
    terse('keys', plugin=good).fails('does not have terse.keys/1')
    terse('reasons', plugin=good).fails('does not have terse.reasons/1')
    assert 'no-coding' in terse('explain', '--length', 9, plugin=good).ok().out
    terse('explain', '--set', 'a=b', plugin=good).fails('this plugin has no settings')
    terse('compress', '-c', 'gzip', plugin=good).fails('does not have this coding')


def test_odd_plugin(terse):
    odd = os.environ['TERSE_ODD_PLUGIN']
    rows = table(terse('keys', '--markdown', plugin=odd).ok().out)
    assert rows[1:] == [['odd\\|key', 'choice', 'a', 'a\\|b', 'Either a \\| b.']]
    assert 'odd|key' in terse('keys', plugin=odd).ok().out
    result = terse('info', plugin=odd).fails('self-test: coding a sample failed')
    assert pairs(result.out)['self-test'] == 'failed'


def test_plugin_paths(terse, tmp_path):
    terse('info', plugin='plugin/terse.so').fails('must be absolute')
    terse('info', plugin=tmp_path / 'none.so').fails('none.so: No such file')
    text = tmp_path / 'text.so'
    text.write_text('not a plugin\n' * 100)
    text.chmod(0o644)
    tmp_path.chmod(0o755)
    terse('info', plugin=text).fails('not a shared object')


def test_plugin_option_after_the_command():
    done = subprocess.run([TERSE, 'info', f'--plugin={PLUGIN}'], capture_output=True, check=True)
    again = subprocess.run([TERSE, f'--plugin={PLUGIN}', 'info'], capture_output=True, check=True)
    assert done.stdout == again.stdout != b''


def test_usage(terse):
    for arguments, words in (([], 'which command?'), (['frob'], 'no such command: frob'),
                             (['--frob'], 'no such option: --frob'), (['compress'], '--coding'),
                             (['compress', '-c', 'x', 'a', 'b', 'c'], 'operand too many: c'),
                             (['keys', 'x'], 'operand too many: x'),
                             (['keys', '--markdown=1'], 'takes no value'),
                             (['info', '--plugin'], 'wants a value')):
        result = terse(*arguments, plugin=None).fails(words, status=2)
        assert result.out == ''
    assert 'usage: terse' in terse('--help', plugin=None).ok().out
    assert terse('--version', plugin=None).ok().out == f'terse {VERSION}\n'


@pytest.mark.parametrize('command', ['explain', 'check', 'keys', 'reasons', 'info', 'compress',
                                     'decompress'])
def test_help(terse, command):
    out = terse(command, '--help', plugin=None).ok().out
    assert out.startswith(f'usage: terse {command} ') and '--plugin PATH' in out
    assert all(len(line) <= 100 for line in out.splitlines())
    assert command in terse('--help', plugin=None).ok().out


def test_full_disk(terse):
    with open('/dev/full', 'wb') as full:
        terse('keys', stdout=full).fails('standard output: No space left')
