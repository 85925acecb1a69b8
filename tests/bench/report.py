# SPDX-License-Identifier: MIT
"""The plain table, and the JSON file."""
import json
import os
import platform

from contenders import AGAIN, LEVEL, MODULE, OFF, TERSE, built_versions, version_of
from cost import page_fault_us
from figures import as_dict, bytes_against_module, compare, faults_added, median_added

CODECS = ('zlib1g', 'libdeflate0', 'libbrotli1', 'libzstd1')
COLUMNS = (
    # title, width
    ('coding', -7), ('size', -6), ('Terse', 14), ('spread', 10), ('bytes', 8),
    ('levels', 14), ('spread', 10), ('bytes', 8), ('A/A', 10),
    ('module', 8), ('Terse', 8), ('levels', 8), ('off', 7), ('module', 7), ('Terse', 7))
GROUPS = ((14, ''), (35, 'default settings'), (35, "at the module's levels"), (11, 'noise'),
          (35, 'CPU us a response (added; off)'), (16, 'page faults added'))


def _cpu_model():
    with open('/proc/cpuinfo', encoding='ascii', errors='replace') as info:
        for line in info:
            if line.startswith('model name'):
                return line.split(':', 1)[1].strip()
    return platform.machine()


def surroundings(args, plan, built, contests):
    packages = sorted({package for cls in contests for package in cls.packages} | set(CODECS))
    return {
        'machine': _cpu_model(), 'cores': os.cpu_count(), 'kernel': platform.release(),
        'load_average_at_start': round(os.getloadavg()[0], 2),
        'page_fault_us': round(page_fault_us(), 2),
        'mode': 'smoke' if args.smoke else 'quick', 'connections': plan.connections,
        'packages': {package: version_of(package) for package in packages},
        'terse': built_versions(built),
        'levels_of_modules': {cls.name: cls.levels for cls in contests},
        'levels_of_terse': {'default settings': 'auto',
                            **{cls.name: cls.settings for cls in contests}},
    }


def write_json(path, about, cells):
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'about': about, 'cells': [as_dict(cell) for cell in cells]}, file, indent=1)
        file.write('\n')


def _row(values):
    return ' '.join(f'{value:<{-width}}' if width < 0 else f'{value:>{width}}'
                    for value, (_, width) in zip(values, COLUMNS)).rstrip()


def _head():
    groups = ' '.join(f'{title:^{width - 1}}' for width, title in GROUPS)
    return [groups.rstrip(), _row([title for title, _ in COLUMNS])]


def _number(value, form):
    return '-' if value is None else format(value, form)


def _columns_of(cell, role, missing):
    ratio = compare(cell, role)
    if ratio is None:
        return [missing, '-', '-']
    return [str(ratio), ratio.spread, _number(bytes_against_module(cell, role), '+.1f') + ' %']


def _cell_row(cell, missing):
    if not cell.bodies:
        return _row([cell.coding, cell.size, 'not coded'] + ['-'] * (len(COLUMNS) - 3))
    off = sorted(cell.contenders[OFF].cpu_us)
    return _row([
        cell.coding, cell.size,
        *_columns_of(cell, TERSE, missing), *_columns_of(cell, LEVEL, missing),
        compare(cell, AGAIN).spread,
        *(_number(median_added(cell, role), '.1f') for role in (MODULE, TERSE, LEVEL)),
        f'{off[len(off) // 2]:.1f}',
        *(_number(faults_added(cell, role), '.2f') for role in (MODULE, TERSE))])


def _left_out(cells):
    return [f'  {cell.coding} {cell.size}: {len(cell.left_out)} of '
            f'{cell.bodies + len(cell.left_out)} bodies left out, which some contender '
            f'does not code: {", ".join(cell.left_out)}' for cell in cells if cell.left_out]


def table(cls, cells, missing):
    """The lines of one server."""
    levels = ', '.join(f'{coding} {level}' for coding, level in cls.levels.items())
    title = (f'{cls.name} {version_of(cls.packages[0])}: {cls.module} ({levels}) '
             'against Terse (auto)')
    rows = [_cell_row(cell, missing) for cell in cells]
    return [title, *_head(), *rows, *_left_out(cells), '']


def byte_table(cls, cells):
    """What a smoke test can tell: that all was coded, and how small."""
    lines = [f'{cls.name}: mean bytes of a body, each answer decoded or compared; no timing']
    for cell in cells:
        sizes = ', '.join(f'{role} {samples.bytes:.0f}'
                          for role, samples in cell.contenders.items())
        lines.append(f'  {cell.coding:<5}{cell.size:<6} {cell.bodies} bodies: {sizes}')
    return lines + _left_out(cells) + ['']


def heading(about):
    terse = about['terse']
    return [
        f'{about["machine"]}, {about["cores"]} cores, load average {about["load_average_at_start"]}'
        f' at start; {about["connections"]} connections; a page fault costs '
        f'{about["page_fault_us"]} us here',
        f'Terse {terse.get("plugin", "?")} (build {terse.get("build", "?")}); ' +
        ', '.join(f'{name} {about["packages"][name]}' for name in CODECS),
        "A ratio is the module's added CPU by the contender's: 2.00x adds half as much.",
        'Spread: quartiles of the rounds. A/A: the module against itself, in two processes.', '']
