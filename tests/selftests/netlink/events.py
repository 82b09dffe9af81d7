#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Multicast groups of both families: who is told of what."""

import ipaddress
import os
import socket

import nl
import smc
from cases import check, equal, run
from spec import Family

ENTRY = 1
HOME = {socket.AF_INET: ipaddress.ip_address('127.0.0.1').packed,
        socket.AF_INET6: ipaddress.ip_address('::1').packed}


def eid(name):
    return nl.attr(ENTRY, f'{name:32}')


def listener(name='smc'):
    found = Family(name)
    found.listen()
    return found


def collect(events, count):
    """Waits for so many events."""
    found = []

    def enough():
        found.extend(events.events())
        return len(found) >= count
    check(f'{count} events come', smc.eventually(enough), found)
    return found


def link_groups():
    check('no group is left from before', smc.eventually(lambda: not GEN.show('get-lgr-smcd')))
    events = listener()
    pair = smc.Pair()
    shown = {m['lgr-smcd']['id']: m['lgr-smcd'] for m in GEN.show('get-lgr-smcd')}
    for name, attributes in collect(events, 2):
        group = attributes['lgr-smcd']
        equal('a group is up', name, 'lgr-up')
        equal('its attributes', list(group), list(shown[group['id']]))
        equal('they are those which are shown', (group['gid'], group['v2-common']),
              (shown[group['id']]['gid'], shown[group['id']]['v2-common']))
    other = smc.Pair()
    equal('a connection in an existing group is no event', events.events(), [])
    other.close()
    pair.close()

    down = collect(events, 2)
    equal('the same groups', sorted((name, a['lgr-smcd']['id']) for name, a in down),
          sorted(('lgr-down', number) for number in shown))
    equal('without connections', {a['lgr-smcd']['conns-num'] for _, a in down}, {0})
    events.close()


def fallbacks():
    events = listener()
    for family in (socket.AF_INET, socket.AF_INET6):
        pair = smc.Pair(family, server=smc.tcp_socket)
        equal('a fallback of the client', collect(events, 1), [('fallback', {
            'role': 0, 'reason': smc.PEER_NO_SMC, 'peer-diagnosis': 0, 'lost': 0,
            'local-addr': HOME[family], 'local-port': pair.client.getsockname()[1],
            'peer-addr': HOME[family], 'peer-port': pair.address[1]})])
        pair.close()
    pair = smc.Pair(client=smc.tcp_socket)
    equal('a fallback of the server', [(name, a['role'], a['local-port']) for name, a in
                                       collect(events, 1)], [('fallback', 1, pair.address[1])])
    pair.close()
    events.close()


def many_fallbacks():
    """They are counted, even if not all of them are reported."""
    def fall_back():
        sock = smc.smc_socket()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 1)
        sock.close()

    events = listener()
    made = told = lost = 0
    while not lost:
        for _ in range(100):
            fall_back()
        made += 100
        # What was left out is told with the next one, which may be in the next second
        for _, attributes in events.events():
            told += 1
            lost += attributes['lost']
        if made > 20000:
            break
    check('too many are not reported', told < made, (made, told, lost))
    check('how many is said', lost and told + lost <= made, (made, told, lost))
    events.close()


def eids():
    events = listener()
    GEN.set('add-ueid', eid('A'))
    GEN.set('add-ueid', eid('A'))
    GEN.set('disable-seid')
    GEN.set('remove-ueid', eid('B'))
    GEN.set('remove-ueid', eid('A'))
    GEN.set('disable-seid')
    GEN.set('enable-seid')
    GEN.set('flush-ueid')
    equal('changes of EIDs, and no refused ones', events.events(), [
        ('add-ueid', {'entry': f'{"A":32}'}), ('disable-seid', {}),
        ('remove-ueid', {'entry': f'{"A":32}'}), ('enable-seid', {}), ('flush-ueid', {})])
    events.close()


def pnet():
    events, table = listener('smc_pnetid'), Family('smc_pnetid')
    table.do(2, nl.attr(1, 'neta') + nl.attr(2, 'eth0') + nl.attr(3, 'rxe0'))
    table.do(2, nl.attr(1, 'NETB') + nl.attr(2, 'eth0'))
    table.do(2, nl.attr(1, 'NETB') + nl.attr(2, 'eth1'))
    table.do(3, nl.attr(1, 'NETC'))
    table.do(3, nl.attr(1, 'NETA'))
    table.do(4)
    equal('changes of the PNET table, and no refused ones', events.events(), [
        ('add', {'name': 'NETA', 'ethname': 'eth0', 'ibname': 'rxe0', 'ibport': 1}),
        ('add', {'name': 'NETB', 'ethname': 'eth1'}), ('del', {'name': 'NETA'}), ('flush', {})])
    events.close()


def anyone_may_listen():
    check('without privilege', smc.as_nobody(listener))


def namespaces():
    events, tables = listener(), listener('smc_pnetid')
    pid = os.fork()
    if not pid:
        status = 1
        try:
            nl.namespace('other')
            own = listener()
            smc.Pair().close()
            smc.Pair(client=smc.tcp_socket).close()
            Family('smc').set('add-ueid', eid('A'))
            Family('smc_pnetid').do(4)
            status = 0 if own.events() else 1
        finally:
            os._exit(status)
    equal('events are told in their namespace', os.waitpid(pid, 0)[1], 0)
    equal('and nowhere else', (events.events(), tables.events()), ([], []))


def deaf():
    """A listener that does not read loses events, and keeps nobody."""
    events = listener()
    events.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    for _ in range(200):
        GEN.set('flush-ueid')
    try:
        while events.events():
            pass
        lost = False
    except OSError:
        lost = True
    check('it is told that it has lost some', lost)
    check('later ones come', not GEN.set('flush-ueid').error and events.events())


GEN = Family('smc')
run(link_groups, fallbacks, many_fallbacks, eids, pnet, anyone_may_listen, namespaces, deaf)
