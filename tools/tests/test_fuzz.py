# SPDX-License-Identifier: GPL-2.0-only
"""Damaged answers of the kernel: wrong, but no crash and no broken JSON.

The messages themselves stay whole, what they carry is damaged at random, from
a fixed seed. Built with sanitizers, the tools end with a report as soon as they
read what they must not.
"""

import json
import random
import struct

import kernel as k
import test_smcss
import test_stats
from harness import check, test

ROUNDS = 120

ALL_STATS = [k.stats(test_stats.distinct(), test_stats.distinct(), 1, 2)]
REASONS = k.fback_stats([(i % 2, 0x03010000 + i, i) for i in range(10)])
GROUPS = [k.lgr_smcr(v2=k.v2_common(), command=2), k.lgr_smcr(id_=0x200)]
COMMANDS = {
    1: [k.sys_info(seid="IBM")], 2: GROUPS, 3: [GROUPS[0], k.link_smcr(gid="1", peer_gid="2")],
    4: [k.lgr_smcd(v2=k.v2_common(), ext=(1, 2))], 5: [k.dev_smcd(pci_=k.pci(1, 2, 3, 4, "x"))],
    6: [k.dev_smcr(ports=[k.port_nest(8), k.port_nest(9)], pci=k.pci(1, 2, 3, 4, "y"))],
    7: ALL_STATS, 8: REASONS, 9: [k.genl(9, k.string(1, k.padded("EID")))],
    13: [k.genl(13, k.string(1, k.padded("SEID")), k.u8(2, 1))], 16: [k.genl(16, k.u8(1, 1))],
}


def sockets():
    conn = k.conninfo(1, 2, 3, 4, test_smcss.CURSORS, (1, 2, 3, 4))
    link = k.lgrinfo(1, "rxe0", 1, test_smcss.GID, test_smcss.PEER_GID, 1)
    dmb = k.dmbinfo(1, 2, 3, 4, 5, (6, 7))
    local, peer = ("fd00::1", 1), ("10.0.0.1", 2)
    return [k.sock(k.ACTIVE, 1, local, peer, k.SMCR, extra=conn + link),
            k.sock(k.ACTIVE, 2, peer, local, k.SMCD, extra=conn + dmb),
            k.sock(k.ACTIVE, 3, local, peer, k.TCP, fallback=(0x05000000, 0x03030000)),
            k.sock(k.LISTEN, 4, local)]


def damage(rng, payload):
    """One to four small wounds."""
    data = bytearray(payload)
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(5)
        if not data:
            break
        at = rng.randrange(len(data))
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, 0x1b))
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            data[at:at] = rng.randbytes(rng.randint(1, 40))
        else:                               # a length, perhaps of an attribute
            at &= ~3
            data[at:at + 2] = struct.pack("=H", rng.choice((0, 3, 4, 5, 0x7fff, 0xffff)))
    return bytes(data)


def attack(bench, command, rng):
    result = bench.run(command)
    what = f"{command}, {rng}"
    check(result.status in (0, 1, 255), f"{what}: status {result.status}\n{result.err}")
    check("Sanitizer" not in result.err and "runtime error" not in result.err,
          f"{what}\n{result.err}")
    check("\x1b" not in result.out, f"{what}: escape character")
    if "-j" in command and result.out:
        json.loads(result.out)


def fuzz(bench, commands, answer):
    for turn in range(ROUNDS):
        rng = random.Random(turn)

        def handler(request, rng=rng):
            return [damage(rng, payload) if rng.random() < 0.8 else payload
                    for payload in answer(request)]

        bench.kernel.diag = bench.kernel.gen = bench.kernel.pnet = handler
        attack(bench, commands[turn % len(commands)], f"seed {turn}")


@test
def damaged_sockets(bench):
    fuzz(bench, [["smcss", "-ad"], ["smcss", "-dR"], ["smcss", "-dDe"], ["smcss", "-aj"]],
         lambda request: sockets())


@test
def damaged_groups_and_devices(bench):
    def answer(request):
        return COMMANDS[request.command]

    fuzz(bench, [[tool, *options, *words] for tool in ("smcr", "smcd")
                 for options in ([], ["-dd"], ["-j"])
                 for words in (["info"], ["linkgroup"], ["device"], ["ueid"], ["hslimit"],
                               ["linkgroup", "link-show"] if tool == "smcr" else ["seid"])],
         answer)


@test
def damaged_statistics(bench):
    test_stats.forget(bench)
    fuzz(bench, [["smcr", "-d", "stats"], ["smcd", "-j", "stats"], ["smcr", "stats", "json"],
                 ["smcd", "stats", "reset"]],
         lambda request: COMMANDS[request.command])
    test_stats.forget(bench)


@test
def damaged_networks(bench):
    fuzz(bench, [["smc_pnet"], ["smc_pnet", "-j"], ["smc_pnet", "-s", "PNETA"]],
         lambda request: [k.pnet_entry("PNETA", "eth0"), k.pnet_entry("NET1", "n/a", "rxe0", 1)])
