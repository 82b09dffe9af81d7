# SPDX-License-Identifier: GPL-2.0-only
"""What tests cost, and what those of "make test" may cost: tests/budget.txt, which "make test-all" checks."""

import json
import math
import os
import statistics

LIMITS = 'tests/budget.txt'
DEAR = 20               # seconds of a processor; a test that takes less needs no line
TIMES = 'times.json'    # in the cache
DAILY, OTHER = 'daily', 'other'


def finite(number):
    """JSON as Python reads it has NaN and Infinity."""
    if not math.isfinite(number):
        raise ValueError(number)
    return float(number)


class Times:
    """
    Seconds, and seconds of a processor, of each test of a checkout when it last ran: in the last "make test"
    without a failure, and apart from that in any other run, where it may be larger.
    """

    def __init__(self, cache, tree):
        self.path = cache / TIMES
        self.known = {'tree': str(tree), DAILY: {}, OTHER: {}}
        try:
            known = json.loads(self.path.read_text(encoding='utf-8'))
            if known['tree'] == str(tree):
                self.known.update({kind: {name: [finite(seconds), finite(processor)]
                                          for name, (seconds, processor) in known[kind].items()}
                                   for kind in (DAILY, OTHER)})
        except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError,
                RecursionError):
            pass    # as if nothing had been measured

    def keep(self, costs, kind):
        """@costs: (name, seconds, processor seconds); those of a "make test" are all that it has."""
        if kind == DAILY:
            self.known[kind] = {}
        self.known[kind].update({name: rest for name, *rest in costs})
        new = self.path.with_name(f'{TIMES}.{os.getpid()}')      # a full disk must not cost the old ones
        try:
            new.write_text(json.dumps(self.known, indent=1), encoding='utf-8')
            new.replace(self.path)
        finally:
            new.unlink(missing_ok=True)


def read(path):
    """The limits: seconds of a processor by name of the test."""
    limits = {}
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            words = line.split(None, 1)
            if not words or words[0].startswith('#'):
                continue
            if len(words) < 2 or not words[0].isdecimal() or not int(words[0]):
                raise ValueError(f'{path}:{number}: not "SECONDS NAME"')
            limits[words[1].strip()] = int(words[0])
    return limits


def slowness(limits, times):
    """
    How much slower than the one for which the limits were made this machine is, or was because of others: 1
    unless most tests take longer than they should, which is two thirds of their limits.
    """
    return max(1, statistics.median([1.5 * times[name][1] / limit for name, limit in limits.items()
                                     if name in times] or [1]))


def judge(limits, times, may_be_absent):
    """
    TAP lines: a test point for each limit, and one for each test that is dear and has none.
    @may_be_absent tells whether a test with this name does not run in each "make test".
    """
    if not times:
        return ['1..1', 'ok 1 - budget # SKIP no times of a "make test" in this checkout that passed']
    slower = slowness(limits, times)
    points = []
    for name, limit in limits.items():
        if name in times:
            points.append((name, times[name][1] <= limit * slower,
                           f'{times[name][1]:.0f} s, may take {limit * slower:.0f}'))
        elif not may_be_absent(name):
            points.append((name, False, f'no test of this name in the last "make test": {LIMITS}'))
    points += [(name, False, f'{cost[1]:.0f} s of a processor, and no line in {LIMITS}')
               for name, cost in times.items() if name not in limits and cost[1] > DEAR * slower]
    lines = [f'1..{len(points)}']
    for number, (name, good, why) in enumerate(points, 1):
        lines.append(f'{"ok" if good else "not ok"} {number} - {name}')
        if not good:
            lines.append(f'# {why}')
    return lines
