# SPDX-License-Identifier: MIT
"""What decoding costs in instructions: beside the bare libraries, and at most, whatever a body is."""
import gzip
import json
import os
import random
import re
import subprocess
import zlib
from dataclasses import dataclass

import brotli
import pytest
import zstandard

JSON_SIZE = 127 * 1024
# Calibrated once, by what the libraries take alone: brotli 290 for an empty block of one byte, and
# 60,000 for the tables of a short body; zlib 9,000 for a KB of zeros, brotli 13,000.
PER_INPUT_BYTE, PER_OUTPUT_KB = 400, 10000
AHEAD = 2 << 10  # KB: brotli fills its window before it gives a byte, up to what limits let pass
CALL_IN, CALL_OUT = 64 << 10, 256 << 10
END, LIMIT = 2, -10
CODINGS = ['gzip', 'br', 'zstd', 'deflate', 'br, gzip', 'gzip, br', 'gzip, zstd, br',
           'deflate, zstd']  # as the corpus numbers them
MB = 1 << 20


@dataclass
class Cost:
    status: int
    taken: int  # the body's length
    given: int
    most_in: int  # of one call
    most_out: int
    instructions: int


def count(folder, bodies):
    """[(how, codings, bytes)]: what each costs."""
    arguments = []
    for n, (how, codings, data) in enumerate(bodies):
        path = folder / f'body-{n}'
        path.write_bytes(data)
        arguments.append(f'{how}:{codings}:{path}')
    done = subprocess.run(
        ['valgrind', '-q', '--tool=callgrind', f'--callgrind-out-file={folder}/counts',
         os.environ['TERSE_DECODE'], *arguments], capture_output=True, text=True, check=True)
    found = {}
    for name in os.listdir(folder):
        text = (folder / name).read_text(encoding='utf-8') if name.startswith('counts') else ''
        body = re.search(r'^desc: Trigger: Client Request: body (\d+)$', text, re.M)
        if body:
            found[int(body[1])] = int(re.search(r'^totals: (\d+)', text, re.M)[1])
    rows = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    assert len(rows) == len(bodies) == len(found)
    return [Cost(*row[1:], found[row[0]]) for row in rows]


def records(size):
    """JSON, as an application sends it."""
    rng, rows = random.Random(3), []
    words = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu'.split()
    while len(json.dumps(rows)) < size:
        rows += [{'id': rng.randrange(10 ** 9), 'name': ' '.join(rng.choices(words, k=4)),
                  'tags': rng.choices(words, k=3), 'score': rng.random()} for _ in range(20)]
    return json.dumps(rows).encode()[:size]


def test_beside_the_bare_library(tmp_path):
    plain = records(JSON_SIZE)
    coded = {'gzip': gzip.compress(plain, 6), 'zstd': zstandard.ZstdCompressor().compress(plain)}
    costs = count(tmp_path, [(how, coding, data) for coding, data in coded.items()
                             for how in ('bare', 'abi')])
    for coding, bare, abi in zip(coded, costs[::2], costs[1::2]):
        assert (bare.status, bare.given, abi.status, abi.given) == (END, JSON_SIZE) * 2
        print(f'{coding}: {bare.instructions} bare, {abi.instructions} through the table, '
              f'{abi.instructions / bare.instructions:.4f}')
        assert abi.instructions <= 1.05 * bare.instructions


# ---- at most --------------------------------------------------------------------------------------

def flushes():
    """Bodies that go on and on, and give nothing."""
    encoder = zlib.compressobj(6, zlib.DEFLATED, 31)
    head = encoder.compress(b'x') + encoder.flush(zlib.Z_SYNC_FLUSH)
    return {
        'gzip': head + b'\0\0\0\xff\xff' * 100000,
        'gzip, members': gzip.compress(b'', mtime=0) * 20000,
        # empty metadata blocks, each a byte
        'br': b'\x0c' + b'\x06' * 400000 + b'\x03',
        'zstd': zstandard.ZstdCompressor().compress(b'') * 40000,
        'zstd, skipped': b'\x50\x2a\x4d\x18\0\0\0\0' * 50000,
    }


def layers(data, codings):
    """A large body, coded in parts."""
    for coding in codings.split(', '):
        if coding == 'br':
            data = brotli.compress(data, quality=5, lgwin=24)
        elif coding == 'zstd':
            data = zstandard.ZstdCompressor(level=3).compress(data)
        else:
            data = gzip.compress(data, 9) if coding == 'gzip' else zlib.compress(data, 9)
    return data


def bombs():
    zeros = bytes(10 * MB)
    found = [(codings, layers(zeros, codings)) for codings in CODINGS]
    found += [('gzip, gzip', layers(zeros, 'gzip, gzip')),
              ('gzip, gzip, gzip, gzip', layers(zeros, 'gzip, gzip, gzip, gzip')),
              ('zstd', zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters(
                  window_log=23)).compress(zeros))]
    return found + [(name.split(',')[0], data) for name, data in flushes().items()]


def corpus():
    folder = os.environ['TERSE_CORPUS']
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), 'rb') as file:
            data = file.read()
        yield CODINGS[data[0] % len(CODINGS)], data[2:]


@pytest.mark.parametrize('bodies', [bombs, corpus])
def test_at_most(tmp_path, bodies):
    """Instructions, less what a request costs at all; and what one call may take and give."""
    listed = [('abi', *body) for body in bodies()]
    costs = count(tmp_path, [('abi', 'gzip', gzip.compress(b'x'))] + listed)
    once = costs[0].instructions
    worst = 0
    for (_, codings, _), cost in zip(listed, costs[1:]):
        given = cost.given / 1024 + (AHEAD if cost.status == LIMIT and 'br' in codings else 0)
        allowed = PER_INPUT_BYTE * cost.taken + PER_OUTPUT_KB * given
        worst = max(worst, (cost.instructions - once) / allowed)
        print(f'{codings}: {cost.taken} bytes in, {cost.given} out, status {cost.status}: '
              f'{cost.instructions} of {once} + {allowed:.0f}')
        assert cost.most_in <= CALL_IN and cost.most_out <= CALL_OUT
    print(f'at most {worst:.3f} of what is allowed')
    assert worst <= 1
