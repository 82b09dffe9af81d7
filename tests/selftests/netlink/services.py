#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: services.py nfsd NFSD-FILESYSTEM | iscsi | nbd

Services of the kernel that take over a TCP socket which a program has opened: the NFS server takes
listening ones, the iSCSI initiator and network block devices take connections. Here this program
plays rpc.nfsd, iscsid and nbd-client.
"""

import errno
import fcntl
import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path

import smc
from cases import check, equal, run
from spec import Family

SLOW = int(os.environ.get('VM_SLOW', 1))
SECONDS = 60 * SLOW
KINDS = ('TCP', smc.tcp_socket), ('SMC', smc.inet_socket)


def listen(make):
    sock = make()
    sock.bind(('127.0.0.1', 0))
    sock.listen(8)
    return sock


def connect(make, listener):
    sock = make()
    sock.settimeout(SECONDS)
    sock.connect(listener.getsockname())
    return sock


# --- The NFS server -----------------------------------------------------------

class NfsServer:
    """The kernel's, of NFS 4 alone, which needs no rpcbind."""

    def __init__(self, files):
        self.files = Path(files)
        self.write('versions', '-3 +4')

    def write(self, name, text):
        (self.files / name).write_text(f'{text}\n', encoding='ascii')

    def take(self, sock):
        self.write('portlist', sock.fileno())
        self.write('threads', 1)

    def stop(self):
        self.write('threads', 0)


def ping(sock):
    """An RPC that does nothing. Is it answered?"""
    xid = os.getpid()
    call = struct.pack('>10I', xid, 0, 2, 100003, 4, 0, 0, 0, 0, 0)
    sock.sendall(struct.pack('>I', 1 << 31 | len(call)) + call)
    return smc.receive(sock, 28)[4:12] == struct.pack('>2I', xid, 1)


def check_clients(when, listener):
    for name, make in KINDS:
        try:
            with connect(make, listener) as client:
                check(f'the NFS server answers a client of {name} {when}', ping(client))
                check(f'and the connection of {name} is TCP', not smc.is_smc(client))
        except OSError as error:
            check(f'the NFS server answers a client of {name} {when}', False, error)


def test_nfsd_takes_listener():
    server = NfsServer(sys.argv[2])
    with listen(smc.inet_socket) as listener:
        server.take(listener)
        check_clients('of a listening SMC socket', listener)
        equal('accept() of the program is up to TCP', refuses_to_accept(listener), errno.EAGAIN)
    server.stop()


def refuses_to_accept(listener):
    listener.setblocking(False)
    try:
        listener.accept()
    except OSError as error:
        return error.errno
    return 0


def test_nfsd_takes_listener_in_use():
    server = NfsServer(sys.argv[2])
    with listen(smc.inet_socket) as listener:
        early = connect(smc.inet_socket, listener)
        check('a client that comes before the service uses SMC', smc.is_smc(early))
        server.take(listener)
        equal('the service does not get it: it is reset', told(early), errno.ECONNRESET)
        early.close()
        check_clients('of a socket that had a client', listener)
    server.stop()


def told(sock):
    try:
        return sock.recv(1)
    except OSError as error:
        return error.errno


def test_nfsd_comes_late():
    """Its threads begin later: the work queue leaves connections to TCP as soon as one comes."""
    server = NfsServer(sys.argv[2])
    with listen(smc.inet_socket) as listener:
        server.write('portlist', listener.fileno())
        with connect(smc.inet_socket, listener) as first, connect(smc.tcp_socket, listener) as other:
            check('a client that comes while the server sleeps is TCP', not smc.is_smc(first))
            server.write('threads', 1)
            check('the server answers it when it wakes up', ping(first))
            check('and one of TCP', ping(other))
    server.stop()


def test_nfsd_takes_unused_socket():
    """It listens later, before the server looks at it."""
    server = NfsServer(sys.argv[2])
    with smc.inet_socket() as sock:
        sock.bind(('127.0.0.1', 0))
        server.write('portlist', sock.fileno())
        sock.listen(8)
        with connect(smc.inet_socket, sock) as client:
            check('a socket that the service has taken before listen() is TCP',
                  not smc.is_smc(client) and not smc.is_smc(sock))
    server.write('threads', 1)
    server.stop()


# --- The iSCSI initiator --------------------------------------------------------

NETLINK_ISCSI = 8
CREATE_SESSION, DESTROY_SESSION, CREATE_CONN, DESTROY_CONN, BIND_CONN = range(11, 16)
STOP_CONN, SEND_PDU, RECV_PDU, CONN_ERROR = 18, 19, 101, 102
HEADER = struct.Struct('=IHHII')
EVENT = struct.Struct('=IIQ24s16s')
LOGIN_REQUEST, LOGIN_RESPONSE = 0x43, 0x23


class Initiator:
    """The kernel's side of iscsid: one session with one connection, as scsi/iscsi_if.h has it."""

    def __init__(self, sock):
        self.handle = int(Path('/sys/class/iscsi_transport/tcp/handle').read_text('ascii'))
        self.netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_ISCSI)
        self.netlink.settimeout(SECONDS)
        self.netlink.bind((0, 1))
        answer = self.request(CREATE_SESSION, '=IHH', 0, 32, 32)
        self.sid, = struct.unpack_from('=I', answer)
        self.request(CREATE_CONN, '=II', self.sid, 0)
        self.bound, = struct.unpack_from(
            '=i', self.request(BIND_CONN, '=IIQI', self.sid, 0, sock.fileno(), 1))

    def send(self, kind, layout, *fields, data=b''):
        body = EVENT.pack(kind, 0, self.handle, struct.pack(layout, *fields), b'') + data
        self.netlink.send(HEADER.pack(HEADER.size + len(body), kind, 0, 0, 0) + body)

    def wait(self, *kinds):
        """Return: the first of these events, and what the kernel says"""
        while True:
            message = self.netlink.recv(1 << 16)
            event = EVENT.unpack_from(message, HEADER.size)
            if event[0] in kinds:
                return event[0], event[4]

    def request(self, kind, layout, *fields, data=b''):
        self.send(kind, layout, *fields, data=data)
        return self.wait(kind)[1]

    def log_in(self):
        header = bytes([LOGIN_REQUEST]) + bytes(47)
        self.request(SEND_PDU, '=IIII', self.sid, 0, len(header), 0, data=header)

    def end(self):
        self.request(STOP_CONN, '=IIQI', self.sid, 0, 0, 1)
        self.request(DESTROY_CONN, '=II', self.sid, 0)
        self.request(DESTROY_SESSION, '=I', self.sid)
        self.netlink.close()


def test_iscsi_over_fallback():
    with listen(smc.tcp_socket) as listener, connect(smc.inet_socket, listener) as sock:
        target = listener.accept()[0]
        target.settimeout(SECONDS)
        initiator = Initiator(sock)
        equal('the initiator takes a connection that has fallen back', initiator.bound, 0)
        initiator.log_in()
        login = smc.receive(target, 48)
        equal('its login comes to the target', login[:1], bytes([LOGIN_REQUEST]))
        target.sendall(bytes([LOGIN_RESPONSE]) + bytes(15) + login[16:20] + bytes(28))
        equal('and it gets the answer', initiator.wait(RECV_PDU, CONN_ERROR)[0], RECV_PDU)
        initiator.end()
        target.close()


def test_iscsi_over_smc():
    with listen(smc.inet_socket) as listener, connect(smc.inet_socket, listener) as sock:
        target = listener.accept()[0]
        target.settimeout(SECONDS)
        check('a connection uses SMC', smc.is_smc(sock))
        initiator = Initiator(sock)
        equal('the initiator takes it', initiator.bound, 0)
        initiator.log_in()
        equal('and learns at once that it cannot be used',
              initiator.wait(RECV_PDU, CONN_ERROR)[0], CONN_ERROR)
        check('nothing was sent', not readable(target))
        initiator.end()
        sock.close()
        equal('then the target sees the end of the connection', target.recv(1), b'')
        target.close()


def readable(sock):
    try:
        return sock.recv(1, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return b''


# --- A network block device -----------------------------------------------------

NBD_SET_SOCK, NBD_SET_BLKSIZE, NBD_DO_IT, NBD_CLEAR_SOCK, NBD_SET_SIZE_BLOCKS, NBD_DISCONNECT = (
    0xab00, 0xab01, 0xab03, 0xab04, 0xab07, 0xab08)
NBD_REQUEST, NBD_READ, NBD_WRITE = struct.Struct('>II8sQI'), 0, 1
BLOCK, BLOCKS = 4096, 16
DISK = bytes(range(256)) * (BLOCK * BLOCKS // 256)


def serve_disk(sock, disk):
    """Until the device disconnects"""
    while True:
        request = smc.receive(sock, NBD_REQUEST.size)
        if len(request) < NBD_REQUEST.size:
            return
        _, kind, cookie, offset, length = NBD_REQUEST.unpack(request)
        if kind not in (NBD_READ, NBD_WRITE):
            return
        if kind == NBD_WRITE:
            disk[offset:offset + length] = smc.receive(sock, length)
        answer = disk[offset:offset + length] if kind == NBD_READ else b''
        sock.sendall(struct.pack('>II8s', 0x67446698, 0, cookie) + answer)


def read_disk(device):
    """It has no size until NBD_DO_IT has begun"""
    end = time.monotonic() + SECONDS
    data = b''
    while not data and time.monotonic() < end:
        data = os.pread(device, len(DISK), 0)
    return data


def write_disk(device):
    """
    The kernel writes as a task that frees memory does. Return: how often a ring has grown for that
    """
    stats = Family('smc')
    before = stats.show('get-stats')[0]['stats']['smcd-tech']['ring-grown-cnt']
    os.pwrite(device, DISK[::-1], 0)
    os.fsync(device)
    return stats.show('get-stats')[0]['stats']['smcd-tech']['ring-grown-cnt'] - before


def test_nbd_over_smc():
    """It needs no callbacks, so it works."""
    disk = bytearray(DISK)
    with listen(smc.inet_socket) as listener, connect(smc.inet_socket, listener) as sock:
        server = listener.accept()[0]
        check('a connection to a block device uses SMC', smc.is_smc(sock))
        sock.settimeout(None)
        device = os.open('/dev/nbd0', os.O_RDWR)
        fcntl.ioctl(device, NBD_SET_BLKSIZE, BLOCK)
        fcntl.ioctl(device, NBD_SET_SIZE_BLOCKS, BLOCKS)
        fcntl.ioctl(device, NBD_SET_SOCK, sock.fileno())
        threads = [threading.Thread(target=serve_disk, args=(server, disk)),
                   threading.Thread(target=fcntl.ioctl, args=(device, NBD_DO_IT))]
        for thread in threads:
            thread.start()
        check('and the device reads over it', read_disk(device) == DISK)
        grown = write_disk(device)
        check('and writes over it', disk == DISK[::-1])
        check('into a ring that grows', grown > 0, grown)
        fcntl.ioctl(device, NBD_DISCONNECT)
        fcntl.ioctl(device, NBD_CLEAR_SOCK)
        for thread in threads:
            thread.join(SECONDS)
        os.close(device)
        server.close()


smc.allow_slow_handshakes()
run(*{'nfsd': (test_nfsd_takes_listener, test_nfsd_takes_listener_in_use, test_nfsd_comes_late,
               test_nfsd_takes_unused_socket),
      'iscsi': (test_iscsi_over_fallback, test_iscsi_over_smc),
      'nbd': (test_nbd_over_smc,)}[sys.argv[1]])
