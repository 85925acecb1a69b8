# SPDX-License-Identifier: MIT
"""pins.c leaves nothing of terse.h out, and notices each way to break it."""
import os
import re
import subprocess

import pytest

import header_text

HEADER = os.environ['TERSE_HEADER']
PINS = os.path.join(os.path.dirname(__file__), 'pins.c')
TEXT = header_text.load(HEADER)
with open(PINS) as f:
    PINNED = f.read()


def test_every_member_is_pinned():
    structs = header_text.structs(TEXT)
    assert len(structs) >= 17 and len(structs['terse_api']) >= 33
    for name, members in structs.items():
        pinned = re.findall(r'^FIRST\(%s, (\w+),|^NEXT\(%s, \w+, (\w+),' % (name, name), PINNED,
                            flags=re.M)
        assert [first or later for first, later in pinned] == [m for m, _ in members], name
        assert re.search(r'^LAST\(%s, %s,' % (name, members[-1][0]), PINNED, flags=re.M), name


def test_every_number_is_pinned():
    numbers = header_text.numbers(TEXT)
    assert len(numbers) > 50
    for number in numbers:
        assert re.search(r'^NUMBER(_LP64)?\(%s, ' % number, PINNED, flags=re.M), number


BREAKS = {
    'slot removed': ('    void (*pool_tick)(terse_pool *pool, uint64_t now_ms);\n', '',
                     'pool_tick'),
    'slot inserted': ('    void (*pool_free)(terse_pool *pool);\n',
                      '    void (*pool_free)(terse_pool *pool);\n    void (*extra)(void);\n',
                      'terse_api.pool_tick moved'),
    'signature changed': ('void (*pool_tick)(terse_pool *pool, uint64_t now_ms)',
                          'void (*pool_tick)(terse_pool *pool, uint32_t now_ms)',
                          'terse_api.pool_tick changed its type'),
    'struct reordered': ('uint32_t weights_cap;\n    uint32_t n_weights;',
                         'uint32_t n_weights;\n    uint32_t weights_cap;',
                         'terse_choice.weights_cap moved'),
    'member inserted': ('    uint32_t http_version;',
                        '    uint32_t oddly;\n    uint32_t http_version;',
                       'terse_facts.http_version moved'),
    'tail padding': ('    uint32_t n_weights; ', '    uint16_t n_weights; ',
                     'terse_choice does not end with n_weights'),
    'constness dropped': ('const terse_negotiator *(*negotiator)',
                          'terse_negotiator *(*negotiator)',
                          'terse_api.negotiator changed its type'),
    'number reused': ('#define TERSE_E_VALUE (-5)', '#define TERSE_E_VALUE (-4)',
                      'TERSE_E_VALUE changed its value'),
    'floor raised': ('TERSE_OFFSETOFEND(terse_api, stream_free)', 'sizeof(terse_api) + 8',
                     'TERSE_API_SIZE_V0 changed its value'),
    'header callback': ('uint32_t nth, terse_str *value);', 'uint64_t nth, terse_str *value);',
                        'terse_facts.header changed its type'),
}


@pytest.mark.parametrize('name', [None, *BREAKS], ids=str)
def test_pins_notice(name, tmp_path):
    with open(HEADER) as f:
        text = f.read()
    if name:
        before, after, words = BREAKS[name]
        assert text.count(before) == 1
        text = text.replace(before, after)
    (tmp_path / 'terse.h').write_text(text)
    result = subprocess.run([os.environ.get('CC', 'cc'), '-std=c11', '-fsyntax-only',
                             f'-I{tmp_path}', PINS], capture_output=True, text=True)
    if not name:
        assert result.returncode == 0, result.stderr
        return
    assert result.returncode != 0
    assert words in result.stderr
