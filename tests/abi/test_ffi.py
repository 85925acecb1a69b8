# SPDX-License-Identifier: MIT
"""The ABI from another language."""
import ctypes
import os

import pytest

from ffi import (Plugin, STRUCTS, Str, new_policy, opened, pointer, seal, size, status, struct,
                 text)


@pytest.fixture(scope='module')
def plugin():
    return Plugin(os.environ['TERSE_PLUGIN'])


@pytest.fixture
def instance(plugin):
    with opened(plugin) as out:
        yield out


def test_table(plugin):
    api = plugin.api
    assert api.struct_size == ctypes.sizeof(struct('terse_api'))
    assert (api.abi_major, api.abi_minor) == (1, 0)
    assert 1 <= api.exchange_size <= 65536
    assert api.version and api.build
    for member, kind in STRUCTS['terse_api']:
        if kind == '(*)':
            assert getattr(api, member), member


def test_other_majors(plugin):
    for major in (0, 2, 9, 0xffffffff):
        assert not plugin.entry(major)


def test_table_is_constant(plugin):
    assert ctypes.addressof(plugin.entry(1).contents) == ctypes.addressof(plugin.api)


def test_query(plugin):
    query = ctypes.CFUNCTYPE(pointer, ctypes.c_char_p)(plugin.api.query)
    assert query(b'terse.no-such-thing/1') is None
    for name, entry, field in (('keys', 'terse_key', 'key'), ('reasons', 'terse_reason', 'name')):
        table = struct('terse_' + name).from_address(query(b'terse.%s/1' % name.encode()))
        at = ctypes.CFUNCTYPE(ctypes.POINTER(struct(entry)), ctypes.c_uint32)(table.at)
        names = [getattr(at(i).contents, field) for i in range(table.count)]
        assert len(set(names)) == table.count > 5
        assert not at(table.count) and not at(0xffffffff)
    assert query(b'terse.keys/2') is None and query(b'') is None and query(None) is None


def test_policy(plugin, instance):
    policy, why = new_policy(plugin, instance), ctypes.create_string_buffer(512)
    assert plugin.call('policy_set', status, policy, text(b'gzip.levle'), text(b'1'),
                       ctypes.addressof(why), size(512)) == -4
    assert b'gzip.level' in why.value
    assert plugin.call('negotiator', pointer, policy) is None
    seal(plugin, policy)
    assert plugin.call('negotiator', pointer, policy)
    plugin.call('policy_unref', None, policy)


def test_negotiate(plugin, instance):
    coding = os.environ['TERSE_CODINGS'].split()[0].encode()
    policy = seal(plugin, new_policy(plugin, instance, [(b'codings', coding)]))
    fields = (Str * 2)(text(b'x-other'), text(coding + b';q=0.5'))
    weights = (struct('terse_weight') * 8)()
    Choice = struct('terse_choice')
    choice = Choice(ctypes.sizeof(Choice), 0, None, ctypes.addressof(weights), 8, 0)
    negotiator = plugin.call('negotiator', pointer, policy)
    assert plugin.call('negotiate', status, pointer(negotiator), ctypes.addressof(fields), size(2),
                       ctypes.addressof(choice)) == 0
    assert choice.coding == coding
    assert {w.coding: w.milli for w in weights[:choice.n_weights]}[coding] == 500
    plugin.call('policy_unref', None, policy)


def test_short_structs_are_refused(plugin, instance):
    policy = seal(plugin, new_policy(plugin, instance))
    negotiator = plugin.call('negotiator', pointer, policy)
    choice = struct('terse_choice')(8, 0, None, None, 0, 0)
    assert plugin.call('negotiate', status, pointer(negotiator), pointer(), size(0),
                       ctypes.addressof(choice)) == -1
    host, out = struct('terse_host')(4, 0, None, None, None), pointer()
    why = ctypes.create_string_buffer(512)
    assert plugin.call('open', status, ctypes.addressof(host), ctypes.addressof(out),
                       ctypes.addressof(why), size(512)) == -1
    plugin.call('policy_unref', None, policy)
