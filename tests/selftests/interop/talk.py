#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: talk.py serve ADDRESS PORT
       talk.py call ADDRESS PORT CASE...

Two programs that talk to each other over stream sockets, in every way that a transport can get
wrong; under smc_run, over SMC. The server serves until it is killed; the caller prints one line
"ok CASE" or "not ok CASE - why" for each case, and its status is 1 if one failed.
"""

import contextlib
import errno
import hashlib
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import time

SECONDS = 60
SO_SNDBUFFORCE = 32
WORD = struct.Struct('!cII')    # what to do, bytes, seed


def pattern(size, seed):
    return random.Random(seed).randbytes(size)


def receive(conn, size):
    parts = []
    while size:
        part = conn.recv(min(size, 1 << 20))
        if not part:
            raise EOFError(f'the stream ended {size} bytes early')
        parts.append(part)
        size -= len(part)
    return b''.join(parts)


def receive_all(conn):
    parts = []
    while part := conn.recv(1 << 20):
        parts.append(part)
    return b''.join(parts)


def send(conn, data, piece):
    for start in range(0, len(data), piece):
        conn.sendall(data[start:start + piece])


# --- the server: one function for each word -----------------------------------

def serve_sink(conn, size, _seed):
    conn.sendall(hashlib.sha256(receive(conn, size)).digest())


def serve_source(conn, size, seed):
    send(conn, pattern(size, seed), 50000)
    receive_all(conn)


def serve_and_close(conn, size, seed):
    conn.sendall(pattern(size, seed))


def serve_echo(conn, _size, _seed):
    while part := conn.recv(1 << 16):
        conn.sendall(part)


DIGESTS = []    # what the connections of serve_late brought


def serve_late(conn, _size, _seed):
    time.sleep(0.3)
    DIGESTS.append(hashlib.sha256(receive_all(conn)).digest())


def serve_digest(conn, _size, _seed):
    conn.sendall(DIGESTS.pop() if DIGESTS else bytes(32))


def serve_until_end(conn, _size, _seed):
    conn.sendall(hashlib.sha256(receive_all(conn)).digest())


def serve_urgent(conn, size, _seed):
    """Normal bytes, of which the last one is urgent; it does not show in the stream."""
    poll = select.poll()
    poll.register(conn, select.POLLPRI)
    if not poll.poll(SECONDS * 1000):
        raise TimeoutError('no urgent byte')
    urgent = conn.recv(1, socket.MSG_OOB)
    data = receive(conn, size)
    conn.sendall(urgent + hashlib.sha256(data).digest())
    receive_all(conn)           # so that the urgent byte is not left unread


def serve_abort(conn, _size, _seed):
    """Abort as soon as the caller has said something more."""
    receive(conn, 1)
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))


ABORTED = []    # how the connections of serve_aborted ended


def serve_aborted(conn, _size, _seed):
    conn.sendall(b'r')          # ready to be aborted
    try:
        receive_all(conn)
        ABORTED.append(b'-')
    except ConnectionError as error:
        ABORTED.append(b'+' if error.errno == errno.ECONNRESET else b'?')


def serve_how_aborted(conn, _size, _seed):
    conn.sendall(ABORTED.pop() if ABORTED else b'.')


WORDS = {b's': serve_sink, b'S': serve_source, b'e': serve_echo, b'z': serve_until_end,
         b'u': serve_urgent, b'a': serve_abort, b'c': serve_and_close, b'A': serve_aborted,
         b'?': serve_how_aborted, b'l': serve_late, b'L': serve_digest}


def serve_one(conn):
    with conn:
        try:
            word, size, seed = WORD.unpack(receive(conn, WORD.size))
            WORDS[word](conn, size, seed)
        except (OSError, EOFError) as error:
            print(f'server: {error}', file=sys.stderr)


def serve(address, port):
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(1000)
        while True:
            conn, _ = listener.accept()
            conn.settimeout(None)
            threading.Thread(target=serve_one, args=(conn,), daemon=True).start()


# --- the caller ------------------------------------------------------------------

class Caller:
    """Where to call."""

    def __init__(self, address, port):
        self.address = (address, port)

    def make_socket(self):
        return socket.socket(socket.AF_INET6 if ':' in self.address[0] else socket.AF_INET)

    def connect(self, word, size=0, seed=0, conn=None):
        # A time limit would make the socket non-blocking, which is another way of connecting
        conn = conn or self.make_socket()
        conn.connect(self.address)
        conn.sendall(WORD.pack(word, size, seed))
        return conn


def expect(what, got, wanted):
    if got != wanted:
        raise AssertionError(f'{what}: {got!r}, not {wanted!r}')


def case_up(caller):
    """To the server, in pieces of all sizes."""
    for piece, size in ((1, 2000), (7, 20000), (1000, 1 << 20), (4096, 4 << 20), (16384, 4 << 20),
                        (65536, 8 << 20), (1 << 20, 8 << 20)):
        data = pattern(size, piece)
        with caller.connect(b's', size) as conn:
            send(conn, data, piece)
            expect(f'digest with pieces of {piece}', receive(conn, 32),
                   hashlib.sha256(data).digest())


def case_down(caller):
    """From the server."""
    for size in (1, 1000, 100000, 8 << 20):
        with caller.connect(b'S', size, size) as conn:
            if receive(conn, size) != pattern(size, size):
                raise AssertionError(f'wrong bytes of {size}')


def case_both(caller):
    """Both ways at once."""
    data = pattern(4 << 20, 4)
    with caller.connect(b'e') as conn:
        writer = threading.Thread(target=lambda: (send(conn, data, 30000),
                                                  conn.shutdown(socket.SHUT_WR)))
        writer.start()
        got = receive_all(conn)
        writer.join()
    if got != data:
        raise AssertionError(f'wrong bytes: {len(got)} of {len(data)}')


def case_round_trips(caller):
    with caller.connect(b'e') as conn:
        for i in range(200):
            data = pattern(1 + i, i)
            conn.sendall(data)
            expect(f'round trip {i}', receive(conn, len(data)), data)


def case_half_close(caller):
    data = pattern(300000, 6)
    with caller.connect(b'z') as conn:
        send(conn, data, 65536)
        conn.shutdown(socket.SHUT_WR)
        expect('digest', receive(conn, 32), hashlib.sha256(data).digest())
        expect('end', conn.recv(1), b'')


def case_buffered(caller):
    """The caller writes what its SO_SNDBUF allows, and closes, before the server reads."""
    data = pattern(1200000, 9)
    conn = caller.make_socket()
    conn.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 20)
    with caller.connect(b'l', conn=conn):
        conn.sendall(data)
    for _ in range(SECONDS * 10):
        with caller.connect(b'L') as asking:
            digest = receive(asking, 32)
        if any(digest):
            break
        time.sleep(0.1)
    expect('digest', digest, hashlib.sha256(data).digest())


def limit_buffers(megabytes):
    """Of the caller's namespace; 0: as before."""
    with open('/proc/sys/net/smc/buffer_limit', 'w', encoding='ascii') as file:
        file.write(str(megabytes))


def send_when_ready(conn, data):
    """In small pieces, of a program that waits for poll() first."""
    poll = select.poll()
    poll.register(conn, select.POLLOUT)
    while data and poll.poll(SECONDS * 1000):
        data = data[conn.send(data[:700]):]


def case_cramped(caller):
    """The caller's send buffers stay small: others have the memory. Needs our module here."""
    data, senders = pattern(100000, 11), (send_when_ready, socket.socket.sendall)
    conns = [caller.connect(b's', len(data)) for _ in range(6)]
    limit_buffers(1)
    try:
        threads = [threading.Thread(target=senders[i % 2], args=(conn, data))
                   for i, conn in enumerate(conns)]
        for thread in threads:
            thread.start()
        for i, conn in enumerate(conns):
            expect(f'digest {i}', receive(conn, 32), hashlib.sha256(data).digest())
        for thread in threads:
            thread.join()
    finally:
        limit_buffers(0)
    for conn in conns:
        conn.close()


def case_urgent(caller):
    data = pattern(3000, 7)
    with caller.connect(b'u', len(data)) as conn:
        conn.sendall(data)
        conn.send(b'!', socket.MSG_OOB)
        expect('urgent byte and digest', receive(conn, 33),
               b'!' + hashlib.sha256(data).digest())


def how_aborted(caller):
    """The caller goes without a word: what has the server seen?"""
    conn = caller.connect(b'A')
    expect('readiness', receive(conn, 1), b'r')
    conn.sendall(b'some bytes')
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    conn.close()
    for _ in range(300):
        with caller.connect(b'?') as asking:
            how = receive(asking, 1)
        if how != b'.':
            break
        select.select([], [], [], 0.05)
    return how


def case_abort(caller):
    """The caller goes without a word."""
    expect('what the server saw', how_aborted(caller), b'+')


def case_abort_or_end(caller):
    """The same where one of the two takes an abort for an end."""
    how = how_aborted(caller)
    if how not in (b'+', b'-'):
        raise AssertionError(f'the server saw {how!r}')


def received_at_abort(caller):
    """The server goes without a word: what is received? None for a reset."""
    with caller.connect(b'a') as conn:
        conn.sendall(b'x')
        try:
            return conn.recv(1)
        except ConnectionResetError:
            return None


def case_aborted(caller):
    """The server goes without a word."""
    expect('received', received_at_abort(caller), None)


def case_aborted_or_ended(caller):
    """The same where one of the two takes an abort for an end."""
    expect('received', received_at_abort(caller) or None, None)


def exchange(conns, data):
    """Each sends, and then each gets it back."""
    for conn in conns:
        conn.sendall(data)
    for i, conn in enumerate(conns):
        expect(f'echo of connection {i}', receive(conn, len(data)), data)


def at_once(caller, count):
    conns = [caller.connect(b'e') for _ in range(count)]
    for i, conn in enumerate(conns):
        conn.sendall(pattern(500, i))
    for i, conn in enumerate(conns):
        expect(f'echo of connection {i}', receive(conn, 500), pattern(500, i))
    for conn in conns:
        conn.close()


def case_several(caller):
    """More at once than the first buffer of a link group has elements."""
    at_once(caller, 10)


def case_many(caller):
    """Three hundred at once, so that a further link group opens."""
    at_once(caller, 300)


def case_short(caller):
    """One after the other, with a buffer that was used before."""
    for i in range(40):
        with caller.connect(b'e') as conn:
            conn.sendall(pattern(100, i))
            expect(f'echo of connection {i}', receive(conn, 100), pattern(100, i))


def events(conn):
    poll = select.poll()
    poll.register(conn, select.POLLIN | select.POLLRDHUP)
    return dict(poll.poll(SECONDS * 1000))[conn.fileno()]


def case_lost(caller):
    """
    The server's device is deleted, and nothing is under way: TCP has to tell the caller. A
    connection that the server has closed before loses nothing.
    """
    with caller.connect(b'e') as conn, caller.connect(b'c', 1000, 5) as closed:
        while not events(closed) & select.POLLRDHUP:
            pass
        conn.sendall(b'here')
        expect('echo', receive(conn, 4), b'here')
        subprocess.run(['rdma', 'link', 'del', 'rxe1'], check=True)
        poll = select.poll()
        poll.register(conn, select.POLLIN)
        if not poll.poll(10000):    # well before TEST LINK, which would find out as well
            raise TimeoutError('nothing came')
        try:
            raise AssertionError(f'received {conn.recv(1)!r}')
        except ConnectionResetError:
            pass
        expect('events after the end', events(closed), select.POLLIN | select.POLLRDHUP)
        expect('what came before', receive_all(closed), pattern(1000, 5))
        expect('no error', closed.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0)


def case_cut(caller):
    """The server's host is lost while nothing is under way: whoever ends the link has to tell."""
    with caller.connect(b'e') as conn:
        conn.sendall(b'here')
        expect('echo', receive(conn, 4), b'here')
        print('here', flush=True)
        try:
            got = conn.recv(1)
        except ConnectionResetError:
            return
    raise AssertionError(f'received {got!r}')


def case_hold(caller):
    """A connection that stays until standard input ends."""
    with caller.connect(b'e') as conn:
        conn.sendall(b'held')
        expect('echo', receive(conn, 4), b'held')
        sys.stdin.read()


def case_crowd(caller):
    """One connection, and eight more at a line from standard input. All work until it ends."""
    data = pattern(50000, 8)
    with contextlib.ExitStack() as stack:
        conns = []
        for more in (1, 8):
            conns += [stack.enter_context(caller.connect(b'e')) for _ in range(more)]
            exchange(conns, data)
            print('here', flush=True)
            sys.stdin.readline()
        exchange(conns, data)


def call(address, port, names):
    failed = False
    for name in names:
        try:
            globals()['case_' + name](Caller(address, port))
            print(f'ok {name}', flush=True)
        except (OSError, EOFError, AssertionError) as error:
            print(f'not ok {name} - {type(error).__name__}: {error}', flush=True)
            failed = True
    return int(failed)


def main():
    if len(sys.argv) >= 4 and sys.argv[1] == 'serve':
        serve(sys.argv[2], int(sys.argv[3]))
    elif len(sys.argv) >= 5 and sys.argv[1] == 'call':
        sys.exit(call(sys.argv[2], int(sys.argv[3]), sys.argv[4:]))
    sys.exit(__doc__)


if __name__ == '__main__':
    main()
