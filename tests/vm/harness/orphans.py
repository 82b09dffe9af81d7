# SPDX-License-Identifier: GPL-2.0-only
"""No process outlives the runner that started it, not even in a session of its own."""

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def _parent(stat):
    """The parent in a file /proc/PID/stat; the name of the program, in parentheses, may hold anything."""
    return int(stat.rpartition(')')[2].split()[1])


def _children():
    found = []
    for path in Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):
            if _parent(path.read_text(encoding='utf-8', errors='replace')) == os.getpid():
                found.append(int(path.parent.name))
    return found


def _end_all():
    """Kills the children, and theirs when they have become ours."""
    while children := _children():
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _leave(number, _frame):
    sys.exit(128 + number)


@contextlib.contextmanager
def ended():
    """
    What this process starts, and what is started there, ends with the block; so it does if a signal ends
    this process that can be handled. User Mode Linux has a session of its own, so a signal to a process
    group does not end it, and one of its threads does not end with it. Only for the main thread.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    for number in signal.SIGTERM, signal.SIGHUP:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _leave)
    try:
        yield
    finally:
        _end_all()
