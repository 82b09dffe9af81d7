# SPDX-License-Identifier: GPL-2.0-only
"""sock_diag requests for AF_SMC, and their answers decoded strictly."""

import ipaddress
import struct

import nl

SOCK_DIAG_BY_FAMILY = 20
CONNINFO, LGRINFO, SHUTDOWN, DMBINFO, FALLBACK = 1, 2, 3, 4, 5
LARGEST = 128
ACTIVE, INIT, CLOSED, LISTEN = 1, 2, 7, 10
PEERCLOSEWAIT1, PEERCLOSEWAIT2, APPCLOSEWAIT1, APPCLOSEWAIT2 = 20, 21, 22, 23
APPFINCLOSEWAIT, PEERFINCLOSEWAIT, PEERABORTWAIT = 24, 25, 26
SMCR, TCP, SMCD = 0, 1, 2
STATES, MODES, INODE = 1, 2, 3

REQUEST = struct.Struct('=B2xB')
SOCKID = struct.Struct('=2s2s16s16sI8s')
MESSAGE = struct.Struct('=BBBB48sIQ')
CURSOR = struct.Struct('=HHI')
LINK = struct.Struct('=B64sB40s40s')
FLAGS = ('rx_prod_flags', 'rx_state_flags', 'tx_prod_flags', 'tx_state_flags')
DMB = ('peer_gid', 'my_gid', 'token', 'peer_token', 'peer_gid_ext', 'my_gid_ext')


def extensions(*wanted):
    return sum(1 << (extension - 1) for extension in wanted)


def sockid(sport=0, dport=0, src=b'', dst=b'', interface=0, cookie=bytes(8)):
    return SOCKID.pack(struct.pack('>H', sport), struct.pack('>H', dport), src.ljust(16, b'\0'),
                       dst.ljust(16, b'\0'), interface, cookie)


def address(data):
    """As text; an IPv4 address has nothing behind its four bytes."""
    if not any(data[4:]):
        return str(ipaddress.IPv4Address(data[:4]))
    return str(ipaddress.IPv6Address(data))


def cursor(data):
    reserved, wrap, count = CURSOR.unpack(data)
    if reserved:
        raise ValueError('the reserved part of a cursor is not zero')
    return wrap, count


def conninfo(data):
    if len(data) != 76:
        raise ValueError(f'CONNINFO has {len(data)} bytes')
    found = dict(zip(('token', 'sndbuf_size', 'rmbe_size', 'peer_rmbe_size'),
                     struct.unpack_from('=4I', data)))
    for index, name in enumerate(('rx_prod', 'rx_cons', 'tx_prod', 'tx_cons')):
        found[name] = cursor(data[16 + 8 * index:24 + 8 * index])
    found.update(zip(FLAGS, data[48:52]))
    for index, name in enumerate(('tx_prep', 'tx_sent', 'tx_fin')):
        found[name] = cursor(data[52 + 8 * index:60 + 8 * index])
    return found


def dmbinfo(data):
    if len(data) != 56 or any(data[4:8]):
        raise ValueError(f'DMBINFO has {len(data)} bytes, or padding that is not zero')
    return dict(zip(('linkid',) + DMB, struct.unpack('=I4x6Q', data)))


def name(data):
    """A string in an array, which has nothing behind it."""
    text, _, rest = data.partition(b'\0')
    if any(rest) or len(text) == len(data):
        raise ValueError(f'no clean string: {data}')
    return text.decode()


def lgrinfo(data):
    if len(data) != LINK.size + 1:
        raise ValueError(f'LGRINFO has {len(data)} bytes')
    number, ibname, port, gid, peer_gid = LINK.unpack_from(data)
    return {'link': number, 'ibname': name(ibname), 'ibport': port, 'gid': name(gid),
            'peer_gid': name(peer_gid), 'role': data[LINK.size]}


DECODERS = {
    CONNINFO: conninfo,
    LGRINFO: lgrinfo,
    SHUTDOWN: lambda data: struct.unpack('=B', data)[0],
    DMBINFO: dmbinfo,
    FALLBACK: lambda data: struct.unpack('=II', data),
    LARGEST: lambda data: struct.unpack('=I', data)[0],
}


class Socket:
    """One answer."""

    def __init__(self, message):
        (self.family, self.state, self.mode, self.shut, ident, self.uid,
         self.inode) = MESSAGE.unpack_from(message.payload)
        sport, dport, src, dst, self.interface, self.cookie = SOCKID.unpack(ident)
        self.local = address(src), struct.unpack('>H', sport)[0]
        self.peer = address(dst), struct.unpack('>H', dport)[0]
        self.kind = message.kind
        self.flags = message.flags
        self.attributes = {}
        for number, value in nl.attrs(message.payload[MESSAGE.size:]):
            if number in self.attributes:
                raise ValueError(f'attribute {number} came twice')
            self.attributes[number] = DECODERS[number](value)

    def __repr__(self):
        return (f'state {self.state} mode {self.mode} {self.local} {self.peer} inode {self.inode}'
                f' {self.attributes}')

    def conn(self):
        return self.attributes[CONNINFO]


class Diag(nl.Netlink):
    """A sock_diag socket."""

    def __init__(self, room=65536):
        super().__init__(nl.NETLINK_SOCK_DIAG, room)

    def request(self, payload, flags=nl.F_ROOT):
        return self.ask(SOCK_DIAG_BY_FAMILY, nl.F_REQUEST | flags, payload)

    @staticmethod
    def payload(ext=0, ident=None, data=b''):
        return REQUEST.pack(nl.AF_SMC, ext) + (ident or sockid()) + data

    def sockets(self, ext=0, ident=None, data=b''):
        """All sockets that match, as the kernel says."""
        answer = self.request(self.payload(ext, ident, data))
        if answer.error or not answer.done:
            raise ValueError(answer)
        found = [Socket(message) for message in answer.messages]
        for sock in found:
            if (sock.kind, sock.flags) != (SOCK_DIAG_BY_FAMILY, nl.F_MULTI):
                raise ValueError(f'odd header: {sock}')
        return found

    def find(self, inode, ext=0):
        """The socket of a descriptor."""
        found = [sock for sock in self.sockets(ext) if sock.inode == inode]
        if len(found) != 1:
            raise ValueError(f'inode {inode}: {found}')
        return found[0]
