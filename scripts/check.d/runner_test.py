#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The test runner must not call anything a success that it has not seen succeed."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import signal
import tempfile
import time
import unittest
from unittest import mock

TEST = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), 'test')


def load():
    """The runner as a module; its name has no suffix."""
    loader = importlib.machinery.SourceFileLoader('runner', TEST)
    spec = importlib.util.spec_from_loader('runner', loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class Clock:
    """Time for the runner: years go by at once when this file appears."""

    def __init__(self, path):
        self.path = path

    def monotonic(self):
        return time.monotonic() + (1e9 if os.path.exists(self.path) else 0)


class Runner(unittest.TestCase):
    """Each case is one shell script as the only suite."""

    def setUp(self):
        self.runner = load()
        self.cache = tempfile.TemporaryDirectory()
        self.addCleanup(self.cache.cleanup)
        self.environment = os.environ.get('XDG_CACHE_HOME')
        os.environ['XDG_CACHE_HOME'] = self.cache.name
        self.addCleanup(self.restore)

    def restore(self):
        if self.environment is None:
            del os.environ['XDG_CACHE_HOME']
        else:
            os.environ['XDG_CACHE_HOME'] = self.environment

    def run_suites(self, *arguments, **scripts):
        """Returns exit code, last line and everything on stdout."""
        self.runner.SUITES = {name: (self.limit, [['sh', '-c', script]])
                              for name, script in scripts.items()}
        self.runner.sys.argv = ['test', *arguments]
        out = io.StringIO()
        logs = self.logs or tempfile.mkdtemp(dir=self.cache.name)   # two runs within a second
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()), \
                mock.patch.object(self.runner.paths, 'new_log_folder', return_value=logs):
            code = self.runner.main()
        return code, out.getvalue().splitlines()[-1], out.getvalue()

    limit = 30
    logs = None     # the folder for them

    def let_years_go_by(self):
        """A command of a script after which the time of its suite is up."""
        self.runner.time = Clock(self.cache.name + '/later')
        return f'touch {self.cache.name}/later;'

    def expect(self, script, verdict, *words):
        code, last, text = self.run_suites(suite=script)
        self.assertEqual(last, verdict, text)
        self.assertEqual(code, 0 if ', 0 failed' in verdict else 1, text)
        for word in words:
            self.assertIn(word, text)

    def test_passes(self):
        self.expect('echo 1..2; echo ok 1 - a; echo ok 2 - b', '2 passed, 0 failed')

    def test_plan_at_the_end(self):
        self.expect('echo ok 1; echo ok 2; echo 1..2', '2 passed, 0 failed')

    def test_failed_test(self):
        self.expect('echo 1..2; echo ok 1 - a; echo not ok 2 - b; echo "# the reason"; exit 1',
                    '1 passed, 1 failed', 'FAILED suite: b', 'the reason')

    def test_failure_despite_exit_0(self):
        self.expect('echo 1..1; echo not ok 1 - b', '0 passed, 1 failed')

    def test_todo_is_no_excuse(self):
        self.expect('echo 1..1; echo "not ok 1 - b # TODO later"', '0 passed, 1 failed')

    def test_skip_is_not_a_pass(self):
        self.expect('echo 1..2; echo ok 1 - a; echo "ok 2 - b # SKIP no device"',
                    '1 passed, 0 failed, 1 skipped', 'SKIPPED suite: b (no device)')

    def test_only_skips(self):
        code, last, _ = self.run_suites(suite='echo 1..1; echo "ok 1 - b # SKIP no device"')
        self.assertEqual((code, last), (1, '0 passed, 0 failed, 1 skipped'))

    def test_silence(self):
        self.expect('exit 0', '0 passed, 1 failed', 'ran no test')

    def test_empty_plan(self):
        self.expect('echo 1..0', '0 passed, 1 failed', 'ran no test')

    def test_skipped_plan(self):
        self.expect('echo "1..0 # SKIP nothing here"', '0 passed, 1 failed', 'ran no test')

    def test_too_few(self):
        self.expect('echo 1..2; echo ok 1 - a', '1 passed, 1 failed', 'planned 2 tests, ran 1')

    def test_too_many(self):
        self.expect('echo 1..1; echo ok 1; echo ok 2', '2 passed, 1 failed', 'planned 1')

    def test_no_plan(self):
        self.expect('echo ok 1 - a', '1 passed, 1 failed', 'printed no plan')

    def test_two_plans(self):
        self.expect('echo 1..1; echo ok 1 - a; echo 1..1', '1 passed, 1 failed', 'two plans')

    def test_wrong_number(self):
        self.expect('echo 1..2; echo ok 1; echo ok 1', '2 passed, 1 failed', 'as number 2')

    def test_exit_code(self):
        self.expect('echo 1..1; echo ok 1; exit 3', '1 passed, 1 failed', 'exit code 3')

    def test_signal(self):
        self.expect('echo 1..1; echo ok 1; kill -9 $$', '1 passed, 1 failed', 'signal 9')

    def test_bail_out(self):
        self.expect('echo 1..2; echo ok 1; echo "Bail out! no disk"; exit 1',
                    '1 passed, 1 failed', 'no disk')

    def test_stderr_explains(self):
        self.expect('echo the cause >&2; exit 2', '0 passed, 1 failed', 'the cause')

    def test_subtests_do_not_count(self):
        self.expect('echo 1..1; echo "    1..1"; echo "    not ok 1 - inner"; echo "not ok 1 - a"',
                    '0 passed, 1 failed', 'inner')

    def test_yaml_is_no_result(self):
        self.expect('echo 1..1; echo not ok 1 - a; echo "  ---"; echo "  ok 2"; echo "  ..."; exit 1',
                    '0 passed, 1 failed')

    def test_yaml_without_an_end(self):
        self.expect('echo 1..1; echo not ok 1 - a; echo "  ---"', '0 passed, 2 failed', 'YAML block')
        self.expect('echo 1..1; echo ok 1 - a; echo "  ---"; echo not ok 2 - b; echo "  ..."',
                    '1 passed, 3 failed', 'YAML block')
        self.expect('echo 1..1; echo ok 1 - a; echo "  ---"; echo Bail out! no memory', '1 passed, 1 failed',
                    'Bail out! no memory')

    def test_numbers_of_many_digits(self):
        for line, verdict in (('1..%05000d', '1 passed, 1 failed'), ('ok %05000d - b', '2 passed, 2 failed'),
                              ('# time %05000d.2.3 s, processor 1 s', '1 passed, 1 failed'),
                              ('# time 9%0400d s, processor 1 s', '1 passed, 1 failed')):
            self.expect(f'echo ok 1 - a; printf "{line}\\n" 1', verdict)

    def test_no_last_newline(self):
        self.expect('echo 1..1; printf "not ok 1 - a"', '0 passed, 1 failed')

    def test_not_utf8(self):
        self.expect(r'echo 1..1; printf "ok 1 - \377\n"', '1 passed, 0 failed')

    def test_missing_program(self):
        self.runner.SUITES = {'suite': (1, [['tests/no/such/program']])}
        suite = self.runner.Suite('suite', [], self.cache.name)
        suite.run(self.runner.Interruption())
        self.assertEqual(self.runner.verdicts(suite), '0 passed, 1 failed')

    def test_hang(self):
        self.expect('echo 1..1; echo ok 1 - a;' + self.let_years_go_by() + 'tail -f /dev/null',
                    '1 passed, 1 failed', 'no end after')

    def test_orphan(self):
        self.runner.ORPHAN_SECONDS = 0.1
        self.expect('echo 1..1; echo ok 1 - a; tail -f /dev/null &', '1 passed, 1 failed',
                    'left processes behind')

    def test_closed_pipes_are_no_end(self):
        self.expect('echo 1..1; echo ok 1 - a; exec >/dev/null 2>&1;' + self.let_years_go_by()
                    + 'tail -f /dev/null', '1 passed, 1 failed', 'no end after')

    def test_no_process_is_left(self):
        """Neither in a session of its own, nor if it is started there."""
        self.expect(f'setsid sh -c "sleep 9999 & echo \\$\\$ >{self.cache.name}/pids; sleep 9999" '
                    f'>/dev/null 2>&1 & until [ -s {self.cache.name}/pids ]; do sleep 0.1; done; '
                    'echo 1..1; echo ok 1 - a', '1 passed, 0 failed')
        with open(f'{self.cache.name}/pids', encoding='ascii') as file:
            group = int(file.read())
        self.assertRaises(ProcessLookupError, os.killpg, group, 0)

    def test_interrupt(self):
        self.runner.LANES = 1
        self.addCleanup(signal.signal, signal.SIGHUP, signal.signal(signal.SIGHUP, signal.SIG_DFL))
        for name in 'INT', 'TERM', 'HUP':
            code, last, text = self.run_suites(
                one=f'echo 1..2; echo ok 1 - a; kill -{name} $PPID; tail -f /dev/null',
                two='echo 1..1; echo ok 1')
            self.assertEqual((code, last.split(', ')[1]), (130, '2 failed'), text)
            self.assertIn('FAILED one: Bail out! interrupted', text)
            self.assertIn('FAILED two: Bail out! not run', text)

    def test_interrupt_of_both_lanes(self):
        code, last, text = self.run_suites(
            one='echo 1..2; echo ok 1 - a; tail -f /dev/null',
            two='echo 1..2; echo ok 1 - a; kill -INT $PPID; tail -f /dev/null',
            three='echo 1..1; echo ok 1')
        self.assertEqual((code, last.split(', ')[1]), (130, '3 failed'), text)
        self.assertIn('FAILED three: Bail out! not run', text)

    def test_side_by_side(self):
        with tempfile.TemporaryDirectory() as folder:
            meet = f'mkfifo {folder}/there 2>/dev/null; echo 1..1; '
            code, last, text = self.run_suites(
                one=f'{meet} echo me >{folder}/there; echo ok 1',
                two=f'{meet} read -r who <{folder}/there; echo ok 1')
        self.assertEqual((code, last), (0, '2 passed, 0 failed'), text)

    def test_silent_suite_beside_a_good_one(self):
        code, last, _ = self.run_suites(good='echo 1..1; echo ok 1', silent='true')
        self.assertEqual((code, last), (1, '1 passed, 1 failed'))

    def ran(self, *arguments):
        """Which of two suites ran, one of which is not meant for every day, and with which DAILY."""
        self.runner.daily.SUITES = {'long': None}
        self.run_suites(*arguments, **{
            name: f'echo {name} $DAILY >>{self.cache.name}/ran; echo 1..1; echo ok 1'
            for name in ('short', 'long')})
        with open(f'{self.cache.name}/ran', encoding='ascii') as file:
            return sorted(line.strip() for line in file)

    def test_suites_of_every_day(self):
        self.assertEqual(self.ran(), ['short 1'])

    def test_all_suites(self):
        self.assertEqual(self.ran('--all'), ['long', 'short'])

    def test_suite_alone(self):
        self.assertEqual(self.ran('long'), ['long'])

    def test_programs_of_every_day(self):
        """What "make test" leaves out, what it runs with fewer tests, and what a change brings back."""
        left, kept = self.runner.daily.Left('a', 'b', ('Kbuild',)), ['echo', 'kept']
        self.runner.daily.PROGRAMS = {'gone': left, 'less': self.runner.daily.Left(
            'a', 'b', ('tests/',), ['--units'])}
        programs = [['gone'], kept, ['env', 'A=1', 'less']]
        for files, wanted in (([], [kept, [*programs[2], '--units']]),
                              (['net/smc/Kbuild'], [kept, [*programs[2], '--units']]),
                              (['Kbuild', 'tests/a'], programs)):
            self.runner.SUITES = {'suite': (1, programs)}
            suite = self.runner.Suite('suite', [], self.cache.name)
            with mock.patch.object(self.runner.Tree, 'changed', return_value=files):
                self.runner.leave_out([suite])
            self.assertEqual(suite.programs, wanted)

    def test_costs(self):
        """The dearest tests and programs, and their sums; a child counts once it was waited for."""
        burn = 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
        _, _, text = self.run_suites(
            told='echo 1..2; echo ok 1 - a; echo "# time 61.5 s, processor 3600.2 s"; echo ok 2 - b',
            burnt=f'echo 1..1; sh -c "{burn}"; echo ok 1 - c'.replace('$', '\\$'))
        lines = text.splitlines()
        first = lines.index('dearest'.ljust(55) + '    time processor') + 1
        self.assertEqual(lines[first].split(), 'told: a 1:01 60:00'.split())
        self.assertTrue(lines[first + 1].startswith('burnt: sh -c'), text)
        with open(f'{self.cache.name}/smc/times.json', encoding='utf-8') as file:
            times = json.load(file)['daily']
        self.assertEqual(times['told: a'], [61.5, 3600.2])
        burnt = next(cost for name, cost in times.items() if name.startswith('burnt'))
        self.assertGreater(burnt[1], 0.05)

    def test_costs_that_cannot_be_kept(self):
        """A full disk, for one: the verdict is told all the same."""
        os.makedirs(f'{self.cache.name}/smc/times.json')
        self.expect('echo 1..1; echo ok 1 - a', '1 passed, 0 failed', 'Is a directory')

    def test_log_that_cannot_be_written(self):
        """A full disk, for one: the other suites run, and the verdict is told."""
        script = 'echo 1..1; echo ok 1 - a'
        for number, path in enumerate(('/dev/full', '/proc/none/suite.tap')):
            self.logs = f'{self.cache.name}/logs{number}'
            os.mkdir(self.logs)
            os.symlink(path, f'{self.logs}/full.tap')
            code, last, text = self.run_suites(full=script, good=script)
            self.assertEqual((code, last), (1, '1 passed, 1 failed'), text)
            self.assertIn('FAILED full: Bail out!', text)
            self.assertIn(f'{self.logs}/full.tap', text)

    def test_unexpected_error(self):
        """In a lane: the other one goes on, and the verdict is told."""
        feed = self.runner.tap.Stream.feed
        with mock.patch.object(self.runner.tap.Stream, 'feed', autospec=True, side_effect=lambda stream, line: (
                {}['gone'] if line == 'ok 1 - bad' else feed(stream, line))):
            code, last, text = self.run_suites(bad='echo 1..1; echo ok 1 - bad', good='echo 1..1; echo ok 1 - a')
        self.assertEqual((code, last), (1, '1 passed, 1 failed'), text)
        self.assertIn("KeyError: 'gone'", text)

    def test_nobody_reads_the_progress(self):
        with mock.patch.object(self.runner.sys, 'stderr') as stderr:
            stderr.write.side_effect = BrokenPipeError
            self.runner.Progress().line('a')

    def test_damaged_times(self):
        """They are no times at all, and the next ones can be kept."""
        path = f'{self.cache.name}/smc/times.json'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        start = f'{{"tree": "{self.runner.TOP}", "other": {{}}, "daily": '
        for text in ('', '[]', '{"tree"', start + '{"a": 1}}', start + '[1]}', start + '{"a": [1, "x"]}}',
                     start + '{"a": [1, NaN]}}', start + f'{{"a": [1, 9{"0" * 400}]}}}}', '[' * 200000):
            with open(path, 'w', encoding='ascii') as file:
                file.write(text)
            times = self.runner.budget.Times(self.runner.paths.cache(), self.runner.TOP)
            self.assertEqual(times.known['daily'], {}, text)
            times.keep([('a', 1.0, 2.0)], 'daily')

    def test_cache_that_cannot_be_made(self):
        os.environ['XDG_CACHE_HOME'] = '/proc/none'
        with self.assertRaisesRegex(SystemExit, '^test: /proc/none/smc'):
            self.run_suites(suite='true')

    def test_cost_of_a_failed_test(self):
        """Its name is the same whatever was wrong."""
        stream = self.runner.tap.Stream('suite')
        for line in '1..1', 'not ok 1 - a b # warning taint', '# time 2.0 s, processor 1.5 s':
            stream.feed(line)
        self.assertEqual(stream.costs(), [('a b', 2.0, 1.5)])

    def test_costs_of_every_day(self):
        """A suite alone, or with all it has, says nothing of "make test"; a test that is gone is forgotten."""
        budget = self.runner.budget
        told = 'echo 1..1; echo ok 1 - {}; echo "# time 1 s, processor {} s"'
        for arguments, name, seconds in (([], 'old', 1), ([], 'a', 2), (['suite'], 'a', 30),
                                         (['--all'], 'a', 40)):
            self.run_suites(*arguments, suite=told.format(name, seconds))
        with open(f'{self.cache.name}/smc/times.json', encoding='utf-8') as file:
            self.assertEqual(json.load(file), {'tree': self.runner.TOP, budget.DAILY: {'suite: a': [1, 2]},
                                               budget.OTHER: {'suite: a': [1, 40]}})

    def test_costs_of_a_failed_run(self):
        """It may have stopped early; those of the last good one stay. Another checkout has its own."""
        told = 'echo 1..1; echo {}ok 1 - a; echo "# time 1 s, processor {} s"'
        self.run_suites(suite=told.format('', 3))
        self.run_suites(suite=told.format('not ', 50))
        times, cache = self.runner.budget.Times, self.runner.paths.cache()
        self.assertEqual(times(cache, self.runner.TOP).known['daily'], {'suite: a': [1, 3]})
        self.assertEqual(times(cache, '/elsewhere').known['daily'], {})

    def judged(self, times, **limits):
        """The lines that are no plan."""
        lines = self.runner.budget.judge(limits, {name: [0, cost] for name, cost in times.items()},
                                         lambda name: name == 'left')
        self.assertEqual(lines[0], f'1..{sum("ok " in line for line in lines)}')
        return lines[1:]

    def test_budget(self):
        """More than its limit, dear without a limit, and a limit for no test are failures."""
        self.assertEqual(self.judged({'a': 30, 'cheap': 20}, a=30, left=30), ['ok 1 - a'])
        others, limits = {'b': 20, 'c': 20}, {'b': 30, 'c': 30}
        self.assertEqual(self.judged({**others, 'a': 31}, **limits, a=30)[2], 'not ok 3 - a')
        self.assertEqual(self.judged({**others, 'new': 21}, **limits)[2], 'not ok 3 - new')
        self.assertEqual(self.judged(others, **limits, gone=30)[2], 'not ok 3 - gone')
        self.assertIn('# SKIP', self.judged({}, a=30)[0])

    def test_budget_of_a_slow_machine(self):
        """There all tests take longer; one that takes longer than the others do is found."""
        times, limits = {'a': 40, 'b': 40, 'c': 40, 'cheap': 35}, {'a': 30, 'b': 30, 'c': 30}
        self.assertEqual([line[:6] for line in self.judged(times, **limits)], ['ok 1 -', 'ok 2 -', 'ok 3 -'])
        self.assertEqual(self.judged({**times, 'c': 70}, **limits)[2], 'not ok 3 - c')

    def test_budget_with_a_bad_line(self):
        path = f'{self.cache.name}/budget.txt'
        for line in 'many a', '30', '0 a', '² a':
            with open(path, 'w', encoding='utf-8') as file:
                file.write(f'# a comment\n\n20 a\n{line}\n')
            with self.assertRaisesRegex(ValueError, 'budget.txt:4'):
                self.runner.budget.read(path)

    def test_arguments_are_for_the_first_program(self):
        self.runner.SUITES = {'suite': (1, [['first', '-a'], ['second']])}
        suite = self.runner.Suite('suite', ['-b', 'c'], self.cache.name)
        self.assertEqual(suite.programs, [['first', '-b', 'c']])

    def test_arguments_for_a_suite_without_any(self):
        with self.assertRaisesRegex(SystemExit, 'takes no arguments'):
            self.run_suites('suite', '--', 'a', suite='true')
        with mock.patch.dict(os.environ, T='a'), self.assertRaisesRegex(SystemExit, 'T chooses'):
            self.run_suites('suite', suite='true')
        with mock.patch.dict(os.environ, T='a'):
            for argv, wanted in (['uml', '--', 'a'], (['uml'], ['a'])), (['vm', 'vm'], (['vm'], [])):
                self.assertEqual(load().parse_arguments(argv), wanted)

    def test_program_after_the_time_of_its_suite(self):
        """It is not started, and says why."""
        self.runner.SUITES = {'suite': (1, [['false'], ['touch', f'{self.cache.name}/started']])}
        suite = self.runner.Suite('suite', [], self.cache.name)
        suite.limit = -1
        suite.run(self.runner.Interruption())
        self.assertEqual([name.partition(': ')[2] for name, _ in suite.failures()],
                         ['not run, the time of the suite was over'] * 2)
        self.assertFalse(os.path.exists(f'{self.cache.name}/started'))

    def test_second_program_counts(self):
        self.runner.SUITES = {'suite': (1, [['sh', '-c', 'echo 1..1; echo ok 1'],
                                            ['sh', '-c', 'true']])}
        suite = self.runner.Suite('suite', [], self.cache.name)
        suite.run(self.runner.Interruption())
        self.assertEqual(self.runner.verdicts(suite), '1 passed, 1 failed')


if __name__ == '__main__':
    unittest.main()
