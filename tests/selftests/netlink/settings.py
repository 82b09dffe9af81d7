#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""SMC_GEN_NETLINK: user EIDs, the system EID and the handshake limitation, good and bad requests."""

import errno
import os

import nl
import smc
from cases import accepted, check, equal, refused, run
from spec import Family

ENTRY = 1


def eid(name):
    return nl.attr(ENTRY, f'{name:32}')


def ueids():
    return [m['entry'].rstrip() for m in FAMILY.show('dump-ueid')]


def seid_enabled():
    return FAMILY.show('dump-seid')[0]['enabled']


def limited():
    return FAMILY.show('dump-hs-limitation')


def add_and_remove():
    equal('no user EID at first', ueids(), [])
    equal('flushing nothing is fine', FAMILY.set('flush-ueid').error, 0)
    for name in ('A', 'B.C-D9', '9', 'X' * 32):
        accepted(f'add {name}', FAMILY.set('add-ueid', eid(name)))
    equal('they are shown in order', ueids(), ['A', 'B.C-D9', '9', 'X' * 32])
    equal('padded to 32 characters', [len(m['entry']) for m in FAMILY.show('dump-ueid')], [32] * 4)

    refused('a fifth', FAMILY.set('add-ueid', eid('FIFTH')), errno.ERANGE, 'more than 4')
    refused('one that is there', FAMILY.set('add-ueid', eid('9')), errno.EEXIST, 'already')
    refused('remove one that is not there', FAMILY.set('remove-ueid', eid('FIFTH')), errno.ENOENT,
            'no such')
    equal('none of that changed anything', ueids(), ['A', 'B.C-D9', '9', 'X' * 32])

    accepted('remove the second', FAMILY.set('remove-ueid', eid('B.C-D9')))
    equal('the others stay', ueids(), ['A', '9', 'X' * 32])
    accepted('there is room again', FAMILY.set('add-ueid', eid('FIFTH')))
    equal('it is the last', ueids(), ['A', '9', 'X' * 32, 'FIFTH'])
    accepted('flush', FAMILY.set('flush-ueid'))
    equal('all are gone', ueids(), [])


def bad_names():
    """Errors as the tools know them: EINVAL, and ERANGE when it is too long."""
    for name, why in (('a', 'lower case'), ('.A', 'a dot first'), ('-A', 'a dash first'),
                      ('A..B', 'two dots'), ('A_B', 'an underscore'), ('A B', 'a blank within'),
                      (' A', 'a blank first'), ('', 'blanks only'), ('A\x01', 'a control character'),
                      ('\x7f', 'no letter'), ('A\0', 'a NUL within')):
        for command in ('add-ueid', 'remove-ueid'):
            refused(f'{command}: {why}', FAMILY.set(command, eid(name)), errno.EINVAL, ' ')
    for length in (0, 1, 31):
        refused(f'{length} characters', FAMILY.set('add-ueid', nl.attr(ENTRY, 'A' * length)),
                errno.EINVAL)
    for length in (33, 64, 4000):
        refused(f'{length} characters', FAMILY.set('add-ueid', nl.attr(ENTRY, 'A' * length)),
                errno.ERANGE)
    accepted('32 characters without NUL', FAMILY.set('add-ueid', nl.attr(ENTRY, b'N' * 32)))
    equal('only that one was added', ueids(), ['N' * 32])
    accepted('flush', FAMILY.set('flush-ueid'))


def bad_requests():
    for command in ('add-ueid', 'remove-ueid'):
        refused(f'{command}: nothing', FAMILY.set(command), errno.EINVAL, 'missing')
        refused(f'{command}: twice the same', FAMILY.set(command, eid('A'), eid('A')), errno.EINVAL,
                'twice')
        refused(f'{command}: two', FAMILY.set(command, eid('A'), eid('B')), errno.EINVAL, 'twice')
        refused(f'{command}: another attribute', FAMILY.set(command, eid('A'), nl.attr(2, 'A')),
                errno.EINVAL, 'nknown')
        refused(f'{command}: attribute 0', FAMILY.set(command, nl.attr(0, 'A' * 32)), errno.EINVAL,
                'nknown')
        refused(f'{command}: a nest', FAMILY.set(command, nl.attr(ENTRY, 'A' * 32, nested=True)),
                errno.EINVAL)
        refused(f'{command}: an empty attribute', FAMILY.set(command, nl.attr(ENTRY, b'')),
                errno.ERANGE)
        refused(f'{command}: cut off', FAMILY.set(command, nl.ATTR.pack(37, ENTRY) + b'A' * 8),
                errno.EINVAL)
    for command in ('flush-ueid', 'enable-seid', 'disable-seid', 'enable-hs-limitation',
                    'disable-hs-limitation'):
        refused(f'{command}: an attribute', FAMILY.set(command, eid('A')), errno.EINVAL)
    equal('nothing was added', ueids(), [])
    equal('nothing was switched', (seid_enabled(), limited()), (1, [{'enabled': 0}]))
    check('what is wrong is pointed at',
          FAMILY.set('add-ueid', eid('a')).offset == nl.HEADER.size + nl.GENL.size)


def system_eid():
    equal('on at first', seid_enabled(), 1)
    refused('without user EIDs it must stay', FAMILY.set('disable-seid'), errno.ENOENT, 'No user EID')
    equal('it stays', seid_enabled(), 1)
    accepted('on when it is on', FAMILY.set('enable-seid'))

    accepted('add A', FAMILY.set('add-ueid', eid('A')))
    accepted('add B', FAMILY.set('add-ueid', eid('B')))
    accepted('off', FAMILY.set('disable-seid'))
    equal('it is off', seid_enabled(), 0)
    accepted('off when it is off', FAMILY.set('disable-seid'))
    accepted('remove A', FAMILY.set('remove-ueid', eid('A')))
    equal('it is still off', seid_enabled(), 0)
    refused('remove B, the last one', FAMILY.set('remove-ueid', eid('B')), errno.EAGAIN,
            'switched on')
    equal('B is gone', ueids(), [])
    equal('the system EID is on', seid_enabled(), 1)

    accepted('add C', FAMILY.set('add-ueid', eid('C')))
    accepted('remove the last one while the system EID is on', FAMILY.set('remove-ueid', eid('C')))
    accepted('add D', FAMILY.set('add-ueid', eid('D')))
    accepted('off', FAMILY.set('disable-seid'))
    accepted('flush', FAMILY.set('flush-ueid'))
    equal('the system EID is on after a flush', (ueids(), seid_enabled()), ([], 1))


def used_for_connections():
    """What is shown is what is used: connections carry the EID that is common."""
    accepted('add COMMON', FAMILY.set('add-ueid', eid('COMMON')))
    accepted('system EID off', FAMILY.set('disable-seid'))
    pair = smc.Pair()
    equal('link groups of the user EID', {m['lgr-smcd']['v2-common']['neg-eid'].rstrip()
                                          for m in FAMILY.show('get-lgr-smcd')}, {'COMMON'})
    refused('remove it', FAMILY.set('remove-ueid', eid('COMMON')), errno.EAGAIN)
    equal('its link groups stay', len(FAMILY.show('get-lgr-smcd')), 2)
    other = smc.Pair()
    equal('a new connection uses the system EID',
          sorted(m['lgr-smcd']['v2-common']['neg-eid'].rstrip() != 'COMMON'
                 for m in FAMILY.show('get-lgr-smcd')), [False, False, True, True])
    pair.close()
    other.close()


def limitation():
    equal('off at first', limited(), [{'enabled': 0}])
    accepted('on', FAMILY.set('enable-hs-limitation'))
    equal('it is on', limited(), [{'enabled': 1}])
    equal('the sysctl says so', smc.sysctl('limit_smc_hs'), 1)
    accepted('on again', FAMILY.set('enable-hs-limitation'))
    smc.sysctl('limit_smc_hs', 0)
    equal('it is the same switch', limited(), [{'enabled': 0}])
    smc.sysctl('limit_smc_hs', 1)
    equal('both ways', limited(), [{'enabled': 1}])
    accepted('off', FAMILY.set('disable-hs-limitation'))
    equal('it is off', (limited(), smc.sysctl('limit_smc_hs')), ([{'enabled': 0}], 0))


def one_per_namespace():
    accepted('add HERE', FAMILY.set('add-ueid', eid('HERE')))
    pid = os.fork()
    if not pid:
        status = 1
        try:
            nl.namespace('other')
            other = Family('smc')
            fine = not other.show('dump-ueid')
            fine &= not other.set('add-ueid', eid('THERE')).error
            fine &= not other.set('disable-seid').error
            fine &= not other.set('enable-hs-limitation').error
            status = int(not fine)
        finally:
            os._exit(status)
    equal('another namespace has its own', os.waitpid(pid, 0)[1], 0)
    equal('and changed nothing here', (ueids(), seid_enabled(), limited()),
          (['HERE'], 1, [{'enabled': 0}]))
    accepted('flush', FAMILY.set('flush-ueid'))


def tenant():
    """An unprivileged user with a namespace of its own sets up that one."""
    def own():
        nl.own_namespace()
        other = Family('smc')
        requests = (('add-ueid', eid('THERE')), ('disable-seid', b''), ('enable-seid', b''),
                    ('remove-ueid', eid('THERE')), ('flush-ueid', b''),
                    ('enable-hs-limitation', b''), ('disable-hs-limitation', b''))
        return not any(other.set(command, data).error for command, data in requests)
    check('its own settings', smc.as_nobody(own))
    equal('nothing has changed', (ueids(), seid_enabled(), limited()), ([], 1, [{'enabled': 0}]))


def unprivileged():
    accepted('add A', FAMILY.set('add-ueid', eid('A')))
    for command, data in (('add-ueid', eid('B')), ('remove-ueid', eid('A')), ('flush-ueid', b''),
                          ('disable-seid', b''), ('enable-hs-limitation', b'')):
        check(f'{command} needs CAP_NET_ADMIN', smc.as_nobody(
            lambda c=command, d=data: Family('smc').set(c, d).error == errno.EPERM))
    equal('nothing has changed', (ueids(), seid_enabled(), limited()), (['A'], 1, [{'enabled': 0}]))
    accepted('flush', FAMILY.set('flush-ueid'))


FAMILY = Family('smc')
run(add_and_remove, bad_names, bad_requests, system_eid, used_for_connections, limitation,
    one_per_namespace, unprivileged, tenant)
