# SPDX-License-Identifier: MIT
"""The benchmark's own arithmetic, and that it refuses wrong bodies.  No timing."""
import math
import os
import socketserver
import subprocess
import sys
import threading
import zlib
from types import SimpleNamespace

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(CHECKOUT, 'tests/hosts'), os.path.join(CHECKOUT, 'hosts')]

from coded_origin import CodedOrigin  # noqa: E402
from contenders import AGAIN, LEVEL, MODULE, OFF, TERSE  # noqa: E402
from cost import cost_of  # noqa: E402
from decoding import DIRECTIONS, Client  # noqa: E402
from figures import SAME, added, bytes_against_module, compare, faults_added  # noqa: E402
from load import Load, Reference, Void  # noqa: E402
from measure import Cell, Samples  # noqa: E402


def cell_of(**cpu):
    """A cell from microseconds of each round."""
    roles = {'module': MODULE, 'again': AGAIN, 'terse': TERSE, 'level': LEVEL, 'off': OFF}
    cell = Cell('server', 'gzip', '1 KB', bodies=1)
    for name, rounds in cpu.items():
        cell.contenders[roles[name]] = Samples(10, 100, list(rounds), [0.0] * len(rounds))
    return cell


STEADY = {'module': [110] * 5, 'again': [110] * 5, 'off': [10] * 5}


def test_off_is_taken_off():
    cell = cell_of(module=[30, 31, 29], off=[10, 11, 9])
    assert added(cell, MODULE) == [20, 20, 20]


def test_half_the_cost_is_2x():
    ratio = compare(cell_of(**STEADY, terse=[60] * 5), TERSE)
    assert (str(ratio), ratio.low, ratio.high) == ('2.00x', 2.0, 2.0)


def test_slower_is_below_1():
    assert str(compare(cell_of(**STEADY, terse=[210] * 5), TERSE)) == '0.50x'


def test_a_ratio_inside_its_spread_is_no_difference():
    assert str(compare(cell_of(**STEADY, terse=[80, 90, 100, 150, 160]), TERSE)) == SAME


@pytest.mark.parametrize('again', [[130] * 5, [94] * 5])
def test_a_ratio_inside_the_noise_floor_is_no_difference(again):
    """Whichever of the two equal processes was the slower."""
    cell = cell_of(**{**STEADY, 'again': again}, terse=[105] * 5)
    assert str(compare(cell, TERSE)) == SAME
    assert str(compare(cell_of(**STEADY, terse=[105] * 5), TERSE)) == '1.05x'


def test_nothing_measurable_is_not_a_number_of_times():
    ratio = compare(cell_of(**STEADY, terse=[10, 9, 11, 10, 10]), TERSE)
    assert math.isinf(ratio.middle)


def test_not_there_is_none():
    cell = cell_of(**STEADY)
    assert compare(cell, TERSE) is None
    assert bytes_against_module(cell, TERSE) is None
    assert faults_added(cell, TERSE) is None


def test_cost_sees_cpu_and_faults():
    before = cost_of(os.getpid())
    pages = bytearray(8 << 20)
    pages[::4096] = b'1' * len(pages[::4096])
    sum(range(2_000_000))
    spent = cost_of(os.getpid()) - before
    assert spent.cpu_ns > 1_000_000
    assert spent.faults > 0


# ---- bodies --------------------------------------------------------------------------------------

PLAIN = b'<p>Nothing but the truth.</p>\n' * 40


def answer_of(body, coding='gzip'):
    return (f'HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n'
            f'Content-Length: {len(body)}\r\n\r\n').encode() + body


def gzip_of(data):
    coder = zlib.compressobj(6, zlib.DEFLATED, 31)
    return coder.compress(data) + coder.flush()


class Script(socketserver.ThreadingTCPServer):
    """Answers with what it is told, in turn; the last for ever."""
    daemon_threads = True

    def __init__(self, answers):
        super().__init__(('127.0.0.1', 0), ScriptHandler)
        self.answers, self.port = list(answers), self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class ScriptHandler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            if line == b'\r\n':
                answers = self.server.answers
                self.wfile.write(answers.pop(0) if len(answers) > 1 else answers[0])


@pytest.fixture
def script():
    servers = []

    def start(*answers):
        servers.append(Script(answers))
        return servers[-1].port

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


RIGHT = answer_of(gzip_of(PLAIN))
OTHER = bytearray(RIGHT)
OTHER[-1] ^= 1


@pytest.mark.parametrize('wrong', [
    answer_of(gzip_of(PLAIN[:-1])), bytes(OTHER), answer_of(gzip_of(PLAIN) + b'x'),
    answer_of(b''), RIGHT.replace(b'200 OK', b'404 No')])
def test_a_first_answer_that_is_wrong_voids_the_run(script, wrong):
    with pytest.raises(Void):
        Reference(script(wrong), '/page', PLAIN, 'gzip')


def test_a_later_answer_that_is_wrong_voids_the_run(script):
    port = script(RIGHT, RIGHT, bytes(OTHER), RIGHT)
    reference = Reference(port, '/page', PLAIN, 'gzip')
    assert (reference.coding, reference.length) == ('gzip', len(gzip_of(PLAIN)))
    with Load(port, [reference], 1) as load:
        load.run(1)
        with pytest.raises(Void):
            load.run(1)


def test_right_answers_pass(script):
    port = script(RIGHT)
    with Load(port, [Reference(port, '/page', PLAIN, 'gzip')], 4) as load:
        load.run(30)


# ---- all of it -----------------------------------------------------------------------------------

def test_smoke(request):
    """Every server, coding and size: a few requests each, all bodies right."""
    build = request.config.getoption('--build')
    done = subprocess.run([os.path.join(HERE, 'run'), '--smoke',
                           *(['--build', build] if build else [])],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'none wrong' in done.stdout
    assert 'left out' not in done.stdout


@pytest.mark.parametrize('server', ['lighttpd', 'h2o'])
def test_beside_smoke(request, server):
    build = request.config.getoption('--build') or os.path.join(CHECKOUT, 'build-bench')
    done = subprocess.run([os.path.join(HERE, 'beside.py'), '--build', build, '--megabytes', '5',
                           '--rounds', '1', '--server', server, '--coding', 'gzip'],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'times that with Terse' in done.stdout


def decoding(request):
    build = request.config.getoption('--build') or os.path.join(CHECKOUT, 'build-bench')
    return subprocess.run([os.path.join(HERE, 'decoding.py'), '--build', build, '--rounds', '1',
                           '--block-seconds', '0', '--size', '16 KB'],
                          capture_output=True, text=True, timeout=120, check=False)


def test_decoding_smoke(request):
    """Both directions; nginx and Apache where they are installed."""
    done = decoding(request)
    assert done.returncode == 0, done.stdout + done.stderr
    for direction in ('responses', 'requests'):
        part = done.stdout.partition(f'{direction}, 16 KB')[2].partition('\n\n')[0]
        for server in ('lighttpd', 'h2o'):
            assert f'{server:<9}Terse' in part


@pytest.fixture
def flawed():
    """An origin whose coded bodies decode to something else."""
    origin = CodedOrigin({'1.html': PLAIN})
    origin.answers['gzip/1.html'] = answer_of(gzip_of(PLAIN[:-1]))
    with origin:
        yield origin


def test_a_relay_that_gives_another_body_voids_the_run(flawed):
    relay = SimpleNamespace(name='origin', port=flawed.port, pid=os.getpid())
    client = Client(relay)
    client.run(DIRECTIONS['responses']('plain', [('1.html', PLAIN)]), 2)
    client.run(DIRECTIONS['requests']('pass', [('1.html', PLAIN)]), 2)
    for way in ('decode', 'pass'):
        with pytest.raises(Void):
            client.run(DIRECTIONS['responses'](way, [('1.html', PLAIN)]), 1)
    with pytest.raises(Void):  # nobody has decoded it
        client.run(DIRECTIONS['requests']('decode', [('1.html', PLAIN)]), 1)
    client.connection.close()
