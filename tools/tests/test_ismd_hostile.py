# SPDX-License-Identifier: GPL-2.0-only
"""smc-ismd: a QEMU that was taken over harms its own pairs at most."""

import contextlib
import os
import resource
import signal
import socket
import struct
import time

from harness import check, contains, equal, test
from ismd import USER, Daemon, until
from ivshmem import is_quiet

POLICY = "vm a\nvm b\nvm x\nvm y\npair a b size=16M\npair x y size=16M\n"
LIMIT = 100             # of open files, and of descriptors in flight
IN_FLIGHT_MAX = 8       # of one end
BURST = 5               # joins in a row
JOINS = 60              # attempts
ATTEMPTS = 40           # each leaves six messages with descriptors in its queue, if it is served


def connect(path):
    """A connection that is served, or waits in the queue; None: the queue is full."""
    sock = socket.socket(socket.AF_UNIX)
    sock.setblocking(False)
    try:
        sock.connect(path)
    except BlockingIOError:
        sock.close()
        return None
    return sock


def hold(daemon, vm, peer, how):
    """Connections that hang up without reading, and stay open."""
    held = []
    for _ in range(ATTEMPTS):
        sock = connect(daemon.path(vm, peer))
        daemon.status()
        if sock:
            sock.shutdown(how)
            held.append(sock)
        daemon.status()
    return held


def unread(daemon, sock):
    """How many descriptors are in the queue of a client."""
    daemon.status()
    daemon.signal(signal.SIGSTOP)
    os.waitpid(daemon.pid, os.WUNTRACED)
    count = 0
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            data, descriptors, _, _ = socket.recv_fds(sock, 8, 8)
            if not data:
                break
            for fd in descriptors:
                os.close(fd)
            count += len(descriptors)
    daemon.signal(signal.SIGCONT)
    return count


@test
def ismd_lets_a_client_that_comes_too_often_wait(bench):
    """The service manager and the journal hear of no more joins than there may be."""
    with Daemon(bench, POLICY, kept=True) as daemon:
        sent, lines = daemon.store.count, daemon.log().count("\n")
        began = time.monotonic()
        for _ in range(JOINS):
            sock = connect(daemon.path("a", "b"))
            if sock:
                sock.close()
            daemon.status()
        daemon.store.drain()
        sent, log = daemon.store.count - sent, daemon.log()
        joins = daemon.end("a", "b")["joins"]
        most = BURST + 1 + int(time.monotonic() - began)
        check(BURST <= joins <= most, f"{joins} joins, allowed are {most}")
        # two for each of five vectors, the client, and the memory
        check(sent <= 14 * most, f"{sent} datagrams")
        # who came and who went, that another one waits, and why
        check(log.count("\n") - lines <= 3 * most + 1, log)
        check("a of a/b connects too often: one client a second" in log or joins == JOINS,
              log)
        # others, and the other end of the pair, do not wait
        with daemon.client("b", "a"), daemon.client("x", "y"):
            pass
        # it is let in, one a second
        with daemon.client("a", "b") as a:
            equal(daemon.end("a", "b")["number"], a.id)
        daemon.set_policy(POLICY + "joins 1000000\n")
        check(daemon.ask("reload")[0], "reload")
        until(lambda: daemon.end("a", "b")["number"] is None, "it is gone")
        with daemon.client("a", "b"), daemon.client("b", "a"):
            pass


@test
def ismd_serves_others_while_connections_are_held_half_closed(bench):
    for how in (socket.SHUT_RD, socket.SHUT_RDWR):
        with Daemon(bench, POLICY, limit=LIMIT) as daemon:
            daemon.status()
            before = daemon.descriptors()
            held = hold(daemon, "a", "b", how)
            with daemon.client("x", "y") as x, daemon.client("y", "x") as y:
                equal(x.wait_peer(), y.id)
                equal(y.wait_peer(), x.id)
            equal(daemon.end("a", "b")["joins"], 1)
            check(daemon.end("a", "b")["held"] and daemon.end("a", "b")["waiting"],
                  "the second connection waits for the first")
            contains(daemon.log(), "a of a/b must wait: the client before has hung up")
            for sock in held:
                sock.close()
            with daemon.client("a", "b") as a, daemon.client("b", "a") as b:
                equal(a.wait_peer(), b.id)
            until(lambda: daemon.descriptors() == before, "nothing is left")


@test
def ismd_lets_the_next_client_in_once_the_one_before_has_read(bench):
    """It may also read what it got, and keep the connection open."""
    with Daemon(bench, POLICY, limit=LIMIT) as daemon, \
            daemon.client("a", "b", start=False) as first:
        daemon.status()
        first.sock.shutdown(socket.SHUT_RDWR)
        until(lambda: daemon.end("a", "b")["held"], "it holds its messages")
        with daemon.client("a", "b", start=False) as second:
            daemon.status()
            check(is_quiet(second.sock), "it is served")
            check(unread(daemon, first.sock) > 1, "nothing was unread")
            second.start()


@contextlib.contextmanager
def lingering():
    """A TCP socket whose last close() waits: its peer does not read."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        sock = socket.create_connection(listener.getsockname())
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                sock.send(bytes(1 << 20))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1000))
        yield sock


def expect_service(daemon, what):
    """Another pair is served."""
    with daemon.client("x", "y") as x, daemon.client("y", "x") as y:
        equal(x.wait_peer(), y.id, what)


@test
def ismd_does_not_wait_for_a_socket_that_a_client_has_sent(bench):
    """The daemon may have the last descriptor of it, wherever it closes that."""
    for when in ("before it is let in", "when it is there", "in the queue of its place",
                 "in the queue of a pair that goes"):
        with Daemon(bench, POLICY) as daemon, lingering() as sock, \
                contextlib.ExitStack() as first:
            if when.startswith("before"):
                daemon.signal(signal.SIGSTOP)
            elif when.startswith("in"):
                first.enter_context(daemon.client("a", "b"))
            client = connect(daemon.path("a", "b"))
            if when.startswith("when"):
                daemon.status()
            try:
                socket.send_fds(client, [b"x"], [sock.fileno()])
            except BrokenPipeError:         # it may not send: the test itself would wait
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes(8))
            sock.close()
            client.close()
            daemon.signal(signal.SIGCONT)
            if when.endswith("goes"):
                daemon.set_policy("vm x\nvm y\npair x y\n")
                check(daemon.ask("reload")[0], "reload")
            first.close()
            expect_service(daemon, when)


@test
def ismd_forgets_a_client_that_has_sent_itself(bench):
    """Its socket is in its own queue, and nothing else has it."""
    for early in (True, False):
        with Daemon(bench, POLICY) as daemon:
            if early:
                daemon.signal(signal.SIGSTOP)
            sock = connect(daemon.path("a", "b"))
            if not early:
                daemon.status()
            with contextlib.suppress(BrokenPipeError):
                socket.send_fds(sock, [b"x"], [sock.fileno()])
            sock.close()
            daemon.signal(signal.SIGCONT)
            until(lambda: daemon.end("a", "b")["joins"] and
                  daemon.end("a", "b")["number"] is None, "it is gone")
            with daemon.client("a", "b"):
                pass


@test
def ismd_bounds_what_is_unread_of_a_client_that_stays(bench):
    with Daemon(bench, POLICY, limit=LIMIT) as daemon, \
            daemon.client("a", "b", start=False) as slow:
        daemon.set_policy(POLICY + "joins 1000\n")
        check(daemon.ask("reload")[0], "reload")
        for _ in range(30):
            daemon.client("b", "a").close()
            daemon.status()
        count = unread(daemon, slow.sock)
        check(3 < count <= IN_FLIGHT_MAX, f"{count} descriptors were in flight")


@test
def ismd_keeps_a_held_connection_when_it_is_started_again(bench):
    with Daemon(bench, POLICY, kept=True, limit=LIMIT) as daemon, \
            daemon.client("a", "b", start=False) as first:
        daemon.status()
        first.sock.shutdown(socket.SHUT_RDWR)
        until(lambda: daemon.end("a", "b")["held"], "it holds its messages")
        daemon.restart()
        check(daemon.end("a", "b")["held"], "it is forgotten")
        with daemon.client("a", "b", start=False) as second:
            daemon.status()
            check(is_quiet(second.sock), "it is served")
            first.sock.close()
            second.start()
        first = daemon.client("a", "b", start=False)
        daemon.status()
        first.sock.shutdown(socket.SHUT_RDWR)
        until(lambda: daemon.end("a", "b")["held"], "it holds its messages")
        daemon.set_policy("vm x\nvm y\npair x y\n")
        check(daemon.ask("reload")[0], "reload")
        check(daemon.pair("a", "b"), "its pair is gone")
        first.sock.close()
        until(lambda: daemon.pair("a", "b") is None, "its pair is gone")
        # a state, two listeners
        until(lambda: len(daemon.store.names()) == 3, "nothing else is kept")


@test
def ismd_names_the_limit_when_its_user_has_too_much_in_flight(bench):
    """Another process of the user reaches the limit; clients of the daemon cannot."""
    with Daemon(bench, POLICY, limit=LIMIT) as daemon, \
            daemon.client("a", "b", start=False):
        daemon.status()
        ready, other = socket.socketpair()
        pid = os.fork()
        if not pid:
            try:
                if not os.geteuid():
                    os.setresuid(USER, USER, USER)
                near, _far = socket.socketpair()
                socket.send_fds(near, [b"x"], [0] * (LIMIT + 1))
                other.sendall(b".")
                other.recv(1)
            finally:
                os._exit(0)         # pylint: disable=protected-access
        equal(ready.recv(1), b".")
        with daemon.client("x", "y", start=False) as x:
            until(lambda: "x of x/y must wait: this user has too many descriptors in flight; "
                  f"2 clients hold at most {IN_FLIGHT_MAX} each" in daemon.log(), "it waits")
            contains(daemon.log(), "a of a/b is the first of them")
            ready.sendall(b".")
            os.waitpid(pid, 0)
            x.start()
        for sock in (ready, other):
            sock.close()


@test
def ismd_lets_a_client_wait_when_too_much_could_be_in_flight(bench):
    with Daemon(bench, POLICY) as daemon, daemon.client("x", "y"), daemon.client("y", "x"):
        soft, hard = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (3 * IN_FLIGHT_MAX - 1, hard))
        with daemon.client("a", "b", start=False) as a:
            until(lambda: "a of a/b must wait: too many descriptors would be in flight"
                  in daemon.log(), "it waits")
            check(is_quiet(a.sock), "it is served")
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (soft, hard))
            a.start()
