# SPDX-License-Identifier: MIT
"""Builds without a codec: what is left out is never offered, and what is left works."""
import os
import re
import subprocess

import pytest

# "FOLDER=br,libdeflate FOLDER=zstd,gzip,deflate": builds, and what each was built without
BUILDS = [(folder, set(without.split(','))) for folder, without in
          (part.split('=') for part in os.environ['TERSE_FEWER'].split())]
CODINGS = {'zstd', 'br', 'gzip', 'deflate'}
# the values that a policy has ready (plugin/common_fields.h)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'plugin',
                       'common_fields.h'), encoding='ascii') as header:
    COMMON = re.findall(r'^ +FIELD\("(.+)"\)', header.read(), re.M)
assert COMMON
TEXT = b'A build without one codec never offers it. ' * 200


def terse(folder, *args, data=b''):
    command = [f'{folder}/hosts/cli/terse', '--plugin', f'{folder}/plugin/terse.so', *args]
    return subprocess.run(command, input=data, capture_output=True, timeout=60)


def explain(folder, accepted, *args):
    done = terse(folder, 'explain', '-H', f'Accept-Encoding: {accepted}',
                 '-R', 'Content-Type: text/html', '--length', '30000', *args)
    assert done.returncode == 0, done.stderr
    return re.search(rb'^coding +(\S+)$', done.stdout, re.M).group(1).decode()


@pytest.fixture(params=BUILDS, ids=lambda build: 'without-' + '-'.join(sorted(build[1])))
def build(request):
    return request.param


def test_what_is_left_out_is_not_offered(build):
    folder, without = build
    for coding in without & CODINGS:
        assert explain(folder, coding) == 'identity'
        refused = terse(folder, 'explain', '--set', f'codings={coding}')
        assert refused.returncode != 0 and f'this build has no {coding}'.encode() in refused.stderr
        assert terse(folder, 'compress', '--coding', coding, data=TEXT).returncode != 0
    assert explain(folder, '*') not in without


def explained(folder, *fields):
    """All that is said of a response, and of each weight, for these lines of Accept-Encoding."""
    lines = [part for field in fields for part in ('-H', f'Accept-Encoding: {field}')]
    done = terse(folder, 'explain', *lines, '-R', 'Content-Type: text/html', '--length', '30000')
    assert done.returncode == 0 and b'weight' in done.stdout, done.stderr
    return done.stdout


@pytest.mark.parametrize('field', COMMON)
def test_common_fields_are_as_parsed(build, field):
    folder, _ = build
    ready = explained(folder, field)
    for parsed in ([field.upper()], [field + ' '], [field, 'other']):
        assert explained(folder, *parsed) == ready


def test_what_is_left_works(build):
    folder, without = build
    for coding in CODINGS - without:
        assert explain(folder, coding, '--set', f'codings={coding}') == coding
        coded = terse(folder, 'compress', '--coding', coding, data=TEXT)
        assert coded.returncode == 0 and 0 < len(coded.stdout) < len(TEXT)
        assert terse(folder, 'decompress', '--coding', coding, data=coded.stdout).stdout == TEXT


def test_info_says_what_is_there(build):
    folder, without = build
    info = terse(folder, 'info')
    assert info.returncode == 0 and b'passed' in info.stdout, info.stdout + info.stderr
    for coding, library in (('br', b'brotli'), ('zstd', b'zstd'), ('gzip', b'zlib'),
                            ('libdeflate', b'libdeflate')):
        named = re.search(rb'^' + library + rb':', info.stdout, re.M)
        assert bool(named) == (coding not in without), (coding, info.stdout)


def test_engine_that_is_left_out_is_refused(build):
    folder, without = build
    done = terse(folder, 'explain', '--set', 'gzip.engine=libdeflate')
    assert (done.returncode == 0) == ('libdeflate' not in without), done.stderr
