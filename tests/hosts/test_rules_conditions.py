# SPDX-License-Identifier: MIT
"""RULES.md, conditions: R35 and R36.  The whole round: a response, its tag, and the tag again."""
import pytest
from rounds import (BR, GZIP, MODES, NONE, SOURCES, Rounds, Visit, expected_tag, is_304, is_whole,
                    modes_over, same_weakly)
from rules import ITS_FIRST_LINE, KINDS

TAGGED = [mode for mode in MODES if mode != 'drop']
pytestmark = [pytest.mark.parametrize('source', SOURCES)]


@pytest.fixture(scope='module')
def rounds(files):
    found = Rounds(files)
    yield found
    found.close()


@pytest.fixture(scope='module')
def server(launch_shared, site, rounds):
    return launch_shared(site.but(scopes=rounds.scopes()))


def none_match(*values):
    return [('If-None-Match', value) for value in values]


@pytest.mark.rule('R35', 'R36', kinds=KINDS)
@pytest.mark.parametrize('mode, protocol', modes_over(TAGGED, ('weaken', 'suffix')))
@pytest.mark.parametrize('method', ['GET', 'HEAD'])
def test_the_tag_that_was_given(server, source, mode, method, protocol):
    visit = Visit(server, mode, source, protocol)
    plain, tag = visit.tags()
    assert expected_tag(mode, plain, tag)
    assert is_304(visit.get(BR, *none_match(tag), method=method), tag)
    if protocol == 'h1':
        assert server.wait_entry(visit.target).reason == 'not-modified'


@pytest.mark.rule('R35', 'R36', kinds=KINDS)
@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('accept', [BR, NONE], ids=['br', 'none'])
def test_the_tag_of_the_identity(server, source, mode, accept):
    """A client that has a strong tag of the identity has the identity."""
    visit = Visit(server, mode, source)
    plain, _ = visit.tags()
    assert is_304(visit.get(accept, *none_match(plain)), plain)


@pytest.mark.rule('R36', kinds=KINDS)
@pytest.mark.parametrize('mode', TAGGED)
@pytest.mark.parametrize('form', ['"other", {}', '{}, "other"', '"a,b" , W/"c",{}', ',, {} ,'])
def test_a_list(server, source, mode, form):
    visit = Visit(server, mode, source)
    _, tag = visit.tags()
    assert is_304(visit.get(BR, *none_match(form.format(tag))), tag)


@pytest.mark.rule('R36', kinds=KINDS, lacks=ITS_FIRST_LINE)
@pytest.mark.parametrize('mode, protocol', modes_over(TAGGED))
def test_lines_of_a_list(server, source, mode, protocol):
    visit = Visit(server, mode, source, protocol)
    _, tag = visit.tags()
    assert is_304(visit.get(BR, *none_match('"other"', tag)), tag)


@pytest.mark.rule('R36', kinds=KINDS)
@pytest.mark.parametrize('mode', TAGGED)
def test_a_weak_form(server, source, mode):
    """Weakly they are the same (section 8.8.3.2); it may have been given so, as a stream's is."""
    visit = Visit(server, mode, source)
    _, tag = visit.tags()
    weak = 'W/' + tag.removeprefix('W/')
    answer = visit.get(BR, *none_match(weak))
    assert same_weakly(answer.header('etag'), weak)
    assert is_304(answer, answer.header('etag'))


@pytest.mark.rule('R35', 'R36', kinds=KINDS)
@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('accept', [BR, NONE], ids=['br', 'none'])
def test_any(server, source, mode, accept):
    visit = Visit(server, mode, source)
    plain, tag = visit.tags()
    answer = visit.get(accept, *none_match('*'))
    if answer.status == 304:
        assert is_304(answer, tag if accept else plain)


@pytest.mark.rule('R35')
@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('accept', [BR, NONE], ids=['br', 'none'])
def test_a_date(server, source, mode, accept):
    """Its 304 is of the coding that the client would get now."""
    visit = Visit(server, mode, source)
    plain, tag = visit.tags()
    date = visit.get(accept).header('last-modified')
    if date:  # a file
        answer = visit.get(accept, ('If-Modified-Since', date))
        assert is_304(answer, tag if accept else plain)


@pytest.mark.rule('R36', kinds=KINDS)
def test_a_coding_that_is_not_accepted_any_more(server, source):
    visit = Visit(server, 'suffix', source)
    plain, tag = visit.tags()
    assert is_whole(visit.get(NONE, *none_match(tag)), None, plain)
    answer = visit.get(GZIP, *none_match(tag))
    assert is_whole(answer, 'gzip') and expected_tag('suffix', plain, answer.header('etag'), 'gzip')
    # but among others that are
    assert is_304(visit.get(NONE, *none_match(f'{tag}, {plain}')), plain)


@pytest.mark.rule('R36', kinds=KINDS)
def test_a_weak_tag_is_of_all_codings(server, source):
    visit = Visit(server, 'weaken', source)
    plain, tag = visit.tags()
    assert is_304(visit.get(NONE, *none_match(tag)), plain)
    assert is_304(visit.get(GZIP, *none_match(tag)), tag)


@pytest.mark.rule('R36', kinds=KINDS)
@pytest.mark.parametrize('change', [
    lambda tag: tag[:-2] + ('0"' if tag[-2] != '0' else '1"'),  # another check
    lambda tag: tag.replace('-br.', '-gzip.'),
    lambda tag: tag.replace('-br.', '-BR.'),
    lambda tag: tag[:tag.rindex('.')] + '"',
    lambda tag: '"x' + tag[1:],  # of another version
    lambda tag: tag[:-1] + '-br.0000"',
], ids=['check', 'coding', 'case', 'no-check', 'version', 'twice'])
def test_a_tag_that_only_looks_like_ours(server, source, change):
    visit = Visit(server, 'suffix', source)
    _, tag = visit.tags()
    assert is_whole(visit.get(BR, *none_match(change(tag))), 'br', tag)


@pytest.mark.rule('R36', kinds=KINDS)
@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('value', ['"other"', 'W/"other"', '""', 'nothing', '"half'])
def test_others(server, source, mode, value):
    visit = Visit(server, mode, source)
    _, tag = visit.tags()
    assert is_whole(visit.get(BR, *none_match(value)), None if mode == 'skip' else 'br', tag)


@pytest.mark.rule('R36')
@pytest.mark.parametrize('mode', ['weaken', 'suffix'])
def test_malformed_lists(server, source, mode):
    """They fit nothing: at the worst a whole response comes of it."""
    if source in ('static', 'validating'):
        return  # who compares says what fits
    visit = Visit(server, mode, source)
    _, tag = visit.tags()
    for value in (tag.removeprefix('W/').strip('"'), f'w/{tag}', f'"open, {tag}'):
        assert is_whole(visit.get(BR, *none_match(value)), 'br', tag), value
