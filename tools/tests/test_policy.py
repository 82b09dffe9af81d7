# SPDX-License-Identifier: GPL-2.0-only
"""smc on, off, status, as far as they go without the kernel: words that make no sense."""

import os
import re
import subprocess

from harness import SOURCE, check, contains, equal, test
from test_documents import complete, read


def help_options(bench):
    return set(re.findall(r"--[a-z]+(?:-[a-z]+)?", bench.run(["smc", "on", "-h"]).ok()))


@test
def policy_options_are_documented(bench):
    options = help_options(bench)
    check(len(options) > 12, "no options in the help")
    documented = {f"--{name}" for name in re.findall(r"Fl Fl ([\w-]+)", read("smc/smc.8"))}
    equal(options - documented, set())


@test
def policy_options_are_completed(bench):
    offered = set(complete(bench, "smc", "on", "--"))
    equal(help_options(bench) - offered - {"--json"}, set())
    check("--json" in complete(bench, "smc", "status", "--"), "status knows JSON")
    equal(sorted(complete(bench, "smc", "")), ["check", "off", "on", "status"])
    for option in offered:
        result = bench.run(["smc", "on", option])
        check("unrecognized" not in result.err, option)
    check("root" in complete(bench, "smc", "on", "--user", "ro"), "no users")


@test
def policy_words_that_make_no_sense(bench):
    for words in (["on", "--hots"], ["on", "--cgroup"], ["status", "--host"], ["status", "now"],
                  ["off", "--persistent"], ["off", "--check"], ["status", "--check"], ["on", "-j", "--user", "root"]):
        result = bench.run(["smc", *words])
        equal((words, result.status, result.out), (words, 2, ""))
        contains(result.err, "Usage: smc on")


@test
def policy_things_that_are_not_there(bench):
    for words, text in ((["--cgroup", "/nowhere"], "no cgroup"),
                        (["--cgroup", ""], "the name of the cgroup is empty"),
                        (["--user", "nemo"], "smc: there is no user nemo\n"),
                        (["--user", ""], "smc: there is no user \n"),
                        (["--user", "-1"], "smc: there is no user -1\n"),
                        (["--user", "99999999999"], "smc: there is no user 99999999999\n"),
                        (["--program", ""], "without its folder"),
                        (["--program", "/bin/sh"], "without its folder"),
                        (["--netns", "nemo"], "smc: there is no network namespace nemo: "),
                        (["--user", "root", "--except-user", "0"], "smc: user 0 is named twice\n")):
        result = bench.run(["smc", "on", *words])
        equal((words, result.status, result.out), (words, 1, ""))
        contains(result.err, text)
        equal(result.err.count("\n"), 1, f"sentences for {words}")


@test
def policy_off_for_users_that_are_not_there(bench):
    if os.geteuid():
        return
    result = bench.run(["smc", "off", "--user", "nemo", "--netns", "nemo"])
    equal((result.status, result.out), (1, ""))
    equal(result.err, "smc: there is no user nemo, and no rule for it\n"
                      "smc: there is no network namespace nemo, and no rule for it\n")


@test
def policy_is_for_root(bench):
    if os.geteuid():
        prefix = []
    else:
        prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    for words in (["on", "--host"], ["off"], ["status"], ["on", "--user", "nemo"]):
        result = bench.run([*prefix, bench.tool("smc"), *words])
        check(result.status != 0, "it was done")
        equal(result.err, "smc: only root may see or change which programs use SMC\n")


@test
def policy_without_bpf_says_so(bench):
    """The tools of a machine without clang or libbpf."""
    folder = os.path.join(bench.tmp, "without")
    for words in (["all"], ["install", f"DESTDIR={folder}/stage"]):
        result = subprocess.run(["make", "-s", "-j2", "-C", SOURCE, f"O={folder}",
                                 "CLANG=no-such-clang", *words], check=True, text=True,
                                env={"PATH": os.environ["PATH"]}, capture_output=True)
        equal(result.stderr, 'note: the tools are without "smc on"; install clang and libbpf-dev, '
                             "then make again\n", words)
    result = bench.run([f"{folder}/smc", "on", "--user", "root"])
    if os.geteuid() == 0:
        equal((result.status, result.out), (1, ""))
        contains(result.err, "built without BPF: clang or libbpf-dev was missing")
    check("libbpf" not in bench.run(["ldd", f"{folder}/smc"]).out, "it needs libbpf")


def uninstall(bench, target, status, text, enabled=1):
    """An installed tool that says this of itself, and what make says when it is to go."""
    programs = {"bin/smc": f"echo '{text}'; exit {status}", "path/id": "echo 0",
                "path/systemctl": f"exit {enabled}"}
    for name, line in programs.items():
        path = os.path.join(bench.tmp, "installed", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n{line}\n")
        os.chmod(path, 0o755)
    folder = os.path.join(bench.tmp, "installed")
    return subprocess.run(["make", "-s", "-C", SOURCE, target, f"PREFIX={folder}"], check=False,
                          env={"PATH": f"{folder}/path:{os.environ['PATH']}"},
                          capture_output=True, encoding="ascii")


@test
def policy_that_is_on_keeps_the_tools(bench):
    """Nothing could switch it off if they were removed."""
    start = "Each start of %s asks for SMC: /etc/systemd/system/%s.d/50-smc.conf"
    units = [start % (unit, unit) for unit in ("one.service", "two.service")]
    for status, text, enabled, commands in (
            (0, "on since", 1, "smc off"),
            (0, "\n".join(["on since", *units]), 0, "smc off; systemctl disable smc-policy.service; "
             "smc off --unit one.service; smc off --unit two.service"),
            (1, "\n".join(["off", *units[:1]]), 1, "smc off --unit one.service"),
            (1, "off", 0, "systemctl disable smc-policy.service")):
        result = uninstall(bench, "uninstall", status, text, enabled)
        equal((result.returncode, result.stdout), (2, ""), text)
        contains(result.stderr, f"SMC is switched on, or will be; run first: {commands}\n")
        check(os.path.exists(os.path.join(bench.tmp, "installed/bin/smc")), "it is gone")
    contains(uninstall(bench, "uninstall", 2, "smc: the reason").stderr, "smc: the reason\n")
    for status, text in ((1, "off: programs get"), (127, "no library")):
        result = uninstall(bench, "unused", status, text)
        equal((result.returncode, result.stderr), (0, ""), text)
