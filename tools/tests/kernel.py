# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's side of the user ABI of AF_SMC, played by a test.

Functions build messages byte for byte as the ABI describes them; the class
Kernel answers the requests of one tool at a time.
"""

import os
import socket
import struct
import threading

AF_SMC = 43
NETLINK_SOCK_DIAG = 4
NETLINK_GENERIC = 16

NLMSG_ERROR = 2
NLMSG_DONE = 3
SOCK_DIAG_BY_FAMILY = 20
GENL_ID_CTRL = 16

NLM_F_MULTI = 0x2
NLM_F_ACK = 0x4
NLM_F_DUMP_INTR = 0x10
NLM_F_DUMP = 0x300
NLM_F_CAPPED = 0x100
NLM_F_ACK_TLVS = 0x200
NLA_F_NESTED = 0x8000

GEN_FAMILY = 30
PNET_FAMILY = 31


# --- attributes ---

def align(data):
    return data + bytes(-len(data) % 4)


def attr(number, payload):
    return align(struct.pack("=HH", 4 + len(payload), number) + payload)


def u8(number, value):
    return attr(number, struct.pack("=B", value))


def u16(number, value):
    return attr(number, struct.pack("=H", value))


def u32(number, value):
    return attr(number, struct.pack("=I", value))


def u64(number, value):
    return attr(number, struct.pack("=Q", value))


def uint(number, value):
    return u32(number, value) if value < 1 << 32 else u64(number, value)


def string(number, text):
    return attr(number, text.encode("latin-1") + b"\0")


def nest(number, *attrs):
    return attr(number | NLA_F_NESTED, b"".join(attrs))


def attributes(data):
    """A dict of the attributes in data; of duplicates the last."""
    found = {}
    while len(data) >= 4:
        length, number = struct.unpack_from("=HH", data)
        found[number & 0x3fff] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


# --- messages ---

def message(kind, flags, seq, payload):
    return align(struct.pack("=IHHII", 16 + len(payload), kind, flags, seq, 4711)
                 + payload)


def error(errno_, seq, request=b"", text=None):
    """An error (or with errno 0 an ACK), with an extended ACK if there is text."""
    flags, extra = 0, b""
    if text is not None:
        flags |= NLM_F_ACK_TLVS
        extra = string(1, text)
    if not request:
        request = struct.pack("=IHHII", 16, 0, 0, seq, 0)
    if errno_ == 0:
        flags |= NLM_F_CAPPED
        request = request[:16]
    return message(NLMSG_ERROR, flags, seq,
                   struct.pack("=i", -errno_) + align(request) + extra)


class Failure(Exception):
    """Raised by a handler: the request is refused."""

    def __init__(self, errno_, text=None):
        super().__init__(errno_, text)
        self.errno = errno_
        self.text = text


class Request:
    def __init__(self, data):
        self.data = data
        self.length, self.kind, self.flags, self.seq, self.port = \
            struct.unpack_from("=IHHII", data)
        self.payload = data[16:self.length]
        self.dump = bool(self.flags & NLM_F_DUMP)

    @property
    def command(self):
        return self.payload[0]

    @property
    def attributes(self):
        return attributes(self.payload[4:])


def genl(command, *attrs, version=1):
    return struct.pack("=BBH", command, version, 0) + b"".join(attrs)


class Kernel:
    """Answers requests on a Unix socket.

    `diag` is called for each sock_diag request and returns payloads of
    messages; `gen` and `pnet` are the same for the two generic netlink
    families. They may raise Failure. None stands for "not there".
    `is_loaded` says whether the folder of the module's sysctls is there.
    """

    def __init__(self, folder):
        self.path = os.path.join(folder, "kernel")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.path)
        self.listener.listen(8)
        self.settings = os.path.join(folder, "smc")
        threading.Thread(target=self._accept, daemon=True).start()
        self.reset()

    def reset(self):
        self.diag = self.gen = self.pnet = None
        self.is_loaded = True
        self.requests = []          # of the tool, without look-ups of families
        self.smc_sockets = 0
        self.smc_inode = None       # of the latest
        self.flags = 0              # or'ed into all messages of dumps
        self.done = struct.pack("=i", 0)
        self.done_flags = 0
        self.packet_size = 8192
        self.mangle = None          # changes each packet

    @property
    def is_loaded(self):
        return os.path.isdir(self.settings)

    @is_loaded.setter
    def is_loaded(self, is_loaded):
        if is_loaded:
            os.makedirs(self.settings, exist_ok=True)
        elif self.is_loaded:
            os.rmdir(self.settings)

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,),
                             daemon=True).start()

    def _serve(self, connection):
        with connection:
            what, = struct.unpack("=I", connection.recv(4))
            if what == AF_SMC:
                self.smc_sockets += 1
                self.smc_inode, = struct.unpack("=Q", connection.recv(8))
                connection.send(bytes(8))
                return
            try:
                while True:
                    data = connection.recv(65536)
                    if not data:
                        return
                    for packet in self._answer(what, Request(data)):
                        connection.send(packet)
            except (BrokenPipeError, ConnectionResetError):
                return          # the tool has ended

    def _answer(self, protocol, request):
        if protocol == NETLINK_GENERIC and request.kind == GENL_ID_CTRL:
            return self._family(request)
        self.requests.append(request)
        handler = {(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY): self.diag,
                   (NETLINK_GENERIC, GEN_FAMILY): self.gen,
                   (NETLINK_GENERIC, PNET_FAMILY): self.pnet,
                   }.get((protocol, request.kind))
        try:
            if handler is None:
                raise Failure(2)
            payloads = handler(request)
        except Failure as failure:
            return [error(failure.errno, request.seq, request.data, failure.text)]
        if payloads is None:
            return [error(0, request.seq)]
        return self._list(request, payloads)

    def _family(self, request):
        name = request.attributes[2].rstrip(b"\0").decode()
        number = {"SMC_GEN_NETLINK": self.gen and GEN_FAMILY,
                  "SMC_PNETID": self.pnet and PNET_FAMILY}.get(name)
        if not number:
            return [error(2, request.seq, request.data)]
        reply = genl(1, string(2, name), u16(1, number), u32(3, 1), u32(4, 0),
                     u32(5, 4), version=2)
        return [message(GENL_ID_CTRL, 0, request.seq, reply),
                error(0, request.seq)]

    def _list(self, request, payloads):
        packets, packet = [], b""
        for payload in payloads:
            part = message(request.kind, NLM_F_MULTI | self.flags, request.seq,
                           payload)
            if packet and len(packet) + len(part) > self.packet_size:
                packets.append(packet)
                packet = b""
            packet += part
        if packet:
            packets.append(packet)
        packets.append(message(NLMSG_DONE, NLM_F_MULTI | self.flags | self.done_flags,
                               request.seq, self.done))
        if not request.dump:
            packets.append(error(0, request.seq))
        if self.mangle:
            packets = [self.mangle(packet) for packet in packets]
        return packets


# --- sock_diag ---

SMCR, TCP, SMCD = 0, 1, 2
ACTIVE, INIT, CLOSED, LISTEN = 1, 2, 7, 10


def address(text):
    if ":" in text:
        return socket.inet_pton(socket.AF_INET6, text)
    return socket.inet_pton(socket.AF_INET, text) + bytes(12)


def sock(state, inode, local, peer=("0.0.0.0", 0), mode=SMCR, uid=0, interface=0,
         shutdown=0, fallback=(0, 0), extra=b""):
    """struct smc_diag_msg and the attributes that are always there."""
    base = struct.pack("=BBBB", AF_SMC, state, mode, 0)
    base += struct.pack("!HH", local[1], peer[1])
    base += address(local[0]) + address(peer[0])
    base += struct.pack("=III", interface, 0x1234, 0)
    base += struct.pack("=IQ", uid, inode)
    assert len(base) == 64
    return base + u8(3, shutdown) + attr(5, struct.pack("=II", *fallback)) + extra


def cursor(wrap, count):
    return struct.pack("=HHI", 0, wrap, count)


def conninfo(token, sndbuf, rmb, peer_rmb, cursors, flags):
    """cursors: rx_prod rx_cons tx_prod tx_cons tx_prep tx_sent tx_fin"""
    data = struct.pack("=IIII", token, sndbuf, rmb, peer_rmb)
    data += b"".join(cursor(*c) for c in cursors[:4])
    data += bytes(flags)
    data += b"".join(cursor(*c) for c in cursors[4:])
    assert len(data) == 76
    return attr(1, data)


def lgrinfo(link_id, device, port, gid, peer_gid, role):
    data = struct.pack("=B64sB40s40sB", link_id, device.encode(), port,
                       gid.encode(), peer_gid.encode(), role)
    assert len(data) == 147
    return attr(2, data)


def dmbinfo(linkid, peer_gid, gid, token, peer_token, ext=None):
    data = struct.pack("=IIQQQQ", linkid, 0, peer_gid, gid, token, peer_token)
    if ext:
        data += struct.pack("=QQ", *ext)
    return attr(4, data)


# --- SMC_GEN_NETLINK ---

def padded(text, size=32):
    return text.ljust(size)


def sys_info(version=2, release=1, hostname="vm-srv", ism_v2=0, smcr_v2=1, seid=None):
    attrs = [u8(1, version), u8(2, release), u8(3, ism_v2), u8(6, smcr_v2),
             string(4, padded(hostname))]
    if seid is not None:
        attrs.append(string(5, padded(seid)))
    return genl(1, nest(1, *attrs))


def v2_common(eid="TESTEID", host="vm-cli", os_=2, version=2, release=1):
    return [u8(0, version), u8(1, release), u8(2, os_), string(4, padded(host)),
            string(3, padded(eid))]


def lgr_smcr(command=2, id_=0x100, role=1, type_=1, pnetid="PNETA", vlan=0, conns=2,
             v2=None, memory=(131072, 131072), extra=()):
    attrs = [u32(1, id_), u32(6, conns), u8(2, role), u8(3, type_), u8(11, 0),
             u8(5, vlan), u64(9, 1), string(4, pnetid)]
    if memory:
        attrs += [uint(12, memory[0]), uint(13, memory[1])]
    if v2:
        attrs += [nest(7, *v2), nest(8, u8(1, 1), u8(2, 255), u8(3, 2))]
    return genl(command, nest(2, *attrs, *extra))


def link_smcr(id_=1, device="rxe0", port=1, gid="", peer_gid="", conns=2, netdev=2,
              uid=0x101, peer_uid=0x101, state=3):
    return genl(3, nest(3, u8(1, id_), u32(10, state), u32(6, conns), u8(3, port),
                        u32(7, netdev), string(2, device),
                        attr(8, struct.pack("!I", uid)),
                        attr(9, struct.pack("!I", peer_uid)),
                        string(4, gid), string(5, peer_gid)))


def lgr_smcd(id_=0x200, gid=0x11, peer_gid=0x22, vlan=0, conns=1, pnetid="",
             chid=0xffff, v2=None, ext=None, memory=(0, 65536)):
    attrs = [u32(1, id_), u64(2, gid), u64(3, peer_gid), u8(4, vlan),
             u32(5, conns), string(6, pnetid), u16(7, chid)]
    if ext:
        attrs += [u64(10, ext[0]), u64(11, ext[1])]
    if memory:
        attrs += [uint(12, memory[0]), uint(13, memory[1])]
    if v2:
        attrs.append(nest(9, *v2))
    return genl(4, nest(4, *attrs))


def port_nest(number, user=1, pnetid="PNETA", netdev=2, state=1, valid=1, links=1):
    return nest(number, u8(1, user), string(2, pnetid), u32(3, netdev), u8(5, valid),
                u8(4, state), u32(6, links))


def dev_smcr(name="rxe0", critical=1, ports=None, pci=()):
    return genl(6, nest(6, u8(2, critical), string(10, name), *pci,
                        *(ports if ports is not None else [port_nest(8)])))


def pci(fid, chid, vendor, device, id_):
    return [u32(3, fid), u16(4, chid), u16(5, vendor), u16(6, device), string(7, id_)]


def dev_smcd(use=0, critical=0, pci_=(), port=None):
    return genl(5, nest(5, u32(1, use), u8(2, critical), *pci_,
                        port or nest(8, u8(1, 0), string(2, ""))))


SIZES = 9
EVENTS = ("too_small_peer", "too_small", "full_peer", "full", "reuse", "alloc",
          "downgrade")


def tech(number, tx_bufs=(), rx_bufs=(), tx_reqs=(), rx_reqs=(), tx_events=None,
         rx_events=None, **scalars):
    """One technology's counters. Scalars by name; sizes as lists."""
    def sizes(kind, values):
        values = list(values) + [0] * (SIZES - len(values))
        return nest(kind, *(u64(i + 1, v) for i, v in enumerate(values)))

    def events(kind, values):
        values = values or {}
        return nest(kind, *(u64(i + 1, values.get(name, 0))
                            for i, name in enumerate(EVENTS)))

    names = ("clnt_v1", "clnt_v2", "srv_v1", "srv_v2", "sendpage", "splice", "cork",
             "ndly", "urg", "rx_bytes", "tx_bytes", "rx_cnt", "tx_cnt")
    attrs = [events(5, tx_events), events(6, rx_events), sizes(3, tx_reqs),
             sizes(4, rx_reqs), sizes(1, tx_bufs), sizes(2, rx_bufs)]
    attrs += [u64(7 + i, scalars.pop(name, 0)) for i, name in enumerate(names)]
    attrs += [uint(20, scalars.pop("rx_usage", 0)), uint(21, scalars.pop("tx_usage", 0))]
    attrs += [u64(kind, scalars.pop(name)) for name, kind in OWN.items() if name in scalars]
    assert not scalars, scalars
    return nest(number, *attrs)


# What only this tree's module has
OWN = {"violation": 128, "abort_tx": 129, "abort_rx": 130, "wakeup_saved": 131,
       "busy_poll": 132, "abort_app": 136, "abort_tcp": 137, "abort_link": 138, "abort_timeout": 139,
       "abort_orphan": 140, "ring_grown": 141, "ring_stuck": 142, "ring_shrunk": 143}


def stats(smcd=None, smcr=None, clnt_err=0, srv_err=0, own=None):
    """own: (buffers used, limit, handshakes now, times, used by the namespace, its limit, orphans,
    failures of paths, bad paths, handshakes in memory, offers withdrawn, LLC strays), as this
    tree's module tells them"""
    more = []
    if own:
        used, limit, handshakes, times, share_used, share_limit, orphans, *counts = own
        more = [uint(128, used), uint(129, limit), uint(130, handshakes),
                nest(131, *(u64(i + 1, count) for i, count in enumerate(times))),
                u64(132, counts[0]), uint(133, counts[1]), uint(134, share_used),
                uint(135, share_limit), uint(136, orphans), u64(137, counts[2]),
                u64(138, counts[3]), u64(139, counts[4])]
    return genl(7, nest(7, tech(1, **(smcd or {})), tech(2, **(smcr or {})),
                        u64(3, clnt_err), u64(4, srv_err), *more))


def fback_stats(reasons, server=None, client=None):
    """reasons: (side, code, count), side 1 for the server"""
    messages = []
    totals = {1: server, 0: client}
    for side in totals:
        if totals[side] is None:
            totals[side] = sum(count for s, _, count in reasons if s == side)
    for i, (side, code, count) in enumerate(reasons):
        attrs = [u8(1, side)]
        if i == 0:
            attrs += [u64(2, totals[1]), u64(3, totals[0])]
        attrs += [u32(4, code), u16(5, count)]
        messages.append(genl(8, nest(8, *attrs)))
    return messages


# --- SMC_PNETID ---

def pnet_entry(name, eth="n/a", ib="n/a", port=255):
    return genl(1, string(1, name), string(2, eth), string(3, ib), u8(4, port))
