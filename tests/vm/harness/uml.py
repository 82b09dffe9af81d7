# SPDX-License-Identifier: GPL-2.0-only
"""What the runners of User Mode Linux share: tests/uml/run and tests/kunit/run."""

import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from . import console, orphans, paths

BOOTED = re.compile(r'\bLinux version \d')
POWER_DOWN = 'reboot: Power down'


def folder_of(runner, script, *arguments):
    """The folder that one of the project's scripts prints; its progress goes to stderr."""
    done = subprocess.run([paths.TREE / script, *arguments], stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode or not done.stdout.strip():
        sys.exit(f'{runner}: {script} {" ".join(arguments)} failed, see above')
    return Path(done.stdout.strip().splitlines()[-1])


def boot(runner, kernel, log, seconds, words):
    """Runs the kernel in that folder until it powers off or time is up; returns its log's lines."""
    with tempfile.TemporaryDirectory() as scratch, open(log, 'wb') as output:
        command = [kernel / 'linux', 'root=/dev/root', 'rootfstype=hostfs', 'rootflags=/', 'ro',
                   'con=null', 'con0=fd:0,fd:1', 'panic=-1', 'loglevel=8', f'uml_dir={scratch}',
                   f'smc_out={log.parent}', *words]
        try:
            with orphans.ended():
                done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                                      stdout=output, stderr=subprocess.STDOUT, timeout=seconds,
                                      check=False)
            if done.returncode:
                output.write(f'\n{said_of_status(runner, done.returncode)}\n'.encode())
        except subprocess.TimeoutExpired:
            output.write(f'\nsmc-{runner}: no end after {seconds} s\n'.encode())
    return log.read_text(errors='replace').splitlines()


def said_of_status(runner, status):
    return f'smc-{runner}: status {status} of the kernel'


def forget_late_abort(runner, lines):
    """
    The lines without the status of a process that has aborted when its kernel was down. User Mode
    Linux does so in one of a hundred boots of a busy machine, whatever has run in it: it enables
    signals once more, and has no task any more that could take a clock tick.
    """
    said = [line for line in lines if line]
    late = said_of_status(runner, -signal.SIGABRT)
    if len(said) > 1 and said[-1] == late and said[-2].endswith(POWER_DOWN):
        return said[:-1]
    return lines


def problems(runner, lines):
    """
    What the kernel or its first process complained about, from the lines of the log. That process
    says "end" when all is done. A kernel that resets itself boots again, and would do all of it once more.
    """
    lines = forget_late_abort(runner, lines)
    said = [line.partition(f'smc-{runner}: ')[2] for line in lines if f'smc-{runner}: ' in line]
    found = [f'init: {text}' for text in said if text != 'end']
    if 'end' not in said:
        found.append('init did not come to its end')
    boots = sum(bool(BOOTED.search(line)) for line in lines)
    if boots != 1:
        found.append(f'the kernel booted {boots} times')
    for finding in console.scan(lines):
        found += [f'{finding.name}:', *finding.lines[:20]]
    return found
