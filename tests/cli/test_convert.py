# SPDX-License-Identifier: MIT
"""terse compress and decompress, against other projects' codecs."""
import os
import pty
import random
import subprocess

import pytest

from conftest import CODINGS
from foreign import DECODE, ENCODE

WORDS = ('<li class="item">', '</li>\n', 'the ', 'of ', '{"id": ', 'true, ', '0123', 'response ')


def text(n, seed=1):
    pick = random.Random(seed)
    return ''.join(pick.choices(WORDS, k=n // 3 + 1)).encode()[:n]


BODIES = {
    'empty': b'', 'one byte': b'x', 'small': text(45), 'page': text(30000), 'long': text(700000),
    'noise': random.Random(2).randbytes(300000), 'zeros': bytes(1000000),
}

coding = pytest.mark.parametrize('coding', CODINGS)


@coding
@pytest.mark.parametrize('body', BODIES)
def test_compress(terse, coding, body):
    coded = terse('compress', '--coding', coding, input=BODIES[body]).ok().raw
    assert DECODE[coding](coded) == BODIES[body]
    if body in ('page', 'long', 'zeros'):
        assert len(coded) < len(BODIES[body]) / 2


@coding
@pytest.mark.parametrize('body', BODIES)
def test_decompress(terse, coding, body):
    coded = ENCODE[coding](BODIES[body])
    assert terse('decompress', '-c', coding, input=coded).ok().raw == BODIES[body]


@coding
def test_files(terse, coding, tmp_path):
    plain, coded, back = tmp_path / 'plain', tmp_path / 'coded', tmp_path / 'back'
    plain.write_bytes(BODIES['page'])
    assert terse('compress', '-c', coding, plain, coded).ok().raw == b''
    assert DECODE[coding](coded.read_bytes()) == BODIES['page']
    terse('decompress', '-c', coding, coded, back).ok()
    assert back.read_bytes() == BODIES['page']


@coding
@pytest.mark.parametrize('harm', ['cut', 'cut early', 'trailing', 'other', 'empty'])
def test_damaged(terse, coding, harm, tmp_path):
    good = ENCODE[coding](BODIES['page'])
    bad = {'cut': good[:-1], 'cut early': good[:len(good) // 2], 'trailing': good + b'\x01more',
           'other': b'plainly not coded, but of a fair length all the same', 'empty': b''}[harm]
    out = tmp_path / 'out'
    result = terse('decompress', '-c', coding, '-', out, input=bad)
    if harm == 'empty' and result.status == 0:
        assert out.read_bytes() == b''
        return
    result.fails('standard input: ')
    assert not out.exists()


@pytest.mark.parametrize('coding', [c for c in CODINGS if c in ('gzip', 'deflate')])
def test_checksum(terse, coding):
    bad = bytearray(ENCODE[coding](BODIES['page']))
    bad[-2] ^= 1
    terse('decompress', '-c', coding, input=bytes(bad)).fails('damaged')


def test_names(terse):
    body = BODIES['page']
    name, coding = ('X-GZip', 'gzip') if 'gzip' in CODINGS else (CODINGS[0].upper(), CODINGS[0])
    assert DECODE[coding](terse('compress', f'-c{name}', input=body).ok().raw) == body
    for name in ('nope', '', 'identity', 'gzip ', 'br\n'):
        terse('compress', f'--coding={name}', input=body).fails('does not have this coding')


@pytest.mark.skipif('gzip' not in CODINGS, reason='no gzip in this build')
def test_settings_are_used(terse):
    body = BODIES['long']
    sizes = [len(terse('compress', '-c', 'gzip', '--set', f'gzip.level={n}', input=body).ok().raw)
             for n in (1, 9)]
    assert sizes[1] < sizes[0]
    terse('compress', '-c', 'gzip', '--set', 'gzip.level=99', input=body).fails('gzip.level')


def test_output_is_never_overwritten(terse, tmp_path):
    there = tmp_path / 'there'
    there.write_bytes(b'precious')
    terse('compress', '-c', CODINGS[0], there, there).fails('there: File exists')
    assert there.read_bytes() == b'precious'
    terse('compress', '-c', CODINGS[0], there, '/dev/null').ok()


def test_unreadable(terse, tmp_path):
    out = tmp_path / 'out'
    terse('compress', '-c', CODINGS[0], tmp_path / 'none', out).fails('none: No such file')
    terse('compress', '-c', CODINGS[0], tmp_path, out).fails('Is a directory')
    terse('compress', '-c', CODINGS[0], '-', tmp_path / 'no' / 'out').fails('No such file')
    assert not out.exists()


def test_full_disk(terse):
    with open('/dev/full', 'wb') as full:
        result = terse('compress', '-c', CODINGS[0], input=BODIES['page'], stdout=full)
    result.fails('No space left')


def test_terminal(terse):
    master, slave = pty.openpty()
    try:
        terse('compress', '-c', CODINGS[0], input=b'x', stdout=slave).fails('terminal')
        coded = ENCODE[CODINGS[0]](b'plain words')
        terse('decompress', '-c', CODINGS[0], input=coded, stdout=slave).ok()
        assert os.read(master, 100) == b'plain words'
    finally:
        os.close(master)
        os.close(slave)


def test_slow_pipe(terse):
    """Bytes that come one by one make one body."""
    source = subprocess.Popen(['sh', '-c', 'printf a; sleep 0.1; printf b; sleep 0.1; printf c'],
                              stdout=subprocess.PIPE)
    coded = terse('compress', '-c', CODINGS[0], stdin=source.stdout).ok().raw
    source.wait()
    assert DECODE[CODINGS[0]](coded) == b'abc'


@coding
def test_bytes_that_follow_late(terse, coding, tmp_path):
    """The end of the coded body is not the end of the matter when more comes later."""
    coded = tmp_path / 'coded'
    coded.write_bytes(ENCODE[coding](BODIES['small']))
    source = subprocess.Popen(['sh', '-c', f'cat {coded}; sleep 0.2; printf more'],
                              stdout=subprocess.PIPE)
    terse('decompress', '-c', coding, stdin=source.stdout).fails('standard input: ')
    source.wait()
