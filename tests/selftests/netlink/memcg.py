#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: memcg.py SERVER-CGROUP CLIENT-CGROUP

What the sockets of each side cost, as their memory cgroups see it.
"""

import os
import select
import signal
import sys
import traceback
from pathlib import Path

import smc
from cases import check, run

SERVER, CLIENT = map(Path, sys.argv[1:])
CONNECTIONS = 32
BUFFER = 1 << 19
EXPECTED = CONNECTIONS * BUFFER
OTHER = EXPECTED // 4       # everything else that a side may cost


def used(cgroup):
    return int((cgroup / 'memory.current').read_text(encoding='ascii'))


def move_to(cgroup):
    (cgroup / 'cgroup.procs').write_text('0', encoding='ascii')


def connect(address):
    """Without waiting, so that the work queue takes the steps of the handshake."""
    sock = smc.smc_socket()
    sock.setblocking(False)
    try:
        sock.connect(address)
    except BlockingIOError:
        poll = select.poll()
        poll.register(sock, select.POLLOUT)
        poll.poll()
    return sock


def side(cgroup, work):
    """Runs it in the cgroup; says when it is done, and ends when it is told to."""
    ready, go = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        keep = None
        grown = -1
        try:
            signal.alarm(30)
            move_to(cgroup)
            before = used(cgroup)
            keep = work()
            grown = used(cgroup) - before
        except Exception:       # pylint: disable=broad-except
            traceback.print_exc()
        os.write(ready[1], str(grown).encode())
        os.read(go[0], 1)
        del keep
        os._exit(0)
    return pid, ready, go


def charged():
    """Once only: buffers that were used before are charged already."""
    def serve():
        listener = smc.smc_socket()
        listener.bind(('127.0.0.1', 0))
        listener.listen(CONNECTIONS)
        os.write(port[1], str(listener.getsockname()[1]).encode())
        os.read(connected[0], 1)        # all handshakes were done by the work queue
        return [listener.accept()[0] for _ in range(CONNECTIONS)]

    def ask():
        address = '127.0.0.1', int(os.read(port[0], 8))
        socks = [connect(address) for _ in range(CONNECTIONS)]
        os.write(connected[1], b'x')
        return socks

    port, connected = os.pipe(), os.pipe()
    sides = [side(SERVER, serve), side(CLIENT, ask)]
    for name, (_, ready, _) in zip(('server', 'client'), sides):
        grown = int(os.read(ready[0], 32))
        check(f'{name}: charged',
              EXPECTED <= grown <= EXPECTED + OTHER,
              f'{grown} bytes for {CONNECTIONS} connections with {BUFFER} bytes each')
    for pid, ready, go in sides:
        os.write(go[1], b'x')
        os.waitpid(pid, 0)
        for end in (*ready, *go):
            os.close(end)


run(charged)
