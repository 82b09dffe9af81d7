#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: memrdma.py

The RDMA device in memory (tests/modules/memrdma): SMC-R over it, each thing that it does wrong on
command, and the limits of adapters, each with what SMC-R makes of it. RDMA_LIB is lib/rdma.sh, which
makes the wire; RDMA_TYPE is mem.
"""

import contextlib
import errno
import select
import socket
import subprocess
import time
from pathlib import Path

import smc
import wire
from cases import check, equal, run
from spec import Family
from wire import ADDRESS

R1, R2 = 1, 4                   # net.smc.variants
CLIENT, SERVER = 0, 1
PARAMETERS = Path('/sys/module/memrdma/parameters')
SWIOTLB = Path('/sys/kernel/debug/swiotlb')
SHORT, TRIES = 3, 10            # seconds; a link whose port is down for longer ends
SIZE = 10000                    # less than the smallest ring
LOC_PROT_ERR = 4                # enum ib_wc_status
VERBS = 'alloc_pd', 'create_qp', 'modify_qp', 'alloc_mr', 'map_mr', 'post_recv'


def command(text):
    (PARAMETERS / 'control').write_text(text, encoding='ascii')


def value(port, name):
    """A number of a port: what it counts."""
    for line in (PARAMETERS / 'state').read_text(encoding='ascii').splitlines():
        first, *rest = line.split()
        if first == f'rxe{port}/1':
            return int(dict(word.split('=') for word in rest if '=' in word)[name])
    raise ValueError(f'no device rxe{port}')


def groups():
    return GEN.show('get-lgr-smcr')


def connect(variant=R2):
    smc.sysctl('variants', variant)
    pair = smc.Pair(address=ADDRESS[socket.AF_INET, SERVER])
    pair.server.settimeout(smc.LIMIT)
    return pair


def is_smc(pair):
    """Neither end has fallen back."""
    return smc.is_smc(pair.client) and smc.is_smc(pair.server)


def move(pair):
    """The right bytes arrive, both ways, and once."""
    for sender, receiver in (pair.client, pair.server), (pair.server, pair.client):
        data = bytes(i * 7 % 251 for i in range(SIZE))
        sender.sendall(data)
        if receiver.recv(SIZE, socket.MSG_WAITALL) != data:
            return False
    return not select.select([pair.client, pair.server], [], [], 0)[0]


def end(pair):
    pair.close()
    check('groups end', smc.eventually(lambda: not groups()), groups())


def goes(what, variant=R2):
    pair = connect(variant)
    check(f'{what}: SMC-R', is_smc(pair) and move(pair), smc.fallbacks(GEN))
    end(pair)


def is_tcp(what, variant=R2):
    pair = connect(variant)
    check(f'{what}: TCP', not is_smc(pair) and move(pair))
    end(pair)


def is_reset(sock):
    """The socket is told in time that all is over."""
    sock.settimeout(smc.LIMIT)
    try:
        sock.sendall(b'x')
        return sock.recv(1) is None
    except OSError as error:
        return error.errno in (errno.ECONNRESET, errno.EPIPE)


@contextlib.contextmanager
def fault(port, settings, *names):
    """Something goes wrong at a port, and what it counts has grown at the end."""
    before = [value(port, name) for name in names]
    command(f'set rxe{port} {settings}')
    try:
        yield
        grown = [value(port, name) - count for name, count in zip(names, before)]
        check(f'{settings}: it was so', all(grown), dict(zip(names, grown)))
    finally:
        command(f'set rxe{port} ' + ' '.join(
            word.split('=')[0] + '=0' for word in settings.split()
            if not word.startswith(('fail_status', 'seed'))))


def works():
    with fault(CLIENT, '', 'requests'):
        goes('version 2')
    with fault(SERVER, '', 'requests'):
        goes('version 1', R1)


def lost():
    """Requests and acknowledgements: what is sent again is not done again."""
    for settings, count in (('lose_requests=2:3', 'lost_requests'), ('lose_acks=1:4', 'lost_acks'),
                            ('seed=5 lose_permille=300', 'retries')):
        pair = connect()
        for port in CLIENT, SERVER:
            # Requests that need no acknowledgement of their own are not sent again
            with fault(port, settings, count):
                check(f'{settings}: the right bytes arrive', all(move(pair) for _ in range(6)))
        check(f'{settings}: sent again', value(CLIENT, 'retries'))
        end(pair)


def held():
    """Completions are made, and nobody sees them."""
    pair = connect()
    with fault(SERVER, 'hold=1', 'parked'):
        pair.client.sendall(b'x')
        check('nothing comes', not select.select([pair.server], [], [], 0.5)[0])
    equal('and then it does', pair.server.recv(10), b'x')
    end(pair)


def late():
    pair = connect()
    with fault(SERVER, 'shuffle_us=2000 completion_us=100', 'parked'):
        check('the right bytes arrive, completions shuffled', move(pair))
    start = time.monotonic()
    with fault(SERVER, 'delay_us=100000'):
        smc.send_all(pair.server, pair.client, 1)
    took = time.monotonic() - start
    check('a request is late', took >= 0.1, took)
    end(pair)


def failed_request():
    pair = connect()
    with fault(CLIENT, f'fail_status={LOC_PROT_ERR} fail_wr=2:1', 'failed'):
        pair.client.sendall(b'first')
        pair.server.recv(5)
        check('the connection ends', is_reset(pair.client) and is_reset(pair.server))
    end(pair)
    goes('the next one')


def failed_verbs():
    for verb in VERBS:
        with fault(CLIENT, f'{verb}=-1'):
            is_tcp(f'{verb} fails')
        goes(f'{verb} works')
    pair = connect()
    with fault(CLIENT, 'post_send=1'):
        pair.client.sendall(b'x')
        check('post_send fails: the connection ends', is_reset(pair.client))
    end(pair)


def cut():
    """The wire is cut: who sends finds out, at last."""
    pair = connect()
    with fault(CLIENT, 'wire=1', 'failed'):
        check('the connection ends', is_reset(pair.client))
        pair.close()
        is_tcp('without a wire')
    check('groups end', smc.eventually(lambda: not groups()), groups())
    smc.sysctl('smcr_path_retry_time', 0)
    goes('with the wire')


def state():
    path = Path('/sys/class/infiniband/rxe0/ports/1/state')
    return path.read_text(encoding='ascii').split()[1]


def flap():
    """A port goes down and comes back in time."""
    for _ in range(TRIES):
        pair = connect()
        start = time.monotonic()
        with fault(CLIENT, 'down=1'):
            equal('the port is down', state(), 'DOWN')
            pair.client.sendall(b'later')
            check('nothing comes', not select.select([pair.server], [], [], 0.2)[0])
        if time.monotonic() - start < SHORT:
            break
        end(pair)
    equal('the port is up', state(), 'ACTIVE')
    equal('and then it does', pair.server.recv(10), b'later')
    check('the connection goes on', move(pair))
    end(pair)


def neighbour():
    """Who the peer is gets known late."""
    entry = ['10.9.0.2', 'dev', 'smc0']
    mac = Path('/sys/class/net/smc1/address').read_text(encoding='ascii').strip()
    subprocess.run(['ip', 'neigh', 'del', *entry], check=True)
    listener, client = socket.socket(), socket.socket()
    listener.bind((ADDRESS[socket.AF_INET, SERVER], 0))
    listener.listen()
    with fault(SERVER, 'hold_neighbours=1'):
        client.setblocking(False)
        client.connect_ex(listener.getsockname())
        check('nobody answers', not select.select([], [client], [], 0.3)[1])
    check('then somebody does', select.select([], [client], [], smc.LIMIT)[1])
    client.close()
    listener.close()
    subprocess.run(['ip', 'neigh', 'replace', *entry, 'lladdr', mac, 'nud', 'permanent'],
                   check=True)


def plug_in(**parameters):
    """The server's device comes anew, with other limits."""
    before = {name: (PARAMETERS / name).read_text(encoding='ascii') for name in parameters}
    wire.unplug(SERVER)
    for name, number in parameters.items():
        (PARAMETERS / name).write_text(str(number), encoding='ascii')
    wire.plug_in(SERVER)
    wire.shell('rdma_addressed rxe1')
    for name, text in before.items():
        (PARAMETERS / name).write_text(text, encoding='ascii')


def vanish():
    """The adapter dies, then goes."""
    pair = connect()
    command('set rxe1 dead=1')
    check('the connection ends', is_reset(pair.server) and is_reset(pair.client))
    pair.close()
    is_tcp('dead')
    plug_in()
    goes('another one')


def limits():
    for parameters in ({'max_recv_sge': 1}, {'max_send_sge': 1, 'max_inline': 0},
                       {'max_inline': 43}, {'max_pages': 4}, {'max_mtu': 1024}, {'roce': 2}):
        plug_in(**parameters)
        goes(parameters)
    for parameters in ({'max_qp_wr': 8}, {'max_cqe': 16}, {'max_qp': 0}, {'max_mr': 0}):
        plug_in(**parameters)
        is_tcp(parameters)
    plug_in(roce=1)
    is_tcp('RoCE version 1 only', R2)
    # The other end has addresses of both versions, of which these two share one
    goes('RoCE version 1 only', R1)
    plug_in()


def slow():
    """An adapter whose commands take long holds up no data."""
    with fault(SERVER, 'verb_ms=100'):
        goes('slow commands')


def bounced():
    """Memory is mapped for DMA and copied, here by the boot parameter swiotlb=force."""
    plug_in(bounce='Y')
    if not SWIOTLB.exists():
        print('# this kernel never copies for DMA')
        goes('mapped')
        plug_in()
        return
    used = SWIOTLB / 'io_tlb_used'
    before = int(used.read_text(encoding='ascii'))
    pair = connect()
    check('through other memory: SMC-R', is_smc(pair) and move(pair), smc.fallbacks(GEN))
    check('which is used', int(used.read_text(encoding='ascii')) > before)
    end(pair)
    plug_in()


def ports_of(name, address):
    """Those ports of a device that have an address."""
    table = Path(f'/sys/class/infiniband/{name}/ports')
    return {int(port.name) for port in table.iterdir() for entry in (port / 'gids').iterdir()
            if entry.read_text(encoding='ascii').strip() == wire.gid(address)}


def bond():
    """Addresses of a bond move to the port that carries it."""
    if subprocess.run(['ip', 'link', 'add', 'bond7', 'type', 'bond', 'mode', 'active-backup'],
                      capture_output=True, check=False).returncode:
        print('# this kernel has no bonds')
        return
    wire.shell('for n in 0 1; do ip link add b$n type veth peer name c$n && ip link set c$n up && '
               'ip link set b$n master bond7 || exit 1; done && ip link set bond7 up && '
               'ip link set bond7 type bond active_slave b0 && '
               'ip addr add 10.11.0.1/24 dev bond7')
    command('add mem2 b0 b1')
    for number in 0, 1, 0:
        wire.shell(f'ip link set bond7 type bond active_slave b{number}')
        check(f'the address is at port {number + 1}', smc.eventually(
            lambda: ports_of('mem2', '10.11.0.1') == {number + 1}), ports_of('mem2', '10.11.0.1'))
    wire.shell('rdma link del mem2; ip link del bond7; ip link del b0; ip link del b1')


def refused():
    for text in ('', 'add', 'add mem3', 'add mem3 nothing', 'set', 'set mem3 hold=1',
                 'set rxe0 nothing=1', 'set rxe0 hold', 'set rxe0/2x hold=1', 'set rxe0 hold=x',
                 'set rxe0 lose_acks=-1:1', 'other'):
        try:
            command(text)
            check(f'refused: {text!r}', not text)
        except OSError as error:
            check(f'refused: {text!r}', error.errno in (errno.EINVAL, errno.ENODEV, errno.ENOENT))


smc.sysctl('rmem', 65536)
smc.sysctl('wmem', 65536)
smc.sysctl('smcr_idle_timeout', 1)
smc.sysctl('smcr_path_retry_time', 0)
GEN = Family('smc')
wire.shell('rdma_wire')
run(works, lost, held, late, failed_request, failed_verbs, cut, flap, neighbour, vanish, limits,
    slow, bounced, bond, refused)
