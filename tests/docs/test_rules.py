# SPDX-License-Identifier: MIT
"""plugin/RULES.md says what is so: its rules are the plugin's, with their fields, reasons and media
types, and each has its cases in the host suite."""
import os
import re
import subprocess
import sys

import pytest

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(CHECKOUT, 'tests/hosts'))

from cases import LEFT_OUT, Shown  # noqa: E402

# the markers of the host suite
pytestmark = pytest.mark.filterwarnings('ignore::pytest.PytestUnknownMarkWarning')


def text_of(name):
    with open(os.path.join(CHECKOUT, name), encoding='utf-8') as file:
        return file.read()


RULES = text_of('plugin/RULES.md')
RUN_ON = re.sub(r'\s+', ' ', RULES)
HEADING = re.compile(r'^### (R\d\d) (.*)$', re.M)


def sections():
    """{number: (title, text)}"""
    _, *parts = HEADING.split(RULES.split('\n## Media types')[0])
    return {parts[n]: (parts[n + 1], parts[n + 2]) for n in range(0, len(parts), 3)}


SECTIONS = sections()
COME_CODED = 'R41'  # from here on they are about those


def words_behind(label, text):
    """What stands in backquotes behind `Reason:`, `Reasons:` or `Field:`."""
    found = re.search(rf'\b{label}s?: ((?:`[^`]+`(?:, )?)+)', text)
    return re.findall('`([^`]+)`', found[1]) if found else []


@pytest.fixture(scope='module')
def plugins_rules():
    """{number: (title, fields)}, as the command prints them."""
    done = subprocess.run([os.environ['TERSE_CLI'], '--plugin', os.environ['TERSE_PLUGIN'],
                           'rules'], capture_output=True, text=True, check=True)
    rows = [re.split(r' {2,}', line.rstrip()) for line in done.stdout.splitlines()[1:]]
    return {row[0]: (row[1], row[2].split() if len(row) > 2 else []) for row in rows}


def reasons_of_the_plugin():
    """{rule: [reason]}"""
    found = {}
    for rule, name in re.findall(r'R\(REASON_\w+, (\d+), "([^"]+)"', text_of('plugin/reasons.c')):
        found.setdefault(f'R{int(rule):02}', []).append(name)
    return found


def test_numbers_and_titles(plugins_rules):
    assert [number for number, _ in HEADING.findall(RULES)] == sorted(SECTIONS)
    assert {number: title for number, (title, _) in plugins_rules.items()} == \
        {number: title.replace('`', '') for number, (title, _) in SECTIONS.items()}


@pytest.mark.parametrize('number', SECTIONS)
def test_fields(plugins_rules, number):
    assert sorted(words_behind('Field', SECTIONS[number][1])) == sorted(plugins_rules[number][1])


@pytest.mark.parametrize('number', SECTIONS)
def test_reasons(number):
    assert sorted(words_behind('Reason', SECTIONS[number][1])) == \
        sorted(reasons_of_the_plugin().get(number, []))


def test_every_reason_has_its_rule():
    assert set(reasons_of_the_plugin()) - set(SECTIONS) == {'R00'}, 'none, that of no decision'


@pytest.mark.parametrize('number', SECTIONS)
def test_sources(number):
    """A section of an RFC, a measurement, or a setting or field of that name."""
    assert re.search(r'^Source: (§|RFC|measured|`|H2O)', SECTIONS[number][1], re.M)


def media_types(name):
    body = re.search(rf'{name}\[\] = {{(.*?)^}};', text_of('plugin/media_types.c'), re.M | re.S)[1]
    return re.findall(r'T\("([^"]+)"\)', body)


@pytest.mark.parametrize('begin, end, name', [
    (r'^Coded \(`types`\)', r'^Never coded', 'codable'), (r'^Never coded', r'\Z', 'denied')])
def test_media_types(begin, end, name):
    table = re.search(rf'{begin}.*?(^\|.*?){end}', RULES, re.M | re.S)[1]
    rows = [row.split('|')[1] for row in table.splitlines() if row.startswith('| `')]
    listed = [media_type for row in rows for media_type in re.findall('`([^`]+)`', row)]
    assert sorted(listed) == sorted(media_types(name)) and len(set(listed)) == len(listed)


# ---- the cases of the host suite -----------------------------------------------------------------

@pytest.fixture(scope='module')
def shown():
    return Shown()


def test_every_case_names_a_rule(shown):
    assert sorted(shown.named - set(SECTIONS)) == []


def test_every_rule_has_a_case(shown):
    assert sorted(set(SECTIONS) - shown.named) == []


def test_no_gap(shown):
    """Coded and not, on every kind of response, on every server: a case, or a word why not.  Messages
    that come coded are not of those kinds."""
    assert shown.gaps([number for number in SECTIONS if number < COME_CODED]) == []


def test_no_idle_excuse(shown):
    assert shown.idle() == []
    assert all(LEFT_OUT.values())


def test_what_a_server_lacks_is_in_the_rules(shown):
    missing = [sentence for sentence in shown.sentences if sentence not in RUN_ON]
    assert missing == []
