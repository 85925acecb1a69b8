# SPDX-License-Identifier: MIT
"""What a server's memory is when nothing is going on."""
import time

import client
from server import until

# What is asked is what the server uses, not what malloc keeps of what was freed: that hangs on how
# many of H2O's file buffers (65,000 bytes each) were in use at once, and differs from run to run.
NOTHING_KEPT = {'MALLOC_MMAP_THRESHOLD_': '32768', 'MALLOC_TRIM_THRESHOLD_': '32768',
                'MALLOC_ARENA_MAX': '1'}


def counter(server, name):
    return server.counters().get(f'terse.{name}')  # absent in the first second of some


def _exchanges(server):
    return sum(value for name, value in server.counters().items()
               if name.startswith('terse.exchanges.'))


def nothing_held(server):
    """No stream and no request's body, by counters that are newer than this call."""
    before = _exchanges(server)
    client.h1(server.port, '/two.json')
    until(lambda: _exchanges(server) > before, 15, 'new counters')
    for name in ('streams.live', 'decode.held'):
        until(lambda n=name: counter(server, n) == 0, 15, f'{name} of 0')


def streams_ended(server):
    time.sleep(1.5)  # some servers' counters are of the last full second
    until(lambda: counter(server, 'streams.live') == 0, 15, 'the end of every stream')


def settled(server):
    """Resident memory in KB, when every stream has ended and the pools have given back what lay
    idle, which they do after 10 to 20 seconds."""
    streams_ended(server)
    until(lambda: counter(server, 'memory.idle') == 0, 60, 'idle memory that is given back')
    return server.rss()
