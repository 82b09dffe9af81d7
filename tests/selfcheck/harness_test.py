#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Unit tests of the parts of the VM harness that need no guest."""

import contextlib
import io
import os
import re
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'vm'))

from harness import clock, console, paths, tap, testfile, verdict      # noqa: E402
from harness.errors import Trouble                      # noqa: E402
from harness.guest import Guest                         # noqa: E402
from harness.report import TapReport                    # noqa: E402
from harness.suite import Suite                         # noqa: E402
from harness.topology import Relay                      # noqa: E402

# One line of each report as kernels print it, and the name it must get.
SPLATS = [
    ('warning', 'WARNING: CPU: 0 PID: 183 at net/core/dev.c:1 f+0x1/0x2'),
    ('bug', 'BUG: kernel NULL pointer dereference, address: 0000000000000008'),
    ('bug', 'kernel BUG at net/core/dev.c:12!'),
    ('bug', 'Oops: 0000 [#1] PREEMPT SMP NOPTI'),
    ('bug', 'general protection fault, probably for non-canonical address 0xdead000000000122'),
    ('panic', 'Kernel panic - not syncing: Fatal exception'),
    ('kasan', 'BUG: KASAN: slab-use-after-free in f+0x1/0x2 [smc]'),
    ('kfence', 'BUG: KFENCE: use-after-free read in f+0x1/0x2'),
    ('kcsan', 'BUG: KCSAN: data-race in f / g'),
    ('ubsan', 'UBSAN: shift-out-of-bounds in a.c:3:4'),
    ('refcount', 'refcount_t: underflow; use-after-free.'),
    ('list-corruption', 'list_del corruption, ffff8880 is LIST_POISON1'),
    ('lockup', 'watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [rmmod:99]'),
    ('lockup', 'watchdog: Watchdog detected hard LOCKUP on cpu 1'),
    ('rcu-stall', 'rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:'),
    ('rcu-stall', 'rcu: INFO: rcu_sched self-detected stall on CPU'),
    ('lockdep', 'WARNING: possible recursive locking detected'),
    ('lockdep', 'WARNING: possible circular locking dependency detected'),
    ('lockdep', 'WARNING: inconsistent lock state'),
    ('lockdep', 'WARNING: suspicious RCU usage'),
    ('lockdep', 'WARNING: bad unlock balance detected!'),
    ('lockdep', '[ BUG: Invalid wait context ]'),
    ('atomic-sleep', 'BUG: sleeping function called from invalid context at a.c:5'),
    ('atomic-sleep', 'BUG: scheduling while atomic: insmod/77/0x00000002'),
    ('hung-task', 'INFO: task rmmod:99 blocked for more than 20 seconds.'),
    ('netdev-leak', 'unregister_netdevice: waiting for eth0 to become free. Usage count = 2'),
    ('kmemleak', 'kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)'),
    ('debug-objects', 'ODEBUG: free active (active state 0) object: ffff8880 hint: f+0x0/0x1'),
    ('slab', 'BUG smc_conn (Tainted: G           O      ): Objects remaining in smc_conn'),
    ('kmemleak', 'kmemleak: Kernel memory leak detector disabled'),
    ('log-lost', '** 27 printk messages dropped **'),
    ('slab', 'BUG kmalloc-64 (Not tainted): Poison overwritten'),
    ('trace', 'Call Trace:'),
]

HARMLESS = [
    'smc: loading out-of-tree module taints kernel.',
    'smc: module verification failed: signature and/or required key missing - tainting kernel',
    'Warning: unable to open an initial console.',
    'BUGS are only in the comment here',
    'debug: unregister_netdevice of eth0',
    'systemd[1]: Starting something',
]


class ConsoleTest(unittest.TestCase):
    def test_each_splat_has_its_name(self):
        for name, text in SPLATS:
            for prefix in ('', '[   12.345678] ', '[   12.345678][  T183] ', '[    1.0][    C0] '):
                with self.subTest(text=text, prefix=prefix):
                    found = console.scan([prefix + text])
                    self.assertEqual([one.name for one in found], [name])

    def test_harmless_lines(self):
        self.assertEqual(console.scan(HARMLESS), [])

    def test_lines_of_one_report_are_not_counted_twice(self):
        log = ['BUG: kernel NULL pointer dereference, address: 8', 'Oops: 0000 [#1]',
               'Call Trace:', ' f+0x1', '---[ end trace 0000000000000000 ]---',
               'Kernel panic - not syncing: Fatal exception']
        self.assertEqual([one.name for one in console.scan(log)], ['bug', 'panic'])

    def test_long_report_of_lockdep(self):
        log = ['WARNING: possible circular locking dependency detected',
               *['       f+0x1/0x2'] * 80, 'Call Trace:', ' <TASK>', ' </TASK>', 'WARNING: CPU: 0']
        self.assertEqual([one.name for one in console.scan(log)], ['lockdep', 'warning'])

    def test_second_report_after_the_first(self):
        log = ['WARNING: CPU: 0', 'Call Trace:', ' f+0x1', ' </TASK>', 'fine',
               'WARNING: CPU: 1', '---[ end trace ]---']
        self.assertEqual([len(one.lines) for one in console.scan(log)], [4, 2])

    def test_allowed_lines(self):
        allowed = [re.compile('expected splat')]
        self.assertEqual(console.scan(['WARNING: expected splat'], allowed), [])
        self.assertEqual(len(console.scan(['WARNING: another'], allowed)), 1)

    def test_log_in_pieces(self):
        log = console.Log()
        for piece in (b'one\r\ntw', b'o\nsmc-vm: begin x\nsmc-vm: end x\nrest'):
            log.feed(piece)
        log.finish()
        self.assertEqual(log.lines, ['one', 'two', 'smc-vm: begin x', 'smc-vm: end x', 'rest'])
        self.assertEqual(log.ended, {'x'})


def tap_result(text):
    result = tap.Result()
    for line in text.splitlines():
        result.feed(line)
    return result


class TapTest(unittest.TestCase):
    def test_complete(self):
        result = tap_result('ok 1 - a\nok 2 - b\n1..2')
        self.assertTrue(result.complete)
        self.assertEqual(result.failed, [])

    def test_incomplete(self):
        for text in ('', 'ok 1 - a', 'ok 1 - a\n1..2', '1..1', 'ok 1 - a\nok 2 - b\n1..1', '1..0',
                     'ok 1\nok 1\n1..2', '1..1\nok 1\n1..1', 'ok 1\nok 3\n1..2', '1..0 # SKIP no device',
                     'ok 1\nnot ok - a\n1..1', f'ok 1\n1..{"1" * 5000}'):
            with self.subTest(text=text):
                self.assertFalse(tap_result(text).complete)

    def test_failed(self):
        self.assertEqual(tap_result('not ok 1 - a b\n1..1').failed, ['a b'])
        for line in 'not ok 1 - a # TODO later', 'ok 1 - a # SKIP no device', 'not ok 1 - a # skip':
            self.assertEqual(len(tap_result(f'{line}\n1..1').failed), 1, line)

    def test_reasons(self):
        result = tap_result('not ok 1 - a\n# of a\n# too\nok 2 - b\n# of b\nnot ok 3 - c\n1..3\n# all')
        self.assertEqual(result.reasons, {'a': ['# of a', '# too'], 'c': []})

    def test_bail_out(self):
        self.assertEqual(tap_result('Bail out! no network').bail_out, 'no network')


def good_facts(**changes):
    values = {'phase': 'unload', 'tap': tap_result('ok 1 - a\n1..1'), 'exit_status': 0,
              'ended': True, 'log_ended': True, 'taint': 0, **changes}
    return verdict.Facts(**values)


class VerdictTest(unittest.TestCase):
    def names(self, **changes):
        return [failure.name for failure in verdict.judge(good_facts(**changes))]

    def test_good(self):
        self.assertEqual(self.names(), [])

    def test_nothing_known_is_a_failure(self):
        self.assertEqual([one.name for one in verdict.judge(verdict.Facts())], ['no-verdict'])

    def test_taint(self):
        self.assertEqual(self.names(taint=1 << 12 | 1 << 13), [])
        self.assertEqual(self.names(taint=1 << 9), ['taint'])
        self.assertEqual(self.names(taint=1 << 9, taint_before=1 << 9), [])

    def test_objects(self):
        self.assertEqual(self.names(objects={'before': {'conn': 1}, 'after': {'conn': 1}}), [])
        self.assertEqual(self.names(objects={'before': {'conn': 1}, 'after': {'conn': 0}}),
                         ['object-leak'])
        self.assertEqual(self.names(objects={'before': {}, 'after': {'conn': 1}}), ['object-leak'])

    def test_counters_that_come_back_too_late(self):
        self.assertEqual(self.names(unsettled=True), ['object-leak'])
        self.assertEqual(self.names(unsettled=True, objects={'after': {'conn': 0}}), ['object-leak'])
        self.assertEqual(self.names(unsettled=True, objects={'after': {'conn': 1}}), ['object-leak'])

    def test_log_without_an_end(self):
        self.assertEqual(self.names(log_ended=False), ['no-log'])

    def test_log_of_the_test_before(self):
        allowed = [re.compile('deliberate')]
        line = ['WARNING: deliberate']
        self.assertEqual(self.names(log_before=line, allowed=allowed), ['warning'])
        self.assertEqual(self.names(log_before=line, allowed_before=allowed), [])

    def test_agent_that_does_not_say_all(self):
        self.assertEqual(self.names(exit_status=None), ['agent'])
        self.assertEqual(self.names(taint=None), ['agent'])
        self.assertEqual(self.names(exit_status=None, load_failed='smc: no'), ['load'])

    def test_status_without_tap(self):
        silent = tap.Result()
        self.assertEqual(self.names(tap=silent), ['no-verdict'])
        self.assertEqual(self.names(tap=silent, needs_tap=False), [])
        self.assertEqual(self.names(tap=silent, needs_tap=False, exit_status=1), ['exit-status'])


class ClockTest(unittest.TestCase):
    def test_processor_time(self):
        before = clock.processor_seconds(os.getpid())
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        self.assertAlmostEqual(clock.processor_seconds(os.getpid()) - before, 0.1, delta=0.05)
        self.assertEqual(clock.processor_seconds(1 << 30), 0)

    def test_scale(self):
        for value, scale in ('', 1), ('3', 3), ('0.5', 0.5), ('.5', 0.5), ('1e1', 10):
            with mock.patch.dict(os.environ, VM_TIMEOUT_SCALE=value):
                self.assertEqual(clock.scale(), scale)
        for value in 'abc', '0', '-1', 'nan', 'inf', '1e9':
            with mock.patch.dict(os.environ, VM_TIMEOUT_SCALE=value), self.assertRaises(Trouble):
                clock.scale()


class SuiteTest(unittest.TestCase):
    """What the reporter is told at the end of a boot, without a guest."""

    def told(self, **rests):
        reporter, boot = mock.Mock(), mock.Mock()
        boot.rest.return_value = {name: verdict.Rest(**rest) for name, rest in rests.items()}
        one = Suite(mock.Mock(), {}, None, reporter)
        allowed = [re.compile('deliberate')]
        last = good_facts(allowed=allowed, log=['WARNING: CPU: 0', 'Call Trace:'])
        one._check_rest(boot, [testfile.Test('t', None)], {name: last for name in rests}, None)
        return [call[0] for call in reporter.method_calls], reporter

    def test_nothing(self):
        self.assertEqual(self.told(a={'leak': [], 'log': ['fine', 'WARNING: deliberate']})[0], [])
        self.assertEqual(self.told(a={'leak': [], 'has_kmemleak': True})[0], ['memory'])
        self.assertEqual(self.told(a={})[0], ['memory'])

    def test_late_report(self):
        calls, reporter = self.told(a={'leak': [], 'log': ['BUG: KASAN: slab-use-after-free']},
                                    b={'leak': [], 'has_kmemleak': True})
        self.assertEqual(calls, ['memory', 'late'])
        with contextlib.redirect_stdout(io.StringIO()):
            printer = tap.Printer()
            TapReport(printer).late(*reporter.late.call_args[0])
        self.assertEqual((printer.passed, printer.failed), (0, 1))

    def test_told_once(self):
        """A leak, and the end of a trace that has begun in the test's own log."""
        line = 'kmemleak: 1 new suspected memory leaks'
        self.assertEqual(self.told(a={'leak': ['x'], 'has_kmemleak': True, 'log': [line]})[0], ['memory'])
        self.assertEqual(self.told(a={'leak': [], 'log': ['Call Trace:', ' f+0x1', ' </TASK>']})[0], [])
        self.assertEqual(self.told(a={'leak': [], 'log': ['fine', 'BUG: x', 'Call Trace:']})[0], ['late'])

    def test_log_without_an_end(self):
        _, reporter = self.told(a={'leak': [], 'log_ended': False})
        self.assertEqual(reporter.late.call_args[0][2]['a'][0].name, 'no-log')
        self.assertEqual(verdict.judge_rest(good_facts(log_ended=False), verdict.Rest(log_ended=False)), [])


class FakeGuest:
    def __init__(self):
        self.answers = []

    def answer(self, line):
        self.answers.append(line)


class GuestTest(unittest.TestCase):
    """What the agent says, without a guest."""

    def heard(self, *lines):
        guest = Guest.__new__(Guest)
        guest.facts, guest._on_output = verdict.Facts(), None
        guest._relay, guest._test = mock.Mock(), testfile.Test('t', None)
        for line in lines:
            guest._on_agent(line)
        # Or the other guest would wait for this one
        self.assertEqual(guest._relay.left.called, lines[0].startswith('@exit'))
        return guest.facts

    def test_complete(self):
        facts = self.heard('@exit 0', '|ok 1 - a', '|1..1', '@objects before conn 3', '@taint 0', '@end t')
        self.assertEqual((facts.garbled, facts.exit_status, facts.objects, facts.ended),
                         ([], 0, {'before': {'conn': 3}}, True))
        facts.log_ended = True
        self.assertEqual(verdict.judge(facts), [])

    def test_log(self):
        """Each line after the boot is one test's, comes after it, or after the last one."""
        guest = self.silent_guest()
        guest.log.feed(b'boot\n')
        logs = []
        for name in 'a', 'b', 'b':
            guest.begin(testfile.Test(name, None, allowed=[name]))
            guest.log.feed(f'smc-vm: begin {name}\nsmc-vm: end {name}\n'.encode())
            guest.take_log()
            guest.log.feed(f'late {name}\n'.encode())
            logs.append((guest.facts.log_before, guest.facts.allowed_before))
            self.assertEqual(guest.facts.log, [f'smc-vm: begin {name}', f'smc-vm: end {name}'])
            self.assertTrue(guest.facts.log_ended)
        self.assertEqual(logs, [([], []), (['late a'], ['a']), (['late b'], ['b'])])
        guest.begin(testfile.Test('b', None))
        guest.take_log()
        self.assertFalse(guest.facts.log_ended)
        self.assertEqual(guest.facts.log, ['late b'])

    def silent_guest(self):
        guest = Guest.__new__(Guest)
        guest.log, guest._test, guest._process, guest.taint = console.Log(), None, mock.Mock(pid=1), 0
        guest._rest, guest.rested = verdict.Rest(), False
        guest._process.poll.return_value = None
        return guest

    def test_half_a_line(self):
        """What a living guest has begun to say is not cut in two."""
        guest = self.silent_guest()
        guest.begin(testfile.Test('a', None))
        guest.log.feed(b'smc-vm: begin a\nsmc-vm: end a\nBUG: KA')
        guest.take_log()
        guest.log.feed(b'SAN: x\n')
        self.assertEqual(guest.take_rest().log, ['BUG: KASAN: x'])
        guest.log.feed(b'BUG: KA')
        guest._process.poll.return_value = 1
        self.assertEqual(guest.take_rest().log, ['BUG: KA'])

    def test_rest(self):
        guest = self.silent_guest()
        guest.begin(testfile.Test('a', None))
        self.assertTrue(guest.take_rest().log_ended)
        guest._agent_rest('')
        self.assertFalse(guest.take_rest().log_ended)
        guest.log.feed(b'smc-vm: rest\n')
        self.assertTrue(guest.take_rest().log_ended)

    def test_incomplete(self):
        for line in '@exit ', '@exit', '@taint ', '@objects after conn', '@module smc', '@exi', '@':
            self.assertEqual(self.heard(line).garbled, [line])


class RelayTest(unittest.TestCase):
    def setUp(self):
        self.relay = Relay(2)
        self.a, self.b = FakeGuest(), FakeGuest()

    def test_both_arrive(self):
        self.relay.request(self.a, 'sync port 5001')
        self.assertEqual(self.a.answers, [])
        self.relay.request(self.b, 'sync port')
        self.assertEqual((self.a.answers, self.b.answers), (['go port'], ['go port 5001']))

    def test_other_left_before(self):
        self.relay.left(self.b)
        self.relay.request(self.a, 'sync x')
        self.assertEqual(self.a.answers, ['lost x'])

    def test_other_leaves_while_waiting(self):
        self.relay.request(self.a, 'sync x')
        self.relay.left(self.b)
        self.assertEqual(self.a.answers, ['lost x'])

    def test_one_guest_never_waits(self):
        relay = Relay(1)
        relay.request(self.a, 'sync x 7')
        self.assertEqual(self.a.answers, ['go x'])


class LogsTest(unittest.TestCase):
    def test_old_ones_go_unless_they_are_used(self):
        with tempfile.TemporaryDirectory() as cache, \
                mock.patch.dict(os.environ, XDG_CACHE_HOME=cache):
            base = paths.cache('vm', 'logs')
            used = base / f'20260101-000000-{os.getpid()}'
            ended = [base / f'20260102-{number:06}-none' for number in range(paths.KEPT_RUNS + 1)]
            for folder in [used, *ended]:
                folder.mkdir()
            fresh = paths.new_log_folder()
            self.assertEqual(sorted(base.iterdir()), [used, *ended[1:], fresh])


class TestfileTest(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, 'some_test.sh')
            path.write_text(text)
            return testfile.read(path)

    def test_no_text(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, 'some_test.sh')
            path.write_bytes(b'#!/bin/sh\n# \xff\n')
            with self.assertRaisesRegex(Trouble, 'some_test.sh'):
                testfile.read(path)

    def test_header(self):
        test = self.read('#!/bin/sh\n#\n# kernels: stock-6.1 debug-6.12\n# timeout: 7\n'
                         '# modules: smc smc_diag\n# peer: intree\n# memory: 512M\n\ntrue\n'
                         '# cpus: 4\n')
        self.assertEqual(test.name, 'some_test')
        self.assertEqual(test.kernels, ['stock-6.1', 'debug-6.12'])
        self.assertEqual((test.timeout, test.guests, test.memory, test.cpus), (7, 2, 512, 1))
        self.assertEqual(test.modules, ['smc', 'smc_diag'])

    def test_daily(self):
        for kernels, daily in (('stock-6.12 debug-6.12 stock-6.1', ['stock-6.12', 'stock-6.1']),
                               ('debug-6.12', []),
                               ('stock-6.1\n# daily: none', [])):
            with self.subTest(kernels=kernels):
                test = self.read(f'#!/bin/sh\n# kernels: {kernels}\n')
                self.assertEqual(test.daily, daily)

    def test_text(self):
        test = self.read('#!/bin/sh\n# SPDX-License-Identifier: x\n#\n# Of some file.c: that\n'
                         '# it works. Details.\n#\n# kernels: stock-6.1\n# daily: none\n'
                         '# instead: one\n# instead: more\n')
        self.assertEqual((test.proves, test.instead), ('Of some file.c: that it works.', 'one more'))
        self.assertEqual(self.read('#!/bin/sh\ntrue\n').proves, '')

    def test_prose_is_no_header(self):
        test = self.read('#!/bin/sh\n#\n# Of\n# namespaces: none.\n#\n# kernels: stock-6.1\n')
        self.assertEqual(test.proves, 'Of namespaces: none.')

    def test_bad_header(self):
        for line in ('# daily: stock-6.1', '# guests: 3', '# timeout: soon', '# peer: other',
                     '# kernels: stock-6.1\n# guest: 2', '# kernel: x\n# timeout: 5', '# kernel: x',
                     '# kernels: debug-6.12\n# daily: debug-6.12', '# timeout: 5\n#\n# moduls: smc',
                     '# timeout: 5\n#\n# Modules: smc', '# allow_log: x', '# cpus: 2\n# cpus: 2',
                     '# kernels:', '# allow-log:', '# allow-log: (', "# boot: a='b",
                     '# Text.\n# cpus: 2\n#\n# timeout: 5'):
            with self.subTest(line=line), self.assertRaises(Trouble):
                self.read(f'#!/bin/sh\n{line}\n')


if __name__ == '__main__':
    unittest.main()
