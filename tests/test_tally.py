# SPDX-License-Identifier: MIT
"""tests/tally.py on small reports: counts, table, exit status."""
import os
import re
import subprocess
import sys
from xml.sax.saxutils import quoteattr

import pytest

TALLY = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tally.py')
PASSED, FAILED, ERROR = '', '<failure message="no">trace</failure>', '<error message="no"/>'


def skipped(why, kind='pytest.skip'):
    return f'<skipped type="{kind}" message={quoteattr(why)}>file:1: {why}</skipped>'


@pytest.fixture
def tally(tmp_path):
    """tally(part=[(file, case, outcome)...], ...): exit status and lines.  (status, cases) for a
    part that did not end with 0, a text for one with another report."""
    def run(**parts):
        arguments = []
        for name, cases in parts.items():
            status, cases = cases if isinstance(cases, tuple) else ('0', cases)
            path = tmp_path / f'{name}.xml'
            path.write_text(cases if isinstance(cases, str) else report(cases))
            arguments.append(f'{name.replace("_", "-")}:{status}:{path}')
        done = subprocess.run([sys.executable, '-B', TALLY, *arguments], capture_output=True,
                              text=True, check=False)
        assert done.stderr == ''
        return done.returncode, done.stdout.splitlines()

    return run


def report(cases):
    return '<testsuites><testsuite>' + ''.join(
        f'<testcase classname="tests.hosts.{file}" name={quoteattr(name)}>{outcome}</testcase>'
        for file, name, outcome in cases) + '</testsuite></testsuites>'


def cells(lines, label):
    """{column: cell} of a row, from the first table that has it."""
    for n, line in enumerate(lines):
        if line.strip().startswith(label + '  '):
            head = next(lines[i] for i in range(n, -1, -1)
                        if lines[i].startswith(' ') and not lines[i].startswith('  ' + label)
                        and re.search(r'(lighttpd|h2o)', lines[i]))
            begins = [match.start() for match in re.finditer(r'(?<=  )\S', head)]
            ends = begins[1:] + [None]
            return {head[b:e].strip(): line[b:e].strip() for b, e in zip(begins, ends)}
    raise AssertionError(f'no row {label}:\n' + '\n'.join(lines))


# ---- counts and status ---------------------------------------------------------------------------

def test_the_last_line_is_the_sum(tally):
    code, lines = tally(gcc=[('a', 'test_x', PASSED), ('a', 'test_y', skipped('no'))],
                        clang=[('a', 'test_x', PASSED)])
    assert (code, lines[-1]) == (0, '2 passed, 0 failed, 1 skipped')
    assert [line.split() for line in lines[:2]] == [
        ['gcc', '1', 'passed', '0', 'failed', '1', 'skipped'],
        ['clang', '1', 'passed', '0', 'failed', '0', 'skipped']]


@pytest.mark.parametrize('outcome', [FAILED, ERROR])
def test_a_failure_is_named(tally, outcome):
    code, lines = tally(gcc=('1', [('a', 'test_x', PASSED), ('a', 'test_y', outcome)]))
    assert (code, lines[-1]) == (1, '1 passed, 1 failed, 0 skipped')
    assert 'FAILED gcc: test_y' in lines


@pytest.mark.parametrize('part, why, passed', [
    (('3', [('a', 'test_x', PASSED)]), 'ended with status 3', 2),
    (('0', []), 'ran nothing', 1),
    (('0', '<testsuite'), 'no report (ParseError)', 1),
    (('1', ''), 'no report (ParseError)', 1)])
def test_a_part_that_does_not_say_what_failed_has(tally, part, why, passed):
    code, lines = tally(clang=[('a', 'test_x', PASSED)], hosts=part)
    assert code == 1 and f'FAILED hosts: {why}' in lines
    assert lines[-1] == f'{passed} passed, 1 failed, 0 skipped'


def test_nothing_passed_is_a_failure(tally):
    code, lines = tally(gcc=[('a', 'test_x', skipped('no'))])
    assert (code, lines[-1]) == (1, '0 passed, 0 failed, 1 skipped')


# ---- the table -----------------------------------------------------------------------------------

def test_cases_by_host(tally):
    gap = skipped('h2o, ranges: not yet', 'pytest.xfail')
    code, lines = tally(
        gcc=[('a', 'test_not_in_the_table', PASSED)],
        hosts=[('test_a', 'test_x[lighttpd-h1]', PASSED), ('test_a', 'test_x[lighttpd-h2]', PASSED),
               ('test_a', 'test_y[lighttpd]', PASSED), ('test_b', 'test_x', PASSED)],
        hosts_h2o=[('test_a', 'test_x[h2o-h1]', PASSED), ('test_a', 'test_x[h2o-h2]', gap),
                   ('test_a', 'test_y[h2o-1]', skipped('h2o, ratio: none')),
                   ('test_a', 'test_y[h2o-2]', skipped('h2o, ratio: none'))],
        hosts_libh2o=('1', [('test_a', 'test_x[libh2o-h1]', PASSED),
                            ('test_a', 'test_x[libh2o-h2-a-]b]', FAILED),
                            ('test_c', 'test_z[libh2o]', skipped('libh2o, ratio: none'))]),
        hosts_asan=[('test_a', 'test_x[lighttpd-h1]', PASSED)])
    assert code == 1
    assert cells(lines, 'x') == {'lighttpd': '2 ok', 'h2o': '1 ok 1 skipped a', 'libh2o': 'FAILED',
                                 'lighttpd asan': '1 ok'}
    assert cells(lines, 'y') == {'lighttpd': '1 ok', 'h2o': '2 skipped b', 'libh2o': '-',
                                 'lighttpd asan': '-'}
    assert cells(lines, 'z') == {'lighttpd': '-', 'h2o': '-', 'libh2o': '1 skipped b',
                                 'lighttpd asan': '-'}
    notes = [line for line in lines if re.match(r'[a-z]+: ', line)]
    assert notes == ['a: known gap: ranges: not yet', 'b: ratio: none']
    assert [line for line in lines if line in 'abc' and line] == ['a', 'b', 'c']  # the files
    assert not any('not_in_the_table' in line for line in lines)
    assert lines[-1] == '8 passed, 1 failed, 4 skipped'


def test_no_host_part_no_table(tally):
    _, lines = tally(gcc=[('test_a', 'test_x[h2o]', PASSED)])
    assert len(lines) == 2


def test_it_stays_narrow(tally):
    """However many parts, reasons and long names there are; nothing is left out."""
    long_one = 'test_' + 'a_name_that_goes_on_' * 4

    def cases(host):
        yield 'test_a', f'{long_one}[{host}]', PASSED
        for n in range(40):
            yield 'test_a', f'test_many[{host}-{n}]', skipped(f'{host}, r{n}: ' + 'words ' * 40)
            yield 'test_a', f'test_one_{n}[{host}-x]', skipped(f'{host}, r{n}: ' + 'words ' * 40)

    hosts = ('lighttpd', 'h2o', 'libh2o')
    _, lines = tally(**{f'hosts_{host}{special}': list(cases(host))
                        for special in ('', '_asan') for host in hosts})
    assert max(map(len, lines)) <= 100, max(lines, key=len)
    heads = [head for line in lines for head in re.split('  +', line.strip())]
    for host in hosts:
        assert heads.count(host) == heads.count(f'{host} asan') == 1
    assert '  ' + long_one.removeprefix('test_') in lines
    assert len([line for line in lines if re.match(r'[a-z]+: r\d+: ', line)]) == 40
