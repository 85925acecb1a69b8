# SPDX-License-Identifier: MIT
"""RULES.md, which responses: R10 to R25."""
import random

import pytest
import rules
from files import page, picture
from rules import (ITS_LENGTH, ITS_STATUS, ITS_TAG, ITS_TYPE, ONE_FIELD, PAGE, READ_ONLY, TEXT,
                   Case)

BOTH = ('h1', 'h2')
NOISE = random.Random(4).randbytes(5000)
# What a look at the first bytes takes for text, and what it takes for packed.
TEXT_THEN_NOISE = TEXT[5000:5512] + random.Random(5).randbytes(20000)
NOISE_THEN_TEXT = random.Random(6).randbytes(512) + TEXT[:20000]
PART = ('Content-Range', 'bytes 0-4999/9000')
NO_TRANSFORM = ('Cache-Control', 'no-transform')
NO_CACHE_FIELD = {'reason': 'no-transform', 'vary': False}
A_PART = {'status': 206, 'left_out': (ITS_STATUS,)}
CODED = ('br', 'coded')


def hint(value, name, **kwargs):
    """The field never leaves."""
    return Case('R23', name, headers=(('X-Compress-Hint', value),),
                has={'X-Compress-Hint': None}, **kwargs)


WITHOUT_CONTENT = [
    Case('R10', 'an error page', *CODED, status=404, over=BOTH, left_out=(ITS_STATUS,)),
    Case('R10', 'a page of a server that fails', *CODED, status=503, left_out=(ITS_STATUS,)),
    Case('R10', 'created', *CODED, status=201, left_out=(ITS_STATUS,)),
    Case('R10', 'a redirection', *CODED, status=302, headers=(('Location', 'http://127.0.0.1:9/'),),
         left_out=(ITS_STATUS,)),
    Case('R10', 'a file', *CODED, left_out=(('generated', 'the others stand for it'),
                                            ('proxied', 'the others stand for it'))),
    Case('R10', '204', None, 'status', status=204, body=b'', framing='none', type=None, vary=False,
         headers=(('X-Nothing', 'here'),), over=BOTH, left_out=(ITS_STATUS,)),
    Case('R10', 'TRACE', None, 'method', method='TRACE', vary=False, left_out=(READ_ONLY,)),
    Case('R10', '205', None, 'status', status=205, body=b'', type='text/html', vary=False,
         left_out=(ITS_STATUS,)),
]

CODED_ALREADY = [
    Case('R11', 'identity by name', *CODED, headers=(('Content-Encoding', 'identity'),)),
    Case('R11', 'a coding that is known', None, 'encoded', vary=False, over=BOTH,
         headers=(('Content-Encoding', 'gzip'),), has={'Content-Encoding': 'gzip'}),
    Case('R11', 'a coding that is not', None, 'encoded', vary=False,
         headers=(('Content-Encoding', 'aws-chunked'),), has={'Content-Encoding': 'aws-chunked'}),
    Case('R11', 'a coding on the second line', None, 'encoded', vary=False, left_out=(ONE_FIELD,),
         headers=(('Content-Encoding', 'identity'), ('Content-Encoding', 'br'))),
    Case('R11', 'two codings', None, 'encoded', vary=False,
         headers=(('Content-Encoding', 'identity, br'),), has={'Content-Encoding': 'identity, br'}),
]

PARTS = [
    Case('R12', 'the whole', *CODED),
    Case('R12', 'a 206', None, 'partial', headers=(PART,), **A_PART, over=BOTH),
    Case('R12', 'a 206 of a type that is denied', None, 'partial', type='image/jpeg', vary=False,
         headers=(PART,), **A_PART),
    Case('R12', 'a 206 of several parts', None, 'partial', type='multipart/byteranges; boundary=x',
         **A_PART),
    Case('R12', 'a range that was asked for', None, 'range', headers=(PART,),
         request=(('Range', 'bytes=0-4999'),), over=BOTH, **A_PART),
    Case('R12', 'Content-Range of a 200', None, 'partial', vary=False, headers=(PART,),
         left_out=(('static', 'a file with Content-Range is no answer of a server'),)),
    Case('R12', 'a part of a file', None, 'range', request=(('Range', 'bytes=100-299'),),
         sends=206, content=PAGE[100:300], over=BOTH,
         left_out=(('generated', 'scripts know no ranges here'),
                   ('proxied', 'the origin knows no ranges here'))),
]

FORBIDDEN = [
    Case('R15', 'no such word', *CODED, headers=(('Cache-Control', 'public, no-transformers'),)),
    Case('R15', 'of the request, which is not asked', *CODED, request=(NO_TRANSFORM,)),
    Case('R15', 'ignored', *CODED, headers=(NO_TRANSFORM,), params={'no-transform': 'ignore'}),
    Case('R15', 'both, and neither says it', *CODED, params={'no-transform': 'both'}),
    Case('R15', 'of the response', None, headers=(NO_TRANSFORM,), over=BOTH, **NO_CACHE_FIELD),
    Case('R15', 'in any case, among others', None, **NO_CACHE_FIELD,
         headers=(('Cache-Control', 'public,No-Transform , max-age=9'),)),
    Case('R15', 'on the second line', None, left_out=(ONE_FIELD,), **NO_CACHE_FIELD,
         headers=(('Cache-Control', 'public'), NO_TRANSFORM)),
    Case('R15', 'both, and the request says it', None, request=(NO_TRANSFORM,), over=BOTH,
         params={'no-transform': 'both'}, **NO_CACHE_FIELD),
    Case('R15', 'both, and the response says it', None, headers=(NO_TRANSFORM,),
         params={'no-transform': 'both'}, **NO_CACHE_FIELD),
]

ON_PURPOSE = {'reason': 'type', 'vary': False}
TYPES = [
    *(Case('R16', f'{media_type} is coded', *CODED, type=media_type)
      for media_type in ('application/wasm', 'image/svg+xml', 'text/css', 'text/event-stream')),
    *(Case('R16', f'{media_type} is denied', None, type=media_type, **ON_PURPOSE)
      for media_type in ('image/jpeg', 'font/woff2', 'application/zip', 'application/grpc+proto')),
    Case('R16', 'parameters and case do not count', *CODED, type='Text/HTML;charset=utf-8',
         left_out=(ITS_TYPE,)),
    Case('R16', 'nor do they for what is denied', None, type='Image/JPEG; q=1', **ON_PURPOSE,
         left_out=(ITS_TYPE,)),
    Case('R16', 'parts of any type', None, type='multipart/mixed; boundary=x', **ON_PURPOSE,
         left_out=(ITS_TYPE,)),
    Case('R16', 'denied by the operator', None, **ON_PURPOSE, over=BOTH,
         params={'types-deny': '+ text/html'}),
    Case('R16', 'denied by the operator alone', *CODED, type='image/jpeg', body=TEXT[:9000],
         params={'types-deny': 'text/html', 'types': '+ image/*'}),
    Case('R16', 'left out', None, type='text/css', params={'types': 'text/html'}, **ON_PURPOSE),
    Case('R16', 'an unknown one is left out', None, type='application/x-terse-test', **ON_PURPOSE,
         params={'types': 'text/html'}),
    Case('R16', 'not left out', *CODED, params={'types': 'text/html'}),
    Case('R16', 'added', *CODED, type='application/x-terse-test', body=NOISE + PAGE,
         params={'types': '+ application/x-*'}),
    Case('R16', 'added, but denied', None, type='image/jpeg', params={'types': '+ image/jpeg'},
         **ON_PURPOSE),
]

PROBED = [
    *(Case('R17', f'{name} of text', *CODED, type=media_type, body=TEXT[:20000])
      for name, media_type in (('octet-stream', 'application/octet-stream'),
                               ('an unknown type', 'application/x-terse-test'))),
    *(Case('R17', f'{name} of noise', None, 'probe', type=media_type, body=NOISE, over=BOTH)
      for name, media_type in (('octet-stream', 'application/octet-stream'),
                               ('an unknown type', 'application/x-terse-test'))),
    Case('R17', 'no type, text', *CODED, type=None, body=TEXT[:20000], left_out=(ITS_TYPE,)),
    Case('R17', 'no type, noise', None, 'probe', type=None, body=NOISE, left_out=(ITS_TYPE,)),
    Case('R17', 'a JPEG by another name', None, 'probe', type='application/octet-stream',
         body=picture(20000)),
    Case('R17', 'the first bytes are text', None, 'probe', type='application/octet-stream',
         body=TEXT_THEN_NOISE),
    Case('R17', 'the first bytes are noise', *CODED, type='application/octet-stream',
         body=NOISE_THEN_TEXT),
    Case('R17', 'of unknown length', None, 'probe', type='application/octet-stream',
         framing='chunked', body=NOISE, left_out=(ITS_LENGTH,)),
    Case('R17', 'for a client that accepts nothing', None, 'not-accepted', ask=(),
         type='application/x-terse-test', body=NOISE),
]

SIZES = [
    Case('R18', '300 bytes', *CODED, body=page(TEXT, 300), over=BOTH),
    Case('R18', '299 bytes', None, 'too-small', body=page(TEXT, 299), over=BOTH),
    Case('R18', 'empty', None, 'empty', body=b''),
    Case('R18', 'empty, though identity is refused', None, 'empty', body=b'',
         ask=('identity;q=0, br',)),
    Case('R18', 'empty, though identity is refused, to HEAD', None, 'empty', body=b'',
         ask=('identity;q=0, br',), method='HEAD'),
    Case('R18', 'empty, though all are long enough', None, 'empty', body=b'',
         params={'min-length': '0'}),
    Case('R18', 'one byte is enough', *CODED, body=b'x' * 64, params={'min-length': '1'}),
    Case('R18', 'as short as min-length', *CODED, body=page(TEXT, 4000),
         params={'min-length': '4000'}),
    Case('R18', 'below min-length', None, 'too-small', body=page(TEXT, 3999),
         params={'min-length': '4000'}),
    Case('R18', '299 bytes of unknown length', None, 'too-small', body=page(TEXT, 299),
         framing='chunked', left_out=(ITS_LENGTH,)),
    Case('R18', '300 bytes of unknown length', *CODED, body=page(TEXT, 300), framing='chunked',
         left_out=(ITS_LENGTH,)),
    Case('R18', 'no bytes of unknown length', None, 'empty', body=b'', framing='chunked',
         left_out=(ITS_LENGTH,)),

    Case('R19', 'no limit', *CODED, body=page(TEXT, 1 << 20)),
    Case('R19', 'as long as max-length', *CODED, body=page(TEXT, 4000),
         params={'max-length': '4000'}),
    Case('R19', 'longer', None, 'too-large', body=page(TEXT, 4001), over=BOTH,
         params={'max-length': '4000'}),
    Case('R19', 'longer than a slice', None, 'too-large', body=page(TEXT, 290000),
         params={'max-length': '280000'}),
]

CLIENTS = [
    Case('R20', 'HTTP/1.1', *CODED),
    Case('R20', 'HTTP/1.0', None, 'http10', version='HTTP/1.0'),
    Case('R20', 'HTTP/1.0, which is on', *CODED, version='HTTP/1.0', params={'http10': 'on'}),
    Case('R20', 'HTTP/1.0, a stream', *CODED, version='HTTP/1.0', params={'http10': 'on'},
         body=page(TEXT, 290000)),
]

GAIN = [
    Case('R21', 'it shrinks', *CODED),
    Case('R21', 'it does not', None, 'no-gain', type='text/plain', body=NOISE, over=BOTH),
    Case('R21', 'its tag stays', None, 'no-gain', type='text/plain', body=NOISE, tag='same',
         headers=(('ETag', '"one"'), ('Accept-Ranges', 'bytes'), ('Content-Digest', 'x=:AA==:')),
         left_out=(ITS_TAG,)),
    Case('R21', "a file's tag stays", None, 'no-gain', type='text/plain', body=NOISE, tag='same',
         left_out=(('generated', 'see the one before'), ('proxied', 'see the one before'))),
    Case('R21', 'a client that refuses identity', *CODED, ask=('identity;q=0, br',),
         type='text/plain', body=NOISE),
]

OWN_SAY = [
    hint('off', 'off', reason='hint', vary=False, over=BOTH),
    hint('OFF', 'off in any case', reason='hint', vary=False),
    hint('on', 'on, a type that is left out', coding='br', params={'types': 'text/css'}),
    hint('on', 'on, a short body', coding='br', body=page(TEXT, 120)),
    hint('on', 'on, a type that is not probed', coding='br', type='application/x-terse-test',
         body=NOISE[:4000] + TEXT[:9000]),
    hint('on', 'on, a type that is denied', type='image/jpeg', reason='type', vary=False),
    hint('on', 'on, an empty body', body=b'', reason='empty'),
    hint('auto', 'auto, a body that is coded', coding='br', over=BOTH),
    hint('auto', 'auto, a short body', body=page(TEXT, 120), reason='too-small'),
    hint('perhaps', 'no word', body=page(TEXT, 120), reason='too-small'),
]

SKIP = {'params': {'etag': 'skip'}}
SKIPPED = [
    Case('R25', 'a tag', None, 'etag', headers=(('ETag', '"one"'),), tag='same', over=BOTH, **SKIP,
         left_out=(ITS_TAG,)),
    Case('R25', 'a weak tag', None, 'etag', headers=(('ETag', 'W/"one"'),), tag='same', **SKIP,
         left_out=(ITS_TAG,)),
    Case('R25', 'a file', None, 'etag', tag='same', **SKIP,
         left_out=(('generated', 'see the others'), ('proxied', 'see the others'))),
    Case('R25', 'no tag', *CODED, left_out=(('static', 'a file has a tag'),), **SKIP),
    Case('R25', 'a tag, with another setting', *CODED, headers=(('ETag', '"one"'),), tag='same',
         params={'etag': 'keep'}, left_out=(ITS_TAG,)),
    Case('R25', 'a file, with another setting', *CODED, tag='same', params={'etag': 'keep'},
         left_out=(('generated', 'see the others'), ('proxied', 'see the others'))),
]

CASES = [*WITHOUT_CONTENT, *CODED_ALREADY, *PARTS, *FORBIDDEN, *TYPES, *PROBED, *SIZES, *CLIENTS,
         *GAIN, *OWN_SAY, *SKIPPED]


@pytest.fixture(scope='module')
def stage(files, origin):
    return rules.Stage('responses', CASES, files, origin)


@pytest.fixture(scope='module')
def server(launch_shared, site, stage):
    return launch_shared(site.but(scopes=stage.scopes()))


@pytest.mark.parametrize('case, kind, over', rules.listed(CASES))
def test_case(server, stage, case, kind, over):
    rules.run(server, stage, case, kind, over)
