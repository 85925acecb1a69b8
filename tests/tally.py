# SPDX-License-Identifier: MIT
"""Adds up what the parts of tests/run reported: counts, which case of the host suite did what on
which host, and the exit status.  The last line has the counts of all parts.

Arguments: NAME:STATUS:FILE... of each part; FILE is a JUnit report.  A part that failed without
saying where, or said nothing at all, counts as one failure.  Parts named hosts or hosts-* are the
host suite."""
import itertools
import re
import string
import sys
import textwrap
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

HOSTS = ['lighttpd', 'h2o', 'libh2o']
WIDTH = 100
LABEL = 24  # of it, for the names of cases at least
MARKS = 4  # letters of a cell at most


# ---- reports -------------------------------------------------------------------------------------

@dataclass
class Case:
    name: str
    file: str
    outcome: str  # passed, failed, skipped
    reason: str = ''  # why it was skipped


def case_of(element):
    name, file = element.get('name', '?'), element.get('classname', '').split('.')[-1]
    outcomes = {child.tag: child for child in element}
    if outcomes.keys() & {'failure', 'error'}:
        return Case(name, file, 'failed')
    if 'skipped' not in outcomes:
        return Case(name, file, 'passed')
    skipped = outcomes['skipped']
    reason = ' '.join(skipped.get('message', '').split())
    reason = re.sub(rf'^({"|".join(HOSTS)}), ', '', reason)  # the column says so
    known = 'known gap: ' if skipped.get('type') == 'pytest.xfail' else ''
    return Case(name, file, 'skipped', known + (reason or 'no reason given'))


@dataclass
class Part:
    name: str
    status: str
    cases: list = field(default_factory=list)
    trouble: str = ''  # a failure that is no case's

    def count(self, outcome):
        return sum(case.outcome == outcome for case in self.cases)

    @property
    def failures(self):
        failed = [case.name for case in self.cases if case.outcome == 'failed']
        return failed + [self.trouble] * bool(self.trouble)


def part_of(argument):
    name, status, path = argument.split(':', 2)
    part = Part(name, status)
    try:
        part.cases = [case_of(case) for case in ElementTree.parse(path).iter('testcase')]
    except (OSError, ElementTree.ParseError) as error:
        part.trouble = f'no report ({error.__class__.__name__})'
    if status != '0' and not part.failures:
        part.trouble = f'ended with status {status}'
    elif not part.cases and not part.trouble:
        part.trouble = 'ran nothing'
    return part


# ---- the table of cases by host ------------------------------------------------------------------

def host_of(case):
    """By its parametrisation, test_x[h2o-...]; '' when it has none."""
    words = re.split(r'[-\]]', case.name.partition('[')[2])
    return next((word for word in words if word in HOSTS), '')


def columns_of(part):
    """[(column, case)]: a column is a host, and what is special about the part."""
    hosts = [host_of(case) for case in part.cases]
    only = next(filter(None, hosts), '')
    special = ' '.join(word for word in part.name.split('-')[1:] if word not in HOSTS)
    return [(f'{host or only} {special}'.strip(), case) for host, case in zip(hosts, part.cases)]


def order(column):
    host, _, special = column.partition(' ')
    return special, HOSTS.index(host) if host in HOSTS else len(HOSTS)


def letters():
    """a to z, then aa, ab, ..."""
    for length in itertools.count(1):
        for word in itertools.product(string.ascii_lowercase, repeat=length):
            yield ''.join(word)


def cell(cases, notes):
    """notes: {reason: letter}"""
    if not cases:
        return '-'
    if any(case.outcome == 'failed' for case in cases):
        return 'FAILED'
    reasons = [case.reason for case in cases if case.outcome == 'skipped']
    passed = len(cases) - len(reasons)
    words = [f'{passed} ok'] if passed else []
    if reasons:
        marks = [notes[reason] for reason in dict.fromkeys(reasons)]
        more = ',...' if len(marks) > MARKS else ''
        words += [f'{len(reasons)} skipped', ','.join(marks[:MARKS]) + more]
    return ' '.join(words)


def grouped(parts):
    """{file: {function: {column: [Case]}}}, as they came, and the columns."""
    rows, columns = {}, set()
    for column, case in itertools.chain.from_iterable(map(columns_of, parts)):
        columns.add(column)
        function = case.name.split('[')[0].removeprefix('test_')
        row = rows.setdefault(case.file.removeprefix('test_'), {}).setdefault(function, {})
        row.setdefault(column, []).append(case)
    return rows, sorted(columns, key=order)


def line_of(label, texts, widths, room):
    """A row; a label that is too long has a line of its own."""
    begin = [label, ''] if len(label) > room else [label]
    padded = [text.ljust(width) for text, width in zip(texts, widths)]
    begin[-1] = '  '.join([begin[-1].ljust(room)] + padded).rstrip()
    return begin


def side_by_side(widths):
    """[slice]: as many columns at a time as there is room for beside a label."""
    first, room = 0, WIDTH - LABEL
    for n, width in enumerate(widths):
        room -= width + 2
        if room < 0 and n > first:
            yield slice(first, n)
            first, room = n, WIDTH - LABEL - width - 2
    yield slice(first, len(widths))


def lines_of(rows, columns, notes):
    """The table, or one after the other."""
    cells = {(file, function): [cell(row.get(column), notes) for column in columns]
             for file, functions in rows.items() for function, row in functions.items()}
    widths = [max(map(len, texts)) for texts in zip(columns, *cells.values())]
    longest = max(len(function) + 2 for _, function in cells)
    for part in side_by_side(widths):
        room = min(longest, WIDTH - sum(widths[part]) - 2 * len(widths[part]))
        yield from line_of('', columns[part], widths[part], room)
        for file, functions in rows.items():
            yield file
            for function in functions:
                yield from line_of('  ' + function, cells[file, function][part], widths[part],
                                   room)
        yield ''


def table(parts):
    rows, columns = grouped(parts)
    reasons = dict.fromkeys(case.reason for part in parts for case in part.cases if case.reason)
    notes = dict(zip(reasons, letters()))
    lines = ['', *lines_of(rows, columns, notes)]
    for reason, letter in notes.items():
        lines += textwrap.wrap(f'{letter}: {reason}', WIDTH, subsequent_indent='   ')
    return lines + [''] * bool(notes)


# ---- all of it -----------------------------------------------------------------------------------

def main(arguments):
    parts = [part_of(argument) for argument in arguments]
    longest = max((len(part.name) for part in parts), default=0)
    for part in parts:
        print(f'{part.name:<{longest}}{part.count("passed"):>8} passed'
              f'{len(part.failures):>6} failed{part.count("skipped"):>6} skipped')
    hosts = [part for part in parts if part.name.split('-')[0] == 'hosts' and part.cases]
    if hosts:
        print('\n'.join(table(hosts)))
    failures = [f'{part.name}: {name}' for part in parts for name in part.failures]
    for failure in failures:
        print(f'FAILED {failure}')
    passed, skipped = (sum(part.count(outcome) for part in parts)
                       for outcome in ('passed', 'skipped'))
    print(f'{passed} passed, {len(failures)} failed, {skipped} skipped')
    return 1 if failures or not passed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
