#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: dissect.py CAPTURE

What tshark says of captured connections over SMC-R, both versions: it knows each of our messages, finds
nothing malformed, and has seen every kind of them. Prints test points.

Version 4.0 takes a Proposal of version 1 for malformed, also one built from RFC 7609, A.2.2 by hand. As
long as it does so, ours may look like that one.
"""

import subprocess
import sys
from collections import Counter

FIELDS = ('frame.number', 'infiniband.bth.opcode', 'smc.clc_msg', 'smc.llc_msg',
          '_ws.malformed', '_ws.expert.severity', 'smc.confirm.link.response',
          'smc.test.link.response', 'smc.confirm.rkey.response', '_ws.col.Info')
ERROR = 0x800000                # severity of what tshark takes for an error
SENDS = range(0, 6)             # opcodes of RC that carry a message or a part of one
CLC = {1: 'Proposal', 2: 'Accept', 3: 'Confirm', 4: 'Decline'}
CDC = 0xfe
LLC = {1: 'CONFIRM LINK', 2: 'ADD LINK', 4: 'DELETE LINK', 6: 'CONFIRM RKEY', 7: 'TEST LINK'}
V2 = 0x20
PROPOSAL_V1 = '[SMC-R-Proposal]'    # in the column of information
EXAMPLE = bytes.fromhex('e2d4c3d901003410 567802000000000b fe80000000000000000000fffe00000b'
                        '02000000000b 0000 c0000200 18 0000 00 e2d4c3d9')


class Frame:
    """One line of tshark, with numbers where there are some."""

    def __init__(self, line):
        values = dict(zip(FIELDS, line.rstrip('\n').split('\t')))
        self.number = values['frame.number']
        self.info = values['_ws.col.Info']
        self.opcode = number(values['infiniband.bth.opcode'])
        self.clc = numbers(values['smc.clc_msg'])
        self.llc = number(values['smc.llc_msg'])
        self.malformed = values['_ws.malformed']
        self.severities = numbers(values['_ws.expert.severity'])
        self.response = any(values[name] in ('1', 'True') for name in FIELDS
                            if name.endswith('.response'))

    def is_bad(self):
        return self.malformed or any(severity >= ERROR for severity in self.severities)

    def __repr__(self):
        return f'{self.number}: {self.info} {self.malformed}'


def number(text):
    return int(text, 0) if text else None


def numbers(text):
    return [int(part, 0) for part in text.split(',') if part]


def output_of(command, given=None):
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f'{command[0]}: {done.stderr.decode()}')
    return done.stdout


def frames(capture, given=None):
    # RoCE has a checksum of its own
    command = ['tshark', '-n', '-o', 'udp.ignore_ipv6_zero_checksum:TRUE', '-r', capture,
               '-T', 'fields']
    for field in FIELDS:
        command += ['-e', field]
    return [Frame(line) for line in output_of(command, given).decode().splitlines()]


def example_is_malformed():
    """Whether this tshark has a problem with what the specification says."""
    dump = '0000 ' + EXAMPLE.hex(' ') + '\n'
    capture = output_of(['text2pcap', '-q', '-T', '5000,5001', '-', '-'], dump.encode())
    return frames('-', capture)[0].is_bad()


def point(name, good, *details):
    print(f'{"ok" if good else "not ok"} - {name}')
    for detail in details if not good else ():
        print(f'#   {detail}')
    return bool(good)


def kinds(seen):
    """How often each kind of message was seen."""
    found = Counter()
    for frame in seen:
        found.update(CLC.get(kind, f'CLC {kind}') for kind in frame.clc)
        if frame.llc == CDC:
            found['CDC'] += 1
        elif frame.llc:
            version = 2 if frame.llc & V2 else 1
            name = LLC.get(frame.llc & ~V2, f'LLC {frame.llc:#x}')
            found[f'{name} {"reply" if frame.response else "request"} of version {version}'] += 1
    return found


def wanted():
    yield from CLC.values()
    yield 'CDC'
    for version in 1, 2:
        yield f'ADD LINK request of version {version}'
        yield f'DELETE LINK request of version {version}'
        for name in 'CONFIRM LINK', 'CONFIRM RKEY', 'TEST LINK':
            yield f'{name} request of version {version}'
            yield f'{name} reply of version {version}'


def main():
    seen = frames(sys.argv[1])
    good = point('there are frames', len(seen) > 100, len(seen))
    excused = example_is_malformed()
    bad = [frame for frame in seen
           if frame.is_bad() and not (excused and frame.info.startswith(PROPOSAL_V1))]
    good &= point('nothing is malformed', not bad, *bad[:20])
    unknown = [frame for frame in seen if frame.opcode in SENDS and not frame.llc]
    good &= point('every message on a link is known', not unknown, *unknown[:20])
    found = kinds(seen)
    print(f'# {dict(found)}')
    for name in wanted():
        good &= point(f'seen: {name}', found[name], *found.items())
    sys.exit(int(not good))


if __name__ == '__main__':
    main()
