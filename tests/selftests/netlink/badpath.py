#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: badpath.py

A path of SMC-R on which nothing arrives, between two ports of one kernel: the first connection pays
for it and is TCP, those after it are TCP at once, and after a while it is tried again. Counters,
reasons and events tell.
"""

import errno
import socket
import struct
import subprocess
import time

import smc
import wire
from cases import becomes, check, equal, run
from nl import SLOW
from spec import Family
from wire import ADDRESS, block, gid

R2 = 4                          # net.smc.variants
NO_PATH, PEER_DECLINED = 0x03100009, 0x05000000
SERVER, CLIENT = 1, 0           # type of fallback counters
FIRST = smc.LIMIT // 2          # the first connection does not wait for the end of its handshake
AT_ONCE = 0.5                   # a retry of RDMA takes longer
RETRY_TIME = 10 * SLOW
OTHERS = 10
ROCE = (4791).to_bytes(2, 'big')
QUEUE_PAIR = slice(33, 36)      # to which a packet goes; after 20 bytes IP, 8 bytes UDP
GEN = Family('smc')
BEFORE = 0


def successes():
    return GEN.show('get-stats')[0]['stats']['smcr-tech']['srv-v2-succ'] - BEFORE


def counters():
    stats = GEN.show('get-stats')[0]['stats']
    return stats['path-fail-cnt'], stats['paths-bad'], successes()


def groups():
    return len(GEN.show('get-lgr-smcr'))


def connect():
    """Makes a connection and uses it; returns how long it took until both ends could."""
    start = time.monotonic()
    pair = smc.Pair(address=ADDRESS[socket.AF_INET, 1])
    took = time.monotonic() - start
    smc.send_all(pair.client, pair.server, 4000)
    smc.send_all(pair.server, pair.client, 4000)
    pair.close()
    return took


class Sniffer:
    """The packets of RoCE that one port sends."""

    def __init__(self, port):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x800))
        self.sock.bind((f'smc{port}', 0x800))
        self.sock.setblocking(False)

    def packets(self):
        found = []
        while True:
            try:
                packet = self.sock.recv(65536)
            except BlockingIOError:
                self.sock.close()
                return found
            if packet[9] == socket.IPPROTO_UDP and packet[22:24] == ROCE:
                found.append(packet)

    def longest(self):
        return max(map(len, self.packets()), default=0)


def route_mtu(mtu):
    """Of the way from the client to the server, and not of that back."""
    subprocess.run(['ip', 'route', 'replace', ADDRESS[socket.AF_INET, 1], 'dev', 'smc0', 'src',
                    ADDRESS[socket.AF_INET, 0], 'table', '100', *mtu], check=True)


def route_for_small_packets():
    """What a router lets through is less than what the ports can do: both ends go by it."""
    for mtu in [], ['mtu', '700']:
        route_mtu(mtu)
        sniffers = [Sniffer(port) for port in wire.PORTS]
        connect()
        longest = [sniffer.longest() for sniffer in sniffers]
        print(f'# route {mtu}: longest packets {longest}')
        if mtu:
            check('no packet is longer than the route allows', max(longest) <= 700, longest)
        else:
            check('packets are longer without that', min(longest) > 700, longest)
        no_groups()
    route_mtu([])


def traffic_class():
    """All packets of the link groups that are formed from then on have it, not late ones of others."""
    old = set()
    for wanted in 106, 0:
        smc.sysctl('smcr_traffic_class', wanted)
        sniffers = [Sniffer(port) for port in wire.PORTS]
        connect()
        found = [sniffer.packets() for sniffer in sniffers]
        for packets in found:
            equal('traffic classes of all packets',
                  {packet[1] for packet in packets if packet[QUEUE_PAIR] not in old}, {wanted})
        old = {packet[QUEUE_PAIR] for packets in found for packet in packets}
        no_groups()


def no_groups():
    becomes('no link group is left', groups, 0)


def pays(what):
    """One connection tries the path at both ends, and is TCP."""
    fails, _, good = counters()
    took = connect()
    print(f'# {what}: it took {took:.2f} s')
    check(f'{what}: it has tried the path', took > AT_ONCE, took)
    check(f'{what}: it is not late', took < FIRST, took)
    becomes(f'{what}: both ends know', lambda: (counters()[0], counters()[2]), (fails + 2, good))


def does_not(what):
    """
    One connection is TCP, and does not try the path. Returns how long it took; or nothing, if the time
    of the path was over meanwhile, which says nothing.
    """
    fails, _, good = counters()
    took = connect()
    now = counters()
    if now[1] != 2:
        print(f'# {what}: the time was over')
        return None
    equal(f'{what}: it does not try the path', now, (fails, 2, good))
    return took


def is_forgotten(what):
    check(what, smc.eventually(lambda: counters()[1] == 0, RETRY_TIME + smc.LIMIT))


def works():
    connect()
    becomes('SMC-R works', counters, (0, 0, 1))
    no_groups()


def first_pays():
    events = Family('smc')
    events.listen()
    block(True)
    pays('the first connection')
    equal('both ends know the path', counters(), (2, 2, 1))
    becomes('reasons of both ends', lambda: smc.fallbacks(GEN, OLD),
            {(SERVER, NO_PATH): 1, (CLIENT, PEER_DECLINED): 1})
    addresses = [ADDRESS[socket.AF_INET, port] for port in wire.PORTS]
    told = []
    smc.eventually(lambda: told.extend(e for name, e in events.events()
                                       if name == 'path-down') or len(told) >= 2)
    equal('those who listen were told', sorted((e['gid'], e['peer-gid'],
                                                socket.inet_ntoa(e['peer-addr']), e['seconds'])
                                               for e in told),
          [(gid(mine), gid(other), other, RETRY_TIME)
           for mine, other in (addresses, addresses[::-1])])


def others_do_not():
    times = []
    while len(times) < OTHERS and (took := does_not('another connection')) is not None:
        times.append(took)
        count = 1 + len(times)
        becomes('reasons of both ends', lambda count=count: smc.fallbacks(GEN, OLD),
                {(SERVER, NO_PATH): count, (CLIENT, PEER_DECLINED): count})
    # A busy machine may hold up some of them
    check('other connections are TCP at once', times and min(times) < AT_ONCE, times)


def is_back(what):
    fails, _, good = counters()
    connect()
    becomes(what, counters, (fails, 0, good + 1))
    no_groups()


def tried_again():
    """While it does not work, now and then; once it does, SMC-R is back."""
    is_forgotten('it is forgotten')
    pays('one more connection')
    block(False)
    does_not('although it works again')
    is_forgotten('it is forgotten again')
    is_back('SMC-R is back')


def switched_off():
    smc.sysctl('smcr_path_retry_time', 0)
    block(True)
    for _ in range(2):
        pays('each connection')
        equal('failures are counted, and forgotten', counters()[1], 0)
    block(False)
    is_back('SMC-R is back at once')
    smc.sysctl('smcr_path_retry_time', RETRY_TIME)


def not_blamed():
    """A link whose connections were reset by TCP meanwhile, says nothing about the path."""
    fails, _, good = counters()
    for _ in range(2):
        pair = smc.Pair(address=ADDRESS[socket.AF_INET, 1])
        smc.send_all(pair.client, pair.server, 4000)
        block(True)
        pair.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        pair.client.close()
        check('the server is told', smc.eventually(lambda: pair.server.getsockopt(
            socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNRESET))
        pair.close()
        no_groups()
        block(False)
    becomes('no path is blamed', counters, (fails, 0, good + 2))


def one_way():
    """The client gets all, but nothing of its RoCE arrives: no program must be told by a reset."""
    old = smc.fallbacks(GEN)
    smc.sysctl('smcr_path_retry_time', 0)
    block(True, [1])
    took = connect()
    check('one way: it has tried the path, and is not late', AT_ONCE < took < FIRST, took)
    becomes('one way: it is TCP at both ends', lambda: smc.fallbacks(GEN, old),
            {(SERVER, NO_PATH): 1, (CLIENT, PEER_DECLINED): 1})
    block(False, [1])
    no_groups()
    smc.sysctl('smcr_path_retry_time', RETRY_TIME)


BEFORE = successes()
OLD = smc.fallbacks(GEN)
smc.sysctl('variants', R2)
smc.sysctl('smcr_idle_timeout', 1)
smc.sysctl('smcr_path_retry_time', RETRY_TIME)
run(works, first_pays, others_do_not, tried_again, switched_off, not_blamed,
    route_for_small_packets, traffic_class, one_way)
