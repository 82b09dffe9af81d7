# SPDX-License-Identifier: GPL-2.0-only
"""TAP, version 13: reading what a test printed, and printing our own."""

import re
import sys

POINT = re.compile(r'^(not )?ok (\d+)\b\s*-?\s*(.*?)\s*(?:#\s*(SKIP|TODO)\b\s*(.*))?$',
                   re.IGNORECASE)
PLAN = re.compile(r'^1\.\.(\d+)(?:\s*#\s*SKIP\b\s*(.*))?\s*$', re.IGNORECASE)
BAIL_OUT = re.compile(r'^Bail out!\s*(.*)')


def cost(seconds, processor):
    """The comment after a test with which scripts/test finds the dearest ones."""
    return f'time {seconds:.1f} s, processor {processor:.1f} s'


class Result:
    """What the lines of one test say; feed() takes them one by one."""

    def __init__(self):
        self.plan = None
        self.points = 0
        self.failed = []
        self.reasons = {}       # what was printed behind each failed point, by its name
        self.skipped = []
        self.bail_out = None
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
            self.plan = int(plan[1])
            if plan[2] is not None:
                self.skipped.append(plan[2] or 'no reason given')
        elif bail_out:
            self.bail_out = bail_out[1] or 'no reason given'
        elif point:
            self.points += 1
            directive = (point[4] or '').upper()
            if directive == 'SKIP':
                self.skipped.append(point[5] or point[3])
            elif point[1] and directive != 'TODO':
                self.failed.append(point[3] or f'point {self.points}')
                self.reasons[self.failed[-1]] = self._reason

    @property
    def complete(self):
        """Silence is failure: there is a plan, and it was kept."""
        return self.plan is not None and self.plan == self.points

    @property
    def all_skipped(self):
        return self.complete and bool(self.skipped) and self.points == (
            len(self.skipped) if self.points else 0)


class Printer:
    """Prints our own test points and counts them."""

    def __init__(self, stream=None):
        self.stream = stream or sys.stdout
        self.passed = self.failed = self.skipped = 0

    def start(self):
        self.line('TAP version 13')

    def line(self, text):
        print(text, file=self.stream, flush=True)

    def comment(self, text):
        for line in text.split('\n'):
            self.line(f'# {line}'.rstrip())

    def point(self, good, name, skip=None, note=''):
        number = self.passed + self.failed + self.skipped + 1
        if skip is not None:
            self.skipped += 1
            self.line(f'ok {number} - {name} # SKIP {skip}')
        elif good:
            self.passed += 1
            self.line(f'ok {number} - {name}{note}')
        else:
            self.failed += 1
            self.line(f'not ok {number} - {name}{note}')

    def finish(self):
        """The plan and the summary; True if nothing failed and something ran."""
        self.line(f'1..{self.passed + self.failed + self.skipped}')
        skipped = f', {self.skipped} skipped' if self.skipped else ''
        self.comment(f'{self.passed} passed, {self.failed} failed{skipped}')
        return not self.failed and bool(self.passed + self.skipped)
