#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: removal.py STEPS [KIND...]

Something that SMC-R needs is taken away during a first contact, and during a transfer, at STEPS
moments of their first 15 ms:

    unplug   an RDMA device, of the client and of the server in turn
    down     a network device goes down, in the same way
    vanish   the wire is deleted, and with it network and RDMA devices of both ends
    between  the namespace that the wire leads through is deleted
    rxe      the module of both RDMA devices is unloaded
    smc_rdma is unloaded, as soon as no connection uses it: never during the transfer

Whatever happens, both programs know it within a bounded time, each connection is counted once, what
arrived is what was sent, and nothing is left over.

RDMA_LIB is lib/rdma.sh, which makes the wire anew after each step; SMC_RDMA the file of the module;
MODPROBE the command that loads rdma_rxe.
"""

import atexit
import ctypes
import errno
import functools
import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
import traceback
from pathlib import Path

import nl
import smc
import wire
from cases import check, equal, run
from spec import Family
from wire import ADDRESS, PORTS, interface

SLOW = int(os.environ.get('VM_SLOW', 1))
# Handshake and LLC have seconds of their own; lost links are found out within four
PATIENCE = 60 * SLOW
TCP_PATIENCE = 2 * SLOW         # with what became TCP, and has no wire any more
SPAN = 0.015
TICK = 0.001
BULK_PATIENCE = 0.1             # for what the transfer itself keeps from being removed
SHORT, PIECE = 1000, 30000
CLIENT, SERVER = PORTS
PORT = 5100
R2 = 4                          # net.smc.variants
SIGNS = (errno.ECONNRESET, errno.ETIMEDOUT, errno.EPIPE, errno.EHOSTUNREACH, errno.ENETUNREACH,
         errno.ECONNABORTED, errno.ENOTCONN)

NETLINK_ROUTE, NETLINK_RDMA = 0, 20
RTM_NEWLINK, RTM_DELLINK = 16, 17
LINK_FLAGS = struct.Struct('=BxHiII')   # family, type, index, flags, which of them change
RDMA_GET, RDMA_DELETE = 5 << 10 | 1, 5 << 10 | 4
RDMA_INDEX, RDMA_NAME = 1, 2
SYS_DELETE_MODULE = 176
MNT_DETACH = 2
BETWEEN = 'removal'             # name of the namespace


# --- ways to take something away: prepared before the time has come ---------------------------

def request(protocol, kind, payload):
    """A netlink request, to be sent by calling the result."""
    sock = nl.Netlink(protocol)

    def send():
        answer = sock.ask(kind, nl.F_REQUEST | nl.F_ACK, payload)
        if answer.error:
            raise OSError(answer.error, f'request {kind}')
    return send


def unplug(port):
    sock = nl.Netlink(NETLINK_RDMA)
    for message in sock.ask(RDMA_GET, nl.F_REQUEST | nl.F_DUMP, b'').messages:
        found = nl.flat(message.payload)
        if found[RDMA_NAME] == f'rxe{port}\0'.encode():
            return request(NETLINK_RDMA, RDMA_DELETE, nl.attr(RDMA_INDEX, found[RDMA_INDEX]))
    raise ValueError(f'no device rxe{port}')


def down(port):
    return request(NETLINK_ROUTE, RTM_NEWLINK, LINK_FLAGS.pack(0, 0, interface(port), 0, 1))


def vanish(port):
    return request(NETLINK_ROUTE, RTM_DELLINK, LINK_FLAGS.pack(0, 0, interface(port), 0, 0))


def between(_port):
    path = f'/run/netns/{BETWEEN}'

    def remove():
        if smc.LIBC.umount2(path.encode(), MNT_DETACH):
            raise OSError(ctypes.get_errno(), path)
        os.unlink(path)
    return remove


def unload(name):
    def remove():
        if smc.LIBC.syscall(SYS_DELETE_MODULE, name, os.O_NONBLOCK):
            raise OSError(ctypes.get_errno(), name)
    return remove


def rxe(_port):
    return unload(b'rdma_rxe')


def smc_rdma(_port):
    """Connections and handshakes hold it. During a transfer it says so, and stays."""
    remove = unload(b'smc_rdma')

    def try_once():
        try:
            remove()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EBUSY):
                raise
            return False
        return True
    return try_once


KINDS = {'unplug': unplug, 'down': down, 'vanish': vanish, 'between': between, 'rxe': rxe,
         'smc_rdma': smc_rdma}
WIRES = 'down', 'vanish', 'between'     # after which TCP has none


# --- the wire -----------------------------------------------------------------------------------

def modules():
    with open('/proc/modules', encoding='ascii') as table:
        return {line.split()[0] for line in table}


def names(kind):
    return {'RDMA_BETWEEN': BETWEEN} if kind == 'between' else {}


def take_up(kind):
    """All is there, as before the first test, whatever the last one has left."""
    take_down(kind)
    if 'rdma_rxe' not in modules():
        subprocess.run(os.environ['MODPROBE'].split(), check=True)
    if 'smc_rdma' not in modules():
        subprocess.run(['insmod', os.environ['SMC_RDMA']], check=True)
    wire.shell('rdma_wire', **names(kind))
    addresses = [ADDRESS[socket.AF_INET, port] for port in PORTS]
    if not smc.eventually(lambda: wire.have(addresses)):
        raise ValueError('ports without addresses')


def take_down(kind):
    wire.shell('rdma_unwire', **names(kind))


# --- two programs ---------------------------------------------------------------------------------

DATA = random.Random(1).randbytes(1 << 20)


class Child:
    """A function in a process of its own. It reports what it returns, or a text if it failed."""

    def __init__(self, function, *args):
        self.ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid:
            theirs.close()
            return
        self.ours.close()
        try:
            theirs.send(json.dumps(function(theirs, *args)).encode())
        except BaseException:       # pylint: disable=broad-except
            theirs.send(json.dumps(traceback.format_exc()).encode())
        finally:
            os._exit(0)

    def tell(self, word=b'.'):
        """If it is still there."""
        try:
            self.ours.send(word)
        except BrokenPipeError:
            pass

    def has_reported(self):
        return bool(select.select([self.ours], [], [], 0)[0])

    def report(self):
        self.ours.settimeout(4 * PATIENCE)
        said = self.ours.recv(1 << 16)
        os.waitpid(self.pid, 0)
        self.ours.close()
        return json.loads(said)


def wait_until(moment):
    left = moment - time.monotonic()
    if left > 0:
        time.sleep(left)


def remover(control, prepare, port, after, patience):
    """Takes it away so long after the moment it is told, or later; False if it was in use until then."""
    remove = prepare(port)
    control.send(b'ready')
    moment = struct.unpack('d', control.recv(8))[0]
    wait_until(moment + after)
    while remove() is False:
        if time.monotonic() > moment + patience:
            return False
        time.sleep(TICK)
    return True


def be_patient(sock, kind):
    sock.settimeout(TCP_PATIENCE if kind in WIRES and not smc.is_smc(sock) else PATIENCE)


def error_of(function, *args):
    """errno, or 0"""
    try:
        function(*args)
    except TimeoutError as error:
        return error.errno or errno.EWOULDBLOCK
    except OSError as error:
        return error.errno
    return 0


class Received:
    """What the server got of one connection."""

    def __init__(self):
        self.count, self.right = 0, True

    def take(self, conn):
        conn.sendall(b'hello')
        while part := conn.recv(len(DATA) - self.count % len(DATA)):
            at = self.count % len(DATA)
            self.right &= part == DATA[at:at + len(part)]
            self.count += len(part)


def serve(control, listener, kind):
    """
    One connection: whether it is SMC, what ended it, whether all was right, how many bytes. None if none
    has come when it is told.
    """
    ready = select.select([listener, control], [], [])[0]
    if listener not in ready:
        return None
    conn = listener.accept()[0]
    be_patient(conn, kind)
    received = Received()
    how = error_of(received.take, conn)
    return smc.is_smc(conn), how, received.right, received.count


# --- what is counted ---------------------------------------------------------------------------------

def objects():
    with open('/sys/kernel/debug/smc/objects', encoding='ascii') as table:
        return {line.split()[0]: int(line.split()[1]) for line in table}


COUNTED = {'SMC': (1, 0, 0), 'TCP': (0, 1, 0), 'failed': (0, 0, 1)}


class Counters:
    """Connections of this namespace, by how they ended."""

    def __init__(self):
        stats = GEN.show('get-stats')[0]['stats']
        fallbacks = [m['fback-stats'] for m in GEN.show('get-fback-stats')][:1]
        tech = stats['smcr-tech']
        self.clients = (tech['clnt-v1-succ'] + tech['clnt-v2-succ'],
                        fallbacks[0]['clnt-cnt'] if fallbacks else 0, stats['clnt-hs-err-cnt'])
        self.lost = tech['abort-link-cnt'] + tech['abort-tcp-cnt'] + tech['abort-rx-cnt']
        self.violations = tech['violation-cnt']
        self.under_way = stats['hs-now']

    def since(self, before):
        """Clients: SMC, TCP, failed."""
        return tuple(now - then for now, then in zip(self.clients, before.clients))


class Step:
    """One removal, and what became of the two programs."""

    def __init__(self, kind, phase, number):
        self.kind, self.phase, self.delay = kind, phase, SPAN * number / STEPS
        self.wrong = []
        self.before, self.live = Counters(), objects()
        with smc.smc_socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(('0.0.0.0', PORT))
            listener.listen(8)
            self.server = Child(serve, listener, kind)
        self.remover = Child(remover, KINDS[kind], number % 2, self.delay,
                             BULK_PATIENCE if phase == 'bulk' else PATIENCE)
        equal_or_die(self.remover.ours.recv(5), b'ready')
        self.begun = None
        self.outcome, self.sent = 'failed', 0
        with smc.smc_socket() as client:
            self.how = error_of(self.talk, client)
            self.took = time.monotonic() - self.begun
            self.judge_client()
        self.judge_server()
        if self.goes_last():
            self.judge_removal()

    def expect(self, condition, *what):
        if not condition:
            self.wrong.append(f'{self.kind}, {self.phase}, {1000 * self.delay:.2f} ms: '
                              + ' '.join(str(word) for word in what))

    def begin(self):
        """From now on the milliseconds count."""
        self.begun = time.monotonic()
        self.remover.tell(struct.pack('d', self.begun))

    def talk(self, client):
        if self.phase == 'contact':
            self.begin()
        try:
            client.connect((ADDRESS[socket.AF_INET, SERVER], PORT))
            self.outcome = 'SMC' if smc.is_smc(client) else 'TCP'
            be_patient(client, self.kind)
            self.greet(client)
        finally:
            if not self.begun:
                self.begin()
        self.send(client)
        client.shutdown(socket.SHUT_WR)
        client.recv(1)

    @staticmethod
    def greet(client):
        left = 5
        while left:
            part = client.recv(left)
            if not part:
                raise ConnectionResetError(errno.ECONNRESET, 'an early end')
            left -= len(part)

    def send(self, client):
        """A little; or until it has been taken away."""
        while self.sent < SHORT or (self.phase == 'bulk' and not self.remover.has_reported()):
            at = self.sent % len(DATA)
            size = PIECE if self.phase == 'bulk' else SHORT - self.sent
            self.sent += client.send(DATA[at:at + size])

    def goes_last(self):
        """Only after the connection has ended: both ends hold smc_rdma until then."""
        return self.kind == 'smc_rdma' and self.phase == 'contact'

    def judge_removal(self):
        removed = self.remover.report()
        stays = self.kind == 'smc_rdma' and self.phase == 'bulk' and self.outcome == 'SMC'
        self.expect(removed is (not stays), 'removed:', removed)

    def judge_client(self):
        if not self.goes_last():
            self.judge_removal()
        tcp = self.outcome == 'TCP'
        self.expect(self.phase == 'contact' or self.outcome == 'SMC', 'transfer over', self.outcome)
        self.expect(not self.how or self.how in SIGNS or (tcp and self.kind in WIRES),
                    self.outcome, 'client saw', name_of(self.how))
        self.expect(not (tcp and self.how) or self.kind in WIRES, 'TCP did not work')
        self.expect(self.took < PATIENCE, 'client needed', self.took, 's')
        right = {COUNTED[self.outcome]}
        if self.outcome == 'failed':
            # Before TCP was connected; or after the handshake, and before connect() returned
            right |= {(0, 0, 0), COUNTED['SMC']}
        self.expect(smc.eventually(lambda: self.count() in right, PATIENCE),
                    'counted', self.count(), 'for', self.outcome, name_of(self.how))

    def count(self):
        return Counters().since(self.before)

    def judge_server(self):
        self.expect(smc.eventually(lambda: not Counters().under_way, PATIENCE),
                    'a handshake is left')
        self.server.tell()
        said = self.server.report()
        self.expect(not isinstance(said, str), said)
        if not isinstance(said, list):
            return
        is_smc_there, how, right, count = said
        gave_up = how == errno.EAGAIN and self.kind in WIRES and not is_smc_there
        self.expect(right, 'wrong bytes')
        self.expect(not how or how in SIGNS or not is_smc_there, 'server saw', name_of(how))
        self.expect(self.how or gave_up or (not how and count == self.sent), 'server got', count,
                    'of', self.sent, 'bytes', name_of(how))

    def finish(self):
        take_down(self.kind)
        self.expect(smc.eventually(lambda: objects() == self.live, PATIENCE), 'left over:',
                    objects(), 'instead of', self.live)
        now = Counters()
        self.expect(now.violations == self.before.violations, 'a violation was counted')
        if self.how and self.count() == COUNTED['SMC']:
            self.expect(now.lost > self.before.lost, 'the loss was not counted')


def equal_or_die(got, wanted):
    if got != wanted:
        raise ValueError(f'{got!r} instead of {wanted!r}')


def name_of(error):
    return errno.errorcode.get(error, error) if error else 'nothing'


def removals(kind, phase):
    outcomes, slowest, wrong = {}, 0.0, []
    for number in range(STEPS):
        take_up(kind)
        step = Step(kind, phase, number)
        step.finish()
        wrong += step.wrong
        key = step.outcome + (f' {name_of(step.how)}' if step.how else '')
        outcomes[key] = outcomes.get(key, 0) + 1
        slowest = max(slowest, step.took)
    print(f'# {kind} {phase}: {outcomes}, at most {slowest:.2f} s')
    check(f'{kind} {phase}', not wrong, *wrong)


def works():
    """After all that, SMC-R still does."""
    take_up('unplug')
    before = Counters()
    pair = smc.Pair(address=ADDRESS[socket.AF_INET, SERVER])
    smc.send_all(pair.client, pair.server, PIECE)
    pair.close()
    equal('SMC-R works', Counters().since(before), (1, 0, 0))
    take_down('unplug')


def tests():
    for kind in KINDS_WANTED:
        for phase in ('contact', 'bulk'):
            test = functools.partial(removals, kind, phase)
            test.__name__ = f'{kind} {phase}'
            yield test
    yield works


try:
    STEPS = int(sys.argv[1])
except (IndexError, ValueError):
    sys.exit(__doc__.strip())
KINDS_WANTED = sys.argv[2:] or list(KINDS)
if STEPS < 1 or not set(KINDS_WANTED) <= set(KINDS):
    sys.exit(f'STEPS is at least 1, KIND one of: {" ".join(KINDS)}')
smc.sysctl('rmem', 65536)
smc.sysctl('variants', R2)
smc.sysctl('handshake_timeout', 2 * SLOW)
smc.sysctl('smcr_path_retry_time', 0)
SYN_RETRIES = Path('/proc/sys/net/ipv4/tcp_syn_retries')
atexit.register(SYN_RETRIES.write_text, SYN_RETRIES.read_text(encoding='ascii'))
SYN_RETRIES.write_text('1', encoding='ascii')
GEN = Family('smc')
run(*tests())
