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
import sys
import time

import diag
import nl
import smc
from cases import check, equal, run
from diag import CONNINFO, DMBINFO, Diag, extensions

COUNT = int(sys.argv[1])
PAIRS = COUNT // 10     # these are connections, of the others nothing but the socket exists
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


class Crowd:
    """Thousands of sockets."""

    def __init__(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * COUNT, 2 * COUNT))
        smc.sysctl('rmem', 16384)
        self.listener = smc.smc_socket()
        self.listener.bind(('127.0.0.1', 0))
        self.listener.listen(128)
        self.socks = [self.listener]
        for _ in range(PAIRS // 2):
            client = smc.smc_socket()
            client.connect(self.listener.getsockname())
            self.socks += [client, self.listener.accept()[0]]
        while len(self.socks) < COUNT:
            self.socks.append(smc.smc_socket())

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


def quick():
    limit = int(os.environ.get('VM_SLOW', 1))
    for room in (SMALLEST, 32768):
        total, seconds = raw_dump(room)
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
    check('connections during 20 dumps', time.monotonic() - begin < 10,
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
    """No connection waits for the end of a dump, while somebody dumps all the time."""
    limit = 250 * int(os.environ.get('VM_SLOW', 1))
    alone = connect_times()
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
    check(f'none took longer than {limit} ms', beside[-1] < limit, beside[-10:])
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
    fresh = [smc.smc_socket() for _ in range(50)]
    rest = sock.receive(wants_ack=False)
    seen = inodes(first + rest.messages)
    equal('those that stay', sorted(set(seen) & set(stay)), stay)
    check('none twice', len([i for i in seen if i]) == len({i for i in seen if i}))
    CROWD.socks = [s for s in CROWD.socks if s.fileno() >= 0] + fresh
    check('the next dump is right', smc.eventually(
        lambda: sorted(s.inode for s in Diag().sockets()) == CROWD.inodes()))


def all_gone():
    """Dumps that were not finished when all sockets were closed."""
    readers = [start(CROWD.listener, SMALLEST) for _ in range(3)]
    for sock in CROWD.socks:
        sock.close()
    rest = readers[0][0].receive(wants_ack=False)
    check('one that is read on ends soon', rest.done and len(rest.messages) < COUNT, rest)
    del readers     # the others are given up
    check('all are gone', smc.eventually(lambda: not Diag().sockets()), len(Diag().sockets()))
    smc.sysctl('rmem', 512 << 10)


CROWD = Crowd()
run(complete, quick, too_small, connects_go_on, connects_beside_dumps, come_and_go, all_gone)
