# SPDX-License-Identifier: GPL-2.0-only
"""What is measured: cases (the rows of the table) over variants (its columns). Pure data."""

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Value:
    """A number of a result: its member in the JSON, what it is called, which way is better."""
    member: str
    unit: str
    scale: float = 1
    more_is_better: bool = False
    worst: bool = False         # take the worst round instead of the median


# With instructions as time, busy nanoseconds are instructions.
INSN_PER_BYTE = Value('busy_ns_per_byte', 'insn/B')
INSN_PER_OP = Value('busy_ns_per_op', 'k insn', 1e-3)
SPEED = Value('mb_per_s', 'MB/s', more_is_better=True)
LATENCY = Value('ns_per_op', 'us', 1e-3)
MEDIAN = Value('p50_ns', 'us', 1e-3)
SLOWEST = Value('p99_ns', 'us', 1e-3)
RATE = Value('ops_per_s', '1/s', more_is_better=True)
INSN_PER_REQUEST = Value('ns_per_request', 'k insn', 1e-3)
REQUESTS = Value('requests_per_s', '1/s', more_is_better=True)
# Later rounds may find memory that the first one left in a pool.
MEMORY = Value('used_used', 'KiB', 1 / 1024, worst=True)
SWITCHES_PER_MB = Value('ctxt_per_mb', '/MB')
SWITCHES_PER_OP = Value('ctxt_per_op', '/op')
KWORKERS_PER_OP = Value('kworkers_per_op', '/op')
RSTS_PER_OP = Value('tcp_rsts_per_op', '/op')


@dataclass(frozen=True)
class Case:
    """One row."""
    name: str
    title: str
    command: str                # what the guest runs, after the variant's words
    count: int                  # work; times a factor in wall clock mode
    icount: Value               # what is compared under icount,
    wall: Value                 # and with the wall clock
    switches: Value = None      # a second table
    kworkers: Value = None      # a third one,
    rsts: Value = None          # and a fourth one
    kind: str = 'smcbench'      # or redis
    extra: bool = False         # only if asked for by name
    memory: int = 0             # MiB the guest needs
    cpus: int = 1               # processors it needs
    families: tuple = ('tcp', 'unix', 'smc')


def _bulk(size, title, mib):
    return Case(f'bulk-{size}', f'stream {title}', f'bulk -s {size}', mib << 20,
                INSN_PER_BYTE, SPEED, SWITCHES_PER_MB)


def _first(size, title, mib):
    """The first part of a stream, in which buffers become as large as they will be."""
    return replace(_bulk(size, title, mib), name=f'first-{size}',
                   title=f'stream {title}, first {mib} MiB')


def _rr(size, title, count, name='', options='', **more):
    return Case(name or f'rr-{size}', f'request/response {title}', f'rr -s {size} {options}'.rstrip(),
                count, INSN_PER_OP, LATENCY, SWITCHES_PER_OP, **more)


def _oneway(name, title, value, options):
    return Case(f'oneway-{name}', f'one way {title}', f'oneway {options}', 500, value, value,
                SWITCHES_PER_OP)


def _crr(parallel, title):
    return Case(f'crr-{parallel}', f'connect + 1 B + close, {title}', f'crr -P {parallel}', 400,
                INSN_PER_OP, RATE, SWITCHES_PER_OP, KWORKERS_PER_OP, RSTS_PER_OP)


def _fallback(end, case, title):
    """The same with TCP sockets at one end."""
    return replace(case, name=f'{case.name.split("-")[0]}-fallback', title=title,
                   command=f'{case.command} --plain {end}', families=('tcp', 'smc'))


def _redis(operation):
    return Case(f'redis-{operation}', f'redis {operation.upper()} 64 B', operation, 2000,
                INSN_PER_REQUEST, REQUESTS, SWITCHES_PER_OP, kind='redis')


def _idle(name, count, **more):
    return Case(name, f'memory of each of {count} idle', 'idle', count, MEMORY, MEMORY, kind='idle',
                **more)


def _used(case):
    """The same after much data: each connection has carried 100 KiB in both directions."""
    return replace(case, name=case.name.replace('idle', 'used'), title=f'{case.title}, after 100 KiB',
                   command='idle -s 100k --gap 3000000')


CASES = (
    _bulk('64', '64 B', 1),
    _bulk('1k', '1 KiB', 8),
    _bulk('4k', '4 KiB', 16),
    _bulk('8k', '8 KiB', 32),
    _bulk('16k', '16 KiB', 32),
    _bulk('64k', '64 KiB', 32),
    _bulk('1m', '1 MiB', 64),
    _first('1k', '1 KiB', 1),
    _first('16k', '16 KiB', 4),
    _rr('1', '1 B', 1000),
    _rr('1k', '1 KiB', 1000),
    _rr('3k', '3 KiB', 1000),
    _rr('64k', '64 KiB', 500),
    _oneway('1k', '1 KiB, 300 us apart', MEDIAN, '-s 1k --gap 300'),
    _oneway('16k', '16 KiB, 300 us apart', MEDIAN, '-s 16k --gap 300'),
    _oneway('burst', '4 x 1 KiB, 1 ms apart, 99 %', SLOWEST, '-s 1k --gap 1000 --burst 4'),
    _crr(1, 'serial'),
    _crr(16, '16 at once'),
    replace(_crr(1, 'by family'), name='crr-family', command='crr -P 1 --by-family',
            families=('tcp', 'smc')),
    Case('socket', 'socket + close', 'socket', 10000, INSN_PER_OP, RATE, SWITCHES_PER_OP,
         KWORKERS_PER_OP, RSTS_PER_OP),
    _fallback('client', _crr(1, ''), 'TCP client, SMC listener'),
    _fallback('server', _rr('1', '', 1000), 'request/response 1 B after fallback'),
    _redis('set'),
    _redis('get'),
    _idle('idle', 1000, memory=4096),
    _used(_idle('idle', 1000, memory=4096)),
    _idle('idle-10k', 10000, extra=True, memory=12288),
    _used(_idle('idle-10k', 10000, extra=True, memory=12288)),
    _rr('1', '1 B, polling', 2000, 'rr-busy-poll',
        '--busy-poll 100 --client-cpu 0 --server-cpu 1', extra=True, cpus=2),
)


@dataclass(frozen=True)
class Variant:
    """One column: a socket family on a path."""
    name: str
    family: str
    path: str                   # a function of guest.sh sets it up
    base: str                   # the column it is compared with
    words: str = ''             # for smcbench
    netns: bool = False         # server and client in the namespaces "server" and "client"
    host: str = '127.0.0.1'     # for redis
    module: str = ''            # the AF_SMC that has to be loaded: ours or intree
    connects: bool = False      # only cases that open connections

    def has(self, case):
        """Is the case measured in this variant?"""
        return self.family in case.families and (bool(case.kworkers) or not self.connects)


VETH = '-a 10.1.0.2 --client-netns client --server-netns server'
RXE = '-a 10.2.0.2'
CGROUP = '--server-cgroup /sys/fs/cgroup/server'

VARIANTS = (
    Variant('tcp-lo', 'tcp', 'lo', 'tcp-lo'),
    Variant('unix', 'unix', 'lo', 'tcp-lo', host='/tmp/redis'),
    Variant('smc-lo', 'smc', 'lo', 'tcp-lo', module='ours'),
    Variant('tcp-veth', 'tcp', 'veth', 'tcp-veth', VETH, True, '10.1.0.2'),
    Variant('smc-veth', 'smc', 'veth', 'tcp-veth', VETH, True, '10.1.0.2', 'ours'),
    Variant('tcp-cgroup', 'tcp', 'cgroup', 'tcp-cgroup', CGROUP, connects=True),
    Variant('smc-cgroup', 'smc', 'cgroup', 'tcp-cgroup', CGROUP, module='ours', connects=True),
    Variant('tcp-rxe', 'tcp', 'rxe', 'tcp-rxe', RXE, host='10.2.0.2'),
    Variant('smcr-rxe', 'smc', 'rxe', 'tcp-rxe', RXE, host='10.2.0.2', module='ours-rdma'),
    Variant('intree-rxe', 'smc', 'rxe', 'tcp-rxe', RXE, host='10.2.0.2', module='intree'),
)


def choose_cases(patterns):
    """The cases whose name matches one of the patterns; without any, all but the extra ones."""
    if not patterns:
        return [case for case in CASES if not case.extra]
    return [case for case in CASES if any(fnmatchcase(case.name, word) for word in patterns)]


def find_variant(name):
    return next(variant for variant in VARIANTS if variant.name == name)


def guest_command(case, variant, factor):
    """The shell words by which guest.sh runs a case in a variant."""
    count = max(1, int(case.count * factor)) if case.kind != 'idle' else case.count
    if case.kind == 'redis':
        netns = 'netns' if variant.netns else 'here'
        return f'redis {case.command} {variant.family} {netns} {variant.host} {count}'
    return f'smcbench {case.command} -f {variant.family} -n {count} {variant.words}'.rstrip()
