#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What tests/uml/run and tests/uml/points.awk make of what a script in User Mode Linux says."""

import contextlib
import importlib.machinery
import importlib.util
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'vm'))

from harness import uml     # noqa: E402

UML = Path(__file__).resolve().parent.parent / 'uml'
LIB = UML.parent / 'lib'


def load():
    """The runner as a module; its name has no suffix."""
    loader = importlib.machinery.SourceFileLoader('uml_run', str(UML / 'run'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('uml_run', loader))
    loader.exec_module(module)
    return module


class Repeat(unittest.TestCase):
    def problems(self, tap, status='0\n'):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            if tap is not None:
                Path(folder, 'tap').write_text(tap, encoding='utf-8')
            if status is not None:
                Path(folder, 'status').write_text(status, encoding='utf-8')
            _, failed, wrong = load().repeat(Path(folder))
            return wrong or failed

    def test_good(self):
        self.assertEqual(self.problems('ok 1 - a\nok 2 - b\n1..2\n'), 0)
        self.assertEqual(self.problems('ok 1 - a\nnot ok 2 - b\n1..2\n', '1\n'), 1)

    def test_plan(self):
        for tap in (None, '', '1..0\n', 'ok 1 - a\n', 'ok 1 - a\n1..2\n', 'ok 1 - a\nok 1 - b\n1..2\n',
                    '1..1\nok 1 - a\n1..1\n', 'ok 1 - a\nnot ok - b\n1..1\n', 'ok 1 - a\nnot ok 2 -\n1..2\n',
                    'ok 1 - a # SKIP\n1..1\n'):
            self.assertTrue(self.problems(tap), tap)

    def test_status(self):
        """A status without a failed point, and one that no failed point explains."""
        for status in '1\n', '127\n', '137\n', '', None:
            self.assertTrue(self.problems('ok 1 - a\n1..1\n', status), status)
        self.assertNotEqual(self.problems('not ok 1 - a\n1..1\n', '2\n'), 1)

    def test_bail_out(self):
        self.assertIn('Bail out! no wire', self.problems('ok 1 - a\nBail out! no wire\n1..1\n'))


class Log(unittest.TestCase):
    GOOD = '[    0.000000] Linux version 6.12.95 (smc@smc)', 'smc-uml: end'

    def problems(self, *lines):
        return uml.problems('uml', lines)

    def test_good(self):
        self.assertEqual(self.problems(*self.GOOD), [])

    def test_bad(self):
        for lines in ([], self.GOOD[:1], self.GOOD[1:], self.GOOD * 2, [*self.GOOD, 'smc-uml: objects left: conn 1'],
                      [*self.GOOD, 'BUG: KASAN: slab-use-after-free']):
            self.assertTrue(self.problems(*lines), lines)

    def test_late_abort(self):
        """The process aborts when its kernel is down, or before, or ends with another status then."""
        down, aborted, killed = '[    1.000000] reboot: Power down', *(
            f'smc-uml: status {status} of the kernel' for status in (-6, -11))
        self.assertEqual(self.problems(*self.GOOD, down, '', aborted), [])
        for lines in (aborted,), (down, 'a panic', aborted), (down, killed), (down, aborted, killed):
            self.assertTrue(self.problems(*self.GOOD, *lines), lines)


class Points(unittest.TestCase):
    def said(self, *programs, wanted=0):
        """The TAP of some Python programs, as a script in tests/uml makes it."""
        with tempfile.TemporaryDirectory() as folder:
            wanted = wanted or max(len(programs), 1)
            script = f'. {LIB}/points.sh\n'
            for number, program in enumerate(programs):
                path = Path(folder, f'{number}.py')
                path.write_text(program, encoding='utf-8')
                script += f'points {path}\n'
            done = subprocess.run(
                ['sh', '-c', f'{{\n{script}}} | awk -v prefix=x -v wanted={wanted} -f {UML}/points.awk'],
                stdout=subprocess.PIPE, text=True, check=True)
        return [line for line in done.stdout.splitlines() if not line.startswith('#')]

    def test_good(self):
        self.assertEqual(self.said("print('ok - a b')", "print('what\\nok - c', end='')"),
                         ['ok 1 - x.a_b', 'ok 2 - x.c', '1..2'])

    def test_failed(self):
        self.assertEqual(self.said("print('not ok - a'); exit(1)", "print('ok - b')"),
                         ['not ok 1 - x.a', 'ok 2 - x.b', '1..2'])

    def test_end_without_a_reason(self):
        """It dies after a point, ends with an error after one, or says nothing at all."""
        good = "print('ok - a', flush=True)\n"
        for end, status in ('import os; os.kill(os.getpid(), 9)', 137), ('exit("why")', 1):
            self.assertEqual(self.said(good + end),
                             ['ok 1 - x.a', f'not ok 2 - x.script_1_ended_with_status_{status}', '1..2'])
        self.assertEqual(self.said(good, 'pass')[1:],
                         ['not ok 2 - x.script_2_ended_with_status_0', '1..2'])

    def test_no_script(self):
        self.assertEqual(self.said("print('ok - a')", wanted=2),
                         ['ok 1 - x.a', 'not ok 2 - x.1_of_2_scripts_ended', '1..2'])
        self.assertEqual(self.said(), ['not ok 1 - x.0_of_1_scripts_ended', '1..1'])


if __name__ == '__main__':
    unittest.main()
