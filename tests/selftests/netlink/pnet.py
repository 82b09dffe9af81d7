#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""SMC_PNETID: the PNET table, good and bad requests."""

import errno
import os

import nl
import smc
from cases import accepted, check, equal, refused, run
from spec import Family

GET, ADD, DEL, FLUSH = 1, 2, 3, 4
NAME, ETH, IB, PORT = 1, 2, 3, 4
MOST = 1024


def entry(name=None, eth=None, ib=None, port=None):
    data = b''
    for number, value in ((NAME, name), (ETH, eth), (IB, ib), (PORT, port)):
        if value is not None:
            data += nl.attr(number, value)
    return data


def add(*args, **named):
    return FAMILY.do(ADD, entry(*args, **named))


def table():
    return [tuple(m.values()) for m in FAMILY.show('get')]


def family():
    info = FAMILY.info
    equal('version', int.from_bytes(info[3], 'little'), 1)
    equal('no family header', int.from_bytes(info[4], 'little'), 0)
    equal('four attributes', int.from_bytes(info[5], 'little'), 4)
    equal('one multicast group', list(FAMILY.groups()), ['events'])
    equal('commands and flags', FAMILY.operations(), 
          {GET: 0x0e, ADD: 0x1a, DEL: 0x1a, FLUSH: 0x1a})
    for command in (GET, ADD, DEL, FLUSH):
        equal(f'policy of command {command}', FAMILY.policy(command), {
            NAME: {nl.POLICY_TYPE: nl.TYPE_NUL_STRING, nl.POLICY_MAX_LENGTH: 16},
            ETH: {nl.POLICY_TYPE: nl.TYPE_NUL_STRING, nl.POLICY_MAX_LENGTH: 15},
            IB: {nl.POLICY_TYPE: nl.TYPE_NUL_STRING, nl.POLICY_MAX_LENGTH: 63},
            PORT: FAMILY.policy(command).get(PORT)})
        equal(f'the port is a byte for command {command}',
              FAMILY.policy(command)[PORT][nl.POLICY_TYPE], nl.TYPE_U8)


def add_and_delete():
    equal('empty at first', table(), [])
    accepted('flushing nothing is fine', FAMILY.do(FLUSH))
    accepted('an interface', add('NETA', eth='eth0'))
    accepted('an interface that does not exist', add('NETA', eth='nosuch'))
    accepted('a device', add('NETB', ib='rxe0', port=2))
    accepted('a device without port', add('NETB', ib='lo'))
    accepted('both', add('NET0123456789ABC', eth='eth1', ib='mlx5_0', port=6))
    equal('all are shown', table(), [
        ('NETA', 'eth0', 'n/a', 255), ('NETA', 'nosuch', 'n/a', 255), ('NETB', 'n/a', 'rxe0', 2),
        ('NETB', 'n/a', 'lo', 1), ('NET0123456789ABC', 'eth1', 'n/a', 255),
        ('NET0123456789ABC', 'n/a', 'mlx5_0', 6)])
    accepted('lower case', add('abc9', eth='eth2'))
    equal('becomes upper case', table()[-1], ('ABC9', 'eth2', 'n/a', 255))

    accepted('delete NETA', FAMILY.do(DEL, entry('NETA')))
    check('both entries of it are gone', 'NETA' not in [e[0] for e in table()], table())
    refused('delete it again', FAMILY.do(DEL, entry('NETA')), errno.ENOENT, 'no such')
    refused('delete in lower case', FAMILY.do(DEL, entry('abc9')), errno.ENOENT)
    accepted('flush', FAMILY.do(FLUSH))
    equal('all are gone', table(), [])
    accepted('flush again', FAMILY.do(FLUSH))


def exists():
    accepted('an interface', add('NETA', eth='eth0'))
    accepted('a device', add('NETA', ib='rxe0', port=1))
    before = table()
    for name in ('NETA', 'NETB'):
        refused(f'the interface again, {name}', add(name, eth='eth0'), errno.EEXIST, 'already')
        refused(f'the device again, {name}', add(name, ib='rxe0', port=1), errno.EEXIST, 'already')
        refused(f'the interface and another device, {name}', add(name, eth='eth0', ib='rxe1'),
                errno.EEXIST)
        refused(f'another interface and the device, {name}', add(name, eth='eth1', ib='rxe0'),
                errno.EEXIST)
    equal('nothing was added, no halves either', table(), before)
    accepted('another port of the device', add('NETB', ib='rxe0', port=2))
    accepted('a device with the name of the interface', add('NETB', ib='eth0'))
    accepted('flush', FAMILY.do(FLUSH))


def get_one():
    accepted('an interface', add('NETA', eth='eth0'))
    accepted('a device', add('NETB', ib='rxe0', port=1))
    accepted('another', add('NETA', ib='rxe1', port=1))

    answer = FAMILY.do(GET, entry('NETA'))
    equal('its entries', [FAMILY.spec.decode('pnetid', m.genl()[2])['ethname']
                          for m in answer.messages], ['eth0', 'n/a'])
    equal('as a list', {(m.flags, m.genl()[:2]) for m in answer.messages}, {(nl.F_MULTI, (GET, 1))})
    equal('an empty NLMSG_DONE, then the ACK', (answer.done, answer.done_length, answer.acked),
          (True, 0, True))
    for name in ('NETC', 'neta', 'NET'):
        answer = FAMILY.do(GET, entry(name))
        equal(f'{name}: an empty list', (answer.messages, answer.done, answer.error), ([], True, 0))
    refused('without a name', FAMILY.do(GET), errno.EINVAL, 'missing')
    answer = FAMILY.dump(GET, entry('NETB'))
    equal('a dump ignores the name', (len(answer.messages), answer.error), (3, 0))
    accepted('flush', FAMILY.do(FLUSH))


def bad_names():
    for name, why in (('A B', 'a blank'), ('A_B', 'an underscore'), ('A.B', 'a dot'), ('', 'empty'),
                      (' ', 'one blank'), ('A' * 17, 'too long'), ('Ä', 'no ASCII'),
                      (b'NETA', 'no NUL'), (b'', 'no bytes')):
        refused(f'{why}', add(name, eth='eth0'), errno.EINVAL)
    for name, why in (('', 'empty'), ('a/b', 'a slash'), ('a b', 'a blank'), ('..', 'two dots'),
                      ('x' * 16, 'too long'), (b'eth0', 'no NUL')):
        refused(f'interface: {why}', add('NETA', eth=name), errno.EINVAL)
    for name, why in (('', 'empty'), ('x' * 64, 'too long'), (b'rxe0', 'no NUL')):
        refused(f'device: {why}', add('NETA', ib=name), errno.EINVAL)
    for port in (0, 7, 255):
        refused(f'port {port}', add('NETA', ib='rxe0', port=port), errno.EINVAL, '1 to 6')
    for port in (b'', b'\1\0', b'\1\0\0\0'):
        refused(f'a port of {len(port)} bytes', add('NETA', ib='rxe0', port=port), errno.EINVAL)
    equal('nothing was added', table(), [])
    accepted('the longest names', add('A' * 16, eth='x' * 15, ib='y' * 63, port=6))
    equal('are kept', table(), [('A' * 16, 'x' * 15, 'n/a', 255), ('A' * 16, 'n/a', 'y' * 63, 6)])
    accepted('flush', FAMILY.do(FLUSH))


def bad_requests():
    refused('no name', add(eth='eth0'), errno.EINVAL, 'missing')
    refused('a name only', add('NETA'), errno.EINVAL, 'Neither')
    refused('a name and a port only', add('NETA', port=1), errno.EINVAL, 'Neither')
    refused('two names', FAMILY.do(ADD, entry('NETA') + entry('NETB', eth='eth0')), errno.EINVAL,
            'twice')
    refused('two interfaces', FAMILY.do(ADD, entry('NETA', eth='eth0') + nl.attr(ETH, 'eth1')),
            errno.EINVAL, 'twice')
    refused('attribute 5', FAMILY.do(ADD, entry('NETA', eth='eth0') + nl.attr(5, 1)), errno.EINVAL,
            'nknown')
    refused('attribute 0', FAMILY.do(ADD, entry('NETA', eth='eth0') + nl.attr(0, 1)), errno.EINVAL,
            'nknown')
    refused('delete without a name', FAMILY.do(DEL), errno.EINVAL, 'missing')
    equal('nothing was added', table(), [])
    for command in (ADD, DEL, FLUSH):
        refused(f'command {command} cannot be dumped', FAMILY.dump(command), errno.EOPNOTSUPP)
    for command in (0, 5, 255):
        refused(f'no command {command}', FAMILY.do(command), errno.EOPNOTSUPP)
    for version in (0, 2, 255):
        answer = FAMILY.dump(GET, version=version)
        equal(f'version {version} is accepted', (answer.error, answer.done), (0, True))


def large():
    """More entries than fit into one message, read with a small buffer, and changed meanwhile."""
    small = Family('smc_pnetid', room=4096)
    wanted = []
    for number in range(500):
        FAMILY.do(ADD, entry('NETA', ib=f'device-with-a-rather-long-name-{number}'))
        wanted.append(f'device-with-a-rather-long-name-{number}')
    answer = small.dump(GET)
    check('in several parts', answer.parts > 5, answer.parts)
    equal('all are there, once', [FAMILY.spec.decode('pnetid', m.genl()[2])['ibname']
                                  for m in answer.messages], wanted)
    answer = small.do(GET, entry('NETA'))
    equal('the same without a dump', len(answer.messages), 500)

    small.send(small.family, nl.F_REQUEST | nl.F_DUMP, nl.GENL.pack(GET, 1, 0))
    first = list(small.messages())
    FAMILY.do(FLUSH)
    rest = small.receive(wants_ack=False)
    check('a table that is flushed during a dump ends it',
          rest.done and len(first) + len(rest.messages) < 500, rest)
    equal('it is empty', table(), [])


def full():
    """There is an end to it, and what was removed makes room."""
    for number in range(MOST):
        answer = add('NETA' if number else 'NETB', ib=f'device{number}')
        if answer.error:
            break
    equal('entries', len(table()), MOST)
    refused('one more', add('NETA', eth='eth0'), errno.ENOSPC, 'full')
    accepted('delete one', FAMILY.do(DEL, entry('NETB')))
    refused('two more', add('NETA', eth='eth0', ib='rxe0'), errno.ENOSPC, 'full')
    accepted('one', add('NETA', eth='eth0'))
    accepted('flush', FAMILY.do(FLUSH))
    accepted('room again', add('NETA', eth='eth0', ib='rxe0'))
    accepted('flush', FAMILY.do(FLUSH))


def one_per_namespace():
    accepted('add here', add('HERE', eth='eth0'))
    pid = os.fork()
    if not pid:
        status = 1
        try:
            nl.namespace('other')
            other = Family('smc_pnetid')
            fine = not other.show('get')
            fine &= not other.do(ADD, entry('THERE', eth='eth0')).error
            status = int(not fine)
        finally:
            os._exit(status)
    equal('another namespace has its own table', os.waitpid(pid, 0)[1], 0)
    equal('and changed nothing here', table(), [('HERE', 'eth0', 'n/a', 255)])
    accepted('flush', FAMILY.do(FLUSH))


def unprivileged():
    accepted('add', add('NETA', eth='eth0'))
    check('anyone may look', smc.as_nobody(lambda: len(Family('smc_pnetid').show('get')) == 1))
    check('at one of them as well', smc.as_nobody(
        lambda: len(Family('smc_pnetid').do(GET, entry('NETA')).messages) == 1))
    for command, data in ((ADD, entry('NETB', eth='eth1')), (DEL, entry('NETA')), (FLUSH, b'')):
        check(f'command {command} needs CAP_NET_ADMIN', smc.as_nobody(
            lambda c=command, d=data: Family('smc_pnetid').do(c, d).error == errno.EPERM))
    equal('nothing has changed', table(), [('NETA', 'eth0', 'n/a', 255)])
    accepted('flush', FAMILY.do(FLUSH))


def tenant():
    """An unprivileged user with a namespace of its own sets up that one, and no other one."""
    def own():
        nl.own_namespace()
        other = Family('smc_pnetid')
        fine = not other.do(ADD, entry('THERE', eth='eth0')).error and len(other.show('get')) == 1
        fine &= not other.do(DEL, entry('THERE')).error
        fine &= not other.do(FLUSH).error
        return fine and not other.show('get')
    check('its own table', smc.as_nobody(own))
    accepted('add', add('NETA', eth='eth0'))

    def others():
        there = Family('smc_pnetid')
        nl.own_namespace()
        return there.do(FLUSH).error == errno.EPERM
    check('not that of another socket', smc.as_nobody(others))
    equal('nothing has changed', table(), [('NETA', 'eth0', 'n/a', 255)])
    accepted('flush', FAMILY.do(FLUSH))


def shown_with_devices():
    """The loopback device is called lo."""
    gen = Family('smc')
    accepted('name the network of the device', add('NETLO', ib='lo', port=1))
    equal('the device shows it', gen.show('get-dev-smcd')[0]['dev-smcd']['port'],
          {'pnet-usr': 1, 'pnetid': 'NETLO'})
    pair = smc.Pair()
    equal('link groups on it do', {m['lgr-smcd']['pnetid'] for m in gen.show('get-lgr-smcd')},
          {'NETLO'})
    pair.close()
    accepted('flush', FAMILY.do(FLUSH))
    equal('the device has none any more', gen.show('get-dev-smcd')[0]['dev-smcd']['port'],
          {'pnet-usr': 0, 'pnetid': ''})


FAMILY = Family('smc_pnetid')
run(family, add_and_delete, exists, get_one, bad_names, bad_requests, large, full, one_per_namespace,
    unprivileged, tenant, shown_with_devices)
