#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: fallback.py CLIENT-NAMESPACE SERVER-NAMESPACE SERVER-ADDRESS

Why connections fell back to TCP: counters and sock_diag of both sides agree, for each cause.
"""

import os
import socket
import sys

import diag
import nl
import smc
from cases import becomes, check, equal, run
from diag import FALLBACK, Diag
from spec import Family

CLIENT, SERVER, ADDRESS = sys.argv[1:]
NO_COMMON_UEID = 0x03030008
ENTRY = 1


class Side:
    """Netlink sockets of one namespace."""

    def __init__(self, name):
        self.name = name
        nl.namespace(name)
        self.gen = Family('smc')
        self.diag = Diag()

    def fallbacks(self):
        """All totals told, and how often each reason occurred, by (type, reason)."""
        messages = [m['fback-stats'] for m in self.gen.show('get-fback-stats')]
        totals = [(m['srv-cnt'], m['clnt-cnt']) for m in messages if 'srv-cnt' in m]
        reasons = {(m['type'], m['rsn-code']): m['rsn-cnt'] for m in messages}
        if len(reasons) != len(messages) or len(totals) != bool(messages):
            raise ValueError(messages)
        if messages and 'srv-cnt' not in messages[0]:
            raise ValueError('the totals are not in the first message')
        return (totals or [(0, 0)])[0], reasons

    def entry(self, sock):
        return self.diag.find(os.fstat(sock.fileno()).st_ino)

    def set(self, name, *data):
        answer = self.gen.set(name, *data)
        if answer.error:
            raise ValueError(answer)


def connect(client=smc.smc_socket, server=smc.smc_socket, prepare=None):
    """Client, server and listener, in their namespaces."""
    nl.namespace(SERVER)
    listener = server()
    listener.settimeout(smc.LIMIT)
    listener.bind((ADDRESS, 0))
    listener.listen(4)
    nl.namespace(CLIENT)
    sock = client()
    sock.settimeout(smc.LIMIT)
    if prepare:
        prepare(sock)
    sock.connect(listener.getsockname())
    return sock, listener.accept()[0], listener


def close(*socks):
    for sock in socks:
        sock.close()


def nothing_at_first():
    for side in SIDES:
        becomes(f'{side.name}: no fallback', side.fallbacks, ((0, 0), {}))


def tcp_client():
    socks = connect(client=smc.tcp_socket)
    entry = SIDES[1].entry(socks[1])
    equal('TCP client: the server says', (entry.mode, entry.attributes[FALLBACK]),
          (diag.TCP, (smc.PEER_NO_SMC, 0)))
    becomes('TCP client: counted at the server', SIDES[1].fallbacks,
            ((1, 0), {(1, smc.PEER_NO_SMC): 1}))
    becomes('TCP client: not at the client', SIDES[0].fallbacks, ((0, 0), {}))
    close(*socks)


def tcp_server():
    for number in (1, 2):
        socks = connect(server=smc.tcp_socket)
        entry = SIDES[0].entry(socks[0])
        equal('TCP server: the client says', (entry.mode, entry.attributes[FALLBACK]),
              (diag.TCP, (smc.PEER_NO_SMC, 0)))
        becomes('TCP server: counted at the client', SIDES[0].fallbacks,
              ((0, number), {(0, smc.PEER_NO_SMC): number}))
        close(*socks)


def option():
    nl.namespace(CLIENT)
    sock = smc.smc_socket()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 1)
    check('option: it is a TCP socket', not smc.is_smc(sock))
    becomes('option: counted', SIDES[0].fallbacks,
            ((0, 3), {(0, smc.PEER_NO_SMC): 2, (0, smc.OPTION): 1}))
    sock.close()


def declined():
    for side, eid in zip(SIDES, ('CLIENT', 'SERVER')):
        side.set('add-ueid', nl.attr(ENTRY, f'{eid:32}'))
        side.set('disable-seid')
    client, server, listener = connect()
    entries = SIDES[0].entry(client), SIDES[1].entry(server)
    equal('declined: both are TCP', [(e.mode, e.state) for e in entries],
          [(diag.TCP, diag.ACTIVE)] * 2)
    equal('declined: the client knows what the server said', entries[0].attributes[FALLBACK],
          (smc.DECLINED, NO_COMMON_UEID))
    equal('declined: the server knows why', entries[1].attributes[FALLBACK], (NO_COMMON_UEID, 0))
    becomes('declined: counted at the client', SIDES[0].fallbacks, ((0, 4), {
        (0, smc.PEER_NO_SMC): 2, (0, smc.OPTION): 1, (0, smc.DECLINED): 1}))
    becomes('declined: counted at the server', SIDES[1].fallbacks, ((2, 0), {
        (1, smc.PEER_NO_SMC): 1, (1, NO_COMMON_UEID): 1}))
    close(client, server, listener)


def both_sides():
    """A namespace in which there are both clients and servers: the totals come once."""
    nl.namespace(CLIENT)
    pair = smc.Pair(client=smc.tcp_socket)
    becomes('both sides: counted', SIDES[0].fallbacks, ((1, 4), {
        (1, smc.PEER_NO_SMC): 1, (0, smc.PEER_NO_SMC): 2, (0, smc.OPTION): 1,
        (0, smc.DECLINED): 1}))
    first = SIDES[0].gen.show('get-fback-stats')[0]['fback-stats']
    equal('both sides: order of attributes', list(first),
          ['type', 'srv-cnt', 'clnt-cnt', 'rsn-code', 'rsn-cnt'])
    pair.close()


def smc_again():
    for side in SIDES:
        side.set('flush-ueid')
    before = [side.fallbacks() for side in SIDES]
    client, server, listener = connect()
    entries = SIDES[0].entry(client), SIDES[1].entry(server)
    equal('with a common EID it is SMC', [(e.mode, e.attributes[FALLBACK]) for e in entries],
          [(diag.SMCD, (0, 0))] * 2)
    becomes('nothing was counted', lambda: [side.fallbacks() for side in SIDES], before)
    close(client, server, listener)


SIDES = Side(CLIENT), Side(SERVER)
run(nothing_at_first, tcp_client, tcp_server, option, declined, both_sides, smc_again)
