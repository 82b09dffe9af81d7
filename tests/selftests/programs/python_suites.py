#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Runs Python's own tests and writes what became of each, so that two runs can be compared: the
same tests over TCP and over something that has to be as good.

usage: python_suites.py run [--limit SECONDS] [--only FILE] RESULTS MODULE...
       python_suites.py compare WANTED GOT

run: RESULTS has a line "OUTCOME TEST" for each test, with the time it took indented below, and the
traceback of one that failed. A test that takes longer than the limit has failed as well, as has one that takes the
interpreter with it: its outcome is "died", and the others of its module go on in a new process.
--only runs those tests whose names are in a file, one per line.

compare: prints each test that passed in WANTED, and did anything else in GOT (skipped and
missing count); the status tells whether there is none.
"""

import argparse
import faulthandler
import importlib
import subprocess
import sys
import time
import traceback
import unittest
from pathlib import Path

OUTCOMES = ('ok', 'skipped', 'failed', 'died')


class Recorder(unittest.TestResult):
    """Writes results as they come: whoever dies has said what it was at."""

    def __init__(self, results, limit):
        super().__init__()
        self.results = results
        self.limit = limit
        self.outcome = None
        self.trouble = []
        self.start = 0

    def _say(self, *lines):
        print(*lines, sep='\n', file=self.results, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.outcome, self.trouble = 'ok', []
        self.start = time.monotonic()
        self._say(f'began {test.id()}')
        faulthandler.dump_traceback_later(self.limit, exit=True)

    def stopTest(self, test):
        # What is tidied up for a class or a module, and the interpreter's end, have a limit as well
        faulthandler.dump_traceback_later(self.limit, exit=True)
        took = f'    {time.monotonic() - self.start:.1f} s'
        self._say(f'{self.outcome} {test.id()}', took, *self.trouble)
        self.outcome = None
        super().stopTest(test)

    def _failed(self, test, err):
        lines = ''.join(traceback.format_exception(*err)).splitlines()
        lines = [f'    {line}' for line in lines]
        if self.outcome is None:        # what is prepared for a class or a module
            self._say(f'failed {test.id()}', *lines)
            return
        self.outcome = 'failed'
        self.trouble += lines

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed(test, err)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.outcome = 'failed'

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if self.outcome == 'ok':
            self.outcome = 'skipped'
            self.trouble.append(f'    {reason}')
        elif self.outcome is None:
            self._say(f'skipped {test.id()}', f'    {reason}')


def read_results(path):
    """Outcome and lines below it of each test; a test that only began has died."""
    found = {}
    name = None
    for line in path.read_text(errors='replace').splitlines() if path.exists() else ():
        if line.startswith('    '):
            found[name][1].append(line)
            continue
        outcome, _, name = line.partition(' ')
        found[name] = ('died' if outcome == 'began' else outcome, [])
    return found


def tests_in(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_in(item)
        else:
            yield item


def run_module(options):
    """In a process of its own: those tests of a module that have no result yet."""
    support = importlib.import_module('test.support')   # of Debian's libpython3.*-testsuite
    support.verbose = 0
    support.use_resources = ['cpu']     # not the Internet
    # As test.regrtest does it for slow machines; before the module takes copies
    for name in ('LOOPBACK_TIMEOUT', 'SHORT_TIMEOUT'):
        setattr(support, name, max(getattr(support, name), options.limit / 3))
    done = read_results(options.results)
    wanted = options.only.read_text().split() if options.only else None
    everything = unittest.defaultTestLoader.loadTestsFromName(options.modules[0])
    chosen = [test for test in tests_in(everything)
              if test.id() not in done and (wanted is None or test.id() in wanted)]
    with open(options.results, 'a', encoding='utf-8') as results:
        unittest.TestSuite(chosen).run(Recorder(results, options.limit))
    return 0


def run(options):
    options.results.unlink(missing_ok=True)
    for module in options.modules:
        while True:
            before = len(read_results(options.results))
            only = ['--only', options.only] if options.only else []
            status = subprocess.run(
                [sys.executable, __file__, 'module', '--limit', str(options.limit), *only,
                 options.results, module], check=False).returncode
            if not status:
                break
            died = list(read_results(options.results).items())
            with open(options.results, 'a', encoding='utf-8') as results:
                print(f'    the interpreter ended with status {status}', file=results)
            if len(died) == before or died[-1][1][0] != 'died':
                # Not in a test, so there is nothing to go on with
                with open(options.results, 'a', encoding='utf-8') as results:
                    print(f'died {module}', file=results)
                break
    found = [outcome for outcome, _ in read_results(options.results).values()]
    print(', '.join(f'{found.count(outcome)} {outcome}' for outcome in OUTCOMES))
    return 0


def compare(options):
    wanted, got = read_results(options.wanted), read_results(options.got)
    worse = 0
    for name, (outcome, _) in wanted.items():
        result, lines = got.get(name, ('missing', []))
        if outcome == 'ok' and result != 'ok':
            worse += 1
            print(f'{result} {name}', *lines, sep='\n')
    # What is prepared for a class has a result only if it fails
    for name, (outcome, lines) in got.items():
        if name not in wanted and outcome in ('failed', 'died'):
            worse += 1
            print(f'{outcome} {name}', *lines, sep='\n')
    return int(worse > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    for name, function in (('run', run), ('module', run_module)):
        command = commands.add_parser(name)
        command.add_argument('--limit', type=int, default=60)
        command.add_argument('--only', type=Path)
        command.add_argument('results', type=Path)
        command.add_argument('modules', nargs='+')
        command.set_defaults(function=function)
    command = commands.add_parser('compare')
    command.add_argument('wanted', type=Path)
    command.add_argument('got', type=Path)
    command.set_defaults(function=compare)
    options = parser.parse_args()
    return options.function(options)


if __name__ == '__main__':
    sys.exit(main())
