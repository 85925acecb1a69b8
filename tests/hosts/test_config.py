# SPDX-License-Identifier: MIT
"""A wrong configuration or a wrong plugin stops the server, with one clear line."""
import os

import client
import pytest
from sites import Scope

MOCKS = ['no-entry', 'null-api', 'short-table', 'null-slot', 'major-9', 'missing-dependency',
         'absurd-size']


def complaint(server, *words):
    """The test of the configuration and the start both fail; the one line that says why."""
    code, said = server.check()
    assert code not in (0, None), f'-tt took it:\n{said}'
    lines = server.own_lines(said)
    assert len(lines) == 1, said
    for word in words:
        assert word in lines[0], lines[0]
    code, said = server.refuse()
    assert code not in (0, None), f'it started:\n{said}'
    assert [line for line in server.own_lines(said) if words[-1] in line], said
    return lines[0]


def test_a_good_configuration_passes(launch, site):
    code, said = launch(site.but(params={'gzip.level': '6'}), start=False).check()
    assert (code, [line for line in said.splitlines() if 'error' in line]) == (0, [])


def test_missing_plugin(launch, site):
    complaint(launch(site.but(plugin='/nowhere/terse.so'), start=False), '/nowhere/terse.so',
              'No such file')


def test_relative_path(launch, site):
    complaint(launch(site.but(plugin='terse.so'), start=False), 'terse.so')


def test_text_in_its_place(launch, site, files):
    path = files.path('page.html')
    complaint(launch(site.but(plugin=path), start=False), path, 'not a shared object')


def test_cut_short(launch, site, built, workshop):
    path = os.path.join(workshop, 'cut.so')
    with open(built.plugin, 'rb') as whole, open(path, 'wb') as part:
        part.write(whole.read(20000))
    complaint(launch(site.but(plugin=path), start=False), path)


def test_a_file_that_others_can_write(launch, site, built, workshop):
    path = os.path.join(workshop, 'writable.so')
    with open(built.plugin, 'rb') as whole, open(path, 'wb') as copy:
        copy.write(whole.read())
    os.chmod(path, 0o666)
    complaint(launch(site.but(plugin=path), start=False), path, 'write')


def test_a_folder_that_others_can_write(launch, site, built, workshop):
    folder = os.path.join(workshop, 'open')
    path = os.path.join(folder, 'terse.so')
    os.mkdir(folder)
    with open(built.plugin, 'rb') as whole, open(path, 'wb') as copy:
        copy.write(whole.read())
    os.chmod(folder, 0o777)
    complaint(launch(site.but(plugin=path), start=False), path, 'write')


def test_each_mock(launch, site, built):
    wrong = {name: path for name, path in built.mocks.items()
             if name != 'good.so' and not name.startswith('lib')}
    assert {name + '.so' for name in MOCKS} <= set(wrong)
    for name, path in wrong.items():
        line = complaint(launch(site.but(plugin=path), start=False), path)
        assert len(line) > len(path) + 20, f'{name}: no reason: {line}'


@pytest.mark.parametrize('params, words', [
    ({'colour': 'blue'}, ['colour']),
    ({'gzip.level': '99'}, ['gzip.level', '99', '9']),
    ({'gzip.level': 'high'}, ['gzip.level', 'high']),
    ({'min-lenght': '300'}, ['min-lenght', 'min-length']),
    ({'codings': 'gzip, brotli'}, ['codings', 'brotli']),
    ({'etag': ''}, ['etag']),
    ({'min-length': '18446744073709551616'}, ['min-length']),
])
def test_settings(launch, site, params, words):
    complaint(launch(site.but(params=params), start=False), *words)


@pytest.mark.needs('block-names')
def test_settings_of_an_inner_block(launch, site):
    scope = Scope('/a/', scopes=(Scope('/a/b/', params={'gzip.level': '99'}),))
    complaint(launch(site.but(scopes=(scope,)), start=False), '/a/b/', 'gzip.level')


def test_a_key_only_newer_plugins_know(launch, site, files):
    server = launch(site.but(params={'?colour': 'blue'}))
    answer = client.h1(server.port, '/page.html', [('Accept-Encoding', 'gzip')])
    assert answer.plain == files.contents['page.html'] and answer.coding == 'gzip'


def test_the_start_line_names_what_runs(launch, site, built):
    version = built.version()
    server = launch(site)
    lines = server.own_lines(server.log())
    assert len(lines) == 1, lines
    for word in (version, 'zlib', 'brotli', 'zstd'):
        assert word in lines[0], lines[0]


@pytest.mark.needs('module-order')
@pytest.mark.parametrize('order, word', [('first', 'belongs behind'), ('both', 'mod_deflate')])
def test_the_place_among_the_modules(launch, site, order, word):
    server = launch(site.but(order=order))
    lines = [line for line in server.own_lines(server.log()) if word in line]
    assert len(lines) == 1, server.log()
