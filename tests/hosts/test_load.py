# SPDX-License-Identifier: MIT
"""Many clients on four threads, some of which go away: the others' answers are right, and the memory
is what it was."""
import os
import random
import re
import subprocess
import threading

import client
import pytest
from memory import NOTHING_KEPT, settled
from streams import Streams
from visitors import CODINGS, Visitors, kept_h1, many_h2, single_h1

ONLY = ['h2o', 'libh2o']
THREADS = 4
NAMES = ('page.html', 'size-1048576.html', 'size-4096.html', 'style.css', 'two.json',
         'picture.jpg', 'prose.unknown', 'long.txt')
SLACK_KB = 1024


class Leavers:
    """Clients that go away at any point, over HTTP/1 and HTTP/2."""

    def __init__(self, server):
        self.server, self.count, self.random = server, 0, random.Random(4)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._leave)

    def _leave(self):
        while not self.over.wait(0.005):
            name, coding = self.random.choice(NAMES), self.random.choice(CODINGS)
            field = [('Accept-Encoding', coding)]
            some = self.random.choice((0, 1, 4000))
            connection = client.Connection(self.server.port)
            connection.send(f'/{name}', field)
            if some:
                connection.socket.recv(some)
            connection.abort()
            with Streams(self.server.port) as streams:
                stream = streams.ask(f'/{name}', field)
                if some:
                    streams.turn()
                if stream not in streams.ended:
                    streams.reset(stream)
            self.count += 2

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def h2load(server, targets, coding, seconds, protocol):
    flags = ['--h1'] if protocol == 'h1' else ['-m', '4']
    return subprocess.Popen(
        ['h2load', '-D', str(seconds), '-c', '4', *flags, '-H', f'Accept-Encoding: {coding}',
         '-i', targets], env=server.environment() | {'LD_PRELOAD': '', 'LD_LIBRARY_PATH': ''},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def answers(said):
    """How many h2load counted; all of them as they should be."""
    done, good, failed, errored, late = (
        int(re.search(rf'(\d+) {word}', said).group(1))
        for word in ('done', 'succeeded', 'failed', 'errored', 'timeout'))
    assert (failed, errored, late) == (0, 0, 0) and good == done > 0, said
    assert re.search(r'status codes: \d+ 2xx, 0 3xx, 0 4xx, 0 5xx', said), said
    return done


def load(server, files, seconds):
    """(answers, of which bodies were compared, clients that went away)"""
    targets = os.path.join(server.folder, 'targets')
    with open(targets, 'w', encoding='ascii') as file:
        file.writelines(f'http://127.0.0.1:{server.port}/{name}\n' for name in NAMES)
    kinds = [single_h1, kept_h1, many_h2]
    with Visitors(server, files.contents, kinds, NAMES) as visitors, Leavers(server) as leavers:
        running = [h2load(server, targets, coding, seconds, protocol)
                   for coding in CODINGS for protocol in ('h1', 'h2')]
        said = [process.communicate(timeout=seconds + 60)[0] for process in running]
    assert visitors.wrong == []
    assert visitors.refused == visitors.again == 0
    assert min(visitors.tally) > 0 and leavers.count > 0
    return sum(map(answers, said)) + visitors.right, visitors.right, leavers.count


def test_many_clients(launch, site, files):
    files.add_large('long.txt', 2 << 20)
    server = launch(site.but(workers=THREADS))
    print('%d answers, %d compared, %d clients left' % load(server, files, 5))


@pytest.mark.plain
@pytest.mark.long
def test_memory_after_half_a_minute(launch, site, files):
    files.add_large('long.txt', 2 << 20)
    server = launch(site.but(workers=THREADS, env=NOTHING_KEPT))
    load(server, files, 15)  # so that no half is the first to use anything
    settled(server)
    memory = []
    for half in ('first', 'second'):
        counts = load(server, files, 15)
        busy = server.rss()
        memory.append(settled(server))
        print('%s half: %d answers, %d compared, %d clients left; RSS %d KB, %d KB settled'
              % (half, *counts, busy, memory[-1]))
    assert memory[1] <= memory[0] + SLACK_KB
