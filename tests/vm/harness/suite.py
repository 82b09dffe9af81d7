# SPDX-License-Identifier: GPL-2.0-only
"""Runs a list of tests on one kernel in as few boots as possible."""

from collections import defaultdict

from . import verdict
from .boot import Boot, BootFailed, Spec

# A guest that dies before our modules were loaded says nothing about that code: emulators have bugs.
BOOT_ATTEMPTS = 2


class Suite:
    """
    Tests with the same needs share a boot, until one leaves the guest unfit for more.

    The reporter is told of each test, of boots that failed, of leaked memory and of what a kernel
    complains about after its last test: TapReport, or whoever else wants to know.
    """

    def __init__(self, kernel, config, folder, reporter, isolate=False):
        self.kernel = kernel
        self.config = config
        self.folder = folder
        self.reporter = reporter
        self.isolate = isolate
        self.stopped = False    # set by another thread: boot nothing more
        self._boots = 0

    def run(self, tests):
        groups = defaultdict(list)
        for test in tests:
            groups[test.topology()].append(test)
        for group in groups.values():
            while group and not self.stopped:
                size = 1 if self.isolate else len(group)
                done = self._run_batch(group[:size])
                del group[:done]

    def _run_batch(self, tests):
        """Runs tests in one boot; returns how many until the guest got unfit for more."""
        spec = Spec.for_test(tests[0], self.kernel, self.config)
        for attempt in range(BOOT_ATTEMPTS):
            self._boots += 1
            folder = self.folder / f'{self.kernel.name}-boot{self._boots}'
            folder.mkdir()
            try:
                with Boot(spec, folder, self.reporter.live) as boot:
                    boot.wait_up()
                    return self._run_in(boot, tests, folder)
            except BootFailed as error:
                last = attempt == BOOT_ATTEMPTS - 1
                self.reporter.boot_failed(tests[0], self._title(tests[0]), error, folder, last)
        return 1

    def _run_in(self, boot, tests, folder):
        done = []
        for test in tests:
            done.append(test)
            facts = boot.run(test)
            failures = {name: verdict.judge(one) for name, one in facts.items()}
            self._save(test, facts, folder)
            self.reporter.test(test, self._title(test), facts, failures, folder)
            if any(verdict.is_dirty(facts[name], failures[name]) for name in facts):
                break
        # What leaked before something else went wrong is told as well.
        if all(one.ended for one in facts.values()):
            self._check_rest(boot, done, facts, folder)
        return len(done)

    def _check_rest(self, boot, tests, facts, folder):
        """Memory that leaked, and what the kernel complains about when the last test has ended."""
        rests = boot.rest()
        late = {name: verdict.judge_rest(facts[name], rest) for name, rest in rests.items()}
        names = ' '.join(test.name for test in tests)
        if any(rest.leak is None or rest.has_kmemleak for rest in rests.values()):
            self.reporter.memory(tests, f'{self.kernel.name} kmemleak after {names}',
                                 {name: rest.leak for name, rest in rests.items()}, folder)
        if any(late.values()):
            self.reporter.late(tests, f'{self.kernel.name} log after {names}', late, folder)

    def _save(self, test, facts, folder):
        for name, one in facts.items():
            text = ''.join(f'{line}\n' for line in one.output)
            (folder / f'{test.name}-{name}.out').write_text(text)

    def _title(self, test):
        peer = ' peer=intree' if test.peer == 'intree' else ''
        return f'{self.kernel.name} {test.name}{peer}'
