#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Receive elements of SMC-R: large ones for the first connections of a link group, then as large as
earlier connections have used.
"""

import os
import socket
import threading

import smc
from cases import becomes, check, equal, run
from diag import CONNINFO, Diag, extensions
from spec import Family
from wire import ADDRESS

LEAST, MIDDLE, MOST = 65536, 131072, 262144     # the last one: net.smc.smcr_rmem
MANY = 45                       # connections, until the group gives the smallest elements
LARGE = 11                      # of them, the first ones, get elements of the largest size
CHOSEN = 32768                  # SO_RCVBUF
TOTAL = 8 << 20                 # of a stream
CLIENT, SERVER = 0, 1
HOST = ADDRESS[socket.AF_INET, SERVER]


def connect():
    return smc.Pair(socket.AF_INET, address=HOST)


def sizes(pair):
    """Of the elements of both ends."""
    shown = [DIAG.find(os.fstat(sock.fileno()).st_ino, EXT) for sock in (pair.client, pair.server)]
    return [sock.conn()['rmbe_size'] for sock in shown]


def unread(sock):
    return len(sock.recv(2 * MOST, socket.MSG_PEEK))


def fill(sock):
    """The peer's element, and this end's buffer."""
    sock.settimeout(0)
    try:
        while True:
            sock.send(bytes(LEAST))
    except BlockingIOError:
        sock.settimeout(smc.LIMIT)


def use_little():
    """Connections that do not say much."""
    for _ in range(MANY):
        PAIRS.append(connect())
        for _ in range(3):
            smc.send_all(PAIRS[-1].client, PAIRS[-1].server, 1000)
            smc.send_all(PAIRS[-1].server, PAIRS[-1].client, 1000)
    for found in zip(*(sizes(pair) for pair in PAIRS)):
        equal('the first are large', found[:LARGE], (MOST,) * LARGE)
        equal('they become smaller', list(found), sorted(found, reverse=True))
        equal('the last are small', found[-4:], (LEAST,) * 4)
        check('a free element that is larger costs no RMB', found.count(MOST) > LARGE, found)


def use_much():
    """The server's elements are full, so it needs larger ones; the client does not."""
    for size in LEAST, MIDDLE, MOST:
        pair = PAIRS[-1]
        equal('sizes of the elements', sizes(pair), [LEAST, size])
        fill(pair.client)
        becomes('that of the server is full', lambda pair=pair: unread(pair.server),
                sizes(pair)[SERVER])
        PAIRS.append(connect())
    equal('no element is larger than the limit', sizes(PAIRS[-1]), [LEAST, MOST])


def read_at_once():
    """A stream whose reader is as fast as the writer."""
    pair = PAIRS[-1]
    pair.server.settimeout(smc.LIMIT)
    writer = threading.Thread(target=pair.server.sendall, args=(bytes(TOTAL),))
    writer.start()
    equal('all of it arrives', len(smc.receive(pair.client, TOTAL)), TOTAL)
    writer.join()
    PAIRS.append(connect())
    check('the next element is larger', sizes(PAIRS[-1])[CLIENT] > LEAST, sizes(PAIRS[-1]))


def choose():
    """What a program chooses depends on no other connection."""
    def create(family):
        sock = smc.smc_socket(family)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, CHOSEN)
        return sock
    pair = smc.Pair(socket.AF_INET, client=create, server=create, address=HOST)
    equal('both have what they want', sizes(pair), [CHOSEN, CHOSEN])
    pair.close()


def no_groups():
    for pair in PAIRS:
        pair.close()
    becomes('the groups end', lambda: GEN.show('get-lgr-smcr'), [])


GEN, DIAG = Family('smc'), Diag()
EXT = extensions(CONNINFO)
PAIRS = []
smc.sysctl('rmem', 2 * MOST)
smc.sysctl('smcr_rmem', MOST)
smc.sysctl('smcr_idle_timeout', 1)
run(use_little, use_much, read_at_once, choose, no_groups)
