# SPDX-License-Identifier: GPL-2.0-only
"""What guests print, and the medians of it. Pure but for reading a file."""

import json
from dataclasses import dataclass, field
from statistics import median

# An AF_SMC connection whose data goes over TCP sends at least a segment for each of these.
BYTES_PER_SEGMENT = 1 << 17


class Parser:
    """Takes the lines of guest.sh one by one; results and failures gather."""

    def __init__(self, seed, on_result=None):
        self.results = []
        self.failures = []
        self.rounds = 0
        self.after = []             # what the command at the end printed
        self._seed = seed
        self._where = None
        self._on_result = on_result

    def feed(self, line):
        if line.startswith('= '):
            self.rounds, case, variant = line[2:].split()
            self._where = {'round': int(self.rounds), 'case': case, 'variant': variant,
                           'seed': self._seed}
        elif line.startswith('! '):
            self.failures.append(line[2:].strip())
        elif line.startswith('~ ') and self.results:
            member, number = line[2:].split()
            self.results[-1][member] = float(number)
        elif line == '@after':
            self._where = None
        elif self._where is None and self.results and not line.startswith('@exit'):
            self.after.append(line)
        elif line.startswith('{'):
            self._add(dict(self._where, **json.loads(line)))

    def _add(self, result):
        if result['ops']:
            result['ns_per_op'] = result['wall_ns'] / result['ops']
        self.results.append(result)
        trouble = not_fallen_back(result) if expects_fallback(result) else not_smc(result)
        if trouble:
            self.failures.append(f'{result["round"]} {result["case"]} {result["variant"]} {trouble}')
        if self._on_result:
            self._on_result(result)


def expects_fallback(result):
    """One end has AF_SMC sockets, the other TCP sockets."""
    return result.get('family') == 'smc' and result['plain'] != 'none'


def not_fallen_back(result):
    """Why a result says nothing about connections that fell back; None if it does."""
    if result['fell_back'] != 'yes':
        return f'had to fall back to TCP (has it: {result["fell_back"]})'
    if result['test'] == 'rr' and result['tcp_segs'] < result['ops']:
        return f'sent {result["tcp_segs"]} TCP segments: its data did not go over TCP'
    return None


def not_smc(result):
    """Why a result of AF_SMC sockets says nothing about SMC; None if it does."""
    if result.get('fell_back', 'no') != 'no':
        return 'fell back to TCP'
    if result.get('family') == 'smc' and result['test'] in ('bulk', 'rr', 'oneway'):
        limit = max(20, result['bytes'] // BYTES_PER_SEGMENT)
        if result['tcp_segs'] > limit:
            return f'sent {result["tcp_segs"]} TCP segments: its data did not go over SMC'
    return None


@dataclass
class Cell:
    """All results of one case in one variant."""
    numbers: dict = field(default_factory=dict)     # member -> list

    def add(self, result):
        for member, number in result.items():
            if isinstance(number, (int, float)):
                self.numbers.setdefault(member, []).append(number)
        if result.get('requests_per_s'):
            self.numbers.setdefault('ns_per_request', []).append(1e9 / result['requests_per_s'])

    def value(self, value):
        """What stands for all rounds, in the unit of the value; None if there is nothing."""
        numbers = self.numbers.get(value.member)
        if not numbers:
            return None
        if not value.worst:
            number = median(numbers)
        else:
            number = min(numbers) if value.more_is_better else max(numbers)
        return number * value.scale

    def spread(self, value):
        """Largest distance from the median, relative to it."""
        numbers = self.numbers.get(value.member)
        if not numbers or value.worst or not median(numbers):
            return 0.0
        return max(abs(number / median(numbers) - 1) for number in numbers)


def collect(results):
    """{(case, variant): Cell}"""
    cells = {}
    for result in results:
        cells.setdefault((result['case'], result['variant']), Cell()).add(result)
    return cells


def read(path):
    """The results of an earlier run, and what was noted about it."""
    notes, results = {}, []
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        if 'notes' in entry:
            notes = entry['notes']
        else:
            results.append(entry)
    return notes, results
