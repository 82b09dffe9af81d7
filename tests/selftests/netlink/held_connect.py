#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Clients that are stopped at certain points of connect(), where they have a child of the server, or
leave it in TCP's queue: what the server and its other clients see.

usage: held_connect.py DEBUGFS NETDEV...

The RDMA device of the test gets the network devices.
"""

import contextlib
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import time

from cases import becomes, check, equal, run
from smc import LIBC, LIMIT, allow_slow_handshakes, connected, eventually, inet_socket, write
from spec import Family

PR_SET_NAME = 15
SHORT = 0.8             # a client that finds no place sends its second SYN after a second
TRIES = 3
CONNECTED, RESET, FAILED = range(3)

HOLD = f'{sys.argv[1]}/smc_hold'
FAMILY = Family('smc')
OVERTAKEN = []          # clients that have connected and did not stop


def held():
    """How many tasks are stopped."""
    with open(HOLD, encoding='ascii') as file:
        return int(file.read())


@contextlib.contextmanager
def stopping_in(function):
    write(HOLD, function)
    try:
        yield
    finally:
        write(HOLD, '-')


def listen(backlog):
    listener = inet_socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(('127.0.0.1', 0))
    listener.listen(backlog)
    listener.settimeout(LIMIT)
    return listener


def connect(address):
    sock = inet_socket()
    sock.settimeout(LIMIT)
    sock.connect(address)
    return sock


def play_client(address):
    """Return: what has become of the connection; a server that has it answers."""
    try:
        with connect(address) as sock:
            sock.send(b'x')
            return CONNECTED if sock.recv(2) == b'xy' else FAILED
    except (ConnectionResetError, BrokenPipeError):
        return RESET


def start(function, *arguments):
    """A process that stops."""
    pid = os.fork()
    if not pid:
        status = FAILED
        try:
            LIBC.prctl(PR_SET_NAME, b'held')
            status = function(*arguments)
        finally:
            os._exit(status)
    return pid


def is_readable(listener):
    return bool(select.select([listener], [], [], 0)[0])


def start_client(listener):
    """
    A client that stops; returns when it has done so. There is no child in the queue before. If the
    machine leaves packets to ksoftirqd, a kworker takes the child, and the client does not stop.
    """
    def play():
        address = listener.getsockname()
        listener.close()
        return play_client(address)
    before = held()
    for _ in range(TRIES):
        pid = start(play)
        eventually(lambda: held() == before + 1 or is_readable(listener))
        if held() == before + 1:
            break
        answer(listener).close()
        equal('a kworker was faster', outcome(pid), CONNECTED)
        OVERTAKEN.append(pid)
    equal('a client stops in connect()', held(), before + 1)
    return pid


def outcome(pid):
    status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status)


def read_byte(sock):
    try:
        return sock.recv(1)
    except ConnectionResetError:
        return b''


def answer(listener):
    """Take a connection whose client is alive, and answer it."""
    while True:
        sock = listener.accept()[0]
        sock.settimeout(LIMIT)
        byte = read_byte(sock)
        if byte:
            sock.send(byte + b'y')
            return sock
        sock.close()


def exchange(listener):
    """Return: how long another client waited for its connection, and the server for that."""
    begin = time.monotonic()
    with connect(listener.getsockname()) as sock:
        sock.send(b'x')
        with answer(listener):
            equal('another client gets its answer', sock.recv(2), b'xy')
    return time.monotonic() - begin


def check_others(listener):
    for _ in range(TRIES):          # the machine may be busy
        longest = exchange(listener)
        if longest < SHORT:
            break
    check('other clients do not wait for those that are stopped', longest < SHORT, longest)


def check_served(listener, pids):
    """The clients go on."""
    socks = [answer(listener) for _ in pids]
    equal('each client goes on', [outcome(pid) for pid in pids], [CONNECTED] * len(pids))
    for sock in socks:
        sock.close()


def take_child_later():
    """
    There is one place, and the child is in TCP's queue. Return: how long the next client waits, or
    the one after that; and how many of the four connections use SMC.
    """
    before = connected(FAMILY) - len(OVERTAKEN)
    with listen(0) as listener:
        with stopping_in('smc_client_child_take'):
            pids = [start_client(listener)]
            longest = exchange(listener)
            pids.append(start_client(listener))
            longest = max(longest, exchange(listener))
        check_served(listener, pids)
    return longest, connected(FAMILY) - len(OVERTAKEN) - before


def before_the_child_is_taken():
    for _ in range(TRIES):          # the machine may be busy
        longest, used = take_child_later()
        if longest < SHORT:
            break
    check('each next client finds a place', longest < SHORT, longest)
    equal('all use SMC', used, 4)   # the second SYN of a client that waits offers none


def before_the_child_is_handed_over():
    with listen(0) as listener:
        with stopping_in('smc_client_child_hand_over'):
            pids = [start_client(listener)]
            check_others(listener)
            check('poll() does not see the child', not is_readable(listener))
        check_served(listener, pids)


def places_are_taken_meanwhile():
    """More connections than the backlog has places are ready, and none is lost."""
    with listen(1) as listener:
        with stopping_in('smc_client_child_hand_over'):
            pids = [start_client(listener) for _ in range(2)]
            others = [connect(listener.getsockname()) for _ in range(2)]
        for sock in others:
            sock.send(b'x')
        socks = [answer(listener) for _ in others + pids]
        equal('each other client gets its answer', [sock.recv(2) for sock in others],
              [b'xy'] * len(others))
        equal('each client goes on', [outcome(pid) for pid in pids], [CONNECTED] * len(pids))
        for sock in socks + others:
            sock.close()


def listening_socket_is_closed():
    for function in ('smc_client_child_take', 'smc_client_child_step',
                     'smc_client_child_hand_over'):
        listener = listen(1)
        with stopping_in(function):
            pid = start_client(listener)
            listener.close()        # does not wait for the client
            equal('the client is still stopped', held(), 1)
        equal(f'the connection is reset, {function}', outcome(pid), RESET)


def socket_listens_again():
    """The children of another listening socket on the same sock are not those of the first."""
    listener = listen(1)
    port = listener.getsockname()[1]
    with stopping_in('smc_client_child_take'):
        pid = start_client(listener)
        disconnect(listener)
        listener.bind(('127.0.0.1', port))
        listener.listen(1)
        first = connect(listener.getsockname())
    equal('the connection is reset', outcome(pid), RESET)
    first.send(b'x')
    answer(listener).close()
    equal('that of the next client is not', first.recv(2), b'xy')
    first.close()
    listener.close()


def is_in_state(pid, state):
    """Does this process wait (S), or has it ended (Z)?"""
    with open(f'/proc/{pid}/stat', encoding='ascii') as file:
        return file.read().split()[1:3] == ['(held)', state]


def accept_once(listener):
    listener.settimeout(None)       # otherwise poll() waits
    try:
        listener.accept()
        return CONNECTED
    except OSError:
        return FAILED


def start_accept(listener):
    """An accept() that stops. If it gets no processor for a jiffy, a kworker takes the child."""
    for _ in range(TRIES):
        pid = start(accept_once, listener)
        check('accept() waits', eventually(lambda: is_in_state(pid, 'S')))
        with socket.create_connection(listener.getsockname(), LIMIT):
            eventually(lambda: held() or is_in_state(pid, 'Z'))
        if held():
            break
        equal('a kworker was faster', outcome(pid), CONNECTED)
    equal('accept() stops', held(), 1)
    return pid


def accept_of_a_socket_that_listens_again():
    """accept() has begun before, and finds the child of another listening socket in TCP's queue."""
    with listen(1) as listener:
        address = listener.getsockname()
        with stopping_in('smc_tcp_queue_take'):
            pid = start_accept(listener)
            disconnect(listener)
            listener.bind(address)
            listener.listen(1)
            client = socket.create_connection(address, LIMIT)
        equal('accept() fails', outcome(pid), FAILED)
        client.send(b'x')
        answer(listener).close()
        equal('the other connection is not touched', client.recv(2), b'xy')
        client.close()


def disconnect(sock):
    unspec = (ctypes.c_char * 16)()
    equal('connect(AF_UNSPEC)', LIBC.connect(sock.fileno(), unspec, len(unspec)), 0)


def client_is_killed():
    for function in ('smc_client_child_take', 'smc_client_child_step',
                     'smc_client_child_hand_over'):
        with listen(1) as listener:
            with stopping_in(function):
                pid = start_client(listener)
                os.kill(pid, signal.SIGKILL)
                check_others(listener)
            equal(f'the client is killed, {function}', outcome(pid), -signal.SIGKILL)
            check_others(listener)


@contextlib.contextmanager
def operator(*command):
    """Runs a command, which may wait for a client that is stopped."""
    process = subprocess.Popen(command)         # pylint: disable=consider-using-with
    try:
        yield process
    finally:
        process.kill()


def do(*command):
    with operator(*command) as process:
        try:
            equal(' '.join(command), process.wait(LIMIT), 0)
        except subprocess.TimeoutExpired:
            check(f'{" ".join(command)} does not wait', False)


def add_device(name, netdev):
    do('sh', '-c', f'echo add {name} {netdev} >/sys/module/memrdma/parameters/control')


def devices():
    return [m['dev-smcr']['ib-name'] for m in FAMILY.show('get-dev-smcr')]


def devices_change():
    """A client looks at an RDMA device. Others come and go; it goes when the client goes on."""
    add_device('mem0', sys.argv[2])
    with listen(4) as listener, contextlib.ExitStack() as stack:
        with stopping_in('look_at_device'):
            pid = start_client(listener)
            add_device('mem1', sys.argv[3])
            equal('the device is there', devices(), ['mem0', 'mem1'])
            do('rdma', 'dev', 'set', 'mem0', 'name', 'mem2')
            equal('the device is renamed', devices(), ['mem2', 'mem1'])
            do('rdma', 'link', 'del', 'mem1')
            equal('the device is removed', devices(), ['mem2'])
            removal = stack.enter_context(operator('rdma', 'link', 'del', 'mem2'))
            becomes('that of the client is not used any more', devices, [])
            check_others(listener)
            check('its removal waits for the client', removal.poll() is None)
        equal('and ends then', removal.wait(LIMIT), 0)
        check_served(listener, [pid])


allow_slow_handshakes()
run(before_the_child_is_taken, before_the_child_is_handed_over, places_are_taken_meanwhile,
    listening_socket_is_closed, socket_listens_again, accept_of_a_socket_that_listens_again,
    client_is_killed, devices_change)
