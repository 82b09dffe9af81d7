#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: memcg_limit.py CGROUP ADDRESS FILE [SIDE...]

Programs in memory cgroups below CGROUP have many connections: where the OOM killer leaves the
program alone with TCP, it does so with SMC. With sides (client, server, both), which are those in the
cgroup: for many sizes, else for some. FILE is larger than 32 MiB.
"""

import os
import resource
import select
import signal
import subprocess
import sys
from pathlib import Path

import smc
from cases import check, equal, run
from spec import Family

MIB = 1 << 20
MEMORY = 0x01010000
CLIENT, SERVER = 0, 1       # as fallbacks are counted
BYTES = 5000
AT_ONCE = 32
LONGEST = 240 * int(os.environ.get('VM_SLOW', 1))
OWN = 6 * MIB               # what a program needs for itself at the end
MAKE = {'tcp': smc.tcp_socket, 'smc': smc.smc_socket}


def log(*words):
    print('#', *words, flush=True)


# --- the programs in the cgroups: "client PROTOCOL ADDRESS PORT CONNECTIONS FILE", and "server
# PROTOCOL ADDRESS"


def talk(sock, number):
    data = number.to_bytes(4, 'big') * (BYTES // 4)
    sock.sendall(data)
    if smc.receive(sock, len(data)) != data:
        sys.exit(f'connection {number} has got other bytes')


def connect(protocol, address, connections):
    """Some at once, without waiting, so that the handshakes meet."""
    socks = [MAKE[protocol]() for _ in range(connections)]
    for sock in socks:
        sock.setblocking(False)
        sock.connect_ex(address)
    for sock in socks:
        poll = select.poll()
        poll.register(sock, select.POLLOUT)
        poll.poll()
        sock.setblocking(True)
    return socks


def client(protocol, address, port, connections, file):
    socks = []
    cache = open(file, 'rb', buffering=0)       # pylint: disable=consider-using-with
    while cache.read(MIB):
        pass
    while len(socks) < int(connections):
        socks += connect(protocol, (address, int(port)), min(AT_ONCE, int(connections) - len(socks)))
        for number, sock in enumerate(socks[-AT_ONCE:]):
            talk(sock, number)
    own = b'x' * OWN
    for number, sock in enumerate(socks):
        talk(sock, number)
    print(len(own), flush=True)
    sys.stdin.read()
    cache.close()


def server(protocol, address):
    """Takes its own memory when the client has come back to its first connection."""
    listener = MAKE[protocol]()
    listener.bind((address, 0))
    listener.listen(2 * AT_ONCE)
    print(listener.getsockname()[1], flush=True)
    poll = select.epoll()
    poll.register(listener, select.EPOLLIN)
    poll.register(0, select.EPOLLIN)
    socks, own, first, received = {}, [], None, 0
    while True:
        for fd, _ in poll.poll():
            if fd == 0:
                sys.exit(not own)
            if fd == listener.fileno():
                sock = listener.accept()[0]
                poll.register(sock, select.EPOLLIN)
                socks[sock.fileno()] = sock
                continue
            data = socks[fd].recv(BYTES)
            if not data:
                poll.unregister(socks.pop(fd))
                continue
            first = first or fd
            received += len(data) if fd == first else 0
            if received > BYTES and not own:
                own.append(b'x' * OWN)
            socks[fd].sendall(data)


# --- the test


class Program:
    """One of the above, in a cgroup. It says something when it is ready, and ends when told to."""

    def __init__(self, cgroup, *args):
        self.process = subprocess.Popen(
            ['/bin/sh', '-c', 'echo 0 >"$0" && exec "$@"', str(cgroup.home / 'cgroup.procs'),
             sys.executable, '-B', __file__, *map(str, args)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def said(self):
        return self.process.stdout.readline().decode().strip()

    def end(self):
        """Returns its exit status, negative if a signal has ended it."""
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


class Cgroup:
    """With limits. Programs are in a cgroup below it if the limits are to be an ancestor's."""

    def __init__(self, name, ancestor=False, **limits):
        self.path = self.home = TOP / name
        self.path.mkdir()
        for limit, value in limits.items():
            self.write(f'memory.{limit}', value)
        if ancestor:
            self.write('cgroup.subtree_control', '+memory')
            self.home = self.path / 'inner'
            self.home.mkdir()

    def write(self, name, value):
        (self.path / name).write_text(str(value), encoding='ascii')

    def numbers(self, name):
        lines = (self.path / name).read_text(encoding='ascii').splitlines()
        return {key: int(value) for key, value in (line.split() for line in lines)}

    def state(self):
        """What memory is used for, and what has happened at limits."""
        stat = self.numbers('memory.stat')
        return {key: stat[key] for key in ('sock', 'file', 'anon')}, self.numbers('memory.events')

    def remove(self):
        if self.home != self.path:
            self.home.rmdir()
        self.path.rmdir()


class Result:
    """What became of a client and a server in their cgroups."""

    def __init__(self, protocol, connections, ends, limited, file):
        gen = Family('smc')
        succeeded, fallen = self.succeeded(gen), smc.fallbacks(gen)
        serving = Program(ends[SERVER], 'server', protocol, ADDRESS)
        asking = Program(ends[CLIENT], 'client', protocol, ADDRESS, serving.said(), connections,
                         file)
        done = asking.said() == str(OWN)
        self.memory, _ = limited.state()
        self.status = asking.end(), serving.end()
        self.survived = done and self.status == (0, 0)
        _, self.events = limited.state()
        self.smc = self.succeeded(gen) - succeeded
        self.fallen = smc.fallbacks(gen, fallen)

    @staticmethod
    def succeeded(gen):
        stats = gen.show('get-stats')[0]['stats']
        return sum(stats[tech]['clnt-v2-succ'] for tech in ('smcd-tech', 'smcr-tech'))

    def __str__(self):
        return (f'status {self.status}, {self.smc} with SMC, fallbacks {self.fallen}, '
                f'memory {self.memory}, {self.events}')


def measure(protocol, connections, side, file='/dev/null', **limits):
    limited, free = Cgroup('limited', **limits), Cgroup('free')
    ends = {'client': (limited, free), 'server': (free, limited), 'both': (limited, limited)}[side]
    result = Result(protocol, connections, ends, limited, file)
    limited.remove()
    free.remove()
    return result


def compare(connections, side, least, what='max', file='/dev/null', **limits):
    """At least so many of the connections are SMC."""
    size = next(iter(limits.values()))
    what = f'{connections} connections, {side} in {size // MIB} MiB, {what}'
    with_tcp = measure('tcp', connections, side, file, **limits)
    log(what, 'TCP:', with_tcp)
    got = measure('smc', connections, side, file, **limits)
    log(what, 'SMC:', got)
    check(f'{what}: no program is killed', got.survived or not with_tcp.survived, got)
    if not got.survived:
        return got
    check(f'{what}: connections are SMC', got.smc >= least, got)
    equal(f'{what}: all others are TCP',
          got.smc + sum(nr for (end, _), nr in got.fallen.items() if end == CLIENT), connections)
    check(f'{what}: that is for want of memory',
          {reason for _, reason in got.fallen} <= {MEMORY, smc.DECLINED}, got)
    check(f'{what}: buffers have a part', got.memory['sock'] <= size // 8, got)
    # Reclaim may start for a moment in one run, and not in another
    runs = (got if again == 0 else measure('smc', connections, side, file, **limits)
            for again in range(3))
    check(f'{what}: the limit is not felt',
          with_tcp.events.get('high') or any(not one.events.get('high') for one in runs), got)
    return got


def few():
    """Those of every day."""
    compare(150, 'client', 8, max=24 * MIB)
    compare(100, 'client', 20, 'of an ancestor', max=32 * MIB, ancestor=True)


def more():
    compare(100, 'server', 8, max=32 * MIB)
    compare(150, 'both', 8, max=40 * MIB)
    compare(20, 'client', 20, max=64 * MIB)
    compare(100, 'client', 20, 'where it begins to wait', high=32 * MIB)


def cached():
    """A program that has filled its cgroup with page cache."""
    got = compare(20, 'client', 20, 'of page cache', FILE, max=32 * MIB)
    check('it was full of page cache', got.events['max'] and got.memory['file'] > 6 * MIB, got)


def every():
    """A thousand sockets of AF_SMC take some MiB more than those of TCP, apart from buffers."""
    for size in 16, 20, 24, 28, 32, 40, 64, 128:
        for connections in (20, 150, 1000) if size >= 24 else (20, 150):
            for side in sys.argv[4:]:
                compare(connections, side, 1, max=size * MIB)


resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
if sys.argv[1] in ('client', 'server'):
    signal.alarm(LONGEST)
if sys.argv[1] == 'client':
    client(*sys.argv[2:])
elif sys.argv[1] == 'server':
    server(*sys.argv[2:])
else:
    TOP, ADDRESS, FILE = Path(sys.argv[1]), *sys.argv[2:4]
    smc.allow_slow_handshakes()
    run(*(every,) if sys.argv[4:] else (few, cached) if os.environ.get('DAILY')
        else (few, more, cached))
