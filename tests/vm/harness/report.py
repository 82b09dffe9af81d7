# SPDX-License-Identifier: GPL-2.0-only
"""Prints what came out of the tests, as TAP with the lines that matter as diagnostics."""

import threading

from . import console, tap

SHOWN_LINES = 60
SUBTEST_LINES = ('ok ', 'not ok ', '1..', '# ')


class TapReport:
    """The reporter of tests/vm/run: one test point per test and kernel."""

    def __init__(self, printer, verbose=False):
        self.printer = printer
        self.verbose = verbose
        # Several kernels may report at the same time, each from its thread.
        self._lock = threading.RLock()

    def live(self, guest, line):
        """A line of a test's output, the moment it comes."""
        if self.verbose:
            self.printer.line(f'    {"" if guest.name == "a" else guest.name + ": "}{line}')

    def test(self, _test, title, facts, failures, folder):
        """facts and failures by guest name; without any failure the test has passed."""
        with self._lock:
            self._test(title, facts, failures, folder)

    def _test(self, title, facts, failures, folder):
        everything = [failure for some in failures.values() for failure in some]
        if not self.verbose:
            self._subtests(facts)
        names = list(dict.fromkeys(failure.name for failure in everything))
        self.printer.point(not everything, title, f' # {" ".join(names)}' if names else '')
        self.printer.comment(
            tap.cost(max(one.seconds for one in facts.values()),
                     sum(one.processor for one in facts.values())))
        for guest, some in failures.items():
            for failure in some:
                where = f'guest {guest}: ' if len(facts) > 1 else ''
                self.printer.comment(f'{where}{failure.name}: {failure.detail}')
                self._lines(failure.lines)
        if everything:
            self.printer.comment(f'logs: {folder}')

    def _subtests(self, facts):
        for guest, one in facts.items():
            where = f'{guest}: ' if len(facts) > 1 else ''
            for line in one.output:
                if line.startswith(SUBTEST_LINES):
                    self.printer.line(f'    {where}{line}')

    def boot_failed(self, _test, title, error, folder, final):
        """The guests did not come up for a test; unless final, there is another attempt."""
        with self._lock:
            self._boot_failed(title, error, folder, final)

    def _boot_failed(self, title, error, folder, final):
        log = error.guest.log
        log.finish()
        if final:
            self.printer.point(False, title, note=' # boot')
        self.printer.comment(f'boot: {error}{"" if final else ", trying once more"}')
        for finding in console.scan(log.lines):
            self.printer.comment(f'{finding.name}:')
            self._lines(finding.lines)
        self._lines(log.lines[-10:])
        self.printer.comment(f'logs: {folder}')

    def memory(self, _tests, title, leaks, folder):
        """kmemleak's lines by guest name after the tests of a boot; None: no answer."""
        with self._lock:
            self._memory(title, leaks, folder)

    def _memory(self, title, leaks, folder):
        lines = [line for leak in leaks.values() for line in leak or ()]
        answered = all(leak is not None for leak in leaks.values())
        self.printer.point(answered and not lines, title)
        if not answered:
            self.printer.comment('no-verdict: kmemleak gave no answer')
        if lines:
            count = sum(line.startswith('unreferenced object') for line in lines)
            self.printer.comment(f'kmemleak: {count} leaked allocations')
            self._lines(lines)
            self.printer.comment(f'logs: {folder}')

    def late(self, _tests, title, findings, folder):
        """What the kernels complained about after the last test of a boot, by guest name."""
        with self._lock:
            self.printer.point(False, title)
            for guest, some in findings.items():
                for finding in some:
                    self.printer.comment(f'guest {guest}: {finding.name}:')
                    self._lines(finding.lines)
            self.printer.comment(f'logs: {folder}')

    def _lines(self, lines):
        for line in lines[:SHOWN_LINES]:
            self.printer.comment(f'    {line}')
        if len(lines) > SHOWN_LINES:
            self.printer.comment(f'    ... {len(lines) - SHOWN_LINES} more lines')
