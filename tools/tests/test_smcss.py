# SPDX-License-Identifier: GPL-2.0-only
"""smcss: what it asks the kernel, and what it makes of the answer."""

import json
import os
import socket
import struct
import subprocess
import time

import kernel as k
from harness import check, contains, equal, test

HEADER = ("State          UID   Inode   Local Address           "
          "Peer Address            Intf Mode ")

# As in the description of the existing tool
DOCUMENTED = HEADER + """
ACTIVE         00000 0001418 10.0.0.1:5001           10.0.0.2:38382          0000 SMCR 
ACTIVE         00000 0001410 10.0.0.1:5001           10.0.0.2:38374          0000 TCP 0x03010000
LISTEN         00000 0001401 10.0.0.1:5001           
ACTIVE         00000 0001408 fd00::1:5003            fd00::2:35190           0000 TCP 0x05000000/0x03030000
"""

LOCAL, PEER = ("10.0.0.1", 5001), ("10.0.0.2", 38382)

CURSORS = [(1, 0x10), (2, 0x20), (3, 0x30), (4, 0x40), (5, 0x50), (6, 0x60), (7, 0x70)]
GID = "0000:0000:0000:0000:0000:ffff:0a00:0001"
PEER_GID = "0000:0000:0000:0000:0000:ffff:0a00:0002"


def documented_sockets():
    return [
        k.sock(k.ACTIVE, 1418, LOCAL, PEER),
        k.sock(k.ACTIVE, 1410, LOCAL, ("10.0.0.2", 38374), k.TCP,
               fallback=(0x03010000, 0)),
        k.sock(k.LISTEN, 1401, LOCAL),
        k.sock(k.ACTIVE, 1408, ("fd00::1", 5003), ("fd00::2", 35190), k.TCP,
               fallback=(0x05000000, 0x03030000)),
    ]


def show(bench, sockets, *options):
    bench.kernel.diag = lambda request: sockets
    return bench.run(["smcss", *options]).ok()


def rows(text):
    """Lines below the header."""
    return text.splitlines()[1:]


@test
def smcss_prints_the_documented_table(bench):
    equal(show(bench, documented_sockets(), "-a"), DOCUMENTED)


@test
def smcss_sends_the_documented_request(bench):
    for options, extensions in (([], 0), (["-d"], 1), (["-R"], 2), (["-D"], 8),
                                (["-dR"], 3), (["-dD"], 9), (["-j"], 11)):
        bench.kernel.requests.clear()
        show(bench, [], *options)
        request, = bench.kernel.requests
        equal((request.kind, request.flags), (20, 0x101))
        equal(request.payload[:52], struct.pack("=BHB", 43, 0, extensions) + bytes(48),
              f"payload with {options}")


@test
def smcss_asks_only_for_what_it_shows(bench):
    """Filters follow the documented request; kernels without them give everything."""
    for options, wanted in (([], b""), (["-a"], b""), (["-d"], b""),
                            (["-l"], k.u32(1, 1 << k.LISTEN)), (["-D"], k.u8(2, 1 << k.SMCD)),
                            (["-R"], k.u8(2, 1 << k.SMCR)), (["-jD"], k.u8(2, 1 << k.SMCD))):
        bench.kernel.requests.clear()
        show(bench, documented_sockets(), *options)
        request, = bench.kernel.requests
        equal((request.length, request.payload[52:]), (68 + len(wanted), wanted),
              f"filter with {options}")


@test
def smcss_hides_fresh_and_listening_sockets(bench):
    sockets = [k.sock(k.INIT, 1, ("0.0.0.0", 0)), k.sock(k.LISTEN, 2, LOCAL),
               k.sock(k.ACTIVE, 3, LOCAL, PEER), k.sock(k.CLOSED, 4, LOCAL, PEER)]

    def inodes(*options):
        return [int(row.split()[2]) for row in rows(show(bench, sockets, *options))]

    equal(inodes(), [3, 4])
    equal(inodes("-a"), [1, 2, 3, 4])
    equal(inodes("--all"), [1, 2, 3, 4])
    equal(inodes("-l"), [2])
    equal(inodes("--listening"), [2])


@test
def smcss_ends_rows_where_the_state_says(bench):
    out = show(bench, [k.sock(k.INIT, 1, ("0.0.0.0", 0)),
                       k.sock(k.CLOSED, 4, LOCAL, PEER, interface=3)], "-a")
    equal(rows(out), [
        "INIT           00000 0000001 ",
        "CLOSED         00000 0000004 10.0.0.1:5001           "
        "10.0.0.2:38382          0003 "])


@test
def smcss_names_all_states(bench):
    names = {1: "ACTIVE", 2: "INIT", 7: "CLOSED", 10: "LISTEN", 20: "PEERCLOSEWAIT1",
             21: "PEERCLOSEWAIT2", 22: "APPCLOSEWAIT1", 23: "APPCLOSEWAIT2",
             24: "APPFINCLOSEWAIT1", 25: "PEERFINCLOSEWAIT", 26: "PEERABORTWAIT",
             27: "PROCESSABORT"}
    out = show(bench, [k.sock(state, 1, LOCAL, PEER) for state in names], "-a")
    equal([row.split()[0] for row in rows(out)], list(names.values()))
    out = show(bench, [k.sock(99, 1, LOCAL, PEER)])
    equal(rows(out)[0].split()[0], "0x63?")


@test
def smcss_filters_by_kind_of_connection(bench):
    sockets = [k.sock(k.ACTIVE, 1, LOCAL, PEER, k.SMCR),
               k.sock(k.ACTIVE, 2, LOCAL, PEER, k.SMCD),
               k.sock(k.ACTIVE, 3, LOCAL, PEER, k.TCP),
               k.sock(k.LISTEN, 4, LOCAL), k.sock(k.INIT, 5, LOCAL)]
    for option, inode in (("-R", 1), ("-aR", 1), ("--smcr", 1), ("-D", 2),
                          ("-aD", 2), ("--smcd", 2)):
        out = show(bench, sockets, option)
        equal([int(row.split()[2]) for row in rows(out)], [inode], option)


@test
def smcss_shows_buffers_and_cursors(bench):
    extra = k.conninfo(0xabcd, 0x10000, 0x20000, 0x30000, CURSORS, (0x80, 0xc0, 0x10, 0x40))
    out = show(bench, [k.sock(k.ACTIVE, 1, LOCAL, PEER, shutdown=s, extra=extra)
                       for s in range(4)], "-d")
    header = out.splitlines()[0]
    equal(header.split()[9:], "Shutd Token Sndbuf Rcvbuf Peerbuf rxprod rxcons rxFlags "
          "txprod txcons txFlags txprep txsent txfin".split())
    line = rows(out)[0]
    equal(line[len(HEADER):],
          " <->  0000abcd 00010000 00020000 00030000 0001:00000010 0002:00000020 "
          "80:c0   0003:00000030 0004:00000040 10:40   0005:00000050 0006:00000060 "
          "0007:00000070 ")
    equal(len(header), len(line), "width")
    equal([row.split()[7] for row in rows(out)], ["<->", "R->", "<-W", "R-W"])


@test
def smcss_shows_rdma_links(bench):
    extra = k.lgrinfo(1, "rxe0", 2, GID, PEER_GID, 1)
    client = k.lgrinfo(255, "m" * 64, 255, "a" * 40, "b" * 40, 0)
    out = show(bench, [k.sock(k.ACTIVE, 1, LOCAL, PEER, extra=extra),
                       k.sock(k.ACTIVE, 1, LOCAL, PEER, extra=client)], "-R")
    equal(out.splitlines()[0][len(HEADER):],
          "Role IB-device       Port Linkid " + "GID".ljust(40) + " Peer-GID")
    equal(rows(out)[0][len(HEADER):],
          "SERV rxe0            02   01     " + GID.ljust(40) + " " + PEER_GID)
    equal(rows(out)[1][len(HEADER):].split(),
          ["CLNT", "m" * 64, "ff", "ff", "a" * 40, "b" * 40])


@test
def smcss_shows_dmbs(bench):
    short = k.dmbinfo(0x200, 0x22, 0x11, 0x33, 0x44)
    long = k.dmbinfo(0x200, 0x22, 0x11, 0x33, 0x44, (0x66, 0x55))
    out = show(bench, [k.sock(k.ACTIVE, 1, LOCAL, PEER, k.SMCD, extra=short),
                       k.sock(k.ACTIVE, 1, LOCAL, PEER, k.SMCD, extra=long)], "-D")
    equal(out.splitlines()[0].split()[9:], "GID Token Peer-GID Peer-Token Linkid".split())
    for row in rows(out):
        equal(row[len(HEADER):],
              "0000000000000011 0000000000000033 0000000000000022 0000000000000044 00000200")


@test
def smcss_combines_debug_and_kind(bench):
    extra = (k.conninfo(1, 2, 3, 4, CURSORS, (0, 0, 0, 0)) +
             k.lgrinfo(1, "rxe0", 1, GID, PEER_GID, 0))
    out = show(bench, [k.sock(k.ACTIVE, 1, LOCAL, PEER, extra=extra)], "-dR")
    equal(len(rows(out)[0].split()), len(out.splitlines()[0].split()) - 2,
          "words (two header words are 'Local Address', 'Peer Address')")
    check(out.splitlines()[0].index("Role ") == rows(out)[0].index("CLNT "),
          "Role column is not below its header")


@test
def smcss_cuts_addresses_but_never_ports(bench):
    long = ("fd00:1234:5678:9abc:def0:1234:5678:9abc", 65535)
    sockets = [k.sock(k.ACTIVE, 1, long, ("fd00:1234:5678:9abc::1", 1))]
    equal(rows(show(bench, sockets))[0],
          "ACTIVE         00000 0000001 " + (long[0][:15] + "..:65535").ljust(23) + " " +
          "fd00:1234:5678:9abc::1"[:19] + "..:1 0000 SMCR ")
    contains(show(bench, sockets, "-W"),
             "fd00:1234:5678:9abc:def0:1234:5678:9abc:65535 fd00:1234:5678:9abc::1:1 ")
    exact = ("1234:1234:1234::12", 5001)        # 23 characters with the port
    contains(show(bench, [k.sock(k.ACTIVE, 1, exact, PEER)]), "1234:1234:1234::12:5001 ")


@test
def smcss_shows_interface_and_owner(bench):
    out = show(bench, [k.sock(k.ACTIVE, 123456789, LOCAL, PEER, uid=1000, interface=26)])
    equal(rows(out)[0], "ACTIVE         01000 123456789 10.0.0.1:5001           "
          "10.0.0.2:38382          001a SMCR ")


@test
def smcss_explains_reasons_in_words(bench):
    out = show(bench, documented_sockets(), "-e")
    lines = rows(out)
    contains(lines[1], "TCP 0x03010000 peer does not support SMC")
    contains(lines[2], "TCP 0x05000000/0x03030000 peer declined during the handshake: "
             "no SMC devices found (R and D)")
    out = show(bench, [k.sock(k.ACTIVE, 1, LOCAL, PEER, k.TCP, fallback=(0x12345678, 0))],
               "--explain")
    contains(out, "0x12345678 unknown reason")


@test
def smcss_json_has_everything(bench):
    smcr = (k.conninfo(0xabcd, 65536, 131072, 262144, CURSORS, (0x80, 0, 0, 0)) +
            k.lgrinfo(1, "rxe0", 1, GID, PEER_GID, 1))
    smcd = (k.conninfo(0xabce, 0, 4096, 4096, CURSORS, (0, 0, 0, 0)) + k.u32(128, 4 << 20) +
            k.dmbinfo(0x200, 0x22, 0x11, 0x33, 0x44, (0x66, 0x55)))
    sockets = [*documented_sockets(),
               k.sock(k.ACTIVE, 2, LOCAL, PEER, shutdown=2, extra=smcr),
               k.sock(k.ACTIVE, 3, LOCAL, PEER, k.SMCD, extra=smcd),
               k.sock(k.INIT, 4, ("0.0.0.0", 0))]
    data = json.loads(show(bench, sockets, "-aj"))
    equal(len(data), 7)
    equal(data[0]["peer"], {"address": "10.0.0.2", "port": 38382})
    equal(data[0]["mode"], "SMCR")
    equal(data[3]["fallback"],
          {"reason": {"code": "0x05000000", "name": "PEERDECL",
                      "text": "peer declined during the handshake"},
           "peer_reason": {"code": "0x03030000", "name": "NOSMCDEV",
                           "text": "no SMC devices found (R and D)"}})
    check("peer" not in data[2], "a listener has a peer")
    equal(data[2]["local"]["port"], 5001)
    equal(data[4]["connection"]["receive_buffer"], 131072)
    check("receive_buffer_max" not in data[4]["connection"], "a size that the kernel does not tell")
    equal(data[5]["connection"]["receive_buffer_max"], 4 << 20)
    equal(data[4]["connection"]["tx_fin"], {"wrap": 7, "count": 0x70})
    equal(data[4]["link"]["peer_gid"], PEER_GID)
    equal((data[4]["shutdown_receive"], data[4]["shutdown_send"]), (False, True))
    equal(data[5]["dmb"], {"group": "0x00000200",
                           "gid": "00000000000000550000000000000011",
                           "peer_gid": "00000000000000660000000000000022",
                           "token": "0x0000000000000033",
                           "peer_token": "0x0000000000000044"})
    check("local" not in data[6], "a fresh socket has an address")
    equal(json.loads(show(bench, [], "-j")), [])


@test
def smcss_refuses_options_that_exclude_each_other(bench):
    for one, other in (("--listening", "--all"), ("--listening", "--debug"),
                       ("--listening", "--smcd"), ("--listening", "--smcr"),
                       ("--smcd", "--smcr")):
        result = bench.run(["smcss", other, one])
        equal(result.status, 1)
        equal(result.err.splitlines()[0], f"{one} together with {other} is not supported")
        contains(result.err, "Usage: smcss")
        equal(result.out, "")
    for options in (["-x"], ["word"], ["--watch=0"], ["--watch=x"]):
        result = bench.run(["smcss", *options])
        equal((result.status, result.out), (1, ""), f"{options}")
        check(result.err, "no message")


@test
def smcss_help_and_version_succeed(bench):
    contains(bench.run(["smcss", "-h"]).ok(), "Usage: smcss")
    contains(bench.run(["smcss", "--help"]).ok(), "Usage: smcss")
    contains(bench.run(["smcss", "-v"]).ok(), "smcss utility, ")
    contains(bench.run(["smcss", "--version"]).ok(), "smcss utility, ")


@test
def smcss_reports_what_the_kernel_says(bench):
    def refuse(request):
        raise k.Failure(1, "only on Sundays")

    bench.kernel.diag = refuse
    result = bench.run(["smcss"])
    equal((result.status, result.out), (1, HEADER + "\n"))
    equal(result.err, "RTNETLINK answers: Operation not permitted\n"
                      "smcss: only on Sundays\n")


@test
def smcss_loads_the_family_when_nobody_has_yet(bench):
    def diag(request):
        if not bench.kernel.smc_sockets:
            raise k.Failure(2)
        return documented_sockets()

    bench.kernel.diag = diag
    equal(bench.run(["smcss", "-a"], FAKE_SMC="ok").ok(), DOCUMENTED)


@test
def smcss_says_that_the_module_is_missing(bench):
    result = bench.run(["smcss"])
    equal((result.status, result.out), (1, HEADER + "\n"))
    equal(result.err, "smcss: SMC module not loaded\n")
    result = bench.run(["smcss"], FAKE_SMC="ok")
    equal(result.err, "smcss: module smc_diag is not loaded\n")
    result = bench.run(["smcss", "-j"])
    equal((result.status, json.loads(result.out)), (1, []))


HOLDER = """
import os, socket, sys
with open("/proc/self/comm", "w") as name:
    name.write(sys.argv[1])
sock = socket.socket()
copy = os.dup(sock.fileno())
print(os.fstat(copy).st_ino, sock.fileno(), copy, flush=True)
sys.stdin.read()
"""


class Holder:
    """A process of a name with a socket and a copy of it."""

    def __init__(self, name):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(["/usr/bin/python3", "-c", HOLDER, name],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding="ascii")
        self.pid = self.process.pid
        self.inode, self.fd, self.copy = map(int, self.process.stdout.readline().split())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate("")


@test
def smcss_names_the_processes_of_a_socket(bench):
    with Holder("two words") as holder, socket.socket() as own:
        inode, fd = os.fstat(own.fileno()).st_ino, own.fileno()
        with open("/proc/self/comm", encoding="ascii") as file:
            name = file.read().strip()
        sockets = [k.sock(k.LISTEN, holder.inode, LOCAL), k.sock(k.ACTIVE, inode, LOCAL, PEER),
                   k.sock(k.ACTIVE, 0, LOCAL, PEER), k.sock(k.INIT, 1 << 60, LOCAL),
                   k.sock(k.ACTIVE, inode, LOCAL, PEER, k.TCP, fallback=(0x03010000, 0))]
        both = (f'(("two words",pid={holder.pid},fd={holder.fd}),'
                f'("two words",pid={holder.pid},fd={holder.copy}))')
        mine = f'(("{name}",pid={os.getpid()},fd={fd}))'
        for option in ("-ap", "--all --processes"):
            out = show(bench, sockets, *option.split())
            check(out.splitlines()[0].endswith(" Process"), "no header")
            equal([row.partition(" users:")[2] for row in rows(out)], [both, mine, "", "", mine])
        contains(rows(out)[-1], "TCP 0x03010000 users:")
        equal([row.partition(" users:")[2] for row in rows(show(bench, sockets, "-lp"))], [both])
        data = json.loads(show(bench, sockets, "-ajp"))
        equal(data[0]["processes"],
              [{"name": "two words", "pid": holder.pid, "fd": holder.fd},
               {"name": "two words", "pid": holder.pid, "fd": holder.copy}])
        equal(data[2]["processes"], [])
        check("processes" not in json.loads(show(bench, sockets, "-aj"))[0], "without -p")


@test
def smcss_prints_no_control_characters_of_names(bench):
    with Holder("x\x1b[2Jy\tz") as holder:
        out = show(bench, [k.sock(k.LISTEN, holder.inode, LOCAL)], "-lp")
        contains(out, 'users:(("x?[2Jy?z",pid=')


@test
def smcss_looks_into_all_network_namespaces(bench):
    """The test program plays each of them; guests have real ones."""
    own = os.stat("/proc/self/ns/net").st_ino
    bench.kernel.diag = lambda request: [k.sock(k.LISTEN, len(bench.kernel.requests), LOCAL)]
    for option in ("-lN", "-l --all-netns"):
        bench.kernel.requests.clear()
        result = bench.run(["smcss", *option.split()], FAKE_NETNS="1")
        check(result.out.splitlines()[0].endswith(" Netns"), "no header")
        seen = [int(row.split()[2]) for row in rows(result.out)]
        equal(seen, list(range(1, len(bench.kernel.requests) + 1)))
        where = [row.split()[-1] for row in rows(result.out)]
        equal(len(set(where)), len(where), "each of them once")
        check(where[0] == f"netns:[{own}]" or "[" not in where[0], where[0])
    bench.kernel.requests.clear()
    data = json.loads(bench.run(["smcss", "-ljN"], FAKE_NETNS="1").out)
    equal((data[0]["inode"], data[0]["netns"]["inode"]), (1, own))
    check("netns" not in json.loads(show(bench, [k.sock(k.LISTEN, 1, LOCAL)], "-lj"))[0],
          "without -N")


@test
def smcss_says_which_namespaces_it_may_not_see(bench):
    bench.kernel.diag = lambda request: [k.sock(k.LISTEN, 1, LOCAL)]
    prefix = [] if os.geteuid() else ["setpriv", "--reuid", "65534", "--regid", "65534",
                                      "--clear-groups"]
    os.chmod(bench.tmp, 0o755)
    os.chmod(bench.kernel.path, 0o777)
    result = bench.run([*prefix, bench.tool("smcss"), "-lN"])
    equal((result.status, len(rows(result.out))), (1, 1))
    with bench.popen([*prefix, bench.tool("smcss"), "-lN", "-w0.1"]) as process:
        lines = (line for line in process.stdout if line.startswith("LISTEN"))
        equal(len(list(zip(range(2), lines))), 2, "pictures")
        process.terminate()
    contains(result.err, "smcss: cannot see all network namespaces: ")


@test
def smcss_reads_a_changing_list_again(bench):
    def diag(request):
        bench.kernel.flags = k.NLM_F_DUMP_INTR if len(bench.kernel.requests) < 3 else 0
        return [k.sock(k.ACTIVE, len(bench.kernel.requests), LOCAL, PEER)]

    bench.kernel.diag = diag
    out = bench.run(["smcss"]).ok()
    equal([int(row.split()[2]) for row in rows(out)], [3])

    bench.kernel.reset()
    bench.kernel.flags = k.NLM_F_DUMP_INTR
    bench.kernel.diag = lambda request: documented_sockets()
    result = bench.run(["smcss", "-a"])
    equal((result.status, result.err), (1, "Error: Dump interrupted\n"))
    equal(result.out, DOCUMENTED)


@test
def smcss_notices_a_dump_that_fails_half_way(bench):
    bench.kernel.diag = lambda request: documented_sockets()
    bench.kernel.done = struct.pack("=i", -12) + k.string(1, "no memory left for socket 5")
    bench.kernel.done_flags = k.NLM_F_ACK_TLVS
    result = bench.run(["smcss"])
    equal(result.status, 1)
    equal(result.err, "RTNETLINK answers: Cannot allocate memory\n"
                      "smcss: no memory left for socket 5\n")


@test
def smcss_survives_damaged_attributes(bench):
    good = k.sock(k.ACTIVE, 1, LOCAL, PEER)
    for tail, message in ((struct.pack("=HH", 200, 1), "Error: Deficit 4, rta_len=200\n"),
                          (struct.pack("=HH", 3, 1), "Error: Deficit 4, rta_len=3\n"),
                          (struct.pack("=HHI", 0, 1, 0), "Error: Deficit 8, rta_len=0\n")):
        bench.kernel.diag = lambda request, tail=tail: [good + tail]
        result = bench.run(["smcss", "-d"])
        equal((result.status, result.err), (0, message))
        contains(result.out, "10.0.0.1:5001")


@test
def smcss_survives_short_structures(bench):
    conn = k.conninfo(1, 2, 3, 4, CURSORS, (0, 0, 0, 0))
    short = k.attr(1, conn[4:-4])
    out = show(bench, [k.sock(k.ACTIVE, 1, LOCAL, PEER, extra=short)], "-d")
    equal(rows(out)[0][len(HEADER):], " <->  ")
    bench.kernel.diag = lambda request: [k.sock(k.ACTIVE, 1, LOCAL, PEER)[:60]]
    result = bench.run(["smcss"])
    equal((result.status, result.out, result.err),
          (0, HEADER + "\n", "Error: Message truncated\n"))
    for number, option in ((2, "-R"), (4, "-D")):
        mode = k.SMCR if number == 2 else k.SMCD
        out = show(bench, [k.sock(k.ACTIVE, 1, LOCAL, PEER, mode,
                                  extra=k.attr(number, b"1234"))], option)
        equal(rows(out)[0][len(HEADER):], "")


@test
def smcss_takes_longer_structures_and_the_first_of_two(bench):
    conn = k.conninfo(0xaa, 2, 3, 4, CURSORS, (0, 0, 0, 0))
    longer = k.attr(1, conn[4:] + b"future")
    second = k.conninfo(0xbb, 2, 3, 4, CURSORS, (0, 0, 0, 0))
    unknown = k.attr(77, b"what?")
    out = show(bench, [k.sock(k.ACTIVE, 1, LOCAL, PEER, extra=unknown + longer + second)],
               "-d")
    equal(rows(out)[0].split()[8], "000000aa")


@test
def smcss_reports_truncated_packets(bench):
    bench.kernel.packet_size = 60000
    bench.kernel.diag = lambda request: [k.sock(k.ACTIVE, 1, LOCAL, PEER)] * 500
    result = bench.run(["smcss"])
    equal((result.status, result.err), (1, "Error: Message truncated\n"))


@test
def smcss_lists_ten_thousand_sockets(bench):
    bench.kernel.packet_size = 30000
    sockets = [k.sock(k.ACTIVE, i, LOCAL, PEER) for i in range(10000)]
    start = time.monotonic()
    out = show(bench, sockets)
    print(f"  # 10000 sockets in {time.monotonic() - start:.2f} s, kernel's part included")
    equal(len(rows(out)), 10000)
    equal([int(row.split()[2]) for row in rows(out)], list(range(10000)))


@test
def smcss_watch_repeats_until_stopped(bench):
    bench.kernel.diag = lambda request: [
        k.sock(k.ACTIVE, len(bench.kernel.requests), LOCAL, PEER)]
    with bench.popen(["smcss", "--watch=0.1"]) as process:
        seen = []
        for line in process.stdout:
            if line.startswith("ACTIVE"):
                seen.append(int(line.split()[2]))
            if len(seen) == 3:
                process.terminate()
                break
    equal(seen, [1, 2, 3])
    with bench.popen(["smcss", "-j", "-w0.1"]) as process:
        documents = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.terminate()
    equal([len(document) for document in documents], [1, 1])


@test
def smcss_watch_ends_with_its_reader(bench):
    bench.kernel.diag = lambda request: documented_sockets()
    with bench.popen(["smcss", "-w0.1"]) as process:
        process.stdout.readline()
        process.stdout.close()
        check(process.wait(timeout=60) != 0, "success without anybody reading")


@test
def smcss_keeps_escape_sequences_from_the_terminal(bench):
    extra = k.lgrinfo(1, "rxe\x1b[2J", 1, GID, PEER_GID, 1)
    out = show(bench, [k.sock(k.ACTIVE, 1, LOCAL, PEER, extra=extra)], "-R")
    check("\x1b" not in out, "escape character in the output")
