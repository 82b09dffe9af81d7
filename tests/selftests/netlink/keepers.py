#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: keepers.py GIVER KEEPER

The end of a connection that stays open keeps its own ring, and not that of a peer that is gone.
GIVER and KEEPER are two network namespaces, joined by the devices eth0, with addresses that end in
.1 and .2. All that counts for the first one must be given back by what happens there alone. At the
end it is deleted.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import nl
import smc
from cases import becomes, check, equal, run
from spec import Family

PAIRS = 20
GROWN = 65536           # bytes of a ring into which the peer has written MUCH
PAGE = mmap.PAGESIZE
UNREAD = bytes(range(256)) * 4
MUCH = UNREAD * 20
OBJECTS = Path('/sys/kernel/debug/smc/objects')

SYS_USERFAULTFD = 323
UFFD_API, UFFDIO_API, UFFDIO_REGISTER = 0xaa, 0xc018aa3f, 0xc020aa00
REGISTER_MISSING = 1


class Namespace:
    """A network namespace, and what counts for it."""

    def __init__(self, name, host):
        self.name = name
        self.address = f'10.1.0.{host}'
        self.enter()
        self.family = Family('smc')

    def enter(self):
        nl.namespace(self.name)

    def used(self):
        return self.family.show('get-stats')[0]['stats']['share-used']

    def listener(self):
        self.enter()
        sock = smc.smc_socket()
        sock.bind((self.address, 0))
        sock.listen(PAIRS)
        return sock

    def connect(self, address):
        self.enter()
        sock = smc.smc_socket()
        sock.settimeout(smc.LIMIT)
        sock.connect(address)
        return sock


GIVER, KEEPER = (Namespace(name, host) for host, name in enumerate(sys.argv[1:], 1))


def buffers():
    lines = OBJECTS.read_text(encoding='ascii').splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith('dmb '))


def soon(condition):
    return smc.eventually(condition)


def nothing_is_left():
    return soon(lambda: not buffers() and not GIVER.used() and not KEEPER.used())


def connections(server, client, nr=PAIRS):
    """Ends of the server, ends of the client."""
    listener = server.listener()
    clients = [client.connect(listener.getsockname()) for _ in range(nr)]
    servers = [listener.accept()[0] for _ in range(nr)]
    listener.close()
    return servers, clients


def abort(socks):
    for sock in socks:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        sock.close()


def given_back(what, nr=PAIRS, size=smc.RING):
    """Of so many connections only the rings of the keeper are left, and they are its own."""
    check(f'{what}: nothing counts for the one who is gone',
          soon(lambda: not GIVER.used()), f'{GIVER.used()} bytes')
    check(f'{what}: its rings are free', soon(lambda: buffers() == nr),
          f'{buffers()} rings')
    becomes(f'{what}: the keeper has its own', KEEPER.used, nr * size)


def abandon(what, given, kept):
    wanted = PAIRS * smc.RING, PAIRS * smc.RING
    check(f'{what}: each side has its rings',
          soon(lambda: (GIVER.used(), KEEPER.used()) == wanted), (GIVER.used(), KEEPER.used()),
          smc.fallbacks(GIVER.family), smc.fallbacks(KEEPER.family))
    abort(given)
    given_back(what)
    abort(kept)
    check(f'{what}: nothing is left', nothing_is_left())


def give_servers(end, what):
    servers, clients = connections(GIVER, KEEPER)
    end(what, servers, clients)


def give_clients(end, what):
    servers, clients = connections(KEEPER, GIVER)
    end(what, clients, servers)


def server_aborts():
    give_servers(abandon, 'a server aborts')


def client_aborts():
    give_clients(abandon, 'a client aborts')


def client_of_the_backlog_aborts():
    """The server's ends are children that no program has."""
    listener = KEEPER.listener()
    clients = [GIVER.connect(listener.getsockname()) for _ in range(PAIRS)]
    abandon('a client in the backlog aborts', clients, [listener])


def listener_closes():
    listener = GIVER.listener()
    clients = [KEEPER.connect(listener.getsockname()) for _ in range(PAIRS)]
    abandon('a listener closes before accept()', [listener], clients)


def goes_in_good_order(what, given, kept):
    """It does not wait for the peer, which reads what came in before."""
    GIVER.enter()
    patience = Path('/proc/sys/net/ipv4/tcp_fin_timeout')
    before = patience.read_text(encoding='ascii')
    patience.write_text('3600', encoding='ascii')
    for sock in given:
        sock.sendall(UNREAD)
        sock.close()
    given_back(what)
    check(f'{what}: the data is still there, and no error',
          all(sock.recv(2 * len(UNREAD)) == UNREAD and not sock.recv(1) for sock in kept))
    for sock in kept:
        sock.close()
    check(f'{what}: nothing is left', nothing_is_left())
    GIVER.enter()
    patience.write_text(before, encoding='ascii')


def server_closes():
    give_servers(goes_in_good_order, 'a server closes')


def client_closes():
    give_clients(goes_in_good_order, 'a client closes')


def client_comes_back():
    """The server has not closed, and tells the client to join the same link group."""
    GIVER.enter()
    before = smc.sysctl('idle_timeout')
    smc.sysctl('idle_timeout', 1)
    servers, clients = connections(KEEPER, GIVER, 1)
    abandoned = smc.fallbacks(KEEPER.family), smc.fallbacks(GIVER.family)
    clients[0].close()
    check('a client: its ring is free', soon(lambda: not GIVER.used()))
    time.sleep(4)    # twice the time after which it ends an unused group
    again, clients = connections(KEEPER, GIVER, 1)
    equal('a client comes back: nothing falls back',
          (smc.fallbacks(KEEPER.family), smc.fallbacks(GIVER.family)), abandoned)
    for sock in servers + again + clients:
        sock.close()
    check('a client comes back: nothing is left', nothing_is_left())
    GIVER.enter()
    smc.sysctl('idle_timeout', before)


def keeper_goes_on():
    """It reads what came in before the end, and is refused as before."""
    servers, clients = connections(GIVER, KEEPER, 1)
    client = clients[0]
    servers[0].sendall(MUCH)
    client.sendall(MUCH)
    abort(servers)
    given_back('unread data', 1, GROWN)
    equal('unread data is still there', client.recv(2 * len(MUCH)), MUCH)
    said = []
    for call in (lambda: client.recv(1), lambda: client.send(b'x'),
                 lambda: client.send(bytes(PAGE * 4))):
        try:
            said.append(call())
        except OSError as error:
            said.append(error.errno)
    equal('then there is the reset, and nothing can be sent', said,
          [errno.ECONNRESET, errno.EPIPE, errno.EPIPE])
    client.close()
    check('unread data: nothing is left', nothing_is_left())


class LostPage:
    """A page that does not come until it is released."""

    def __init__(self):
        self.memory = mmap.mmap(-1, PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.fd = smc.LIBC.syscall(SYS_USERFAULTFD, os.O_CLOEXEC)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), 'userfaultfd')
        fcntl.ioctl(self.fd, UFFDIO_API, struct.pack('=QQQ', UFFD_API, 0, 0))
        fcntl.ioctl(self.fd, UFFDIO_REGISTER,
                    struct.pack('=QQQQ', self.address, PAGE, REGISTER_MISSING, 0))

    def wait_fault(self):
        os.read(self.fd, 32)

    def release(self):
        os.close(self.fd)


class Writer(threading.Thread):
    """A program inside send(): the page that it sends does not come until the end."""

    def __init__(self, sock):
        self.page = LostPage()
        super().__init__(target=smc.LIBC.send, args=(
            sock.fileno(), ctypes.c_void_p(self.page.address), PAGE, socket.MSG_NOSIGNAL))
        self.start()
        self.page.wait_fault()

    def finish(self):
        self.page.release()
        self.join()


def writer_pays():
    """A program inside send() has its socket, and the peer's ring for as long: it counts for it."""
    servers, clients = connections(GIVER, KEEPER, 1)
    writer = Writer(clients[0])
    abort(servers)
    check('a writer: nothing counts for the one who is gone',
          soon(lambda: not GIVER.used()), f'{GIVER.used()} bytes')
    becomes('a writer: both rings, of which one has grown, count for the one who keeps them',
            KEEPER.used, smc.RING + 4 * smc.RING)
    writer.finish()
    given_back('a writer leaves', 1)
    abort(clients)
    check('a writer leaves: nothing is left', nothing_is_left())


def writer_learns():
    """A peer closes while a program is inside send(): what is written then is lost."""
    servers, clients = connections(GIVER, KEEPER, 1)
    writer = Writer(clients[0])
    servers[0].close()
    check('a writer whose peer closes: nothing counts for the one who is gone',
          soon(lambda: not GIVER.used()), f'{GIVER.used()} bytes')
    writer.finish()
    equal('a writer whose peer closes: it learns that the data is lost',
          clients[0].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), errno.EPIPE)
    abort(clients)
    check('a writer whose peer closes: nothing is left', nothing_is_left())


def namespace_ends():
    """
    A program inside send() has the peer's ring, with the memory of the peer's connection, but not
    the peer's namespace. The first namespace does not exist any more afterwards.
    """
    servers, clients = connections(GIVER, KEEPER, 1)
    writer = Writer(clients[0])
    abort(servers)
    GIVER.family.close()
    subprocess.run(['ip', 'netns', 'del', GIVER.name], check=True)
    check('a writer whose peer ends with its namespace: that takes its device with it',
          soon(lambda: 'eth0' not in (name for _, name in socket.if_nameindex())))
    equal('a writer whose peer ends with its namespace: both rings are still there', buffers(), 2)
    writer.finish()
    abort(clients)
    check('a writer whose peer ends with its namespace: nothing is left',
          soon(lambda: not buffers() and not KEEPER.used()))


run(server_aborts, client_aborts, client_of_the_backlog_aborts, listener_closes, server_closes,
    client_closes, client_comes_back, keeper_goes_on, writer_pays, writer_learns,
    namespace_ends)
