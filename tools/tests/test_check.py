# SPDX-License-Identifier: GPL-2.0-only
"""smc check: each way it can end."""

import json
import os
import socket
import threading

import kernel as k
from harness import check, contains, equal, test


class Server:
    """Accepts connections on a port of its own and forgets them."""

    def __init__(self, family=socket.AF_INET):
        self.socket = socket.socket(family)
        self.socket.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        self.socket.listen()
        self.port = self.socket.getsockname()[1]
        self.accepted = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.accepted += 1
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def gen(ism=1, rdma=0, limit=0):
    """A kernel with some devices."""
    return lambda request: {5: [k.dev_smcd()] * ism, 6: [k.dev_smcr()] * rdma,
                            16: [k.genl(16, k.u8(1, limit))]}[request.command]


def connection(bench, mode, fallback=(0, 0)):
    """The socket of the tool, as the kernel would describe it."""
    local, peer = ("127.0.0.1", 1), ("127.0.0.1", 2)

    def diag(request):
        return [k.sock(k.ACTIVE, 1, local, peer, k.SMCR),
                k.sock(k.ACTIVE, bench.kernel.smc_inode, local, peer, mode, fallback=fallback)]

    bench.kernel.diag = diag


def put(bench, name, text):
    """A file of the kernel, or None for none."""
    path = os.path.join(bench.tmp, name)
    if text is not None:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    elif os.path.exists(path):
        os.unlink(path)


def examine(bench, *words, variants="15\n", policy=None, **environment):
    put(bench, "variants", variants)
    put(bench, "program", policy)       # what "smc on" keeps in the file system of BPF
    return bench.run(["smc", "check", *words], **{"FAKE_SMC": "ok", **environment})


@test
def check_sees_smc_connections(bench):
    with Server() as server:
        for mode, name in ((k.SMCD, "SMC-D"), (k.SMCR, "SMC-R")):
            bench.kernel.gen = gen()
            connection(bench, mode)
            result = examine(bench, f"127.0.0.1:{server.port}")
            equal((result.status, result.err), (0, ""))
            equal(result.out, f"""\
ok    kernel   SMC sockets are available
ok    devices  1 for SMC-D, 0 for SMC-R
ok    address  127.0.0.1 is 127.0.0.1, this host
ok    tcp      127.0.0.1 port {server.port} answers
ok    smc      the connection uses {name}

A connection to there uses {name}.
""")
        check(server.accepted, "nobody has connected")


@test
def check_explains_fallback(bench):
    with Server() as server:
        bench.kernel.gen = gen(0, 0)
        connection(bench, k.TCP, (0x03010000, 0))
        result = examine(bench, f"127.0.0.1:{server.port}")
        equal((result.status, result.err), (1, ""))
        contains(result.out, "note  devices  neither SMC-D nor SMC-R has a device\n")
        contains(result.out, """\
BAD   smc      the connection uses TCP: 0x03010000 peer does not support SMC
            -> Start the server with smc_run, or restart it after "smc on".

A connection to there uses TCP.
""")
        connection(bench, k.TCP, (0x05000000, 0x03030008))
        out = examine(bench, f"127.0.0.1:{server.port}").out
        contains(out, "uses TCP: the peer declined, 0x03030008 peer sent no UEID\n"
                      "            -> Both hosts need a user EID in common")
        connection(bench, k.TCP, (0x12345678, 0))
        contains(examine(bench, f"127.0.0.1:{server.port}").out,
                 "uses TCP: 0x12345678 unknown reason\n\nA connection")


def advice_for(bench, mode, fallback, **more):
    """What check says to do about the connection, and all that it prints."""
    with Server() as server:
        bench.kernel.gen = gen()
        connection(bench, mode, fallback)
        result = examine(bench, "-j", f"127.0.0.1:{server.port}", **more)
        steps = json.loads(result.out)["steps"]
        return steps[-1].get("advice", ""), result.out


@test
def check_says_to_restart_what_is_older_than_the_policy(bench):
    advice, _ = advice_for(bench, k.TCP, (0x03010000, 0))
    contains(advice, "restart it after \"smc on\"")
    advice, _ = advice_for(bench, k.TCP, (0x03010000, 0), policy="")
    contains(advice, "Restart the server: sockets that were open before \"smc on\" stay TCP")
    check("smc_run" not in advice, advice)


@test
def check_names_the_setting_that_is_in_the_way(bench):
    for variants, text in (("1", "SMC-D is off"), ("5", "SMC-D is off"), ("8", "SMC-R is off"),
                           ("0", "all of SMC is off"), ("12", "some versions are off")):
        for reason in ((0x03030000, 0), (0x05000000, 0x03030001), (0x05000000, 0x03040000)):
            advice, out = advice_for(bench, k.TCP, reason, variants=variants + "\n")
            contains(out, f'"note","text":"net.smc.variants={variants}: {text}"')
            contains(advice, "net.smc.variants of this network namespace")
    advice, out = advice_for(bench, k.TCP, (0x03030001, 0))
    check("variants" not in out, out)
    advice, _ = advice_for(bench, k.TCP, (0x05000000, 0x03030001))
    contains(advice, "net.smc.variants of the server's network namespace may")


@test
def check_names_the_end_whose_limit_it_was(bench):
    for reason, whose in (((0x03100006, 0), "that of this end"),
                          ((0x05000000, 0x03100006), "the server's")):
        advice, _ = advice_for(bench, k.TCP, reason)
        contains(advice, f"The limit is {whose}: net.smc.buffer_limit of its network namespace")


@test
def check_knows_the_module_of_another_source(bench):
    advice, out = advice_for(bench, k.TCP, (0x03030000, 0), variants=None)
    contains(out, '"note","text":"the module smc that is loaded is not the one of this tool"')
    contains(advice, "modinfo -F filename smc")
    _, out = advice_for(bench, k.SMCD, (0, 0))
    check("not the one of this tool" not in out, out)


@test
def check_stops_at_a_missing_module(bench):
    with Server() as server:
        result = examine(bench, f"127.0.0.1:{server.port}", FAKE_SMC=None)
        equal((result.status, result.err), (1, ""))
        contains(result.out, "BAD   kernel   no SMC in this kernel")
        contains(result.out, f"ok    tcp      127.0.0.1 port {server.port} answers\n")
        contains(result.out, "\nA connection to there uses TCP.\n")
        result = examine(bench, f"127.0.0.1:{server.port}", FAKE_SMC="13")
        contains(result.out, "BAD   kernel   cannot open an SMC socket: Permission denied\n")
        equal(result.status, 1)
        # the family alone is forbidden
        result = examine(bench, f"127.0.0.1:{server.port}", FAKE_SMC="13", FAKE_PROTOCOL="ok")
        contains(result.out, "ok    kernel   SMC sockets are available\n")


@test
def check_notes_the_handshake_limitation(bench):
    bench.kernel.gen = gen(limit=1)
    result = examine(bench, "127.0.0.1")
    contains(result.out, "note  limit    while many handshakes are pending")
    equal(result.status, 2)
    contains(result.out, "\nName a port with a listening server to learn more.\n")


@test
def check_needs_a_listening_server(bench):
    with Server() as server:
        port = server.port
    result = examine(bench, f"127.0.0.1:{port}")
    equal(result.status, 2)
    contains(result.out, f"BAD   tcp      127.0.0.1 port {port}: Connection refused\n")
    contains(result.out, "\nThere is no connection to there.\n")


@test
def check_copes_with_a_silent_kernel(bench):
    with Server() as server:
        # neither generic netlink nor sock_diag; the fake socket is a TCP socket
        result = examine(bench, f"127.0.0.1:{server.port}")
        equal(result.status, 1)
        contains(result.out, "note  devices  the kernel does not list devices\n")
        contains(result.out, "the connection uses TCP; the kernel does not show why\n")
        result = examine(bench, f"127.0.0.1:{server.port}", FAKE_LEVEL="286")
        equal(result.status, 0)
        contains(result.out, "ok    smc      the connection uses SMC; the kernel does not show")
        contains(result.out, "\nA connection to there uses SMC.\n")


@test
def check_understands_addresses(bench):
    with Server(socket.AF_INET6) as server:
        port = f"::1 port {server.port} answers\n"
        for words, text in (
                (["::1"], "::1 is ::1, this host\n"), (["[::1]"], "::1 is ::1, this host\n"),
                ([f"[::1]:{server.port}"], port), (["-6", f"[::1]:{server.port}"], port),
                (["-4", "localhost"], "localhost is 127.0.0.1, this host\n"),
                (["192.0.2.1"], "192.0.2.1 is 192.0.2.1\n")):
            result = bench.run(["smc", *words[:-1], "check", words[-1]])
            equal((result.status, result.err), (1, ""), "without SMC in the kernel")
            contains(result.out, text)
    contains(bench.run(["smc", "-4", "check", "::1"]).out, "BAD   address  ::1: ")


@test
def check_refuses_what_is_no_address(bench):
    for target in ("", ":5001", "host:", "[::1", "[::1]x", "[]:1", "[::1]:"):
        result = examine(bench, target)
        equal((result.status, result.out), (2, ""), target)
        contains(result.err, "smc: the host must be")
    result = examine(bench, "127.0.0.1:no-such-service")
    equal(result.status, 2)
    contains(result.out, "BAD   address  127.0.0.1: ")


@test
def check_writes_json(bench):
    with Server() as server:
        bench.kernel.gen = gen()
        connection(bench, k.TCP, (0x03010000, 0))
        result = bench.run(["smc", "-j", "check", f"127.0.0.1:{server.port}"], FAKE_SMC="ok")
        data = json.loads(result.out)
        equal([(step["step"], step["result"]) for step in data["steps"]],
              [("kernel", "ok"), ("devices", "ok"), ("address", "ok"), ("tcp", "ok"),
               ("smc", "bad")])
        check("smc_run" in data["steps"][-1]["advice"], "no advice")
        equal((data["mode"], data["verdict"]), ("TCP", "A connection to there uses TCP."))
        result = bench.run(["smc", "check", "-j", "127.0.0.1"], FAKE_SMC="ok")
        equal(json.loads(result.out)["mode"], None)


@test
def smc_command_line(bench):
    for words in ([], ["check"], ["word", "x"], ["check", "a", "b"], ["-x"]):
        result = bench.run(["smc", *words])
        equal((result.status, result.out), (2, ""), f"{words}")
        contains(result.err, "Usage: smc")
    contains(bench.run(["smc", "-h"]).ok(), "Usage: smc")
    contains(bench.run(["smc", "--version"]).ok(), "smc utility, ")
