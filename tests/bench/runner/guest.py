# SPDX-License-Identifier: GPL-2.0-only
"""Boots one guest from RAM alone, runs a plan in it, and hands on what it prints."""

import os
import shlex
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness import console, initramfs, qemu
from harness.clock import Deadline
from harness.errors import Trouble

from . import files

TICK = 0.2


@dataclass
class Setup:
    """One boot: the machine, what is loaded, what is run."""
    kernel: object
    plan: list                                      # lines for guest.sh
    rounds: int = 5
    paths: tuple = ('lo',)
    modules: list = field(default_factory=list)     # in this order: the kernel's by name, or files
    unload: str = ''                                # modules that have to go at the end
    eid: str = ''
    after: str = ''                                 # shell command at the end
    icount: bool = True
    seed: int = 1
    cpus: int = 1
    memory: int = 1024
    limit: int = 3600
    qemu: list = field(default_factory=list)        # more words for QEMU


def _archive(setup):
    archive = initramfs.Archive()
    files.add_all(archive)
    config = {'ROUNDS': setup.rounds, 'PATHS': ' '.join(setup.paths), 'UNLOAD': setup.unload,
              'EID': setup.eid, 'AFTER': setup.after}
    text = ''.join(f'{key}={shlex.quote(str(value))}\n' for key, value in config.items())
    archive.add(f'{files.AT}/config', text.encode())
    archive.add(f'{files.AT}/plan', ''.join(f'{line}\n' for line in setup.plan).encode())
    return archive


def _module_files(setup):
    order = []
    for module in setup.modules:
        order += [module] if isinstance(module, Path) else setup.kernel.module_order([module])
    return list(dict.fromkeys(order))


def _command(setup, folder, lines):
    path = folder / 'initramfs'
    initramfs.build_whole(path, _archive(setup), _module_files(setup), f'{files.AT}/guest.sh')
    machine = qemu.Machine(
        image=setup.kernel.image, initramfs=path, cpus=setup.cpus, memory=setup.memory,
        accel='tcg' if setup.icount else qemu.accelerator(setup.kernel.image),
        icount=setup.icount, seed=setup.seed,
        # A socket of family 43 must not load the distribution's module behind our back.
        append=['modprobe.blacklist=smc,smc_diag'])
    return qemu.batch_command(machine, lines) + setup.qemu


class _Tail:
    """Whole lines of a file that grows."""

    def __init__(self, path):
        path.touch()
        self._file = open(path, encoding='utf-8', errors='replace')     # pylint: disable=R1732
        self._rest = ''

    def lines(self):
        *complete, self._rest = (self._rest + self._file.read()).split('\n')
        return complete


def _follow(process, tail, setup, on_line):
    """Hands on lines until QEMU has ended; False if time ran out first."""
    deadline = Deadline(setup.limit)
    while True:
        ended = process.poll() is not None
        for line in tail.lines():
            on_line(line)
        if ended or deadline.passed():
            return ended
        time.sleep(TICK)


def run(setup, folder, on_line):
    """
    Runs the plan; what failed in it is in the lines.

    A guest that dies, hangs or whose kernel complains is Trouble.
    """
    lines = {'console': folder / 'console.log', 'agent': folder / 'output.log'}
    args = _command(setup, folder, lines)
    (folder / 'qemu.cmd').write_text(' '.join(args) + '\n')
    seen = []

    def take(line):
        seen.append(line)
        on_line(line)

    with open(folder / 'qemu.log', 'wb') as errors, \
            subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors) as process:
        try:
            in_time = _follow(process, _Tail(lines['agent']), setup, take)
        finally:
            process.kill()
            os.unlink(folder / 'initramfs')
    findings = console.scan(lines['console'].read_text(errors='replace').splitlines())
    if findings:
        raise Trouble(f'{findings[0].name} in the kernel log: {findings[0].lines[0]}; '
                      f'logs: {folder}')
    if not in_time:
        raise Trouble(f'the guest did not end within {setup.limit} seconds; logs: {folder}')
    if process.returncode:
        raise Trouble(f'QEMU ended with status {process.returncode}; logs: {folder}')
    if not seen or not seen[-1].startswith('@exit'):
        raise Trouble(f'the guest ended before its plan did; logs: {folder}')
