#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
How often the work queue takes steps of sockets while programs connect, exchange a byte, and close.

usage: connect_steps.py TRACEFS CGROUP
"""

import os
import select
import signal
import socket
import sys

import smc
from cases import check, equal, run
from spec import Family

CONNECTIONS = 100
# On a busy machine the kernel leaves packets to ksoftirqd, on top of which no program runs
FEW = CONNECTIONS // 2
TRIES = 4
NOBODY = 65534

TRACEFS, CGROUP = sys.argv[1:]
FAMILY = Family('smc')
EVENT = f'{TRACEFS}/events/workqueue/workqueue_queue_work'


def start_tracing():
    smc.write(f'{EVENT}/filter', 'workqueue == "smc"')
    smc.write(f'{TRACEFS}/trace', '')
    smc.write(f'{EVENT}/enable', '1')


def queued_works():
    """How many works of sockets were queued since start_tracing()."""
    smc.write(f'{EVENT}/enable', '0')
    with open(f'{TRACEFS}/trace', encoding='ascii', errors='replace') as file:
        return sum('function=run_sock_work' in line for line in file)


def listen():
    listener = smc.inet_socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(8)
    return listener


def accept(listener, polls):
    if not polls:
        return listener.accept()[0]
    listener.setblocking(False)
    while True:
        select.select([listener], [], [])
        try:
            sock = listener.accept()[0]
        except BlockingIOError:
            continue
        sock.setblocking(True)
        return sock


def serve(listener, polls):
    while True:
        with accept(listener, polls) as sock:
            sock.send(sock.recv(1))


def start_server(listener, polls):
    pid = os.fork()
    if not pid:
        try:
            serve(listener, polls)
        finally:
            os._exit(1)
    return pid


def exchange(address):
    with smc.inet_socket() as sock:
        sock.connect(address)
        sock.send(b'x')
        return sock.recv(1) + sock.recv(1)


def exchange_many(listener, polls):
    """Return: how many connections were SMC, and how many works the queue had."""
    pid = start_server(listener, polls)
    before = smc.connected(FAMILY)
    exchange(listener.getsockname())
    start_tracing()
    right = sum(exchange(listener.getsockname()) == b'x' for _ in range(CONNECTIONS))
    works = queued_works()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    equal('each byte comes back', right, CONNECTIONS)
    equal('all connections use SMC', smc.connected(FAMILY) - before, CONNECTIONS + 1)
    return works


def listen_in(cgroup):
    """A listening socket that belongs to the cgroup."""
    own = open('/proc/self/cgroup', encoding='ascii').read().split('::')[1].strip()
    root = os.path.dirname(cgroup)
    smc.write(f'{cgroup}/cgroup.procs', str(os.getpid()))
    listener = listen()
    smc.write(f'{root}{own}/cgroup.procs', str(os.getpid()))
    return listener


def listen_as(uid):
    """A listening socket that belongs to the user."""
    os.seteuid(uid)
    listener = listen()
    os.seteuid(0)
    return listener


def no_kworker(name, listener, polls=True):
    """connect() takes the steps of both ends."""
    for _ in range(TRIES):
        works = exchange_many(listener, polls)
        if works <= FEW:
            break
    check(f'the work queue is not needed: {name}', works <= FEW,
          f'{works} works of {CONNECTIONS} connections')


def within_a_cgroup():
    for polls, how in ((False, 'sleeps in accept()'), (True, 'polls')):
        with listen() as listener:
            no_kworker(f'the server {how}', listener, polls)


def connect_and_accept_at_once(listener):
    """Return: whether poll() and accept() have seen the connection, without waiting."""
    with smc.inet_socket() as sock:
        sock.connect(listener.getsockname())
        seen = select.select([listener], [], [], 0)[0] == [listener]
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            seen = False
    return seen


def another_cgroup():
    with listen_in(CGROUP) as listener:
        no_kworker('the server is of another cgroup', listener)
        for _ in range(TRIES):
            seen = sum(connect_and_accept_at_once(listener) for _ in range(CONNECTIONS))
            if seen == CONNECTIONS:
                break
    check('connections are there when connect() returns', seen > FEW, f'{seen} of {CONNECTIONS}')


def packets_delayed():
    with smc.delayed('lo'), listen() as listener:
        works = exchange_many(listener, True)
    check('a kworker takes the steps if packets are delayed', works >= CONNECTIONS,
          f'{works} works of {CONNECTIONS} connections')


def another_user():
    with listen_as(NOBODY) as listener:
        no_kworker('the server is of another user', listener)


def low_priority():
    with listen() as listener:
        os.setpriority(os.PRIO_PROCESS, 0, 1)
        try:
            no_kworker('the client has a low priority', listener)
        finally:
            os.setpriority(os.PRIO_PROCESS, 0, 0)


smc.allow_slow_handshakes()
run(within_a_cgroup, packets_delayed, another_cgroup, another_user, low_priority)
