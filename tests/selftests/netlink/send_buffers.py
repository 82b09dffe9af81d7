#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Send buffers of SMC-R between two ports of one kernel: small at the start, then as large as the
program needs, small again; and what it sees when there is no memory for a larger one.
"""

import contextlib
import os
import select
import socket
import threading
from pathlib import Path

import smc
from cases import becomes, check, equal, run
from diag import CONNINFO, Diag, extensions
from spec import Family
from wire import ADDRESS

START = 4096                    # net.smc.rmem_start
ELEMENT = 65536
AHEAD = 2 << 20                 # what TCP takes, too, before it is read
POOR, RICH = 12, 60             # connections
PERIOD = 251
SERVER = 1
SO_SNDBUFFORCE = 32
TCP_WMEM = Path('/proc/sys/net/ipv4/tcp_wmem')


def pattern(number, length):
    start = number % PERIOD
    return (bytes(range(PERIOD)) * (length // PERIOD + 2))[start:start + length]


def connect():
    pair = smc.Pair(socket.AF_INET, address=ADDRESS[socket.AF_INET, SERVER])
    pair.server.settimeout(smc.LIMIT)
    return pair


def technology():
    return GEN.show('get-stats')[0]['stats']['smcr-tech']


def count(name):
    return technology()[name]


def in_use():
    """Of connections."""
    return count('tx-rmb-usage')


def allocated():
    """Of link groups."""
    return sum(m['lgr-smcr']['sndbuf-alloc'] for m in GEN.show('get-lgr-smcr'))


def size(sock):
    return DIAG.find(os.fstat(sock.fileno()).st_ino, EXT).conn()['sndbuf_size']


def end(*pairs):
    with smc.changed_sysctl('smcr_idle_timeout', 10):   # unused ones stay for a tenth of that
        for pair in pairs:
            pair.close()
        becomes('all is given back', lambda: (in_use(), allocated()), (0, 0))


def becomes_small():
    """Larger ones do not stay for the idle time."""
    becomes('send buffers have the first size', in_use, 2 * START)
    becomes('the groups keep no others', allocated, 2 * START)


def write_ahead():
    """Both programs write before they read."""
    pair = connect()
    equal('send buffers begin small', in_use(), 2 * START)
    grown, shrunk = count('ring-grown-cnt'), count('ring-shrunk-cnt')
    ends = pair.client, pair.server
    for number, sock in enumerate(ends):
        sock.sendall(pattern(number, AHEAD))
    check('they hold what was written', min(size(sock) for sock in ends) >= AHEAD,
          [size(sock) for sock in ends])
    check('that is counted', in_use() == sum(size(sock) for sock in ends), in_use())
    for number, sock in enumerate(ends):
        check('all of it arrives', smc.receive(sock, AHEAD) == pattern(1 - number, AHEAD))
    becomes_small()
    check('both have grown', count('ring-grown-cnt') >= grown + 2)
    check('both have shrunk', count('ring-shrunk-cnt') >= shrunk + 2)
    end(pair)


def fill(sock, sent=0):
    """Return: how many bytes it has taken, with those before."""
    sock.settimeout(0)
    try:
        while True:
            sent += sock.send(pattern(sent, ELEMENT))
    except BlockingIOError:
        return sent


def fill_when_ready(sock, sent=0):
    """The same, until the socket is not ready for a while. The kernel finds out that nobody reads."""
    poll = select.poll()
    poll.register(sock, select.POLLOUT)
    sent = fill(sock, sent)
    while poll.poll(2000):
        sent = fill(sock, sent)
    return sent


@contextlib.contextmanager
def changed_tcp_wmem(most):
    before = TCP_WMEM.read_text(encoding='ascii')
    TCP_WMEM.write_text(f'{START} {START} {most}', encoding='ascii')
    try:
        yield
    finally:
        TCP_WMEM.write_text(before, encoding='ascii')


def choose_late():
    """A program can write what it has chosen, even if autotuning by TCP would stop before."""
    with changed_tcp_wmem(AHEAD // 4):
        pair = connect()
        taken = fill_when_ready(pair.client)
        check('tcp_wmem limits it', 2 * ELEMENT < taken < AHEAD // 4 + 2 * ELEMENT, taken)
        pair.client.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, AHEAD)
        taken = fill_when_ready(pair.client, taken)
        check('then SO_SNDBUF does', AHEAD <= taken < 4 * AHEAD, taken)
        check('all of it arrives', smc.receive(pair.server, taken) == pattern(0, taken))
        end(pair)


def leave_unreported():
    """The peer has read all, and has reported nothing: it has room for much more."""
    pair = connect()
    for turn in range(3):
        for source, sink in ((pair.client, pair.server), (pair.server, pair.client)):
            source.sendall(pattern(turn, 3 * START))
            check('it arrives', smc.receive(sink, 3 * START) == pattern(turn, 3 * START))
        check('both have grown', in_use() >= 6 * START, in_use())
        becomes_small()
    pair.client.sendall(pattern(0, 3 * START))
    becomes('what the peer has not read stays', lambda: in_use() >= 4 * START, True)
    pair.client.settimeout(0)
    smc.eventually(lambda: False, 3)
    check('so the buffer is large enough', size(pair.client) >= 3 * START, size(pair.client))
    check('all of it arrives', smc.receive(pair.server, 3 * START) == pattern(0, 3 * START))
    end(pair)


def use_up_memory():
    """Of the namespace, by connections of which nothing is read."""
    rich = []
    while len(rich) < RICH:
        rich.append(connect())
        if not smc.is_smc(rich[-1].client):
            break
        fill(rich[-1].client)
    check('memory is short', len(rich) < RICH)
    return rich


def ask_for_much(pairs):
    """A reader that waits for more than the send buffer holds gets what is there."""
    pairs[0].server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 2 * START)
    poll = select.poll()
    poll.register(pairs[0].server, select.POLLIN)
    check('poll() tells of less than SO_RCVLOWAT', poll.poll(1000 * smc.LIMIT))
    pairs[0].server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
    seen = pairs[1].server.recv(2 * START, socket.MSG_PEEK | socket.MSG_WAITALL)
    check('a call that peeks returns', 0 < len(seen) < 2 * START, len(seen))


def write_when_ready(sock, sent, length):
    """A program that does not try before poll tells it to."""
    poll = select.poll()
    poll.register(sock, select.POLLOUT)
    while sent < length and poll.poll(1000 * smc.LIMIT):
        sent += sock.send(pattern(sent, min(700, length - sent)))


def write_and_wait(sock, sent, length):
    sock.settimeout(smc.LIMIT)
    sock.sendall(pattern(sent, length - sent))


def stay_small():
    """There is no memory: writers wait for space, and lose nothing."""
    stuck = count('ring-stuck-cnt')
    with smc.changed_sysctl('buffer_limit', 1), smc.changed_sysctl('smcr_rmem', 4 * START):
        pairs = [connect() for _ in range(POOR)]
        check('they use SMC', all(smc.is_smc(pair.client) for pair in pairs))
        rich = use_up_memory()
        sent = [fill(pair.client) for pair in pairs]
        check('a buffer is small', min(size(pair.client) for pair in pairs) == START,
              [size(pair.client) for pair in pairs])
        check('that is counted', count('ring-stuck-cnt') > stuck)
        length = 20 * START
        writers = [threading.Thread(target=(write_when_ready, write_and_wait)[number % 2],
                                    args=(pair.client, sent[number], length))
                   for number, pair in enumerate(pairs)]
        for writer in writers:
            writer.start()
        ask_for_much(pairs)
        got = [smc.receive(pair.server, length) for pair in pairs]
        for writer in writers:
            writer.join()
        check('all of it arrives', all(data == pattern(0, length) for data in got))
        check('a buffer is still small', min(size(pair.client) for pair in pairs) == START)
        for pair in rich:
            pair.close()
    end(*pairs)


def no_groups():
    smc.sysctl('smcr_idle_timeout', 1)
    becomes('the groups end', lambda: GEN.show('get-lgr-smcr'), [])


GEN, DIAG = Family('smc'), Diag()
EXT = extensions(CONNINFO)
smc.sysctl('rmem', ELEMENT)
smc.sysctl('smcr_idle_timeout', 100 * smc.LIMIT)
smc.sysctl('smcr_testlink_time', 1)     # that often LLC looks for what is not used
run(write_ahead, choose_late, leave_unreported, stay_small, no_groups)
