#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: storm_rdma.py CONNECTIONS [READERS]

Readers (four) look at everything of SMC-R while connections over a wire are made, closed and aborted,
and the RDMA devices at both ends of it are deleted and added again. Somebody listens to events.
"""

import os
import random
import select
import socket
import sys

import nl
import smc
import storms
import wire
from cases import check, equal, report, run
from diag import CONNINFO, DMBINFO, LGRINFO, Diag, extensions
from spec import Family
from storms import ENDS, is_over, must, process, quiet
from wire import ADDRESS, PORTS

COUNT = int(sys.argv[1])
READERS = int(sys.argv[2]) if len(sys.argv) > 2 else 4
LEAST = 5
SECONDS = 60 * int(os.environ.get('VM_SLOW', 1))
EXT = extensions(CONNINFO, DMBINFO, LGRINFO)
ACTIVE = 3
R1, R2 = 1, 4                   # net.smc.variants
ROOM = 16 << 20                 # for events
SO_RCVBUFFORCE = 33
NO_GID = wire.gid('::')
GIDS = [wire.gids(port) for port in PORTS]
INTERFACES = [wire.interface(port) for port in PORTS]


# --- storms ---------------------------------------------------------------------------------

class Pair:
    """Two ends of a connection, if it came to that: the devices may go at any moment."""

    def __init__(self, family, server_port, client, server):
        self.listener = server(family)
        self.listener.bind((ADDRESS[family, server_port], 0))
        self.listener.listen(8)
        self.client = client(family)
        self.client.settimeout(SECONDS)
        self.server = None
        connected = quiet(self.connect)
        if connected and self.accepts():
            self.server = quiet(self.accept)

    def connect(self):
        self.client.connect(self.listener.getsockname())
        return True

    def accept(self):
        self.listener.setblocking(False)
        server = self.listener.accept()[0]
        server.settimeout(SECONDS)
        return server

    def accepts(self):
        """Whether the server has its end; if it will not, the client sees the end of its own."""
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        poll.register(self.client, select.POLLIN)
        seen = poll.poll(SECONDS * 1000)
        must(seen, 'a connection that neither begins nor ends')
        return any(fd == self.listener.fileno() for fd, _ in seen)

    def close(self):
        for sock in (self.client, self.server, self.listener):
            if sock:
                sock.close()


def connections(count):
    kinds = (smc.smc_socket,) * 4 + (smc.tcp_socket,)
    for number in range(count):
        smc.sysctl('variants', random.choice((R1, R2, R1 | R2)))
        pair = Pair(random.choice((socket.AF_INET, socket.AF_INET6)), random.choice(PORTS),
                    random.choice(kinds), random.choice(kinds))
        if pair.server:
            quiet(ENDS[number % 4], pair)
        pair.close()


def lasting():
    """Connections that stay until one of the devices goes: both ends are told."""
    number = 0
    while not is_over():
        number += 1
        pair = Pair(socket.AF_INET, number % 2, smc.smc_socket, smc.smc_socket)
        if pair.server and smc.is_smc(pair.client) and stays(pair):
            for sock in (pair.client, pair.server):
                must(ends(sock, SECONDS), 'an end of a lost connection was not told')
        pair.close()


def stays(pair):
    """Return: whether one of the ends ended, before the storm did."""
    while not is_over():
        if ends(pair.client, 0.1) or ends(pair.server, 0.1):
            return True
    return False


def ends(sock, seconds):
    return bool(select.select([sock], [], [], seconds)[0])


def links_on(gen, port):
    """How many links a device has; None if it is not ready."""
    for dev in gen.show('get-dev-smcr'):
        if dev['dev-smcr']['ib-name'] == f'rxe{port}':
            there = dev['dev-smcr']['port']
            return there['lnk-cnt'] if there['netdev'] and there['state'] else None
    return None


def unplug(count):
    """Deletes devices that have links, and adds them again."""
    gen = Family('smc')
    for _ in range(count):
        port = random.choice(PORTS)
        must(smc.eventually(lambda port=port: links_on(gen, port), SECONDS), 'no link on', port)
        wire.unplug(port)
        wire.plug_in(port)
        must(smc.eventually(lambda port=port: links_on(gen, port) is not None, SECONDS),
             'not ready', port)


# --- readers --------------------------------------------------------------------------------

def port_of(name):
    must(name in ('rxe0', 'rxe1'), name)
    return int(name[3])


def look_at_ends(ibname, own, peer):
    """Addresses of a link belong to its device and to the other one."""
    port = port_of(ibname)
    must(own in GIDS[port] and peer in GIDS[1 - port] | {NO_GID}, ibname, own, peer)


def look_at_info(info):
    must(info['ibport'] == 1 and info['role'] < 2 and info['link'] < 3, info)
    look_at_ends(info['ibname'], info['gid'], info['peer_gid'])


def look_at_link(link):
    must(link['state'] < 4 and link['ib-port'] == 1 and link['uid'],
         link)
    must(link['conn-cnt'] < 256, link)
    must(link['id'] < 3 and link['net-dev'] == INTERFACES[port_of(link['ib-dev'])], link)
    must(link['state'] != ACTIVE or
         link['id'] and link['peer-uid'] and link['peer-gid'] != NO_GID, link)
    look_at_ends(link['ib-dev'], link['gid'], link['peer-gid'])


def look_at_groups(gen):
    groups = [m['lgr-smcr'] for m in gen.show('get-lgr-smcr')]
    ids = [group['id'] for group in groups]
    must(len(ids) == len(set(ids)) and not any(number & 0xff for number in ids), ids)
    for group in groups:
        must(group['role'] < 2 and group['type'] < 5 and group['conns-num'] < 256, group)
        must(group['rmb-alloc'] < 1 << 32 and group['sndbuf-alloc'] < 1 << 32, group)
        must(('v2' in group) == ('v2-common' in group), group)
    for links in wire.links(gen).values():
        must(len(links) <= 3, links)
        for link in links:
            look_at_link(link)


def look_at_devices(gen):
    devices = [m['dev-smcr'] for m in gen.show('get-dev-smcr')]
    names = [dev['ib-name'] for dev in devices]
    must(len(names) == len(set(names)), names)
    for dev in devices:
        port = dev['port']
        must(port['netdev'] in (0, INTERFACES[port_of(dev['ib-name'])]), dev)
        must(port['valid'] == 1 and port['state'] < 2 and port['lnk-cnt'] < 1000, dev)
        must(dev['use-cnt'] == port['lnk-cnt'] and dev['is-crit'] <= dev['use-cnt'], dev)


def reader(room, turn):
    """Until told to stop; then it has seen everything several times."""
    gen, sockets, rounds = Family('smc', room), Diag(room), 0
    counters = {}
    while not is_over() or rounds < LEAST:
        storms.look_at_sockets(sockets.sockets(EXT), look_at_info)
        counters = storms.look_at_counters(counters, gen.show('get-stats')[0]['stats'])
        storms.look_at_fallbacks([m['fback-stats'] for m in gen.show('get-fback-stats')])
        look_at_groups(gen)
        look_at_devices(gen)
        storms.abandon(turn % 2)
        rounds += 1


def listener(events):
    """Each group and each link comes and goes once."""
    here = {'lgr': set(), 'link': set()}
    gone = {'lgr': set(), 'link': set()}
    silence = 0
    while not is_over() or any(here.values()):
        silence = 0 if ends(events.sock, 1) else silence + 1
        must(silence < SECONDS or not any(here.values()), 'never ended', here)
        for name, attributes in events.events():
            if name in ('fallback', 'path-down'):
                continue
            kind, _, way = name.partition('-')
            entry = attributes[f'{kind}-smcr']
            key = entry['id'] if kind == 'lgr' else (entry['lgr-id'], entry['uid'])
            (appears if way == 'up' else vanishes)(here[kind], gone[kind], key)
    must(len(gone['lgr']) > LEAST and len(gone['link']) > LEAST, gone)


def appears(here, gone, key):
    must(key not in here and key not in gone, 'came twice', key)
    here.add(key)


def vanishes(here, gone, key):
    must(key in here, 'went without having come', key)
    here.remove(key)
    gone.add(key)


def technology():
    return Family('smc').show('get-stats')[0]['stats']['smcr-tech']


def storm():
    gen, events = Family('smc'), Family('smc')
    must(smc.eventually(lambda: all(links_on(gen, port) is not None for port in PORTS)))
    events.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    events.listen()
    storms.begin()
    readers = [(f'reader {turn}', process(reader, 4096 << (3 * (turn % 2)), turn))
               for turn in range(READERS)]
    storms.end([('connections', process(connections, COUNT)),
                ('more connections', process(connections, COUNT)),
                ('unplugged', process(unplug, COUNT // 10))],
               readers + [('events', process(listener, events)),
                          ('lasting connections', process(lasting))])
    smc.sysctl('variants', R1 | R2)
    check('all sockets are gone', smc.eventually(lambda: not Diag().sockets(), SECONDS),
          Diag().sockets())
    check('all link groups are gone', smc.eventually(lambda: not wire.links(gen), SECONDS))
    check('no link is on a device', smc.eventually(
        lambda: [links_on(gen, port) for port in PORTS] == [0, 0], SECONDS))
    counters = technology()
    print(f'# SMC-R: {counters["clnt-v1-succ"]} connections of version 1, '
          f'{counters["clnt-v2-succ"]} of version 2, {counters["abort-link-cnt"]} lost')
    check('connections were lost with their device', counters['abort-link-cnt'])
    check('the ports have their addresses', smc.eventually(
        lambda: wire.have([ADDRESS[socket.AF_INET, port] for port in PORTS])))
    before = counters['clnt-v2-succ']
    pair = smc.Pair(address=ADDRESS[socket.AF_INET, 1])
    smc.send_all(pair.client, pair.server, 10000)
    pair.close()
    equal('SMC-R works', technology()['clnt-v2-succ'] - before, 1)
    report(True, 'the storm is over')


smc.sysctl('rmem', 65536)
smc.sysctl('smcr_idle_timeout', 1)
smc.sysctl('smcr_path_retry_time', 0)        # what is unplugged is back soon
smc.sysctl('variants', R1 | R2)
run(storm)
