# SPDX-License-Identifier: GPL-2.0-only
"""The command line of tests/vm/run."""

import argparse
import os
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

from . import clock, icount, interactive, paths, programs, qemu, tap, testfile, verdict
from .boot import Boot, BootFailed, Spec
from .errors import Trouble
from .kernel import Kernel
from .report import TapReport
from .suite import Suite

DESCRIPTION = 'Run tests in QEMU guests; see README.rst beside this program.'


def parse(argv):
    parser = argparse.ArgumentParser(prog='tests/vm/run', description=DESCRIPTION)
    parser.add_argument('tests', nargs='*', metavar='TEST',
                        help='name or glob of a test in tests/vm/tests, or a script '
                             '(default: the variable T, else all)')
    parser.add_argument('--kernel', action='append', metavar='NAME',
                        help='run on this kernel instead of those the tests name '
                             '(repeatable; also the variable KERNEL)')
    parser.add_argument('--only', metavar='GLOB', default='*',
                        help='without --kernel or KERNEL: only such kernels of the tests')
    parser.add_argument('--kernel-dir', metavar='DIR', help='use this prepared kernel')
    parser.add_argument('--modules', metavar='DIR',
                        help='folder with the modules under test (default: built from the tree)')
    parser.add_argument('--load', metavar='NAMES', default=None,
                        help='modules to load, comma-separated, instead of those the test names')
    parser.add_argument('--cmd', metavar='COMMANDS', help='run shell commands and show the log')
    parser.add_argument('--daily', action='store_true', default=bool(os.environ.get('DAILY')),
                        help='of the tests for a kernel only those which run on it every day '
                             '(also the variable DAILY)')
    parser.add_argument('--jobs', type=int, default=os.environ.get('VM_JOBS') or os.cpu_count() or 1,
                        help='kernels at the same time (default: processors; also VM_JOBS)')
    parser.add_argument('--isolate', action='store_true', help='one boot per test')
    parser.add_argument('--guests', type=int, choices=(1, 2), help='for --cmd and SHELL=1')
    parser.add_argument('--cpus', type=int, help='processors of a guest')
    parser.add_argument('--memory', type=int, metavar='MIB')
    parser.add_argument('--timeout', type=int, metavar='SECONDS', help='limit of each test')
    parser.add_argument('--boot', action='append', default=[], metavar='WORDS',
                        help='more words for the kernel command line')
    counting = parser.add_argument_group('instruction counting (with --cmd)')
    counting.add_argument('--icount', action='store_true',
                          help='an initramfs guest whose clock counts instructions')
    counting.add_argument('--include', action='append', default=[], metavar='PROGRAM',
                          help='pack this program with its libraries (repeatable)')
    counting.add_argument('--file', action='append', default=[], metavar='NAME=PATH',
                          help='pack this file under a name in the guest (repeatable)')
    counting.add_argument('--seed', type=int, default=0)
    parser.add_argument('--list', action='store_true', help='list the tests and stop')
    parser.add_argument('-v', '--verbose', action='store_true', help='show test output as it comes')
    options = parser.parse_args(argv)
    if os.environ.get('KERNEL') and not options.kernel:
        options.kernel = os.environ['KERNEL'].split()
    options.kernel = [kernel_name(name) for name in options.kernel or ()]
    if os.environ.get('T') and not options.tests:
        options.tests = os.environ['T'].split()
    if options.daily:
        os.environ['DAILY'] = '1'       # for tests with fewer cases
    options.shell = os.environ.get('SHELL') == '1'
    options.gdb = os.environ.get('GDB') == '1'
    return options


def kernel_name(name):
    """6.12 is short for stock-6.12."""
    return f'stock-{name}' if name[:1].isdigit() else name


def _override(test, options):
    """Options on the command line win over the header of the test."""
    for name in ('guests', 'cpus', 'memory', 'timeout'):
        if getattr(options, name):
            setattr(test, name, getattr(options, name))
    if options.load is not None:
        test.modules = options.load.replace(',', ' ').split()
    for words in options.boot:
        test.boot = test.boot + shlex.split(words)
    return test


def _modules_folder(kernel, options, names):
    """Where our modules are; not built if no test loads any of them."""
    if options.modules:
        modules = Path(options.modules).resolve()
        if not modules.is_dir():
            raise Trouble(f'--modules {options.modules}: no such folder')
        return modules
    return kernel.build_modules() if not kernel.has_modules(names) else ''


def _config(kernel, options, tests):
    """What the agent and the tests are told."""
    modules = _modules_folder(kernel, options, [name for test in tests for name in test.modules])
    required = any(test.needs_tap for test in tests)
    variables = {name: os.environ[name] for test in tests for name in test.variables
                 if name in os.environ}
    return {**variables, 'VM_MODULES': modules,
            'VM_RXE': kernel.build_rxe_v1() if any(test.roce == 'v1' for test in tests) else '',
            'VM_SELFTESTS': programs.build('tests/selftests', required),
            'VM_TOOLS': programs.build('tools', required),
            'VM_WINDOW': interactive.window_size()}


def _kernel(name, options):
    return Kernel(name, options.kernel_dir) if options.kernel_dir else Kernel.get(name)


def _command_test(options, folder):
    """--cmd as a test: its exit status counts, TAP is not needed."""
    script = folder / 'cmd.sh'
    script.write_text(f'#!/bin/bash\n. {shlex.quote(str(paths.VM / "lib.sh"))}\n{options.cmd}\n')
    script.chmod(0o755)
    return _override(testfile.Test('cmd', script, needs_tap=False, timeout=600), options)


def _show_rest(guest, rest, findings):
    """What came after the end; whether it is bad."""
    print(f'--- kernel log of guest {guest} after the end')
    print('\n'.join(rest.log))
    names = [finding.name for finding in findings]
    if rest.leak != []:
        print('\n'.join(rest.leak or ['no answer from kmemleak']))
        names.append('kmemleak')
    for name in names:
        print(f'--- FAILED guest {guest}: {name} after the end')
    return bool(names)


def run_command(options, folder):
    """Ad-hoc mode: output and kernel log as they are, then the verdict."""
    test = _command_test(options, folder)
    kernel = _kernel((options.kernel or test.kernels)[0], options)
    spec = Spec.for_test(test, kernel, _config(kernel, options, [test]))

    def show(guest, line):
        print(f'{guest.name}: {line}' if test.guests > 1 else line, flush=True)

    try:
        with Boot(spec, folder, show) as boot:
            boot.wait_up()
            facts = boot.run(test)
            ended = all(one.ended for one in facts.values())
            rests = boot.rest() if ended else {}
    except BootFailed as error:
        print('\n'.join(error.guest.log.lines[-30:]))
        raise Trouble(f'{error}; logs: {folder}') from None
    bad = False
    for name, one in facts.items():
        print(f'--- kernel log of guest {name}')
        print('\n'.join(one.log))
        for failure in verdict.judge(one):
            print(f'--- FAILED guest {name}: {failure.name}: {failure.detail}')
            if failure.name == 'hang':
                print('\n'.join(failure.lines))
            bad = True
    for name, rest in rests.items():
        bad |= _show_rest(name, rest, verdict.judge_rest(facts[name], rest))
    print(f'--- {"failed" if bad else "passed"}; logs: {folder}')
    return 1 if bad else 0


def _loaded_modules(options, kernel):
    """--load for an initramfs: files of ours by path, the kernel's own by name."""
    names = (options.load or '').replace(',', ' ').split()
    ours = _modules_folder(kernel, options, names)
    return [Path(ours, f'{name}.ko') if ours and Path(ours, f'{name}.ko').exists() else name
            for name in names]


def run_counted(options, folder):
    """--icount: the output, then the exit status of the command."""
    kernel = _kernel((options.kernel or ['stock-6.12'])[0], options)
    files = {name: Path(path) for name, _, path in
             (pair.partition('=') for pair in options.file)}
    job = icount.Job(kernel, options.cmd, programs=options.include, files=files,
                     modules=_loaded_modules(options, kernel), seed=options.seed,
                     cpus=options.cpus or 1, memory=options.memory or 1024,
                     append=[word for words in options.boot for word in shlex.split(words)])
    outcome = icount.run(job, folder, options.timeout or 3600)
    print(outcome.output, end='')
    return outcome.status


# If the user names the first kernel, the tests for the second one run on it
LIKE = {'stock-13': 'stock-6.12'}


def choose_tests(tests, kernel, options):
    """A test that is named runs wherever it is told to, others only where they are meant to."""
    if options.daily:
        return [test for test in tests if kernel in test.daily]
    named = options.tests and options.kernel
    return [test for test in tests if named or LIKE.get(kernel, kernel) in test.kernels]


def _prepare(name, tests, options, folder, report, suites):
    """A kernel, or modules for it, that cannot be had: a failure, and the others run all the same."""
    try:
        kernel = _kernel(name, options)
        config = _config(kernel, options, tests)
    except Trouble as trouble:
        report.printer.point(False, f'{name}: the kernel, and modules and programs for it')
        report.printer.comment(str(trouble))
        return
    suites.append((Suite(kernel, config, folder, report, options.isolate), tests))


def run_tests(options, folder):
    tests = [_override(test, options) for test in testfile.find(options.tests)]
    kernels = list(dict.fromkeys(options.kernel or
                                 [name for test in tests for name in test.kernels
                                  if fnmatchcase(name, options.only)]))
    printer = tap.Printer()
    report = TapReport(printer, options.verbose)
    printer.start()
    try:
        suites = []
        for name in kernels:
            chosen = choose_tests(tests, name, options)
            if chosen:
                _prepare(name, chosen, options, folder, report, suites)
        _run_suites(suites, options)
    except Trouble as trouble:
        printer.line(f'Bail out! {trouble}')
        raise
    return 0 if printer.finish() else 1


def _run_suites(suites, options):
    """Most guests have one processor: as many kernels as the host has run side by side."""
    # What comes as it is printed would come mixed
    jobs = 1 if options.verbose else min(options.jobs, len(suites))
    if jobs < 2:
        for suite, tests in suites:
            suite.run(tests)
        return
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(suite.run, tests) for suite, tests in suites]
        try:
            for future in futures:
                future.result()
        finally:
            # After an error or Ctrl-C; a suite that has ended does not mind.
            for suite, _ in suites:
                suite.stopped = True


def main(argv=None):
    options = parse(argv)
    try:
        if options.list:
            for test in testfile.find(options.tests):
                print(f'{test.name:30} {" ".join(test.kernels)}')
            return 0
        clock.scale()       # before anything is built
        qemu.require()
        folder = paths.new_log_folder()
        if options.shell or options.gdb:
            return interactive.run(options, folder, _override, _kernel, _config)
        if options.icount:
            if not options.cmd:
                raise Trouble('--icount needs --cmd')
            return run_counted(options, folder)
        if options.cmd:
            return run_command(options, folder)
        return run_tests(options, folder)
    except Trouble as trouble:
        print(f'tests/vm/run: {trouble}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
