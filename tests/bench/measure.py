# SPDX-License-Identifier: MIT
"""One cell: a server, a coding, a size; its contenders in turn, there and back (A B ... B A), round
after round."""
import time
from contextlib import ExitStack
from dataclasses import dataclass, field

from contenders import OFF, ORDER
from cost import cost_of
from load import Load, Reference


@dataclass(frozen=True)
class Plan:
    connections: int = 8
    rounds: int = 9
    least_rounds: int = 5
    block_seconds: float = 0.04  # of one contender, before the next one
    cell_seconds: float = 7.0  # after which no round begins
    least_requests: int = 20

    @classmethod
    def smoke(cls):
        return cls(rounds=1, least_rounds=1, block_seconds=0, least_requests=10)


@dataclass
class Samples:
    """Of one contender: what a response cost, once a round."""
    requests: int = 0  # of one block
    bytes: float = 0.0  # of one coded body
    cpu_us: list = field(default_factory=list)
    faults: list = field(default_factory=list)


@dataclass
class Cell:
    server: str
    coding: str
    size: str
    contenders: dict = field(default_factory=dict)  # role: Samples
    left_out: list = field(default_factory=list)  # paths that some contender does not code
    bodies: int = 0
    answers: int = 0  # compared


def _references(contest, coding, bodies):
    """{role: [Reference]} of the bodies that all contenders code, and the paths of the others."""
    every = {role: [Reference(server.port, path, plain, coding) for path, plain in bodies]
             for role, server in contest.running.items()}
    asked = {role: None if role == OFF else coding for role in every}
    coded = [n for n in range(len(bodies))
             if all(refs[n].coding == asked[role] for role, refs in every.items())]
    kept = {role: [refs[n] for n in coded] for role, refs in every.items()}
    return kept, [bodies[n][0] for n in range(len(bodies)) if n not in coded]


def _whole_rotations(requests, kinds, least):
    """At least so many requests, each body equally often."""
    return max(-(-max(requests, least) // kinds), 1) * kinds


def _block(server, load, requests):
    before = cost_of(server.pid)
    load.run(requests)
    return cost_of(server.pid) - before


def _block_length(load, kinds, plan):
    """Warms the server up, and finds how many requests fill a block."""
    few = _whole_rotations(0, kinds, plan.least_requests)
    load.run(few)
    begin = time.monotonic()
    load.run(few)
    each = (time.monotonic() - begin) / few
    return _whole_rotations(int(plan.block_seconds / each), kinds, plan.least_requests)


def _round(contest, loads, cell):
    """Each contender twice, in mirrored order, so that a steady drift of the machine cancels."""
    sums = {role: [0, 0] for role in loads}
    there = [role for role in ORDER if role in loads]
    for role in there + there[::-1]:
        cost = _block(contest.running[role], loads[role], cell.contenders[role].requests)
        sums[role][0] += cost.cpu_ns
        sums[role][1] += cost.faults
        cell.answers += cell.contenders[role].requests
    for role, (cpu_ns, faults) in sums.items():
        samples = cell.contenders[role]
        samples.cpu_us.append(cpu_ns / 1000 / (2 * samples.requests))
        samples.faults.append(faults / (2 * samples.requests))


def measure(contest, coding, size, bodies, plan):
    cell = Cell(contest.cls.name, coding, size)
    references, cell.left_out = _references(contest, coding, bodies)
    cell.bodies = kinds = len(bodies) - len(cell.left_out)
    if not kinds:
        return cell
    with ExitStack() as stack:
        loads = {}
        for role, refs in references.items():
            load = Load(contest.running[role].port, refs, plan.connections)
            loads[role] = stack.enter_context(load)
            cell.contenders[role] = Samples(_block_length(load, kinds, plan),
                                            sum(ref.length for ref in refs) / kinds)
        end = time.monotonic() + plan.cell_seconds
        for n in range(plan.rounds):
            if n >= plan.least_rounds and time.monotonic() > end:
                break
            _round(contest, loads, cell)
    return cell
