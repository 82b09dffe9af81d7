# SPDX-License-Identifier: GPL-2.0-only
"""Manual pages, completion, help and installation agree with the programs."""

import os
import re
import stat
import subprocess

import kernel as k
from harness import SOURCE, TOOLS, Skip, check, equal, test

TREE = os.path.dirname(SOURCE)
PAGES = {"smc": "smc/smc.8", "smc_run": "smc_run/smc_run.8", "smcss": "smcss/smcss.8",
         "smcd": "smcd/smcd.8", "smcr": "smcd/smcr.8", "smc_pnet": "smc_pnet/smc_pnet.8",
         "smc-ismd": "smc-ismd/smc-ismd.8"}


def read(name, folder=SOURCE):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def of_tree(name):
    """A file outside the tools, in whose absence there is nothing to compare."""
    if not os.path.exists(os.path.join(TREE, name)):
        raise Skip(f"no {name} here")
    return read(name, TREE)


def options(bench, tool):
    """The options in the help."""
    return set(re.findall(r"(?<![\w-])-{1,2}[A-Za-z46][\w-]*", bench.run([tool, "-h"]).ok()))


@test
def manual_pages_have_every_option(bench):
    for tool in ("smc", "smc_run", "smcss", "smc_pnet", "smc-ismd"):
        page = read(PAGES[tool])
        words = set(re.findall(r"\bFl ([\w, ]*\w)", page))
        documented = {f"-{letter}" for text in words for letter in
                      re.split(r"[ ,]+", text.replace("Fl Fl", "--")) if len(letter) == 1}
        documented |= {f"--{name}" for name in re.findall(r"Fl Fl ([\w-]+)", page)}
        equal(options(bench, tool) - documented, set(), tool)
    for tool in ("smcd", "smcr"):
        page = read(PAGES[tool])
        for name in ("absolute", "details", "json", "help", "version"):
            check(f"Fl {name[0]} , Fl Fl {name}\n" in page, f"{tool}.8: {name}")
        check(("Fl dd , Fl Fl ddetails\n" in page) == (tool == "smcr"), f"{tool}.8: -dd")


@test
def manual_pages_have_every_object(bench):
    for tool in ("smcd", "smcr"):
        page = read(PAGES[tool])
        objects = re.findall(r"^  (\w+) +\[show", bench.run([tool, "-h"]).ok(), re.MULTILINE)
        equal(sorted(re.findall(r"^\.Ss (\w+) O", page, re.MULTILINE)), sorted(objects), tool)


@test
def manual_page_and_tool_explain_the_same_reasons(bench):
    documented = re.findall(r"^(0x[0-9a-f]{8})  (.+)$", read(PAGES["smcss"]), re.MULTILINE)
    check(len(documented) > 30, "no list of reasons")
    sockets = [k.sock(k.ACTIVE, 1, ("1.1.1.1", 1), ("2.2.2.2", 2), k.TCP,
                      fallback=(int(code, 16), 0)) for code, _ in documented]
    bench.kernel.diag = lambda request: sockets
    rows = bench.run(["smcss", "-e"]).ok().splitlines()[1:]
    shown = [re.search(r"TCP (0x\S+) (.+)$", row).groups() for row in rows]
    equal(shown, documented)
    equal(read("lib/reason.c").count("{ 0x"), len(documented), "reasons in the tool")


@test
def every_reason_of_the_module_has_a_text(bench):
    header = of_tree("net/smc/wire/reason.h")
    names = dict(re.findall(r"\{ (SMC_REASON_\w+), \"(\w+)\"", of_tree("net/smc/wire/reason.c")))
    tool = {int(code, 16): name for code, name in
            re.findall(r'\{ (0x[0-9a-f]{8}), "([^"]+)"', read("lib/reason.c"))}
    module = {symbol: int(code, 16) for symbol, code in
              re.findall(r"(SMC_REASON_\w+)\s*= (0x[0-9a-f]{8})", header)}
    check(len(module) > 30, "no reasons in the module")
    for symbol, code in module.items():
        equal(tool.get(code), names.get(symbol), f"short name of {symbol} ({code:#010x})")


@test
def every_reason_of_the_module_is_published(bench):
    """R-DEC-10: peers may look up what our Declines say."""
    names = {symbol: (name, text) for symbol, name, text in re.findall(
        r'\{ (SMC_REASON_\w+), "(\w+)",\s*"([^"]+)"', of_tree("net/smc/wire/reason.c"))}
    module = [(code, *names[symbol]) for symbol, code in re.findall(
        r"(SMC_REASON_\w+)\s*= (0x[0-9a-f]{8})", of_tree("net/smc/wire/reason.h"))]
    check(len(module) > 30, "no reasons in the module")
    published = re.findall(r"^``(0x[0-9a-f]{8})``  ``(\w+)`` +(.+)$",
                           of_tree("Documentation/fallback.rst"), re.MULTILINE)
    equal(published, module)


@test
def manual_page_has_every_sysctl(bench):
    table = re.findall(r'\.procname\s*= "(\w+)"', of_tree("net/smc/config/sysctl.c"))
    check(table, "no sysctls in the module")
    page = read("af_smc.7")
    missing = [name for name in table if not re.search(rf"^\.It Va .*\b{name}\b", page, re.M)]
    equal(missing, [])


def complete(bench, *words):
    """What completion offers for the last of the words."""
    script = (f"source {SOURCE}/completion/smc-tools; "
              "compopt() { :; }; "      # bash allows it within a completion only
              'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
              'function=$(complete -p "$1"); function=${function#*-F }; '
              '${function%% *} "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"; '
              'echo "${COMPREPLY[@]}"')
    out = bench.run(["bash", "-c", script, "bash", *words],
                    PATH=f"{bench.build}:/usr/bin:/bin").ok()
    return out.split()


@test
def completion_offers_every_option(bench):
    for tool in ("smc", "smc_run", "smcss", "smc_pnet", "smc-ismd"):
        wanted = options(bench, tool)
        offered = set(complete(bench, tool, "-") + complete(bench, tool, "--"))
        equal(wanted - offered, set(), tool)
        # and nothing that does not exist
        for option in offered - {"-r", "-t", "-a", "-d", "-D", "-I", "-P", "-w", "--add",
                                 "--delete", "--ibdevice", "--ibport", "--interface", "-c", "-s",
                                 "--config", "--run", "--state"}:
            result = bench.run([tool, option, "-h"])
            check("invalid option" not in result.err and "unrecognized" not in result.err,
                  f"{tool} {option}")


@test
def completion_knows_objects_and_commands(bench):
    for tool in ("smcd", "smcr"):
        help_ = bench.run([tool, "-h"]).ok()
        objects = re.findall(r"^  (\w+) +\[show", help_, re.MULTILINE)
        equal(sorted(complete(bench, tool, "")), sorted([*objects, "help"]))
        equal(sorted(complete(bench, tool, "-d", "")), sorted([*objects, "help"]))
        equal(complete(bench, tool, "link"), ["linkgroup"])
        for name in objects:
            text = re.search(rf"^  {name} +(.*)$", help_, re.MULTILINE).group(1)
            commands = set(re.findall(r"\b[a-z]+(?:-[a-z]+)?\b", text)) | {"help"}
            equal(set(complete(bench, tool, name, "")), commands, f"{tool} {name}")
        for option in complete(bench, tool, "-"):
            if option not in ("-v", "-version"):
                equal(bench.run([tool, option, "-h"]).status, 0, f"{tool} {option}")


@test
def completion_asks_the_kernel_for_names(bench):
    bench.kernel.gen = lambda request: [k.genl(9, k.string(1, k.padded("FIRST.EID")))]
    equal(complete(bench, "smcd", "ueid", "del", ""), ["FIRST.EID"])
    bench.kernel.pnet = lambda request: [k.pnet_entry("NET1", "eth0"),
                                         k.pnet_entry("NET2", "eth1")]
    for option in ("-s", "-d", "--delete"):
        equal(complete(bench, "smc_pnet", option, "NET"), ["NET1", "NET2"])
    check("lo" in complete(bench, "smc_pnet", "-a", "X", "-I", ""), "no interface lo")


@test
def completion_knows_commands_of_the_daemon(bench):
    commands = re.findall(r"^  ([a-z]+)  +|^  (pair|attach) ", bench.run(["smc-ismd", "-h"]).ok(),
                          re.MULTILINE)
    equal(set(complete(bench, "smc-ismd", "")), {a or b for a, b in commands})
    equal(complete(bench, "smc-ismd", "-j", "st"), ["status"])
    equal(complete(bench, "smc-ismd", "status", ""), [])


@test
def completion_of_smc_run_is_that_of_the_command(bench):
    check("env" in complete(bench, "smc_run", "-r", "1k", "en"), "no commands")
    equal(complete(bench, "smc_run", "-r", ""), [], "a size")
    check("-d" not in complete(bench, "smc_run", "ls", "-"), "own options for the command")
    equal(complete(bench, "smc", "-4", "che"), ["check"])


def tree_of(folder):
    found = {}
    for base, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(base, name)
            found[os.path.relpath(path, folder)] = os.lstat(path)
    return found


@test
def installation_is_complete_and_can_be_undone(bench):
    stage = os.path.join(bench.tmp, "stage")
    make = ["make", "-s", "-C", SOURCE, f"O={bench.build}", f"DESTDIR={stage}", "PREFIX=/usr",
            "LIBDIR=/usr/lib/somewhere"]
    before = tree_of(SOURCE)
    environment = {"PATH": os.environ["PATH"]}
    subprocess.run([*make, "install"], check=True, env=environment, stdout=subprocess.DEVNULL)
    found = tree_of(stage)
    wanted = {f"usr/bin/{tool}" for tool in TOOLS}
    wanted |= {f"usr/share/man/man8/{tool}.8" for tool in TOOLS}
    wanted |= {f"usr/share/bash-completion/completions/{name}" for name in (*TOOLS, "smc-tools")}
    wanted |= {"usr/lib/somewhere/libsmc-preload.so", "usr/share/man/man7/af_smc.7",
               "usr/lib/systemd/system/smc-ismd.service", "usr/lib/sysusers.d/smc-ismd.conf",
               "usr/lib/systemd/system/smc-policy.service"}
    equal(set(found), wanted)
    for name, status in found.items():
        if not stat.S_ISLNK(status.st_mode):
            expected = 0o755 if name.startswith("usr/bin/") else 0o644
            equal(stat.S_IMODE(status.st_mode), expected, name)
    for tool in TOOLS:
        check(bench.run([os.path.join(stage, "usr/bin", tool), "-h"]).status == 0, tool)
    subprocess.run([*make, "uninstall"], check=True, env=environment, stdout=subprocess.DEVNULL)
    equal(set(tree_of(stage)), set())
    own = {name for name in tree_of(SOURCE) if not name.startswith("build/")}
    equal(own - set(before), set(), "files in the source tree")
