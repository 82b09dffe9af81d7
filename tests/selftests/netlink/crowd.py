#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: crowd.py MODE CLIENTS

So many programs connect to one server at once, with no link group between them yet: they share a
few. MODE is smcr, over the two ports of one kernel, or smcd.

Then the limits of groups: what is above them is TCP, and counted; idle groups make room.

With MODE fail, over ports that do not work, connections are made again and again until the end.
"""

import socket
import sys
import threading
import time
from pathlib import Path

import smc
from cases import becomes, check, equal, run
from spec import Family
from wire import ADDRESS

MODE, CLIENTS = sys.argv[1], int(sys.argv[2])
VARIANT = {'smcr': 4, 'smcd': 8, 'fail': 4}[MODE]
TARGET = '127.0.0.1' if MODE == 'smcd' else ADDRESS[socket.AF_INET, 1]
OF_GROUP = 255                  # connections that one of SMC-R can have
SLOW_SECONDS = 5                # an idle machine with all checkers takes less
TOO_MANY_GROUPS, PEER_DECLINED = 0x03100008, 0x05000000
SERVER, CLIENT = 1, 0           # role of link groups
GEN = Family('smc')
BEFORE = 0


def groups(role):
    name = f'lgr-{MODE}'
    found = [m[name] for m in GEN.show(f'get-{name}')]
    return [group for group in found if MODE == 'smcd' or group['role'] == role]


def successes():
    return GEN.show('get-stats')[0]['stats'][f'{MODE}-tech']['srv-v2-succ'] - BEFORE


def fallbacks():
    return smc.fallbacks(GEN, OLD)


class Crowd:
    """A server and many clients, all at once."""

    def __init__(self, number, target=TARGET):
        self.clients = [smc.smc_socket() for _ in range(number)]
        self.children = []
        self.listener = smc.smc_socket()
        self.listener.bind((target, 0))
        self.listener.listen(number)
        self.listener.settimeout(smc.LIMIT)
        self.start = threading.Barrier(len(self.clients))
        self.errors = []
        began = time.monotonic()
        threads = [threading.Thread(target=self.connect, args=(sock,)) for sock in self.clients]
        for thread in threads:
            thread.start()
        for _ in self.clients:
            self.children.append(self.listener.accept()[0])
        for thread in threads:
            thread.join()
        self.took = time.monotonic() - began

    def connect(self, sock):
        sock.settimeout(smc.LIMIT)
        self.start.wait()
        call = 'connect'
        try:
            sock.connect(self.listener.getsockname())
            call = 'send'
            sock.sendall(b'x')
        except OSError as error:
            self.errors.append(f'{call}: {error}')

    def used(self):
        found = 0
        for child in self.children:
            try:
                found += child.recv(1) == b'x'
            except OSError as error:
                print(f'# a child: {error}')
        return found

    def close(self):
        for sock in [*self.clients, *self.children, self.listener]:
            sock.close()


def idle():
    becomes('no link group is left', lambda: len(groups(SERVER)) + len(groups(CLIENT)), 0)


def all_at_once():
    crowd = Crowd(CLIENTS)
    equal('nobody saw an error', crowd.errors, [])
    equal('all of them work', crowd.used(), CLIENTS)
    becomes('and use SMC', lambda: (successes(), fallbacks()), (CLIENTS, {}))
    found = len(groups(SERVER))
    # Who forms a group is waited for only some time, which may not be enough on a slow machine
    most = 2 + (CLIENTS // OF_GROUP if MODE == 'smcr' else 0) + int(crowd.took / SLOW_SECONDS)
    if MODE == 'smcd':
        most *= 2               # both ends in one list
    print(f'# {CLIENTS} connections in {crowd.took:.2f} s: {found} link groups')
    check('they share a few link groups', found <= most, found)
    crowd.close()
    idle()


def addresses():
    """A client with two addresses has a group for each: nobody joins by a name alone."""
    if MODE == 'smcd':
        more = '127.0.0.2'
    else:
        more = '10.9.0.3'
    first = Crowd(1)
    second = smc.smc_socket()
    second.settimeout(smc.LIMIT)
    second.bind((more, 0))
    second.connect(first.listener.getsockname())
    child = first.listener.accept()[0]
    second.sendall(b'y')
    equal('it works from another address', child.recv(1), b'y')
    wanted = 2 if MODE == 'smcr' else 4
    becomes('and in a group of its own', lambda: len(groups(SERVER)), wanted)
    for sock in (second, child):
        sock.close()
    first.close()
    idle()


def limit(name):
    """At most one group as server and one as client, which count together with one peer."""
    before, old, most = successes(), smc.fallbacks(GEN), smc.sysctl(name)
    smc.sysctl(name, 2)
    crowd = Crowd(2)
    becomes(f'{name}: below the limit',
            lambda: (successes() - before, smc.fallbacks(GEN, old)), (2, {}))
    other = smc.smc_socket()
    other.settimeout(smc.LIMIT)
    other.bind(('127.0.0.2' if MODE == 'smcd' else '10.9.0.3', 0))
    other.connect(crowd.listener.getsockname())
    child = crowd.listener.accept()[0]
    other.sendall(b'z')
    equal(f'{name}: above it a connection works', child.recv(1), b'z')
    # Of one peer the client has too many, unless both addresses happen to be in one class
    becomes(f'{name}: as TCP, and for that reason',
            lambda: {reason: count for (_, reason), count in smc.fallbacks(GEN, old).items()},
            {TOO_MANY_GROUPS: 1, PEER_DECLINED: 1})
    for sock in (other, child):
        sock.close()
    crowd.close()
    smc.sysctl(name, most)
    idle()


def limits():
    limit('max_link_groups')
    if MODE == 'smcd':          # both ends have one address, and so count together
        limit('max_link_groups_per_peer')


smc.sysctl('variants', VARIANT)
smc.sysctl('smcr_idle_timeout', 1)
smc.sysctl('rmem', 16384)
# If the server closes later than a client waits for that, the client's group stays for this time
smc.write('/proc/sys/net/ipv4/tcp_fin_timeout', '1')
if MODE == 'fail':
    Path('/run/crowd').touch()
    while True:
        Crowd(CLIENTS).close()
smc.allow_slow_handshakes()
BEFORE = successes()
OLD = smc.fallbacks(GEN)
run(all_at_once, addresses, limits)
