# SPDX-License-Identifier: MIT
"""From samples to figures: what coding added, and how two contenders compare."""
import math
import statistics
from dataclasses import dataclass

from contenders import AGAIN, LEVEL, MODULE, OFF, TERSE

SAME = 'no difference'


@dataclass(frozen=True)
class Ratio:
    """The module's added CPU by another's: 2 means that the other adds half as much."""
    middle: float
    low: float
    high: float
    verdict: str = ''

    def __str__(self):
        return self.verdict or f'{self.middle:.2f}x'

    @property
    def spread(self):
        return f'{_short(self.low)}-{_short(self.high)}'


def _short(value):
    return 'inf' if math.isinf(value) else f'{value:.2f}'


def quantile(values, share):
    """By the nearest rank: it must not calculate with infinite values."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def added(cell, role):
    """What coding cost a response, round by round, in microseconds."""
    off = cell.contenders[OFF].cpu_us
    return [cost - base for cost, base in zip(cell.contenders[role].cpu_us, off)]


def _paired(module, other):
    """Ratios of each round. A contender that added nothing measurable is infinitely better."""
    ratios = []
    for a, b in zip(module, other):
        if a <= 0:
            ratios.append(0.0 if b > 0 else 1.0)
        else:
            ratios.append(a / b if b > 0 else math.inf)
    return ratios


def _quartiles(ratios, verdict=''):
    low, middle, high = (quantile(ratios, share) for share in (0.25, 0.5, 0.75))
    return Ratio(middle, low, high, verdict)


def compare(cell, role):
    """The paired ratio of a contender; None when it did not run."""
    if role not in cell.contenders or MODULE not in cell.contenders:
        return None
    ratio = _quartiles(_paired(added(cell, MODULE), added(cell, role)))
    if role == AGAIN:
        return ratio
    floor = compare(cell, AGAIN)
    # the A/A row has no side: 0.9 in it says as much as 1.11
    noise = max(floor.high, 1 / floor.low if floor.low > 0 else math.inf)
    if ratio.low <= 1 <= ratio.high or 1 / noise <= ratio.middle <= noise:
        return Ratio(ratio.middle, ratio.low, ratio.high, SAME)
    return ratio


def bytes_against_module(cell, role):
    """Coded bytes, in percent more or less than the module's."""
    if role not in cell.contenders:
        return None
    return 100 * (cell.contenders[role].bytes / cell.contenders[MODULE].bytes - 1)


def median_added(cell, role):
    return statistics.median(added(cell, role)) if role in cell.contenders else None


def faults_added(cell, role):
    if role not in cell.contenders:
        return None
    off = cell.contenders[OFF].faults
    return statistics.median(a - b for a, b in zip(cell.contenders[role].faults, off))


def _ratio_as_dict(ratio):
    if ratio is None:
        return None
    numbers = {'median': ratio.middle, 'low': ratio.low, 'high': ratio.high}
    finite = {key: None if math.isinf(value) else value for key, value in numbers.items()}
    return {**finite, 'no_difference': bool(ratio.verdict)}


def as_dict(cell):
    """A cell for the JSON file: figures, and the samples that they are from."""
    ratios = {role: _ratio_as_dict(compare(cell, role)) for role in (TERSE, LEVEL, AGAIN)}
    contenders = {role: {
        'requests_of_a_block': samples.requests,
        'bytes': samples.bytes,
        'added_us': median_added(cell, role),
        'added_faults': faults_added(cell, role),
        'cpu_us_by_round': samples.cpu_us,
        'faults_by_round': samples.faults,
    } for role, samples in cell.contenders.items()}
    return {'server': cell.server, 'coding': cell.coding, 'size': cell.size,
            'bodies': cell.bodies, 'left_out': cell.left_out, 'answers_compared': cell.answers,
            'ratio_to_module': ratios, 'contenders': contenders}
