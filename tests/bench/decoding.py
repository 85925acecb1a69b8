#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What decoding costs a proxy: Terse on lighttpd and H2O, nginx's gunzip, Apache's mod_deflate, on
the same gzip bodies from the same origin (and to it), in one run."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(CHECKOUT, 'tests/hosts'), os.path.join(CHECKOUT, 'hosts')]
sys.dont_write_bytecode = True

from bodies import SIZES, json_bodies, write_site  # noqa: E402
from built import Built  # noqa: E402
from client import Connection, request_bytes  # noqa: E402
from coded_origin import CodedOrigin, account_of, gzip_of  # noqa: E402
from contenders import version_of  # noqa: E402
from cost import cost_of  # noqa: E402
from figures import quantile  # noqa: E402
from load import TIMEOUT, Void  # noqa: E402
from relays import RELAYS  # noqa: E402

LONG_JSON = '127 KB JSON'
CLASSES = ('1 KB', '16 KB', '64 KB', LONG_JSON)
# decoded; passed on as it came; passed on, and plain from the start
DECODE, PASS, PLAIN = 'decode', 'pass', 'plain'
WAYS = (DECODE, PASS, PLAIN)


# ---- exchanges: (bytes of a request, coding and body of the answer that is right) ---------------

def responses(way, bodies):
    """The client takes no coding, but where it is passed on."""
    made = []
    for name, body in bodies:
        scope = 'decode' if way == DECODE else 'pass'
        accepts = 'gzip' if way == PASS else 'identity'
        path = f'/{scope}/{"plain" if way == PLAIN else "gzip"}/{name}'
        right = ('gzip', gzip_of(body)) if way == PASS else (None, body)
        made.append((request_bytes(path, [('Accept-Encoding', accepts)]), right))
    return made


def requests(way, bodies):
    """The origin says what came; its header is not asked: Apache still calls it gzip."""
    made = []
    for _, body in bodies:
        sent = body if way == PLAIN else gzip_of(body)
        arrives = account_of(sent if way == PASS else body)
        headers = [('Accept-Encoding', 'identity'), ('Content-Type', 'application/json')]
        headers += [] if way == PLAIN else [('Content-Encoding', 'gzip')]
        path = '/decode/sink' if way == DECODE else '/pass/sink'
        made.append((request_bytes(path, headers, 'POST', body=sent), (None, arrives)))
    return made


DIRECTIONS = {'responses': responses, 'requests': requests}


class Client:
    """One connection that is kept; each answer is compared with what is right."""

    def __init__(self, relay):
        self.relay, self.connection = relay, Connection(relay.port, TIMEOUT)

    def run(self, exchanges, n):
        for i in range(n):
            sent, (coding, body) = exchanges[i % len(exchanges)]
            self.connection.socket.sendall(sent)
            answer = self.connection.answer()
            if (answer.status, answer.coding, answer.body) != (200, coding, body):
                first = sent.partition(b'\r\n')[0].decode()
                raise Void(f'{self.relay.name}, {first}: {answer} is wrong')

    def cost(self, exchanges, n):
        """CPU of the server for each of n exchanges, in microseconds."""
        before = cost_of(self.relay.pid)
        self.run(exchanges, n)
        return (cost_of(self.relay.pid) - before).cpu_ns / 1000 / n


# ---- measuring -----------------------------------------------------------------------------------

class Cell:
    """One direction and class of bodies: the servers in turn, round after round."""

    def __init__(self, direction, bodies, clients, plan):
        self.clients, self.plan = clients, plan
        self.ways = {way: DIRECTIONS[direction](way, bodies) for way in WAYS}
        self.n = {client: self._block(client, len(bodies)) for client in clients}
        self.samples = {client: {way: [] for way in WAYS} for client in clients}
        self.again = {client: [] for client in clients}
        for _ in range(plan.rounds):
            for client in clients:
                self._round(client)

    def _block(self, client, kinds):
        """Warms the server up in every way; exchanges of a block, each body equally often."""
        for exchanges in self.ways.values():
            client.run(exchanges, kinds)
        begin = time.monotonic()
        client.run(self.ways[DECODE], kinds)
        each = (time.monotonic() - begin) / kinds
        return max(round(self.plan.block_seconds / each / kinds), 1) * kinds

    def _round(self, client):
        """Each way there and back, so that a steady drift cancels."""
        halves = {way: [] for way in WAYS}
        for way in WAYS + WAYS[::-1]:
            halves[way].append(client.cost(self.ways[way], self.n[client]))
        for way, costs in halves.items():
            self.samples[client][way].append(statistics.mean(costs))
        self.again[client].append(halves[DECODE][0] - halves[DECODE][1])

    def median(self, client, way):
        return statistics.median(self.samples[client][way])

    def over(self, client, base):
        """What decoding costs more than another way, round by round."""
        samples = self.samples[client]
        return [a - b for a, b in zip(samples[DECODE], samples[base])]


def _spread(values):
    low, high = (quantile(values, share) for share in (0.25, 0.75))
    return f'{low:.0f} to {high:.0f}'


def _ratio(cell, client, other):
    """Of what is added, round by round: 2 means that the other adds twice as much."""
    pairs = zip(cell.over(other, PASS), cell.over(client, PASS))
    ratios = [a / b for a, b in pairs if b > 0]
    if not ratios:
        return '-'
    low, middle, high = (quantile(ratios, share) for share in (0.25, 0.5, 0.75))
    return f'{middle:.2f}x ({low:.2f} to {high:.2f})'


def _line(cell, client, others):
    added = cell.over(client, PASS)
    words = [f'  {client.relay.name:<9}{client.relay.decoder:<12}',
             *(f'{cell.median(client, way):>8.1f}' for way in WAYS),
             f'{statistics.median(added):>9.1f}{_spread(added):>13}',
             f'{statistics.median(cell.over(client, PLAIN)):>9.1f}',
             f'{max(map(abs, cell.again[client])):>7.1f}']
    if client.relay.decoder == 'Terse':
        words += [f'  {_ratio(cell, client, other):>22}' for other in others]
    return ''.join(words)


def table(direction, name, cell, mean):
    others = [client for client in cell.clients if client.relay.decoder != 'Terse']
    head = (f'  {"":<21}{"decode":>8}{"pass":>8}{"plain":>8}{"added":>9}{"quartiles":>13}'
            f'{"to plain":>9}{"A/A":>7}' +
            ''.join(f'  {"of " + other.relay.name:>22}' for other in others))
    return [f'{direction}, {name} (gzip: {mean:.0f} bytes); CPU us of the server for each', head,
            *(_line(cell, client, others) for client in cell.clients), '']


# ---- all of it -----------------------------------------------------------------------------------

def prepared(what):
    """A folder that prepare.sh fills."""
    done = subprocess.run([os.path.join(HERE, 'prepare.sh'), what], stdout=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f'tests/bench/decoding.py: there is no {what} to run with')
    return done.stdout.strip()


def bodies_of(args, folder):
    """{class: [(name, bytes)]}, names unlike one another."""
    share = os.path.join(prepared('bodies'), 'usr/share')
    site = write_site(share, os.path.join(folder, 'site'))
    found = {size: [(path.strip('/'), body) for path, body in site[size]] for size in SIZES}
    found[LONG_JSON] = [(f'long/{name}', body) for name, body in json_bodies(share, 127 << 10)]
    return {name: found[name] for name in args.size or CLASSES}


def start(cls, built, folder, origin, core, stack):
    place = os.path.join(folder, cls.name)
    os.makedirs(place)
    relay = cls(built, place, origin.port)
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})  # which the server inherits
    try:
        stack.callback(relay.stop)
        relay.start()
    finally:
        os.sched_setaffinity(0, mine)
    client = Client(relay)
    stack.callback(client.connection.close)  # before the server ends
    return client


def bench(args, folder):
    build = args.build or prepared('build')
    built = Built(os.path.abspath(build), os.path.join(folder, 'built'))
    bodies = bodies_of(args, folder)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0]})
    lines = []
    with ExitStack() as stack:
        everything = {name: body for pairs in bodies.values() for name, body in pairs}
        origin = stack.enter_context(CodedOrigin(everything))
        missing = {cls: cls.missing(built) for cls in RELAYS}
        clients = [start(cls, built, folder, origin, cores[-1], stack)
                   for cls in RELAYS if not missing[cls]]
        for direction in args.direction or DIRECTIONS:
            able = [client for client in clients if getattr(client.relay, direction)]
            for name, pairs in bodies.items():
                cell = Cell(direction, pairs, able, args)
                mean = statistics.mean(len(gzip_of(body)) for _, body in pairs)
                lines += table(direction, name, cell, mean)
    lines += [f'{cls.name}: left out, {why}' for cls, why in missing.items() if why]
    versions = [f'{package} {version_of(package)}' for cls in RELAYS if not missing[cls]
                for package in cls.packages or (cls.name,)]
    print('\n'.join([', '.join(versions) + f'; load {os.getloadavg()[0]:.1f}', '', *lines]))


def arguments():
    parser = argparse.ArgumentParser(prog='tests/bench/decoding.py', description=__doc__)
    parser.add_argument('--build', help='build folder (default: build-bench, made when needed)')
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--block-seconds', type=float, default=0.05)
    parser.add_argument('--size', action='append', choices=CLASSES)
    parser.add_argument('--direction', action='append', choices=sorted(DIRECTIONS))
    return parser.parse_args()


def main():
    args = arguments()
    os.umask(0o022)
    folder = tempfile.mkdtemp(prefix='terse-decoding-')
    os.chmod(folder, 0o755)
    try:
        bench(args, folder)
    except (Void, AssertionError) as error:  # the latter: a server did not start, or died
        print(f'VOID: {error}', file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
