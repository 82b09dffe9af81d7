# SPDX-License-Identifier: GPL-2.0-only
"""SHELL=1 and GDB=1: a guest to look into."""

import os
import sys
from dataclasses import replace

from . import testfile, verdict
from .boot import Boot, BootFailed, Spec
from .errors import Trouble


def window_size():
    """Rows x columns of the terminal, for the shell in the guest."""
    try:
        size = os.get_terminal_size()
    except OSError:
        return ''
    return f'{size.lines}x{size.columns}'


def _say(text):
    print(text, file=sys.stderr, flush=True)


def _debugger_help(kernel, folder, guests):
    """How to attach, for somebody who is in a hurry."""
    image = kernel.debugger_image()
    symbols = f"'{image}' " if image else ''
    _say('The guest waits for a debugger before its first instruction. In another terminal:')
    for index in range(guests):
        _say(f"  gdb {symbols}-ex 'target remote :{1234 + index}'")
    if not image:
        _say(f'  ({kernel.name} has no vmlinux with symbols; debug-6.12 has: KERNEL=debug-6.12)')
    _say('  (gdb) hbreak panic')
    _say('  (gdb) continue')
    _say('Once the modules are loaded, interrupt the guest (Ctrl-C in gdb) and tell it where:')
    _say(f'  (gdb) source {folder}/modules-a.gdb')


def run(options, folder, override, get_kernel, get_config):
    """Boots what the chosen test needs, with a shell or a debugger; no time limits."""
    if options.tests:
        tests = testfile.find(options.tests)
        if len(tests) > 1:
            raise Trouble('SHELL=1 and GDB=1 take one test: choose it with T=NAME')
    else:
        tests = [testfile.Test('shell', None, needs_tap=False)]
    test = override(tests[0], options)
    kernel = get_kernel((options.kernel or test.kernels)[0], options)
    spec = Spec.for_test(test, kernel, get_config(kernel, options, [test]))
    if options.shell and not sys.stdin.isatty():
        raise Trouble('SHELL=1 needs a terminal')
    if options.gdb:
        _debugger_help(kernel, folder, test.guests)
    if test.path and options.shell:
        _say(f'The test is {test.path}')
    spec = replace(spec, gdb=options.gdb, terminal=options.shell)
    try:
        with Boot(spec, folder, _show) as boot:
            boot.wait_up()
            return _shell(boot, test) if options.shell else _run(boot, test)
    except BootFailed as error:
        raise Trouble(f'{error}; logs: {folder}') from None


def _show(guest, line):
    print(f'{guest.name}: {line}', flush=True)


def _shell(boot, test):
    boot.shell(test.modules)
    return 0


def _run(boot, test):
    if not test.path:
        raise Trouble('GDB=1 needs a test to run (T=NAME), or SHELL=1 as well')
    bad = False
    for name, facts in boot.run(test).items():
        for failure in verdict.judge(facts):
            print(f'FAILED guest {name}: {failure.name}: {failure.detail}')
            bad = True
    return 1 if bad else 0
