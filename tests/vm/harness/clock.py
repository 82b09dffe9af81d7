# SPDX-License-Identifier: GPL-2.0-only
"""Time limits on a machine that others use as well, and what a program has used of it."""

import os
import time

from .errors import Trouble

LARGEST_SCALE = 1e6


def crowding():
    """How many tasks want to run on each processor, at least one."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def scale():
    """What the user thinks of our limits."""
    value = os.environ.get('VM_TIMEOUT_SCALE') or '1'
    try:
        number = float(value)
    except ValueError:
        number = 0
    if not 0 < number < LARGEST_SCALE:      # nan is not, either
        raise Trouble(f'VM_TIMEOUT_SCALE is "{value}", not a number above 0')
    return number


def processor_seconds(pid):
    """
    Processor time of a process and of those children for which it has waited; of a zombie, too. 0 if
    there is no such process.
    """
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
            # The name of the program, in parentheses, may hold anything
            fields = file.read().rpartition(')')[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf('SC_CLK_TCK')


class Deadline:
    """
    A limit in seconds of a machine we have for ourselves: while more tasks want to run than
    there are processors, time counts for less. A limit of zero never ends.
    """

    LONGEST_STEP = 1.0

    def __init__(self, seconds):
        self._left = seconds * scale()
        self._endless = not seconds
        self._last = time.monotonic()

    def passed(self):
        now = time.monotonic()
        # A step is bounded: a runner that was stopped itself learnt nothing meanwhile.
        step = min(now - self._last, self.LONGEST_STEP)
        self._last = now
        self._left -= step / crowding()
        return not self._endless and self._left <= 0
