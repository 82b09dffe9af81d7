# SPDX-License-Identifier: GPL-2.0-only
"""Where things are: the checkout, and the cache outside of it."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import time
from pathlib import Path

from .errors import Trouble

HARNESS = Path(__file__).resolve().parent
VM = HARNESS.parent
TREE = VM.parent.parent
TESTS = VM / 'tests'
GUEST = VM / 'guest'

KEPT_RUNS = 100     # "make test-all" makes 25


def cache(*parts):
    """A folder below the project's cache, created if needed; raises Trouble if it cannot be."""
    base = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    path = Path(base, 'smc', *parts)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Trouble(f'{path}: {error.strerror}; XDG_CACHE_HOME names another place') from error
    return path


@contextlib.contextmanager
def build_folder(name):
    """
    The folder for what is built from a part of this checkout, locked as long as it is used.
    Other checkouts have their own.
    """
    digest = hashlib.sha256(str(TREE).encode()).hexdigest()[:10]
    folder = cache('build', f'{name.replace("/", "-")}-{digest}')
    with open(folder / '.lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def is_used(folder):
    """Does the process still run that has made this folder of logs? A long one outlives many others."""
    return Path('/proc', folder.name.rpartition('-')[2]).exists()


def new_log_folder(*parts):
    """A fresh folder for the logs of one run (vm/logs, unless told); only the newest runs are kept."""
    base = cache(*parts or ('vm', 'logs'))
    try:
        return _new_folder(base)
    except OSError as error:
        raise Trouble(f'{base}: {error.strerror}') from error


def _new_folder(base):
    for old in sorted(base.iterdir())[:-KEPT_RUNS]:
        if not is_used(old):
            shutil.rmtree(old, ignore_errors=True)
    folder = base / f'{time.strftime("%Y%m%d-%H%M%S")}-{os.getpid()}'
    folder.mkdir()
    return folder
