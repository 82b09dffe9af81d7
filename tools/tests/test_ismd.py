# SPDX-License-Identifier: GPL-2.0-only
"""smc-ismd: what QEMU hears, who may connect, clients that misbehave."""

import contextlib
import ctypes
import fcntl
import os
import pwd
import random
import re
import resource
import signal
import socket
import stat
import struct
import subprocess
import threading

from harness import HERE, SOURCE, Skip, check, contains, equal, test
from ismd import Daemon, until
from ivshmem import Client, count, is_quiet

POLICY = "vm a\nvm b\nvm c\npair a b size=16M\npair b c size=32M vectors=3\n" \
         "joins 1000000\n"
FACTS = struct.Struct("<IHHI16sII28xII")
MIB = 1 << 20
F_GET_SEALS = 1034
F_ADD_SEALS = 1033
SHRINK_GROW_SEAL = 0x7


def facts(client, side):
    size = os.fstat(client.memory).st_size
    return FACTS.unpack(os.pread(client.memory, FACTS.size, side * size // 2 + 0x1000))


@test
def ismd_pure_parts_keep_their_promises(bench):
    program = os.path.join(bench.tmp, "ismd_unit")
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1",
                    "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                    "-I", os.path.join(SOURCE, "smc-ismd"),
                    "-I", os.path.join(SOURCE, "../include/smc"), "-o", program,
                    os.path.join(HERE, "ismd_unit.c"),
                    os.path.join(SOURCE, "smc-ismd/protocol.c"),
                    os.path.join(SOURCE, "smc-ismd/rate.c")], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    equal((done.returncode, done.stdout, done.stderr), (0, "", ""))


@test
def ismd_says_what_qemu_expects_in_this_order(bench):
    with Daemon(bench, POLICY) as daemon:
        with daemon.client("b", "a", start=False) as first:
            got = [first.read() for _ in range(8)]
            first.own = [descriptor for _, descriptor in got if descriptor is not None]
            id_ = got[1][0]
            equal([number for number, _ in got], [0, id_, -1, *[id_] * 5])
            equal([descriptor is not None for _, descriptor in got], [False, False] + [True] * 6)
            check(is_quiet(first.sock), "more than eight messages")
            with daemon.client("a", "b", start=False) as second:
                got = [second.read() for _ in range(13)]
                second.own = [descriptor for _, descriptor in got if descriptor is not None]
                own = got[1][0]
                equal([number for number, _ in got],
                      [0, own, -1, *[id_] * 5, *[own] * 5])
                check(is_quiet(second.sock), "more than thirteen messages")


@test
def ismd_hands_out_a_memory_that_keeps_its_size(bench):
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b") as a, \
            daemon.client("b", "a") as b, daemon.client("b", "c", vectors=3) as other:
        for client, size in ((a, 16 * MIB), (b, 16 * MIB), (other, 32 * MIB)):
            equal(os.fstat(client.memory).st_size, size)
            equal(fcntl.fcntl(client.memory, F_GET_SEALS), SHRINK_GROW_SEAL)
            for length in (0, size - 4096, 2 * size):
                try:
                    os.ftruncate(client.memory, length)
                    check(False, f"cut to {length}")
                except PermissionError:
                    pass
            try:
                fcntl.fcntl(client.memory, F_ADD_SEALS, 0x8)
                check(False, "more seals")
            except PermissionError:
                pass
        os.pwrite(a.memory, b"hello", 3 * MIB)
        equal(os.pread(b.memory, 5, 3 * MIB), b"hello")
        equal(os.pread(other.memory, 5, 3 * MIB), bytes(5), "memory of another pair")
        equal(os.fstat(a.memory).st_ino, os.fstat(b.memory).st_ino)


@test
def ismd_tells_who_comes_and_who_goes(bench):
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b") as a:
        equal(a.peers, {})
        a.rung()
        for _ in range(3):
            b = daemon.client("b", "a")
            equal(a.wait_peer(), b.id)
            equal(b.wait_peer(), a.id)
            daemon.status()
            equal(a.rung(), 1, "interrupts for the one that came")
            # the eventfds of one are those that the other one knows
            for vector in range(5):
                os.eventfd_write(a.peers[b.id][vector], 7 + vector)
                equal([count(fd) for fd in b.own],
                      [7 + vector if number == vector else 0 for number in range(5)])
                os.eventfd_write(b.peers[a.id][vector], 1)
                equal(count(a.own[vector]), 1)
            b.close()
            a.wait_alone()
            daemon.status()
            equal(a.rung(), 1, "interrupts for the one that went")
        equal(len(set(a.seen)), 3)


@test
def ismd_writes_the_facts(bench):
    with Daemon(bench, "fabric 7\n" + POLICY) as daemon, daemon.client("b", "a") as b:
        seed = bytes.fromhex(daemon.status()["host_seed"])
        memory = int(daemon.pair("a", "b")["memory"], 16)
        check(any(seed), "no seed")
        check(memory, "no number")
        for side, id_, joins in ((0, 0, 0), (1, b.id, 1)):
            equal(facts(b, side), (0x46434d53, 1, 7, 5, seed, memory, side, id_, joins))
        equal(b.id & 1, 1, "side of b in its number")
        for round_ in (1, 2):
            with daemon.client("a", "b") as a:
                equal(a.id & 1, 0)
                b.wait_peer()
                equal(facts(b, 0), (0x46434d53, 1, 7, 5, seed, memory, 0, a.id, round_))
            b.wait_alone()
            equal(facts(b, 0)[-2:], (0, round_), "mark of the one that went")
            equal(facts(b, 1)[-2:], (b.id, 1))
        daemon.restart()
        equal(daemon.status()["host_seed"], seed.hex(), "the seed after a restart")


@test
def ismd_believes_nothing_that_machines_write(bench):
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b") as a:
        for half in (0, 8 * MIB):
            os.pwrite(a.memory, b"\xff" * 0x100000, half)
        with daemon.client("b", "a") as b:
            equal(a.wait_peer(), b.id)
            equal(facts(a, 1)[-2:], (b.id, 1))
        a.wait_alone()
        equal(facts(a, 1)[-2:], (0, 1))


@test
def ismd_writes_the_facts_whatever_the_flags_of_the_memory(bench):
    """The client has the same open file, and its flags."""
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b") as a:
        fcntl.fcntl(a.memory, fcntl.F_SETFL, os.O_RDWR | os.O_APPEND)
        with daemon.client("b", "a") as b:
            equal(a.wait_peer(), b.id)
            equal(facts(a, 1)[-2:], (b.id, 1))
        a.wait_alone()
        equal(facts(a, 1)[-2:], (0, 1))
        check("is not named in the memory" not in daemon.log(), daemon.log())


@test
def ismd_gives_no_number_twice(bench):
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b") as a:
        numbers = []
        for _ in range(60):
            with daemon.client("b", "a") as b:
                numbers.append(b.id)
                a.wait_peer()
            a.wait_alone()
        equal(len(set(numbers)), 60)
        equal({number & 1 for number in numbers}, {1})
        equal(a.seen, numbers)


@test
def ismd_has_new_memory_when_both_are_gone(bench):
    with Daemon(bench, POLICY) as daemon:
        a, b = daemon.client("a", "b"), daemon.client("b", "a")
        os.pwrite(a.memory, b"secret", 2 * MIB)
        inode = os.fstat(a.memory).st_ino
        a.close()
        b.wait_peer()
        b.wait_alone()
        with daemon.client("a", "b") as again:
            equal(os.fstat(again.memory).st_ino, inode, "the other one is still there")
        b.close()
        until(lambda: daemon.pair("a", "b")["memory"] is None, "the memory is gone")
        with daemon.client("a", "b") as new:
            equal(os.pread(new.memory, 6, 2 * MIB), bytes(6), "of the one before")


@test
def ismd_does_not_wait_for_a_client_that_does_not_read(bench):
    """Whatever happens meanwhile, there is no more to read in the end than how it is now."""
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b", start=False) as slow, \
            daemon.client("c", "b", vectors=3) as c:
        for _ in range(300):
            daemon.client("b", "a").close()
            with daemon.client("b", "c", vectors=3) as b:
                equal(c.wait_peer(), b.id)
            c.wait_alone()
        with daemon.client("b", "a") as last:
            until(lambda: daemon.end("a", "b")["behind"], "the slow one is behind")
            slow.start()
            slow.read_until(lambda: len(slow.peers.get(last.id, ())) == 5)
            check(slow.messages < 100, f"{slow.messages} messages")
            until(lambda: not daemon.end("a", "b")["behind"], "it knows everything")
            check(is_quiet(slow.sock), "something is left")
        slow.wait_alone()


@test
def ismd_survives_broken_clients(bench):
    def garbage(sock):
        sock.sendall(os.urandom(4096))

    def half_close(sock):
        sock.shutdown(socket.SHUT_WR)

    def half_read(sock):
        sock.recv(11)

    def descriptors(sock):
        socket.send_fds(sock, [b"x"], [0] * 50)

    def nothing(_sock):
        pass

    with Daemon(bench, POLICY) as daemon, daemon.client("b", "a") as b:
        daemon.status()
        before = daemon.descriptors()
        for action in (garbage, half_close, half_read, descriptors, nothing) * 4:
            with socket.socket(socket.AF_UNIX) as sock:
                sock.connect(daemon.path("a", "b"))
                # The daemon takes no data: it may have said so before the client sends.
                with contextlib.suppress(BrokenPipeError):
                    action(sock)
            with daemon.client("a", "b") as good:
                equal(good.wait_peer(), b.id)
            until(lambda: not daemon.end("a", "b")["number"], "both are gone")
        equal(daemon.descriptors(), before)
        b.read_until(lambda: not b.peers or is_quiet(b.sock))
        equal(os.fstat(b.memory).st_size, 16 * MIB)


@test
def ismd_takes_one_client_at_a_time(bench):
    with Daemon(bench, POLICY) as daemon:
        first = daemon.client("a", "b")
        second = daemon.client("a", "b", start=False)
        until(lambda: daemon.end("a", "b")["waiting"], "the second one waits")
        equal(daemon.end("a", "b")["number"], first.id)
        check(is_quiet(second.sock), "the second one hears something")
        contains(daemon.log(), "a of a/b is connected already: a second client waits")
        first.close()
        second.start()
        check(second.id != first.id, "the same number")
        equal(daemon.end("a", "b")["waiting"], False)
        second.close()


@test
def ismd_leaks_nothing_in_five_hundred_lives(bench):
    with Daemon(bench, POLICY, kept=True) as daemon, daemon.client("b", "a") as b:
        def live(times):
            for _ in range(times):
                with daemon.client("a", "b") as a:
                    equal(a.wait_peer(), b.id)
                b.wait_peer()
                b.wait_alone()
            daemon.status()

        # The address sanitizer of gcc 14 has all of its own memory only then
        live(300)
        descriptors, memory, names = daemon.descriptors(), daemon.resident(), daemon.store.names()
        live(500)
        equal(daemon.descriptors(), descriptors, "descriptors")
        equal(daemon.store.names(), names, "descriptors of the service manager")
        check(daemon.resident() <= memory + 1024, f"{memory} KiB became {daemon.resident()}")
        # 1 state, 4 listeners, 1 memory, 2 clients with 5 vectors each
        check(daemon.store.most <= 18, f"{daemon.store.most} descriptors were kept")


@test
def ismd_lets_in_whom_the_policy_names(bench):
    with Daemon(bench, POLICY) as daemon:
        for vm, peer in (("a", "c"), ("c", "a"), ("a", "a"), ("d", "a")):
            check(not os.path.exists(daemon.path(vm, peer)), f"{vm}/{peer}")
        for vm, peer in (("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")):
            status = os.stat(daemon.path(vm, peer))
            equal(oct(stat.S_IMODE(status.st_mode)), "0o600", f"{vm}/{peer}")
            folder = os.stat(os.path.dirname(daemon.path(vm, peer)))
            equal(oct(stat.S_IMODE(folder.st_mode)), "0o700", vm)


@test
def ismd_lets_the_user_of_a_machine_in(bench):
    if os.geteuid():
        raise Skip("has to be root to be two other users")
    user = pwd.getpwnam("nobody").pw_uid
    policy = f"vm a user=nobody\nvm b user={user + 1}\npair a b\n"

    def may_connect(path, uid):
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            result = b"no"
            try:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(uid, uid, uid)
                with Client(path, start=False):
                    result = b"yes"
            finally:
                os.write(writer, result)
                os._exit(0)         # pylint: disable=protected-access
        os.waitpid(pid, 0)
        os.close(writer)
        with os.fdopen(reader, "rb") as answer:
            return answer.read() == b"yes"

    with Daemon(bench, policy) as daemon:
        for vm, peer, uid, may in (("a", "b", user, True), ("b", "a", user, False),
                                   ("a", "b", user + 1, False), ("b", "a", user + 1, True)):
            equal(may_connect(daemon.path(vm, peer), uid), may, f"user {uid}, socket of {vm}")
        daemon.set_policy(policy.replace("nobody", str(user + 2)))
        check(daemon.ask("reload")[0], "reload")
        equal(may_connect(daemon.path("a", "b"), user), False, "after a reload")
        equal(may_connect(daemon.path("a", "b"), user + 2), True, "after a reload")
        path = os.path.join(daemon.run_folder, "control.sock")
        equal(may_connect(path, user), False, "the operator's socket")


@test
def ismd_reloads_without_harm_to_those_who_are_there(bench):
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b") as a, \
            daemon.client("b", "a") as b:
        a.wait_peer()
        daemon.status()
        a.rung()
        daemon.set_policy("vm a\nvm b\nvm d\npair d a\nmesh a b size=64M vectors=2\n")
        daemon.signal(signal.SIGHUP)
        until(lambda: daemon.pair("a", "d"), "the new pair is there")
        equal(daemon.pair("b", "c"), None)
        check(not os.path.exists(daemon.path("b", "c")), "the old socket is there")
        check(is_quiet(a.sock) and is_quiet(b.sock), "somebody heard of it")
        equal(daemon.pair("a", "b")["size"], 16 * MIB, "size of a memory in use")
        with daemon.client("d", "a"), daemon.client("a", "d"):
            pass
        daemon.set_policy("vm a\nvm d\npair d a\n")
        check(daemon.ask("reload")[0], "reload")
        equal(daemon.pair("a", "b")["allowed"], False)
        check(is_quiet(a.sock), "a was told")
        check(not os.path.exists(daemon.path("a", "b")), "the socket is there")
        b.close()
        a.wait_alone()
        daemon.status()
        equal(a.rung(), 1)
        a.close()
        until(lambda: daemon.pair("a", "b") is None, "the pair is forgotten")
        daemon.set_policy("vm a\nvm b\npair b a size=64M vectors=2\n")
        check(daemon.ask("reload")[0], "reload")
        with daemon.client("a", "b", vectors=2) as again:
            equal(os.fstat(again.memory).st_size, 64 * MIB)


BAD = (
    ("vm\n", 1, "vm needs one name"),
    ("vm a b\n", 1, "vm needs one name"),
    ("vm a\nvm a\n", 2, "a is defined already"),
    ("vm -a\n", 1, '"-a" is not a valid name'),
    ("vm a/b\n", 1, '"a/b" is not a valid name'),
    ("vm ..\n", 1, '".." is not a valid name'),
    (f"vm {'x' * 41}\n", 1, f'"{"x" * 41}" is not a valid name'),
    ("vm a user=no-such-user\n", 1, 'there is no user "no-such-user"'),
    ("vm a user=4294967295\n", 1, 'there is no user "4294967295"'),
    ("vm a size=16M\n", 1, '"size" is not a valid attribute of vm'),
    ("vm a\nvm b\n\n# no\npair a\n", 5, "pair needs two names"),
    ("vm a\nvm b\nvm c\npair a b c\n", 4, "pair needs two names"),
    ("vm a\npair a a\n", 2, "a is named twice"),
    ("vm a\npair a b\nvm b\n", 2, 'there is no vm "b" above this line'),
    ("vm a\nvm b\npair a b\npair b a\n", 4, "b and a are a pair already"),
    ("vm a\nvm b\npair a b size=3M\n", 3, 'size "3M" is not a power of two from 16M to 1G'),
    ("vm a\nvm b\npair a b size=8M\n", 3, 'size "8M" is not'),
    ("vm a\nvm b\npair a b size=2G\n", 3, 'size "2G" is not'),
    ("vm a\nvm b\npair a b size=64\n", 3, 'size "64" is not'),
    ("vm a\nvm b\npair a b size=18446744073709551680M\n", 3, 'size "18446744073709551680M" is not'),
    ("vm a\nvm b\npair a b vectors=4\n", 3, 'vectors "4" is not 2, 3 or 5'),
    ("vm a\nvm b\npair a size=16M b\n", 3, '"b" follows an attribute'),
    ("vm a\nvm b\npair a b =3\n", 3, '"" is not a valid attribute of pair'),
    ("vm a\nmesh a\n", 2, "mesh needs two names or more"),
    ("fabric 255\n", 1, "fabric needs a number from 0 to 254"),
    ("fabric -1\n", 1, "fabric needs a number"),
    ("fabric\n", 1, "fabric needs a number"),
    ("joins 0\n", 1, "joins needs a number from 1 to 1000000"),
    ("joins 1000001\n", 1, "joins needs a number"),
    ("memory lots\n", 1, "memory needs a size"),
    ("memory 0G\n", 1, "memory needs a size"),
    ("default\n", 1, "default needs"),
    ("default b\n", 1, "default needs"),
    ("memory 1G\nvm a\nvm b\nvm c\nmesh a b c size=512M\n", 5, "b and c: more memory than allowed"),
    ("share a b\n", 1, '"share" is not one of'),
    ("vm a\0b\n", 1, "not a line of text"),
    ("vm " + "a" * 40000 + "\n", 1, "not a line of text"),
    ("".join(f"vm v{number}\n" for number in range(513)), 513, "more than 512 machines"),
    ("".join(f"vm v{number}\n" for number in range(62))
     + "".join(f"pair v0 v{number}\n" for number in range(1, 62)), 123,
     "v0 has more than 60 pairs"),
    ("".join(f"vm v{number}\n" for number in range(33))
     + "mesh " + " ".join(f"v{number}" for number in range(33)), 34, "more than 512 pairs"),
)


@test
def ismd_says_what_is_wrong_with_a_policy(bench):
    path = os.path.join(bench.tmp, "policy")
    for text, line, complaint in BAD:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        result = bench.run(["smc-ismd", "-c", path, "check"], LD_PRELOAD=None)
        equal((result.status, result.out), (1, ""), text[:200])
        contains(result.err, f"smc-ismd: {path}:{line}: {complaint}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("vm a b\nvm c\nnonsense\n")
    result = bench.run(["smc-ismd", "-c", path, "check"], LD_PRELOAD=None)
    equal(result.err.count("\n"), 2, "all that is wrong")


@test
def ismd_survives_any_policy(bench):
    """Words of policies in any order, and damaged bytes: a verdict, and a place for each error."""
    chance = random.Random(17)
    words = ["vm", "pair", "mesh", "default", "fabric", "joins", "memory", "a", "b", "c" * 40, "x" * 41,
             "size=16M", "size=", "vectors=5", "vectors=", "user=0", "user=", "=", "==", "1G", "7",
             "#", "\n", "\n", "\n", "\t", "\0", "\xff", "9" * 30]
    path = os.path.join(bench.tmp, "policy")
    verdicts = set()
    for _ in range(150):
        text = " ".join(chance.choices(words, k=chance.randrange(60)))
        with open(path, "w", encoding="latin-1") as file:
            file.write(chance.choice(("", POLICY)) + text)
        result = bench.run(["smc-ismd", "-c", path, "check"], LD_PRELOAD=None)
        verdicts.add(result.status)
        if result.status:
            equal((result.status, result.out), (1, ""), repr(text))
            for line in result.err.splitlines():
                check(re.match(rf"smc-ismd: {path}:\d+: ", line), line)
        else:
            equal(result.err, "", repr(text))
    equal(verdicts, {0, 1})


@test
def ismd_understands_a_good_policy(bench):
    path = os.path.join(bench.tmp, "policy")
    with open(path, "w", encoding="utf-8") as file:
        file.write("# ours\nfabric 3\njoins 7\nmemory 2G # at most\ndefault size=32M vectors=3 user=0\n\n"
                   "vm\tz user=65534\r\nvm b.1\nvm C_2-x\nvm d\n"
                   "mesh z b.1 C_2-x\npair d z size=1G vectors=2")
    result = bench.run(["smc-ismd", "-c", path, "check"], LD_PRELOAD=None)
    equal(result.ok(), "fabric 3, 4 machines, 4 pairs\n"
          "b.1/z: 32M, 3 vectors\nC_2-x/z: 32M, 3 vectors\nC_2-x/b.1: 32M, 3 vectors\n"
          "d/z: 1G, 2 vectors\n")


@test
def ismd_keeps_its_policy_when_the_new_one_is_bad(bench):
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b") as a:
        daemon.set_policy("vm a\nvm b\nvm c\npear a b\n")
        result = daemon.run("reload")
        equal((result.returncode, result.stdout), (1, ""))
        contains(result.stderr, f'{daemon.config}:4: "pear" is not one of')
        daemon.signal(signal.SIGHUP)
        until(lambda: daemon.status()["failed_reloads"] == 2, "it has tried twice")
        contains(daemon.log(), f'{daemon.config}:4: "pear" is not one of')
        check(is_quiet(a.sock), "a was told")
        equal(len(daemon.status()["pairs"]), 2)
        daemon.client("b", "a").close()


@test
def ismd_does_not_start_with_a_bad_policy(bench):
    try:
        with Daemon(bench, "vm a b c\n"):
            check(False, "it runs")
    except AssertionError as problem:
        contains(str(problem), "ended with 1")
        contains(str(problem), "policy:1: vm needs one name")


@test
def ismd_starts_without_the_pairs_of_a_user_that_is_not_there(bench):
    policy = ("vm x\nvm y\npair x y\nvm a user=no-such-user\npair a x\n"
              "default user=no-such-user\nvm d\nvm e user=0\nmesh d e y\n")
    left_out = [("a", "x"), ("d", "e"), ("d", "y")]
    with Daemon(bench, policy) as daemon:
        equal([[end["vm"] for end in pair["ends"]] for pair in daemon.status()["pairs"]],
              [["x", "y"], ["e", "y"]])
        contains(daemon.log(), 'policy:4: there is no user "no-such-user"')
        for a, b in left_out:
            contains(daemon.log(), f"{a} and {b} are left out")
            check(not os.path.exists(daemon.path(a, b)), f"{a} has a socket")
        with daemon.client("x", "y") as x, daemon.client("y", "x") as y:
            equal(x.wait_peer(), y.id)
        # an operator who is there hears of it
        result = daemon.run("reload")
        equal(result.returncode, 1)
        contains(result.stderr, 'there is no user "no-such-user"')
        equal(len(daemon.status()["pairs"]), 2)
        equal(daemon.run("check").returncode, 1)
    for bad in ("vm x\nvm y\npair x y size=3M\n", "vm a user=no-such-user\nnonsense\n"):
        with contextlib.suppress(AssertionError), Daemon(bench, bad):
            raise RuntimeError("it runs with another mistake")


@test
def ismd_serves_one_folder_once(bench):
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b") as a:
        result = daemon.run("run")
        equal(result.returncode, 1)
        contains(result.stderr, f"another smc-ismd serves {daemon.run_folder}")
        with daemon.client("b", "a") as b:
            equal(a.wait_peer(), b.id)


@test
def ismd_refuses_more_than_it_has_descriptors_for(bench):
    with Daemon(bench, POLICY) as daemon:
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (70, 70))
        daemon.set_policy("vm a\nvm b\nvm c\nvm d\nmesh a b c d\n")
        result = daemon.run("reload")
        equal(result.returncode, 1)
        contains(result.stderr, "needs 122 descriptors, the limit is 70")
        equal(len(daemon.status()["pairs"]), 2)


@test
def ismd_lets_a_client_wait_while_there_are_no_descriptors(bench):
    """One that was let in and dropped would never end: QEMU reads on."""
    with Daemon(bench, POLICY) as daemon, daemon.client("b", "a") as b:
        for spare in range(6):
            daemon.status()
            hard = daemon.leave_descriptors(spare)
            with daemon.client("a", "b", start=False) as a:
                until(lambda: daemon.log().count("a of a/b must wait: Too many open files")
                      == spare + 1, "it waits")
                check(is_quiet(a.sock), "it hears something")
                check(is_quiet(b.sock), "b hears something")
                with contextlib.suppress(ConnectionError):
                    daemon.ask("status")        # answered or turned away, at once
                resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (hard, hard))
                a.start()
                equal(a.wait_peer(), b.id)
                b.wait_peer()
            b.wait_alone()


@test
def ismd_is_not_stopped_by_a_full_eventfd(bench):
    """The flag that keeps a writer from waiting belongs to the client as well."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b") as a:
        fcntl.fcntl(a.own[0], fcntl.F_SETFL, 0)
        equal(libc.eventfd_write(a.own[0], ctypes.c_uint64((1 << 64) - 2)), 0)
        with daemon.client("b", "a") as b:
            equal(a.wait_peer(), b.id)
            daemon.status()
        a.wait_alone()
        with daemon.client("c", "b", vectors=3):
            pass


@test
def ismd_control_socket_survives_bad_operators(bench):
    with Daemon(bench, POLICY) as daemon:
        path = os.path.join(daemon.run_folder, "control.sock")
        idle = []
        for text in (b"", b"status", b"status json\nx", b"x" * 1000, b"\n", b"\0\n") * 5:
            sock = socket.socket(socket.AF_UNIX)
            idle.append(sock)
            sock.connect(path)
            with contextlib.suppress(OSError):      # it may have been turned away
                sock.sendall(text)
        equal(daemon.ask("nonsense"), (False, ""))
        check(daemon.ask("status")[0], "status")
        for sock in idle:
            sock.close()
        equal(oct(stat.S_IMODE(os.stat(path).st_mode)), "0o600")


@test
def ismd_answers_many_at_once(bench):
    with Daemon(bench, POLICY) as daemon:
        problems = []

        def live(vm, peer, vectors):
            try:
                for _ in range(40):
                    daemon.client(vm, peer, vectors=vectors).close()
            except Exception as problem:        # pylint: disable=broad-except
                problems.append(problem)

        threads = [threading.Thread(target=live, args=ends) for ends in
                   (("a", "b", 5), ("b", "a", 5), ("b", "c", 3), ("c", "b", 3))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(problems, [])
        until(lambda: {pair["state"] for pair in daemon.status()["pairs"]} == {"empty"},
              "all are gone")


@test
def ismd_refuses_folders_that_need_quotes(bench):
    for folder in ("relative", "/tmp/a b", "/tmp/a,b", "/tmp/a'b", "/tmp/" + "x" * 60):
        result = bench.run(["smc-ismd", "-r", folder, "status"], LD_PRELOAD=None)
        equal(result.status, 2, folder)
        contains(result.err, "not absolute, too long, or in need of quotes")
    result = bench.run(["smc-ismd", "-r", "/nonexistent", "status"], LD_PRELOAD=None)
    equal((result.status, result.err),
          (1, "smc-ismd: /nonexistent/control.sock: the daemon does not run\n"))
