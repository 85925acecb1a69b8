# SPDX-License-Identifier: MIT
"""Runs named cases: is each red, or green?  What is neither (a case that is not there, a test that
did not come to its end, a server that did not start) is Trouble."""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from scratch import Trouble

SECONDS = 300  # for one program, or one pytest
HOSTS = os.path.join('tests', 'hosts')
# ERROR: after its failure it could not tidy up either.
ENDED = re.compile(r'^\[ +(OK|FAILED|ERROR) +\] (\w+)$', re.M)


def capture(command, folder):
    """(exit code, what it said)"""
    env = {'PATH': os.environ['PATH'], 'LC_ALL': 'C.UTF-8', 'PYTHONDONTWRITEBYTECODE': '1'}
    try:
        done = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors='replace', timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Trouble(f'{command[0]} did not end') from None
    return done.returncode, done.stdout


# ---- unit tests ----------------------------------------------------------------------------------

def run_program(copy, program, cases):
    """{case: whether it is red}"""
    _, said = capture([os.path.join(copy.build, program)], copy.build)
    words = {name: word for word, name in ENDED.findall(said)}
    for case in cases:
        if case.function not in words or 'Test setup failed' in said:
            raise Trouble(f'{case.text}: it has no end\n{said}')
    return {case: words[case.function] != 'OK' for case in cases}


# ---- the host suite ------------------------------------------------------------------------------

def pytest(copy, server, *arguments):
    return capture([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider',
                    f'--build={copy.build}', f'--server={server}', *arguments], copy.folder)


def collect(copy, server, cases):
    """{case: [pytest's names]}"""
    files = sorted({os.path.join(HOSTS, case.test) for case in cases})
    _, said = pytest(copy, server, '--collect-only', *files)
    there = [line.partition('::') for line in said.splitlines() if '::' in line]
    nodes = {case: [f'{file}::{node}' for file, _, node in there
                    if os.path.basename(file) == case.test and case.is_node(node)]
             for case in cases}
    for case, names in nodes.items():
        if not names:
            raise Trouble(f'{case.text}: there is no such case\n{said}')
    return nodes


def outcomes(report):
    """[(file, pytest's name, outcome)] of a JUnit report."""
    found = []
    for element in ElementTree.parse(report).iter('testcase'):
        tags = {child.tag for child in element} & {'failure', 'error', 'skipped'}
        file = element.get('classname', '').split('.')[-1] + '.py'
        found.append((file, element.get('name', ''), tags or {'passed'}))
    return found


def run_suite(copy, server, cases, nodes):
    """{case: whether it is red}: one run of pytest for all of them."""
    names = list(dict.fromkeys(name for case in cases for name in nodes[case]))
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'report.xml')
        code, said = pytest(copy, server, f'--junitxml={report}', *names)
        if code not in (0, 1):
            raise Trouble(f'pytest ended with {code}\n{said}')
        ended = outcomes(report)
    red = {}
    for case in cases:
        tags = [tag for file, name, tag in ended if file == case.test and case.is_node(name)]
        red[case] = any('failure' in tag for tag in tags)
        if not red[case] and (not tags or any(tag != {'passed'} for tag in tags)):
            raise Trouble(f'{case.text}: it neither passed nor failed\n{said}')
    return red


# ---- both ----------------------------------------------------------------------------------------

def grouped(cases):
    """{(where, program or ''): [case]}: those that run together."""
    groups = {}
    for case in cases:
        key = (case.where, case.program if case.where == 'unit' else '')
        groups.setdefault(key, []).append(case)
    return groups


def run_cases(copy, cases, nodes):
    """{case: whether it is red}"""
    red = {}
    for (where, program), group in grouped(cases).items():
        red.update(run_program(copy, program, group) if where == 'unit' else
                   run_suite(copy, where, group, nodes))
    return red
