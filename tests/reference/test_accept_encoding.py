# SPDX-License-Identifier: MIT
"""The plugin's Accept-Encoding against the reference.  TERSE_FIELDS is how many fields are made,
TERSE_SEED from what; both are printed."""
import collections
import ctypes
import itertools
import os
from pathlib import Path

import pytest

import accept_encoding
import ffi
from fields import Fields

COUNT = int(os.environ.get('TERSE_FIELDS') or 50000)
SEED = int(os.environ.get('TERSE_SEED') or 1)
CORPUS = Path(__file__).parent.parent / 'fuzz' / 'corpus' / 'accept_encoding'
CODINGS = os.environ['TERSE_CODINGS'].encode().split()
# the first one has all codings, so that all weights are seen; the others take turns beside it
POLICIES = [(CODINGS, b'client'), (CODINGS[::-1], b'server'), (CODINGS[::-1], b'client'),
            (CODINGS[-2:], b'server'), (CODINGS[:1], b'client')]
Choice, Weights = ffi.struct('terse_choice'), ffi.struct('terse_weight') * 8


class Policy:
    def __init__(self, plugin, instance, order, prefer):
        settings = [(b'codings', b', '.join(order)), (b'prefer', prefer)]
        self.order, self.prefer = order, prefer
        self.policy = ffi.seal(plugin, ffi.new_policy(plugin, instance, settings))
        self.negotiator = plugin.call('negotiator', ffi.pointer, self.policy)
        self.slot = ctypes.CFUNCTYPE(ffi.status, ffi.pointer, ffi.pointer, ffi.size, ffi.pointer)(
            plugin.api.negotiate)
        self.weights = Weights()
        self.choice = Choice(ctypes.sizeof(Choice), 0, None, ctypes.addressof(self.weights), 8, 0)

    def negotiate(self, lines):
        fields = (ffi.Str * len(lines))(*[(line, len(line)) for line in lines])
        assert self.slot(self.negotiator, ctypes.addressof(fields), len(lines),
                         ctypes.addressof(self.choice)) == 0
        weights = self.weights[:self.choice.n_weights]
        return (self.choice.coding, self.choice.flags,
                [(w.coding, w.milli, w.source) for w in weights])

    def expected(self, lines):
        return accept_encoding.negotiate(lines, self.order, self.prefer)


@pytest.fixture(scope='module')
def policies():
    plugin = ffi.Plugin(os.environ['TERSE_PLUGIN'])
    with ffi.opened(plugin) as instance:
        made = [Policy(plugin, instance, *policy) for policy in POLICIES]
        yield made
        for policy in made:
            plugin.call('policy_unref', None, policy.policy)


def agreed(policy, lines):
    """What both say; when they differ, the test ends here."""
    got, expected = policy.negotiate(lines), policy.expected(lines)
    if got != expected:
        shown = [line if len(line) < 1000 else line[:1000] + b'...' for line in lines]
        pytest.fail(f'{shown}\ncodings {policy.order}, prefer {policy.prefer}\n'
                    f'plugin    {got}\nreference {expected}\nTERSE_SEED={SEED}', pytrace=False)
    return got


def test_made_fields(policies):
    print(f'TERSE_FIELDS={COUNT} TERSE_SEED={SEED}')
    sources, codings = collections.Counter(), collections.Counter()
    turns = itertools.cycle(policies[1:])
    for lines in itertools.islice(Fields(SEED), COUNT):
        coding, flags, weights = agreed(policies[0], lines)
        agreed(next(turns), lines)
        codings[coding or flags] += 1
        sources.update(source for _, _, source in weights)
    print(dict(codings), dict(sources))
    # agreement says something only when all outcomes come often: the codings, identity as it is,
    # refused and refused without anything else; named, "*", malformed, absent
    assert set(codings) == {*CODINGS, 0, 3} and min(codings.values()) > COUNT / 100
    assert set(sources) == {0, 1, 2, 3} and min(sources.values()) > COUNT / 100


@pytest.mark.parametrize('entry', sorted(CORPUS.iterdir()), ids=lambda entry: entry.name)
def test_fuzz_corpus(policies, entry):
    for policy in policies:
        agreed(policy, entry.read_bytes().split(b'\n'))
