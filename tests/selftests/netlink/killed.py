#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: killed.py [migrate]

Root ends a listening socket of AF_SMC (SOCK_DESTROY). migrate: in its place TCP may give connections
to a TCP socket of the same port (SO_REUSEPORT, net.ipv4.tcp_migrate_req).
"""

import os
import socket
import struct
import sys

import smc

SOCK_DIAG, SOCK_DESTROY, REQUEST_ACK, ERROR, SO_COOKIE = 4, 21, 5, 2, 57
TRIES = 1000


def bound(sock, port):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(('127.0.0.1', port))
    sock.listen()
    return sock.getsockname()[1]


def destroy(sock, port, peer_port):
    """The kernel looks the socket up as for a SYN of that peer, and compares the cookie."""
    cookie = sock.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8)
    address = socket.inet_aton('127.0.0.1').ljust(16, b'\0')
    body = struct.pack('=BBBxI', socket.AF_INET, socket.IPPROTO_TCP, 0, 0xffffffff)
    body += struct.pack('>HH', port, peer_port) + address + address + struct.pack('=I', 0) + cookie
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as diag:
        diag.send(struct.pack('=IHHII', 16 + len(body), SOCK_DESTROY, REQUEST_ACK, 0, 0) + body)
        answer = diag.recv(4096)
    kind, error = struct.unpack_from('=H', answer, 4)[0], struct.unpack_from('=i', answer, 16)[0]
    if kind != ERROR:
        sys.exit(f'an answer of kind {kind}')
    return -error


def main():
    with smc.smc_socket() as server, smc.tcp_socket() as heir:
        port = bound(server, 0)
        bound(heir, port)
        if 'migrate' in sys.argv:       # before it listens, this would make it a TCP socket
            smc.write('/proc/sys/net/ipv4/tcp_migrate_req', '1')
        for peer_port in range(1, TRIES):
            if not destroy(server, port, peer_port):
                return
        sys.exit(f'cannot end it: {os.strerror(destroy(server, port, TRIES))}')


main()
