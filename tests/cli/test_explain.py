# SPDX-License-Identifier: MIT
"""terse explain: what an operator sees of a decision."""
import gzip
import random

import pytest

from conftest import CODINGS
from test_convert import text

pytestmark = pytest.mark.skipif(CODINGS[:3] != ['zstd', 'br', 'gzip'],
                                reason='these cases are those of a build with every codec')

HTML = ('-R', 'Content-Type: text/html')


def accept(*values):
    return [word for value in values for word in ('-H', f'Accept-Encoding: {value}')]


@pytest.mark.parametrize('fields, coding', [
    (['gzip;q=0'], 'identity'), (['gzip;q=1.0'], 'gzip'), (['GZIP'], 'gzip'), (['*'], 'zstd'),
    (['*;q=0'], 'identity'), (['identity;q=0, br'], 'br'), (['br', 'gzip;q=0.5'], 'br'),
    (['gzip;q=bogus'], 'identity'), (['gzip;q=bogus, *'], 'zstd'), ([''], 'identity'),
    ([], 'identity'), (['gzip;q=0.5, identity;q=0.5'], 'gzip'),
    (['gzip;q=0.5, identity'], 'identity'), (['br, deflate'], 'br'), (['zstd;q=0, *'], 'br'),
    (['*, zstd;q=0'], 'br'), (['gzip, deflate, br'], 'br'), (['br, zstd'], 'zstd'),
    (['gzip, deflate, br, zstd'], 'zstd'), (['gzip, gzip;q=0'], 'identity'),
])
def test_negotiation(explain, fields, coding):
    told = explain(*accept(*fields), *HTML, '--length', 30000)
    assert told['coding'] == coding
    assert (told['reason'] == 'coded') == (coding != 'identity')
    assert ('response: set content-encoding: %s' % coding in told['edit']) == (coding != 'identity')
    assert any('vary' in edit for edit in told['edit'])


@pytest.mark.parametrize('arguments, reason', [
    (['--length', 2], 'too-small'), (['--length', 15], 'too-small'), (['--length', 0], 'empty'),
    (['--length', 299], 'too-small'), (['--length', 300], 'coded'),
    (['--length', 300, '--set', 'min-length=301'], 'too-small'),
    (['--length', 9000, '--set', 'max-length=8k'], 'too-large'),
    (['--length', 9000, '--status', 204], 'status'),
    (['--length', 9000, '--status', 304], 'not-modified'),
    (['--length', 9000, '--status', 206], 'partial'),
    (['--length', 9000, '-X', 'HEAD'], 'head'),
    (['--length', 9000, '--method', 'CONNECT'], 'method'),
    (['--length', 9000, '--http', '1.0'], 'http10'),
    (['--length', 9000, '--http', '1.0', '--set', 'http10=on'], 'coded'),
    (['--length', 9000, '--http', '2'], 'coded'),
    (['--length', 9000, '-R', 'Cache-Control: max-age=1, No-Transform'], 'no-transform'),
    (['--length', 9000, '-R', 'Content-Encoding: br'], 'encoded'),
    (['--length', 9000, '-H', 'Range: bytes=0-1'], 'range'),
    (['--length', 9000, '-H', 'Content-Encoding: br', '-R', 'Range: bytes=0-1'], 'coded'),
    (['--length', 9000, '--streamed'], 'coded'),
    (['--length', 9000000], 'coded'), ([], 'coded'),
])
def test_reasons(explain, arguments, reason):
    assert explain(*accept('gzip'), *HTML, *arguments)['reason'] == reason


def test_type(explain):
    told = explain(*accept('gzip'), '-R', 'content-type: image/jpeg', '--length', 9000)
    assert (told['coding'], told['reason']) == ('identity', 'type')
    assert told['reason words'].endswith('.') and told['edit'] == []


def test_file_is_really_coded(explain, tmp_path):
    page = tmp_path / 'page'
    page.write_bytes(text(30000))
    told = explain(*accept('br'), *HTML, '--file', page)
    before, after = told['length'].split(' bytes -> ')
    assert before == '30000' and 0 < int(after.split()[0]) < 15000
    assert (told['body'], told['reason']) == ('taken whole', 'coded')


def test_file_in_pieces(explain, tmp_path):
    page = tmp_path / 'page'
    page.write_bytes(text(1000000))
    for more in ([], ['--streamed']):
        told = explain(*accept('zstd'), *HTML, '--file', page, *more)
        assert (told['body'], told['coding']) == ('coded piece by piece', 'zstd')
        assert 'sent without Content-Length' in told['length'] and ' -> ' in told['length']


def test_no_gain_and_probe(explain, tmp_path):
    noise = tmp_path / 'noise'
    noise.write_bytes(random.Random(3).randbytes(20000))
    told = explain(*accept('gzip'), *HTML, '--file', noise)
    assert (told['coding'], told['reason']) == ('identity', 'no-gain')
    assert told['length'] == '20000 bytes'
    assert explain(*accept('gzip'), '--file', noise)['reason'] == 'probe'


def test_short_stream(explain, tmp_path):
    page = tmp_path / 'page'
    page.write_bytes(text(200))
    told = explain(*accept('gzip'), *HTML, '--file', page, '--streamed')
    assert told['reason'] == 'too-small'


def test_weights(explain):
    told = explain(*accept('GZIP;q=0.25, br;q=2, *;q=0.125'), *HTML, '--length', 1000)
    assert told['weight'] == {
        'gzip': '0.250 named', 'br': '0.000 refused: its weight is malformed',
        'zstd': '0.125 covered by *', 'identity': '0.125 covered by *'}
    told = explain(*accept('gzip'), *HTML, '--length', 1000)
    assert told['weight']['br'] == '- not named'
    assert told['weight']['identity'] == '- not named, but acceptable'
    told = explain(*accept('identity;q=0'), *HTML, '--length', 1000)
    assert told['weight']['identity'] == '0.000 named'


def test_edits(explain):
    told = explain(*accept('gzip'), *HTML, '--length', 9000, '-R', 'ETag: "x"',
                   '-R', 'Accept-Ranges: bytes', '-R', 'Vary: Origin')
    assert 'response: set etag: W/"x"' in told['edit']
    assert 'response: remove accept-ranges' in told['edit']
    assert any('vary' in edit and 'Accept-Encoding' in edit for edit in told['edit'])


def test_settings_in_order(explain, tmp_path):
    some = tmp_path / 'some'
    some.write_text('# comment\n\n  min-length = 5000  \r\ncodings=gzip\n?no.such = 1\n')
    arguments = [*accept('br, gzip'), *HTML, '--length', 1000]
    assert explain(*arguments, '--settings', some)['reason'] == 'too-small'
    told = explain(*arguments, '--settings', some, '--set', ' min-length = 10 ')
    assert (told['reason'], told['coding']) == ('coded', 'gzip')
    told = explain(*arguments, '--set', 'min-length=10', '--settings', some)
    assert told['reason'] == 'too-small'


def test_terminal_is_not_driven(terse):
    out = terse('explain', '-H', 'Accept-Encoding: gzip', *HTML, '--length', 9000,
                '-R', 'ETag: "\x1b[2J"', '-R', 'Vary: \x1b]0;x\x07').ok().out
    assert '\x1b' not in out and '\x07' not in out


@pytest.mark.parametrize('arguments', [
    ['--status', '99'], ['--status', '1000'], ['--status', '2OO'], ['--status', ''],
    ['--length', '-1'], ['--length', '9223372036854775808'], ['--length', '1k'],
    ['--length', '18446744073709551617'],
    ['--http', '1.2'], ['-H', 'no colon'], ['-H', ': no name'], ['-H', 'a b: c'],
    ['-R', 'a: b\r\nc: d'], ['--no-such'], ['-Z'], ['--length'], ['--streamed=1'], ['operand'],
])
def test_usage(terse, arguments):
    result = terse('explain', *arguments).fails('', status=2)
    assert result.out == '' and 'terse explain --help' in result.err


def test_body_files(terse, tmp_path):
    terse('explain', '--file', tmp_path / 'none').fails('none: No such file')
    terse('explain', '--file', tmp_path).fails('not a regular file')
    terse('explain', '--file', '/dev/zero').fails('not a regular file')


@pytest.mark.parametrize('field, coding', [('br', 'br'), ('', 'identity')])
def test_a_response_that_comes_coded(explain, tmp_path, field, coding):
    file = tmp_path / 'page.gz'
    file.write_bytes(gzip.compress(b'a line of text\n' * 2000))
    told = explain(*accept(field), *HTML, '-R', 'Content-Encoding: gzip', '--file', file,
                   '--set', 'decode.responses=on')
    assert (told['coding'], told['reason']) == (coding, 'decoded')
    assert told['body'] == ('coded' if field else 'decoded') + ' piece by piece'
    assert told['length'].startswith(f'{file.stat().st_size} bytes -> ')
    assert ('-> 30000 bytes' in told['length']) == (not field)


def test_a_request_that_comes_coded(explain):
    told = explain('-X', 'POST', '-H', 'Content-Encoding: br', '-H', 'Content-MD5: YQ==',
                   '--set', 'decode.requests=on', '--set', 'decode.offer=identity')
    assert told['request'] == 'its body is decoded before it is handled'
    for edit in ('request: remove content-encoding', 'request: remove content-md5',
                 'request: set accept-encoding: identity'):
        assert any(edit in one for one in told['edit'])
    told = explain('-X', 'POST', '-H', 'Content-Encoding: compress', '--set', 'decode.requests=on')
    assert (told['reason'], told['status']) == ('unsupported', '415')
