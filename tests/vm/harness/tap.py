# SPDX-License-Identifier: GPL-2.0-only
"""TAP, version 13: reading what a test printed, and printing our own."""

import re
import sys

POINT = re.compile(r'^(not )?ok\b\s*(\d+)?\b\s*-?\s*(.*)$')
DIRECTIVE = re.compile(r'#\s*(skip|todo)\b', re.IGNORECASE)
# Python refuses to make a number of thousands of digits
PLAN = re.compile(r'^1\.\.(\d{1,9})\b(.*)$')
BAIL_OUT = re.compile(r'^Bail out!\s*(.*)')


def cost(seconds, processor):
    """The comment after a test with which scripts/test finds the dearest ones."""
    return f'time {seconds:.1f} s, processor {processor:.1f} s'


class Result:
    """
    What the lines of one test say; feed() takes them one by one. A test cannot skip a point, and TODO
    excuses none: where it runs, it has what it needs.
    """

    def __init__(self):
        self.plan = None
        self.points = 0
        self.failed = []
        self.reasons = {}       # what was printed after each failed point, by its name
        self.bail_out = None
        self.broken = ''        # the first line that keeps no order
        self._reason = []

    def feed(self, line):
        line = line.rstrip()
        if line.startswith('#'):
            self._reason.append(line)
            return
        self._reason = []
        plan = PLAN.match(line)
        bail_out = BAIL_OUT.match(line)
        point = POINT.match(line)
        if plan:
            if self.plan is not None or DIRECTIVE.search(line):
                self.broken = self.broken or line
            self.plan = int(plan[1])
        elif bail_out:
            self.bail_out = bail_out[1] or 'no reason given'
        elif point:
            self._point(line, point)

    def _point(self, line, point):
        self.points += 1
        if point[2] != str(self.points):
            self.broken = self.broken or line
        if point[1] or DIRECTIVE.search(line):
            self.failed.append(point[3] or f'point {self.points}')
            self.reasons[self.failed[-1]] = self._reason

    @property
    def complete(self):
        """Silence is failure: there is a plan for at least one point, and it was kept."""
        return bool(self.plan) and self.plan == self.points and not self.broken


class Printer:
    """Prints our own test points and counts them."""

    def __init__(self, stream=None):
        self.stream = stream or sys.stdout
        self.passed = self.failed = 0

    def start(self):
        self.line('TAP version 13')

    def line(self, text):
        print(text, file=self.stream, flush=True)

    def comment(self, text):
        for line in text.split('\n'):
            self.line(f'# {line}'.rstrip())

    def point(self, good, name, note=''):
        number = self.passed + self.failed + 1
        if good:
            self.passed += 1
            self.line(f'ok {number} - {name}{note}')
        else:
            self.failed += 1
            self.line(f'not ok {number} - {name}{note}')

    def finish(self):
        """The plan and the summary; True if nothing failed and something ran."""
        self.line(f'1..{self.passed + self.failed}')
        self.comment(f'{self.passed} passed, {self.failed} failed')
        return not self.failed and bool(self.passed)
