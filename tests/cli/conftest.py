# SPDX-License-Identifier: MIT
import os
import subprocess

import pytest

TERSE = os.environ['TERSE_CLI']
PLUGIN = os.environ['TERSE_PLUGIN']
CODINGS = os.environ['TERSE_CODINGS'].split()


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.raw = done.stdout or b''
        self.out = self.raw.decode(errors='replace')
        self.err = done.stderr.decode(errors='replace')
        assert 'Sanitizer' not in self.err and 'runtime error' not in self.err, self.err

    def ok(self):
        assert self.status == 0, (self.status, self.err)
        return self

    def fails(self, words, status=1):
        """One line of complaint (two when it is about usage), none of it on standard output."""
        assert self.status == status, (self.status, self.err)
        lines = self.err.splitlines()
        assert lines and all(line.startswith('terse: ') for line in lines[:1]), self.err
        assert words in self.err
        return self


@pytest.fixture
def terse():
    def run(*arguments, plugin=PLUGIN, **options):
        options.setdefault('input', b'')
        options.setdefault('stdout', subprocess.PIPE)
        if options.get('stdin'):
            del options['input']
        front = ['--plugin', str(plugin)] if plugin else []
        return Result(subprocess.run([TERSE, *front, *map(str, arguments)], timeout=60,
                                     stderr=subprocess.PIPE, **options))
    return run


@pytest.fixture
def explain(terse):
    """The lines of an explanation: {'reason': 'coded', 'edit': [...], 'weight': {...}}."""
    def run(*arguments, **options):
        out = {'edit': [], 'weight': {}, 'rules': set()}
        last = None
        for line in terse('explain', *arguments, **options).ok().out.splitlines():
            (name, *rule), value = line[:11].split() or [''], line[11:]
            out['rules'].update(rule or [value.split()[0]] if name in ('edit', 'rule') else [])
            if name == 'edit':
                out['edit'].append(value)
            elif name == 'weight':
                coding, rest = value.split(None, 1)
                out['weight'][coding] = ' '.join(rest.split())
            elif name:
                out[name] = value
            else:
                out[last + ' words'] = value
            last = name or last
        return out
    return run
