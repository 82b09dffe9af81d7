#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: scale.py SOCKETS

Dumps of very many sockets: complete, quick, with any receive buffer, while sockets come and go,
and given up in the middle.
"""

import os
import resource
import select
import socket
import struct
import subprocess
import sys
import time

import diag
import nl
import smc
from cases import check, equal, run
from diag import CONNINFO, DMBINFO, FALLBACK, Diag, extensions

COUNT = int(sys.argv[1])
PAIRS = COUNT // 10     # these are ends of SMC connections, the others fell back
EXT = extensions(CONNINFO, DMBINFO)
SMALLEST = 4096         # the kernel makes no smaller parts of a dump than a page less overhead


def start(listener, room=65536):
    """A dump of which one part was read."""
    sock = Diag(room)
    sock.send(diag.SOCK_DIAG_BY_FAMILY, nl.F_REQUEST | nl.F_DUMP, Diag.payload())
    return sock, list(sock.messages())


def inodes(messages):
    return [diag.Socket(message).inode for message in messages]


def raw_dump(room, ext=EXT):
    """Number of bytes and seconds of a dump which nobody decodes."""
    sock = Diag(room)
    begin = time.monotonic()
    sock.send(diag.SOCK_DIAG_BY_FAMILY, nl.F_REQUEST | nl.F_DUMP, Diag.payload(ext))
    total, end = 0, b''
    while True:
        data = sock.sock.recv(room)
        total += len(data)
        end = data[-20:]
        if len(end) == 20 and end[4:6] == b'\3\0':
            break
    return total, time.monotonic() - begin


class TcpServer:
    """It knows nothing of SMC: its clients fall back."""

    def __init__(self):
        self.listener = smc.tcp_socket()
        self.listener.bind(('127.0.0.1', 0))
        self.listener.listen(128)
        self.address = self.listener.getsockname()
        self.ends = []

    def connect(self):
        client = smc.smc_socket()
        client.connect(self.address)
        self.ends.append(self.listener.accept()[0])
        return client


class Crowd:
    """Thousands of sockets."""

    def __init__(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (3 * COUNT, 3 * COUNT))
        smc.sysctl('rmem', 16384)
        smc.allow_slow_handshakes()
        self.listener = smc.smc_socket()
        self.listener.bind(('127.0.0.1', 0))
        self.listener.listen(128)
        self.socks = [self.listener]
        for _ in range(PAIRS // 2):
            client = smc.smc_socket()
            client.connect(self.listener.getsockname())
            self.socks += [client, self.listener.accept()[0]]
        self.server = TcpServer()
        while len(self.socks) < COUNT:
            self.socks.append(self.server.connect())

    def inodes(self):
        return sorted(os.fstat(sock.fileno()).st_ino for sock in self.socks)


def complete():
    for room in (SMALLEST, 8192, 32768, 262144):
        found = Diag(room).sockets(EXT)
        equal(f'all sockets, once, with a buffer of {room} bytes', sorted(s.inode for s in found),
              CROWD.inodes())
    equal('the connections among them are whole',
          sum(CONNINFO in s.attributes and DMBINFO in s.attributes for s in found),
          len([s for s in found if s.mode == diag.SMCD]))
    equal('the others tell why they fell back',
          sum(s.attributes[FALLBACK] == (smc.PEER_NO_SMC, 0) for s in found), COUNT - PAIRS - 1)


def shown_by_smcss():
    lines = subprocess.run(['smcss'], stdout=subprocess.PIPE, text=True, check=True).stdout
    equal('smcss shows all that fell back', lines.count(f' TCP {smc.PEER_NO_SMC:#010x}'),
          COUNT - PAIRS - 1)


def quick():
    limit = int(os.environ.get('VM_SLOW', 1))
    for room in (SMALLEST, 32768):
        # A busy machine may hold up some of them
        total, seconds = min((raw_dump(room) for _ in range(5)), key=lambda dump: dump[1])
        check(f'a dump with a buffer of {room} bytes takes less than {limit} s',
              seconds < limit, f'{seconds} s')
        print(f'# {COUNT} sockets, {total} bytes, buffer {room}: {seconds * 1000:.1f} ms')


def too_small():
    """What does not fit is cut off by the kernel as for every dump; the next one is complete."""
    sock = Diag()
    sock.send(diag.SOCK_DIAG_BY_FAMILY, nl.F_REQUEST | nl.F_DUMP, Diag.payload())
    _, _, flags, _ = sock.sock.recvmsg(16)
    check('a buffer of 16 bytes: cut off', flags & socket.MSG_TRUNC)
    sock.close()
    equal('the next dump is complete', len(Diag().sockets()), COUNT)


def connects_go_on():
    """A reader that stops in the middle keeps nobody."""
    readers = [start(CROWD.listener, SMALLEST)[0] for _ in range(20)]
    begin = time.monotonic()
    for _ in range(20):
        smc.Pair().close()
    check('connections during 20 dumps', time.monotonic() - begin < smc.LIMIT,
          f'{time.monotonic() - begin} s')
    for reader in readers:
        reader.close()


def dump_until_told(stop):
    """One dump after the other; prints how many, and the longest time."""
    status, times, poll = 1, [], select.poll()
    try:
        poll.register(stop, select.POLLIN)
        while not poll.poll(0):
            times.append(raw_dump(32768)[1] * 1000)
        print(f'# beside connections: {len(times)} dumps, longest {max(times):.1f} ms', flush=True)
        status = 0 if len(times) > 1 else 1
    finally:
        os._exit(status)


def connect_times():
    """Of 100 connections, sorted, in milliseconds."""
    times = []
    for _ in range(100):
        begin = time.monotonic()
        smc.Pair().close()
        times.append((time.monotonic() - begin) * 1000)
    return sorted(times)


def connects_beside_dumps():
    """
    No connection waits for the end of a dump, while somebody dumps all the time: nearly all would. A
    busy machine may hold up some.
    """
    alone = connect_times()
    limit = 250 * int(os.environ.get('VM_SLOW', 1)) + 10 * alone[90]
    stop, told = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        dump_until_told(stop)
    beside = connect_times()
    os.write(told, b'.')
    equal('sockets were dumped all the time', os.waitpid(pid, 0)[1], 0)
    print(f'# a connection: median {alone[50]:.1f} ms, longest {alone[-1]:.1f} ms; beside dumps '
          f'median {beside[50]:.1f} ms, longest {beside[-1]:.1f} ms')
    check(f'of 100, 90 took less than {limit:.1f} ms', beside[90] < limit, beside[-20:])
    os.close(stop)
    os.close(told)


def come_and_go():
    """Sockets that are there all the time are seen once, whatever else happens."""
    sock, first = start(CROWD.listener, SMALLEST)
    # The newest are shown first: close some which were shown, and some which were not.
    gone = CROWD.socks[-20:] + CROWD.socks[COUNT // 2:COUNT // 2 + 500] + CROWD.socks[1:41]
    stay = sorted(set(CROWD.inodes()) - {os.fstat(s.fileno()).st_ino for s in gone})
    for one in gone:
        one.close()
    fresh = [CROWD.server.connect() for _ in range(50)]
    rest = sock.receive(wants_ack=False)
    seen = inodes(first + rest.messages)
    equal('those that stay', sorted(set(seen) & set(stay)), stay)
    check('none twice', len([i for i in seen if i]) == len({i for i in seen if i}))
    CROWD.socks = [s for s in CROWD.socks if s.fileno() >= 0] + fresh
    # A closed connection whose peer has not closed may stay for a minute, without an inode
    check('the next dump is right', smc.eventually(
        lambda: sorted(s.inode for s in Diag().sockets() if s.inode) == CROWD.inodes()))


class Stuck:
    """A client whose SYN finds the backlog full, until that is emptied; then it falls back."""

    def __init__(self):
        self.server = smc.tcp_socket()
        self.server.bind(('127.0.0.1', 0))
        self.server.listen(0)
        self.first = smc.tcp_socket()
        self.first.connect(self.server.getsockname())
        self.client = smc.smc_socket()
        self.client.setblocking(False)
        self.client.connect_ex(self.server.getsockname())
        self.inode = os.fstat(self.client.fileno()).st_ino

    def let_in(self):
        """Both wait for TCP, which sends the SYN again after a second."""
        ends = [self.server.accept()[0] for _ in range(2)]
        poll = select.poll()
        poll.register(self.client, select.POLLOUT)
        poll.poll()
        check('it has fallen back', not smc.is_smc(self.client))
        return ends


def fall_back_meanwhile():
    """Before the dump has come to it, or behind that."""
    late = Stuck()
    between = [CROWD.server.connect() for _ in range(200)]
    early = Stuck()
    sock, first = start(CROWD.listener, SMALLEST)
    check('one was shown before', early.inode in inodes(first))
    check('the other one was not', late.inode not in inodes(first))
    ends = early.let_in() + late.let_in()
    seen = inodes(first + sock.receive(wants_ack=False).messages)
    equal('one that falls back behind a dump is seen once', seen.count(early.inode), 1)
    equal('one that falls back in front of it, too', seen.count(late.inode), 1)
    seen = [s.inode for s in Diag().sockets()]
    equal('and so in the next dump', (seen.count(early.inode), seen.count(late.inode)), (1, 1))
    for one in ends + between + [early.client, late.client]:
        one.close()


def entries():
    """Number of objects of the slab that what fell back is in, a little too high."""
    with open('/proc/slabinfo', encoding='ascii') as table:
        return sum(int(line.split()[1]) for line in table if line.startswith('kmalloc-cg-64 '))


def short_ones_leave_nothing():
    """Nobody looks, and the list does not keep what is over."""
    server, before = TcpServer(), entries()
    for _ in range(2 * COUNT):
        client = server.connect()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        client.close()
        server.ends.pop().close()
    # The kernel frees some of them later
    check('short connections: the list is no longer than with the others',
          smc.eventually(lambda: entries() - before < COUNT), entries() - before)
    server.listener.close()


def all_gone():
    """Dumps that were not finished when all sockets were closed."""
    readers = [start(CROWD.listener, SMALLEST) for _ in range(3)]
    for sock in CROWD.socks:
        sock.close()
    for one in CROWD.server.ends:
        one.close()
    rest = readers[0][0].receive(wants_ack=False)
    check('one that is read on ends soon', rest.done and len(rest.messages) < COUNT, rest)
    del readers     # the others are given up
    check('all are gone', smc.eventually(lambda: not Diag().sockets()), len(Diag().sockets()))
    smc.sysctl('rmem', 4 << 20)


CROWD = Crowd()
run(complete, shown_by_smcss, quick, too_small, connects_go_on, connects_beside_dumps, come_and_go,
    fall_back_meanwhile, short_ones_leave_nothing, all_gone)
