#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""sock_diag: every state and field of sockets, filters, and odd requests."""

import errno
import os
import socket
import struct
import subprocess

import diag
import nl
import smc
from cases import becomes, check, equal, refused, run
from diag import CONNINFO, DMBINFO, FALLBACK, LARGEST, LGRINFO, SHUTDOWN, Diag, extensions, sockid
from spec import Family

EVERYTHING = extensions(CONNINFO, LGRINFO, SHUTDOWN, DMBINFO, FALLBACK)
SO_COOKIE, SO_BINDTODEVICE, SO_RCVBUF, TCP_MD5SIG = 57, 25, 8, 14
MOST = 65536            # bytes of a ring that has grown as far as it may
CONTROL_BLOCK = 32      # of a DMB, the rest of it is the ring


def inode(sock):
    return os.fstat(sock.fileno()).st_ino


def key_for(address):
    """struct tcp_md5sig: a key for a peer"""
    peer = struct.pack('=HH4s120x', socket.AF_INET, 0, socket.inet_aton(address))
    return struct.pack('=128sBBHi80s', peer, 0, 0, 3, 0, b'key')


def look(sock, ext=0):
    return DIAG.find(inode(sock), ext)


def states(pair):
    return look(pair.client).state, look(pair.server).state


def requests():
    becomes('no sockets, no answers', DIAG.sockets, [])
    sock = smc.limited(smc.smc_socket)
    for flags in (nl.F_ROOT, nl.F_DUMP, 0x200, nl.F_DUMP | nl.F_ACK):
        answer = DIAG.request(Diag.payload(), flags)
        equal(f'a dump by flags {flags:#x}', (len(answer.messages), answer.done, answer.error),
              (1, True, 0))
    whole = Diag.payload()
    equal('requests from 2 bytes on', [length for length in range(2, len(whole) + 1)
                                       if len(DIAG.request(whole[:length]).messages) != 1], [])
    for name, data in (('one byte is not enough', whole[:1]), ('a byte too many', whole + b'\0')):
        equal(name, DIAG.request(data).error, errno.EINVAL)
    equal('all extension bits at once', len(DIAG.sockets(ext=0xff)), 1)
    answer = DIAG.request(Diag.payload(), nl.F_ACK)
    equal('no dump, no socket named: just the ACK', (answer.messages, answer.acked), ([], True))
    check('anyone may look', smc.as_nobody(lambda: len(Diag().sockets()) == 1))
    sock.close()


def unconnected():
    for name, family, create in SOCKETS:
        sock = create(family)
        becomes(f'{name}: there is nothing of ours yet', DIAG.sockets, [])
        sock.close()
        sock = smc.limited(create, family)
        entry = look(sock, EVERYTHING)
        equal(f'{name}: new', (entry.state, entry.mode, entry.shut, entry.uid, entry.interface),
              (diag.INIT, diag.SMCR, 0, 0, 0))
        equal(f'{name}: new: addresses', (entry.local, entry.peer), (('0.0.0.0', 0),) * 2)
        equal(f'{name}: new: attributes', entry.attributes, {SHUTDOWN: 0, FALLBACK: (0, 0)})
        equal(f'{name}: family', entry.family, int(family))
        sock.setsockopt(socket.SOL_SOCKET, SO_BINDTODEVICE, b'lo\0')
        sock.bind((smc.FAMILIES[family][1], 0))
        entry = look(sock)
        equal(f'{name}: bound', (entry.state, entry.local, entry.peer, entry.interface),
              (diag.INIT, sock.getsockname()[:2], ('0.0.0.0', 0), socket.if_nametoindex('lo')))
        sock.listen(1)
        entry = look(sock, EVERYTHING)
        equal(f'{name}: listening', (entry.state, entry.mode, entry.local, entry.peer),
              (diag.LISTEN, diag.SMCR, sock.getsockname()[:2], ('0.0.0.0', 0)))
        equal(f'{name}: listening: attributes', entry.attributes, {SHUTDOWN: 0, FALLBACK: (0, 0)})
        sock.close()


def connected():
    for name, family, create in SOCKETS:
        pair = smc.Pair(family, client=create, server=create)
        client, server = look(pair.client, EVERYTHING), look(pair.server, EVERYTHING)
        equal(f'{name}: active', [(s.state, s.mode) for s in (client, server)],
              [(diag.ACTIVE, diag.SMCD)] * 2)
        equal(f'{name}: client', (client.local, client.peer),
              (pair.client.getsockname()[:2], pair.address[:2]))
        equal(f'{name}: server', (server.local, server.peer),
              (pair.address[:2], pair.client.getsockname()[:2]))
        equal(f'{name}: order of attributes', [list(s.attributes) for s in (client, server)],
              [[SHUTDOWN, FALLBACK, CONNINFO, LARGEST, DMBINFO]] * 2)
        equal(f'{name}: cookie', client.cookie,
              pair.client.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8))
        pair.close()


def connection_info():
    with smc.changed_sysctl('rmem', MOST):
        pair = smc.Pair()
    client, server = (look(s, EVERYTHING).conn() for s in (pair.client, pair.server))
    equal('the receive buffer may grow', look(pair.client, EVERYTHING).attributes[LARGEST], MOST)
    check('two alert tokens', client['token'] != server['token'])
    for info in (client, server):
        equal('sizes', (info['sndbuf_size'], info['rmbe_size'], info['peer_rmbe_size']),
              (0, smc.RING, smc.RING))
        equal('nothing was sent', {info[name] for name in info if isinstance(info[name], tuple)},
              {(0, 0)})
        equal('no flags', [info[name] for name in diag.FLAGS], [0] * 4)

    pair.client.send(bytes(1000))
    sees(pair.server, rx_prod=(0, 1000))
    client, server = (look(s, EVERYTHING).conn() for s in (pair.client, pair.server))
    for name in ('tx_prod', 'tx_prep', 'tx_sent', 'tx_fin'):
        equal(f'after 1000 bytes: {name} of the sender', client[name], (0, 1000))
    equal('after 1000 bytes: the receiver', (server['rx_prod'], server['tx_cons']),
          ((0, 1000), (0, 0)))
    equal('the other direction', (server['tx_prod'], client['rx_prod']), ((0, 0), (0, 0)))
    with smc.changed_sysctl('rmem_start', MOST):    # the ring does not shrink
        full_ring(pair)
    pair.close()


def large_requests():
    """A ring that holds less than two of them grows: else the reader has to report each."""
    pair = smc.Pair()
    sizes = []
    with smc.changed_sysctl('rmem_start', 512 << 10):   # the ring does not shrink
        for _ in range(3):
            smc.send_all(pair.client, pair.server, 3000)
            sizes.append(look(pair.server, EVERYTHING).conn()['rmbe_size'])
    equal('requests of 3000 bytes: the ring', sizes, [smc.RING, 4 * smc.RING, 4 * smc.RING])
    pair.close()


def sees(sock, **wanted):
    """Waits until the module has taken in what the peer has written."""
    def is_so():
        info = look(sock, EVERYTHING).conn()
        return {name: info[name] for name in wanted} == wanted
    smc.eventually(is_so)


def full_ring(pair):
    ring = MOST - CONTROL_BLOCK
    pair.client.setblocking(False)
    sent = 1000
    while True:
        try:
            sent += pair.client.send(bytes(100000))
        except BlockingIOError:
            break
    equal('the ring takes all but the control block', sent, ring)
    sees(pair.server, rx_prod=(1, 0), rx_prod_flags=0x80)
    client, server = (look(s, EVERYTHING).conn() for s in (pair.client, pair.server))
    equal('a full ring: cursors', (client['tx_prod'], server['rx_prod'], client['rx_cons']),
          ((1, 0), (1, 0), (0, 0)))
    equal('a full ring: it has grown, the other one has not',
          [(info['rmbe_size'], info['peer_rmbe_size']) for info in (client, server)],
          [(smc.RING, MOST), (MOST, smc.RING)])
    equal('a full ring: flags', (client['tx_prod_flags'], server['rx_prod_flags']), (0x80, 0x80))

    got = 0
    while got < ring:
        got += len(pair.server.recv(ring))
    sees(pair.client, rx_cons=(1, 0))
    client, server = (look(s, EVERYTHING).conn() for s in (pair.client, pair.server))
    equal('an empty ring', (server['tx_cons'], client['rx_cons']), ((1, 0), (1, 0)))
    pair.client.setblocking(True)


def dmb_info():
    pair = smc.Pair()
    client, server = (look(s, EVERYTHING).attributes[DMBINFO] for s in (pair.client, pair.server))
    for mine, theirs in (('my_gid', 'peer_gid'), ('token', 'peer_token'),
                         ('my_gid_ext', 'peer_gid_ext')):
        equal(f'{mine} is what the other end has as {theirs}',
              (client[mine], server[mine]), (server[theirs], client[theirs]))
    check('two tokens', client['token'] != server['token'])
    groups = [m['lgr-smcd'] for m in Family('smc').show('get-lgr-smcd')]
    check('link ids are numbers of link groups',
          {client['linkid'], server['linkid']} <= {g['id'] for g in groups}, groups)
    equal('the address is that of the group', (client['my_gid'], client['my_gid_ext']),
          (groups[0]['gid'], groups[0]['ext-gid']))
    equal('only what was asked for', list(look(pair.client, extensions(DMBINFO)).attributes),
          [SHUTDOWN, FALLBACK, DMBINFO])
    equal('only what was asked for', list(look(pair.client, extensions(CONNINFO)).attributes),
          [SHUTDOWN, FALLBACK, CONNINFO, LARGEST])
    equal('nothing', list(look(pair.client).attributes), [SHUTDOWN, FALLBACK])
    pair.close()


def shutdown_in_turn():
    pair = smc.Pair()
    pair.server.shutdown(socket.SHUT_WR)
    becomes('the server is done', lambda: states(pair), (diag.APPCLOSEWAIT1, diag.PEERCLOSEWAIT1))
    client, server = look(pair.client, EVERYTHING), look(pair.server, EVERYTHING)
    equal('its shutdown', (client.attributes[SHUTDOWN], server.attributes[SHUTDOWN]), (1, 2))
    equal('in the message as well', (client.shut, server.shut), (1, 2))
    equal('its flags', (server.conn()['tx_state_flags'], client.conn()['rx_state_flags']),
          (0x80, 0x80))
    pair.client.shutdown(socket.SHUT_WR)
    becomes('so is the client', lambda: states(pair), (diag.APPCLOSEWAIT2, diag.PEERCLOSEWAIT2))
    equal('both directions', [look(s).attributes[SHUTDOWN] for s in (pair.client, pair.server)],
          [3, 3])
    addresses = look(pair.client).local, look(pair.client).peer
    equal('addresses are still there', addresses,
          (pair.client.getsockname(), pair.address))
    pair.close()
    check('all are gone', smc.eventually(lambda: not DIAG.sockets()), DIAG.sockets())


def close_one_end():
    pair = smc.Pair()
    local = pair.client.getsockname()
    pair.client.close()
    becomes('the peer has closed', lambda: look(pair.server).state, diag.APPCLOSEWAIT1)
    entry = look(pair.server, EVERYTHING)
    equal('it said so', entry.conn()['rx_state_flags'], 0xc0)
    becomes('what is left of the client',
            lambda: [(s.state, s.inode, s.local, s.peer)
                     for s in DIAG.sockets(ident=sockid(sport=local[1]))],
            [(diag.PEERCLOSEWAIT1, 0, local, pair.address)])
    pair.server.close()
    check('it ends with the server', smc.eventually(
        lambda: not DIAG.sockets(ident=sockid(sport=local[1]))))
    pair.listener.close()

    pair = smc.Pair()
    pair.server.shutdown(socket.SHUT_WR)
    becomes('the server is done, again', lambda: look(pair.client).state, diag.APPCLOSEWAIT1)
    local = pair.client.getsockname()
    pair.client.close()
    becomes('closed after the peer was done', lambda: (look(pair.server).state, [
        s.state for s in DIAG.sockets(ident=sockid(sport=local[1]))]),
            (diag.APPFINCLOSEWAIT, [diag.PEERFINCLOSEWAIT]))
    pair.close()


def abort():
    pair = smc.Pair()
    pair.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    pair.client.close()

    def end():
        entry = look(pair.server, EVERYTHING)
        return entry.state, entry.attributes[SHUTDOWN]
    becomes('aborted by the peer', end, (diag.CLOSED, 3))
    pair.close()
    check('all are gone', smc.eventually(lambda: not DIAG.sockets()), DIAG.sockets())


def abort_after_the_end():
    """A peer that has closed does not answer, so nobody waits for it."""
    pair = smc.Pair()
    pair.client.sendall(b'never read')
    pair.client.close()
    check('the peer has closed',
          smc.eventually(lambda: look(pair.server).state == diag.APPCLOSEWAIT1))
    pair.server.close()
    equal('nobody waits for an answer to the abort',
          [s.state for s in DIAG.sockets() if s.state == diag.PEERABORTWAIT], [])
    pair.close()
    check('all are gone', smc.eventually(lambda: not DIAG.sockets()), DIAG.sockets())


def not_accepted():
    listener, client = smc.smc_socket(), smc.smc_socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(4)
    client.connect(listener.getsockname())
    check('a child that was not accepted has no inode', smc.eventually(lambda: [
        (s.state, s.mode) for s in DIAG.sockets() if not s.inode] == [(diag.ACTIVE, diag.SMCD)]))
    child = listener.accept()[0]
    equal('an accepted one has', look(child).state, diag.ACTIVE)
    for sock in (listener, client, child):
        sock.close()
    check('all are gone', smc.eventually(lambda: not DIAG.sockets()), DIAG.sockets())


def fallback():
    for name, client, server, reasons in (
            ('TCP server', smc.smc_socket, smc.tcp_socket, {'client': smc.PEER_NO_SMC}),
            ('TCP client', smc.tcp_socket, smc.smc_socket, {'server': smc.PEER_NO_SMC})):
        pair = smc.Pair(client=client, server=server)
        for side, reason in reasons.items():
            entry = look(getattr(pair, side), EVERYTHING)
            equal(f'{name}: {side}', (entry.state, entry.mode), (diag.ACTIVE, diag.TCP))
            equal(f'{name}: reason', entry.attributes, {SHUTDOWN: 0, FALLBACK: (reason, 0)})
            equal(f'{name}: addresses', (entry.local, entry.peer), (
                getattr(pair, side).getsockname(), getattr(pair, side).getpeername()))
            getattr(pair, side).shutdown(socket.SHUT_WR)
            entry = look(getattr(pair, side))
            equal(f'{name}: shut down', (entry.state, entry.attributes[SHUTDOWN]),
                  (diag.ACTIVE, 2))
        pair.close()

    sock = smc.smc_socket()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
    check('TCP_FASTOPEN: it is a TCP socket', not smc.is_smc(sock))
    sock.bind(('127.0.0.1', 0))
    sock.listen(1)
    becomes('one that is TCP before it is connected is not shown', DIAG.sockets, [])
    client = smc.smc_socket()
    client.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG, key_for('127.0.0.1'))
    client.setblocking(False)
    client.connect_ex(sock.getsockname())
    becomes('one that may not is shown once it connects',
            lambda: [(s.mode, s.attributes[FALLBACK]) for s in DIAG.sockets(EVERYTHING)],
            [(diag.TCP, (smc.OPTION, 0))])
    client.close()
    sock.close()
    check('all are gone', smc.eventually(lambda: not DIAG.sockets()), DIAG.sockets())


def owners():
    def nobody_has_one():
        sock = smc.limited(smc.smc_socket)
        return look(sock).uid == 65534
    check('the owner is shown', smc.as_nobody(nobody_has_one))

    def inner_are_nobodys():
        pair = smc.Pair()
        waiting = smc.smc_socket()
        waiting.connect(pair.address)       # its peer is not accepted
        ports = f'( sport = :{pair.address[1]} or dport = :{pair.address[1]} )'

        def are_shown():
            shown = subprocess.run(['ss', '-Hatne', ports], check=True, stdout=subprocess.PIPE,
                                   text=True).stdout.splitlines()
            # TCP shows no owner of one that was not accepted
            return len(shown) == 5 and sum('uid:65534 ' in line for line in shown) == 4
        return smc.eventually(are_shown)
    check('to TCP they belong to the same user', smc.as_nobody(inner_are_nobodys))

    pid = os.fork()
    if not pid:
        status = 1
        try:
            nl.namespace('other')
            pair = smc.Pair()
            # Sockets of the processes above may still end
            status = 0 if len(Diag().sockets()) == 3 and smc.eventually(
                lambda: not DIAG.sockets()) else 1
            pair.close()
        finally:
            os._exit(status)
    equal('each namespace sees its own sockets', os.waitpid(pid, 0)[1], 0)


def filters():
    pair, idle = smc.Pair(), smc.limited(smc.smc_socket)
    old = smc.Pair(server=smc.tcp_socket)
    becomes('five sockets', lambda: len(DIAG.sockets()), 5)

    def one_of(name, ident=None, data=b'', wanted=()):
        equal(f'filter: {name}', sorted(s.inode for s in DIAG.sockets(0, ident, data)),
              sorted(inode(s) for s in wanted))

    def states_are(*numbers):
        return nl.attr(diag.STATES, struct.pack('=I', sum(1 << n for n in numbers)))

    one_of('listening', data=states_are(diag.LISTEN), wanted=[pair.listener])
    one_of('active', data=states_are(diag.ACTIVE), wanted=[pair.client, pair.server, old.client])
    one_of('listening or fresh', data=states_are(diag.LISTEN, diag.INIT),
           wanted=[pair.listener, idle])
    one_of('TCP', data=nl.attr(diag.MODES, 1 << diag.TCP), wanted=[old.client])
    one_of('SMC-D', data=nl.attr(diag.MODES, 1 << diag.SMCD), wanted=[pair.client, pair.server])
    one_of('active SMC-D or TCP', data=states_are(diag.ACTIVE) + nl.attr(diag.MODES, 6),
           wanted=[pair.client, pair.server, old.client])
    one_of('inode', data=nl.attr(diag.INODE, struct.pack('=Q', inode(idle))), wanted=[idle])
    one_of('no such inode', data=nl.attr(diag.INODE, struct.pack('=Q', 1)))
    port = pair.address[1]
    one_of('local port', sockid(sport=port), wanted=[pair.listener, pair.server])
    one_of('peer port', sockid(dport=port), wanted=[pair.client])
    one_of('both ports', sockid(port, pair.client.getsockname()[1]), wanted=[pair.server])
    one_of('no such port', sockid(sport=1))
    home = bytes([127, 0, 0, 1])
    one_of('peer address', sockid(dst=home), wanted=[pair.client, pair.server, old.client])
    one_of('no such address', sockid(src=bytes([127, 0, 0, 2])))
    one_of('no such interface', sockid(interface=1))
    cookie = look(pair.client).cookie
    one_of('cookie', sockid(cookie=cookie), wanted=[pair.client])
    one_of('no cookie', sockid(cookie=b'\xff' * 8), wanted=[pair.client, pair.server, old.client,
                                                            pair.listener, idle])
    bad_filters()
    get_one(pair, cookie)
    for sock in (pair, old, idle):
        sock.close()
    check('all are gone', smc.eventually(lambda: not DIAG.sockets()), DIAG.sockets())


def bad_filters():
    for name, data in (('an unknown attribute', nl.attr(9, 1)),
                       ('no attribute', b'\1\2\3\4'),
                       ('states in one byte', nl.attr(diag.STATES, 1)),
                       ('modes in four bytes', nl.attr(diag.MODES, struct.pack('=I', 1))),
                       ('an inode in four bytes', nl.attr(diag.INODE, struct.pack('=I', 1))),
                       ('half an attribute', nl.attr(diag.STATES, struct.pack('=I', 1))[:6])):
        for flags in (nl.F_DUMP, nl.F_ACK):
            answer = DIAG.request(Diag.payload(ident=sockid(sport=1), data=data), flags)
            equal(f'filter: {name}, flags {flags:#x}', (answer.error, answer.messages),
                  (errno.EINVAL, []))


def get_one(pair, cookie):
    def ask(ident, data=b''):
        return DIAG.request(Diag.payload(EVERYTHING, ident, data), nl.F_ACK)

    for name, answer in (
            ('cookie', ask(sockid(cookie=cookie))),
            ('ports', ask(sockid(pair.client.getsockname()[1], pair.address[1]))),
            ('inode', ask(None, nl.attr(diag.INODE, struct.pack('=Q', inode(pair.client)))))):
        equal(f'one by {name}', [(s.inode, s.flags, list(s.attributes)) for s in
                                 map(diag.Socket, answer.messages)],
              [(inode(pair.client), 0, [SHUTDOWN, FALLBACK, CONNINFO, LARGEST, DMBINFO])])
        check(f'one by {name}: the ACK follows', answer.acked and not answer.done, answer)
    for name, ident in (('cookie', sockid(cookie=b'\1' * 8)), ('port', sockid(sport=1)),
                        ('pair', sockid(1, pair.address[1], cookie=cookie))):
        refused(f'none by {name}', ask(ident), errno.ENOENT)


SOCKETS = [(f'{name}, IPv{version}', family, create)
           for name, create in (('AF_SMC', smc.smc_socket), ('IPPROTO_SMC', smc.inet_socket))
           for version, family in ((4, socket.AF_INET), (6, socket.AF_INET6))]
DIAG = Diag()
run(requests, unconnected, connected, connection_info, large_requests, dmb_info, shutdown_in_turn,
    close_one_end, abort, abort_after_the_end, not_accepted, fallback, owners, filters)
