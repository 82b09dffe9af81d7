# SPDX-License-Identifier: GPL-2.0-only
"""Reads a TAP stream strictly: what is missing, doubled or left unfinished is a failure."""

import re

# Python refuses to make a number of thousands of digits
PLAN = re.compile(r'1\.\.(\d{1,9})\s*(?:#.*)?$')
RESULT = re.compile(r'(not )?ok\b\s*(\d{1,9})?\s*(?:-\s*)?(.*)$')
SKIP = re.compile(r'\s*(?<!\\)#\s*skip\b:?\s*', re.IGNORECASE)
NOTE = re.compile(r'\s+#\s.*')      # what a runner adds to the name of a test that failed
COST = re.compile(r'time (\d{1,9}(?:\.\d+)?) s, processor (\d{1,9}(?:\.\d+)?) s$')
MAX_DIAGNOSTICS = 40


class Test:
    """One result line and the diagnostics around it, without their leading '# '."""

    def __init__(self, verdict, name, before):
        self.verdict = verdict      # 'passed', 'failed' or 'skipped'
        self.name = name
        self.before = before        # lines between the last result and this one
        self.after = []             # lines between this result and the next one
        self.cost = None            # seconds and those of a processor, if the program told


class Stream:
    """
    Feed it line by line, then call finish() once with the exit code of the program.

    Results inside subtests (indented lines) are diagnostics of their parent: whoever prints
    them has to sum them up in a result of its own. A "TODO" directive excuses nothing.
    """

    def __init__(self, title):
        self.title = title
        self.cost = 0.0, 0.0    # seconds and those of a processor
        self.tests = []
        self.plan = None
        self.number = 0
        self.loose = []         # diagnostics since the last result
        self.in_next = False    # they belong to the next one: its subtest has begun
        self.in_yaml = False
        self.bailed_out = False

    def feed(self, line):
        """Takes one line; returns the Test that it completes, or None."""
        line = line.rstrip('\r\n')
        if line.startswith('Bail out!'):
            self.bailed_out = True
            return self._add('failed', line)
        if self._yaml(line):
            return None
        if self.in_yaml:
            self.in_yaml = False
            self._add('failed', f'{self.title}: a YAML block without an end before "{line}"')
        match = PLAN.match(line)
        if match:
            return self._planned(int(match.group(1)))
        match = RESULT.match(line)
        if match:
            return self._result(*match.groups())
        if line.startswith('#'):
            self._diagnose(re.sub(r'^#\s?', '', line))
        elif line.startswith(' ') and line.strip():
            self.in_next = True
            self._diagnose(line)
        return None

    def remark(self, line):
        """Takes a line which the program wrote to stderr."""
        self.loose.append(line)

    def finish(self, exit_code):
        """Checks what only the end can tell; one cause gets one failure."""
        how = (f'killed by signal {-exit_code}' if exit_code < 0 else
               f'exit code {exit_code}' if exit_code else '')
        if self.bailed_out:
            return
        if self.in_yaml:
            self._add('failed', f'{self.title}: a YAML block without an end' + (f' ({how})' if how else ''))
            return
        if not self.number:
            self._add('failed', f'{self.title}: ran no test' + (f' ({how})' if how else ''))
        elif self.plan is None:
            self._add('failed', f'{self.title}: printed no plan' + (f' ({how})' if how else ''))
        elif self.plan != self.number:
            self._add('failed', f'{self.title}: planned {self.plan} tests, ran {self.number}')
        elif how and not self.count('failed'):
            self._add('failed', f'{self.title}: {how} without a failed test')

    def costs(self):
        """Name, seconds and processor seconds of each test that told, or of the whole program."""
        return ([(NOTE.sub('', test.name), *test.cost) for test in self.tests if test.cost]
                or [(self.title, *self.cost)])

    def count(self, verdict):
        """The number of tests with this verdict."""
        return sum(test.verdict == verdict for test in self.tests)

    def _yaml(self, line):
        if self.in_yaml and line and not line.startswith(' '):
            return False        # all lines of a block are indented
        if self.in_yaml:
            self.in_yaml = line.strip() != '...'
            if self.in_yaml:
                self._diagnose(line.strip())
            return True
        self.in_yaml = line.strip() == '---' and line.startswith(' ')
        return self.in_yaml

    def _planned(self, count):
        if self.plan is not None:
            return self._add('failed', f'{self.title}: printed two plans')
        self.plan = count
        return None

    def _result(self, negation, number, text):
        self.number += 1
        if number is not None and int(number) != self.number:
            self._add('failed', f'{self.title}: test {number} printed as number {self.number}')
        if negation:
            return self._add('failed', text)
        skip = SKIP.search(text)
        if skip:
            reason = text[skip.end():] or 'no reason given'
            return self._add('skipped', f'{text[:skip.start()]} ({reason})')
        return self._add('passed', text)

    def _diagnose(self, line):
        cost = COST.match(line)
        if cost and self.tests and not self.in_next:
            self.tests[-1].cost = float(cost[1]), float(cost[2])
            return
        # Most programs explain a result after it, KUnit before it. A line between two results
        # is kept for both, and failures() picks.
        if self.tests and not self.in_next and len(self.tests[-1].after) < MAX_DIAGNOSTICS:
            self.tests[-1].after.append(line)
        self.loose.append(line)

    def _add(self, verdict, name):
        test = Test(verdict, name, self.loose[-MAX_DIAGNOSTICS:])
        self.loose = []
        self.in_next = False
        self.tests.append(test)
        return test

    def failures(self):
        """Pairs of name and diagnostics: those after the result, or else those before it."""
        return [(test.name, test.after or test.before)
                for test in self.tests if test.verdict == 'failed']
