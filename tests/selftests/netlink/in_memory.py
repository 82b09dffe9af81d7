#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Which handshakes go through memory, and which through TCP.

usage: in_memory.py TRACEFS CGROUP CLIENT SERVER
"""

import ctypes
import errno
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import nl
import smc
from cases import check, equal, run
from spec import Family

TRACEFS, CGROUP, CLIENT, SERVER = sys.argv[1:]
EVENT = Path(TRACEFS) / 'events/smc/smc_clc'
TRACE = Path(TRACEFS) / 'trace'
TRACING = Path(TRACEFS) / 'tracing_on'
MESSAGE = re.compile(r'smc_clc: sk=[0-9a-f]+ net=\d+ (sent|received) type=(\d) .* memory=([01])')
PROPOSAL, ACCEPT, CONFIRM, DECLINE = range(1, 5)
MEMORY, STREAM = 1, 0
# On a busy machine the kernel leaves packets to ksoftirqd, on top of which no program runs
TRIES = 20
IN_MEMORY = Counter({(end, kind, MEMORY): 1 for end in ('sent', 'received')
                     for kind in (PROPOSAL, ACCEPT, CONFIRM)})
IN_STREAM = Counter({(end, kind, STREAM): 1 for end in ('sent', 'received')
                     for kind in (PROPOSAL, ACCEPT, CONFIRM)})
WITHDRAWN = IN_STREAM + Counter({('sent', PROPOSAL, MEMORY): 1})
DECLINED = Counter({(end, kind, MEMORY): 1 for end in ('sent', 'received')
                    for kind in (PROPOSAL, DECLINE)})
ADDRESSES = {socket.AF_INET: '10.1.0.2', socket.AF_INET6: 'fd00:1::2'}


def nft(namespace, rules):
    subprocess.run(['ip', 'netns', 'exec', namespace, 'nft', rules], check=True)


class Rules:
    """Rules of a packet filter in a namespace, while it is needed."""

    def __init__(self, namespace, rules):
        self.namespace = namespace
        nft(namespace, rules)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        nft(self.namespace, 'flush ruleset')


class Setting:
    """handshake_in_memory is 0 in a namespace."""

    def __init__(self, namespace):
        self.namespace = namespace

    def _set(self, value):
        nl.namespace(self.namespace)
        smc.sysctl('handshake_in_memory', value)
        nl.namespace(CLIENT)

    def __enter__(self):
        self._set(0)

    def __exit__(self, *unused):
        self._set(1)


def listen(create=smc.smc_socket, family=socket.AF_INET, namespace=SERVER, address=None):
    nl.namespace(namespace)
    listener = create(family)
    nl.namespace(CLIENT)
    listener.bind((address or ADDRESSES[family], 0))
    listener.listen(8)
    return listener


def start_tracing():
    TRACE.write_text('')
    TRACING.write_text('1')


def messages_so_far():
    """The messages since start_tracing(), by end, type and way."""
    return Counter((end, int(kind), int(memory))
                   for end, kind, memory in MESSAGE.findall(TRACE.read_text()))


def messages():
    """The same; no more are counted."""
    TRACING.write_text('0')
    return messages_so_far()


def exchange(listener, create, to=None):
    """A connection whose data goes both ways: the messages of its handshake."""
    start_tracing()
    with create(listener.family) as client:
        client.settimeout(smc.LIMIT)
        listener.settimeout(smc.LIMIT)
        client.connect(to or listener.getsockname())
        with listener.accept()[0] as server:
            for sender, receiver in ((client, server), (server, client)):
                sender.sendall(b'some data')
                if receiver.recv(9, socket.MSG_WAITALL) != b'some data':
                    raise ValueError('other data')
            found = messages()
    return found


def goes(name, wanted, listener, create=smc.smc_socket, to=None):
    """At least one of some connections has these messages; data arrives in all of them."""
    for _ in range(TRIES):
        found = exchange(listener, create, to)
        if found == wanted:
            break
    equal(name, found, wanted)


def never(name, listener):
    """No connection of some offers anything in memory."""
    found = sum((exchange(listener, smc.smc_socket) for _ in range(TRIES)), Counter())
    equal(name, found, Counter({key: TRIES for key in IN_STREAM}))


def between_containers():
    for create in smc.smc_socket, smc.inet_socket:
        for family in ADDRESSES:
            with listen(create, family) as listener:
                goes(f'two namespaces, {create.__name__}, {family.name}', IN_MEMORY, listener,
                     create)


def over_loopback():
    with listen(namespace=CLIENT, address='127.0.0.1') as listener:
        goes('one namespace', IN_MEMORY, listener)


def segments():
    """Segments that TCP has sent in this namespace."""
    lines = [line.split() for line in Path('/proc/net/snmp').read_text().splitlines()
             if line.startswith('Tcp:')]
    return int(lines[1][lines[0].index('OutSegs')])


def six_segments():
    with listen(namespace=CLIENT, address='127.0.0.1') as listener:
        for _ in range(TRIES):
            before = segments()
            exchange(listener, smc.smc_socket)
            if smc.eventually(lambda: segments() - before >= 6) and segments() - before == 6:
                break
        equal('segments of a connection', segments() - before, 6)


def target(listener):
    return ':'.join(map(str, listener.getsockname()))


def counts(namespace):
    """Handshakes in memory, and offers withdrawn."""
    nl.namespace(namespace)
    counters = Family('smc').show('get-stats')[0]['stats']
    nl.namespace(CLIENT)
    return counters['hs-memory-cnt'], counters['hs-withdrawn-cnt']


def counters():
    """Each end counts a handshake in memory; the client counts an offer that it withdraws."""
    before = counts(CLIENT) + counts(SERVER)
    with listen() as listener:
        found = sum((exchange(listener, smc.smc_socket) for _ in range(TRIES)), Counter())
        with AcksLost():
            found += sum((exchange(listener, smc.smc_socket) for _ in range(TRIES)), Counter())
    in_memory = found['received', PROPOSAL, MEMORY]
    withdrawn = found['sent', PROPOSAL, MEMORY] - in_memory
    after = counts(CLIENT) + counts(SERVER)
    equal('counters of both ends', [now - then for now, then in zip(after, before)],
          [in_memory, withdrawn, in_memory, 0])
    check('there were both', in_memory and withdrawn, found)


def address_translation():
    to = ('10.9.9.9', 4444)
    subprocess.run(['ip', 'route', 'replace', '10.9.9.9', 'via', ADDRESSES[socket.AF_INET]],
                   check=True)
    with listen() as listener, Rules(SERVER, f'''
            add table ip t
            add chain ip t in {{ type nat hook prerouting priority -100; }}
            add rule ip t in ip daddr {to[0]} tcp dport {to[1]} dnat to {target(listener)}'''):
        goes('translated address and port', IN_MEMORY, listener, to=to)


class AcksLost(Rules):
    """Bare ACKs to the server are lost, so they create no child."""

    def __init__(self):
        super().__init__(SERVER, '''
            add table inet t
            add chain inet t in { type filter hook input priority 0; }
            add rule inet t in tcp flags & (syn|ack|fin|rst) == ack meta length 40-52 drop''')


def no_ack():
    with listen() as listener, AcksLost():
        goes('the ACK is lost', WITHDRAWN, listener)


class NoPlace:
    """A listening socket whose only place is taken: the offer of a further client stands."""

    def __init__(self):
        self.listener = listen()
        self.listener.listen(0)
        self.client = None
        self.first = smc.smc_socket()
        self.first.settimeout(smc.LIMIT)
        self.first.connect(self.listener.getsockname())
        if not smc.eventually(lambda: not objects('handshake')):
            raise RuntimeError('a handshake does not end')

    def connect(self):
        self.client = smc.smc_socket()
        self.client.setblocking(False)
        self.client.connect_ex(self.listener.getsockname())

    def close(self):
        for sock in (self.client, self.first, self.listener):
            if sock:
                sock.close()

    def accept(self):
        """Both connections: the messages of their handshakes."""
        self.listener.settimeout(smc.LIMIT)
        for _ in range(2):
            with self.listener.accept()[0] as server:
                server.sendall(b'some data')
        found = messages()
        for client in self.first, self.client:
            client.settimeout(smc.LIMIT)
            equal('data arrives', client.recv(9, socket.MSG_WAITALL), b'some data')
        self.close()
        return found

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def crowded(name, wanted, wait):
    """Waits before it accepts two connections, of which one has no place."""
    for _ in range(TRIES):
        start_tracing()
        with NoPlace() as full:
            full.connect()
            wait()
            found = full.accept()
        if found == wanted:
            break
    equal(name, found, wanted)


def no_place():
    crowded('no place is free in time', IN_MEMORY + WITHDRAWN,
            lambda: smc.eventually(lambda: messages_so_far()['sent', PROPOSAL, STREAM]))
    crowded('a place is free in time', IN_MEMORY + IN_MEMORY, lambda: None)


def while_offer_stands(name, act):
    """Acts while an offer stands, which then goes, and not because its time is over."""
    for _ in range(TRIES):
        with NoPlace() as full:
            withdrawn = counts(CLIENT)[1]
            start_tracing()
            seen = act(full)
            left = objects('pair')
            if seen and counts(CLIENT)[1] == withdrawn:
                break
    check(f'{name}: an offer stood', seen)
    equal(f'{name}: no offer is left', left, 0)


def has_offered():
    """Has a client offered its Proposal since start_tracing()?"""
    return messages_so_far()['sent', PROPOSAL, MEMORY]


def close_client(full):
    full.connect()
    seen = has_offered()
    full.client.close()
    return seen


def disconnect_client(full):
    full.connect()
    seen = has_offered()
    disconnect(full.client)
    return seen


def kill_client(full):
    """It waits in connect()."""
    pid = os.fork()
    if not pid:
        try:
            smc.smc_socket().connect(full.listener.getsockname())
        finally:
            os._exit(0)
    end = time.monotonic() + 1
    while not (seen := has_offered()) and time.monotonic() < end:
        pass
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return seen


def ends_of_offers():
    while_offer_stands('the client closes', close_client)
    while_offer_stands('the client disconnects', disconnect_client)
    while_offer_stands('the client is killed', kill_client)


def server_closes():
    """While an offer stands."""
    for _ in range(TRIES):
        with NoPlace() as full:
            withdrawn = counts(CLIENT)[1]
            start_tracing()
            full.connect()
            seen = has_offered() and counts(CLIENT)[1] == withdrawn
            full.listener.close()
            select.select([], [full.client], [], smc.LIMIT)
            error = full.client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            left = objects('pair')
            if seen:
                break
    check('the server closes: an offer stood', seen)
    equal('the client is reset', error, errno.ECONNRESET)
    equal('no offer is left', left, 0)


def disconnect(sock):
    """connect(AF_UNSPEC), which Python cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.connect(sock.fileno(), bytes(16), 16):
        raise OSError(ctypes.get_errno(), 'cannot disconnect')


def not_allowed():
    with listen() as listener:
        with Setting(CLIENT):
            never('not allowed at the client', listener)
        with Setting(SERVER):
            never('not allowed at the server', listener)
        goes('allowed again', IN_MEMORY, listener)


def enter(cgroup):
    Path(cgroup, 'cgroup.procs').write_text(str(os.getpid()))


def another_cgroup():
    own = Path('/proc/self/cgroup').read_text().split('::')[1].strip()
    enter(CGROUP)
    listener = listen()
    enter(os.path.dirname(CGROUP) + own)
    with listener:
        goes('a server of another cgroup', IN_MEMORY, listener)


def another_user():
    os.seteuid(65534)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, nl.IPPROTO_SMC)
    os.seteuid(0)
    listener.bind(('127.0.0.1', 0))
    listener.listen(8)
    with listener:
        goes('a server of another user', IN_MEMORY, listener)


def low_priority():
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    try:
        with listen() as listener:
            goes('a client of low priority', IN_MEMORY, listener)
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, 0)


def deferred():
    with listen() as listener:
        listener.setsockopt(socket.SOL_TCP, socket.TCP_DEFER_ACCEPT, 10)
        start_tracing()
        with smc.smc_socket() as client:
            client.connect(listener.getsockname())
            client.sendall(b'some data')
            with listener.accept()[0] as server:
                equal('data of a deferred child', server.recv(9, socket.MSG_WAITALL), b'some data')
        equal('a listener that defers its children', messages(), IN_STREAM)


def declined():
    """The server declines in memory, and both ends go on with TCP."""
    with listen() as listener:
        listener.setsockopt(socket.SOL_SOCKET, 47, 1 << 30)     # SO_MAX_PACING_RATE
        goes('the server declines', DECLINED, listener)
        check('all places are free again', smc.eventually(lambda: objects('pair') == 0))


def objects(kind):
    """Live objects of the module."""
    for line in Path('/sys/kernel/debug/smc/objects').read_text().splitlines():
        if line.split()[0] == kind:
            return int(line.split()[1])
    raise KeyError(kind)


def plain_server():
    with listen(smc.tcp_socket) as listener:
        goes('a TCP server', Counter(), listener)


nl.namespace(CLIENT)
(EVENT / 'enable').write_text('1')
run(between_containers, over_loopback, six_segments, counters, address_translation, no_ack,
    no_place, ends_of_offers, server_closes, not_allowed, another_cgroup, another_user,
    low_priority, deferred, declined, plain_server)
(EVENT / 'enable').write_text('0')
