#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: failover.py [CUTS]

Two wires between two hosts that are one: a link group has a link over each. One of the two links is
taken away under load, so many times in each way, and comes back; every byte arrives, in order, in both
directions, and no program sees an error. RDMA_LIB is lib/rdma.sh, which makes the wires.
"""

import os
import random
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import nl
import smc
import wire
from cases import accepted, check, equal, run
from spec import Family

SO_SNDBUFFORCE = 32
R1, R2 = 1, 4                   # net.smc.variants
PNET_ADD, PNET_FLUSH = 2, 4
ACTIVE = 3
WIRES = (0, 1), (2, 3)          # RDMA devices: of the client and of the server
NETDEVS = 'smc0', 'smc1', 'alt0', 'alt1'
ADDRESSES = '10.9.0.1', '10.9.0.2', '10.9.5.1', '10.9.5.2'
PERIOD = 65521
PATTERN = bytes(random.Random(7).randbytes(PERIOD))
PIECE = 20000
CHOSEN = 1 << 20                # of the client's send buffer, much of which waits for the server
CROWD = 8
CUTS = int(sys.argv[1]) if len(sys.argv) > 1 else 4


def take_up():
    wire.shell('rdma_wire && rdma_second_wire')
    check('all ports have addresses', smc.eventually(
        lambda: all(wire.gid(ADDRESSES[port]) in wire.gids(port) for port in range(4))))
    table = Family('smc_pnetid')
    for netdev in NETDEVS:
        accepted(f'{netdev} is in the network',
                 table.do(PNET_ADD, nl.attr(1, 'NET') + nl.attr(2, netdev)))


def take_down():
    Family('smc_pnetid').do(PNET_FLUSH)
    check('all groups have ended', smc.eventually(lambda: not wire.links(GEN)), wire.links(GEN))
    wire.shell('rdma_unwire')


def active():
    """Links of each group that can be used: numbers and devices."""
    return [sorted((link['id'], link['ib-dev']) for link in group if link['state'] == ACTIVE)
            for group in wire.links(GEN).values()]


def are_two():
    """Whether both groups, that of the client and that of the server, have two links."""
    found = active()
    return len(found) == 2 and all(len(group) == 2 for group in found)


def buffered_socket(family):
    sock = smc.smc_socket(family)
    sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, CHOSEN)
    return sock


def links_come_up():
    """By ADD LINK at first contact."""
    take_up()
    for variant in R1, R2:
        smc.sysctl('variants', variant)
        pair = smc.Pair(address=ADDRESSES[1])
        smc.send_all(pair.client, pair.server, 1000)
        smc.send_all(pair.server, pair.client, 1000)
        # The second link is not part of the handshake
        check(f'variant {variant}: two links at each end', smc.eventually(are_two), active())
        found = active()
        if are_two():
            equal(f'variant {variant}: they have the same numbers',
                  *([number for number, _ in group] for group in found))
            devices = [device for group in found for _, device in group]
            equal(f'variant {variant}: each device has one', sorted(devices),
                  ['rxe0', 'rxe1', 'rxe2', 'rxe3'])
            crowd(variant)
        pair.close()
        check(f'variant {variant}: they end', smc.eventually(lambda: not wire.links(GEN)))
    take_down()


class Stream:
    """Bytes in one direction until it is told to stop, each of which tells its position."""

    def __init__(self, sender, receiver):
        self.sender, self.receiver = sender, receiver
        self.sent = self.received = 0
        self.error, self.ending = None, False
        self.threads = [threading.Thread(target=self.guard, args=(function,))
                        for function in (self.send, self.receive)]
        for thread in self.threads:
            thread.start()

    def guard(self, function):
        try:
            function()
        except OSError as error:
            self.error = self.error or f'{function.__name__}: {error}'

    def send(self):
        while not self.ending:
            at = self.sent % PERIOD
            self.sender.sendall(PATTERN[at:at + PIECE])
            self.sent += len(PATTERN[at:at + PIECE])
        self.sender.shutdown(socket.SHUT_WR)

    def receive(self):
        while part := self.receiver.recv(PIECE):
            at = self.received % PERIOD
            if (PATTERN + PATTERN)[at:at + len(part)] != part:
                raise OSError(f'wrong bytes at {self.received}')
            self.received += len(part)

    def grows(self, bytes_more=300000):
        before = self.received
        return smc.eventually(lambda: self.error or self.received >= before + bytes_more) \
            and not self.error

    def end(self):
        self.ending = True
        for thread in self.threads:
            thread.join(smc.LIMIT)
        return not self.error and not any(thread.is_alive() for thread in self.threads) and \
            self.sent == self.received

    def __str__(self):
        return f'sent {self.sent}, received {self.received}, error {self.error}'


def crowd(variant):
    """Connections use both links, whichever the server names: the client has proposed one port."""
    before = smc.fallbacks(GEN)
    pairs = [smc.Pair(address=ADDRESSES[1]) for _ in range(CROWD)]
    for pair in pairs:
        smc.send_all(pair.client, pair.server, 1000)
        smc.send_all(pair.server, pair.client, 1000)
    equal(f'variant {variant}: no connection is TCP', smc.fallbacks(GEN, before), {})
    used = sorted(link['conn-cnt'] for group in wire.links(GEN).values() for link in group)
    half = CROWD // 2
    equal(f'variant {variant}: each link has half of them', used, [half, half, half + 1, half + 1])
    for pair in pairs:
        pair.close()


def unplug(port):
    subprocess.run(['rdma', 'link', 'del', f'rxe{port}'], check=True)


def plug_in(port):
    subprocess.run(['rdma', 'link', 'add', f'rxe{port}', 'type',
                    os.environ.get('RDMA_TYPE', 'rxe'), 'netdev', NETDEVS[port]], check=True)


def take_netdev_down(port):
    subprocess.run(['ip', 'link', 'set', NETDEVS[port], 'down'], check=True)


def take_netdev_up(port):
    """The kernel has forgotten the route to the other port. Without it there is no second link."""
    subprocess.run(['ip', 'link', 'set', NETDEVS[port], 'up'], check=True)
    wire.shell(f'rdma_route {port - 2} alt {ADDRESSES[port]} {ADDRESSES[port ^ 1]}')


# How a device is taken away, and comes back. Only of the second wire can the network devices go down:
# the first one carries the TCP connection.
WAYS = ((unplug, plug_in, range(4)),
        (take_netdev_down, take_netdev_up, (2, 3)))


def cut(variant, take, give, ports):
    """A device is taken away and comes back, in turn on each side and each wire."""
    smc.sysctl('variants', variant)
    pair = smc.Pair(client=buffered_socket, address=ADDRESSES[1])
    check(f'variant {variant}: two links', smc.eventually(are_two), active())
    streams = [Stream(pair.client, pair.server), Stream(pair.server, pair.client)]
    longest = 0
    for count in range(CUTS):
        port = ports[count % len(ports)]
        name = f'variant {variant}, cut {count}, rxe{port}'
        if not all(stream.grows() for stream in streams):
            break
        time.sleep(random.Random(count).random() / 50)
        start = time.monotonic()
        take(port)
        moved = all(stream.grows() for stream in streams)
        longest = max(longest, time.monotonic() - start)
        check(f'{name}: it goes on', moved, *streams, active())
        give(port)
        check(f'{name}: the link comes back', smc.eventually(are_two), active())
    for stream in streams:
        stream.ending = True
    check(f'variant {variant}: every byte arrived', all([stream.end() for stream in streams]),
          *streams)
    print(f'# variant {variant}: {CUTS} cuts, at most {longest:.2f} s until 300 KB more, '
          f'{streams[0].received + streams[1].received} bytes')
    pair.close()


def cuts():
    take_up()
    every = [(variant, way) for variant in (R2, R1) for way in WAYS]
    for variant, way in [every[0], every[3]] if os.environ.get('DAILY') else every:
        cut(variant, *way)
        check('they end', smc.eventually(lambda: not wire.links(GEN)))
    take_down()


def sent(port):
    """Packets or requests that a device has sent."""
    if os.environ.get('RDMA_TYPE') == 'mem':
        return int(wire.shell(f'memrdma_value rxe{port}/1 requests'))
    counter = f'/sys/class/infiniband/rxe{port}/ports/1/hw_counters/sent_pkts'
    return int(Path(counter).read_text(encoding='ascii'))


def addresses_come_and_go():
    """The client has no second port and rejects each offer. The server does not offer at each change."""
    take_up()
    unplug(2)
    smc.sysctl('variants', R2)
    pair = smc.Pair(address=ADDRESSES[1])
    smc.send_all(pair.client, pair.server, 1000)
    before = sent(1)
    changes = 0
    for _ in range(20):
        for action in 'add', 'del':
            subprocess.run(['ip', 'addr', action, '10.9.7.1/32', 'dev', 'smc0'], check=True)
            changes += smc.eventually(
                lambda there=action == 'add': (wire.gid('10.9.7.1') in wire.gids(0)) == there)
    packets = sent(1) - before
    equal('the addresses of a port change', changes, 40)
    # For an offer, it sends a request and acknowledges the answer
    check('the server does not offer a link each time', packets < changes, packets)
    plug_in(2)
    # The server offers again after an eighth of its wait, which rejections double up to 600 seconds
    check('a second port of the client is found', smc.eventually(are_two, 600 // 8 + smc.LIMIT),
          wire.links(GEN))
    pair.close()
    take_down()


smc.sysctl('rmem', 65536)
smc.sysctl('wmem', 65536)
smc.sysctl('smcr_idle_timeout', 1)
smc.sysctl('smcr_max_links_per_lgr', 2)
GEN = Family('smc')
run(links_come_up, addresses_come_and_go, cuts)
