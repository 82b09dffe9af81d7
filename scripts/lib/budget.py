# SPDX-License-Identifier: GPL-2.0-only
"""What tests cost, and what those of "make test" may cost: tests/budget.txt, which "make test-all" checks."""

import json
import os

LIMITS = 'tests/budget.txt'
DEAR = 20               # seconds of a processor; a test that takes less needs no line
TIMES = 'times.json'    # in the cache
DAILY, FULL = 'daily', 'full'


class Times:
    """
    Seconds, and seconds of a processor, of each test when it last ran: in the last "make test", and apart
    from that in any other run, where it may be larger.
    """

    def __init__(self, cache):
        self.path = cache / TIMES
        try:
            known = json.loads(self.path.read_text(encoding='utf-8'))
            self.known = {kind: dict(known[kind]) for kind in (DAILY, FULL)}
        except (OSError, ValueError, TypeError, KeyError):
            self.known = {DAILY: {}, FULL: {}}

    def keep(self, costs, kind, is_whole):
        """@costs: (name, seconds, processor seconds); a whole run leaves nothing of an earlier one."""
        if is_whole:
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
            if len(words) < 2 or not words[0].isdigit():
                raise ValueError(f'{path}:{number}: not "SECONDS NAME"')
            limits[words[1].strip()] = int(words[0])
    return limits


def judge(limits, times, may_be_absent):
    """
    TAP lines: a test point for each limit, and one for each test that is dear and has none.
    @may_be_absent tells whether a test with this name does not run in each "make test".
    """
    if not times:
        return ['1..1', 'ok 1 - budget # SKIP "make test" has not run here, so nothing is measured']
    points = []
    for name, limit in limits.items():
        if name in times:
            points.append((name, times[name][1] <= limit, f'{times[name][1]:.0f} s, may take {limit}'))
        elif not may_be_absent(name):
            points.append((name, False, f'no test of this name in the last "make test": {LIMITS}'))
    points += [(name, False, f'{cost[1]:.0f} s of a processor, and no line in {LIMITS}')
               for name, cost in times.items() if name not in limits and cost[1] > DEAR]
    lines = [f'1..{len(points)}']
    for number, (name, good, why) in enumerate(points, 1):
        lines.append(f'{"ok" if good else "not ok"} {number} - {name}')
        if not good:
            lines.append(f'# {why}')
    return lines
