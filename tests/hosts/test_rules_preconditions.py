# SPDX-License-Identifier: MIT
"""RULES.md, conditions on what is there (R37), ranges (R13) and ranges with a condition (R14)."""
import pytest
from rounds import (BR, GZIP, MODES, NONE, TAG, Rounds, Visit, expected_tag, is_whole,
                    modes_over)
from rules import KINDS, PAGE

EVALUATING = ('generated', 'strict')  # they answer 412 where If-Match does not fit
CHANGING = ('PUT', 'DELETE')


@pytest.fixture(scope='module')
def rounds(files):
    found = Rounds(files)
    yield found
    found.close()


@pytest.fixture(scope='module')
def server(launch_shared, site, rounds):
    return launch_shared(site.but(scopes=rounds.scopes()))


def change(visit, method, accept, *fields, **kwargs):
    body = b'something=new' if method == 'PUT' else b''
    return visit.get(accept, *fields, method=method, body=body, **kwargs)


# ---- If-Match ------------------------------------------------------------------------------------

MATCHES = {  # mode: (what is sent of the tag that was given, status)
    'weaken': [('{}', 412), ('"v1"', 200), ('"other", "v1"', 200), ('"other"', 412), ('*', 200)],
    'suffix': [('{}', 200), ('"other", {}', 200), ('W/{}', 412), ('"v1"', 200), ('*', 200),
               ('"v1-br.zzzz"', 412), ('"v1-br"', 412), ('"other"', 412)],
    'keep': [('{}', 200), ('W/{}', 412)],
    'skip': [('{}', 200), ('W/{}', 412)],
}


@pytest.mark.rule('R37', kinds=('generated', 'proxied'))
@pytest.mark.parametrize('method', CHANGING)
@pytest.mark.parametrize('source', EVALUATING)
@pytest.mark.parametrize('mode, form, status', [
    (mode, form, status) for mode, forms in MATCHES.items() for form, status in forms])
def test_if_match(server, source, mode, method, form, status):
    visit = Visit(server, mode, source)
    _, tag = visit.tags()
    answer = change(visit, method, BR, ('If-Match', form.format(tag)))
    assert answer.status == status
    if status == 200:  # the tag of what was stored, not of the answer's content
        assert answer.header('etag') == TAG and answer.plain == PAGE


@pytest.mark.rule('R37', kinds=('generated', 'proxied'))
@pytest.mark.parametrize('method', CHANGING)
@pytest.mark.parametrize('source', EVALUATING)
def test_any_coding_of_a_version_is_that_version(server, source, method, protocol):
    """Also one that the request does not accept."""
    visit = Visit(server, 'suffix', source, protocol)
    tag = visit.get(GZIP).header('etag')
    assert expected_tag('suffix', TAG, tag, 'gzip')
    for accept in (NONE, BR):
        assert change(visit, method, accept, ('If-Match', tag)).status == 200
    assert change(visit, method, BR, ('If-Match', tag.replace('-gzip.', '-br.'))).status == 412


@pytest.mark.rule('R37', kinds=('generated', 'proxied'))
@pytest.mark.parametrize('source', EVALUATING)
@pytest.mark.parametrize('method', ['GET', 'HEAD'])
def test_if_match_of_a_reader(server, source, method):
    """Of the coding that it would get now."""
    visit = Visit(server, 'suffix', source)
    _, tag = visit.tags()
    answer = visit.get(BR, ('If-Match', tag), method=method)
    assert (answer.status, answer.coding, answer.header('etag')) == (200, 'br', tag)
    assert visit.get(GZIP, ('If-Match', tag), method=method).status == 412
    assert visit.get(NONE, ('If-Match', tag), method=method).status == 412
    assert visit.get(BR, ('If-Match', tag), ('Range', 'bytes=0-9'), method=method).status == 412


@pytest.mark.rule('R37')
@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('method', CHANGING)
def test_what_the_origin_sees(server, rounds, mode, method):
    visit = Visit(server, mode, 'proxied')
    _, tag = visit.tags()
    given = f'"one", {tag or TAG}, W/"two"'
    change(visit, method, BR, ('If-Match', given), ('If-None-Match', given))
    seen = rounds.seen(visit.target)
    expected = f'"one", {TAG}, W/"two"' if mode == 'suffix' else given
    assert (seen['if-match'], seen['if-none-match']) == (expected, expected)


@pytest.mark.rule('R37', kinds=('static',))
def test_if_match_of_a_file(server, protocol):
    """Neither server compares it, with Terse and without."""
    visit = Visit(server, 'suffix', 'static', protocol)
    plain, tag = visit.tags()
    for value in (tag, plain, '"other"'):
        assert is_whole(visit.get(BR, ('If-Match', value)), 'br', tag)
        assert is_whole(visit.get(NONE, ('If-Match', value)), None, plain)


# ---- ranges --------------------------------------------------------------------------------------

def is_part(answer, plain, first=100, last=299):
    """Of the identity, under its tag."""
    assert (answer.status, answer.coding) == (206, None), answer
    assert answer.body == PAGE[first:last + 1]
    assert answer.header('content-range') == f'bytes {first}-{last}/{len(PAGE)}'
    assert answer.header('etag') == plain
    assert answer.vary == ['accept-encoding']
    return True


RANGE = ('Range', 'bytes=100-299')
ORIGINS = ('static', 'generated', 'proxied', 'ranging')


@pytest.mark.rule('R12', 'R13', kinds=KINDS)
@pytest.mark.parametrize('source', ORIGINS)
@pytest.mark.parametrize('mode, protocol', modes_over(MODES))
@pytest.mark.parametrize('accept', [BR, NONE], ids=['br', 'none'])
def test_a_range(server, source, mode, accept, protocol):
    """Whoever cuts it; without that all of the identity leaves."""
    visit = Visit(server, mode, source, protocol)
    plain, _ = visit.tags()
    answer = visit.get(accept, RANGE)
    if answer.status == 200:
        assert source in ('generated', 'proxied') and is_whole(answer, None, plain)
    else:
        assert is_part(answer, plain)
    if protocol == 'h1':
        entry = server.wait_entry(visit.target)
        assert (entry.coding, entry.reason) == ('identity', 'range')


@pytest.mark.rule('R13')
@pytest.mark.parametrize('mode', ['weaken', 'suffix'])
def test_several_ranges(server, mode, protocol):
    visit = Visit(server, mode, 'static', protocol)
    plain, _ = visit.tags()
    answer = visit.get(BR, ('Range', 'bytes=0-9,100-299'))
    assert (answer.status, answer.coding, answer.header('etag')) == (206, None, plain)
    assert answer.header('content-type').startswith('multipart/byteranges')
    assert PAGE[:10] in answer.body and PAGE[100:300] in answer.body
    assert answer.vary == ['accept-encoding']


@pytest.mark.rule('R13')
@pytest.mark.parametrize('source', ['generated', 'proxied'])
def test_a_range_of_another_method_is_none(server, source):
    """Section 14.2: of GET only."""
    visit = Visit(server, 'weaken', source)
    assert is_whole(change(visit, 'PUT', BR, RANGE), 'br')


@pytest.mark.rule('R13', 'R34')
def test_head_of_a_range(server):
    """It says what GET would without the range, or with it; never the coded tag over a part."""
    visit = Visit(server, 'suffix', 'static')
    plain, _ = visit.tags()
    answer = visit.get(BR, RANGE, method='HEAD')
    assert answer.status in (200, 206)
    assert (answer.coding, answer.header('etag')) == (None, plain)
    assert answer.vary == ['accept-encoding']


@pytest.mark.parametrize('source', ['static'])
@pytest.mark.rule('R13')
def test_a_range_that_cannot_be(server, source, protocol):
    visit = Visit(server, 'weaken', source, protocol)
    assert visit.get(BR, ('Range', 'bytes=900000-')).status == 416


# ---- If-Range ------------------------------------------------------------------------------------

@pytest.mark.rule('R14', kinds=('static', 'proxied'))
@pytest.mark.parametrize('source', ['static', 'ranging'])
@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('accept', [BR, NONE], ids=['br', 'none'])
def test_the_identitys_tag(server, source, mode, accept):
    """With keep it may be of the coded one as well."""
    visit = Visit(server, mode, source)
    plain, tag = visit.tags()
    answer = visit.get(accept, RANGE, ('If-Range', plain))
    if mode == 'keep' and accept:
        assert is_whole(answer, 'br', tag)
    else:
        assert is_part(answer, plain)


@pytest.mark.rule('R14', kinds=KINDS)
@pytest.mark.parametrize('source', ORIGINS)
@pytest.mark.parametrize('mode, protocol', modes_over(['weaken', 'suffix']))
@pytest.mark.parametrize('accept', [BR, NONE], ids=['br', 'none'])
def test_a_tag_of_the_coded_one(server, rounds, source, mode, accept, protocol):
    visit = Visit(server, mode, source, protocol)
    plain, tag = visit.tags()
    answer = visit.get(accept, RANGE, ('If-Range', tag))
    assert is_whole(answer, 'br' if accept else None, tag if accept else plain)
    if source in rounds.applications:
        seen = rounds.seen(visit.target)
        assert 'range' not in seen and 'if-range' not in seen


@pytest.mark.rule('R14', kinds=KINDS)
@pytest.mark.parametrize('source', ORIGINS)
@pytest.mark.parametrize('mode', MODES)
def test_a_weak_tag(server, source, mode):
    visit = Visit(server, mode, source)
    plain, tag = visit.tags()
    assert is_whole(visit.get(BR, RANGE, ('If-Range', f'W/{plain}')),
                    None if mode == 'skip' else 'br', tag)


@pytest.mark.rule('R14', kinds=('static', 'proxied'))
@pytest.mark.parametrize('source', ['static', 'ranging'])
def test_another_tag(server, source):
    """What is no tag of Terse's is for who compares; no part leaves under a tag of a coding."""
    visit = Visit(server, 'suffix', source)
    plain, tag = visit.tags()
    for other in ('"other"', tag[:-2] + ('0"' if tag[-2] != '0' else '1"')):
        answer = visit.get(BR, RANGE, ('If-Range', other))
        if source == 'static' and server.name != 'lighttpd':  # H2O knows no If-Range
            assert is_part(answer, plain)
        else:
            assert is_whole(answer, None, plain)


@pytest.mark.rule('R14')
def test_a_date(server):
    visit = Visit(server, 'weaken', 'static')
    plain, _ = visit.tags()
    date = visit.get(NONE).header('last-modified')
    assert is_part(visit.get(BR, RANGE, ('If-Range', date)), plain)
    answer = visit.get(BR, RANGE, ('If-Range', 'Sat, 01 Jan 2000 00:00:00 GMT'))
    if server.name == 'lighttpd':
        assert is_whole(answer, None, plain)
    else:
        assert is_part(answer, plain)
