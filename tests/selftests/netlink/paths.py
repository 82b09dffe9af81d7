#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: paths.py

The ways that SMC-R takes: VLANs, routers, ports that the operator has named in the PNET table. What
carries the data is what netlink shows, and where there is no way the connection is TCP, for the
right reason. RDMA_LIB is lib/rdma.sh, which makes the wires.
"""

import errno
import os
import socket
import subprocess
import time
from pathlib import Path

import nl
import smc
import wire
from cases import accepted, check, equal, run
from spec import Family

R1, R2 = 1, 4                   # net.smc.variants
CLIENT, SERVER = 0, 1
DECLINED, NO_DEVICE, OTHER_SUBNET = 0x05000000, 0x03030000, 0x03070000
PNET_ADD, PNET_FLUSH = 2, 4
ROUTER = 'router'
VLAN = 7
SIZE = 40000
SHORT = 3                       # seconds; a link whose port is down for longer ends
TRIES = 10


def some(families, daily):
    """Both address families, or the one for "make test"."""
    return families[daily:daily + 1] if os.environ.get('DAILY') else families


def sent(interface):
    """Bytes that a network device has sent."""
    return int(Path(f'/sys/class/net/{interface}/statistics/tx_bytes').read_text(encoding='ascii'))


def counts():
    tech = GEN.show('get-stats')[0]['stats']['smcr-tech']
    return [tech['clnt-v1-succ'], tech['clnt-v2-succ']]


def reasons():
    """How often connections fell back, by (side, reason)."""
    return {(entry['type'], entry['rsn-code']): entry['rsn-cnt']
            for entry in (m['fback-stats'] for m in GEN.show('get-fback-stats'))}


def groups():
    found = [m['lgr-smcr'] for m in GEN.show('get-lgr-smcr')]
    return sorted(found, key=lambda group: group['role'])


def without_memory(group):
    """Of send buffers, which become small again."""
    return {name: value for name, value in group.items() if not name.endswith('-alloc')}


def gids_of(group):
    link, = wire.links(GEN)[group['id']]
    return link['ib-dev'], link['gid'], link['peer-gid']


def move(pair):
    """The right bytes arrive, both ways; as many as a ring takes."""
    for sender, receiver in (pair.client, pair.server), (pair.server, pair.client):
        data = bytes(i * 7 % 251 for i in range(SIZE))
        sender.sendall(data)
        check('the right bytes arrive', receiver.recv(SIZE, socket.MSG_WAITALL) == data)


class Way:
    """A connection to an address over SMC-R, and what is shown of it."""

    def __init__(self, variant, addresses, ports=None, **wanted):
        self.name = f'version {2 if variant == R2 else 1} to {addresses[SERVER]}'
        self.variant, self.addresses, self.wanted = variant, addresses, wanted
        self.ports = ports or addresses     # addresses of the RDMA ports
        self.family = socket.AF_INET6 if ':' in addresses[0] else socket.AF_INET

    def connect(self):
        smc.sysctl('variants', self.variant)
        return smc.Pair(self.family, address=self.addresses[SERVER])

    def goes(self):
        check(f'{self.name}: the ports have addresses',
              smc.eventually(lambda: wire.have(self.ports)))
        before = counts()
        pair = self.connect()
        equal(f'{self.name}: it is SMC-R', [now - then for now, then in zip(counts(), before)],
              [0, 1] if self.variant == R2 else [1, 0])
        move(pair)
        shown = groups()
        equal(f'{self.name}: two groups', len(shown), 2)
        for role, group in enumerate(shown):
            gids = [wire.gid(self.ports[role]), wire.gid(self.ports[1 - role])]
            equal(f'{self.name}: its ports', gids_of(group), (f'rxe{role}', *gids))
            for field, value in self.wanted.items():
                equal(f'{self.name}: {field}', look_up(group, field), value)
        pair.close()
        check(f'{self.name}: it ends', smc.eventually(lambda: not groups()), groups())

    def is_tcp(self, reason):
        before = reasons()
        pair = self.connect()
        move(pair)
        pair.close()

        def grown():
            now = reasons()
            return {code for (side, code), count in now.items()
                    if count != before.get((side, code), 0)}
        check(f'{self.name}: it is TCP, because of {reason:#x}',
              smc.eventually(lambda: reason in grown()) and not groups(), grown())


def look_up(group, field):
    return group['v2']['direct'] if field == 'direct' else group[field.replace('_', '-')]


def direct():
    wire.shell('rdma_wire')
    Way(R2, ('10.9.0.1', '10.9.0.2'), vlan_id=0, direct=1).goes()
    Way(R1, ('fd09::1', 'fd09::2'), vlan_id=0).goes()
    wire.shell('rdma_unwire')


def vlan():
    wire.shell(f'rdma_wire && rdma_vlan {VLAN}')
    for addresses in some((('10.9.7.1', '10.9.7.2'), ('fd09:7::1', 'fd09:7::2')), 0):
        Way(R2, addresses, vlan_id=VLAN, direct=1).goes()
        Way(R1, addresses, vlan_id=VLAN).goes()
    wire.shell('rdma_unwire')


def twins():
    """An address is there twice: without VLAN, and in the VLAN that the connection takes."""
    addresses = ('10.9.7.1', '10.9.7.2')
    wire.shell(f'rdma_wire && ip addr add {addresses[0]}/32 dev smc0 &&'
               f' ip addr add {addresses[1]}/32 dev smc1')
    check('the ports have addresses', smc.eventually(lambda: wire.have(addresses)))
    wire.shell(f'rdma_vlan {VLAN}')
    check('and the same again', smc.eventually(lambda: wire.have(addresses, 2)))
    before = sent(f'smc0.{VLAN}')
    Way(R1, addresses, vlan_id=VLAN).goes()
    grown = sent(f'smc0.{VLAN}') - before
    check('the data goes through the VLAN', grown >= SIZE, grown)
    wire.shell('rdma_unwire')


def routed():
    """Version 2 passes routers, version 1 does not."""
    wire.shell('rdma_routed', RDMA_BETWEEN=ROUTER)
    for addresses in some((('10.9.0.1', '10.9.1.2'), ('fd09::1', 'fd09:1::2')), 1):
        Way(R2, addresses, vlan_id=0, direct=0).goes()
        Way(R1, addresses).is_tcp(OTHER_SUBNET)
    wire.shell('rdma_unwire', RDMA_BETWEEN=ROUTER)


def is_up(port):
    state = Path(f'/sys/class/infiniband/rxe{port}/ports/1/state').read_text(encoding='ascii')
    return 'ACTIVE' in state


def plug(up):
    """The server's cable; waits until the RDMA port knows."""
    subprocess.run(['ip', '-n', ROUTER, 'link', 'set', 'port1', 'up' if up else 'down'], check=True)
    check(f'the port is {"up" if up else "down"}', smc.eventually(lambda: is_up(SERVER) == up))


def stays_away_shortly(pair):
    """
    Twice, the wire goes and comes back, and the connection goes on. False if that took so long that the
    link may end.
    """
    for _ in range(2):
        start = time.monotonic()
        plug(False)
        plug(True)
        if time.monotonic() - start > SHORT:
            return False
        move(pair)
    return True


def flap():
    """A wire that comes back takes no connection along, but one that stays away does."""
    wire.shell('rdma_wire', RDMA_BETWEEN=ROUTER)
    addresses = '10.9.0.1', '10.9.0.2'
    check('the ports have addresses', smc.eventually(lambda: wire.have(addresses)))
    for _ in range(TRIES):
        before = counts()
        pair = Way(R2, addresses).connect()
        equal('it is SMC-R', [now - then for now, then in zip(counts(), before)], [0, 1])
        move(pair)
        shown = groups()
        if stays_away_shortly(pair):
            break
        pair.close()
        check('groups end', smc.eventually(lambda: not groups()), groups())
    equal('the same groups', [without_memory(group) for group in groups()],
          [without_memory(group) for group in shown])
    plug(False)
    for end in pair.server, pair.client:    # the client has to find out by itself
        end.settimeout(smc.LIMIT)
        try:
            if end == pair.client:
                end.sendall(b'x')    # fails if it has: an ACK may have been lost
            got = end.recv(1)
        except OSError as error:
            got = error.errno
        equal('without the wire it ends', got, errno.ECONNRESET)
    pair.close()
    check('groups end', smc.eventually(lambda: not groups()), groups())
    wire.shell('rdma_unwire', RDMA_BETWEEN=ROUTER)


def pnet():
    """A port of its own for each side: one named itself, the other one by its interface."""
    wire.shell('rdma_wire && rdma_apart')
    table = Family('smc_pnetid')
    addresses, ports = ('10.10.0.1', '10.10.0.2'), ('10.10.0.11', '10.10.0.12')
    Way(R2, addresses).is_tcp(NO_DEVICE)
    for name, kind, value in (('NETA', 2, 'app0'), ('NETA', 3, 'rxe0'),
                              ('NETB', 2, 'app1'), ('NETB', 2, 'smc1')):
        accepted(f'{name} has {value}', table.do(PNET_ADD, nl.attr(1, name) + nl.attr(kind, value)))
    Way(R2, addresses, ports, direct=1).goes()
    Way(R1, addresses, ports).goes()
    accepted('an empty table', table.do(PNET_FLUSH))
    Way(R1, addresses).is_tcp(NO_DEVICE)
    wire.shell('rdma_unwire')


smc.sysctl('rmem', 65536)
smc.sysctl('wmem', 65536)
smc.sysctl('smcr_idle_timeout', 1)
smc.sysctl('smcr_path_retry_time', 0)    # for another try of flap()
GEN = Family('smc')
run(direct, vlan, twins, routed, flap, pnet)
