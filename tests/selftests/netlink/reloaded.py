#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: reloaded.py

A TCP socket that descends from one of AF_SMC listens: its parent fell back before it listened. Says "listens"
when nothing of the module is left. When its input ends, the module may be another one; a client of AF_SMC
asks for SMC then, and has to get TCP.
"""

import socket
import sys

import smc

ANYWHERE = ('127.0.0.1', 0)
UNSPEC = b'\0' * 16


def disconnect(sock):
    """connect() with AF_UNSPEC, which Python has not"""
    if smc.LIBC.connect(sock.fileno(), UNSPEC, len(UNSPEC)):
        sys.exit('connect(AF_UNSPEC) failed')


def descendant():
    """accept()ed from a socket that fell back"""
    with smc.inet_socket() as parent:
        parent.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
        parent.bind(ANYWHERE)
        parent.listen(1)
        with socket.create_connection(parent.getsockname()):
            child = parent.accept()[0]
    disconnect(child)
    return child


def main():
    listener = descendant()
    listener.bind(ANYWHERE)
    listener.listen(1)
    print('listens', flush=True)
    sys.stdin.read()
    with smc.inet_socket() as client:
        client.connect(listener.getsockname())
        end = listener.accept()[0]
        client.sendall(b'x')
        if end.recv(1) != b'x':
            sys.exit('the connection does not work')


main()
