# SPDX-License-Identifier: GPL-2.0-only
"""smc-ismd ends in any way, and is started again: machines notice nothing."""

import os
import random
import signal
import threading
import time

from harness import check, contains, equal, test
from ismd import Daemon, until
from ivshmem import Closed, is_quiet

POLICY = "vm a\nvm b\nvm c\npair a b size=16M\npair b c size=32M vectors=3\n" \
         "joins 1000000\n"


def expect_untouched(daemon, a, b, before):
    """Nobody was told anything, and all goes on as if nothing had been."""
    check(is_quiet(a.sock) and is_quiet(b.sock), "a machine was told")
    pair = daemon.pair("a", "b")
    equal((pair["memory"], [end["number"] for end in pair["ends"]]), before)
    a.rung()
    with daemon.client("c", "b", vectors=3) as c:
        equal(c.peers, {})
    b.close()
    a.wait_alone()
    daemon.status()
    equal(a.rung(), 1)
    with daemon.client("b", "a") as again:
        equal(a.wait_peer(), again.id)
        equal(os.fstat(again.memory).st_ino, os.fstat(a.memory).st_ino)
        os.eventfd_write(again.peers[a.id][3], 1)
        equal(os.eventfd_read(a.own[3]), 1)
    a.wait_alone()


def state_of(daemon):
    pair = daemon.pair("a", "b")
    return pair["memory"], [end["number"] for end in pair["ends"]]


@test
def ismd_is_killed_and_machines_notice_nothing(bench):
    with Daemon(bench, POLICY, kept=True) as daemon, daemon.client("a", "b") as a, \
            daemon.client("b", "a") as b:
        a.wait_peer()
        before = state_of(daemon)
        for round_ in range(1, 4):
            daemon.restart()
            equal(daemon.status()["restarts"], round_)
            contains(daemon.log(), "continues with 2 pairs")
        expect_untouched(daemon, a, b, before)


@test
def ismd_ends_in_good_order_and_goes_on(bench):
    with Daemon(bench, POLICY, kept=True) as daemon, daemon.client("a", "b") as a, \
            daemon.client("b", "a") as b:
        a.wait_peer()
        before = state_of(daemon)
        equal(daemon.stop(), 0)
        daemon.start()
        expect_untouched(daemon, a, b, before)


@test
def ismd_replaces_itself_without_a_service_manager(bench):
    for kept in (False, True):
        with Daemon(bench, POLICY, kept=kept) as daemon, daemon.client("a", "b") as a, \
                daemon.client("b", "a") as b:
            a.wait_peer()
            before = state_of(daemon)
            descriptors = daemon.descriptors()
            for round_ in range(1, 4):
                daemon.signal(signal.SIGUSR2)
                until(lambda: daemon.restarts() == round_,     # pylint: disable=W0640
                      "the successor answers")
                equal(daemon.status()["pid"], daemon.pid)
            equal(daemon.descriptors(), descriptors)
            expect_untouched(daemon, a, b, before)


@test
def ismd_finds_out_who_went_meanwhile(bench):
    with Daemon(bench, POLICY, kept=True) as daemon, daemon.client("a", "b") as a:
        b = daemon.client("b", "a")
        a.wait_peer()
        a.rung()
        daemon.kill()
        b.close()
        # it connects while nothing listens to it
        waiting = []
        thread = threading.Thread(target=lambda: waiting.append(daemon.client("b", "a")))
        thread.start()
        daemon.start()
        thread.join()
        new = waiting.pop()
        a.read_until(lambda: len(a.peers.get(new.id, ())) == 5)
        equal(len(a.peers), 1)
        check(a.rung() >= 1, "no interrupt")
        new.close()
        a.wait_alone()
        daemon.kill()
        inode = os.fstat(a.memory).st_ino
        a.close()
        daemon.start()
        equal(daemon.pair("a", "b")["memory"], None)
        with daemon.client("a", "b") as other:
            check(os.fstat(other.memory).st_ino != inode, "memory of the dead")


@test
def ismd_finishes_what_it_was_saying(bench):
    """A client that does not read keeps its place in the text."""
    with Daemon(bench, POLICY, kept=True) as daemon, \
            daemon.client("a", "b", start=False) as slow:
        for _ in range(50):
            daemon.client("b", "a").close()
        with daemon.client("b", "a") as last:
            until(lambda: daemon.end("a", "b")["behind"], "it is behind")
            daemon.restart()
            equal(daemon.end("a", "b")["behind"], True)
            slow.start()
            slow.read_until(lambda: len(slow.peers.get(last.id, ())) == 5)
        slow.wait_alone()


@test
def ismd_is_killed_at_any_moment(bench):
    """Machines come and go all the time. The one that stays must never hear of a number twice."""
    chance = random.Random(17)
    with Daemon(bench, POLICY, kept=True) as daemon, daemon.client("a", "b") as a:
        running = True
        problems = []

        def live():
            while running:
                try:
                    daemon.client("b", "a").close()
                except Exception as problem:        # pylint: disable=broad-except
                    problems.append(problem)

        def follow():
            while running:
                if not is_quiet(a.sock):
                    a.step()

        threads = [threading.Thread(target=function) for function in (live, follow)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(25):
                time.sleep(chance.uniform(0, 0.05))     # not a wait: any moment will do
                daemon.restart()
        finally:
            running = False
            for thread in threads:
                thread.join()
        # One that was accepted and not yet kept is lost; what the others hear is always right
        check(all(isinstance(problem, Closed) for problem in problems), f"{problems}")
        check(len(problems) < 25, "hardly anybody was served")
        last = daemon.client("b", "a")
        a.read_until(lambda: len(a.peers.get(last.id, ())) == 5)
        equal(len(a.peers), 1)
        last.close()
        a.wait_alone()
        check(len(a.seen) > 25, "hardly anything happened")
        until(lambda: len(daemon.store.names()) == 12, "nothing is kept for ever")


@test
def ismd_goes_on_with_a_bad_policy(bench):
    """Those who are there, and those who come, as before."""
    with Daemon(bench, POLICY, kept=True) as daemon, daemon.client("a", "b") as a:
        daemon.set_policy("pair a\n")
        daemon.restart()
        contains(daemon.log(), "policy:1: pair needs two names")
        with daemon.client("b", "a") as b:
            equal(a.wait_peer(), b.id)
        with daemon.client("c", "b", vectors=3) as c:
            equal(os.fstat(c.memory).st_size, 32 << 20)
        daemon.set_policy(POLICY)
        check(daemon.ask("reload")[0], "reload")


@test
def ismd_forgets_pairs_that_left_the_policy_while_it_was_down(bench):
    with Daemon(bench, POLICY, kept=True) as daemon, daemon.client("a", "b") as a:
        daemon.set_policy("vm b\nvm c\npair b c\n")
        daemon.restart()
        equal(daemon.pair("a", "b")["allowed"], False)
        check(not os.path.exists(daemon.path("b", "a")), "the socket is there")
        a.close()
        until(lambda: daemon.pair("a", "b") is None, "the pair is gone")
        # a state, two listeners
        until(lambda: len(daemon.store.names()) == 3, "nothing else is kept")


@test
def ismd_refuses_what_it_does_not_know(bench):
    """Descriptors with strange names, or a state of another version, are thrown away."""
    with Daemon(bench, POLICY, kept=True) as daemon, daemon.client("a", "b") as a:
        names = daemon.store.names()
        for name in ("", "m.0.1", "c.9999.7.1", "state2", "x" * 200):
            daemon.store.kept.append((name, os.dup(0)))
        daemon.restart()
        until(lambda: [name for name in daemon.store.names() if name not in ("", "x" * 200)]
              == names, "the others are gone")
        check(is_quiet(a.sock), "a was told")
        state = next(fd for name, fd in daemon.store.kept if name == "state")
        daemon.kill()
        os.pwrite(state, b"\xff\xff", 4)
        daemon.start()
        contains(daemon.log(), "has another version: its pairs end")
        equal(daemon.pair("a", "b")["state"], "empty")
        with daemon.client("a", "b"), daemon.client("b", "a"):
            pass


@test
def ismd_makes_sockets_again_that_are_gone(bench):
    with Daemon(bench, POLICY, kept=True) as daemon, daemon.client("a", "b") as a:
        os.unlink(daemon.path("b", "a"))
        daemon.restart()
        with daemon.client("b", "a") as b:
            equal(a.wait_peer(), b.id)
