# SPDX-License-Identifier: GPL-2.0-only
"""AF_SMC sockets for the tests."""

import contextlib
import ctypes
import os
import socket
import subprocess
import time
from pathlib import Path

import nl
from nl import LIMIT

LIBC = ctypes.CDLL(None, use_errno=True)
RING = 4096     # bytes of a ring over loopback at the start (net.smc.rmem_start)
DECLINED, OPTION, PEER_NO_SMC = 0x05000000, 0x03060000, 0x03010000
SOL_SMC, SMC_LIMIT_HS = 286, 1
FAMILIES = {socket.AF_INET: (0, '127.0.0.1'), socket.AF_INET6: (1, '::1')}


def smc_socket(family=socket.AF_INET):
    """
    socket(AF_SMC). Python knows no addresses of that family, and needs not: it is told that it is
    one of the family that the addresses have.
    """
    fd = LIBC.socket(nl.AF_SMC, socket.SOCK_STREAM, FAMILIES[family][0])
    if fd < 0:
        raise OSError(ctypes.get_errno(), 'socket(AF_SMC)')
    return socket.socket(family, socket.SOCK_STREAM, 0, fileno=fd)


@contextlib.contextmanager
def delayed(device):
    """As from another host, packets do not come on top of connect()."""
    subprocess.run(['tc', 'qdisc', 'add', 'dev', device, 'root', 'netem', 'delay', '100us'],
                   check=True)
    try:
        yield
    finally:
        subprocess.run(['tc', 'qdisc', 'del', 'dev', device, 'root'], check=True)


def inet_socket(family=socket.AF_INET):
    """socket(AF_INET, ..., IPPROTO_SMC)"""
    return socket.socket(family, socket.SOCK_STREAM, nl.IPPROTO_SMC)


def tcp_socket(family=socket.AF_INET):
    return socket.socket(family, socket.SOCK_STREAM)


def is_smc(sock):
    """Only sockets that are not TCP ones know this level of options."""
    try:
        sock.getsockopt(SOL_SMC, SMC_LIMIT_HS)
    except OSError:
        return False
    return True


def limited(create, family=socket.AF_INET):
    """A socket that is neither connected nor listening, and of which the module knows something."""
    sock = create(family)
    sock.setsockopt(SOL_SMC, SMC_LIMIT_HS, 1)
    return sock


def allow_slow_handshakes():
    """
    A handshake that times out becomes TCP, and on a busy machine the work queue may need seconds for
    each message. Such a handshake still ends before eventually() does. Only root of the first user
    namespace may change it.
    """
    try:
        sysctl('handshake_timeout', LIMIT // 2)
    except OSError:
        pass


class Pair:
    """A connection, over the loopback interface if nothing else is said: listener, client, server."""

    def __init__(self, family=socket.AF_INET, client=smc_socket, server=smc_socket, address=None):
        allow_slow_handshakes()
        self.listener = server(family)
        self.listener.bind((address or FAMILIES[family][1], 0))
        self.listener.listen(8)
        self.address = self.listener.getsockname()
        self.client = client(family)
        self.client.settimeout(LIMIT)
        self.listener.settimeout(LIMIT)
        self.client.connect(self.address)
        self.server = self.listener.accept()[0]

    def close(self):
        for sock in (self.client, self.server, self.listener):
            sock.close()


def send_all(sender, receiver, total):
    """Moves bytes in one write and one read."""
    sender.sendall(bytes(total))
    got = 0
    while got < total:
        got += len(receiver.recv(total - got, socket.MSG_WAITALL))


def receive(sock, length):
    """So many bytes, or fewer if the stream ends."""
    got = bytearray()
    while len(got) < length and (more := sock.recv(length - len(got))):
        got += more
    return bytes(got)


def eventually(condition, seconds=LIMIT):
    """
    Polls until the condition holds, and returns whether it did. The last look comes after the end of
    the time: this process may have slept meanwhile.
    """
    end = time.monotonic() + seconds
    while True:
        is_late = time.monotonic() > end
        if condition():
            return True
        if is_late:
            return False
        time.sleep(0.02)


def write(path, text):
    Path(path).write_text(text, encoding='ascii')


def connected(gen):
    """Connections of clients that use SMC-D, since the module was loaded."""
    return gen.show('get-stats')[0]['stats']['smcd-tech']['clnt-v2-succ']


def sysctl(name, value=None):
    path = Path('/proc/sys/net/smc') / name
    if value is None:
        return int(path.read_text(encoding='ascii'))
    return path.write_text(str(value), encoding='ascii')


@contextlib.contextmanager
def changed_sysctl(name, value):
    before = sysctl(name)
    sysctl(name, value)
    try:
        yield
    finally:
        sysctl(name, before)


def as_nobody(function):
    """Runs it in a process without any privilege; returns its exit status as a truth value."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            status = 0 if function() else 1
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


def fallbacks(gen, before=None):
    """How often connections became TCP, by side (1 is the server) and reason; since an earlier call"""
    messages = [m['fback-stats'] for m in gen.show('get-fback-stats')]
    counts = {(m['type'], m['rsn-code']): m['rsn-cnt'] for m in messages}
    more = {key: count - (before or {}).get(key, 0) for key, count in counts.items()}
    return {key: count for key, count in more.items() if count}
