# SPDX-License-Identifier: MIT
"""The mutants: patches of one line to plugin/ and the shims.  Before its diff each says what it
breaks, the rule of plugin/RULES.md, and the cases that turn red, all of them:

    Breaks: A 206 is coded like a whole representation.
    Rule: R12
    Red: unit/decision: gates
    Red: lighttpd/test_unharmed.py: test_leaves_as_it_was[206 of an origin]

A case is one of a unit test (meson's name for it: cmocka's), or one of the host suite on a server;
in brackets: what has to be in the name of its parametrisation, parts of it with a comma between."""
import glob
import os
import re
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
CASE = re.compile(r'(unit|lighttpd|h2o)/([\w. ]+): (\w+)(?:\[(.+)\])?')


@dataclass(frozen=True)
class Case:
    text: str
    where: str  # unit, or a server
    test: str  # meson's name, or a file of tests/hosts
    function: str
    words: tuple = ()  # of its parametrisation

    @property
    def program(self):
        """Of a unit test, in the build folder."""
        return f'tests/unit/test_{self.test.replace(" ", "_")}'

    def is_node(self, node):
        """Whether pytest's name of a case is one of these: test_x[lighttpd-h1]"""
        function, _, parameters = node.partition('[')
        return function == self.function and all(word in parameters for word in self.words)


def case_of(text):
    match = CASE.fullmatch(text)
    if not match:
        raise ValueError(f'not a case: {text}')
    where, test, function, words = match.groups()
    return Case(text, where, test, function, tuple(words.split(', ')) if words else ())


@dataclass(frozen=True)
class Mutant:
    name: str
    path: str  # of the patch
    breaks: str
    rule: str
    cases: tuple
    files: tuple  # that it changes
    lines: tuple  # that it takes away or adds, with their sign


def read(path):
    """The mutant of one patch; ValueError where something is missing."""
    name = os.path.basename(path).removesuffix('.patch')
    with open(path, encoding='utf-8') as file:
        head, _, diff = file.read().partition('\n--- a/')
    fields = re.findall(r'^(Breaks|Rule|Red): (.+)$', head, re.M)
    breaks, rules, cases = ([text for key, text in fields if key == wanted]
                            for wanted in ('Breaks', 'Rule', 'Red'))
    if len(breaks) != 1 or len(rules) != 1 or not cases or not diff:
        raise ValueError(f'{name}: one "Breaks", one "Rule", "Red", and a diff are needed')
    return Mutant(name, path, breaks[0], rules[0], tuple(map(case_of, cases)),
                  tuple(re.findall(r'^\+\+\+ b/(\S+)$', diff, re.M)),
                  tuple(line for line in diff.splitlines()[2:] if line[:1] in ('-', '+')))


def all_mutants():
    return [read(path) for path in sorted(glob.glob(os.path.join(HERE, '*.patch')))]
