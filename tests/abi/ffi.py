# SPDX-License-Identifier: MIT
"""The plugin by ctypes, with the table's layout read from terse.h itself."""
import contextlib
import ctypes
import os

import header_text

TEXT = header_text.load(os.environ['TERSE_HEADER'])
STRUCTS = header_text.structs(TEXT)
PLAIN = {
    'uint16_t': ctypes.c_uint16, 'uint32_t': ctypes.c_uint32, 'int32_t': ctypes.c_int32,
    'uint64_t': ctypes.c_uint64, 'int64_t': ctypes.c_int64, 'size_t': ctypes.c_size_t,
    'const char *': ctypes.c_char_p, 'terse_header_fn': ctypes.c_void_p, '(*)': ctypes.c_void_p,
}
MADE = {}


def struct(name):
    if name not in MADE:
        MADE[name] = type(name, (ctypes.Structure,), {'_fields_': [
            (member, PLAIN.get(kind) or (ctypes.c_void_p if '*' in kind else struct(kind)))
            for member, kind in STRUCTS[name]]})
    return MADE[name]


Str = struct('terse_str')
pointer, status, size = ctypes.c_void_p, ctypes.c_int32, ctypes.c_size_t
LOG = ctypes.CFUNCTYPE(None, pointer, ctypes.c_int32, pointer, size)


def text(value):
    return Str(value, len(value))


class Plugin:
    def __init__(self, path):
        self.loaded = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        entry = self.loaded.terse_plugin_entry
        entry.argtypes, entry.restype = [ctypes.c_uint32], ctypes.POINTER(struct('terse_api'))
        self.entry = entry
        self.api = entry(1).contents

    def call(self, slot, result, *arguments):
        kinds = [type(a) if isinstance(a, ctypes._SimpleCData) or isinstance(a, ctypes.Structure)
                 else pointer for a in arguments]
        return ctypes.CFUNCTYPE(result, *kinds)(getattr(self.api, slot))(*arguments)


@contextlib.contextmanager
def opened(plugin):
    """An instance, closed at the end."""
    lines = []
    log = LOG(lambda data, level, msg, n: lines.append((level, ctypes.string_at(msg, n))))
    host = struct('terse_host')(ctypes.sizeof(struct('terse_host')), 0, None,
                                ctypes.cast(log, pointer), None)
    out, why = pointer(), ctypes.create_string_buffer(512)
    assert plugin.call('open', status, ctypes.addressof(host), ctypes.addressof(out),
                       ctypes.addressof(why), size(512)) == 0, why.value
    assert out.value
    yield out
    plugin.call('close', None, out)


def new_policy(plugin, instance, settings=()):
    policy, why = pointer(), ctypes.create_string_buffer(512)
    assert plugin.call('policy_new', status, instance, ctypes.addressof(policy)) == 0
    for key, value in settings:
        result = plugin.call('policy_set', status, policy, text(key), text(value),
                             ctypes.addressof(why), size(512))
        assert result == 0, why.value
    return policy


def seal(plugin, policy):
    why = ctypes.create_string_buffer(512)
    assert plugin.call('policy_seal', status, policy, ctypes.addressof(why), size(512)) == 0
    return policy
