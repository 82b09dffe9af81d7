#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: storm.py CONNECTIONS [READERS]

Readers (four) look at everything while connections are made, closed, aborted and given up in the
handshake, settings change, and namespaces end. Readers decode strictly, and check what must hold
at any moment.
"""

import os
import random
import socket
import subprocess
import sys

import diag
import nl
import smc
import storms
from cases import check, report, run
from diag import CONNINFO, DMBINFO, LGRINFO, Diag, extensions
from spec import Family
from storms import ENDS, ended_well, must, process, quiet

COUNT = int(sys.argv[1])
READERS = int(sys.argv[2]) if len(sys.argv) > 2 else 4
NAMESPACES, LEAST = 6, 5
EXT = extensions(CONNINFO, DMBINFO, LGRINFO)
ENTRY = 1


def connections(count):
    for number in range(count):
        family = random.choice((socket.AF_INET, socket.AF_INET6))
        client = random.choice((smc.smc_socket, smc.inet_socket, smc.tcp_socket))
        server = random.choice((smc.smc_socket, smc.smc_socket, smc.tcp_socket))
        pair = smc.Pair(family, client=client, server=server)
        quiet(ENDS[number % 4], pair)
        pair.close()


def given_up(count):
    """Clients that close while they connect, and listeners with children that nobody accepts."""
    for _ in range(count // 4):
        listener = smc.smc_socket()
        listener.bind(('127.0.0.1', 0))
        listener.listen(8)
        clients = [smc.smc_socket() for _ in range(4)]
        for client in clients:
            client.setblocking(False)
            quiet(client.connect, listener.getsockname())
        for sock in random.sample(clients + [listener], 5):
            sock.close()


def settings(count):
    gen, pnet = Family('smc'), Family('smc_pnetid')
    for number in range(count):
        eid = nl.attr(ENTRY, f'STORM{number % 5:<27}')
        gen.set(random.choice(('add-ueid', 'remove-ueid')), eid)
        gen.set(random.choice(('flush-ueid', 'disable-seid', 'enable-seid')))
        pnet.do(2, nl.attr(1, f'NET{number % 3}') + nl.attr(2, f'eth{number % 7}'))
        pnet.do(random.choice((3, 4)), nl.attr(1, f'NET{number % 3}'))
    gen.set('flush-ueid')
    gen.set('enable-seid')


def namespaces(count):
    """Namespaces that end with connections in them, while somebody dumps these."""
    for _ in range(count):
        must(ended_well(process(one_namespace)))


def one_namespace():
    must(not smc.LIBC.unshare(nl.CLONE_NEWNET))
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
    pairs = [smc.Pair() for _ in range(5)]
    reader = Diag(4096)
    reader.send(diag.SOCK_DIAG_BY_FAMILY, nl.F_REQUEST | nl.F_DUMP, Diag.payload(EXT))
    list(reader.messages())
    Family('smc').show('get-lgr-smcd')
    pairs[0].server.close()
    # The rest ends with the process, as the namespace does


# --- readers --------------------------------------------------------------------------------

def no_link(info):
    must(False, 'SMC-R', info)


def reader(room, turn):
    """Until told to stop; then it has seen everything several times."""
    gen, pnet, sockets, rounds = Family('smc'), Family('smc_pnetid'), Diag(room), 0
    counters = {}
    while not storms.is_over() or rounds < LEAST:
        storms.look_at_sockets(sockets.sockets(EXT), no_link)
        counters = storms.look_at_counters(counters, gen.show('get-stats')[0]['stats'])
        storms.look_at_fallbacks([m['fback-stats'] for m in gen.show('get-fback-stats')])
        groups = [m['lgr-smcd']['id'] for m in gen.show('get-lgr-smcd')]
        must(len(groups) == len(set(groups)), groups)
        must(len(gen.show('get-dev-smcd')) == 1)
        for name in ('get-sys-info', 'dump-ueid', 'dump-seid', 'dump-hs-limitation'):
            gen.show(name)
        pnet.show('get')
        storms.abandon(turn % 2)
        rounds += 1


def storm():
    storms.begin()
    readers = [(f'reader {turn}', process(reader, 4096 << (3 * (turn % 2)), turn))
               for turn in range(READERS)]
    storms.end([('connections', process(connections, COUNT)),
                ('more connections', process(connections, COUNT)),
                ('given up', process(given_up, COUNT)),
                ('settings', process(settings, COUNT)),
                ('namespaces', process(namespaces, NAMESPACES))], readers)
    check('all sockets are gone', smc.eventually(lambda: not Diag().sockets()),
          Diag().sockets())
    report(True, 'the storm is over')


run(storm)
