# SPDX-License-Identifier: MIT
"""Adds up what the parts of tests/run reported: one line of counts, and the exit status.

Arguments: NAME:STATUS:FILE... of each part; FILE is a JUnit report.  A part that failed without
saying where, or said nothing at all, counts as one failure."""
import sys
import xml.etree.ElementTree as ElementTree


def counts(path):
    """(passed, [names of the failed], skipped)"""
    passed, failed, skipped = 0, [], 0
    for case in ElementTree.parse(path).iter('testcase'):
        outcomes = {child.tag for child in case}
        if outcomes & {'failure', 'error'}:
            failed.append(case.get('name', '?'))
        elif 'skipped' in outcomes:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main(parts):
    passed, failures, skipped = 0, [], 0
    for part in parts:
        name, status, path = part.split(':', 2)
        try:
            here = counts(path)
        except (OSError, ElementTree.ParseError) as error:
            here = 0, [f'no report ({error.__class__.__name__})'], 0
        if status != '0' and not here[1]:
            here[1].append(f'ended with status {status}')
        if here[0] == 0 and not here[1] and here[2] == 0:
            here[1].append('ran nothing')
        passed += here[0]
        failures += [f'{name}: {test}' for test in here[1]]
        skipped += here[2]
        print(f'{name:<12}{here[0]:>6} passed{len(here[1]):>6} failed{here[2]:>6} skipped')
    for failure in failures:
        print(f'FAILED {failure}')
    print(f'{passed} passed, {len(failures)} failed, {skipped} skipped')
    return 1 if failures or not passed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
