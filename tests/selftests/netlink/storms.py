# SPDX-License-Identifier: GPL-2.0-only
"""
What storms have in common: processes, ways to end a connection, and readers, who decode strictly and
check what must hold at any moment.
"""

import errno
import os
import random
import socket
import struct
import sys
import traceback

import diag
import nl
from cases import check
from diag import CONNINFO, DMBINFO, FALLBACK, LGRINFO, SHUTDOWN, Diag

STATES = {diag.ACTIVE, diag.INIT, diag.CLOSED, diag.LISTEN} | set(range(20, 28))
GAUGES = ('rx-rmb-usage', 'tx-rmb-usage', 'buffer-used', 'buffer-limit', 'hs-now',
          'share-used', 'share-limit', 'orphans', 'paths-bad')
LINGER = struct.pack('ii', 1, 0)
IS_OVER = '/tmp/storm-is-over'


# --- processes ------------------------------------------------------------------------------

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


def must(condition, *what):
    if not condition:
        raise AssertionError(what)


def is_over():
    return os.path.exists(IS_OVER)


def begin():
    if is_over():
        os.unlink(IS_OVER)


def end(storms, readers):
    """
    Waits for storms, pairs of name and pid, and tells the others of it: those who look, and those who
    go on as long as there is a storm.
    """
    for name, pid in storms:
        check(f'storm: {name}', ended_well(pid))
    with open(IS_OVER, 'w', encoding='ascii'):
        pass
    for name, pid in readers:
        check(f'{name}: nothing wrong', ended_well(pid))


# --- ways to leave a connection -------------------------------------------------------------

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
    end_of_it = random.choice((pair.client, pair.server))
    end_of_it.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)


def one_sided(pair):
    random.choice((pair.client, pair.server)).close()


ENDS = orderly, unread, aborted, one_sided


# --- what must hold -------------------------------------------------------------------------

def look_at_sockets(sockets, look_at_link):
    """What sock_diag shows; LGRINFO goes to look_at_link()."""
    seen = set()
    for sock in sockets:
        must(sock.state in STATES and sock.mode in (diag.SMCR, diag.TCP, diag.SMCD), sock)
        must(not sock.inode or sock.inode not in seen, 'seen twice', sock)
        seen.add(sock.inode)
        must(sock.attributes[SHUTDOWN] == sock.shut and sock.shut < 4, sock)
        must((sock.mode == diag.TCP) == bool(sock.attributes[FALLBACK][0]), sock)
        must((sock.mode == diag.SMCD) == (DMBINFO in sock.attributes), sock)
        must((CONNINFO in sock.attributes) ==
             (DMBINFO in sock.attributes or LGRINFO in sock.attributes), sock)
        if CONNINFO in sock.attributes:
            look_at_connection(sock)
        if sock.mode == diag.SMCD:
            look_at_dmb(sock)
        if LGRINFO in sock.attributes:
            must(sock.mode == diag.SMCR and sock.conn()['sndbuf_size'], sock)
            look_at_link(sock.attributes[LGRINFO])


def look_at_connection(sock):
    info = sock.conn()
    must(info['rmbe_size'] and info['peer_rmbe_size'], sock)
    for name in ('rx_prod', 'tx_cons'):
        must(info[name][1] < info['rmbe_size'], sock)
    for name in ('tx_prod', 'rx_cons'):
        must(info[name][1] < info['peer_rmbe_size'], sock)
    must(sock.local[1] and sock.peer[1], sock)


def look_at_dmb(sock):
    dmb = sock.attributes[DMBINFO]
    must(dmb['token'] and dmb['peer_token'] and dmb['token'] != dmb['peer_token'], sock)
    must(dmb['my_gid'] and dmb['my_gid'] == dmb['peer_gid'] and not dmb['linkid'] & 0xff, sock)


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


def abandon(whole):
    """A dump of sockets of which one part is read, or nothing."""
    sock = Diag(4096)
    sock.send(diag.SOCK_DIAG_BY_FAMILY, nl.F_REQUEST | nl.F_DUMP, Diag.payload())
    if whole:
        list(sock.messages())
    sock.close()
