#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: memcg.py SERVER-CGROUP CLIENT-CGROUP TRACEFS DEBUGFS

What the sockets of each side cost, as their memory cgroups see it.
"""

import errno
import os
import re
import select
import signal
import socket
import sys
import time
import traceback
from pathlib import Path

import smc
from cases import check, equal, run
from spec import Family

SERVER, CLIENT, TRACEFS, DEBUGFS = map(Path, sys.argv[1:])
SIDES = ('server', SERVER), ('client', CLIENT)
CONNECTIONS = 32
PROGRAM = Path('/proc/self/comm').read_text(encoding='ascii').strip()
FEW = 8
TRIES = 5
MANY = 600                  # cost the server several batches of pages
FEW_HELD_UP = 5             # each batch would hold up one, about 15
BUFFER = 1 << 19
EXPECTED = CONNECTIONS * BUFFER
OTHER = EXPECTED // 4       # everything else that a side may cost
DATA = 1 << 16
LITTLE = 1 << 20            # an eighth of what is free, so the share of buffers
ROOM = 1 << 20              # for everything but what the module charges
KINDS = (('AF_SMC', smc.smc_socket, socket.AF_INET), ('IPv4', smc.inet_socket, socket.AF_INET),
         ('IPv6', smc.inet_socket, socket.AF_INET6))


def used(cgroup):
    return int((cgroup / 'memory.current').read_text(encoding='ascii'))


def of_sockets(cgroup):
    lines = (cgroup / 'memory.stat').read_text(encoding='ascii').splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith('sock '))


def move_to(cgroup):
    (cgroup / 'cgroup.procs').write_text('0', encoding='ascii')


def buffers():
    """How many were fresh, and how many had served before, in this namespace so far."""
    counters = Family('smc').show('get-stats')[0]['stats']['smcd-tech']['rx-rmb-stats']
    return counters['alloc-cnt'], counters['reuse-cnt']


def connect(address, make=smc.smc_socket):
    """Without waiting: with a delay, the work queue takes the steps of both ends."""
    sock = make()
    sock.setblocking(False)
    try:
        sock.connect(address)
    except BlockingIOError:
        poll = select.poll()
        poll.register(sock, select.POLLOUT)
        poll.poll()
    return sock


class Side:
    """A process in a cgroup. It says when its work is done, and ends when it is told to."""

    def __init__(self, cgroup, work):
        self.ready, self.go = os.pipe(), os.pipe()
        self.pid = os.fork()
        if not self.pid:
            keep = None
            grown = -1
            try:
                signal.alarm(4 * smc.LIMIT)
                move_to(cgroup)
                before = used(cgroup)
                keep = work()
                grown = used(cgroup) - before
            except Exception:       # pylint: disable=broad-except
                traceback.print_exc()
            os.write(self.ready[1], str(grown).encode())
            os.read(self.go[0], 1)
            del keep
            os._exit(0)

    def grown(self):
        return int(os.read(self.ready[0], 32))

    def end(self):
        os.write(self.go[1], b'x')
        os.waitpid(self.pid, 0)
        for end in (*self.ready, *self.go):
            os.close(end)


def listen(port):
    listener = smc.smc_socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(CONNECTIONS)
    os.write(port[1], str(listener.getsockname()[1]).encode())
    return listener


def connections(make=smc.smc_socket, first=lambda sock: None):
    """A server and a client with connections."""
    def serve():
        listener = listen(port)
        os.read(connected[0], 1)
        return [listener.accept()[0] for _ in range(CONNECTIONS)]

    def ask():
        address = '127.0.0.1', int(os.read(port[0], 8))
        socks = [connect(address, make) for _ in range(CONNECTIONS)]
        for sock in socks:
            first(sock)
        os.write(connected[1], b'x')
        return socks

    port, connected = os.pipe(), os.pipe()
    return Side(SERVER, serve), Side(CLIENT, ask)


def no_sockets_left(what):
    for name, cgroup in SIDES:
        check(f'{what}: nothing is charged to the {name} afterwards',
              smc.eventually(lambda cgroup=cgroup: not of_sockets(cgroup)),
              f'{of_sockets(cgroup)} bytes')


def charged(what):
    with smc.changed_sysctl('rmem_start', BUFFER):
        sides = connections()
        all_grown = [side.grown() for side in sides]
    for (name, _), grown in zip(SIDES, all_grown):
        check(f'{what}: the {name} pays', EXPECTED <= grown <= EXPECTED + OTHER,
              f'{grown} bytes for {CONNECTIONS} connections with {BUFFER} bytes each')
    for side in sides:
        side.end()
    no_sockets_left(what)
    for name, cgroup in SIDES:
        check(f'{what}: the {name} does not pay for what is idle',
              smc.eventually(lambda cgroup=cgroup: used(cgroup) <= OTHER), f'{used(cgroup)} bytes')


def fresh():
    charged('fresh buffers')


def reused():
    """Each side has buffers of either now."""
    before = buffers()
    charged('buffers that served before')
    after = buffers()
    # Those of the last connections may be on their way to the pool
    check('nearly all of them had served before', after[1] - before[1] >= 2 * CONNECTIONS * 9 // 10,
          f'{after[1] - before[1]} of {2 * CONNECTIONS}; {after[0] - before[0]} fresh')


def tcp():
    """The listening socket is driven by events, so TCP's connections come in without accept()."""
    def say(sock):
        sock.setblocking(True)
        sock.sendall(bytes(DATA))

    sides = connections(smc.tcp_socket, say)
    for side in sides:
        check('connections with TCP', side.grown() >= 0)
    check('what has come in is charged to the server',
          smc.eventually(lambda: of_sockets(SERVER) >= CONNECTIONS * DATA),
          f'{of_sockets(SERVER)} bytes for {CONNECTIONS} connections with {DATA} bytes each')
    for side in sides:
        side.end()
    no_sockets_left('TCP')


def rings_grow():
    """What clients write and the server does not read is charged to the server."""
    def say(sock):
        sock.setblocking(True)
        sock.sendall(bytes(DATA))

    sides = connections(first=say)
    for side in sides:
        side.grown()
    charge = of_sockets(SERVER)
    check('grown buffers are charged to their owner',
          CONNECTIONS * DATA <= charge <= 4 * CONNECTIONS * DATA + OTHER, f'{charge} bytes')
    check('those of the writers stay small', of_sockets(CLIENT) <= OTHER,
          f'{of_sockets(CLIENT)} bytes')
    for side in sides:
        side.end()
    no_sockets_left('grown buffers')


def read_all(sock):
    sock.settimeout(smc.LIMIT)
    return len(smc.receive(sock, DATA)) == DATA


def write_at_limit(address, limit):
    """More than the server's cgroup may hold. Return: the sockets, and what each has taken."""
    limit.write_text(str(used(SERVER) + 8 * LITTLE), encoding='ascii')
    socks = [connect(address) for _ in range(CONNECTIONS)]
    check('all handshakes end', smc.eventually(
        lambda: not Family('smc').show('get-stats')[0]['stats']['hs-now']))
    return socks, [sock.send(bytes(DATA)) for sock in socks]


def rings_at_limit():
    """Buffers do not grow beyond their share of the cgroup: writers wait, and all data arrives."""
    def serve():
        listener = listen(port)
        os.read(written[0], 1)
        return [read_all(listener.accept()[0]) for _ in range(CONNECTIONS)]

    port, written = os.pipe(), os.pipe()
    limit = SERVER / 'memory.max'
    server = Side(SERVER, serve)
    socks, sent = write_at_limit(('127.0.0.1', int(os.read(port[0], 8))), limit)
    check('at the limit: the charge is kept', of_sockets(SERVER) <= LITTLE,
          f'{of_sockets(SERVER)} bytes')
    check('at the limit: some buffers have grown', max(sent) > smc.RING, sent)
    check('at the limit: some could not', min(sent) < DATA, sent)
    os.write(written[1], b'x')
    for sock, done in zip(socks, sent):
        sock.settimeout(smc.LIMIT)
        sock.sendall(bytes(DATA - done))
    check('at the limit: all data arrives', server.grown() >= 0)
    limit.write_text('max', encoding='ascii')
    server.end()
    for sock in socks:
        sock.close()
    for end in (*port, *written):
        os.close(end)
    no_sockets_left('at the limit')


def at_limit():
    """The kernel refuses to charge a socket, and tells those who trace that it does."""
    def ask():
        for name, make, family in KINDS:
            with make(family) as listener, make(family) as client:
                listener.listen()
                client.connect(listener.getsockname())
                limit.write_text(str(used(CLIENT) + ROOM), encoding='ascii')
                try:
                    charge.write_text(str(client.fileno()), encoding='ascii')
                    error = 0
                except OSError as refusal:
                    error = refusal.errno
                limit.write_text('max', encoding='ascii')
                equal(f'at its limit: {name} is not charged', error, errno.ENOMEM)

    limit = CLIENT / 'memory.max'
    charge = DEBUGFS / 'smc_charge'
    event = TRACEFS / 'events/sock/sock_exceed_buf_limit/enable'
    event.write_text('1', encoding='ascii')
    side = Side(CLIENT, ask)
    side.grown()
    side.end()
    event.write_text('0', encoding='ascii')
    trace = (TRACEFS / 'trace').read_text(encoding='ascii')
    # The kernel traces a charge that it refuses once or twice
    check('at its limit: the trace event tells of each', trace.count('proto:SMC ') >= len(KINDS),
          trace)


def beyond_high():
    """
    The kernel slows those down who allocate beyond memory.high. That must not hit a client, or a
    kworker, that takes steps of the server. It would for each batch of pages; a busy machine holds
    up a handshake now and then.
    """
    held_up = []
    while len(held_up) < TRIES and (not held_up or held_up[-1] > FEW_HELD_UP):
        held_up.append(held_up_beyond_high())
    check('beyond memory.high: handshakes have not waited for the cgroup',
          held_up[-1] <= FEW_HELD_UP, f'{held_up} of {MANY} took a second')


def by_kworkers():
    """The client's connect() takes no steps of the server."""
    with smc.delayed('lo'):
        charged('in the work queue')
        beyond_high()


def held_up_beyond_high():
    """How many of many handshakes take a second or more."""
    def serve():
        listener = smc.smc_socket()
        listener.bind(('127.0.0.1', 0))
        listener.listen(MANY)
        os.write(port[1], str(listener.getsockname()[1]).encode())
        return listener

    def ask():
        address = '127.0.0.1', int(os.read(port[0], 8))
        high.write_text('0', encoding='ascii')
        for _ in range(MANY):
            begin = time.monotonic()
            socks.append(connect(address))
            held_up[0] += time.monotonic() - begin >= 1
        high.write_text('max', encoding='ascii')

    high = SERVER / 'memory.high'
    port = os.pipe()
    socks, held_up = [], [0]
    server = Side(SERVER, serve)
    ask()
    for sock in socks:
        sock.close()
    server.end()
    os.close(port[0])
    os.close(port[1])
    return held_up[0]


def accepted_beyond_max(name, make):
    """A program that the OOM killer spares; it sleeps while its cgroup has no memory at all."""
    def serve():
        Path('/proc/self/oom_score_adj').write_text('-1000', encoding='ascii')
        listener = make()
        listener.bind(('127.0.0.1', 0))
        listener.listen(FEW)
        listener.settimeout(smc.LIMIT)
        os.write(port[1], str(listener.getsockname()[1]).encode())
        os.read(connected[0], 1)
        for child, _ in [listener.accept() for _ in range(FEW)]:
            with child:
                child.sendall(child.recv(1))

    def ask():
        sock = make()
        sock.settimeout(smc.LIMIT)
        sock.connect(address)
        return sock

    def talk(sock):
        with sock:
            sock.sendall(b'x')
            return sock.recv(1)

    port, connected = os.pipe(), os.pipe()
    server = Side(SERVER, serve)
    address = '127.0.0.1', int(os.read(port[0], 8))
    limit = SERVER / 'memory.max'
    limit.write_text('0', encoding='ascii')
    socks, errors = [], []
    for _ in range(FEW):
        try:
            socks.append(ask())
        except OSError as error:
            errors.append(error)
    limit.write_text('max', encoding='ascii')
    os.write(connected[1], b'x')
    equal(f'beyond memory.max: {name} connects', errors, [])
    if not errors:
        equal(f'beyond memory.max: {name} is served', [talk(sock) for sock in socks], [b'x'] * FEW)
    server.grown()
    server.end()
    for end in (*port, *connected):
        os.close(end)


def beyond_max():
    """TCP accepts connections for a cgroup that has no memory left; so does SMC."""
    accepted_beyond_max('TCP', smc.tcp_socket)
    accepted_beyond_max('SMC', smc.smc_socket)


def takes_child(address, trace):
    """Does this program, in connect(), receive the Proposal? A kworker may send it, and receive it."""
    trace.write_text('', encoding='ascii')
    with connect(address):
        receivers = re.findall(r'(\S+)-\d+ .* smc_clc: .* received type=1 ',
                               trace.read_text(encoding='ascii'))
    return PROGRAM in receivers


def left_at_limit():
    """At its limit the kernel reclaims memory of the cgroup: not in the connect() of another one."""
    def serve():
        Path('/proc/self/oom_score_adj').write_text('-1000', encoding='ascii')
        return listen(port)

    port = os.pipe()
    server = Side(SERVER, serve)
    server.grown()
    address = '127.0.0.1', int(os.read(port[0], 8))
    event, trace = TRACEFS / 'events/smc/smc_clc/enable', TRACEFS / 'trace'
    limit = SERVER / 'memory.max'
    event.write_text('1', encoding='ascii')
    # On a busy machine the kernel leaves packets to ksoftirqd, on top of which no program runs
    check('with room: connect() takes the child', smc.eventually(lambda: takes_child(address, trace)))
    limit.write_text('0', encoding='ascii')
    taken = [takes_child(address, trace) for _ in range(FEW)]
    limit.write_text('max', encoding='ascii')
    event.write_text('0', encoding='ascii')
    equal('without room: connect() leaves the child', taken, [False] * FEW)
    server.end()
    for end in port:
        os.close(end)


smc.allow_slow_handshakes()
run(fresh, reused, tcp, rings_grow, rings_at_limit, at_limit, beyond_high, beyond_max,
    left_at_limit, by_kworkers)
