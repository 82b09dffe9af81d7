#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: migrated.py all | late

A listening socket of AF_SMC ends while TCP has connections for it, and another socket that listens to
the same port gets them (SO_REUSEPORT, net.ipv4.tcp_migrate_req). all: it gets each of them if that
was switched on before. late: that was switched on later, and the other one is a TCP socket. Says
"migrated" when it has got connections, and when its input ends whether such a connection works.
"""

import os
import socket
import sys
import threading

import smc

MIGRATE = '/proc/sys/net/ipv4/tcp_migrate_req'
ROUNDS = 20
CLIENTS = 16
CROWD = 3       # as many as come before an accept() that is late is given up


def bound(sock, port):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(('127.0.0.1', port))
    return sock


def connected(port):
    return socket.create_connection(('127.0.0.1', port))


def inherit():
    """Connections that an heir got, with their clients; none if all were taken in before."""
    server = bound(smc.inet_socket(), 0)
    smc.write(MIGRATE, '0')
    server.listen(64)
    smc.write(MIGRATE, '1')
    port = server.getsockname()[1]
    with bound(smc.tcp_socket(), port) as heir:
        # A socket whose program waits in accept() leaves connections to it, for a moment
        first = threading.Thread(target=lambda: connected(port).close())
        first.start()
        server.accept()[0].close()
        first.join()
        clients = {client.getsockname(): client for client in (connected(port) for _ in range(CROWD))}
        heir.listen(64)
        server.close()
        heir.setblocking(False)
        pairs = []
        try:
            while True:
                child, address = heir.accept()
                pairs.append((child, clients[address]))
        except BlockingIOError:
            return pairs


def inherit_all():
    """TCP chooses one of two sockets for each client; one of these ends before it accepts."""
    smc.write(MIGRATE, '1')
    server = bound(smc.inet_socket(), 0)
    server.listen(CLIENTS)
    address = server.getsockname()
    with bound(smc.inet_socket(), address[1]) as heir:
        heir.listen(CLIENTS)
        clients = [smc.inet_socket() for _ in range(CLIENTS)]
        for client in clients:
            client.connect(address)
        server.close()
        heir.settimeout(smc.LIMIT)
        for _ in clients:
            heir.accept()[0].sendall(b'x')
    for client in clients:
        if client.recv(1) != b'x':
            sys.exit('a connection that migrated does not work')


def inherit_late():
    # On the only processor, no kworker runs before the listening socket has ended
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    for _ in range(ROUNDS):
        pairs = inherit()
        if pairs:
            break
    else:
        sys.exit('no connection has migrated')
    print('migrated', flush=True)
    sys.stdin.read()
    for child, client in pairs:
        child.setblocking(True)
        client.sendall(b'x')
        if child.recv(1) != b'x':
            sys.exit('a connection that migrated does not work')


if sys.argv[1] == 'all':
    inherit_all()
else:
    inherit_late()
