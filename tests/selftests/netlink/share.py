#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
What a namespace may hold of the memory for buffers, and how many closed connections may wait for
their peers. Run in the first namespace.
"""

import ctypes
import fcntl
import os
import socket
import struct
import threading
import time
from pathlib import Path

import nl
import smc
from cases import becomes, check, equal, run
from spec import Family

BUFLIMIT = 0x03100006
BUFFER = 1 << 19
LIMIT = 32 << 20
SMALL_LIMIT = 8 << 20
AHEAD_LIMIT = 12 << 20     # an eighth of what is left holds more than BUFFER
PERIOD = 251    # of what is sent
MANY = 160      # connections with small rings that take more than a MiB
PARAMETER = Path('/sys/module/smc/parameters/buffer_limit_mb')
UNREAD = 16
TRIES = 5       # a closed connection waits for 100 ms only, so a slow machine closes more of them


def stats():
    return Family('smc').show('get-stats')[0]['stats']


def connections(nr, make=smc.smc_socket):
    """Pairs of one listening socket."""
    smc.allow_slow_handshakes()
    listener = smc.smc_socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(8)
    pairs = []
    for _ in range(nr):
        client = make()
        client.connect(listener.getsockname())
        pairs.append((client, listener.accept()[0]))
    listener.close()
    return pairs


def close(pairs):
    for pair in pairs:
        for end in pair:
            end.close()


def enter_unprivileged():
    """An unprivileged user, root in a namespace of its own."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    nl.own_namespace()


def enter_container():
    """A network namespace as containers have it."""
    if smc.LIBC.unshare(nl.CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), 'unshare')


def tenant(report, go, enter, nr):
    """Takes all it can get."""
    enter()
    set_up()
    pairs = connections(nr)
    for pair in pairs:
        for end in pair:
            fill(end, 0)
    now = stats()
    writable = os.access('/proc/sys/net/smc/buffer_limit', os.W_OK)
    os.write(report, f'{now["share-used"]} {now["share-limit"]} {int(writable)}'.encode())
    os.read(go, 1)
    close(pairs)


def set_up():
    """The interface lo, by SIOCSIFFLAGS."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, 0x8914, struct.pack('16sh14x', b'lo', 1))


def start_tenant(enter=enter_unprivileged, nr=LIMIT // BUFFER):
    report, go = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            tenant(report[1], go[0], enter, nr)
            status = 0
        finally:
            os.close(report[1])
            os._exit(status)
    os.close(report[1])
    used, limit, writable = os.read(report[0], 100).split()
    return pid, go[1], int(used), int(limit), int(writable)


def end_tenants(tenants):
    for pid, go, *_ in tenants:
        os.write(go, b'x')
        equal('a tenant ended well', os.waitpid(pid, 0)[1], 0)
    check('nothing is held any more', smc.eventually(lambda: not stats()['share-used']))
    PARAMETER.write_text('0', encoding='ascii')


def shares():
    PARAMETER.write_text(str(LIMIT >> 20), encoding='ascii')
    before = stats()
    tenants = [start_tenant() for _ in range(3)]
    for _, _, used, limit, writable in tenants:
        equal('a tenant may hold a quarter', limit, LIMIT // 4)
        check('and holds no more', used <= limit, used)
        check('it cannot change that', not writable)
    check('the first two have come near it', all(t[2] > LIMIT // 8 for t in tenants[:2]),
          [t[2] for t in tenants])
    check('all of them hold half at most', sum(t[2] for t in tenants) <= LIMIT // 2,
          [t[2] for t in tenants])
    pairs = connections(4)
    now = stats()
    equal('others still get SMC connections',
          now['smcd-tech']['clnt-v2-succ'] - before['smcd-tech']['clnt-v2-succ'], 4)
    check('what there is, is bounded', now['buffer-used'] <= LIMIT, now['buffer-used'])
    close(pairs)
    end_tenants(tenants)


def containers():
    """Four namespaces of root take all they can get, so there is little for the fifth."""
    PARAMETER.write_text(str(SMALL_LIMIT >> 20), encoding='ascii')
    before = stats()
    tenants = [start_tenant(enter_container, LIMIT // BUFFER) for _ in range(4)]
    held = sum(t[2] for t in tenants)
    check('containers come near three quarters', held > SMALL_LIMIT // 2, held)
    check('and hold no more', held <= SMALL_LIMIT // 4 * 3, held)
    tenants.append(start_tenant(enter_container, 1))
    check('another one gets an SMC connection', tenants[-1][2], [t[2] for t in tenants])
    pairs = connections(4)
    equal('the first namespace gets SMC connections',
          stats()['smcd-tech']['clnt-v2-succ'] - before['smcd-tech']['clnt-v2-succ'], 4)
    close(pairs)
    end_tenants(tenants)


def own_limit():
    """At the limit of the namespace connections are TCP ones, and then SMC ones again."""
    smc.sysctl('buffer_limit', 1)
    gen = Family('smc')
    old = smc.fallbacks(gen)
    pairs = connections(MANY)
    now = stats()
    becomes('the others are TCP, for that reason or because the peer said so',
            lambda: {reason for _, reason in smc.fallbacks(gen, old)}, {BUFLIMIT, smc.DECLINED})
    check('the limit is kept', 0 < now['share-used'] <= 1 << 20, now['share-used'])
    equal('it is told', now['share-limit'], 1 << 20)
    sent = fill(pairs[0][0], 0)
    check('a ring of those that exist can grow', sent > 2 * smc.RING, sent)
    close(pairs)
    check('all of it is given back', smc.eventually(lambda: not stats()['share-used']))
    before = stats()['smcd-tech']['clnt-v2-succ']
    close(connections(1))
    equal('the next connection is SMC', stats()['smcd-tech']['clnt-v2-succ'] - before, 1)
    smc.sysctl('buffer_limit', 0)


def pattern(number, length):
    start = number % PERIOD
    return (bytes(range(PERIOD)) * (length // PERIOD + 2))[start:start + length]


def fill(sock, number):
    """Write until the socket takes no more. Return: how many bytes it took."""
    sent, text = 0, pattern(number, 2 * BUFFER)
    sock.setblocking(False)
    try:
        while sent < len(text):
            sent += sock.send(text[sent:])
    except BlockingIOError:
        pass
    return sent


def peek_late(pair):
    """A call peeks for more than the ring holds, and then the ring cannot grow."""
    client, server = pair
    got = []
    thread = threading.Thread(daemon=True, target=lambda: got.append(
        server.recv(BUFFER, socket.MSG_PEEK | socket.MSG_WAITALL)))
    thread.start()
    state = Path(f'/proc/self/task/{thread.native_id}/stat')
    check('the call waits', smc.eventually(lambda: ') S ' in state.read_text(encoding='ascii')))
    fill(client, 3)
    thread.join(smc.LIMIT)
    check('it returns what there is', got and len(got[0]) >= smc.RING // 2 - 32, len(got))


def no_growth():
    """At the limit of the namespace rings stay small: writers wait for space, and lose nothing."""
    with smc.changed_sysctl('buffer_limit', 1):
        before = stats()['smcd-tech']
        unused, *pairs = connections(33)
        equal('rings begin small', stats()['share-used'], 66 * smc.RING)
        sent = [fill(client, number) for number, (client, _) in enumerate(pairs)]
        check('the limit is kept', stats()['share-used'] <= 1 << 20, stats()['share-used'])
        check('each took something', min(sent) >= smc.RING - 32, sent)
        check('some rings have grown', max(sent) > 4 * smc.RING, sent)
        check('others have not', min(sent) < smc.RING, sent)
        check('both are counted', all(stats()['smcd-tech'][name] > before[name]
                                      for name in ('ring-grown-cnt', 'ring-stuck-cnt')))
        for number, (_, server) in enumerate(pairs):
            check('all of it arrives', smc.receive(server, sent[number]) == pattern(number, sent[number]))
        sent = [fill(client, 7) for client, _ in pairs]
        check('the writers go on', min(sent) >= smc.RING - 32, sent)
        peek_late(unused)
        close([unused, *pairs])
        check('all of it is given back', smc.eventually(lambda: not stats()['share-used']))


def count(name):
    return stats()['smcd-tech'][name]


def use(pairs, length):
    """Write and read so much in both directions, one ring after the other."""
    text, got = pattern(0, length), []
    for client, server in pairs:
        for source, sink in ((client, server), (server, client)):
            source.sendall(text)
            got.append(smc.receive(sink, length))
    check('all of it arrives', all(data == text for data in got))


def shrink():
    """Rings that have grown become small when nothing is written, and can grow again."""
    pairs = connections(20)
    idle = stats()
    for _ in range(2):
        shrunk = count('ring-shrunk-cnt')
        use(pairs, 100000)
        becomes('all rings have shrunk', lambda: count('ring-shrunk-cnt') - shrunk, 40)
        becomes('this namespace holds as much as at the start', lambda: stats()['share-used'],
                idle['share-used'])
        equal('the rings have the first size', count('rx-rmb-usage'), 40 * smc.RING)
    close(pairs)


def write_ahead():
    """A ring may be larger than a stream needs while nothing is read from it, and no longer."""
    [(client, server)] = connections(1)
    client.settimeout(smc.LIMIT)
    for number in range(3):
        client.sendall(pattern(number * BUFFER, BUFFER))
    used = stats()['share-used']
    check('the ring is large', used > 3 * BUFFER, used)
    text = smc.receive(server, 3 * BUFFER - BUFFER // 4)    # what is left keeps the ring from being idle
    becomes('the ring has the size for a stream', lambda: stats()['share-used'], BUFFER + smc.RING)
    equal('all of it arrives', text + smc.receive(server, BUFFER // 4), pattern(0, 3 * BUFFER))
    close([(client, server)])
    becomes('all of it is given back', lambda: stats()['share-used'], 0)


def write_ahead_at_limit():
    """A ring is larger than a stream needs only while three quarters of the memory are left."""
    with smc.changed_sysctl('buffer_limit', AHEAD_LIMIT >> 20):
        first, *others, last = connections(8)
        first[0].settimeout(smc.LIMIT)
        first[0].sendall(pattern(0, BUFFER + BUFFER // 2))
        check('the ring is larger, but has an eighth at most',
              smc.eventually(lambda: BUFFER < stats()['share-used'] < AHEAD_LIMIT // 8), stats()['share-used'])
        for client, _ in others:
            fill(client, 0)
        check('a quarter is in use', stats()['share-used'] > AHEAD_LIMIT // 4)
        fill(last[0], 0)
        time.sleep(0.2)
        equal('another ring is not larger', fill(last[0], 0), 0)
        close([first, *others, last])
        becomes('all of it is given back', lambda: stats()['share-used'], 0)


def shrink_at_limit(timeout):
    """What idle rings give back is for those that cannot grow."""
    with smc.changed_sysctl('buffer_limit', 1):
        (client, server), *pairs = connections(8)
        used = [fill(end, 0) for end, _ in pairs]
        before = stats()
        check('a ring could not grow', before['smcd-tech']['ring-stuck-cnt'] and min(used) < BUFFER // 8, used)
        for (_, server_end), length in zip(pairs, used):
            smc.receive(server_end, length)
        client.settimeout(timeout)
        client.sendall(pattern(0, BUFFER // 2))     # the peer does not read
        check('a blocked writer gets what they had', smc.receive(server, BUFFER // 2) == pattern(0, BUFFER // 2))
        becomes('all rings are small in the end', lambda: stats()['share-used'], 16 * smc.RING)
        close([(client, server), *pairs])
        becomes('all of it is given back', lambda: stats()['share-used'], 0)


def blocked_in_send():
    shrink_at_limit(None)


def blocked_in_poll():
    shrink_at_limit(smc.LIMIT)


def close_clients():
    """Return: how many connections were aborted, and how many peers have seen which end."""
    before = stats()['smcd-tech']['abort-orphan-cnt']
    pairs = connections(UNREAD)
    for client, _ in pairs:
        client.close()
    aborted = stats()['smcd-tech']['abort-orphan-cnt'] - before
    ends = []
    for _, server in pairs:
        try:
            ends.append(server.recv(1))
        except ConnectionResetError:
            ends.append('reset')
    close(pairs)
    return aborted, ends.count(b''), ends.count('reset')


def orphans():
    """Of closed connections whose peers stay, some may wait; the others are aborted."""
    most = smc.sysctl('max_orphans')
    smc.sysctl('max_orphans', 4)
    for _ in range(TRIES):
        aborted, ended, resets = close_clients()
        equal('all peers know', (ended, resets), (UNREAD - aborted, aborted))
        if aborted == UNREAD - 4:
            break
    equal('some wait, the others are aborted', aborted, UNREAD - 4)
    check('none is left when the peers are done', smc.eventually(lambda: not stats()['orphans']))
    smc.sysctl('max_orphans', most)


run(orphans, own_limit, no_growth, shrink, write_ahead, write_ahead_at_limit, blocked_in_send,
    blocked_in_poll, shares, containers)
