# SPDX-License-Identifier: MIT
"""terse explain --request FILE --response FILE, and the rules that it names."""
import random

import pytest

from conftest import CODINGS
from test_convert import text

pytestmark = pytest.mark.skipif(CODINGS[:3] != ['zstd', 'br', 'gzip'],
                                reason='these cases are those of a build with every codec')

REQUEST = b'GET /page HTTP/1.1\r\nHost: example.org\r\nAccept-Encoding: gzip\r\n'
RESPONSE = b'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nETag: "v1"\r\n'


@pytest.fixture
def replay(explain, tmp_path):
    def run(request, response, *arguments):
        (tmp_path / 'request').write_bytes(request)
        (tmp_path / 'response').write_bytes(response)
        return explain('--request', tmp_path / 'request', '--response', tmp_path / 'response',
                       *arguments)
    return run


@pytest.mark.parametrize('end', [b'\r\n', b'\n'])
def test_a_pair(replay, end):
    body = text(5000)
    request, response = REQUEST + b'\r\n', RESPONSE + b'\r\n'
    told = replay(request.replace(b'\r\n', end), response.replace(b'\r\n', end) + body)
    assert (told['coding'], told['reason']) == ('gzip', 'coded')
    assert told['length'].startswith('5000 bytes -> ')
    assert told['rule'].startswith('R26 ')
    assert told['rules'] == {'R26', 'R27', 'R29'}


@pytest.mark.parametrize('request_line, response_line, reason, rules', [
    (b'', b'Content-Length: 20\r\n', 'too-small', {'R18', 'R27'}),
    (b'', b'Content-Encoding: br\r\n', 'encoded', {'R11'}),
    (b'', b'Cache-Control: no-transform\r\n', 'no-transform', {'R15'}),
    (b'Range: bytes=0-9\r\n', b'Content-Length: 9000\r\n', 'range', {'R13', 'R27'}),
    (b'If-None-Match: W/"v1"\r\n', b'Content-Length: 9000\r\n', 'not-modified',
     {'R27', 'R29', 'R35'}),
    (b'Range: bytes=0-9\r\nIf-Range: W/"v1"\r\n', b'Content-Length: 9000\r\n', 'coded',
     {'R14', 'R26', 'R27', 'R29'}),
])
def test_rules_are_named(replay, request_line, response_line, reason, rules):
    told = replay(REQUEST + request_line + b'\r\n', RESPONSE + response_line + b'\r\n')
    assert told['reason'] == reason
    assert told['rules'] - {''} >= rules


def test_what_came_in_chunks_is_of_unknown_length(replay):
    told = replay(REQUEST + b'\r\n', RESPONSE + b'Transfer-Encoding: chunked\r\n\r\n' + text(5000))
    assert told['body'] == 'coded piece by piece'
    assert 'trailers: remove content-digest' in told['edit']


def test_method_status_and_version(replay):
    head = b'HEAD / HTTP/1.0\nAccept-Encoding: gzip\n\n'
    assert replay(head, RESPONSE + b'Content-Length: 900\r\n\r\n')['reason'] == 'http10'
    assert replay(head.replace(b'1.0', b'1.1'),
                  RESPONSE + b'Content-Length: 900\r\n\r\n')['reason'] == 'head'
    assert replay(REQUEST + b'\r\n', b'HTTP/2 204\r\n\r\n')['reason'] == 'status'


def test_options_add_to_the_files(replay):
    told = replay(REQUEST + b'\r\n', RESPONSE + b'\r\n' + text(500), '--set', 'min-length=501')
    assert told['reason'] == 'too-small'


def test_an_answer_in_place_of_the_response(explain):
    told = explain('-H', 'Accept-Encoding: identity;q=0', '--set', 'unacceptable=406')
    assert (told['reason'], told['status']) == ('unacceptable', '406')
    assert told['rule'].startswith('R09 ')


@pytest.mark.parametrize('request_bytes, response_bytes, words', [
    (b'', b'', 'expected "GET /path HTTP/1.1"'),
    (b'GET / HTTP/9\r\n\r\n', b'', '"HTTP/9" is not a version'),
    (REQUEST + b'no field\r\n\r\n', b'', 'no field'),
    (REQUEST, b'', 'is not a version'),
    (REQUEST, b'HTTP/1.1 99\r\n\r\n', 'expected "HTTP/1.1 200"'),
    (REQUEST, b'HTTP/1.1 200 OK\r\nbad\0name: x\r\n\r\n', 'that is no field'),
])
def test_what_is_no_message(terse, tmp_path, request_bytes, response_bytes, words):
    (tmp_path / 'q').write_bytes(request_bytes)
    (tmp_path / 'r').write_bytes(response_bytes)
    terse('explain', '--request', tmp_path / 'q', '--response', tmp_path / 'r').fails(words)


def test_anything_is_an_explanation_or_a_complaint(terse, tmp_path):
    rng = random.Random(5)
    for _ in range(60):
        for name, seed in (('q', REQUEST + b'\r\n'), ('r', RESPONSE + b'\r\nbody')):
            data = bytearray(seed)
            for _ in range(rng.randrange(4)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            (tmp_path / name).write_bytes(data[:rng.randrange(len(data) + 1)])
        done = terse('explain', '--request', tmp_path / 'q', '--response', tmp_path / 'r')
        assert done.status in (0, 1)


def test_rules(terse):
    lines = terse('rules').ok().out.splitlines()
    assert lines[0].split() == ['number', 'rule', 'fields']
    assert [line.split()[0] for line in lines[1:]] == [f'R{n:02}' for n in range(1, len(lines))]
