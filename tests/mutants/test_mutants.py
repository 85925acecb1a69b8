# SPDX-License-Identifier: MIT
"""The mutants fit the checkout as it is: each applies, changes one line of what is shipped, breaks
a rule that there is, and names cases that there are; and no rule is without."""
import os
import re

import pytest
from catalogue import CHECKOUT, all_mutants
from scratch import patch

MUTANTS = all_mutants()
SHIMS = ('hosts/lighttpd/', 'hosts/h2o/', 'hosts/common/')
LEAST, LEAST_IN_SHIMS = 40, 8


def text_of(*path):
    with open(os.path.join(CHECKOUT, *path), encoding='utf-8') as file:
        return file.read()


RULES = re.findall(r'^### (R\d\d) ', text_of('plugin', 'RULES.md'), re.M)

each = pytest.mark.parametrize('mutant', MUTANTS, ids=lambda mutant: mutant.name)


@each
def test_it_applies(mutant):
    patch(CHECKOUT, mutant.path, '--dry-run')


@each
def test_it_is_one_line_of_what_is_shipped(mutant):
    assert len(mutant.files) == 1
    assert mutant.files[0].startswith(('plugin/',) + SHIMS)
    assert [line[0] for line in mutant.lines] in (['-', '+'], ['-'], ['+'])


@each
def test_it_breaks_a_rule(mutant):
    assert mutant.rule in RULES
    assert mutant.name.startswith(mutant.rule + '-')


@each
def test_its_cases_are_there(mutant):
    for case in mutant.cases:
        if case.where == 'unit':
            assert f'cmocka_unit_test({case.function})' in text_of(case.program + '.c') or \
                f'cmocka_unit_test_setup_teardown({case.function},' in text_of(case.program + '.c')
        else:
            assert f'\ndef {case.function}(' in text_of('tests', 'hosts', case.test)


def test_no_rule_is_without():
    assert len(RULES) == 48
    assert sorted(set(RULES) - {mutant.rule for mutant in MUTANTS}) == []


def test_there_are_enough():
    assert len(MUTANTS) >= LEAST
    assert len([m for m in MUTANTS if m.files[0].startswith(SHIMS)]) >= LEAST_IN_SHIMS
