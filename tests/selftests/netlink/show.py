#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""SMC_GEN_NETLINK: what it shows, compared field by field with what must be there."""

import ast
import errno
import os
import socket
import struct
import subprocess

import nl
import smc
from cases import accepted, becomes, check, equal, refused, run
from nl import LIMIT
from spec import Family

GROWN = 65536           # bytes of a ring into which 20000 were written
MOST = 512 << 10        # bytes of the largest ring
DUMP_FLAGS, DO_FLAGS = 0x0c, 0x1a       # dump + policy; do + policy + admin
SHOWS = ('get-sys-info', 'get-lgr-smcr', 'get-link-smcr', 'get-lgr-smcd', 'get-dev-smcd',
         'get-dev-smcr', 'get-stats', 'get-fback-stats', 'dump-ueid', 'dump-seid',
         'dump-hs-limitation')
SIZES = ['8k', '16k', '32k', '64k', '128k', '256k', '512k', '1024k', 'g-1024k']
EVENTS = ['reuse-cnt', 'size-sm-peer-cnt', 'size-sm-cnt', 'full-peer-cnt', 'full-cnt', 'alloc-cnt',
          'dgrade-cnt']
TECHNOLOGY = ['tx-rmb-stats', 'rx-rmb-stats', 'txpload-size', 'rxpload-size', 'tx-rmb-size',
              'rx-rmb-size', 'clnt-v1-succ', 'clnt-v2-succ', 'srv-v1-succ', 'srv-v2-succ',
              'rx-bytes', 'tx-bytes', 'rx-rmb-usage', 'tx-rmb-usage', 'rx-cnt', 'tx-cnt',
              'sendpage-cnt', 'cork-cnt', 'ndly-cnt', 'splice-cnt', 'urg-data-cnt',
              'violation-cnt', 'abort-tx-cnt', 'abort-rx-cnt', 'wakeup-saved-cnt', 'busy-poll-cnt',
              'abort-app-cnt', 'abort-tcp-cnt', 'abort-link-cnt', 'abort-timeout-cnt',
              'abort-orphan-cnt', 'ring-grown-cnt', 'ring-stuck-cnt', 'ring-shrunk-cnt']
TIMES = ['100us', '250us', '500us', '1ms', '2500us', '5ms', '10ms', '25ms', '100ms', '1s', 'g-1s']


def requests():
    return [(name, op) for name, op in FAMILY.spec.operations.items() if 'event' not in op]


def stats():
    messages = FAMILY.show('get-stats')
    equal('the counters are one message', len(messages), 1)
    return messages[0]['stats']


def family():
    info = FAMILY.info
    equal('version', int.from_bytes(info[3], 'little'), 1)
    equal('no family header', int.from_bytes(info[4], 'little'), 0)
    equal('one attribute at most', int.from_bytes(info[5], 'little'), 1)
    wanted = {op['value']: DUMP_FLAGS if 'dump' in op else DO_FLAGS
              for op in FAMILY.spec.operations.values() if 'event' not in op}
    equal('one multicast group', list(FAMILY.groups()), ['events'])
    equal('commands and their flags are those of the specification', FAMILY.operations(), wanted)


def policies():
    for name, op in requests():
        takes = op.get('do', {}).get('request', {}).get('attributes', [])
        policy = FAMILY.policy(op['value'])
        if takes:
            equal(f'{name}: a string of 32 characters', policy,
                  {1: {nl.POLICY_TYPE: nl.TYPE_STRING, nl.POLICY_MAX_LENGTH: 32}})
        else:
            equal(f'{name}: no attribute', policy, {})


def kinds():
    for name, op in requests():
        if 'dump' in op:
            refused(f'{name}: cannot be done', FAMILY.do(op['value']), errno.EOPNOTSUPP)
        else:
            refused(f'{name}: cannot be dumped', FAMILY.dump(op['value']), errno.EOPNOTSUPP)
    for command in (0, 19, 63, 64, 66, 68, 255):
        refused(f'no command {command} to do', FAMILY.do(command), errno.EOPNOTSUPP)
        refused(f'no command {command} to dump', FAMILY.dump(command), errno.EOPNOTSUPP)


def versions_and_flags():
    for version in (0, 2, 255):
        answer = FAMILY.dump(1, version=version)
        equal(f'a request of version {version} is answered with version 1',
              [m.genl()[:2] for m in answer.messages], [(1, 1)])
    answer = FAMILY.dump(7, flags=nl.F_ACK | nl.F_DUMP)
    check('a dump with ACK', len(answer.messages) == 1 and answer.done, answer)
    equal('NLMSG_DONE has the errno only', answer.done_length, 4)


def no_attributes():
    for name in SHOWS:
        for number, text in ((1, 'reject'), (2, 'nknown'), (77, 'nknown')):
            refused(f'{name}: attribute {number}',
                    FAMILY.dump(FAMILY.command(name), nl.attr(number, 'X' * 32)), errno.EINVAL)
    refused('rubbish behind the header', FAMILY.dump(7, b'\1\2\3'), errno.EINVAL)


def sys_info():
    messages = FAMILY.show('get-sys-info')
    equal('one message', len(messages), 1)
    info = messages[0]['sys-info']
    equal('order of attributes', list(info),
          ['ver', 'rel', 'is-ism-v2', 'is-smcr-v2', 'local-host', 'seid'])
    equal('version', (info['ver'], info['rel'], info['is-ism-v2']), (2, 1, 1))
    equal('host name', info['local-host'], f'{os.uname().nodename:32}')
    equal('the system EID is the same everywhere', info['seid'],
          FAMILY.show('dump-seid')[0]['entry'])
    check('it has 32 digits', len(info['seid']) == 32 and int(info['seid'], 16), info['seid'])


def devices():
    messages = FAMILY.show('get-dev-smcd')
    equal('one device', len(messages), 1)
    equal('nobody uses it', messages[0]['dev-smcd'], {
        'use-cnt': 0, 'is-crit': 0, 'pci-fid': 0, 'pci-chid': 0xffff, 'pci-vendor': 0,
        'pci-device': 0, 'pci-id': 'lo', 'port': {'pnet-usr': 0, 'pnetid': ''}})


def nothing_of_smcr():
    for name in ('get-lgr-smcr', 'get-link-smcr', 'get-dev-smcr'):
        answer = FAMILY.dump(FAMILY.command(name))
        check(f'{name}: just the end', answer.done and not answer.messages and not answer.error,
              answer)


def fresh_counters():
    counters = stats()
    equal('order', list(counters), ['smcd-tech', 'smcr-tech', 'clnt-hs-err-cnt', 'srv-hs-err-cnt',
                                    'buffer-used', 'buffer-limit', 'hs-now', 'hs-time',
                                    'path-fail-cnt', 'paths-bad',
                                    'share-used', 'share-limit', 'orphans', 'hs-memory-cnt',
                                    'hs-withdrawn-cnt', 'llc-stray-cnt'])
    for technology in ('smcd-tech', 'smcr-tech'):
        nest = counters[technology]
        equal(f'{technology}: order', list(nest), TECHNOLOGY)
        for name in TECHNOLOGY[:2]:
            equal(f'{technology}: {name}', nest[name], dict.fromkeys(EVENTS, 0))
        for name in TECHNOLOGY[2:6]:
            equal(f'{technology}: {name}', nest[name], dict.fromkeys(SIZES, 0))
        equal(f'{technology}: amounts', [nest[name] for name in TECHNOLOGY[6:]],
              [0] * len(TECHNOLOGY[6:]))
    equal('handshake errors', (counters['clnt-hs-err-cnt'], counters['srv-hs-err-cnt']), (0, 0))
    check('buffers are limited', counters['buffer-limit'] > 1 << 20)
    equal('a quarter is left to other namespaces', counters['share-limit'],
          counters['buffer-limit'] // 4 * 3)
    equal('nothing is held', (counters['share-used'], counters['orphans']), (0, 0))
    equal('no handshake is under way', counters['hs-now'], 0)
    equal('none went through memory', (counters['hs-memory-cnt'], counters['hs-withdrawn-cnt']),
          (0, 0))
    equal('no reply of LLC was late', counters['llc-stray-cnt'], 0)
    equal('none took any time', counters['hs-time'], dict.fromkeys(TIMES, 0))
    equal('no fallbacks, no message', FAMILY.show('get-fback-stats'), [])
    equal('no link groups', FAMILY.show('get-lgr-smcd'), [])


def changes(before, after):
    """What has grown, as nested dicts."""
    found = {}
    for name, value in after.items():
        if isinstance(value, dict):
            inner = changes(before[name], value)
            if inner:
                found[name] = inner
        elif value != before[name]:
            found[name] = value - before[name]
    return found


def grown_to(before, wanted, *ignored):
    """Polls until the counters have grown as wanted; returns how they have."""
    found = {}

    def is_so():
        found.clear()
        found.update(changes(before, stats_quietly()))
        for nest in [found, *(value for value in found.values() if isinstance(value, dict))]:
            for name in ignored:
                nest.pop(name, None)
        return found == wanted
    smc.eventually(is_so)
    return found


def connect():
    """A connection of which both ends are counted; that may come after accept()."""
    before = stats_quietly()
    pair = smc.Pair()
    smc.eventually(lambda: sum(changes(before, stats_quietly()).get('hs-time', {}).values()) == 2)
    return pair


def one_connection():
    before = stats()
    pair = connect()
    try:
        grown = changes(before, stats())
        equal('a connection is counted on both sides', grown.pop('smcd-tech'), {
            'rx-rmb-stats': {'alloc-cnt': 2}, 'rx-rmb-size': {'8k': 2}, 'clnt-v2-succ': 1,
            'srv-v2-succ': 1, 'rx-rmb-usage': 2 * smc.RING})
        equal('both handshakes took some time', sum(grown.pop('hs-time').values()), 2)
        ways = grown.pop('hs-memory-cnt', 0), grown.pop('hs-withdrawn-cnt', 0)
        check('through memory, or not', ways in ((2, 0), (0, 1), (0, 0)), ways)
        equal('its buffers as well', grown, {'buffer-used': 2 * smc.RING, 'share-used': 2 * smc.RING})
        data(pair)
        groups(pair)
    finally:
        pair.close()


def data(pair):
    before = stats()
    with smc.changed_sysctl('rmem_start', MOST):    # the ring does not shrink meanwhile
        smc.send_all(pair.client, pair.server, 20000)
        ring_has_grown(before)
    smc.send_all(pair.client, pair.server, 2 * GROWN)
    becomes('then it is small again', lambda: stats_quietly()['share-used'], 2 * smc.RING)
    small_pieces(pair)


def ring_has_grown(before):
    wanted = {'smcd-tech': {'txpload-size': {'32k': 1}, 'rxpload-size': {'32k': 1}, 'rx-bytes': 20000,
                            'tx-bytes': 20000, 'rx-cnt': 1, 'tx-cnt': 1, 'ring-grown-cnt': 1,
                            'rx-rmb-usage': GROWN - smc.RING},
              'buffer-used': GROWN, 'share-used': GROWN - smc.RING}     # the former one is in the pool
    equal('20000 bytes, for which the ring grows', grown_to(before, wanted, 'wakeup-saved-cnt'), wanted)


def small_pieces(pair):
    before = stats()
    pair.client.send(b'x')
    pair.server.recv(100)
    wanted = {'smcd-tech': {
        'rx-rmb-stats': {'full-cnt': 1}, 'txpload-size': {'8k': 1}, 'rxpload-size': {'8k': 1},
        'rx-bytes': 1, 'tx-bytes': 1, 'rx-cnt': 1, 'tx-cnt': 1}}
    equal('less than was asked for', grown_to(before, wanted, 'wakeup-saved-cnt'), wanted)

    before = stats()['smcd-tech']
    reader, writer = os.pipe()
    pair.client.send(b'xyz')
    equal('bytes to a pipe', os.splice(pair.server.fileno(), writer, 100), 3)
    os.close(reader)
    os.close(writer)
    after = stats()['smcd-tech']
    equal('a splice call', [after[name] - before[name] for name in ('splice-cnt', 'rx-bytes')],
          [1, 3])

    before = stats()
    pair.client.send(b'')
    equal('nothing', changes(before, stats()), {
        'smcd-tech': {'txpload-size': {'8k': 1}, 'tx-cnt': 1}})


def groups(pair):
    messages = [m['lgr-smcd'] for m in FAMILY.show('get-lgr-smcd')]
    equal('each side has a link group', len(messages), 2)
    first, second = messages
    # The server forms its group first, and lists it when the client's is there
    check('latest first, numbers end with 00', first['id'] < second['id']
          and not first['id'] & 0xff and not second['id'] & 0xff, messages)
    for group in messages:
        common = group.pop('v2-common')
        equal('what was agreed', common, {
            'ver': 2, 'rel': 1, 'os': 2, 'peer-host': f'{os.uname().nodename:32}',
            'neg-eid': FAMILY.show('dump-seid')[0]['entry']})
        equal('order of attributes', list(group),
              ['id', 'gid', 'ext-gid', 'peer-gid', 'peer-ext-gid', 'vlan-id', 'conns-num', 'chid',
               'pnetid', 'sndbuf-alloc', 'dmb-alloc'])
        equal('both ends have the same device', (group['gid'], group['ext-gid']),
              (group['peer-gid'], group['peer-ext-gid']))
        check('it has an address', group['gid'] and group['ext-gid'])
        equal('the rest', [group[name] for name in ('vlan-id', 'conns-num', 'chid', 'pnetid',
                                                    'sndbuf-alloc')], [0, 1, 0xffff, '', 0])
    equal('the ring of each', [group['dmb-alloc'] for group in messages], [smc.RING] * 2)
    device = FAMILY.show('get-dev-smcd')[0]['dev-smcd']
    equal('the device is in use', (device['use-cnt'], device['is-crit']), (2, 1))

    more = [smc.Pair() for _ in range(3)]
    messages = [m['lgr-smcd'] for m in FAMILY.show('get-lgr-smcd')]
    equal('more connections, same groups',
          sorted((m['conns-num'], m['dmb-alloc']) for m in messages),
          [(4, 4 * smc.RING)] * 2)
    for other in more:
        other.close()
    check('they are gone', smc.eventually(
        lambda: all(m['lgr-smcd']['conns-num'] == 1 for m in FAMILY.show('get-lgr-smcd'))))


def unused_groups():
    """Makes and closes a connection, with the idle time that is set then; returns its groups."""
    smc.Pair().close()
    check('no connection is left', smc.eventually(lambda: not any(
        m['lgr-smcd']['conns-num'] for m in FAMILY.show('get-lgr-smcd'))))
    return {m['lgr-smcd']['id'] for m in FAMILY.show('get-lgr-smcd')}


def groups_stay():
    """As long as the operator says when the last connection leaves."""
    before = smc.sysctl('idle_timeout')
    smc.sysctl('idle_timeout', 10 * LIMIT)
    staying = unused_groups()
    equal('groups stay for a while', len(staying), 2)
    smc.sysctl('idle_timeout', before)
    check('the next connection uses them, and leaves them for less time', unused_groups() <= staying)


def groups_end():
    check('then they end', smc.eventually(lambda: not FAMILY.show('get-lgr-smcd')))
    device = FAMILY.show('get-dev-smcd')[0]['dev-smcd']
    equal('nobody uses the device', (device['use-cnt'], device['is-crit']), (0, 0))
    check('no connection holds buffers',
          smc.eventually(lambda: stats_quietly()['smcd-tech']['rx-rmb-usage'] == 0))


def stats_quietly():
    return FAMILY.show('get-stats')[0]['stats']


def options():
    pair = connect()
    before = stats()
    pair.client.setsockopt(6, 1, 1)     # TCP_NODELAY
    pair.client.setsockopt(6, 3, 1)     # TCP_CORK
    pair.client.setsockopt(6, 3, 0)
    grown = changes(before, stats())
    equal('TCP_NODELAY and TCP_CORK, switched on', grown,
          {'smcd-tech': {'cork-cnt': 1, 'ndly-cnt': 1}})
    pair.close()


def aborts():
    def counted(end, wanted):
        """What is counted as aborts, once that is as wanted."""
        pair = connect()
        before = stats()
        end(pair)
        found = {}

        def is_so():
            found.clear()
            found.update(changes(before, stats_quietly()).get('smcd-tech', {}))
            for name in [name for name in found if 'abort' not in name]:
                del found[name]
            return wanted(found)
        smc.eventually(is_so)
        pair.close()
        return found

    def linger(pair):
        pair.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        pair.client.close()

    def unread(pair):
        pair.server.send(b'x')
        pair.client.close()

    def destroyed(pair):
        """Reset by an administrator."""
        subprocess.run(['ss', '-K', 'dst', '127.0.0.1', 'dport', '=', str(pair.address[1])],
                       check=True, stdout=subprocess.DEVNULL)
        smc.eventually(lambda: pair.client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))

    both = {'abort-tx-cnt': 2, 'abort-rx-cnt': 1}   # the one that was told answers
    closed = {**both, 'abort-app-cnt': 1}
    equal('closed with a lingering time of 0', counted(linger, closed.__eq__), closed)
    equal('closed with unread data', counted(unread, closed.__eq__), closed)
    found = counted(destroyed, lambda found: found.get('abort-tcp-cnt') == 1)
    equal('TCP connection destroyed', found.get('abort-tcp-cnt'), 1)


def one_per_namespace():
    before = stats()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            nl.namespace('other')
            other = Family('smc')
            pair = smc.Pair()

            def is_there():
                inside = other.show('get-stats')[0]['stats']['smcd-tech']['clnt-v2-succ']
                return inside == 1 and len(other.show('get-lgr-smcd')) == 2
            status = 0 if smc.eventually(is_there) else 1
            pair.close()
        finally:
            os._exit(status)
    equal('a connection in another namespace is seen there', os.waitpid(pid, 0)[1], 0)
    grown = changes(before, stats())
    grown.pop('buffer-used', None)
    equal('and not here', grown, {})
    equal('nor its groups', FAMILY.show('get-lgr-smcd'), [])


def in_container(function, name='tenant'):
    """Calls it in a new namespace, where the host has another name; returns its result."""
    readable, writable = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            nl.container(name)
            os.write(writable, repr(function(Family('smc'))).encode())
        finally:
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable, encoding='ascii') as pipe:
        result = pipe.read()
    os.waitpid(pid, 0)
    return ast.literal_eval(result or 'None')


def seen_by(family):
    """What of the host a namespace sees: its name, users of the device, bytes of buffers."""
    return (family.show('get-sys-info')[0]['sys-info']['local-host'].strip(),
            family.show('get-dev-smcd')[0]['dev-smcd']['use-cnt'],
            family.show('get-stats')[0]['stats']['buffer-used'])


def seen_beside_pair(family):
    """The same, and the host names that its peers told, while it has a connection of its own."""
    pair = smc.Pair()
    peers = {m['lgr-smcd']['v2-common']['peer-host'].strip() for m in family.show('get-lgr-smcd')}
    seen = seen_by(family)
    pair.close()
    return seen, peers


def not_of_others():
    """A container is told nothing of the host, nor of what others use."""
    pair = smc.Pair()
    name, used_by, held = seen_by(FAMILY)
    check('the first namespace', name == os.uname().nodename and used_by >= 2 and held,
          seen_by(FAMILY))
    equal('a container', in_container(seen_by), ('', 0, 0))
    equal('one that has a connection', in_container(seen_beside_pair),
          (('tenant', 2, 2 * smc.RING), {'tenant'}))
    equal('one whose name could not be a name', in_container(seen_beside_pair, 'my_tenant'),
          (('', 2, 2 * smc.RING), {''}))
    pair.close()


def unprivileged():
    for name in SHOWS:
        check(f'{name}: anyone may look', smc.as_nobody(
            lambda name=name: Family('smc').show(name) is not None))
    for name, op in FAMILY.spec.operations.items():
        if 'do' in op:
            check(f'{name}: not everyone may do that', smc.as_nobody(
                lambda op=op: Family('smc').do(op['value']).error == errno.EPERM))


def small_buffers():
    room = Family('smc', room=4096)
    accepted('the counters fit into a page', room.dump(7))


FAMILY = Family('smc')
run(family, policies, kinds, versions_and_flags, no_attributes, sys_info, devices,
    nothing_of_smcr, fresh_counters, one_connection, groups_stay, groups_end, options, aborts,
    groups_end, one_per_namespace, not_of_others, unprivileged, small_buffers)
