# SPDX-License-Identifier: MIT
"""RULES.md, what a coded response says: R26 to R34; and what R36 compares."""
import random

import pytest
import rules
from files import page
from rules import ITS_RANGES, ITS_TAG, ONE_FIELD, READ_ONLY, TEXT, Case

BOTH = ('h1', 'h2')
CODED = ('br', 'coded')
NONE = {'ask': (), 'reason': 'not-accepted'}
NOISE = random.Random(7).randbytes(5000)
SHORT = page(TEXT, 200)
LONG = page(TEXT, 300000)
OTHERS = (('generated', 'see the others'), ('proxied', 'see the others'))
STRONG, WEAK = ('ETag', '"v1"'), ('ETag', 'W/"v1"')
LINE = 'Accept-Encoding'

ONE_PIECE = [
    Case('R26', 'whole', *CODED, has={'Content-Encoding': 'br'}, over=BOTH),
    Case('R26', 'a stream', *CODED, body=LONG, has={'Content-Length': None}, over=BOTH),
    Case('R26', 'identity by name goes', 'gzip', 'coded', ('gzip',),
         has={'Content-Encoding': 'gzip'}, headers=(('Content-Encoding', 'identity'),)),
    Case('R26', 'identity', None, has={'Content-Encoding': None, 'Content-Length': '5000'},
         over=BOTH, **NONE),
    Case('R26', 'a long identity', None, body=LONG, has={'Content-Length': '300000'}, **NONE),
]

VARIES = [
    Case('R27', 'coded', *CODED, over=BOTH),
    Case('R27', 'a stream', *CODED, body=LONG),
    Case('R27', 'not accepted', None, over=BOTH, **NONE),
    Case('R27', 'identity is preferred', None, 'identity', ask=('gzip;q=0.1, identity',)),
    Case('R27', 'too short', None, 'too-small', body=SHORT),
    Case('R27', 'empty', None, 'empty', body=b''),
    Case('R27', 'too long', None, 'too-large', params={'max-length': '4999'}),
    Case('R27', 'no gain', None, 'no-gain', type='text/plain', body=NOISE),
    Case('R27', 'judged by its bytes', None, 'probe', type='application/x-terse-test', body=NOISE),
    Case('R27', 'HTTP/1.0', None, 'http10', version='HTTP/1.0'),
    Case('R27', 'HEAD', 'br', 'head', method='HEAD', over=BOTH),
    Case('R27', 'a denied type', None, 'type', type='image/jpeg', vary=False, over=BOTH),
    Case('R27', 'a denied type, not accepted', None, 'type', ask=(), type='image/jpeg', vary=False),
    Case('R27', 'a type left out', None, 'type', type='text/css', params={'types': 'text/html'},
         vary=False),
    Case('R27', 'no-transform', None, 'no-transform', vary=False,
         headers=(('Cache-Control', 'no-transform'),)),
    Case('R27', 'coded already', None, 'encoded', vary=False,
         headers=(('Content-Encoding', 'br'),)),
]


def vary(name, there, leaves, **kwargs):
    return Case('R28', name, headers=tuple(('Vary', value) for value in there), vary=leaves,
                left_out=() if len(there) < 2 else (ONE_FIELD,), **kwargs)


VARY = [
    vary('another field', ['Cookie'], [f'Cookie, {LINE}'], coding='br', over=BOTH),
    vary('there already', ['Cookie, accept-ENCODING'], ['Cookie, accept-ENCODING'], coding='br'),
    vary('two lines', ['Cookie', 'Origin'], [f'Cookie, Origin, {LINE}'], coding='br', over=BOTH),
    vary('two lines, identity', ['Cookie', 'Origin'], [f'Cookie, Origin, {LINE}'], ask=()),
    vary('two lines, there already', ['Cookie', LINE], ['Cookie', LINE], coding='br'),
    vary('a star on the second line', ['Cookie', '*'], ['Cookie', '*'], coding='br'),
    vary('a star', ['*'], ['*'], coding='br'),
    vary('a star among others', ['Cookie, *'], ['Cookie, *'], coding='br'),
    vary('a longer name', ['X-Accept-Encoding'], [f'X-Accept-Encoding, {LINE}'], coding='br'),
    vary('identity', ['Cookie'], [f'Cookie, {LINE}'], ask=(), over=BOTH),
    vary('identity, there already', [LINE], [LINE], body=SHORT),
    vary('identity, of a denied type', ['Cookie'], ['Cookie'], type='image/jpeg'),
]


def tag(name, setting, what, **kwargs):
    """A file has a strong tag of the server's."""
    kwargs.setdefault('headers', (STRONG,))
    if setting:
        kwargs['params'] = {'etag': setting}
    return [Case('R29', name, tag=what, left_out=(ITS_TAG,), **kwargs),
            *([] if kwargs['headers'] != (STRONG,) else [Case(
                'R29', f'{name}, of a file', tag=what, left_out=OTHERS,
                **{**kwargs, 'headers': ()})])]


SUFFIXES = [Case('R29', f'suffix, {name}', 'br', headers=(STRONG,), tag='suffix',
                 params={'etag': 'suffix', 'br.quality': quality}, left_out=(ITS_TAG,))
            for name, quality in (('a quality', '5'), ('another', '6'), ('the first again', '5'))]
VALIDATORS = [
    *tag('weaken', '', 'weak', coding='br', over=BOTH),
    *tag('weaken a stream', '', 'weak', coding='br', body=LONG),
    *tag('weaken what is weak', '', 'same', coding='br', headers=(WEAK,)),
    *tag('weaken, identity', '', 'same', ask=()),
    *tag('weaken, too short', '', 'same', body=SHORT),
    *tag('suffix', 'suffix', 'suffix', coding='br', over=BOTH),
    *tag('suffix of gzip', 'suffix', 'suffix', coding='gzip', ask=('gzip',)),
    *tag('suffix of a stream', 'suffix', 'weak suffix', coding='br', body=LONG),
    *tag('suffix of what is weak', 'suffix', 'same', coding='br', headers=(WEAK,)),
    *tag('suffix, identity', 'suffix', 'same', ask=()),
    *tag('suffix, no gain', 'suffix', 'same', type='text/plain', body=NOISE),
    *SUFFIXES,
    *tag('drop', 'drop', 'none', coding='br'),
    *tag('drop what is weak', 'drop', 'none', coding='br', headers=(WEAK,)),
    *tag('drop, identity', 'drop', 'same', ask=()),
    *tag('keep', 'keep', 'same', coding='br'),
    *tag('keep a stream', 'keep', 'same', coding='br', body=LONG),
    *tag('keep, identity', 'keep', 'same', ask=()),
]

BAD_TAGS = {'no quotes': 'v1', 'half a quote': '"v1', 'a space': '"v 1"', 'a list': '"v1", "v2"',
            'a small w': 'w/"v1"'}
MALFORMED = [
    *(Case('R30', f'{name}, {setting or "weaken"}', 'br', has={'ETag': None},
           headers=(('ETag', value),), params={'etag': setting} if setting else {},
           left_out=(ITS_TAG,))
      for name, value in BAD_TAGS.items() for setting in ('', 'suffix', 'drop')),
    *(Case('R30', f'{name}, identity', None, ask=(), has={'ETag': value},
           headers=(('ETag', value),), left_out=(ITS_TAG,)) for name, value in BAD_TAGS.items()),
    Case('R30', 'kept', 'br', has={'ETag': 'v1'}, headers=(('ETag', 'v1'),),
         params={'etag': 'keep'}, left_out=(ITS_TAG,)),
    Case('R30', 'two lines', 'br', has={'ETag': None}, headers=(STRONG, ('ETag', '"v2"')),
         left_out=(ITS_TAG,), over=BOTH),
    Case('R30', 'two lines, suffix', 'br', has={'ETag': None}, left_out=(ITS_TAG,),
         headers=(STRONG, ('ETag', '"v2"')), params={'etag': 'suffix'}),
    *(Case('R30', f'nothing is compared with {name}', 'br', has={'ETag': None},
           headers=(('ETag', value),), request=(('If-None-Match', value),), left_out=(ITS_TAG,))
      for name, value in BAD_TAGS.items()),
]

SAME = ('Content-Location', '/the/resource')
METHODS = [
    *(Case('R31', f'{method}, {setting}', 'br', 'coded', headers=(STRONG,), method=method,
           tag='same', params={'etag': setting}, left_out=(READ_ONLY,))
      for method in ('PUT', 'POST', 'PATCH', 'DELETE') for setting in ('weaken', 'suffix', 'drop')),
    *(Case('R31', f'{method} with Content-Location', 'br', 'coded', headers=(STRONG, SAME),
           method=method, tag='weak', left_out=(READ_ONLY,)) for method in ('PUT', 'POST')),
    Case('R31', 'a malformed one', 'br', headers=(('ETag', 'v1'),), method='PUT',
         has={'ETag': 'v1'}, left_out=(READ_ONLY,)),
    Case('R31', 'not coded', None, headers=(STRONG,), method='PUT', tag='same', over=BOTH,
         left_out=(READ_ONLY,), **NONE),
]


def ranges(name, leaves, setting='', **kwargs):
    """Files have it in any case."""
    params = {'params': {'accept-ranges': setting}} if setting else {}
    case = {**kwargs, **params, 'has': {'Accept-Ranges': leaves}}
    own = {'lacks': ITS_RANGES} if setting == 'keep' else {}
    return [Case('R32', name, headers=(('Accept-Ranges', 'bytes'),),
                 left_out=(('static', 'the next one'),), **case),
            Case('R32', f'{name}, of a file', left_out=OTHERS, **case, **own)]


RANGES = [
    *ranges('remove', None, coding='br', over=BOTH),
    *ranges('remove from a stream', None, coding='br', body=LONG),
    *ranges('none', 'none', 'none', coding='br'),
    *ranges('keep', 'bytes', 'keep', coding='br'),
    *ranges('identity', 'bytes', ask=(), over=BOTH),
    *ranges('identity, none', 'bytes', 'none', ask=()),
    *ranges('too short', 'bytes', body=SHORT),
]

DIGESTS = ('Content-Digest', 'Repr-Digest', 'Digest', 'Content-MD5')
VALUES = dict(zip(DIGESTS, ('sha-256=:AAAA:', 'sha-256=:BBBB:', 'sha-256=CCCC', 'DDDD')))


def digests(name, names, **kwargs):
    leave = not kwargs.get('coding')
    return Case('R33', name, headers=tuple((n, VALUES[n]) for n in names),
                has={n: VALUES[n] if leave else None for n in names},
                left_out=() if len(names) < 2 else (ONE_FIELD,), **kwargs)


DIGEST = [
    *(digests(name, [name], coding='br') for name in DIGESTS),
    *(digests(f'{name} of what leaves as it is', [name], ask=()) for name in DIGESTS),
    digests('all of them', DIGESTS, coding='br', over=BOTH),
    digests('all of them, of a stream', DIGESTS, coding='br', body=LONG),
    digests('all of them, of HEAD', DIGESTS, coding='br', method='HEAD', over=BOTH),
    digests('all of them, of what leaves as it is', DIGESTS, ask=(), over=BOTH),
    digests('all of them, of what does not shrink', DIGESTS, type='text/plain', body=NOISE),
    Case('R33', 'others stay', 'br', headers=(('Want-Content-Digest', 'sha-256=1'),)),
]

def compared(name, value, **kwargs):
    """By Terse: neither the script nor the origin compares."""
    return Case('R36', name, headers=(STRONG, *kwargs.pop('headers', ())), left_out=(ITS_TAG,),
                request=(('If-None-Match', value),), **kwargs)


THERE = {'sends': 304, 'reason': 'not-modified', 'tag': 'same'}
COMPARED = [
    compared('too short', '"v1"', body=SHORT, **THERE),
    compared('too short, weakly', 'W/"v1"', body=SHORT, **THERE),
    compared('not accepted', '"v1"', ask=(), over=BOTH, **THERE),
    compared('HTTP/1.0', '"v1"', version='HTTP/1.0', **THERE),
    compared('too short, another tag', '"v2"', body=SHORT, reason='too-small', tag='same'),
    compared('a denied type', '"v1"', type='image/jpeg', reason='type', vary=False, tag='same'),
    compared('no-transform', '"v1"', headers=(('Cache-Control', 'no-transform'),),
             reason='no-transform', vary=False, tag='same'),
    compared('coded already', '"v1"', headers=(('Content-Encoding', 'gzip'),), reason='encoded',
             vary=False, tag='same'),
    compared('an error page', '"v1"', status=404, coding='br', reason='coded', tag='weak'),
    compared('another method', '"v1"', method='PUT', coding='br', reason='coded', tag='same'),
]

CASES = [*ONE_PIECE, *VARIES, *VARY, *VALIDATORS, *MALFORMED, *METHODS, *RANGES, *DIGEST,
         *COMPARED]


@pytest.fixture(scope='module')
def stage(files, origin):
    return rules.Stage('metadata', CASES, files, origin)


@pytest.fixture(scope='module')
def server(launch_shared, site, stage):
    return launch_shared(site.but(scopes=stage.scopes()))


@pytest.mark.parametrize('case, kind, over', rules.listed(CASES))
def test_case(server, stage, case, kind, over):
    rules.run(server, stage, case, kind, over)


@pytest.mark.rule('R26')
@pytest.mark.parametrize('coding', ['gzip', 'br', 'zstd'])
@pytest.mark.parametrize('name', ['whole', 'a stream'])
@pytest.mark.parametrize('kind', rules.KINDS)
def test_bytes_do_not_depend_on_the_clock(server, stage, coding, name, kind):
    case = next(case for case in ONE_PIECE if case.name == name)
    bodies = {rules.ask(server, case, stage.target(case, kind), 'h1',
                        [('Accept-Encoding', coding)]).body for _ in range(2)}
    if name == 'whole':  # a stream's depend on when its source paused
        assert len(bodies) == 1
    if coding == 'gzip':
        assert {body[4:8] for body in bodies} == {bytes(4)}  # RFC 1952 section 2.3.1: no time stamp


@pytest.mark.rule('R29')
@pytest.mark.parametrize('kind', ['generated', 'proxied'])
def test_the_suffix_knows_the_settings(server, stage, kind):
    """Since these make the bytes."""
    one, another, again = (rules.ask(server, case, stage.target(case, kind), 'h1').header('etag')
                           for case in SUFFIXES)
    assert one == again != another


@pytest.mark.rule('R35', kinds=('static',))
@pytest.mark.parametrize('name, varies', [
    ('coded', True), ('too short', True), ('no gain', True), ('judged by its bytes', True),
    ('a denied type', False)])
def test_304_of_a_file_varies_as_its_200(server, stage, name, varies):
    """The server compares; the tag is that of the identity, which may have been given with it."""
    case = next(case for case in VARIES if case.name == name)
    tag = rules.tag_of(server, stage, case, 'static')
    answer = rules.ask(server, case, stage.target(case, 'static'), 'h1',
                       [*case.fields, ('If-None-Match', tag)])
    assert (answer.status, answer.body, answer.header('etag')) == (304, b'', tag)
    assert answer.all('vary') == (['Accept-Encoding'] if varies else [])


IN_STEP = ('content-encoding', 'vary', 'etag', 'accept-ranges', 'last-modified', 'content-type',
           *(name.lower() for name in DIGESTS))


@pytest.mark.rule('R34', kinds=rules.KINDS)
@pytest.mark.parametrize('case, kind, over', [
    pytest.param(case, kind, 'h1', id=f'{case.slug}-{kind}')
    for case in [*ONE_PIECE, *VARIES, *VARY, *VALIDATORS, *RANGES, *DIGEST]
    for kind in case.kinds
    if case.method == 'GET' and case.version == 'HTTP/1.1' and case.reason not in (
        'no-gain', 'probe')  # what only the body could tell
    and case.body != NOISE])
def test_head_says_what_get_would(server, stage, case, kind, over):
    got, head = (rules.ask(server, case, stage.target(case, kind), over, method=method)
                 for method in ('GET', 'HEAD'))
    assert (head.status, head.body) == (got.status, b'')
    for name in IN_STEP:
        assert head.all(name) == got.all(name), name
    if not got.coding:
        assert head.header('content-length') in (None, got.header('content-length'))
