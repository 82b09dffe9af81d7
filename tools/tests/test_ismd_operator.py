# SPDX-License-Identifier: GPL-2.0-only
"""smc-ismd: what the operator sees and does."""

import json
import os
import re

from harness import SOURCE, check, contains, equal, test
from ismd import USER, Daemon

POLICY = "vm a\nvm b\nvm c\npair a b size=16M\npair b c size=32M vectors=3\n"
PAGE = os.path.join(SOURCE, "smc-ismd/smc-ismd.8")


def page():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


@test
def ismd_shows_its_pairs(bench):
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b") as a, \
            daemon.client("b", "a", start=False):
        os.pwrite(a.memory, bytes(1 << 20), 1 << 20)
        result = daemon.run("status")
        equal((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        check(re.fullmatch(r"fabric 0, up for \d+ s, started 1 times, nothing survives a restart",
                           lines[0]), lines[0])
        check(re.fullmatch(r"a/b: up, 16M, 10\d\d KiB touched", lines[1]), lines[1])
        equal(lines[2], f"  a                    number {a.id}, came 1 times")
        contains(lines[3], "  b                    number 3, came 1 times")
        equal(lines[4:], ["b/c: empty, 32M, 0 KiB touched", "  b                    came 0 times",
                          "  c                    came 0 times"])


def keys(value):
    if isinstance(value, dict):
        return set(value) | {key for part in value.values() for key in keys(part)}
    return {key for part in value for key in keys(part)} if isinstance(value, list) else set()


@test
def ismd_status_in_json_is_as_documented(bench):
    with Daemon(bench, POLICY, kept=True) as daemon, daemon.client("a", "b") as a:
        result = daemon.run("-j", "status")
        equal((result.returncode, result.stderr), (0, ""))
        status = json.loads(result.stdout)
        documented = set(re.findall(r"^\.It Cm (\w+)$", page(), re.MULTILINE))
        equal(keys(status) - documented, set(), "keys that the page does not have")
        first, second = status["pairs"]
        equal((status["kept"], status["restarts"], first["state"], second["state"]),
              (True, 0, "half", "empty"))
        equal((first["size"], first["vectors"], first["allowed"]), (16 << 20, 5, True))
        equal(first["ends"][0], {"vm": "a", "socket": daemon.path("a", "b"), "listening": True,
                                 "number": a.id, "joins": 1, "interrupts": 0, "behind": False,
                                 "held": False, "waiting": False})
        equal(first["ends"][1]["number"], None)


@test
def ismd_speaks_openmetrics(bench):
    with Daemon(bench, POLICY) as daemon, daemon.client("a", "b"):
        text = daemon.run("-o", "status").stdout
        check(text.endswith("# EOF\n"), "no end")
        families, samples, current = {}, {}, None
        for line in text.splitlines()[:-1]:
            if line.startswith("# TYPE "):
                current, kind = line.split()[2:]
                check(current not in families, f"{current} twice")
                families[current] = kind
            elif line.startswith("# HELP "):
                equal(line.split()[2], current)
                check(line.endswith("."), line)
            else:
                name, labels, value = re.fullmatch(
                    r'(\w+?)(\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? (\d+)', line).groups()
                equal(name, current + ("_total" if families[current] == "counter" else ""))
                check((name, labels) not in samples, f"{name}{labels} twice")
                samples[name, labels] = int(value)
        equal(samples["smc_ismd_present", '{vm="a",peer="b"}'], 1)
        equal(samples["smc_ismd_present", '{vm="b",peer="a"}'], 0)
        equal(samples["smc_ismd_joins_total", '{vm="a",peer="b"}'], 1)
        equal(samples["smc_ismd_pair_size_bytes", '{vm="b",peer="c"}'], 32 << 20)
        documented = set(re.findall(r"^\.It Cm (smc_ismd_\w+)$", page(), re.MULTILINE))
        equal(set(families), documented, "metrics of the manual page")


@test
def ismd_tells_how_to_attach(bench):
    with Daemon(bench, POLICY) as daemon:
        socket = daemon.path("b", "c")
        equal(daemon.run("-q", "attach", "b", "c").stdout,
              f"-chardev socket,id=smc-c,path={socket} "
              "-device ivshmem-doorbell,chardev=smc-c,vectors=3\n")
        equal(daemon.run("--xml", "attach", "b", "c").stdout,
              "<shmem name='smc-c' role='peer'>\n  <model type='ivshmem-doorbell'/>\n"
              f"  <server path='{socket}'/>\n  <msi vectors='3' ioeventfd='on'/>\n</shmem>\n")
        both = daemon.run("attach", "b", "c").stdout
        for path in (socket, daemon.path("c", "b")):
            equal(both.count(path), 2)
        result = daemon.run("attach", "a", "c")
        equal((result.returncode, result.stdout), (1, ""))
        contains(result.stderr, "does not let a and c share memory")


@test
def ismd_takes_a_new_pair(bench):
    with Daemon(bench, POLICY) as daemon:
        os.chmod(daemon.config, 0o640)
        result = daemon.run("pair", "a", "new", "size=32M", "vectors=2")
        equal((result.returncode, result.stderr), (0, ""))
        contains(result.stdout, daemon.path("new", "a"))
        with open(daemon.config, encoding="utf-8") as file:
            equal(file.read(), POLICY + "vm new\npair a new size=32M vectors=2\n")
        equal(os.stat(daemon.config).st_mode & 0o777, 0o640)
        with daemon.client("new", "a", vectors=2) as client:
            equal(os.fstat(client.memory).st_size, 32 << 20)
        for words, complaint in ((("a", "new"), "are a pair already"),
                                 (("a", "a"), "a is named twice"),
                                 (("a", "x", "size=5M"), 'size "5M" is not'),
                                 (("a", "x", "size=16M\nvm evil"), "is not a valid attribute"),
                                 (("a", "x", "y"), '"y" is not a valid attribute'),
                                 (("a", "x\nvm y"), "is not a valid name")):
            result = daemon.run("pair", *words)
            check(result.returncode == 1, f"{words}")
            contains(result.stderr, complaint)
        with open(daemon.config, encoding="utf-8") as file:
            check(file.read().endswith("pair a new size=32M vectors=2\n"), "it was changed")
        equal(sorted(os.listdir(daemon.tmp)), ["host-seed", "log", "policy", "run"])


@test
def ismd_writes_a_policy_that_the_service_can_read(bench):
    """It has another user: a new file is for all, and an old one keeps its owner and mode."""
    old = os.umask(0o077)
    try:
        with Daemon(bench, "") as daemon:
            os.unlink(daemon.config)
            equal(daemon.run("pair", "x", "y").returncode, 0)
            equal(os.stat(daemon.config).st_mode & 0o7777, 0o644)
            owner = (os.geteuid(), os.getegid()) if os.geteuid() else (USER, USER + 1)
            os.chown(daemon.config, *owner)
            os.chmod(daemon.config, 0o640)
            equal(daemon.run("pair", "x", "z").returncode, 0)
            status = os.stat(daemon.config)
            equal((status.st_uid, status.st_gid, status.st_mode & 0o7777), (*owner, 0o640))
            equal(sorted(os.listdir(daemon.tmp)), ["host-seed", "log", "policy", "run"])
    finally:
        os.umask(old)


@test
def ismd_starts_a_policy(bench):
    """Without a file no machine may share memory, until the first pair is there."""
    with Daemon(bench, "") as daemon:
        os.unlink(daemon.config)
        check(daemon.ask("reload")[0], "reload")
        contains(daemon.log(), f"there is no {daemon.config}: no machine may share memory")
        equal(daemon.run("pair", "x", "y").returncode, 0)
        daemon.client("x", "y").close()


@test
def ismd_knows_its_commands(bench):
    for words in ([], ["stat"], ["attach", "a"], ["pair", "a"], ["status", "x"], ["run", "x"],
                  ["pair", "a", "b", "c=d", "e=f", "g=h"], ["-z"], ["check", "x"]):
        result = bench.run(["smc-ismd", *words], LD_PRELOAD=None)
        equal((result.status, result.out), (2, ""), f"{words}")
        contains(result.err, "Usage: smc-ismd [OPTIONS] COMMAND")
