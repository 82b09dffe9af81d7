# SPDX-License-Identifier: GPL-2.0-only
"""smc_pnet: the table of physical networks."""

import errno
import json

import kernel as k
from harness import check, contains, equal, test

ENTRIES = [("PNETA", "eth0", "n/a", 255), ("PNETA", "n/a", "rxe0", 1)]


def table(bench, entries=None, error=None):
    entries = ENTRIES if entries is None else entries

    def pnet(request):
        if error:
            raise k.Failure(*error)
        if request.command != 1:
            return None
        name = request.attributes.get(1)
        return [k.pnet_entry(*entry) for entry in entries
                if request.dump or entry[0].encode() == name[:-1]]

    bench.kernel.pnet = pnet


@test
def pnet_shows_the_table_as_documented(bench):
    table(bench)
    expected = "PNETA eth0 n/a 255\nPNETA n/a rxe0 1\n"
    for options in ([], ["-s"], ["--show"]):
        equal(bench.run(["smc_pnet", *options]).ok(), expected, f"{options}")
        request = bench.kernel.requests[-1]
        equal((request.command, request.flags, request.attributes), (1, 0x305, {}))
    table(bench, [])
    equal(bench.run(["smc_pnet"]).ok(), "")


@test
def pnet_shows_one_id(bench):
    table(bench, [*ENTRIES, ("OTHER", "eth1", "n/a", 255)])
    for options in (["-s", "OTHER"], ["-sOTHER"], ["--show=OTHER"], ["--show", "OTHER"],
                    ["-s", "other"]):
        equal(bench.run(["smc_pnet", *options]).ok(), "OTHER eth1 n/a 255\n", f"{options}")
        request = bench.kernel.requests[-1]
        equal((request.flags, request.attributes), (0x5, {1: b"OTHER\0"}))
    equal(bench.run(["smc_pnet", "-s", "NONE"]).ok(), "")


@test
def pnet_sends_what_is_documented(bench):
    table(bench)
    for options, command, attributes in (
            (["-a", "NET1", "-I", "eth0"], 2, {1: b"NET1\0", 2: b"eth0\0"}),
            (["--add", "NET1", "--interface", "eth0"], 2, {1: b"NET1\0", 2: b"eth0\0"}),
            (["-a", "NET1", "-D", "rxe0"], 2, {1: b"NET1\0", 3: b"rxe0\0", 4: b"\1"}),
            (["-a", "NET1", "-D", "rxe0", "-P", "2"], 2,
             {1: b"NET1\0", 3: b"rxe0\0", 4: b"\2"}),
            (["-a", "net1", "-I", "eth0", "-D", "rxe0", "-P", "1"], 2,
             {1: b"NET1\0", 2: b"eth0\0", 3: b"rxe0\0", 4: b"\1"}),
            (["--ibdevice", "rxe0", "--ibport", "0", "-a", "NET1"], 2,
             {1: b"NET1\0", 3: b"rxe0\0", 4: b"\0"}),
            (["-d", "NET1"], 3, {1: b"NET1\0"}),
            (["--delete", "net1"], 3, {1: b"NET1\0"}),
            (["-f"], 4, {}), (["--flush"], 4, {})):
        equal(bench.run(["smc_pnet", *options]).ok(), "")
        request = bench.kernel.requests[-1]
        equal((request.command, request.flags, request.attributes),
              (command, 0x5, attributes), f"{options}")
        equal(request.payload[1:4], b"\1\0\0", "version of the family")


@test
def pnet_errors_are_as_documented(bench):
    for number, text in ((errno.EEXIST, "Object exists"), (errno.ENOENT, "Object not found"),
                         (errno.EINVAL, "Invalid input data or parameter"),
                         (errno.ERANGE, "Invalid input data or parameter"),
                         (errno.EPERM, "Operation not permitted")):
        table(bench, error=(number,))
        for options in (["-a", "X", "-I", "eth0"], ["-d", "X"], ["-f"], ["-s"], ["-s", "X"]):
            result = bench.run(["smc_pnet", *options])
            equal((result.status, result.out, result.err), (1, "", f"smc_pnet: {text}\n"))
    table(bench, error=(errno.EEXIST, "eth0 belongs to NET2"))
    equal(bench.run(["smc_pnet", "-a", "X", "-I", "eth0"]).err,
          "smc_pnet: Object exists\nsmc_pnet: eth0 belongs to NET2\n")


@test
def pnet_says_that_the_module_is_missing(bench):
    result = bench.run(["smc_pnet"])
    equal((result.status, result.out, result.err),
          (1, "", "smc_pnet: SMC module not loaded\n"))


@test
def pnet_refuses_senseless_options(bench):
    table(bench)
    for options in (["-P", "3", "-a", "X", "-D", "rxe0"], ["-P", "-1", "-s"],
                    ["-P", "x", "-s"], ["-a"], ["-a", "X"], ["-d"], ["-x"],
                    ["-a", "X", "-d", "Y"], ["-f", "-s"], ["word"],
                    ["-a", "X", "-I", "eth0", "-P", "1"]):
        result = bench.run(["smc_pnet", *options])
        equal((result.status, result.out), (1, ""), f"{options}")
        contains(result.err, "Usage: smc_pnet")
    contains(bench.run(["smc_pnet", "-P", "3", "-s"]).err, "smc_pnet: invalid ib port:3\n")
    equal(bench.kernel.requests, [])


@test
def pnet_names_options_that_it_ignores(bench):
    table(bench)
    result = bench.run(["smc_pnet", "-s", "-I", "eth9", "-D", "rxe9", "-P", "2"])
    equal((result.status, result.out), (0, "PNETA eth0 n/a 255\nPNETA n/a rxe0 1\n"))
    for word in ("-I eth9", "-D rxe9", "-P 2"):
        contains(result.err, f"{word} ignored")


@test
def pnet_json(bench):
    table(bench)
    equal(json.loads(bench.run(["smc_pnet", "-j"]).ok()),
          [{"id": "PNETA", "interface": "eth0", "device": None, "port": None},
           {"id": "PNETA", "interface": None, "device": "rxe0", "port": 1}])
    table(bench, [])
    equal(json.loads(bench.run(["smc_pnet", "-js"]).ok()), [])


@test
def pnet_survives_incomplete_entries(bench):
    bench.kernel.pnet = lambda request: [
        k.genl(1, k.string(1, "A")), k.genl(1, k.string(2, "eth0")), b"\1",
        k.genl(1, k.string(1, "B" * 40), k.string(2, "e" * 40), k.string(3, "i" * 99),
               k.attr(4, b"123"))]
    result = bench.run(["smc_pnet"])
    equal(result.out.splitlines(), ["A n/a n/a 255",
                                    f"{'B' * 16} {'e' * 16} {'i' * 64} 255"])
    equal((result.status, result.err), (0, "Error: Message truncated\n"))


@test
def pnet_help_and_version_succeed(bench):
    for option in ("-h", "--help"):
        contains(bench.run(["smc_pnet", option]).ok(), "Usage: smc_pnet")
    for option in ("-v", "--version"):
        contains(bench.run(["smc_pnet", option]).ok(), "smc_pnet utility, ")
    check(not bench.kernel.requests, "help needs no kernel")
