# SPDX-License-Identifier: MIT
"""Which cases show which rule of RULES.md: on which kind of response, on which server, and on which
side of the rule, a response that is coded or one that leaves as it is.

A case is an entry of a table (rules.py), or a test with the marker rule(*numbers): `kinds` says on
which kinds of response it shows both sides, or those that `sides` names; `lacks`, by server, why it
is not run there, in words of RULES.md."""
import glob
import importlib
import os
import sys
from itertools import product

HERE = os.path.dirname(os.path.abspath(__file__))
SIDES = ('coded', 'plain')

# Sides of a rule that no response can show.
LEFT_OUT = {
    ('R38', 'static', side): 'a file is there at once' for side in SIDES
}


def load(*names):
    """Files of the host suite."""
    folders = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), 'hosts')]
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]
    return [importlib.import_module(name) for name in names]


class Shown:
    """found: {(rule, kind, side, server)}; told: the same, where a statement stands in; named:
    {rule}; sentences: those that RULES.md has to have."""

    def __init__(self):
        rules, h2o, libh2o, lighttpd = load('rules', 'h2o', 'libh2o', 'lighttpd')
        classes = (h2o.H2O, libh2o.LibH2O, lighttpd.Lighttpd)
        self.servers, self.kinds = [server.name for server in classes], rules.KINDS
        self.found, self.told, self.named, self.sentences = set(), set(), set(), set()
        for server in classes:
            self.sentences |= set(server.gaps.values())
        names = sorted(os.path.basename(path)[:-3] for path in glob.glob(f'{HERE}/test_*.py'))
        for module in load(*names):
            self._look(module)
        for (rule, kind, side) in LEFT_OUT:
            self.told |= {(rule, kind, side, server) for server in self.servers}

    def _look(self, module):
        servers = getattr(module, 'ONLY', self.servers)
        for name, thing in vars(module).items():
            if name == 'CASES' and isinstance(thing, list):
                for case in thing:
                    self._take_case(case, servers)
            elif name.startswith('test_') and thing.__module__ == module.__name__:
                for mark in getattr(thing, 'pytestmark', []):
                    self._take_mark(mark, servers)

    def _take_case(self, case, servers):
        side = 'coded' if case.codes else 'plain'
        self.named.add(case.rule)
        self._note([case.rule], case.kinds, [side], case.lacks, servers)
        self.told |= {(case.rule, kind, side, server)
                      for (kind, _), server in product(case.left_out, self.servers)}

    def _take_mark(self, mark, servers):
        if mark.name != 'rule':
            return
        self.named |= set(mark.args)
        self._note(mark.args, mark.kwargs.get('kinds', ()), mark.kwargs.get('sides', SIDES),
                   mark.kwargs.get('lacks', {}), servers)

    def _note(self, numbers, kinds, sides, lacks, servers):
        self.sentences |= set(lacks.values())
        for server in servers:
            what = set(product(numbers, kinds, sides, [server]))
            if server in lacks:
                self.told |= what
            else:
                self.found |= what

    def gaps(self, numbers):
        """What neither a case shows nor a statement explains."""
        wanted = set(product(numbers, self.kinds, SIDES, self.servers))
        return sorted(wanted - self.found - self.told)

    def idle(self):
        """Statements that a case refutes."""
        return sorted(key for key in LEFT_OUT
                      if all((*key, server) in self.found for server in self.servers))
