#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: smcr.py TRACEFS

SMC-R between two ports of one kernel: everything that netlink and sock_diag show of it, events,
trace events, and the loss of a device.
"""

import errno
import fcntl
import os
import re
import select
import socket
import struct
import subprocess
import sys
import termios
from pathlib import Path

import diag
import nl
import smc
import wire
from cases import accepted, becomes, check, equal, run
from diag import CONNINFO, DMBINFO, FALLBACK, LGRINFO, Diag, extensions
from spec import Family
from wire import ADDRESS, gid, interface

TRACING = Path(sys.argv[1])
EXT = extensions(CONNINFO, LGRINFO, DMBINFO)
SO_NETNS_COOKIE = 71
SIOCOUTQNSD = 0x894b
BUFFER = 65536
START = 4096                    # of a send buffer (net.smc.rmem_start)
ORDER = 4                       # of the pages of such a buffer
R1, R2 = 1, 4                   # net.smc.variants
ACTIVE, INACTIVE = 3, 1         # states of a link
LOST_PATH, IDLE = 0x10000, 0x30000
CONFIRM_LINK = 1
CONFIRM = '@th,256,32 0xe2d4c3d9 @th,288,8 3'     # behind a TCP header with a time stamp
CLIENT, SERVER = 0, 1
FAIL_PAGES = Path('/sys/kernel/debug/fail_page_alloc')
LIMIT = Path('/sys/module/smc/parameters/buffer_limit_mb')
FIN_TIMEOUT = Path('/proc/sys/net/ipv4/tcp_fin_timeout')


def eid(name):
    return nl.attr(1, f'{name:32}')


def cookie():
    with socket.socket() as sock:
        return int.from_bytes(sock.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8), 'little')


def devices():
    return [m['dev-smcr'] for m in GEN.show('get-dev-smcr')]


def groups():
    return [m['lgr-smcr'] for m in GEN.show('get-lgr-smcr')]


def technology():
    return GEN.show('get-stats')[0]['stats']['smcr-tech']


def collect(events, wanted):
    """Waits for so many events of each kind; returns their attributes by kind."""
    found = {name: [] for name in wanted}

    def enough():
        for name, attributes in events.events():
            found.setdefault(name, []).append(attributes)
        return all(len(found[name]) >= count for name, count in wanted.items())
    smc.eventually(enough)
    equal('events', {name: len(seen) for name, seen in found.items()}, wanted)
    return found


def port(number, **more):
    return {'pnet-usr': 0, 'pnetid': '', 'netdev': interface(number),
            'valid': 1, 'state': 1, 'lnk-cnt': 0, **more}


def device(number, links=0, **more):
    return {'use-cnt': links, 'is-crit': int(links > 0), 'pci-fid': 0, 'pci-chid': 0,
            'pci-vendor': 0, 'pci-device': 0, 'pci-id': '', 'ib-name': f'rxe{number}',
            'port': port(number, **{'lnk-cnt': links, **more})}


def two_devices():
    wanted = [device(0), device(1)]
    check('both devices have addresses', smc.eventually(lambda: devices() == wanted), devices())
    equal('order of attributes', [list(dev) for dev in devices()], [
        ['use-cnt', 'is-crit', 'pci-fid', 'pci-chid', 'pci-vendor', 'pci-device', 'pci-id',
         'ib-name', 'port']] * 2)
    small = Family('smc', room=4096)
    equal('the same with a small buffer', [m['dev-smcr'] for m in small.show('get-dev-smcr')],
          wanted)


def elsewhere():
    """A device is seen in all namespaces, its network device and what uses it in one only."""
    wanted = [device(0, netdev=0), device(1, netdev=0)]
    pair = connect(socket.AF_INET, R2)
    equal('devices are in use', devices(), [device(0, 1), device(1, 1)])
    pid = os.fork()
    if not pid:
        status = 1
        try:
            nl.namespace('other')
            status = [m['dev-smcr'] for m in Family('smc').show('get-dev-smcr')] != wanted
        finally:
            os._exit(status)
    equal('another namespace sees neither links nor a network device', os.waitpid(pid, 0)[1], 0)
    end(pair)


def pnet():
    """What is said of a device counts, else what is said of its interface."""
    table = Family('smc_pnetid')
    accepted('an entry for an interface', table.do(2, nl.attr(1, 'NETA') + nl.attr(2, 'smc0')))
    accepted('an entry for a device', table.do(2, nl.attr(1, 'NETA') + nl.attr(3, 'rxe1')))
    attached = {'pnet-usr': 1, 'pnetid': 'NETA'}
    equal('ports show them', devices(), [device(0, **attached), device(1, **attached)])
    accepted('another for a device', table.do(2, nl.attr(1, 'NETB') + nl.attr(3, 'rxe0')))
    equal('which is stronger', devices()[0]['port']['pnetid'], 'NETB')
    accepted('not any more', table.do(3, nl.attr(1, 'NETB')))
    pair = connect(socket.AF_INET, R2)
    equal('groups show it', [group['pnetid'] for group in groups()], ['NETA', 'NETA'])
    accepted('no entries', table.do(4))
    equal('they are not shown any more', [group['pnetid'] for group in groups()], ['', ''])
    end(pair)


def connect(family, variant):
    smc.sysctl('variants', variant)
    return smc.Pair(family, address=ADDRESS[family, SERVER])


def end(pair):
    """Close it, and wait until the groups have ended."""
    pair.close()
    check('groups end', smc.eventually(lambda: not groups()), groups())
    check('no link is left', smc.eventually(lambda: devices() == [device(0), device(1)]),
          devices())


def wanted_group(role, variant):
    group = {'conns-num': 1, 'role': role, 'type': 1, 'buf-type': 0, 'vlan-id': 0,
             'net-cookie': cookie(), 'pnetid': '', 'sndbuf-alloc': START,
             'rmb-alloc': BUFFER}
    if variant == R2:
        group['v2-common'] = {'ver': 2, 'rel': 1, 'os': 2, 'peer-host': f'{os.uname().nodename:32}',
                              'neg-eid': f'{"SMCRTEST":32}'}
        group['v2'] = {'direct': 1, 'max-conns': 255, 'max-links': 1}
    return group


def look_at_groups(variant):
    """The two groups of a connection: the client's, then the server's."""
    found = sorted(groups(), key=lambda group: group['role'])
    equal('two groups', len(found), 2)
    ids = [group.pop('id') for group in found]
    check('their numbers end with 00', ids[0] != ids[1] and not (ids[0] | ids[1]) & 0xff, ids)
    for role, group in enumerate(found):
        wanted = wanted_group(role, variant)
        equal('group', group, wanted)
        equal('order of attributes', list(group), list(wanted))
    return ids


def look_at_links(ids, family):
    shown = wire.links(GEN)
    equal('a link in each group', {number: len(one) for number, one in shown.items()},
          dict.fromkeys(ids, 1))
    client, server = (shown[number][0] for number in ids)
    equal('their own names cross', (client['uid'], client['peer-uid']),
          (server['peer-uid'], server['uid']))
    check('which differ', client['uid'] != server['uid'] and client['uid'] and server['uid'])
    for role, link in enumerate((client, server)):
        equal('link', link, {
            'id': 1, 'state': ACTIVE, 'conn-cnt': 1, 'ib-port': 1,
            'net-dev': interface(role), 'ib-dev': f'rxe{role}',
            'uid': link['uid'], 'peer-uid': link['peer-uid'], 'gid': gid(ADDRESS[family, role]),
            'peer-gid': gid(ADDRESS[family, 1 - role]), 'lgr-id': ids[role]})
    equal('devices are in use', devices(), [device(0, 1), device(1, 1)])
    return client['uid'], server['uid']


def look_at_sockets(pair, family):
    shown = [DIAG.find(os.fstat(sock.fileno()).st_ino, EXT) for sock in (pair.client, pair.server)]
    for role, sock in enumerate(shown):
        equal('socket', (sock.mode, sock.state, sock.attributes[FALLBACK]),
              (diag.SMCR, diag.ACTIVE, (0, 0)))
        equal('its link', sock.attributes[LGRINFO], {
            'link': 1, 'ibname': f'rxe{role}', 'ibport': 1, 'gid': gid(ADDRESS[family, role]),
            'peer_gid': gid(ADDRESS[family, 1 - role]), 'role': role})
        check('it has no DMB', DMBINFO not in sock.attributes)
        info = sock.conn()
        equal('its buffers', [info[name] for name in ('sndbuf_size', 'rmbe_size',
                                                      'peer_rmbe_size')], [START, BUFFER, BUFFER])
    client, server = (sock.conn() for sock in shown)
    equal('cursors agree', (client['tx_prod'], client['rx_prod']),
          (server['rx_prod'], server['tx_prod']))


def sender_cursors(sock):
    info = DIAG.find(os.fstat(sock.fileno()).st_ino, EXT).conn()
    return {name: info[name][1] for name in ('tx_prep', 'tx_sent', 'tx_prod', 'tx_fin')}


def amounts(sock):
    """SIOCOUTQ and SIOCOUTQNSD."""
    return tuple(struct.unpack('i', fcntl.ioctl(sock, request, bytes(4)))[0]
                 for request in (termios.TIOCOUTQ, SIOCOUTQNSD))


def held_back():
    """The sender keeps what follows an urgent byte until the peer has consumed that."""
    pair = connect(socket.AF_INET, R2)
    pair.server.settimeout(smc.LIMIT)
    pair.client.sendall(bytes(10))
    pair.client.send(b'!', socket.MSG_OOB)
    pair.client.sendall(bytes(100))
    becomes('the urgent byte is sent', lambda: sender_cursors(pair.client)['tx_sent'], 11)
    cursors = sender_cursors(pair.client)
    equal('what is behind it is not', (cursors['tx_prep'], cursors['tx_sent'], cursors['tx_prod']),
          (111, 11, 11))
    check('completed is not more than sent', cursors['tx_fin'] <= 11, cursors)
    becomes('a program that asks is told so', lambda: amounts(pair.client), (100, 100))
    got = 0
    while got < 110:
        got += len(pair.server.recv(110 - got))
    cursors = sender_cursors(pair.client)
    equal('now it is', (cursors['tx_prep'], cursors['tx_sent'], cursors['tx_prod']),
          (111, 111, 111))
    check('the peer had the urgent byte', 11 <= cursors['tx_fin'] <= 111, cursors)
    becomes('and the program is told that the peer has all', lambda: amounts(pair.client), (0, 0))
    end(pair)


def larger_than_ring():
    """The send ring of SMC-R becomes as large as the peer's element at once."""
    names = ('size-sm-cnt', 'size-sm-peer-cnt', 'full-peer-cnt', 'full-cnt')
    pair = connect(socket.AF_INET, R2)
    pair.server.settimeout(smc.LIMIT)
    before = technology()['tx-rmb-stats']
    pair.client.settimeout(0)
    equal('a write of more than a ring fills it', pair.client.send(bytes(BUFFER + 1)), BUFFER)
    after = technology()['tx-rmb-stats']
    equal('counters of full and small buffers', [after[name] - before[name] for name in names],
          [1, 1, 1, 0])
    got = 0
    while got < BUFFER:
        got += len(pair.server.recv(BUFFER - got))
    end(pair)


def connection(family, variant):
    events = Family('smc')
    events.listen()
    before = technology()
    pair = connect(family, variant)
    smc.send_all(pair.client, pair.server, 1000)
    ids = look_at_groups(variant)
    uids = look_at_links(ids, family)
    look_at_sockets(pair, family)
    def in_use():
        return technology()['rx-rmb-usage'], technology()['tx-rmb-usage']
    # A closed connection may still have some
    check('buffers in use', smc.eventually(lambda: in_use() == (2 * BUFFER, 2 * START)), in_use())
    name = 'v1' if variant == R1 else 'v2'
    equal('both ends are counted', [technology()[f'{end}-{name}-succ'] -
                                    before[f'{end}-{name}-succ'] for end in ('clnt', 'srv')],
          [1, 1])
    told = collect(events, {'lgr-up': 2, 'link-up': 2})
    equal('groups that came', sorted(e['lgr-smcr']['id'] for e in told['lgr-up']), sorted(ids))
    equal('links that came', sorted((e['link-smcr']['lgr-id'], e['link-smcr']['uid'],
                                     e['link-smcr']['state']) for e in told['link-up']),
          sorted((number, uid, ACTIVE) for number, uid in zip(ids, uids)))
    more = smc.Pair(family, address=ADDRESS[family, SERVER])
    equal('another connection is no event', events.events(), [])
    more.close()
    end(pair)
    told = collect(events, {'lgr-down': 2, 'link-down': 2})
    equal('groups that went', sorted(e['lgr-smcr']['id'] for e in told['lgr-down']), sorted(ids))
    equal('links that went', sorted((e['link-smcr']['lgr-id'], e['link-smcr']['uid'],
                                     e['link-smcr']['state']) for e in told['link-down']),
          sorted((number, uid, INACTIVE) for number, uid in zip(ids, uids)))
    check('no buffer is in use', smc.eventually(
        lambda: not technology()['rx-rmb-usage'] + technology()['tx-rmb-usage']))


def connections():
    for family in (socket.AF_INET, socket.AF_INET6):
        for variant in (R2, R1):
            connection(family, variant)


def trace(on):
    (TRACING / 'events' / 'smc' / 'enable').write_text(str(int(on)), encoding='ascii')


def traced(event, pattern):
    """What the pattern has found in the lines of an event, as numbers."""
    found = []
    for line in (TRACING / 'trace').read_text(encoding='ascii').splitlines():
        if f' {event}: ' in line:
            match = re.search(pattern, line)
            check(f'{event} has its fields', match, line)
            found.append(tuple(int(value, 0) for value in match.groups()))
    return found


def how_it_ended(sock):
    """errno of receiving."""
    try:
        return 0 if sock.recv(1) == b'' else None
    except OSError as error:
        return error.errno


def unplugged():
    """The server's device is deleted."""
    events = Family('smc')
    events.listen()
    before = technology()
    (TRACING / 'trace').write_text('', encoding='ascii')
    trace(True)
    pair = connect(socket.AF_INET, R2)
    ids = look_at_groups(R2)
    client, server = look_at_links(ids, socket.AF_INET)
    pair.server.settimeout(smc.LIMIT)
    waiting = smc.smc_socket()
    waiting.connect(pair.address)
    waiting_port = waiting.getsockname()[1]
    check('one more waits to be accepted', select.select([pair.listener], [], [], smc.LIMIT)[0])
    wire.unplug(1)
    becomes('it is not shown any more', lambda: [each['ib-name'] for each in devices()], ['rxe0'])
    equal('its end of the connection is reset', how_it_ended(pair.server), errno.ECONNRESET)
    equal('the other end, too', how_it_ended(pair.client), errno.ECONNRESET)
    equal('it still has its name', pair.server.getsockname(), pair.address)
    late, peer = pair.listener.accept()
    equal('who waited has a name', peer, (ADDRESS[socket.AF_INET, CLIENT], waiting_port))
    equal('and is reset', how_it_ended(late), errno.ECONNRESET)
    late.close()
    waiting.close()
    pair.close()
    told = collect(events, {'lgr-up': 2, 'link-up': 2, 'lgr-down': 2, 'link-down': 2})
    equal('links that went', {e['link-smcr']['uid'] for e in told['link-down']}, {client, server})
    # The kworkers of two groups send these, in any order. The trace below has the order
    check('the other device is idle', smc.eventually(lambda: devices() == [device(0)]), devices())
    trace(False)
    link = r'net=(\d+) link=(\d+) uid=(0x[0-9a-f]+)'
    here = cookie()
    equal('traced: links that came', sorted(traced('smcr_link_up', link + '$')),
          sorted((here, 1, uid) for uid in (client, server)))
    first, second = traced(
        'smcr_link_down',
        r'lnk=[0-9a-f]+ lgr=[0-9a-f]+ net=(\d+) state=3 dev=rxe\d '
        r'location=\w+.* link=(\d+) uid=(0x[0-9a-f]+) reason=(0x[0-9a-f]+)$')
    equal('traced: the link on the deleted device', first, (here, 1, server, LOST_PATH))
    # Nobody uses it, and its peer does not answer: whatever is found out first
    check('traced: the other one', second[:3] == (here, 1, client) and
          second[3] in (IDLE, LOST_PATH), second)
    for word in ('sent', 'received'):
        found = traced('smcr_llc', link + r' (?:sent|received) type=(\d+)(?: reply)?$')
        equal(f'traced: CONFIRM LINK {word}', {uid for cookie_, _, uid, kind in found
                                               if kind == CONFIRM_LINK and cookie_ == here},
              {client, server})
    grown = technology()['abort-link-cnt'] - before['abort-link-cnt']
    check('counted as lost', grown >= 1, grown)


def renamed():
    """A device has another name while a connection uses it: it is what is shown from then on."""
    pair = connect(socket.AF_INET, R2)
    subprocess.run(['rdma', 'dev', 'set', 'rxe0', 'name', 'other0'], check=True)
    equal('a device of that name', [each['ib-name'] for each in devices()], ['other0', 'rxe1'])
    names = {link['ib-dev'] for one in wire.links(GEN).values() for link in one}
    equal('links are on it', names, {'other0', 'rxe1'})
    shown = DIAG.find(os.fstat(pair.client.fileno()).st_ino, EXT)
    equal('so is the socket', shown.attributes[LGRINFO]['ibname'], 'other0')
    smc.send_all(pair.client, pair.server, 1000)
    pair.close()
    check('links end', smc.eventually(lambda: not wire.links(GEN)))
    subprocess.run(['rdma', 'dev', 'set', 'other0', 'name', 'rxe0'], check=True)
    becomes('the old name', devices, [device(0), device(1)])


def plugged_in_again():
    wire.plug_in(1)
    check('it has its address', smc.eventually(
        lambda: wire.have([ADDRESS[socket.AF_INET, port] for port in (CLIENT, SERVER)])))
    check('it is shown', smc.eventually(lambda: devices() == [device(0), device(1)]), devices())
    connection(socket.AF_INET, R2)


def nft(script):
    subprocess.run(['nft', '-f', '-'], input=script, text=True, check=True)


def live(name):
    lines = Path('/sys/kernel/debug/smc/objects').read_text(encoding='ascii').splitlines()
    return next(int(line.split()[1]) for line in lines if line.split()[0] == name)


def given_up():
    """
    The server ends before the Confirm comes, which is lost on the way. The client has connected and closed
    since then, and only TCP can tell it that nobody knows of the connection.
    """
    pair = connect(socket.AF_INET, R2)
    patience = FIN_TIMEOUT.read_text(encoding='ascii')
    FIN_TIMEOUT.write_text(str(10 * smc.LIMIT), encoding='ascii')   # not what ends the client here
    listener, client = smc.smc_socket(), smc.smc_socket()
    listener.bind((ADDRESS[socket.AF_INET, SERVER], 0))
    listener.listen(1)
    nft(f'''add table inet lose
        add chain inet lose out {{ type filter hook output priority 0; }}
        add rule inet lose out tcp dport {listener.getsockname()[1]} {CONFIRM} drop''')
    client.connect(listener.getsockname())
    equal('it is SMC', smc.is_smc(client), True)
    client.close()
    equal('the client waits for the end', live('conn'), 4)
    listener.close()
    check('it learns of the end', smc.eventually(lambda: live('conn') == 2), live('conn'))
    nft('delete table inet lose')
    FIN_TIMEOUT.write_text(patience, encoding='ascii')
    end(pair)


def short_of_memory():
    """At the limit, an element that nobody uses serves, whatever size was wanted."""
    smc.sysctl('smcr_idle_timeout', 600)
    smc.sysctl('smcr_rmem', 8 * BUFFER)
    smc.sysctl('rmem', 16 * BUFFER)
    connect(socket.AF_INET, R2).close()
    check('elements are free', smc.eventually(lambda: not technology()['rx-rmb-usage']))
    LIMIT.write_text('1', encoding='ascii')     # MiB; each end has an element of half of it
    smc.sysctl('rmem', 4 * BUFFER)
    pair = connect(socket.AF_INET, R2)
    smc.send_all(pair.client, pair.server, 1000)
    becomes('both ends have that', lambda: technology()['rx-rmb-usage'], 16 * BUFFER)
    LIMIT.write_text('0', encoding='ascii')
    smc.sysctl('rmem', BUFFER)
    smc.sysctl('smcr_idle_timeout', 1)
    end(pair)


def pieces(small):
    """From now on there is no memory in pieces of as many pages as an element has, or there is."""
    settings = {'verbose': 0, 'min-order': ORDER, 'ignore-gfp-wait': 'N', 'times': -1}
    for name, value in {**settings, 'probability': 100 if small else 0}.items():
        (FAIL_PAGES / name).write_text(str(value), encoding='ascii')


def fragmented():
    """There is memory, but in small pieces: elements are smaller, and the connection is SMC-R."""
    if not FAIL_PAGES.exists():
        print('# this kernel always has large pieces')
        return
    pieces(True)
    pairs = [connect(socket.AF_INET, R2) for _ in range(3)]
    pieces(False)
    becomes('they are half as large', lambda: technology()['rx-rmb-usage'], len(pairs) * BUFFER)
    for pair in pairs:
        smc.send_all(pair.client, pair.server, 1000)
        smc.send_all(pair.server, pair.client, 1000)
    whole = connect(socket.AF_INET, R2)
    becomes('but not when there are large pieces', lambda: technology()['rx-rmb-usage'],
            (len(pairs) + 2) * BUFFER)
    for pair in pairs:
        pair.close()
    end(whole)


def send_buffers():
    return sum(m['lgr-smcr']['sndbuf-alloc'] for m in GEN.show('get-lgr-smcr'))


def memory_given_back():
    """
    What nobody needs for a tenth of the idle time goes, and the peer hears of it (R-RK-13 to R-RK-15);
    what is needed works on, and more can be had again.
    """
    smc.sysctl('smcr_idle_timeout', 20)
    smc.sysctl('smcr_testlink_time', 1)         # that often somebody looks
    lasting = connect(socket.AF_INET, R2)
    for turn in ('first', 'second'):
        pairs = [connect(socket.AF_INET, R2) for _ in range(12)]
        check(f'{turn} time: several RMBs', live('rmb') > 2, live('rmb'))
        for pair in pairs:
            smc.send_all(pair.client, pair.server, 1000)
            pair.close()
        check(f'{turn} time: one is left at each end', smc.eventually(lambda: live('rmb') == 2),
              live('rmb'))
        check(f'{turn} time: send rings go', smc.eventually(
            lambda: send_buffers() == 2 * START), send_buffers())
        smc.send_all(lasting.client, lasting.server, 10000)
    smc.sysctl('smcr_testlink_time', 30)
    smc.sysctl('smcr_idle_timeout', 1)
    lasting.close()


def nothing_fell_back():
    equal('no fallback', GEN.show('get-fback-stats'), [])


smc.sysctl('rmem', BUFFER)
smc.sysctl('wmem', BUFFER)
smc.sysctl('smcr_idle_timeout', 1)
GEN, DIAG = Family('smc'), Diag()
GEN.set('flush-ueid')
GEN.set('add-ueid', eid('SMCRTEST'))
run(two_devices, elsewhere, connections, held_back, larger_than_ring, pnet, renamed, unplugged,
    plugged_in_again, given_up, short_of_memory, fragmented, memory_given_back, nothing_fell_back)
