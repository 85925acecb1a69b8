# SPDX-License-Identifier: MIT
"""RULES.md, which coding: R01 to R09."""
import random

import pytest
import rules
from rules import PAGE, Case

BOTH = ('h1', 'h2')
NOT_ACCEPTED = {'reason': 'not-accepted'}
SHORT = PAGE[:40]
OFFER = b'The content codings on offer here are identity, zstd, br, gzip.\n'
REFUSED = {'params': {'unacceptable': '406'}, 'sends': 406, 'content': OFFER,
           'reason': 'unacceptable', 'has': {'Content-Type': 'text/plain'}, 'over': BOTH}

CASES = [
    Case('R01', 'named', 'br', 'coded', ('br',), over=BOTH),
    Case('R01', 'of many that are not here', 'gzip', 'coded', ('compress, bzip2, gzip',)),
    Case('R01', 'only others', None, 'not-accepted', ('deflate, compress',), over=BOTH),
    Case('R01', 'refused', None, 'not-accepted', ('gzip;q=0',)),

    Case('R02', 'the least weight', 'gzip', 'coded', ('gzip ; q=0.001',)),
    Case('R02', 'the others of a list with a bad weight', 'gzip', 'coded', ('br;q=2, gzip;q=0.1',)),
    Case('R02', 'four digits', 'gzip', 'coded', ('br;q=0.0001, gzip;q=0.1',)),
    Case('R02', 'four digits of a higher weight', 'gzip', 'coded', ('br;q=0.5000, gzip;q=0.1',)),
    Case('R02', 'malformed stays refused by name', 'br', 'coded', ('zstd;q=bogus, *',)),
    Case('R02', 'zero', None, 'not-accepted', ('gzip;q=0, br;q=0.000',), over=BOTH),
    *(Case('R02', f'malformed {n}', None, ask=(f'gzip;q={weight}',), **NOT_ACCEPTED)
      for n, weight in enumerate(['bogus', '.5', 'nan', '2', '0.0001', '-1', '', '1;q=1'])),

    Case('R03', 'a star', 'zstd', 'coded', ('*',), over=BOTH),
    Case('R03', 'a star and a name before it', 'br', 'coded', ('zstd;q=0, *',)),
    Case('R03', 'a star and a name behind it', 'br', 'coded', ('*, zstd;q=0',)),
    Case('R03', 'all but one refused', 'gzip', 'coded', ('*;q=0, gzip',)),
    Case('R03', 'all but one refused, so identity', 'gzip', 'coded', ('*;q=0, gzip',), body=SHORT),
    Case('R03', 'all refused', None, 'not-accepted', ('*;q=0',), over=BOTH),
    Case('R03', 'all on offer refused by name', None, '', ('*, zstd;q=0, br;q=0, gzip;q=0',)),

    Case('R04', 'any case', 'gzip', 'coded', ('GZip',)),
    Case('R04', 'x-gzip', 'gzip', 'coded', ('x-gzip',), over=BOTH),
    Case('R04', 'longer names', None, ask=('gzipped, xbr, zstd-dict, my-gzip',), over=BOTH,
         **NOT_ACCEPTED),
    Case('R04', 'dictionaries', None, ask=('dcb, dcz',), **NOT_ACCEPTED),

    Case('R05', 'two lines', 'br', 'coded', ('gzip;q=0.4', 'br;q=0.6'), over=BOTH),
    Case('R05', 'an empty member', 'gzip', 'coded', (', ,gzip ,',)),
    Case('R05', 'a comma in quotes', 'gzip', 'coded', ('gzip;x="a, br"',)),
    Case('R05', 'no name', 'gzip', 'coded', ('(br), =, gzip',)),
    Case('R05', 'the last one counts', None, ask=('gzip, gzip;q=0',), **NOT_ACCEPTED),
    Case('R05', 'the last one counts, on another line', None, ask=('gzip', 'gzip;q=0'), over=BOTH,
         **NOT_ACCEPTED),

    Case('R06', 'the higher weight', 'gzip', 'coded', ('gzip;q=0.6, br;q=0.4',), over=BOTH),
    Case('R06', 'a tie', 'zstd', 'coded', ('gzip, br, zstd',)),
    Case('R06', 'a tie in an order of its own', 'gzip', 'coded', ('zstd, br, gzip',),
         params={'codings': 'gzip, br'}),
    Case('R06', 'the server prefers', 'gzip', 'coded', ('br, gzip;q=0.1',),
         params={'codings': 'gzip, br', 'prefer': 'server'}),
    Case('R06', 'the server prefers what is accepted', 'br', 'coded', ('br;q=0.1, gzip;q=0',),
         params={'codings': 'gzip, br', 'prefer': 'server'}),
    Case('R06', 'no part in it', None, ask=('br, zstd',), params={'codings': 'gzip'},
         **NOT_ACCEPTED),

    Case('R07', 'a tie with identity', 'gzip', 'coded', ('gzip;q=0.5, identity;q=0.5',)),
    Case('R07', 'identity is preferred', None, 'identity', ('gzip;q=0.5, identity',), over=BOTH),
    Case('R07', 'the server prefers', 'gzip', 'coded', ('gzip;q=0.5, identity',),
         params={'codings': 'gzip, br', 'prefer': 'server'}),

    Case('R08', 'no field', None, ask=(), over=BOTH, **NOT_ACCEPTED),
    Case('R08', 'an empty field', None, ask=('',), over=BOTH, **NOT_ACCEPTED),
    Case('R08', 'an empty field and another', 'br', 'coded', ('', 'br'), over=BOTH),

    Case('R09', 'identity all the same', None, ask=('*;q=0',), **NOT_ACCEPTED),
    Case('R09', 'identity all the same, by name', None, ask=('identity;q=0, compress',),
         **NOT_ACCEPTED),
    Case('R09', 'a short body is coded', 'br', 'coded', ('identity;q=0, br',), body=SHORT),
    Case('R09', 'a body that does not shrink is coded', 'br', 'coded', ('identity;q=0, br',),
         type='text/plain', body=random.Random(8).randbytes(5000)),
    Case('R09', 'nothing else is overruled', None, 'no-transform', ('identity;q=0, br',),
         headers=(('Cache-Control', 'no-transform'),), vary=False),
    Case('R09', '406', ask=('*;q=0',), **REFUSED),
    Case('R09', '406 to HEAD', ask=('*;q=0',), method='HEAD', **REFUSED),
    Case('R09', 'no 406 when a coding is accepted', 'gzip', 'coded', ('identity;q=0, gzip',),
         params={'unacceptable': '406'}),
    Case('R09', 'no 406 when identity is', None, ask=('identity, *;q=0',), reason='identity',
         params={'unacceptable': '406'}),
]


@pytest.fixture(scope='module')
def stage(files, origin):
    return rules.Stage('negotiation', CASES, files, origin)


@pytest.fixture(scope='module')
def server(launch_shared, site, stage):
    return launch_shared(site.but(scopes=stage.scopes()))


@pytest.mark.parametrize('case, kind, over', rules.listed(CASES))
def test_case(server, stage, case, kind, over):
    rules.run(server, stage, case, kind, over)
