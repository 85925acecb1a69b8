# SPDX-License-Identifier: MIT
"""What a process has cost so far, from the kernel's own counters."""
import mmap
import os
import statistics
import time
from dataclasses import dataclass

MINFLT = 7  # of /proc/PID/stat, counted from the state (proc(5))


@dataclass(frozen=True)
class Cost:
    cpu_ns: int
    faults: int

    def __sub__(self, before):
        return Cost(self.cpu_ns - before.cpu_ns, self.faults - before.faults)


def _read(path):
    with open(path, encoding='ascii', errors='replace') as file:
        return file.read()


def cost_of(pid):
    """CPU time of all threads, user and system, in ns; minor page faults."""
    tasks = f'/proc/{pid}/task'
    cpu = sum(int(_read(f'{tasks}/{task}/schedstat').split()[0]) for task in os.listdir(tasks))
    # the name before the state may hold spaces and parentheses
    fields = _read(f'/proc/{pid}/stat').rpartition(')')[2].split()
    return Cost(cpu, int(fields[MINFLT]))


def page_fault_us():
    """What a minor fault on fresh memory costs on this machine."""
    size = 64 * mmap.PAGESIZE
    filling = bytes(size)
    costs = []
    for _ in range(50):
        with mmap.mmap(-1, size) as memory:
            taken = []
            for _ in range(2):  # only the first writing faults
                memory.seek(0)
                begin = time.thread_time_ns()
                memory.write(filling)
                taken.append(time.thread_time_ns() - begin)
            costs.append((taken[0] - taken[1]) / 64 / 1000)
    return statistics.median(costs)
