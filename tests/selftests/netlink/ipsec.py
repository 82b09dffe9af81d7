#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: ipsec.py CLIENT-NAMESPACE SERVER-NAMESPACE CLIENT-ADDRESS SERVER-ADDRESS

Connections that an IPsec policy protects use TCP, whoever has the policy; others go on over SMC.
The two namespaces exchange packets by ESP in transport mode.
"""

import ctypes
import errno
import os
import socket
import struct
import subprocess
import sys

import diag
import nl
import smc
from cases import check, equal, run
from diag import FALLBACK, Diag

CLIENT, SERVER, *ADDRESSES = sys.argv[1:]
IPSEC = 0x03020000
FAMILY = socket.AF_INET6 if ':' in ADDRESSES[0] else socket.AF_INET
WAYS = (('0x1000', *ADDRESSES), ('0x1001', *reversed(ADDRESSES)))
SERVER_PORT, CLIENT_PORT = 5000, 6000


def xfrm(namespace, *words):
    subprocess.run(['ip', '-n', namespace, 'xfrm', *words], check=True)


def add_states():
    for namespace in (CLIENT, SERVER):
        for spi, src, dst in WAYS:
            xfrm(namespace, 'state', 'add', 'src', src, 'dst', dst, 'proto', 'esp', 'spi', spi,
                 'reqid', '1', 'mode', 'transport', 'auth-trunc', 'hmac(sha1)', '0x' + '11' * 20,
                 '96', 'enc', 'cbc(aes)', '0x' + '22' * 16)


def protect(namespace, *selector, level='required'):
    """What leaves the namespace for the other one, as far as the selector matches."""
    _, src, dst = WAYS[namespace == SERVER]
    xfrm(namespace, 'policy', 'add', 'src', src, 'dst', dst, *selector, 'dir', 'out', 'tmpl',
         'src', src, 'dst', dst, 'proto', 'esp', 'reqid', '1', 'mode', 'transport', 'level', level)


def no_policies():
    for namespace in (CLIENT, SERVER):
        xfrm(namespace, 'policy', 'flush')


def protected_packets():
    """How many packets the client's state has transformed."""
    text = subprocess.run(['ip', '-n', CLIENT, '-s', 'xfrm', 'state', 'get', 'src', WAYS[0][1],
                           'dst', WAYS[0][2], 'proto', 'esp', 'spi', WAYS[0][0]], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    words = text.split()
    return int(words[words.index('current:') + 2].split('(')[0])


def side(namespace, sock):
    nl.namespace(namespace)
    entry = Diag().find(os.fstat(sock.fileno()).st_ino)
    return entry.mode, entry.attributes[FALLBACK]


class Connection:
    """Client and server in their namespaces, on ports that policies can name."""

    def __init__(self):
        nl.namespace(SERVER)
        self.listener = self.bound(ADDRESSES[1], SERVER_PORT)
        self.listener.listen(4)
        nl.namespace(CLIENT)
        self.client = self.bound(ADDRESSES[0], CLIENT_PORT)
        self.client.connect((ADDRESSES[1], SERVER_PORT))
        self.server = self.listener.accept()[0]

    @staticmethod
    def bound(address, port):
        sock = smc.smc_socket(FAMILY)
        sock.settimeout(smc.LIMIT)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address, port))
        return sock

    def modes(self):
        return side(CLIENT, self.client), side(SERVER, self.server)

    def close(self):
        # The client first: its port is used again
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
        for sock in (self.client, self.server, self.listener):
            sock.close()
        for namespace in (CLIENT, SERVER):
            nl.namespace(namespace)
            smc.eventually(lambda: not Diag().sockets())


def connect_raw(sock, host, port):
    """connect() with an IPv6 address, whatever the socket is; returns the error."""
    name = struct.pack('@H', socket.AF_INET6) + struct.pack('!HI', port, 0)
    name += socket.inet_pton(socket.AF_INET6, host) + bytes(4)
    if smc.LIBC.connect(sock.fileno(), name, len(name)):
        return ctypes.get_errno()
    return 0


OVER_SMC = ((diag.SMCD, (0, 0)),) * 2


def expect(name, wanted, protected):
    connection = Connection()
    before = protected_packets()
    equal(f'{name}: modes and reasons', connection.modes(), wanted)
    smc.send_all(connection.client, connection.server, 100000)
    smc.send_all(connection.server, connection.client, 100000)
    check(f'{name}: packets {"are" if protected else "are not"} protected',
          (protected_packets() > before) == protected)
    connection.close()
    no_policies()


def no_policy():
    expect('no policy', OVER_SMC, False)


def both_ends():
    protect(CLIENT)
    protect(SERVER)
    expect('both ends', ((diag.TCP, (IPSEC, 0)), (diag.TCP, (IPSEC, 0))), True)


def client_only():
    protect(CLIENT)
    expect('client only', ((diag.TCP, (IPSEC, 0)), (diag.TCP, (smc.PEER_NO_SMC, 0))), True)


def server_only():
    """The client has asked for SMC, and is declined."""
    protect(SERVER)
    expect('server only', ((diag.TCP, (smc.DECLINED, IPSEC)), (diag.TCP, (IPSEC, 0))), False)


def server_port():
    protect(CLIENT, 'proto', 'tcp', 'dport', str(SERVER_PORT))
    expect('port of the server', ((diag.TCP, (IPSEC, 0)), (diag.TCP, (smc.PEER_NO_SMC, 0))), True)


def another_port():
    protect(CLIENT, 'proto', 'tcp', 'dport', str(SERVER_PORT + 1))
    protect(SERVER, 'proto', 'udp')
    expect('another port', OVER_SMC, False)


def no_transformation():
    """A policy that lets packets pass as they are."""
    _, src, dst = WAYS[0]
    xfrm(CLIENT, 'policy', 'add', 'src', src, 'dst', dst, 'dir', 'out', 'action', 'allow')
    expect('policy without a template', OVER_SMC, False)


def mapped():
    """An IPv6 socket that speaks IPv4."""
    if FAMILY != socket.AF_INET:
        return
    protect(CLIENT)
    nl.namespace(SERVER)
    listener = Connection.bound(ADDRESSES[1], SERVER_PORT)
    listener.listen(4)
    nl.namespace(CLIENT)
    client = smc.smc_socket(socket.AF_INET6)
    client.connect(('::ffff:' + ADDRESSES[1], SERVER_PORT))
    equal('mapped address: mode and reason', side(CLIENT, client), (diag.TCP, (IPSEC, 0)))
    client.close()
    listener.close()
    no_policies()


def wrong_family():
    """An IPv4 socket that is to connect to an IPv6 address: refused, as by TCP."""
    protect(CLIENT)
    nl.namespace(CLIENT)
    for socket_of in smc.smc_socket, smc.inet_socket:
        sock = socket_of(socket.AF_INET)
        error = connect_raw(sock, '::1', SERVER_PORT)
        equal(f'wrong family, {socket_of.__name__}: error', error, errno.EAFNOSUPPORT)
        sock.close()
    no_policies()


add_states()
run(no_policy, both_ends, client_only, server_only, server_port, another_port, no_transformation,
    mapped, wrong_family)
