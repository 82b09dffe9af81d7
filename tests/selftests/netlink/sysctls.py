#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: sysctls.py TRACEFS

net.smc.*: names, defaults, ranges, one set for each namespace; and which writes autocorking_size
delays.
"""

import ctypes
import os
import re
import sys
import time
from pathlib import Path

import nl
import smc
from cases import check, equal, run

TRACING = Path(sys.argv[1])
KNOBS = Path('/proc/sys/net/smc')
SETTINGS = Path(__file__).resolve().parents[3] / 'Documentation' / 'sysctl.rst'
MOST, DAY = (1 << 31) - 1, 86400
# Default, least, most. The first seven and their ranges are those of the kernel's own module, and
# the defaults but that of links.
TABLE = {
    'autocorking_size': (65536, 0, MOST),
    'limit_smc_hs': (0, 0, 1),
    'rmem': (4194304, 16384, MOST // 2),
    'rmem_start': (4096, 4096, 524288),
    'wmem': (524288, 16384, MOST // 2),
    'smcr_testlink_time': (30, 0, DAY),
    'smcr_max_links_per_lgr': (1, 1, 2),
    'smcr_max_conns_per_lgr': (255, 16, 255),
    'smcr_rmem': (262144, 16384, 524288),
    'smcr_buf_type': (0, 0, 0),
    'max_link_groups': (4096, 1, 65536),
    'max_link_groups_per_peer': (256, 1, 65536),
    'smcr_v1_over_rocev2': (0, 0, 1),
    'smcr_path_retry_time': (60, 0, DAY),
    'syn_retry_time': (60, 0, DAY),
    'smcr_traffic_class': (0, 0, 255),
    'handshake_timeout': (6, 1, DAY),
    'handshake_in_memory': (1, 0, 1),
    'idle_timeout': (2, 1, DAY),
    'smcr_idle_timeout': (600, 1, DAY),
    'variants': (15, 0, 15),
    'busy_poll': (0, 0, 10000),
    'max_orphans': (4096, 0, MOST),
    'buffer_limit': (0, 0, MOST),
}
WRITES = 1000
PIECES = 10, 10, (128 << 10) + 10


def defaults():
    return {path.name: int(path.read_text(encoding='ascii')) for path in KNOBS.iterdir()}


def names():
    equal('names and defaults', defaults(), {name: row[0] for name, row in TABLE.items()})
    text = SETTINGS.read_text(encoding='utf-8')
    equal('all are documented', [name for name in TABLE if f'\n{name} : ' not in text], [])


def refuses(name, value):
    try:
        smc.sysctl(name, value)
    except OSError:
        return True
    return False


def ranges():
    for name, (default, least, most) in TABLE.items():
        for value in (least, most):
            smc.sysctl(name, value)
            equal(f'{name} can be {value}', smc.sysctl(name), value)
        for value in (least - 1, most + 1, 'x'):
            check(f'{name} cannot be {value}', refuses(name, value))
        equal(f'{name} is what it was', smc.sysctl(name), most)
        smc.sysctl(name, default)


def namespaces():
    """A new one begins with the defaults."""
    for name, (_, least, _) in TABLE.items():
        smc.sysctl(name, least)
    pid = os.fork()
    if not pid:
        status = 1
        try:
            smc.LIBC.unshare(nl.CLONE_NEWNET)
            status = defaults() != {name: row[0] for name, row in TABLE.items()}
        finally:
            os._exit(status)
    equal('a new namespace has the defaults', os.waitpid(pid, 0)[1], 0)
    for name, (default, _, _) in TABLE.items():
        smc.sysctl(name, default)


class Vector(ctypes.Structure):
    _fields_ = [('base', ctypes.c_char_p), ('len', ctypes.c_size_t)]


class Message(ctypes.Structure):
    """struct mmsghdr"""
    _fields_ = [('name', ctypes.c_void_p), ('namelen', ctypes.c_uint),
                ('vector', ctypes.POINTER(Vector)), ('vectors', ctypes.c_size_t),
                ('control', ctypes.c_void_p), ('controllen', ctypes.c_size_t),
                ('flags', ctypes.c_int), ('pad', ctypes.c_int), ('sent', ctypes.c_uint),
                ('tail', ctypes.c_uint)]


def must_send(sock, sizes=(10,) * WRITES):
    """Many writes in one call, so that little time passes between them."""
    vectors = {size: Vector(bytes(size), size) for size in set(sizes)}
    batch = (Message * len(sizes))(*[Message(vector=ctypes.pointer(vectors[size]), vectors=1)
                                     for size in sizes])
    equal('all is written', smc.LIBC.sendmmsg(sock.fileno(), batch, len(sizes), 0), len(sizes))


def messages(write):
    """The control messages of a writer, of which the reader reads nothing: lines of the trace."""
    pair = smc.Pair()
    event = TRACING / 'events' / 'smc' / 'smc_cdc' / 'enable'
    (TRACING / 'trace').write_text('', encoding='ascii')
    event.write_text('1', encoding='ascii')
    write(pair.client)
    event.write_text('0', encoding='ascii')
    lines = (TRACING / 'trace').read_text(encoding='ascii').splitlines()
    pair.close()
    return [line for line in lines if ' smc_cdc: ' in line and ' sent ' in line]


def autocorking():
    smc.sysctl('autocorking_size', 0)
    with smc.changed_sysctl('rmem_start', TABLE['rmem_start'][2]):    # a ring that grows needs two more
        equal('without it each write is announced', len(messages(must_send)), WRITES)
    smc.sysctl('autocorking_size', TABLE['autocorking_size'][0])
    some = len(messages(must_send))
    check('with it many are announced at once', 0 < some < WRITES, some)
    print(f'# {WRITES} writes, {some} messages')
    some = len(messages(lambda sock: must_send(sock, (5000,) * 60)))
    check('so are writes of 5,000 bytes', 0 < some < 60, some)
    print(f'# 60 writes of 5,000 bytes, {some} messages')


def send_slowly(sock):
    for _ in range(20):
        sock.sendall(b'0123456789')
        time.sleep(0.002)


def send_pieces(sock):
    """
    The kernel copies pieces of 128 KiB. Just before there are two small writes, and for the second
    the kernel reads the clock. The timer has time to announce what is held.
    """
    for _ in range(2):
        must_send(sock, PIECES)
        time.sleep(0.002)


def send_bursts(sock):
    """Ten of them, because a clock tick may be between the writes of one."""
    for _ in range(10):
        must_send(sock)
        time.sleep(0.002)


def late(lines):
    """Messages that the timer has sent, in softirq: the third of the flags is an "s"."""
    return [line for line in lines if re.search(r'\] ..[sS]', line)]


def nothing_waits_alone():
    """The first small write of a burst, and the end of a large write, are announced at once."""
    lines = messages(send_slowly)
    equal('each of some single writes is announced', len(lines), 20)
    equal('none of them by the timer', late(lines), [])
    # The timer may announce the small ones while the kernel copies the large one
    equal('nor the end of a large write', [line for line in late(messages(send_pieces))
                                           for writes in (1, 2)
                                           if f' producer={writes * sum(PIECES)} ' in line], [])
    check('the timer announces the end of a burst', late(messages(send_bursts)))


run(names, ranges, namespaces, autocorking, nothing_waits_alone)
