#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: storm.py CONNECTIONS

Four readers look at everything while connections are made, closed, aborted and given up in the
handshake, settings change, and namespaces end. Readers decode strictly, and check what must hold
at any moment.
"""

import errno
import os
import random
import socket
import struct
import subprocess
import sys
import traceback

import diag
import nl
import smc
from cases import check, report, run
from diag import CONNINFO, DMBINFO, FALLBACK, SHUTDOWN, Diag, extensions
from spec import Family

COUNT = int(sys.argv[1])
READERS, NAMESPACES, LEAST = 4, 6, 5
EXT = extensions(CONNINFO, DMBINFO)
STATES = {diag.ACTIVE, diag.INIT, diag.CLOSED, diag.LISTEN} | set(range(20, 28))
LINGER = struct.pack('ii', 1, 0)
ENTRY = 1


def process(function, *args):
    """Runs it in a process of its own; returns the pid."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        random.seed(os.getpid())
        function(*args)
        status = 0
    except BaseException:       # pylint: disable=broad-except
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def ended_well(pid):
    return os.waitpid(pid, 0)[1] == 0


# --- storms: each leaves its sockets in another way -----------------------------------------

def quiet(function, *args):
    """Errors of a connection are part of the storm."""
    try:
        return function(*args)
    except OSError as error:
        if error.errno not in (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE,
                               errno.ECONNREFUSED, errno.EINPROGRESS, errno.ETIMEDOUT,
                               errno.EAGAIN, errno.ENOTCONN):
            raise
        return None


def orderly(pair):
    pair.client.sendall(b'x' * random.randrange(1, 60000))
    pair.server.recv(1 << 20)
    pair.client.shutdown(socket.SHUT_WR)
    quiet(pair.server.recv, 1 << 20)


def unread(pair):
    pair.client.sendall(b'x' * 1000)


def aborted(pair):
    random.choice((pair.client, pair.server)).setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)


def one_sided(pair):
    random.choice((pair.client, pair.server)).close()


def connections(count):
    for number in range(count):
        family = random.choice((socket.AF_INET, socket.AF_INET6))
        client = random.choice((smc.smc_socket, smc.inet_socket, smc.tcp_socket))
        server = random.choice((smc.smc_socket, smc.smc_socket, smc.tcp_socket))
        pair = smc.Pair(family, client=client, server=server)
        quiet((orderly, unread, aborted, one_sided)[number % 4], pair)
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

def must(condition, *what):
    if not condition:
        raise AssertionError(what)


def look_at_sockets(sockets):
    seen = set()
    for sock in sockets:
        must(sock.state in STATES and sock.mode in (diag.SMCR, diag.TCP, diag.SMCD), sock)
        must(not sock.inode or sock.inode not in seen, 'seen twice', sock)
        seen.add(sock.inode)
        must(sock.attributes[SHUTDOWN] == sock.shut and sock.shut < 4, sock)
        must((sock.mode == diag.TCP) == bool(sock.attributes[FALLBACK][0]), sock)
        must((sock.mode == diag.SMCD) == (CONNINFO in sock.attributes), sock)
        if sock.mode == diag.SMCD:
            look_at_connection(sock)


def look_at_connection(sock):
    info, dmb = sock.conn(), sock.attributes[DMBINFO]
    must(info['rmbe_size'] and info['peer_rmbe_size'], sock)
    for name in ('rx_prod', 'tx_cons'):
        must(info[name][1] < info['rmbe_size'], sock)
    for name in ('tx_prod', 'rx_cons'):
        must(info[name][1] < info['peer_rmbe_size'], sock)
    must(dmb['token'] and dmb['peer_token'] and dmb['token'] != dmb['peer_token'], sock)
    must(dmb['my_gid'] and dmb['my_gid'] == dmb['peer_gid'] and not dmb['linkid'] & 0xff, sock)
    must(sock.local[1] and sock.peer[1], sock)


GAUGES = ('rx-rmb-usage', 'tx-rmb-usage', 'buffer-used', 'buffer-limit', 'hs-now')


def numbers(tree):
    """Counters, without gauges; none of which was ever below zero."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from ((f'{name} {inner}', number) for inner, number in numbers(value))
        elif name not in GAUGES:
            yield name, value
        else:
            must(value < 1 << 48, 'below zero', name)


def look_at_counters(before, now):
    for name, value in numbers(now):
        must(value >= before.get(name, 0), 'went backwards', name)
    return dict(numbers(now))


def look_at_fallbacks(messages):
    if not messages:
        return
    must('srv-cnt' in messages[0] and 'clnt-cnt' in messages[0], messages)
    totals = messages[0]['clnt-cnt'], messages[0]['srv-cnt']
    for side in (0, 1):
        reasons = [m['rsn-cnt'] for m in messages if m['type'] == side]
        must(sum(reasons) == totals[side] and len(reasons) <= 30, messages)


def reader(room, turn):
    """Until told to stop; then tells how often it has seen everything."""
    gen, pnet, sockets, rounds = Family('smc'), Family('smc_pnetid'), Diag(room), 0
    counters = {}
    while not os.path.exists('/tmp/storm-is-over') or rounds < LEAST:
        look_at_sockets(sockets.sockets(EXT))
        counters = look_at_counters(counters, gen.show('get-stats')[0]['stats'])
        look_at_fallbacks([m['fback-stats'] for m in gen.show('get-fback-stats')])
        groups = [m['lgr-smcd']['id'] for m in gen.show('get-lgr-smcd')]
        must(len(groups) == len(set(groups)), groups)
        must(len(gen.show('get-dev-smcd')) == 1)
        for name in ('get-sys-info', 'dump-ueid', 'dump-seid', 'dump-hs-limitation'):
            gen.show(name)
        pnet.show('get')
        abandoned = Diag(4096)
        abandoned.send(diag.SOCK_DIAG_BY_FAMILY, nl.F_REQUEST | nl.F_DUMP, Diag.payload(EXT))
        if turn % 2:
            list(abandoned.messages())
        abandoned.close()
        rounds += 1


def storm():
    if os.path.exists('/tmp/storm-is-over'):
        os.unlink('/tmp/storm-is-over')
    readers = [process(reader, 4096 << (3 * (turn % 2)), turn) for turn in range(READERS)]
    storms = [('connections', process(connections, COUNT)),
              ('more connections', process(connections, COUNT)),
              ('given up', process(given_up, COUNT)),
              ('settings', process(settings, COUNT)),
              ('namespaces', process(namespaces, NAMESPACES))]
    for name, pid in storms:
        check(f'storm: {name}', ended_well(pid))
    with open('/tmp/storm-is-over', 'w', encoding='ascii'):
        pass
    for number, pid in enumerate(readers):
        check(f'reader {number} has seen nothing wrong', ended_well(pid))
    check('all sockets are gone', smc.eventually(lambda: not Diag().sockets(), 60),
          Diag().sockets())
    report(True, 'the storm is over')


run(storm)
