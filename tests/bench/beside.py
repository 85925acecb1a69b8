#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the other clients wait while one of them takes a long body that is coded as it leaves: with
the server's own module, with Terse, and with no coding, in one run."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(CHECKOUT, 'tests/hosts'), os.path.join(CHECKOUT, 'hosts')]
sys.dont_write_bytecode = True

import client  # noqa: E402
from built import Built  # noqa: E402
from contenders import MODULE, OFF, TERSE, H2oContender, LighttpdContender  # noqa: E402
from decoders import decode  # noqa: E402

TREES = ('/usr/lib/python3', '/usr/lib/python3.11', '/usr/share/perl', '/usr/include',
         '/usr/share/doc', '/usr/share/common-licenses', '/usr/share/perl5', '/usr/share/vim')
STATUS = '/terse-bench-status'


class Lighttpd(LighttpdContender):
    def lines(self):
        return [line.replace('( "mod_terse" )', '( "mod_status", "mod_terse" )')
                for line in super().lines()] + [f'status.statistics-url = "{STATUS}"']


class H2o(H2oContender):
    def lines(self):
        lines = super().lines()
        paths = next(n for n, line in enumerate(lines) if line.strip() == 'paths:')
        return [*lines[:paths + 1], f'      "{STATUS}": {{ status: ON }}', *lines[paths + 1:]]


SERVERS = {'lighttpd': Lighttpd, 'h2o': H2o}


def real_text(size):
    """Texts of this system, one after the other and no one twice; where they do not suffice, the
    words of all in other orders."""
    text = bytearray()
    for tree in TREES:
        for folder, _, names in sorted(os.walk(tree)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if len(text) >= size:
                    return bytes(text[:size])
                if not os.path.islink(path) and os.path.isfile(path):
                    with open(path, 'rb') as file:
                        data = file.read(1 << 20)
                    if data and data.count(b'\n') > len(data) / 200 and b'\0' not in data:
                        text += data
    sys.exit(f'only {len(text):,} bytes of text on this system; try a smaller --megabytes')


def longest_call(server):
    """In microseconds, as the status page has it; None where there is none."""
    try:
        body = client.h1(server.port, f'{STATUS}/json' if server.name == 'h2o' else STATUS).body
    except (OSError, client.Broken):
        return None
    for line in body.decode(errors='replace').splitlines():
        name, _, value = line.strip(' ,').partition(': ')
        if name.strip('"') == 'terse.calls.longest-us':
            return int(value)
    return None


class Beside:
    """One download, and one client that asks for a short page again and again meanwhile."""

    def __init__(self, server, folder, coding):
        self.waits, self.before, self.rss = [], server.rss(), 0
        target = os.path.join(folder, 'taken')
        begin = time.monotonic()
        command = ['curl', '-q', '-s', '-S', '--noproxy', '*', '-o', target,
                   '-H', f'Accept-Encoding: {coding}', f'http://127.0.0.1:{server.port}/long.html']
        with subprocess.Popen(command) as download:
            time.sleep(0.01)
            while not self.waits or download.poll() is None:
                self._ask(server)
        self.took = time.monotonic() - begin
        assert download.returncode == 0
        with open(target, 'rb') as file:
            self.body = file.read()

    def _ask(self, server):
        start = time.monotonic()
        answer = client.h1(server.port, '/short.html', [('Accept-Encoding', 'gzip')], timeout=120)
        self.waits.append((time.monotonic() - start) * 1000)
        assert answer.status == 200
        self.rss = max(self.rss, server.rss())
        time.sleep(0.002)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def line(role, runs, longest):
    waits = [wait for run in runs for wait in run.waits]
    grown = max(run.rss - run.before for run in runs)
    words = [f'  {role:<8}{len(waits):>7}', f'{percentile(waits, .5):>10.2f}',
             f'{percentile(waits, .99):>10.1f}', f'{max(waits):>10.1f}',
             f'{statistics.median(run.took for run in runs):>9.2f}',
             f'{len(runs[0].body) / 1e6:>9.2f}', f'{grown / 1024:>9.1f}']
    print(''.join(words) + (f'{longest / 1000:>9.2f}' if longest is not None else ''))
    return percentile(waits, .99)


def contest(cls, built, folder, root, coding, plain, rounds):
    """Rounds of one coding, the contenders in turn."""
    runs, longest = {}, {}
    for turn in range(rounds):
        for role in (MODULE, TERSE, OFF):
            place = tempfile.mkdtemp(dir=folder)
            os.chmod(place, 0o755)
            server = cls(built, place, root, role)
            server.quiet_path = '/short.html'
            server.start()
            try:
                client.h1(server.port, '/short.html', [('Accept-Encoding', 'gzip')])
                run = Beside(server, place, coding)
                time.sleep(1.2)  # some counters are of the last full second
                longest[role] = max(longest.get(role) or 0, longest_call(server) or 0) or None
            finally:
                server.stop()
            if turn == 0:
                assert decode(coding if role != OFF else None, run.body) == plain, role
            runs.setdefault(role, []).append(run)
            shutil.rmtree(place)
    print(f'\n{cls.name}, {coding}: short pages beside it, in ms; the download in s, MB, and MB of '
          f'memory grown;\nthe longest call into the plugin, ms of CPU\n'
          f'  {"":<8}{"pages":>7}{"p50":>10}{"p99":>10}{"max":>10}{"took":>9}{"bytes":>9}'
          f'{"grown":>9}{"call":>9}')
    p99 = {role: line(role, runs[role], longest[role]) for role in runs}
    print(f'  p99 with {cls.module}: {p99[MODULE] / p99[TERSE]:.0f} times that with Terse')


def main():
    parser = argparse.ArgumentParser(prog='tests/bench/beside.py', description=__doc__)
    parser.add_argument('--build', required=True, help='build folder')
    parser.add_argument('--megabytes', type=int, default=100)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--server', action='append', choices=sorted(SERVERS))
    parser.add_argument('--coding', action='append', choices=('gzip', 'br', 'zstd'))
    args = parser.parse_args()
    os.umask(0o022)
    folder = tempfile.mkdtemp(prefix='terse-beside-')
    os.chmod(folder, 0o755)
    try:
        built = Built(os.path.abspath(args.build), os.path.join(folder, 'built'))
        root, plain = os.path.join(folder, 'site'), real_text(args.megabytes * 1000000)
        os.mkdir(root)
        for name, data in (('long.html', plain), ('short.html', plain[:8192])):
            with open(os.path.join(root, name), 'wb') as file:
                file.write(data)
        print(f'{args.megabytes} MB of text; load {os.getloadavg()[0]:.1f}; {args.rounds} rounds')
        for name in args.server or sorted(SERVERS):
            for coding in args.coding or ('gzip', 'br', 'zstd'):
                if coding in SERVERS[name].levels:
                    contest(SERVERS[name], built, folder, root, coding, plain,
                            args.rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    main()
