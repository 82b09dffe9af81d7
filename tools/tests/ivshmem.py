# SPDX-License-Identifier: GPL-2.0-only
"""The protocol of QEMU's ivshmem-doorbell, from the side of QEMU."""

import array
import os
import select
import socket
import struct

LIMIT = 120         # seconds; only what hangs takes this long
MEMORY = -1


class Closed(Exception):
    """The server hung up."""


def is_quiet(sock):
    """Neither a byte nor an end."""
    return not select.select([sock], [], [], 0)[0]


class Client:
    """One device. Without start=False it reads what QEMU needs to start."""

    def __init__(self, path, vectors=5, start=True):
        self.vectors = vectors
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)         # waits, as QEMU does
        self.sock.settimeout(LIMIT)
        self.id = self.memory = None
        self.own = []
        self.peers = {}         # number: eventfds
        self.seen = []          # numbers of peers, in the order in which they came
        self.messages = 0
        if start:
            try:
                self.start()
            except BaseException:
                self.close()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read(self):
        """One message: its number, and the descriptor or None."""
        data, control, _, _ = self.sock.recvmsg(8, socket.CMSG_SPACE(64))
        descriptors = array.array("i")
        for level, kind, rights in control:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(rights)
        if not data:
            raise Closed
        if len(data) != 8 or len(descriptors) > 1:
            raise AssertionError(f"{len(data)} bytes with {len(descriptors)} descriptors")
        self.messages += 1
        return struct.unpack("<q", data)[0], descriptors[0] if descriptors else None

    def start(self):
        number, descriptor = self.read()
        if (number, descriptor) != (0, None):
            raise AssertionError(f"version: {number}, {descriptor}")
        self.id, descriptor = self.read()
        if descriptor is not None or not 0 <= self.id <= 0xffff:
            raise AssertionError(f"id: {self.id}, {descriptor}")
        number, self.memory = self.read()
        if number != MEMORY or self.memory is None:
            raise AssertionError(f"memory: {number}, {self.memory}")
        while len(self.own) < self.vectors:
            self.step()

    def step(self):
        """One message after the start, obeyed with all the checks that QEMU does not make."""
        number, descriptor = self.read()
        if not 0 <= number <= 0xffff:
            raise AssertionError(f"number {number}")
        if descriptor is None:
            if number == self.id or number not in self.peers:
                raise AssertionError(f"{number} leaves, but was not there")
            for vector in self.peers.pop(number):
                os.close(vector)
            return number
        if number == self.id:
            known = self.own
        else:
            if number not in self.peers and number in self.seen:
                raise AssertionError(f"{number} comes again: that kills QEMU")
            if number not in self.peers:
                self.seen.append(number)
            known = self.peers.setdefault(number, [])
        known.append(descriptor)
        if len(known) > self.vectors:
            raise AssertionError(f"more than {self.vectors} vectors of {number}")
        return number

    def read_until(self, condition):
        while not condition():
            self.step()

    def wait_peer(self):
        """The number of the one other machine, once all its vectors are known."""
        self.read_until(lambda: [len(vectors) for vectors in self.peers.values()]
                        == [self.vectors])
        return next(iter(self.peers))

    def wait_alone(self):
        self.read_until(lambda: not self.peers)

    def rung(self):
        """How often vector 0 was rung since the last call."""
        return count(self.own[0])

    def close(self):
        vectors = [vector for peer in self.peers.values() for vector in peer]
        for descriptor in [*vectors, *self.own, self.memory]:
            if descriptor is not None:
                os.close(descriptor)
        self.sock.close()
        self.peers, self.own, self.memory = {}, [], None


def count(eventfd):
    try:
        return os.eventfd_read(eventfd)
    except BlockingIOError:
        return 0
