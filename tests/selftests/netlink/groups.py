#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: groups.py HUB CONTAINER...

Many link groups in one namespace: dumps that do not fit into one part, while groups come and go.
"""

import sys

import nl
import smc
from cases import check, equal, run
from spec import Family

HUB, *CONTAINERS = sys.argv[1:]
GET_LGR_SMCD = 4


def address(number, end):
    return f'10.77.{number}.{end}'


def connect(client, server, to):
    """A connection between two namespaces."""
    nl.namespace(server)
    smc.allow_slow_handshakes()
    listener = smc.smc_socket()
    listener.settimeout(smc.LIMIT)
    listener.bind((to, 0))
    listener.listen(1)
    nl.namespace(client)
    smc.allow_slow_handshakes()
    sock = smc.smc_socket()
    sock.settimeout(smc.LIMIT)
    sock.connect(listener.getsockname())
    socks = sock, listener.accept()[0]
    listener.close()
    return socks


def meet(number, name):
    """Two connections, so that the hub has two groups with this container."""
    return connect(name, HUB, address(number, 1)) + connect(HUB, name, address(number, 2))


def ids(gen):
    return [m['lgr-smcd']['id'] for m in gen.show('get-lgr-smcd')]


def start(gen):
    """A dump of which one part was read."""
    gen.send(gen.family, nl.F_REQUEST | nl.F_DUMP, nl.GENL.pack(GET_LGR_SMCD, 1, 0))
    return numbers(gen, gen.messages())


def numbers(gen, messages):
    return [gen.spec.decode('smc', m.genl()[2])['lgr-smcd']['id'] for m in messages]


def many():
    global SOCKS
    SOCKS = [meet(number, name) for number, name in enumerate(CONTAINERS)]
    nl.namespace(HUB)
    small, large = Family('smc', room=4096), Family('smc')
    wanted = 2 * len(CONTAINERS)
    found = ids(small)
    equal('all groups, once', (len(found), len(set(found))), (wanted, wanted))
    equal('newest first', found, sorted(found, reverse=True))
    equal('the same with a large buffer', ids(large), found)
    check('it took several parts', small.dump(GET_LGR_SMCD).parts > 2)
    for name in CONTAINERS:
        nl.namespace(name)
        equal(f'{name} has its two', len(ids(Family('smc'))), 2)
    nl.namespace(HUB)


def come_and_go():
    """Groups that stay are seen once, although those before and behind them end meanwhile."""
    nl.namespace(HUB)
    small, other = Family('smc', room=4096), Family('smc')
    before = ids(other)
    first = start(small)
    check('there is more', 0 < len(first) < len(before), first)
    last = first[-1]
    gone = [SOCKS[i] for i in range(0, len(SOCKS), 2)]
    for socks in gone:
        for sock in socks:
            sock.close()
    half = len(before) - 2 * len(gone)
    check('half of the groups end', smc.eventually(lambda: len(ids(other)) == half))
    stay = ids(other)
    check('among them some that were shown, and some that were not',
          set(first) - set(stay) and set(before) - set(first) - set(stay))
    fresh = meet(0, CONTAINERS[0])
    nl.namespace(HUB)
    answer = small.receive(wants_ack=False)
    rest = numbers(small, answer.messages)
    equal('those that stay are seen, once, in order', [i for i in first + rest if i in stay], stay)
    check('nothing comes twice', len(set(first + rest)) == len(first + rest))
    check('the rest is older than what was shown', all(number < last for number in rest))
    equal('the next dump has the new ones first', ids(other)[2:], stay)
    for sock in fresh:
        sock.close()


def end():
    for socks in SOCKS:
        for sock in socks:
            sock.close()
    nl.namespace(HUB)
    gen = Family('smc', room=4096)
    part = start(gen)
    check('all groups end', smc.eventually(lambda: not ids(Family('smc'))))
    answer = gen.receive(wants_ack=False)
    check('a dump in which all groups end, ends', answer.done and not answer.error, part, answer)


SOCKS = []
run(many, come_and_go, end)
