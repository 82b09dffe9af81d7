#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Clients that get no processor in the middle of connect(): how long the server's other clients wait.

usage: held_client.py CGROUP
"""

import contextlib
import os
import signal
import socket
import sys
import time

from cases import check, run
from nl import IPPROTO_SMC
from smc import allow_slow_handshakes, connected, write
from spec import Family

TENANTS = 8
TIME = 4                # seconds of each measurement
PERIOD = 1              # seconds, of the quota: the longest that there is
SHORT = 0.3 * PERIOD    # on a slow machine
TRIES = 3

CGROUP = sys.argv[1]
FAMILY = Family('smc')


def throttled():
    """How often the cgroup had no quota left."""
    with open(f'{CGROUP}/cpu.stat', encoding='ascii') as file:
        return int(file.read().split('nr_throttled')[1].split()[0])


def listen(protocol):
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    listener.bind(('127.0.0.1', 0))
    listener.listen(4 * TENANTS)
    return listener


def serve(listener):
    while True:
        with listener.accept()[0] as sock:
            sock.send(b'x')


def connect_once(protocol, address):
    """Return: how long the client waited for the server's answer."""
    begin = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as sock:
        sock.connect(address)
        sock.recv(1)
    return time.monotonic() - begin


def connect_forever(protocol, listener):
    address = listener.getsockname()
    listener.close()
    while True:
        connect_once(protocol, address)


@contextlib.contextmanager
def processes(count, function, *arguments, cgroup=None):
    pids = []
    for _ in range(count):
        pid = os.fork()
        if not pid:
            try:
                if cgroup:
                    write(f'{cgroup}/cgroup.procs', str(os.getpid()))
                function(*arguments)
            finally:
                os._exit(1)
        pids.append(pid)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        if cgroup:
            write(f'{CGROUP}/cpu.max', 'max')
        for pid in pids:
            os.waitpid(pid, 0)


def measure(protocol):
    """
    Return: the longest time of a client without a quota, the time of close() of the listening
    socket while clients are held, and the connections of these clients that used SMC.
    """
    longest, number = 0, 0
    listener = listen(protocol)
    address = listener.getsockname()
    with processes(TENANTS, connect_forever, protocol, listener, cgroup=CGROUP):
        with processes(1, serve, listener):
            write(f'{CGROUP}/cpu.max', f'{PERIOD * 50000} {PERIOD * 1000000}')
            held, before = throttled(), connected(FAMILY)
            end = time.monotonic() + TIME
            while time.monotonic() < end:
                longest = max(longest, connect_once(protocol, address))
                number += 1
        check('clients were held', throttled() > held, throttled() - held)
        begin = time.monotonic()
        listener.close()
        closing = time.monotonic() - begin
    return longest, closing, connected(FAMILY) - before - number * (protocol == IPPROTO_SMC)


def clients_with_a_quota():
    for _ in range(TRIES):          # the machine may be busy
        tcp, tcp_closing, _ = measure(0)
        smc, smc_closing, tenants = measure(IPPROTO_SMC)
        print(f'# TCP: {tcp * 1000:.1f}, close() {tcp_closing * 1000:.1f} ms; '
              f'SMC: {smc * 1000:.1f}, close() {smc_closing * 1000:.1f} ms, '
              f'{tenants} connections with a quota')
        if smc < max(SHORT, 2 * tcp) and smc_closing < max(SHORT, 2 * tcp_closing):
            break
    check('the clients with a quota use SMC', tenants > 0, tenants)
    check('other clients do not wait for them', smc < max(SHORT, 2 * tcp), smc)
    check('close() does not wait for them', smc_closing < max(SHORT, 2 * tcp_closing), smc_closing)


allow_slow_handshakes()
run(clients_with_a_quota)
