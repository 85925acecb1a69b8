# SPDX-License-Identifier: MIT
"""What is about H2O's preload alone: other programs, its configuration, compress beside it."""
import json
import os
import shutil
import subprocess

import client
import pytest
from server import until
from sites import Scope

ONLY = ['h2o']
ALL = [('Accept-Encoding', 'zstd, br, gzip')]


@pytest.fixture(autouse=True)
def preload(server_class, built):
    assert built.h2o_preload, f'{built.build} has no shim for {server_class.name}'
    return built.h2o_preload


def run(command, preload='', **more):
    env = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL': 'C', **more}
    if preload:
        env['LD_PRELOAD'] = preload
    done = subprocess.run(command, env=env, capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=20, check=False)
    return done.returncode, done.stdout, done.stderr


# ---- other programs ------------------------------------------------------------------------------

@pytest.mark.plain
@pytest.mark.parametrize('strict', ['0', '1'])
@pytest.mark.parametrize('command', [
    ['true'], ['false'], ['perl', '-e', '1'], ['perl', '-e', 'print "said\n"; exit 3'],
    ['bash', '-c', ':'], ['bash', '-c', 'echo $0; perl -e "print 7"'], ['openssl', 'version'],
    ['cat', '/nowhere']], ids=' '.join)
def test_other_programs_run_as_ever(preload, command, strict):
    assert run(command, preload, TERSE_STRICT=strict) == run(command)


@pytest.mark.plain
def test_the_preload_is_loaded_where_nothing_is_seen_of_it(preload):
    """The cases above are about something."""
    _, maps, _ = run(['cat', '/proc/self/maps'], preload)
    assert preload.encode() in maps
    assert b'terse-h2o.so' not in maps


# ---- configuration -------------------------------------------------------------------------------

def refused(launch, site, at, words):
    """h2o -t fails with one line, which has the words, and the file and line of `at`."""
    server = launch(site, start=False)
    code, said = server.check()
    assert code not in (0, None), said
    lines = server.own_lines(said)
    assert len(lines) == 1, said
    with open(os.path.join(server.folder, 'h2o.conf'), encoding='utf-8') as file:
        text = file.read().splitlines()
    numbers = [n for n, line in enumerate(text, 1) if at in line]
    assert len(numbers) == 1, text
    assert lines[0].startswith(f'[{server.folder}/h2o.conf:{numbers[0]}] '), \
        f'{lines[0]}: not line {numbers[0]}'
    for word in words:
        assert word in lines[0], lines[0]
    return said


@pytest.mark.parametrize('params, words', [
    ({'colour': 'blue'}, ['colour']),
    ({'gzip.level': '99'}, ['gzip.level', '99', '9']),
    ({'min-lenght': '300'}, ['min-lenght', 'min-length']),
])
@pytest.mark.parametrize('inner', [False, True])
def test_settings(launch, site, params, words, inner):
    bad = site.but(scopes=(Scope('/a/', params=params),)) if inner else site.but(params=params)
    at = next(iter(params))
    if inner:
        refused(launch, bad, at, words)
    else:  # the path of the whole site has them as well; without it they are there once
        raw = f'terse: {json.dumps(params, indent=1)}'
        refused(launch, site.but(raw=raw), at, words)


def test_missing_plugin(launch, site):
    refused(launch, site.but(plugin='/nowhere/terse.so'), 'terse.plugin',
            ['/nowhere/terse.so', 'No such file'])


def test_text_in_its_place(launch, site, files):
    path = files.path('page.html')
    refused(launch, site.but(plugin=path), 'terse.plugin', [path, 'not a shared object'])


@pytest.mark.parametrize('value', ['maybe', '[a, b]'])
def test_what_is_no_setting(launch, site, value):
    refused(launch, site.but(raw=f'terse: {value}'), f'terse: {value}', ['ON, OFF'])


def test_a_good_configuration_says_nothing(launch, site):
    server = launch(site, start=False)
    code, said = server.check()
    assert code == 0, said
    assert server.own_lines(said) == []


# ---- compress beside it --------------------------------------------------------------------------

@pytest.mark.parametrize('accept', ['zstd, br, gzip', 'br', 'gzip', ''])
def test_compress_beside_it_codes_once(launch, site, files, accept, protocol, get):
    server = launch(site.but(order='both'))
    for name in ('page.html', 'size-1048576.html', 'size-299.html'):
        answer = get(server, f'/{name}', [('Accept-Encoding', accept)])
        assert len(answer.all('content-encoding')) < 2
        assert answer.plain == files.contents[name]
        assert len(answer.vary) == len(set(answer.vary)) == 1, answer.headers
    lines = [line for line in server.own_lines(server.log()) if 'compress is ON' in line]
    assert len(lines) == 1, server.log()


def test_threads(launch, site, files):
    server = launch(site.but(workers=3))
    for n in range(30):
        coding = ('zstd', 'br', 'gzip')[n % 3]
        answer = client.h1(server.port, '/page.html', [('Accept-Encoding', coding)])
        assert (answer.coding, answer.plain) == (coding, files.contents['page.html'])
    assert server.counters()['terse.streams.live'] == 0


def test_a_reload_onto_a_wrong_plugin_leaves_the_old_one(launch, site, files, built, workshop):
    """The new process does not start, and says why; the old one goes on, with the old plugin."""
    folder = os.path.join(workshop, 'wrong-reload')
    os.mkdir(folder)
    link = os.path.join(folder, 'terse.so')
    good = shutil.copy(built.plugin, os.path.join(folder, 'good.so'))

    def use(path):
        os.symlink(path, link + '.new')
        os.replace(link + '.new', link)

    use(good)
    server = launch(site.but(plugin=link, reloads=True))
    use(files.path('page.html'))
    server.reload()
    until(lambda: 'not a shared object' in server.log(), 10, 'the refusal')
    for _ in range(10):
        answer = client.h1(server.port, '/page.html', ALL)
        assert (answer.coding, answer.plain) == ('zstd', files.contents['page.html'])
    use(good)  # its master tries again each second
    until(lambda: server.log().count(f'[terse] {good}: ') == 2, 10, 'a second start')
    assert client.h1(server.port, '/page.html', ALL).plain == files.contents['page.html']
