# SPDX-License-Identifier: GPL-2.0-only
"""smcd and smcr stats: layout, baseline, rates."""

import json
import os
import stat

import kernel as k
from harness import check, contains, equal, test

DETAILS = """\
SMC-R Connections Summary
  Total connections handled             4
  SMC connections                       2 (client 0, server 2)
    v1                                  0
    v2                                  2
  Handshake errors                      0 (client 0, server 0)
  Avg requests per SMC conn             6.0
  TCP fallback                          2 (client 0, server 2)
    Server
     PEER_NO_SMC                        1
     PEERDECL                           1

RX Stats
  Data transmitted (Bytes)         120000 (120.0K)
  Total requests                        6
  Buffer usage (Bytes)             131072 (131.1K)
  Buffer full                           0 (0.00%)
  Buffer downgrades                     0
  Buffer reuses                         0
            8KB    16KB    32KB    64KB   128KB   256KB   512KB  >512KB
  Bufs        0       0       0       2       0       0       0       0
  Reqs        0       0       6       0       0       0       0       0

TX Stats
  Data transmitted (Bytes)         120000 (120.0K)
  Total requests                        6
  Buffer usage (Bytes)             131072 (131.1K)
  Buffer full                           0 (0.00%)
  Buffer full (remote)                  0 (0.00%)
  Buffer too small                      0 (0.00%)
  Buffer too small (remote)             0 (0.00%)
  Buffer downgrades                     0
  Buffer reuses                         0
            8KB    16KB    32KB    64KB   128KB   256KB   512KB  >512KB
  Bufs        0       0       0       2       0       0       0       0
  Reqs        0       0       6       0       0       0       0       0

Extras
  Special socket calls                  0
    cork                                0
    nodelay                             0
    sendpage                            0
    splice                              0
    urgent data                         0
"""

# What -d adds
ONLY_DETAILS = ("    v1", "    v2", "    Server", "     PEER", "  Buffer downgrades",
                "  Buffer reuses", "    cork", "    nodelay", "    sendpage",
                "    splice", "    urgent")

SAMPLE = {"srv_v2": 2, "rx_bytes": 120000, "tx_bytes": 120000, "rx_cnt": 6, "tx_cnt": 6,
          "rx_usage": 131072, "tx_usage": 131072, "tx_bufs": [0, 0, 0, 2],
          "rx_bufs": [0, 0, 0, 2], "tx_reqs": [0, 0, 6], "rx_reqs": [0, 0, 6]}

REASONS = [(1, 0x03010000, 1), (1, 0x05000000, 1)]

JSON_NAMES = (
    [f"SMC_{kind}_BUF_{size}" for kind in ("INT_TX", "INT_RX", "USR_TX", "USR_RX")
     for size in ("8K", "16K", "32K", "64K", "128K", "256K", "512K", "1024K", "G_1024K")] +
    [f"SMC_INT_{side}_BUF_{event}_CNT" for side in ("TX", "RX")
     for event in ("SIZE_SM_PEER", "SIZE_SM", "FULL_PEER", "FULL", "REUSE", "ALLOC",
                   "DGRADE")] +
    ["SMC_CLNT_V1_SUCC_CNT", "SMC_CLNT_V2_SUCC_CNT", "SMC_SRV_V1_SUCC_CNT",
     "SMC_SRV_V2_SUCC_CNT", "SMC_SENDPAGE_CNT", "SMC_URG_DATA_CNT", "SMC_SPLICE_CNT",
     "SMC_CORK_CNT", "SMC_NDLY_CNT", "SMC_RX_BYTES", "SMC_TX_BYTES", "SMC_RX_CNT",
     "SMC_TX_CNT", "SMC_RX_RMB_USAGE", "SMC_TX_RMB_USAGE"])


OWN = """\

Handshakes
  Under way                             3
  Time   100us  250us  500us    1ms  2.5ms    5ms   10ms   25ms  100ms     1s    >1s
  SMC       12      0      7      0      0      0      0      0      0      0      1
  Paths that failed                     8
  Paths avoided now                     2
  LLC replies ignored                   6

Aborts
  By this side                         10
    application                         1
    TCP connection died                 2
    device or link lost                 3
    peer did not end in time            4
    too many waited for peers           9
    peer broke the protocol             5
  By the peer                           6

Memory and wake-ups
  Buffers in use (Bytes)          1048576 (1.049M)
  Buffers at most (Bytes)      4294967296 (4.295G)
    of this namespace              524288 (524.3K)
    at most                    1073741824 (1.074G)
  Buffers made larger                   7
  Could not become larger               2
  Made small again                      5
  Closed, waiting for peers             5
  Wake-ups saved                       77
  Waits ended by busy polling           8
"""

OWN_TECH = {"abort_tx": 10, "abort_app": 1, "abort_tcp": 2, "abort_link": 3,
            "abort_timeout": 4, "abort_orphan": 9, "violation": 5, "abort_rx": 6, "wakeup_saved": 77,
            "busy_poll": 8, "ring_grown": 7, "ring_stuck": 2, "ring_shrunk": 5}
OWN_ALL = (1 << 20, 1 << 32, 3, [12, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1], 1 << 19, 1 << 30, 5, 8, 2,
           19, 4, 6)


def serve(bench, smcr=None, smcd=None, reasons=(), clnt_err=0, srv_err=0, own=None):
    def gen(request):
        if request.command == 7:
            return [k.stats(smcd, smcr, clnt_err, srv_err, own)]
        return k.fback_stats(reasons)

    bench.kernel.gen = gen


def forget(bench):
    path = baseline(bench)
    if os.path.lexists(path):
        os.unlink(path)


def baseline(bench):
    return os.path.join(bench.tmp, f".smcstats.u{os.geteuid()}")


def value(out, label):
    """The number behind the first line with this label."""
    for line in out.splitlines():
        if line.strip().startswith(label):
            return int(line.strip()[len(label):].split()[0])
    raise AssertionError(f"no {label!r} in {out}")


@test
def stats_are_as_documented(bench):
    forget(bench)
    serve(bench, smcr=SAMPLE, reasons=REASONS)
    equal(bench.run(["smcr", "-d", "stats"]).ok(), DETAILS)
    equal([request.command for request in bench.kernel.requests], [7, 8])
    short = "".join(line.split(" (client")[0] + "\n" for line in DETAILS.splitlines()
                    if not line.startswith(ONLY_DETAILS))
    equal(bench.run(["smcr", "stats"]).ok(), short)
    equal(bench.run(["smcr", "stats", "show"]).ok(), short)
    for option in ("-ad", "-da"):
        equal(bench.run(["smcr", option, "stats"]).ok(), DETAILS)


@test
def stats_of_smcd_are_its_own(bench):
    forget(bench)
    serve(bench, smcr=SAMPLE, smcd={"clnt_v1": 1, "clnt_v2": 2, "srv_v1": 3, "srv_v2": 4},
          reasons=[(0, 0x12345678, 7), (0, 0x05000000, 9), (0, 0x03030000, 8),
                   (0, 0x01010000, 1), (1, 0x03010000, 0)], clnt_err=5, srv_err=6)
    out = bench.run(["smcd", "-d", "stats"]).ok()
    contains(out, """\
SMC-D Connections Summary
  Total connections handled            46
  SMC connections                      10 (client 3, server 7)
    v1                                  4
    v2                                  6
  Handshake errors                     11 (client 5, server 6)
  Avg requests per SMC conn             0.0
  TCP fallback                         25 (client 25, server 0)
    Client
     PEERDECL                           9
     NOSMCDEV                           8
     [unknown]                          7

""")


@test
def stats_json_has_the_known_names_in_order(bench):
    forget(bench)
    serve(bench, smcr=SAMPLE)
    out = bench.run(["smcr", "stats", "json"]).ok()
    equal(len(out.splitlines()), 1)
    data = json.loads(out)
    equal(list(data), ["SMCR"])
    equal(list(data["SMCR"]), JSON_NAMES)
    equal(len(JSON_NAMES), 65)
    equal({name: number for name, number in data["SMCR"].items() if number},
          {"SMC_INT_TX_BUF_64K": 2, "SMC_INT_RX_BUF_64K": 2, "SMC_USR_TX_BUF_32K": 6,
           "SMC_USR_RX_BUF_32K": 6, "SMC_SRV_V2_SUCC_CNT": 2, "SMC_RX_BYTES": 120000,
           "SMC_TX_BYTES": 120000, "SMC_RX_CNT": 6, "SMC_TX_CNT": 6,
           "SMC_RX_RMB_USAGE": 131072, "SMC_TX_RMB_USAGE": 131072})
    equal(list(json.loads(bench.run(["smcd", "stats", "json"]).ok())), ["SMCD"])


def distinct():
    """Every counter has a value of its own."""
    numbers = iter(range(1, 100))
    names = ("clnt_v1", "clnt_v2", "srv_v1", "srv_v2", "sendpage", "urg", "splice",
             "cork", "ndly", "rx_bytes", "tx_bytes", "rx_cnt", "tx_cnt", "rx_usage",
             "tx_usage")
    counters = {kind: [next(numbers) for _ in range(k.SIZES)]
                for kind in ("tx_bufs", "rx_bufs", "tx_reqs", "rx_reqs")}
    for kind in ("tx_events", "rx_events"):
        counters[kind] = {name: next(numbers) for name in k.EVENTS}
    counters.update((name, next(numbers)) for name in names)
    return counters


@test
def stats_take_every_counter_from_its_attribute(bench):
    forget(bench)
    for tool, tech in (("smcd", "SMCD"), ("smcr", "SMCR")):
        serve(bench, **{tool: distinct()})
        data = json.loads(bench.run([tool, "stats", "json"]).ok())[tech]
        equal(data, {name: i + 1 for i, name in enumerate(JSON_NAMES)})
        out = bench.run([tool, "-d", "stats"]).ok()
        equal(value(out, "Buffer too small (remote)"), data["SMC_INT_TX_BUF_SIZE_SM_PEER_CNT"])
        equal(value(out, "Buffer too small"), data["SMC_INT_TX_BUF_SIZE_SM_CNT"])
        equal(value(out, "Buffer full (remote)"), data["SMC_INT_TX_BUF_FULL_PEER_CNT"])
        equal(value(out, "Buffer full"), data["SMC_INT_RX_BUF_FULL_CNT"])
        equal(value(out, "Buffer downgrades"), data["SMC_INT_RX_BUF_DGRADE_CNT"])
        equal(value(out, "Buffer reuses"), data["SMC_INT_RX_BUF_REUSE_CNT"])
        equal(value(out, "urgent data"), data["SMC_URG_DATA_CNT"])
        equal(value(out, "Special socket calls"), 55 + 56 + 57 + 58 + 59)
        contains(out, "  Bufs       10      11      12      13      14      15      16      35")
        contains(out, "  Reqs       28      29      30      31      32      33      34      71")


@test
def stats_json_option_adds_fallbacks(bench):
    forget(bench)
    serve(bench, smcr=SAMPLE, reasons=REASONS, clnt_err=3)
    data = json.loads(bench.run(["smcr", "-j", "stats"]).ok())
    equal(list(data), ["SMCR", "client", "server"])
    equal(data["client"], {"handshake_errors": 3, "fallbacks": 0, "reasons": []})
    equal(data["server"]["reasons"][0],
          {"code": "0x03010000", "name": "PEER_NO_SMC",
           "text": "peer does not support SMC", "count": 1})


@test
def stats_show_what_only_our_module_counts(bench):
    forget(bench)
    serve(bench, smcr={**SAMPLE, **OWN_TECH}, reasons=REASONS, own=OWN_ALL)
    equal(bench.run(["smcr", "-d", "stats"]).ok(), DETAILS + OWN)
    check("Aborts" not in bench.run(["smcr", "stats"]).ok(), "without -d")
    data = json.loads(bench.run(["smcr", "-j", "stats"]).ok())
    equal(list(data), ["SMCR", "client", "server", "handshakes", "aborts", "buffers",
                       "wakeups_saved", "busy_polls"])
    equal(data["handshakes"]["now"], 3)
    equal((data["handshakes"]["paths_failed"], data["handshakes"]["paths_avoided"]), (8, 2))
    equal(data["handshakes"]["llc_strays"], 6)
    equal(list(data["handshakes"]["time"].items())[:3],
          [("100us", 12), ("250us", 0), ("500us", 7)])
    equal(data["handshakes"]["time"][">1s"], 1)
    equal(data["aborts"], {"total": 10, "application": 1, "tcp": 2, "link": 3, "timeout": 4,
                           "orphan": 9, "violation": 5, "peer": 6})
    equal(data["buffers"], {"used": 1 << 20, "limit": 1 << 32, "namespace_used": 1 << 19,
                            "namespace_limit": 1 << 30, "grown": 7, "stuck": 2, "shrunk": 5,
                            "orphans": 5})
    equal((data["wakeups_saved"], data["busy_polls"]), (77, 8))
    other = json.loads(bench.run(["smcd", "-j", "stats"]).ok())
    equal((other["aborts"]["total"], other["handshakes"]["now"]), (0, 3))
    check("paths_failed" not in other["handshakes"], "paths are those of SMC-R")
    equal((other["handshakes"]["in_memory"], other["handshakes"]["offers_withdrawn"]), (19, 4))
    check("in_memory" not in data["handshakes"], "memory is that of SMC-D")
    text = bench.run(["smcd", "-d", "stats"]).ok()
    equal((value(text, "Through memory"), value(text, "Offers withdrawn")), (19, 4))
    equal(list(json.loads(bench.run(["smcr", "stats", "json"]).ok())), ["SMCR"])


@test
def stats_reset_covers_what_only_our_module_counts(bench):
    forget(bench)
    serve(bench, smcr=OWN_TECH, own=OWN_ALL)
    bench.run(["smcr", "stats", "reset"]).ok()
    serve(bench, smcr={**OWN_TECH, "abort_tx": 11}, own=OWN_ALL)
    data = json.loads(bench.run(["smcr", "-j", "stats"]).ok())
    equal((data["aborts"]["total"], data["aborts"]["peer"]), (1, 0))
    equal(set(data["handshakes"]["time"].values()), {0})
    equal((data["handshakes"]["paths_failed"], data["handshakes"]["llc_strays"]), (0, 0))
    other = json.loads(bench.run(["smcd", "-j", "stats"]).ok())
    equal((other["handshakes"]["in_memory"], other["handshakes"]["offers_withdrawn"]), (0, 0))
    equal((data["handshakes"]["now"], data["handshakes"]["paths_avoided"]), (3, 2), "gauges")
    serve(bench, smcr={**OWN_TECH, "abort_tx": 9}, own=OWN_ALL)
    data = json.loads(bench.run(["smcr", "-j", "stats"]).ok())
    equal(data["aborts"]["total"], 9, "loaded again: all of it")
    forget(bench)


@test
def stats_shorten_large_numbers(bench):
    forget(bench)
    for number, text in ((0, "0"), (999, "999"), (1000, "1.000K"), (27034423252, "27.03G"),
                         (19661848904, "19.66G"), (999949, "999.9K"), (999950, "1.000M"),
                         (9999499, "9.999M"), (9999500, "10.00M"), (1 << 40, "1.100T"),
                         (10 ** 15, "1.000P"), (2 ** 64 - 1, "18446.7P")):
        serve(bench, smcr={"rx_bytes": number})
        line = bench.run(["smcr", "stats"]).ok().split("RX Stats\n")[1].splitlines()[0]
        equal(line, f"{'  Data transmitted (Bytes)':<28}{number:>13} ({text})")
    serve(bench, smcr={"rx_reqs": [999999, 1000000, 19640152]})
    contains(bench.run(["smcr", "stats"]).ok(), "  Reqs   999999  1.000M  19.64M       0")


@test
def stats_percentages_are_of_requests(bench):
    forget(bench)
    serve(bench, smcr={"rx_cnt": 8, "tx_cnt": 3, "clnt_v1": 2, "rx_events": {"full": 2},
                       "tx_events": {"full": 1, "full_peer": 2, "too_small": 3}})
    out = bench.run(["smcr", "stats"]).ok()
    contains(out, "  Buffer full                           2 (25.00%)\n")
    contains(out, "  Buffer full                           1 (33.33%)\n")
    contains(out, "  Buffer full (remote)                  2 (66.67%)\n")
    contains(out, "  Buffer too small                      3 (100.00%)\n")
    contains(out, "  Avg requests per SMC conn             5.5\n")


@test
def stats_reset_prints_then_starts_from_zero(bench):
    forget(bench)
    serve(bench, smcr=SAMPLE, smcd={"clnt_v2": 5}, reasons=REASONS, srv_err=4)
    out = bench.run(["smcr", "-d", "stats", "reset"]).ok()
    equal(value(out, "SMC connections"), 2)
    equal(stat.S_IMODE(os.stat(baseline(bench)).st_mode), 0o600)

    out = bench.run(["smcr", "-d", "stats"]).ok()
    for label in ("Total connections handled", "SMC connections", "Handshake errors",
                  "TCP fallback", "Data transmitted (Bytes)", "Total requests"):
        equal(value(out, label), 0, label)
    check("PEERDECL" not in out, "a reason without fallback since the reset")
    equal(value(out, "Buffer usage (Bytes)"), 131072, "a gauge is no counter")
    equal(value(bench.run(["smcd", "stats"]).ok(), "SMC connections"), 0, "shared by both")
    for option in ("-a", "-absolute", "--absolute", "-ad"):
        equal(value(bench.run(["smcr", option, "stats"]).ok(), "SMC connections"), 2)

    serve(bench, smcr={**SAMPLE, "srv_v2": 5, "tx_reqs": [1, 0, 7]}, smcd={"clnt_v2": 6},
          reasons=[*REASONS[:1], (1, 0x05000000, 4), (0, 0x01010000, 1)], srv_err=6)
    out = bench.run(["smcr", "-d", "stats"]).ok()
    equal(value(out, "SMC connections"), 3)
    equal(value(out, "Handshake errors"), 2)
    equal(value(out, "PEERDECL"), 3)
    equal(value(out, "MEMORY"), 1)
    check("PEER_NO_SMC" not in out, "a reason without fallback since the reset")
    contains(out, "  Reqs        1       0       1       0")
    equal(value(bench.run(["smcd", "stats"]).ok(), "SMC connections"), 1)
    data = json.loads(bench.run(["smcr", "stats", "json"]).ok())["SMCR"]
    equal(data["SMC_SRV_V2_SUCC_CNT"], 3)

    bench.run(["smcd", "stats", "reset"]).ok()
    equal(value(bench.run(["smcr", "stats"]).ok(), "SMC connections"), 0)


@test
def stats_baseline_ends_when_counters_restart(bench):
    for later in ({"smcr": {**SAMPLE, "srv_v2": 1}}, {"smcr": {**SAMPLE, "rx_reqs": [0, 0, 5]}},
                  {"smcr": SAMPLE, "srv_err": 3},
                  {"smcr": SAMPLE, "srv_err": 4, "reasons": REASONS[:1]}):
        forget(bench)
        serve(bench, smcr=SAMPLE, reasons=REASONS, srv_err=4)
        bench.run(["smcr", "stats", "reset"]).ok()
        serve(bench, **later)
        equal(value(bench.run(["smcr", "stats"]).ok(), "SMC connections"),
              later["smcr"]["srv_v2"], f"{later}")


@test
def stats_baseline_survives_a_falling_gauge(bench):
    forget(bench)
    serve(bench, smcr=SAMPLE)
    bench.run(["smcr", "stats", "reset"]).ok()
    serve(bench, smcr={**SAMPLE, "rx_usage": 0, "tx_usage": 16384})
    out = bench.run(["smcr", "stats"]).ok()
    equal(value(out, "SMC connections"), 0)
    equal(value(out, "Buffer usage (Bytes)"), 0)


@test
def stats_baseline_must_be_of_this_boot_and_a_plain_file(bench):
    forget(bench)
    serve(bench, smcr=SAMPLE)
    bench.run(["smcr", "stats", "reset"]).ok()
    with open(baseline(bench), "rb") as file:
        good = file.read()

    def connections():
        return value(bench.run(["smcr", "stats"]).ok(), "SMC connections")

    equal(connections(), 0)
    boot = good[:8] + bytes([good[8] ^ 1]) + good[9:]
    for bad in (boot, good[:-1], b"", b"x" * len(good)):
        with open(baseline(bench), "wb") as file:
            file.write(bad)
        equal(connections(), 2, f"{bad[:20]}")

    victim = os.path.join(bench.tmp, "victim")
    with open(victim, "wb") as file:
        file.write(good)
    os.unlink(baseline(bench))
    os.symlink(victim, baseline(bench))
    equal(connections(), 2, "through a symbolic link")
    result = bench.run(["smcr", "stats", "reset"])
    equal((result.status, result.err), (255, "Error: Cannot store the values\n"))
    with open(victim, "rb") as file:
        equal(file.read(), good)
    os.unlink(baseline(bench))
    os.mkfifo(baseline(bench))
    equal(connections(), 2, "a pipe")
    forget(bench)


@test
def stats_survive_missing_nests(bench):
    forget(bench)
    bench.kernel.gen = lambda request: [k.genl(7, k.nest(7))] if request.command == 7 else []
    equal(value(bench.run(["smcr", "-d", "stats"]).ok(), "Total connections handled"), 0)
    bench.kernel.gen = lambda request: []
    equal(value(bench.run(["smcd", "stats"]).ok(), "Total connections handled"), 0)


@test
def stats_survive_more_reasons_than_allowed(bench):
    forget(bench)
    serve(bench, reasons=[(1, i, i) for i in range(60)])
    out = bench.run(["smcr", "-d", "stats"]).ok()
    equal(value(out, "TCP fallback"), sum(range(60)))
    equal(len(json.loads(bench.run(["smcr", "-j", "stats"]).ok())["server"]["reasons"]), 30)


@test
def stats_rate_shows_differences_per_second(bench):
    forget(bench)

    def gen(request):
        turn = sum(r.command == 7 for r in bench.kernel.requests)
        if request.command == 7:
            return [k.stats({}, {"clnt_v2": 1000 * turn, "tx_bytes": 5 * turn ** 2})]
        return k.fback_stats([(0, 0x05000000, 100 * turn)])

    bench.kernel.gen = gen
    out = bench.run(["smcr", "stats", "rate", "0.2", "2"]).ok().splitlines()
    equal(out[0].split(), "Conns/s Fallbk/s HSerrs/s RxReqs/s TxReqs/s RxB/s TxB/s".split())
    equal(len(out), 3)
    lines = bench.run(["smcr", "-j", "stats", "rate", "0.2", "2"]).ok().splitlines()
    for line in lines:
        rate = json.loads(line)
        seconds = rate["seconds"]
        check(0.1 < seconds < 60, f"{seconds} s")
        # seconds are printed with one digit, so allow for the rounding
        check(abs(rate["connections"] / rate["fallbacks"] - 10) < 0.1, line)
        check(rate["connections"] * (seconds + 0.06) > 1000, line)
        check(rate["handshake_errors"] == 0, line)
    equal(len(lines), 2)


@test
def stats_do_not_load_the_module(bench):
    """What was just unloaded stays unloaded; other commands may need it."""
    forget(bench)
    serve(bench)
    bench.kernel.is_loaded = False
    for words in (["stats"], ["-d", "stats"], ["stats", "reset"], ["stats", "rate"]):
        for tool in ("smcd", "smcr"):
            result = bench.run([tool, *words])
            equal((result.status, result.out, result.err),
                  (1, "", "Error: SMC module not loaded\n"), f"{words}")
    equal(bench.kernel.requests, [])
    bench.kernel.is_loaded = True
    bench.run(["smcd", "stats"]).ok()
