#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
SMC-R whose handshakes go through memory: the client offers SMC-D, too, and the server has no
SMC-D. RDMA devices in memory, mem0 of the client and mem1 of the server.

usage: in_memory_smcr.py CLIENT SERVER ADDRESS
"""

import contextlib
import errno
import os
import signal
import socket
import struct
import sys
import time
from pathlib import Path

import nl
import smc
from cases import check, equal, run
from spec import Family

CLIENT, SERVER, ADDRESS = sys.argv[1:]
EVERYTHING, WITHOUT_SMCD, SMCR_V1 = 15, 5, 1        # net.smc.variants
CONTROL = Path('/sys/module/memrdma/parameters/control')
RESET = struct.pack('ii', 1, 0)
# On a busy machine the kernel leaves packets to ksoftirqd, on top of which no program runs
TRIES = 20
SOON = 3        # seconds; the server waits 5 for the link, the client longer


@contextlib.contextmanager
def within(namespace):
    nl.namespace(namespace)
    try:
        yield
    finally:
        nl.namespace(CLIENT)


def counters(namespace):
    with within(namespace):
        return Family('smc').show('get-stats')[0]['stats']


def groups(namespace):
    with within(namespace):
        return Family('smc').show('get-lgr-smcr')


@contextlib.contextmanager
def completions_held(device):
    """The device makes completions, and nobody sees them: CONFIRM LINK has no answer."""
    CONTROL.write_text(f'set {device} hold=1')
    try:
        yield
    finally:
        CONTROL.write_text(f'set {device} hold=0')


def listen():
    with within(SERVER):
        listener = smc.smc_socket()
    listener.bind((ADDRESS, 0))
    listener.listen(8)
    listener.settimeout(smc.LIMIT)
    return listener


def no_group():
    """The next connection is a first contact."""
    check('groups end', smc.eventually(lambda: not groups(CLIENT) and not groups(SERVER)))


def in_memory():
    return counters(SERVER)['hs-memory-cnt']


def moves_data(client, server):
    for sender, receiver in ((client, server), (server, client)):
        sender.sendall(b'some data')
        if receiver.recv(9, socket.MSG_WAITALL) != b'some data':
            return False
    return smc.is_smc(client) and smc.is_smc(server)


def goes():
    with listen() as listener:
        before = in_memory()
        for _ in range(TRIES):
            with smc.smc_socket() as client:
                client.settimeout(smc.LIMIT)
                client.connect(listener.getsockname())
                with listener.accept()[0] as server:
                    check('data arrives both ways', moves_data(client, server))
        check('handshakes of SMC-R have gone through memory', in_memory() > before)
        equal('as many at the client', counters(CLIENT)['hs-memory-cnt'], in_memory())


def goes_version_1():
    with within(SERVER):
        smc.sysctl('variants', SMCR_V1)
    goes()
    with within(SERVER):
        smc.sysctl('variants', WITHOUT_SMCD)


def connect(listener):
    """What the process of begin() does."""
    status = 255
    try:
        address = listener.getsockname()
        listener.close()
        with smc.smc_socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            status = client.connect_ex(address)
            if not status:
                signal.pause()
    finally:
        os._exit(status)


def begin(listener):
    """A process in connect(), or connected, whose handshake goes through memory."""
    for _ in range(TRIES):
        no_group()
        before = in_memory()
        pid = os.fork()
        if not pid:
            connect(listener)
        smc.eventually(lambda: counters(SERVER)['hs-now'], 5)
        if in_memory() > before:
            return pid
        end(pid)
    raise RuntimeError('no handshake goes through memory')


def end(pid):
    os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def soon(what, attempt):
    """An end learns of the other one's end before its own time for the link is over."""
    for _ in range(3):
        took = attempt()
        if took < SOON:
            break
    check(what, took < SOON, took)


def client_ends(device):
    """The server waits for the link; it learns of the client's end from TCP's reset."""
    def attempt():
        with listen() as listener, completions_held(device):
            pid = begin(listener)
            before = counters(SERVER)['srv-hs-err-cnt']
            start = time.monotonic()
            end(pid)
            failed = smc.eventually(lambda: counters(SERVER)['srv-hs-err-cnt'] > before)
            took = time.monotonic() - start
            check('the server ends with an error', failed)
            return took
    soon(f'{device} holds: the server ends when the client does', attempt)


def server_ends():
    """The client waits for the link."""
    def attempt():
        listener = listen()
        with completions_held('mem0'):
            pid = begin(listener)
            start = time.monotonic()
            listener.close()
            _, status = os.waitpid(pid, 0)
            took = time.monotonic() - start
            equal('the client is told', os.waitstatus_to_exitcode(status), errno.ECONNRESET)
            return took
    soon('the client ends when the server does', attempt)


def client_ends_first():
    client_ends('mem0')


def client_ends_connected():
    client_ends('mem1')


nl.namespace(CLIENT)
for where, variants in ((CLIENT, EVERYTHING), (SERVER, WITHOUT_SMCD)):
    with within(where):
        smc.sysctl('variants', variants)
        smc.sysctl('smcr_idle_timeout', 1)
        smc.sysctl('handshake_timeout', 2 * smc.LIMIT)
run(goes, goes_version_1, client_ends_first, client_ends_connected, server_ends)
