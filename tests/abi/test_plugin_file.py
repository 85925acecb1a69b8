# SPDX-License-Identifier: MIT
"""terse.so as a file: what it exports, how it is linked, what it must not call."""
import os
import re
import subprocess

import pytest

PLUGIN = os.environ['TERSE_PLUGIN']
SANITIZED = os.environ['TERSE_SANITIZED'] == 'true'
STATIC_CODECS = os.environ['TERSE_STATIC_CODECS'] == 'true'


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(option):
    return {line.split()[-1].split('@')[0] for line in run('nm', '-D', option, PLUGIN).splitlines()}


def test_one_export():
    assert symbols('--defined-only') == {'terse_plugin_entry'}


def test_read_only_after_relocation():
    segments = run('readelf', '-lW', PLUGIN)
    assert 'GNU_RELRO' in segments
    stack = re.search(r'GNU_STACK.* (R[W ][E ]) ', segments)
    assert stack and 'E' not in stack.group(1)
    for load in re.findall(r'^\s+LOAD .*? ([R ][W ][E ]) 0x', segments, flags=re.M):
        assert load != 'RWE'


def test_dynamic_section():
    dynamic = run('readelf', '-dW', PLUGIN)
    assert re.search(r'\(FLAGS_1\).*\bNOW\b', dynamic)
    assert re.search(r'\(FLAGS\).*\bBIND_NOW\b', dynamic)
    assert re.search(r'\(FLAGS_1\).*\bNODELETE\b', dynamic)
    assert 'TEXTREL' not in dynamic
    assert 'RPATH' not in dynamic and 'RUNPATH' not in dynamic


def test_no_static_tls():
    assert 'STATIC_TLS' not in run('readelf', '-dW', PLUGIN)
    assert not re.search(r'^\s+TLS ', run('readelf', '-lW', PLUGIN), flags=re.M)


@pytest.mark.skipif(SANITIZED, reason='sanitizers bring libraries of their own')
def test_needed():
    needed = set(re.findall(r'NEEDED.*\[(.*?)\]', run('readelf', '-dW', PLUGIN)))
    codecs = {'libz.so.1', 'libzstd.so.1', 'libbrotlienc.so.1', 'libbrotlidec.so.1',
              'libdeflate.so.0'}
    plain = {n for n in needed if n.split('.')[0] in ('libc', 'libm', 'libdl', 'ld-linux-x86-64',
                                                      'ld-linux-aarch64', 'libpthread')}
    assert needed - plain <= (set() if STATIC_CODECS else codecs)


# rule A9: no exit, no print, no thread, no environment, no locale, no clock, no file, no process
FORBIDDEN = {
    'abort', 'exit', '_exit', '_Exit', 'quick_exit', 'atexit', '__cxa_atexit', 'on_exit', 'raise',
    'kill', '__assert_fail', 'err', 'errx', 'printf', '__printf_chk', 'puts', 'putchar', 'fputs',
    'fprintf', '__fprintf_chk', 'fwrite', 'perror', 'stdout', 'stderr', 'syslog',
    'pthread_create', 'thrd_create', 'pthread_key_create', 'tss_create', 'pthread_atfork', 'fork',
    'vfork', 'posix_spawn', 'system', 'signal', 'sigaction', 'getenv', 'secure_getenv', 'setenv',
    'putenv', 'setlocale', 'newlocale', 'uselocale', 'strtod', 'strtol', 'strtoul', 'strtoll',
    'strtoull', '__isoc99_sscanf', 'sscanf', 'toupper', 'tolower', 'strcasecmp', 'strncasecmp',
    '__ctype_b_loc', '__ctype_tolower_loc', '__ctype_toupper_loc', 'time', 'clock_gettime',
    'gettimeofday', 'nanosleep', 'usleep', 'sleep', 'open', 'open64', 'openat', 'fopen', 'fopen64',
    'socket', 'dlopen',
}


@pytest.mark.skipif(SANITIZED or STATIC_CODECS, reason='what is linked in has its own ways')
def test_calls_nothing_forbidden():
    assert symbols('--undefined-only') & FORBIDDEN == set()
