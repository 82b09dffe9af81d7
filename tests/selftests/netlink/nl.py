# SPDX-License-Identifier: GPL-2.0-only
"""Raw netlink, so that tests see every byte and can send any."""

import errno
import os
import socket
import struct
import subprocess

AF_SMC = 43
IPPROTO_SMC = 256
SOL_NETLINK = 270
NETLINK_ADD_MEMBERSHIP, NETLINK_EXT_ACK = 1, 11
NETLINK_SOCK_DIAG = 4
NETLINK_GENERIC = 16

NLMSG_ERROR, NLMSG_DONE = 2, 3
F_REQUEST, F_MULTI, F_ACK = 0x1, 0x2, 0x4
F_ROOT, F_DUMP = 0x100, 0x300
F_CAPPED, F_ACK_TLVS = 0x100, 0x200
EXTACK_MSG, EXTACK_OFFS = 1, 2
NLA_NESTED, NLA_TYPE = 0x8000, 0x3fff

HEADER = struct.Struct('=IHHII')        # length, type, flags, sequence number, port
GENL = struct.Struct('=BBH')            # command, version, reserved
ATTR = struct.Struct('=HH')             # length, type

CLONE_NEWUTS, CLONE_NEWUSER, CLONE_NEWNET = 0x4000000, 0x10000000, 0x40000000

CTRL = 16                               # the family of families
CTRL_GETFAMILY, CTRL_GETPOLICY = 3, 10
POLICY_TYPE, POLICY_MAX_LENGTH = 1, 7
TYPE_U8, TYPE_STRING, TYPE_NUL_STRING = 2, 11, 12

SLOW = int(os.environ.get('VM_SLOW', 1))
LIMIT = 60 * SLOW                       # seconds for what comes at once on an idle machine


def align(length):
    return (length + 3) & ~3


def attr(number, value, nested=False):
    """One attribute. An int value is an u8, a str is NUL-terminated, bytes are taken as they are."""
    if isinstance(value, int):
        value = bytes([value])
    elif isinstance(value, str):
        value = value.encode() + b'\0'
    data = ATTR.pack(4 + len(value), number | (NLA_NESTED if nested else 0)) + value
    return data + bytes(align(len(data)) - len(data))


def attrs(data):
    """Yields type (with its flags) and value of each attribute; the bytes must be used up."""
    offset = 0
    while offset < len(data):
        if len(data) - offset < 4:
            raise ValueError(f'{len(data) - offset} bytes behind the attributes')
        length, kind = ATTR.unpack_from(data, offset)
        if length < 4 or offset + length > len(data):
            raise ValueError(f'attribute {kind:#x} has length {length}')
        yield kind, data[offset + 4:offset + length]
        offset += align(length)


def flat(data):
    """Attributes as a dict from number to bytes."""
    return {kind & NLA_TYPE: value for kind, value in attrs(data)}


class Message:
    """A received message."""

    def __init__(self, kind, flags, payload):
        self.kind = kind
        self.flags = flags
        self.payload = payload

    def genl(self):
        """Command, version, attributes."""
        command, version, reserved = GENL.unpack_from(self.payload)
        if reserved:
            raise ValueError('reserved bytes are not zero')
        return command, version, self.payload[GENL.size:]


class Answer:
    """
    All that came back: the messages, and how it ended. error is a positive errno or 0, text what
    the kernel said about it, done whether there was a NLMSG_DONE, acked whether there was an ACK.
    """

    def __init__(self):
        self.messages = []
        self.error = 0
        self.text = ''
        self.offset = None
        self.done = False
        self.acked = False
        self.done_length = None
        self.parts = 0

    def __repr__(self):
        return (f'{len(self.messages)} messages, error {errno.errorcode.get(self.error, self.error)}'
                f' "{self.text}", done {self.done}, acked {self.acked}')

    def take_error(self, data, capped):
        """data starts with the errno; unless capped, the request comes next, then attributes."""
        self.error = -struct.unpack_from('=i', data)[0]
        skip = 4 + HEADER.size
        if not capped:
            skip = 4 + align(struct.unpack_from('=I', data, 4)[0])
        self.take_text(data[skip:])

    def take_text(self, data):
        tlvs = flat(data)
        if EXTACK_MSG in tlvs:
            self.text = tlvs[EXTACK_MSG].rstrip(b'\0').decode()
        if EXTACK_OFFS in tlvs:
            self.offset = struct.unpack('=I', tlvs[EXTACK_OFFS])[0]


class Netlink:
    """A netlink socket; room is the size of the buffer that is offered to the kernel."""

    def __init__(self, protocol, room=65536):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.sock.settimeout(LIMIT)
        self.sequence = 1000
        self.room = room

    def close(self):
        self.sock.close()

    def send(self, kind, flags, payload):
        self.sequence += 1
        self.sock.send(HEADER.pack(HEADER.size + len(payload), kind, flags, self.sequence, 0)
                       + payload)

    def messages(self):
        """The messages of one datagram."""
        data, _, flags, _ = self.sock.recvmsg(self.room)
        if flags & socket.MSG_TRUNC:
            raise ValueError(f'a datagram does not fit into {self.room} bytes')
        offset = 0
        while offset < len(data):
            length, kind, flags, sequence, _ = HEADER.unpack_from(data, offset)
            if sequence and sequence != self.sequence:
                raise ValueError(f'sequence number {sequence}, not {self.sequence}')
            yield Message(kind, flags, data[offset + HEADER.size:offset + length])
            offset += align(length)

    def receive(self, wants_ack):
        """Until NLMSG_DONE or an error, and until the ACK if one was asked for."""
        answer = Answer()
        while True:
            answer.parts += 1
            for message in self.messages():
                if message.kind == NLMSG_DONE:
                    answer.done = True
                    answer.done_length = len(message.payload)
                    if message.payload:
                        answer.error = -struct.unpack_from('=i', message.payload)[0]
                        answer.take_text(message.payload[4:])
                    if not wants_ack:
                        return answer
                elif message.kind == NLMSG_ERROR:
                    answer.take_error(message.payload, message.flags & F_CAPPED)
                    answer.acked = not answer.error
                    return answer
                else:
                    answer.messages.append(message)

    def ask(self, kind, flags, payload):
        self.send(kind, flags, payload)
        is_dump = flags & F_DUMP
        return self.receive(wants_ack=not is_dump)


class Genl(Netlink):
    """A generic netlink socket for one family."""

    def __init__(self, name, room=65536):
        super().__init__(NETLINK_GENERIC, room)
        found = self.ask(CTRL, F_REQUEST | F_ACK, GENL.pack(CTRL_GETFAMILY, 2, 0) + attr(2, name))
        if found.error:
            raise OSError(found.error, f'no family {name}')
        self.info = flat(found.messages[0].genl()[2])
        self.family = struct.unpack('=H', self.info[1])[0]

    def dump(self, command, data=b'', version=1, flags=F_DUMP):
        return self.ask(self.family, F_REQUEST | flags, GENL.pack(command, version, 0) + data)

    def do(self, command, data=b'', version=1):
        return self.ask(self.family, F_REQUEST | F_ACK, GENL.pack(command, version, 0) + data)

    def operations(self):
        """Flags by command, as the controller reports them."""
        flags = {}
        for _, op in attrs(self.info.get(6, b'')):
            fields = flat(op)
            flags[struct.unpack('=I', fields[1])[0]] = struct.unpack('=I', fields[2])[0]
        return flags

    def groups(self):
        """Multicast groups: number by name."""
        found = {}
        for _, group in attrs(self.info.get(7, b'')):
            fields = flat(group)
            found[fields[1].rstrip(b'\0').decode()] = struct.unpack('=I', fields[2])[0]
        return found

    def join(self, name):
        self.sock.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, self.groups()[name])

    def policy(self, command):
        """What the kernel checks: by attribute, a dict from NL_POLICY_TYPE_ATTR_* to number."""
        answer = self.ask(CTRL, F_REQUEST | F_DUMP, GENL.pack(CTRL_GETPOLICY, 2, 0)
                          + attr(1, struct.pack('=H', self.family))
                          + attr(10, struct.pack('=I', command)))
        if answer.error:
            raise OSError(answer.error, 'no policy')
        found = {}
        for message in answer.messages:
            policies = flat(message.genl()[2]).get(8)
            for _, policy in attrs(policies or b''):
                for number, limits in attrs(policy):
                    found[number & NLA_TYPE] = {
                        kind: int.from_bytes(value, 'little') for kind, value in flat(limits).items()}
        return found


def namespace(name):
    """Moves this process into a network namespace made by ip netns."""
    libc = __import__('ctypes').CDLL(None, use_errno=True)
    fd = os.open(f'/var/run/netns/{name}', os.O_RDONLY)
    try:
        if libc.setns(fd, CLONE_NEWNET):
            raise OSError(__import__('ctypes').get_errno(), f'cannot enter {name}')
    finally:
        os.close(fd)


def container(name):
    """Moves this process into a network namespace of its own, with a host name."""
    libc = __import__('ctypes').CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUTS | CLONE_NEWNET):
        raise OSError(__import__('ctypes').get_errno(), 'no namespaces')
    socket.sethostname(name)
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)


def own_namespace():
    """Moves this process into a network namespace of its own, also without privileges."""
    libc = __import__('ctypes').CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        raise OSError(__import__('ctypes').get_errno(), 'no namespace')
