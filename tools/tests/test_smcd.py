# SPDX-License-Identifier: GPL-2.0-only
"""smcd and smcr, except for their statistics."""

import errno
import json

import kernel as k
from harness import check, contains, equal, test

EMPTY = {3: [], 5: [], 6: []}

INFO = """\
Kernel Capabilities
SMC Version:      2.1
SMC Hostname:     vm-srv                          
SMC-D Features:   v1 v2
SMC-R Features:   v1 v2

Hardware Capabilities
SEID:             n/a
ISM:              n/a
RoCE:             n/a
"""

LINKGROUP = """\
LG-ID    LG-Role  LG-Type  VLAN  #Conns  PNET-ID 
00000100 SERV     SINGLE      0       2  PNETA            
"""

LINKGROUP_DETAILS = """\
LG-ID    : 00000100
LG-Role  : SERV
LG-Type  : SINGLE
VLAN     : 0
PNET-ID  : PNETA
Version  : 2
Peer-Rel : 1
Peer-Host: vm-cli
Peer-OS  : LINUX
Direct   : Yes
EID      : TESTEID                         
#Conns   : 2
Sndbuf   : 131072 B
RMB      : 131072 B
"""

LINKS = """\
LG-ID    LG-Role  LG-Type  Net-Dev         Link-State      #Conns  Link-UID  Peer-UID  IB-Dev    IB-P  Local-GID                                 Peer-GID  
00000100 SERV     SINGLE   eth0            LINK_ACTIVE          2  00000101  00000101  rxe0         1  0000:0000:0000:0000:0000:ffff:0a00:0001   0000:0000:0000:0000:0000:ffff:0a00:0002  
"""

DEVICE = """\
Net-Dev         IB-Dev   IB-P  IB-State  Type          Crit  #Links  PNET-ID  
eth0            rxe0        1    ACTIVE  0              Yes       1  *PNETA           
"""

GIDS = {"gid": "0000:0000:0000:0000:0000:ffff:0a00:0001",
        "peer_gid": "0000:0000:0000:0000:0000:ffff:0a00:0002"}


def serve(bench, lists):
    """Answer dumps from a dict of lists, requests for actions with success."""
    def gen(request):
        if request.command not in lists:
            raise k.Failure(errno.EOPNOTSUPP)
        return lists[request.command]

    bench.kernel.gen = gen


def smcr(bench, lists, *words):
    serve(bench, lists)
    return bench.run(["smcr", *words]).ok()


def smcd(bench, lists, *words):
    serve(bench, lists)
    return bench.run(["smcd", *words]).ok()


@test
def info_is_as_documented(bench):
    lists = {**EMPTY, 1: [k.sys_info()]}
    for tool in ("smcr", "smcd"):
        serve(bench, lists)
        equal(bench.run([tool, "info"]).ok(), INFO)
        equal(bench.run([tool, "info", "show"]).ok(), INFO)
    equal([request.command for request in bench.kernel.requests[:3]], [1, 5, 6])
    equal({request.flags for request in bench.kernel.requests}, {0x305})


@test
def info_shows_hardware(bench):
    seid = "IBM-SYSZ-ISMSEID0000000012345678"
    lists = {1: [k.sys_info(ism_v2=1, smcr_v2=0, seid=seid)], 5: [k.dev_smcd()],
             6: [k.dev_smcr(pci=k.pci(1, 2, 0x15b3, 0x1004, "0000:00:05.0"))]}
    out = smcd(bench, lists, "info")
    contains(out, f"SEID:             {seid}\nISM:              v1 v2\nRoCE:             v1\n")
    contains(out, "SMC-R Features:   v1\n")
    lists[6].append(k.dev_smcr(pci=k.pci(1, 2, 0x15b3, 0x101e, "0000:00:06.0")))
    contains(smcd(bench, lists, "info"), "RoCE:             v1 v2\n")
    equal(json.loads(smcd(bench, lists, "-j", "info")),
          {"version": 2, "release": 1, "hostname": "vm-srv", "smcd": ["v1", "v2"],
           "smcr": ["v1"], "seid": seid, "ism": ["v1", "v2"], "roce": ["v1", "v2"]})
    lists[1] = [k.sys_info(version=1, release=0)]
    contains(smcd(bench, lists, "info"), "SMC Version:      1.0\n")
    contains(smcd(bench, lists, "info"), "SMC-D Features:   v1\n")
    contains(smcd(bench, {**EMPTY, 1: []}, "info"), "SMC Version:      n/a\n")


@test
def linkgroup_is_as_documented(bench):
    lists = {2: [k.lgr_smcr(v2=k.v2_common())]}
    for words in (["linkgroup"], ["linkgroup", "show"], ["l"], ["linkg", "s", "all"],
                  ["linkgroup", "all"]):
        equal(smcr(bench, lists, *words), LINKGROUP, f"{words}")
    for option in ("-d", "-details", "--details", "-dd", "-ddetails", "--ddetails"):
        equal(smcr(bench, lists, option, "linkgroup"), LINKGROUP_DETAILS, option)
    lists = {2: [k.lgr_smcr(v2=k.v2_common()), k.lgr_smcr(v2=k.v2_common())]}
    equal(smcr(bench, lists, "-d", "linkgroup"),
          LINKGROUP_DETAILS + "\n" + LINKGROUP_DETAILS)


@test
def linkgroup_shows_all_of_a_pnetid_and_vlans_in_hex(bench):
    out = smcr(bench, {2: [k.lgr_smcr(pnetid="ABCDEFGHIJKLMNOP", vlan=255, role=0)]},
               "linkgroup")
    equal(out.splitlines()[1],
          "00000100 CLNT     SINGLE     ff       2  ABCDEFGHIJKLMNOP ")


@test
def linkgroup_names_types_and_systems(bench):
    def column(what, **kwargs):
        out = smcr(bench, {2: [k.lgr_smcr(**kwargs)]}, "-d", "linkgroup")
        return [line for line in out.splitlines() if line.startswith(what)][0][11:]

    for number, name in enumerate(("NONE", "SINGLE", "SYM", "ASYMP", "ASYML", "0x5?")):
        equal(column("LG-Type", type_=number), name)
    for number, name in ((1, "ZOS"), (2, "LINUX"), (3, "AIX"), (0, "Unknown (0x00)"),
                         (9, "Unknown (0x09)")):
        equal(column("Peer-OS", v2=k.v2_common(os_=number)), name)
    equal(column("Version"), "1")
    contains(smcr(bench, {2: [k.lgr_smcr(memory=None)]}, "-d", "linkgroup"), "#Conns   : 2\n")


@test
def linkgroup_reads_numbers_of_either_width(bench):
    lists = {2: [k.lgr_smcr(memory=(1 << 40, 5))]}
    contains(smcr(bench, lists, "-d", "linkgroup"),
             "Sndbuf   : 1099511627776 B\nRMB      : 5 B\n")


@test
def linkgroup_selects_by_id(bench):
    lists = {2: [k.lgr_smcr(id_=i) for i in (0x100, 0x200, 0x1200)]}

    def ids(*words):
        return [line.split()[0] for line in
                smcr(bench, lists, "linkgroup", *words).splitlines()[1:]]

    equal(ids("200"), ["00000200"])
    equal(ids("show", "2ab"), ["00000200"], "the low byte counts")
    equal(ids("show", "1200"), ["00001200"])
    equal(ids("show", "300"), [])
    equal(ids("show", "xyz"), [], "not a number")
    equal(smcr(bench, lists, "linkgroup", "300"), "", "a header without rows")
    lists = {4: [k.lgr_smcd(id_=i) for i in (0x100, 0x101)]}
    out = smcd(bench, lists, "linkgroup", "show", "101")
    equal([line.split()[0] for line in out.splitlines()[1:]], ["00000101"])


def link_lists():
    return {3: [k.lgr_smcr(command=2, v2=k.v2_common()), k.link_smcr(**GIDS)]}


@test
def links_are_as_documented(bench):
    header, row = LINKS.splitlines()
    for options, width in (([], header.index("Link-UID")), (["-d"], header.index("Local-GID")),
                           (["-dd"], None)):
        out = smcr(bench, link_lists(), *options, "linkgroup", "link-show")
        equal(out, f"{header[:width]}\n{row[:width]}\n", f"{options}")
    equal(bench.kernel.requests[-1].command, 3)


@test
def links_belong_to_the_group_before_them(bench):
    lists = {3: [k.lgr_smcr(id_=0x100, role=1, type_=2), k.link_smcr(id_=1, netdev=2),
                 k.link_smcr(id_=2, device="rxe1", netdev=7, state=1),
                 k.lgr_smcr(id_=0x200, role=0, type_=1),
                 k.link_smcr(id_=1, device="rxe1", netdev=7, state=9)]}

    def words(*filters):
        out = smcr(bench, lists, "linkgroup", "link-show", *filters)
        return [line.split()[:5] for line in out.splitlines()[1:]]

    first = ["00000100", "SERV", "SYM", "eth0", "LINK_ACTIVE"]
    second = ["00000100", "SERV", "SYM", "n/a", "LINK_INACTIVE"]
    third = ["00000200", "CLNT", "SINGLE", "n/a", "0x9?"]
    equal(words(), [first, second, third])
    equal(words("all"), [first, second, third])
    equal(words("200"), [third])
    equal(words("ibdev", "rxe1"), [second, third])
    equal(words("netdev", "eth0"), [first])
    equal(words("100", "ibdev", "rxe1"), [second])
    equal(words("ibdev", "rxe"), [])


@test
def smcd_linkgroups(bench):
    lists = {4: [k.lgr_smcd(pnetid="NET1", vlan=16, v2=k.v2_common("SEID", "here"))]}
    equal(smcd(bench, lists, "linkgroup"),
          "LG-ID    VLAN  #Conns  PNET-ID \n"
          "00000200   10       1  NET1             \n")
    equal(smcd(bench, lists, "-d", "linkgroup"), """\
LG-ID    : 00000200
VLAN     : 10
PNET-ID  : NET1
Version  : 2
Peer-Rel : 1
Peer-Host: here
Peer-OS  : LINUX
EID      : SEID                            
#Conns   : 1
Sndbuf   : 0 B
DMB      : 65536 B
""")
    equal(bench.kernel.requests[-1].command, 4)


@test
def linkgroup_json(bench):
    group, = json.loads(smcr(bench, {2: [k.lgr_smcr(v2=k.v2_common())]}, "-j", "linkgroup"))
    equal(group, {"id": "0x00000100", "vlan": 0, "pnetid": "PNETA", "connections": 2,
                  "role": "server", "type": "SINGLE", "buffer_type": "physical",
                  "version": 2, "peer_release": 1, "peer_host": "vm-cli",
                  "peer_os": "LINUX", "eid": "TESTEID", "direct": True,
                  "max_connections": 255, "max_links": 2,
                  "send_buffers": 131072, "receive_buffers": 131072})
    link, = json.loads(smcr(bench, link_lists(), "-j", "linkgroup", "link-show"))
    equal(link, {"group": "0x00000100", "role": "server", "type": "SINGLE", "id": 1,
                 "netdev": "eth0", "state": "LINK_ACTIVE", "connections": 2,
                 "uid": "0x00000101", "peer_uid": "0x00000101", "device": "rxe0",
                 "port": 1, **GIDS})
    group, = json.loads(smcd(bench, {4: [k.lgr_smcd(ext=(0x1, 0x2))]}, "-j", "linkgroup"))
    equal((group["gid"], group["peer_gid"], group["chid"], group["version"]),
          ("00000000000000010000000000000011", "00000000000000020000000000000022",
           "0xffff", 1))
    equal(json.loads(smcd(bench, {4: []}, "-j", "linkgroup")), [])


@test
def device_is_as_documented(bench):
    lists = {6: [k.dev_smcr()]}
    for words in (["device"], ["d"], ["dev", "show"], ["device", "show", "all"]):
        equal(smcr(bench, lists, *words), DEVICE, f"{words}")
    header, row = smcr(bench, lists, "-d", "device").splitlines()
    equal(header, DEVICE.splitlines()[0].replace("Crit", "Crit FID   PCI-ID        PCHID"))
    # what the kernel did not send is zero, and not a random number
    equal(row, "eth0            rxe0        1    ACTIVE  0              Yes 0000  n/a  "
          "         0000        1  *PNETA           ")
    equal(len(header.split("PNET-ID")[0]), row.index("*PNETA"))


@test
def device_shows_valid_ports(bench):
    two = k.dev_smcr("mlx5_0", 0, [
        k.port_nest(8, user=0, pnetid="NET1", netdev=99, state=0, links=0),
        k.port_nest(9, pnetid="ABCDEFGHIJKLMNOP", links=3)],
        pci=k.pci(0x12, 0x1c8, 0x15b3, 0x1016, "0012:00:00.0"))
    none = k.dev_smcr("dead", 0, [k.port_nest(8, valid=0)])
    lists = {6: [two, none, k.dev_smcr()]}
    out = smcr(bench, lists, "-d", "device").splitlines()
    equal(out[1:3], [
        "n/a             mlx5_0      1  INACTIVE  RoCE_Express2   No 0012  0012:00:00.0  "
        "01c8        0   NET1            ",
        "eth0            mlx5_0      2    ACTIVE  RoCE_Express2   No 0012  0012:00:00.0  "
        "01c8        3  *ABCDEFGHIJKLMNOP"])
    equal(len(out), 4)

    def names(*words):
        return [line.split()[1] for line in
                smcr(bench, lists, "device", "show", *words).splitlines()[1:]]

    equal(names("ibdev", "rxe0"), ["rxe0"])
    equal(names("netdev", "eth0"), ["mlx5_0", "rxe0"])
    equal(names("ibdev", "mlx5_0", "netdev", "eth0"), ["mlx5_0"])
    equal(smcr(bench, lists, "device", "ibdev", "none"), "")
    equal(smcr(bench, {6: []}, "device"), "")


@test
def device_types(bench):
    for number, name in ((0x1004, "RoCE_Express"), (0x1016, "RoCE_Express2"),
                         (0x101e, "RoCE_Express3"), (0xabcd, "abcd")):
        lists = {6: [k.dev_smcr(pci=k.pci(1, 2, 3, number, ""))]}
        equal(smcr(bench, lists, "device").splitlines()[1].split()[4], name)


@test
def smcd_devices(bench):
    lists = {5: [k.dev_smcd(use=2, critical=1, pci_=k.pci(0x29, 0x7c1, 0x1014, 0x4ed,
                                                          "0029:00:00.0"),
                            port=k.nest(8, k.u8(1, 1), k.string(2, "NET1"))),
                 k.dev_smcd(pci_=k.pci(0, 0xffff, 0, 0, ""))]}
    equal(smcd(bench, lists, "device"),
          "FID  Type  PCI-ID        PCHID  InUse  #LGs  PNET-ID  \n"
          "0029 ISM   0029:00:00.0  07c1   Yes       2  *NET1            \n"
          "0000 0     n/a           ffff   No        0                   \n")
    equal(json.loads(smcd(bench, lists, "-j", "device"))[0],
          {"in_use": True, "groups": 2, "pnetid": "NET1", "pnetid_by_user": True,
           "type": "ISM", "pci_id": "0029:00:00.0", "pci_vendor": "0x1014",
           "pci_device": "0x04ed", "fid": "0x0029", "pchid": "0x07c1"})
    data = json.loads(smcr(bench, {6: [k.dev_smcr()]}, "-json", "device"))
    equal((data[0]["device"], data[0]["port"], data[0]["netdev"], data[0]["active"]),
          ("rxe0", 1, "eth0", True))


@test
def ueid_shows_adds_and_deletes(bench):
    eids = ["FIRST", "SECOND.EID"]

    def gen(request):
        if request.command == 9:
            return [k.genl(9, k.string(1, k.padded(eid))) for eid in eids]
        if request.command in (10, 11):
            name = request.attributes[1]
            check(len(name) == 33 and name[-1] == 0, f"not padded: {name}")
            name = name[:-1].decode().rstrip()
            if request.command == 10:
                eids.append(name)
            else:
                eids.remove(name)
        elif request.command == 12:
            eids.clear()
        else:
            raise k.Failure(errno.EOPNOTSUPP)
        return None

    bench.kernel.gen = gen
    equal(bench.run(["smcd", "ueid"]).ok(), "FIRST".ljust(32) + "\n" +
          "SECOND.EID".ljust(32) + "\n")
    equal(json.loads(bench.run(["smcr", "-j", "ueid", "show"]).ok()), eids)
    equal(bench.run(["smcd", "ueid", "add", "A-B.C1"]).ok(), "")
    equal(eids[2], "A-B.C1")
    equal(bench.run(["smcr", "ueid", "del", "FIRST"]).ok(), "")
    equal(eids, ["SECOND.EID", "A-B.C1"])
    equal(bench.run(["smcr", "u", "flush"]).ok(), "")
    equal(bench.run(["smcr", "ueid"]).ok(), "")
    equal({request.flags for request in bench.kernel.requests
           if request.command != 9}, {0x5})


@test
def ueid_checks_the_syntax_itself(bench):
    serve(bench, {})
    for eid in ("lower", "", "A_B", "A..B", ".A", "A" * 33, "A B", "\xc4B"):
        for command in ("add", "del"):
            result = bench.run(["smcd", "ueid", command, eid.encode("latin-1")])
            equal((result.status, result.out), (255, ""), repr(eid))
            equal(result.err, f"Error: Invalid User EID specified: {eid}\n")
    equal(bench.kernel.requests, [])
    bench.kernel.gen = lambda request: None
    equal(bench.run(["smcd", "ueid", "add", "9" * 32]).ok(), "")


@test
def ueid_errors_in_words(bench):
    for command, number, text in (
            ("add", errno.EINVAL, "Error: User EID was rejected by the kernel\n"),
            ("add", errno.ENOMEM, "Error: Kernel reported an out of memory condition\n"),
            ("add", errno.ERANGE, "Error: Maximum number of User EIDs is reached\n"),
            ("add", errno.EEXIST, "Error: Specified User EID is already defined\n"),
            ("add", errno.EPERM, "Error: Operation not permitted\n"),
            ("add", errno.EOPNOTSUPP, "Error: Operation not supported by kernel\n"),
            ("del", errno.ENOENT, "Error: Specified User EID is not defined\n"),
            ("del", errno.EAGAIN, "Info: The last User EID was removed, "
                                  "the System EID was activated\n"),
            ("flush", errno.EPERM, "Error: Operation not permitted\n")):
        def gen(request, number=number):
            raise k.Failure(number)

        bench.kernel.gen = gen
        words = ["EID"] if command != "flush" else []
        result = bench.run(["smcd", "ueid", command, *words])
        equal((result.status, result.out, result.err), (255, "", text))


@test
def kernel_texts_are_passed_on(bench):
    def gen(request):
        raise k.Failure(errno.EINVAL, "EID must be padded with blanks")

    bench.kernel.gen = gen
    for tool in ("smcd", "smcr"):
        contains(bench.run([tool, "ueid", "add", "A"]).err,
                 f"{tool}: EID must be padded with blanks\n")
        equal(bench.run([tool, "linkgroup"]).err,
              f"Error: Invalid argument\n{tool}: EID must be padded with blanks\n")


def seid_kernel(bench, eid, enabled=1, error=0):
    def gen(request):
        if request.command == 13:
            attrs = [k.string(1, k.padded(eid)), k.u8(2, enabled)] if eid else []
            return [k.genl(13, *attrs)]
        if error:
            raise k.Failure(error)
        return None

    bench.kernel.gen = gen


@test
def seid_shows_and_switches(bench):
    eid = "IBM-SYSZ-ISMSEID0000000012345678"
    for enabled, word in ((1, "enabled"), (0, "disabled")):
        seid_kernel(bench, eid, enabled)
        equal(bench.run(["smcd", "seid"]).ok(), f"{eid} [{word}]\n")
        equal(json.loads(bench.run(["smcd", "-j", "seid"]).ok()),
              {"seid": eid, "enabled": bool(enabled)})
    for word, command in (("enable", 14), ("disable", 15)):
        bench.kernel.requests.clear()
        equal(bench.run(["smcd", "seid", word]).ok(), "")
        equal([request.command for request in bench.kernel.requests], [13, command])
    seid_kernel(bench, eid, error=errno.ENOENT)
    result = bench.run(["smcd", "seid", "disable"])
    equal((result.status, result.err), (255, "Error: System EID cannot be disabled "
                                        "because no User EID is defined\n"))


@test
def seid_may_not_exist(bench):
    seid_kernel(bench, None)
    equal(bench.run(["smcd", "seid", "show"]).ok(), "n/a\n")
    equal(json.loads(bench.run(["smcd", "seid", "-j"]).ok()),
          {"seid": None, "enabled": False})
    for word in ("enable", "disable"):
        result = bench.run(["smcd", "seid", word])
        equal((result.status, result.err), (255, "Error: System EID not available\n"))
    result = bench.run(["smcr", "seid"])
    equal(result.status, 255)
    contains(result.err, "valid for SMC-D only")


@test
def hslimit_shows_and_switches(bench):
    def gen(request):
        return [k.genl(16, k.u8(1, 1))] if request.command == 16 else None

    bench.kernel.gen = gen
    equal(bench.run(["smcd", "hslimit"]).ok(), "enabled\n")
    equal(json.loads(bench.run(["smcr", "-j", "hslimit"]).ok()), {"enabled": True})
    for word, command in (("enable", 17), ("disable", 18)):
        equal(bench.run(["smcr", "hslimit", word]).ok(), "")
        equal(bench.kernel.requests[-1].command, command)


@test
def abbreviations_take_the_first_match(bench):
    serve(bench, {**EMPTY, 1: [k.sys_info()], 7: [k.stats()], 8: [], 9: []})
    for word, commands in (("i", [1, 5, 6]), ("s", [7, 8]), ("st", [7, 8]), ("u", [9]),
                           ("d", [5]), ("device", [5])):
        bench.kernel.requests.clear()
        bench.run(["smcd", word]).ok()
        equal([request.command for request in bench.kernel.requests], commands, word)
    contains(bench.run(["smcd", "h"]).ok(), "Usage: smcd")


@test
def usage_errors_exit_with_255(bench):
    serve(bench, {})
    for words in ([], ["-x"], ["-d"], ["info", "word"], ["linkgroup", "1", "2"],
                  ["linkgroup", "ibdev"], ["device", "ibdev"], ["device", "word"],
                  ["ueid", "add"], ["ueid", "add", "A", "B"], ["ueid", "word"],
                  ["stats", "word"], ["stats", "rate", "x"], ["stats", "rate", "1", "0"],
                  ["hslimit", "word"]):
        result = bench.run(["smcr", *words])
        equal((result.status, result.out), (255, ""), f"{words}")
        check("Usage: smcr" in result.err or "-help" in result.err, f"{words}: no hint")
    equal(bench.kernel.requests, [])
    result = bench.run(["smcd", "word"])
    equal((result.status, result.out), (1, ""))
    contains(result.err, '"word" is unknown')
    equal(bench.run(["smcd", "linkgroup", "link-show", "ibdev", "x"]).status, 255)


@test
def version_and_help(bench):
    for option in ("-v", "-version", "--version"):
        result = bench.run(["smcr", option])
        equal((result.status, result.out), (255, ""), "as the existing tool does")
        contains(result.err, "smcr utility, ")
    for words in (["-h"], ["-help"], ["--help"], ["help"], ["info", "help"]):
        out = bench.run(["smcd", *words]).ok()       # without any kernel module
        contains(out, "Usage: smcd")
        contains(out, "seid")
    check("seid" not in bench.run(["smcr", "-h"]).ok(), "smcr offers seid")


@test
def missing_module_exits_with_1(bench):
    for command in (["smcd", "info"], ["smcr", "device"], ["smcr", "stats"]):
        result = bench.run(command)
        equal((result.status, result.out, result.err),
              (1, "", "Error: SMC module not loaded\n"))
    result = bench.run(["smcd", "info"], FAKE_KERNEL=None)
    check(result.status == 1 and result.err, "no word about netlink")


@test
def refused_commands_exit_with_255(bench):
    serve(bench, {})
    for words in (["info"], ["linkgroup"], ["device"], ["stats"], ["ueid"]):
        result = bench.run(["smcr", *words])
        equal((result.status, result.out, result.err),
              (255, "", "Error: Operation not supported by kernel\n"), f"{words}")


@test
def changing_lists_are_read_again(bench):
    def gen(request):
        bench.kernel.flags = k.NLM_F_DUMP_INTR if len(bench.kernel.requests) < 3 else 0
        return [k.lgr_smcr(conns=len(bench.kernel.requests))]

    bench.kernel.gen = gen
    equal(bench.run(["smcr", "linkgroup"]).ok().splitlines()[1].split()[4], "3")


@test
def texts_of_the_peer_cannot_steer_the_terminal(bench):
    lists = {2: [k.lgr_smcr(v2=k.v2_common(host="\x1b]0;x\x07", eid="\x9b2J"))]}
    out = smcr(bench, lists, "-d", "linkgroup")
    contains(out, "Peer-Host: ?]0;x?")
    check(all(c == "\n" or " " <= c <= "~" for c in out), "control characters")
