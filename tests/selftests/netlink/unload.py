#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: unload.py MODULE-FOLDER

Somebody tries to unload smc in each step of a connection's life. As long as a socket, a child that nobody
has accepted, a connection that waits for its peer after close() or a call depends on the module, that is
refused, and nothing happens to the connection; else it works, and connections that became TCP go on.
"""

import ctypes
import errno
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import smc
from cases import check, equal, run

SYS_DELETE_MODULE = 176
OFFER = ord('s') << 8 | 1       # SMC_SYNOPT_OFFER
NOWHERE = ('192.0.2.2', 4242)   # packets to it vanish
UNSPEC = b'\0' * 16
SO_ATTACH_FILTER = 26
TYPE, CONFIRM = 4, 3            # of a message of the handshake
REFCNT = Path('/sys/module/smc/refcnt')
ROUNDS = 15


def unload():
    """Returns the errno, 0 if the module is gone"""
    if not smc.LIBC.syscall(SYS_DELETE_MODULE, b'smc', os.O_NONBLOCK):
        return 0
    return ctypes.get_errno()


def load(name='smc'):
    subprocess.run(['insmod', f'{sys.argv[1]}/{name}.ko'], check=True)


def references():
    return int(REFCNT.read_text(encoding='ascii'))


def listener(create=smc.smc_socket, backlog=5):
    sock = create()
    sock.bind(('127.0.0.1', 0))
    sock.listen(backlog)
    return sock


def offer(sock):
    """
    A TCP socket sends the SMC option, and then nothing: its peer waits in the handshake. The module that does
    that must be gone before smc goes, as both switch the option on.
    """
    load('smc_synopt')
    with open('/dev/smc_synopt', 'rb') as synopt:
        fcntl.ioctl(synopt, OFFER, sock.fileno())
    return sock


def offer_no_more():
    if Path('/sys/module/smc_synopt').exists():
        subprocess.run(['rmmod', 'smc_synopt'], check=True)


def start_connect(address):
    sock = smc.smc_socket()
    sock.setblocking(False)
    equal('connect() has started', sock.connect_ex(address), errno.EINPROGRESS)
    return sock


def attach_filter(sock, *code):
    """Its children have the filter, too"""
    program = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in code))
    filters = struct.pack('HxxxxxxP', len(code), ctypes.addressof(program))
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filters)


def drop_data(sock):
    """What is longer than any header of TCP does not reach the socket"""
    attach_filter(sock, (0x80, 0, 0, 0), (0x25, 0, 1, 60), (0x06, 0, 0, 0), (0x06, 0, 0, 0xffffffff))


def drop_confirm(sock):
    """A message of type 3 after a header of TCP with time stamps does not reach the socket"""
    attach_filter(sock, (0x80, 0, 0, 0), (0x25, 0, 3, 32 + TYPE), (0x30, 0, 0, 32 + TYPE),
                  (0x15, 0, 1, CONFIRM), (0x06, 0, 0, 0), (0x06, 0, 0, 0xffffffff))


def talk(one, other):
    for sender, receiver in ((one, other), (other, one)):
        sender.sendall(b'still here')
        if receiver.recv(100) != b'still here':
            return False
    return True


# Each step returns the sockets that it keeps, and the number of references that these are.

def unconnected():
    return [smc.smc_socket()], 1


def known():
    return [smc.limited(smc.inet_socket)], 1


def listening():
    return [listener()], 1


def in_syn():
    return [start_connect(NOWHERE)], 1


def client_in_handshake():
    server = offer(socket.socket())
    server.bind(('127.0.0.1', 0))
    server.listen()
    client = start_connect(server.getsockname())
    return [client, server.accept()[0], server], 1


def server_in_handshake():
    server = listener()
    client = offer(socket.socket())
    client.connect(server.getsockname())
    return [server, client], 2


def both_in_handshake():
    server = listener()
    drop_data(server)
    client = start_connect(server.getsockname())
    return [server, client], 3


def not_accepted():
    server = listener()
    client = smc.smc_socket()
    client.connect(server.getsockname())
    return [server, client], 3


def pair():
    """A connection, without its listening socket"""
    ends = smc.Pair()
    ends.listener.close()
    return ends.client, ends.server


def active():
    return list(pair()), 2


def with_data():
    client, server = pair()
    client.sendall(b'not read')
    return [client, server], 2


def half_closed():
    client, server = pair()
    client.shutdown(socket.SHUT_WR)
    return [client, server], 2


def shut_down_by_both():
    client, server = pair()
    client.shutdown(socket.SHUT_WR)
    server.shutdown(socket.SHUT_WR)
    return [client, server], 2


def waiting_after_close():
    """The client has closed. Its server lacks the Confirm, and would lose the data without the client"""
    server = listener()
    drop_confirm(server)
    client = smc.smc_socket()
    client.connect(server.getsockname())
    client.sendall(b'not read')
    client.close()
    return [server], 3


def closed_by_peer():
    """The peer has closed: it needs the module as well, but waits for this end no longer than 100 ms"""
    client, server = pair()
    client.close()
    return [server], 1


def aborted():
    """One end is closed with data that nobody has read: it is reset, and nothing waits"""
    client, server = pair()
    client.sendall(b'not read')
    server.close()
    return [client], 1


def connect_failed():
    server = listener(socket.socket)
    address = server.getsockname()
    server.close()
    client = smc.smc_socket()
    equal('connect() is refused', client.connect_ex(address), errno.ECONNREFUSED)
    return [client], 1


def disconnected():
    client, server = pair()
    if smc.LIBC.connect(client.fileno(), UNSPEC, len(UNSPEC)):
        raise OSError(ctypes.get_errno(), 'connect(AF_UNSPEC)')
    server.close()
    return [client], 1


def fallen_back_beside_listener():
    """The child is TCP's, the listening socket is not"""
    server = listener()
    client = socket.create_connection(server.getsockname())
    return [server, server.accept()[0], client], 1


def refuse(make):
    """The module stays in this step, and goes after it"""
    name = make.__name__.replace('_', ' ')
    smc.allow_slow_handshakes()     # which hold references; the module is new
    sockets, count = make()
    check(f'{name}: {count} references', smc.eventually(lambda: references() == count),
          f'there are {references()}')
    equal(f'{name}: the module stays', errno.errorcode.get(unload()), 'EAGAIN')
    equal(f'{name}: it still has all references', references(), count)
    for sock in sockets:
        sock.close()
    offer_no_more()
    check(f'{name}: it goes afterwards', smc.eventually(lambda: not unload()),
          f'{references() if REFCNT.exists() else "no"} references')
    load()


def refused_steps():
    for make in (unconnected, known, listening, in_syn, client_in_handshake, server_in_handshake,
                 both_in_handshake, not_accepted, active, with_data, half_closed, shut_down_by_both,
                 waiting_after_close, closed_by_peer, aborted, connect_failed, disconnected,
                 fallen_back_beside_listener):
        refuse(make)


def connections_survive_an_attempt():
    """A handshake that an attempt met comes to its end, and a connection works"""
    ends = smc.Pair()
    equal('with a connection, the module stays', errno.errorcode.get(unload()), 'EAGAIN')
    check('the connection works', talk(ends.client, ends.server))
    check('and is still SMC', smc.is_smc(ends.client))
    again = smc.smc_socket()
    again.connect(ends.address)
    check('the next one is SMC as well', smc.is_smc(again))
    again.close()
    ends.close()


def fallen_back():
    """No socket depends on the module: the connections go on without it, and after its return"""
    with listener(socket.socket) as server, smc.smc_socket() as client:
        client.connect(server.getsockname())
        one = server.accept()[0]
    with listener() as server:
        other = socket.create_connection(server.getsockname())
        child = server.accept()[0]
    client = smc.smc_socket()
    with listener(socket.socket) as server:
        client.connect(server.getsockname())
        one.close()
        one = server.accept()[0]
    check('fallen back: the module goes', smc.eventually(lambda: not unload()))
    check('the client that fell back works without it', talk(client, one))
    check('the child that fell back works without it', talk(other, child))
    load()
    check('the client works beside another module', talk(client, one))
    check('the child works beside another module', talk(other, child))
    for sock in (client, one, other, child):
        sock.close()


def call_in_tcp():
    """recv() begins while the socket connects, and goes on in TCP: the module is behind it"""
    with listener(socket.socket, 0) as server:
        first = socket.create_connection(server.getsockname())  # the next SYN is dropped
        client = start_connect(server.getsockname())
        client.setblocking(True)
        got = []
        thread = threading.Thread(target=lambda: got.append(client.recv(100)))
        thread.start()
        end, peer = server.accept()[0], server.accept()[0]
    check('recv() in TCP: one reference', smc.eventually(lambda: references() == 1),
          f'there are {references()}')
    equal('recv() in TCP: the module stays', errno.errorcode.get(unload()), 'EAGAIN')
    peer.sendall(b'at last')
    thread.join()
    equal('recv() in TCP has returned', got, [b'at last'])
    check('recv() in TCP: the module goes', smc.eventually(lambda: not unload()))
    load()
    for sock in (first, client, end, peer):
        sock.close()


def sockets_or_none(create, count):
    """None: the module is not there now"""
    try:
        return [create() for _ in range(count)]
    except OSError as error:
        if error.errno not in (errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT):
            raise
    return None


def converse():
    """From socket() to close(). Returns whether the module was there."""
    sockets = sockets_or_none(smc.smc_socket, 2)
    if not sockets:
        return False
    server, client = sockets
    server.bind(('127.0.0.1', 0))
    server.listen()
    client.connect(server.getsockname())
    child = server.accept()[0]
    if not talk(client, child):
        raise OSError('the bytes are wrong')
    for sock in (client, server, child):
        sock.close()
    return True


def attempts_at_any_time():
    """Conversations go on while the module comes and goes: each that has begun comes to its end"""
    done, errors, over = [], [], threading.Event()

    def go_on():
        while not over.is_set():
            try:
                if converse():
                    done.append(1)
            except OSError as error:
                errors.append(error)
                return

    thread = threading.Thread(target=go_on)
    thread.start()
    gone = refusals = 0
    while gone < ROUNDS and not errors:
        before = len(done)
        if unload():
            refusals += 1
            continue
        gone += 1
        load()
        smc.eventually(lambda past=before: len(done) > past or errors)
    over.set()
    thread.join()
    equal('no conversation has failed', errors, [])
    check('there were conversations', len(done) >= ROUNDS, len(done))
    check('the module could not go in between', refusals > 0)


run(refused_steps, connections_survive_an_attempt, fallen_back, call_in_tcp, attempts_at_any_time)
