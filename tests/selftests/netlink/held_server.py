#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Clients of a server that gets no processor: how long connect() takes, over TCP and over SMC.

usage: held_server.py CGROUP
"""

import contextlib
import os
import select
import signal
import socket
import sys
import time

from cases import check, run
from nl import IPPROTO_SMC
from smc import LIBC, allow_slow_handshakes, connected, delayed, write
from spec import Family

CONNECTIONS = 5
TRIES = 3
PERIOD = 1              # seconds, of the quota: the longest that there is
SHORT = 0.3 * PERIOD    # on a slow machine
HOGS = 2
PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207

CGROUP = sys.argv[1]
FAMILY = Family('smc')


def listen(protocol):
    """A listening socket of the server's cgroup."""
    own = open('/proc/self/cgroup', encoding='ascii').read().split('::')[1].strip()
    write(f'{CGROUP}/cgroup.procs', str(os.getpid()))
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    write(f'{os.path.dirname(CGROUP)}{own}/cgroup.procs', str(os.getpid()))
    listener.bind(('127.0.0.1', 0))
    listener.listen(4 * CONNECTIONS)
    return listener


def serve(listener, polls):
    while True:
        if polls:
            select.select([listener], [], [])
        listener.accept()[0].close()


def hog():
    while True:
        pass


def start(function, *arguments):
    pid = os.fork()
    if not pid:
        try:
            function(*arguments)
        finally:
            os._exit(1)
    return pid


def end(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def connect_once(protocol, address):
    """Return: how long connect() took."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as sock:
        begin = time.monotonic()
        sock.connect(address)
        return time.monotonic() - begin


@contextlib.contextmanager
def hogs(cgroup=None):
    pids = [start(hog) for _ in range(HOGS)]
    for pid in pids:
        if cgroup:
            write(f'{cgroup}/cgroup.procs', str(pid))
    try:
        yield
    finally:
        for pid in pids:
            end(pid)


@contextlib.contextmanager
def quota(pid):
    """The cgroup has a thousandth of a processor, and another process takes it."""
    write(f'{CGROUP}/cgroup.procs', str(pid))
    write(f'{CGROUP}/cpu.max', f'1000 {PERIOD * 1000000}')
    with hogs(CGROUP):
        try:
            yield
        finally:
            write(f'{CGROUP}/cpu.max', 'max')


@contextlib.contextmanager
def little_weight(pid):
    """The cgroup gets what others leave."""
    write(f'{CGROUP}/cgroup.procs', str(pid))
    write(f'{CGROUP}/cpu.weight', '1')
    with hogs(), hogs(CGROUP):
        yield
    write(f'{CGROUP}/cpu.weight', '100')


@contextlib.contextmanager
def idle(pid):
    """All others come first."""
    os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
    with hogs():
        yield


@contextlib.contextmanager
def realtime(pid):
    """Its processor is another's, and the client has one of its own."""
    os.sched_setaffinity(pid, {1})
    os.sched_setaffinity(0, {0})
    other = start(hog)
    try:
        os.sched_setaffinity(other, {1})
        os.sched_setscheduler(other, os.SCHED_FIFO, os.sched_param(1))
        yield
    finally:
        end(other)
        os.sched_setaffinity(0, {0, 1})


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)
    yield
    os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def traced(pid):
    check('the server can be traced', not LIBC.ptrace(PTRACE_SEIZE, pid, None, None)
          and not LIBC.ptrace(PTRACE_INTERRUPT, pid, None, None))
    os.waitpid(pid, 0)
    yield


@contextlib.contextmanager
def frozen(pid):
    write(f'{CGROUP}/cgroup.procs', str(pid))
    write(f'{CGROUP}/cgroup.freeze', '1')
    while 'frozen 1' not in open(f'{CGROUP}/cgroup.events', encoding='ascii').read():
        time.sleep(0.01)
    try:
        yield
    finally:
        write(f'{CGROUP}/cgroup.freeze', '0')


def measure(protocol, polls, hold):
    """Return: the times of some connections, in order of length."""
    with listen(protocol) as listener:
        pid = start(serve, listener, polls)
        connect_once(protocol, listener.getsockname())
        time.sleep(0.2)         # the server waits again
        before = connected(FAMILY)
        times = []
        try:
            with hold(pid):
                for _ in range(CONNECTIONS):
                    time.sleep(0.1)         # the others have used up what there was
                    times.append(connect_once(protocol, listener.getsockname()))
            smc = connected(FAMILY) - before
        finally:
            end(pid)
    check(f'{hold.__name__}: the protocol', smc == (protocol == IPPROTO_SMC) * CONNECTIONS, smc)
    return sorted(times)


def compare(hold, polls):
    way = 'polls' if polls else 'sleeps in accept()'
    for _ in range(TRIES):          # the machine may be busy
        tcp = measure(0, polls, hold)
        smc = measure(IPPROTO_SMC, polls, hold)
        for name, times in ('TCP', tcp), ('SMC', smc):
            print(f'# {hold.__name__}, {way}, {name}:', *(f'{t * 1000:.1f}' for t in times), 'ms')
        as_tcp = smc[-1] < max(SHORT, 2 * tcp[-1])
        if as_tcp:
            break
    check(f'{hold.__name__}, the server {way}: connect() does not wait for it', as_tcp, smc)


def asleep_in_accept():
    for hold in quota, little_weight, idle, realtime, stopped, traced, frozen:
        compare(hold, False)


def polling():
    for hold in quota, little_weight, idle:
        compare(hold, True)


allow_slow_handshakes()
with delayed('lo'):     # on top of connect() no packet comes, so it takes no steps of the server
    run(asleep_in_accept, polling)
