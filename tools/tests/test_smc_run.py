# SPDX-License-Identifier: GPL-2.0-only
"""smc_run and libsmc-preload.so."""

import errno
import os
import shutil
import socket
import subprocess

from harness import Skip, check, contains, equal, test

PYTHON = "/usr/bin/python3"
LIBRARY = "libsmc-preload.so"
MISSING = "smc_run: no SMC in this kernel: module smc is missing or cannot be loaded\n"

# Makes the sockets given as arguments DOMAIN,TYPE,PROTOCOL; prints 0 or errno
SOCKETS = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for word in sys.argv[1:]:
    ctypes.set_errno(0)
    fd = libc.socket(*map(int, word.split(",")))
    print(0 if fd >= 0 else ctypes.get_errno())
    if fd >= 0:
        os.close(fd)
"""


def build_path(bench, name):
    return os.path.join(bench.build, name)


def smc_run(bench, *words, **environment):
    return bench.run(["smc_run", *words], FAKE_KERNEL=None, **environment)


def preloaded(bench, *sockets, **environment):
    """Make sockets with only the library loaded; returns output and calls seen."""
    log = os.path.join(bench.tmp, "log")
    if os.path.exists(log):
        os.unlink(log)
    # the fakes stand behind the library, where libc would be
    preload = f"{build_path(bench, LIBRARY)} {bench.environment['LD_PRELOAD']}"
    words = [",".join(map(str, s)) for s in sockets]
    result = bench.run([PYTHON, "-c", SOCKETS, *words], LD_PRELOAD=preload, FAKE_LOG=log,
                       FAKE_KERNEL=None, **environment)
    equal(result.status, 0, result.err)
    with open(log, encoding="ascii") as file:
        calls = [tuple(line.split()) for line in file]
    return result, [(call[0], *map(int, call[1:])) for call in calls]


TCP4 = (socket.AF_INET, socket.SOCK_STREAM, 0)
TCP6 = (socket.AF_INET6, socket.SOCK_STREAM, 0)
NUMBER4, NUMBER6 = (2, 1, 256), (10, 1, 256)
FAMILY4, FAMILY6 = (43, 1, 0), (43, 1, 1)


@test
def preload_maps_tcp_sockets_only(bench):
    nonblock = socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    for asked, got in (
            (TCP4, NUMBER4), (TCP6, NUMBER6),
            ((2, 1, 6), NUMBER4), ((10, 1, 6), NUMBER6),
            ((2, nonblock, 0), (2, nonblock, 256)),
            ((2, 2, 0), (2, 2, 0)),             # datagram
            ((10, 2, 17), (10, 2, 17)),
            ((2, 3, 1), (2, 3, 1)),             # raw
            ((2, 1, 132), (2, 1, 132)),         # SCTP
            ((2, 1, 262), (2, 1, 262)),         # MPTCP
            ((1, 1, 0), (1, 1, 0)),             # Unix
            ((16, 3, 0), (16, 3, 0)),           # netlink
            (FAMILY4, FAMILY4), (NUMBER6, NUMBER6)):    # already SMC
        _, calls = preloaded(bench, asked, FAKE_SMC="ok", FAKE_PROTOCOL="ok")
        equal(calls, [("socket", *got)], f"{asked}")


def asked(bench, *sockets, **environment):
    """What the library asks the kernel for; the program gets each of its sockets."""
    result, calls = preloaded(bench, *sockets, **environment)
    equal((result.out, result.err), ("0\n" * len(sockets), ""))
    return [call[1:] for call in calls]


@test
def preload_gives_tcp_when_smc_fails(bench):
    for number in (errno.EAFNOSUPPORT, errno.EPERM, errno.EPROTONOSUPPORT, errno.EINVAL):
        calls = asked(bench, TCP4, FAKE_SMC=str(number), FAKE_PROTOCOL=str(number))
        equal(calls, [NUMBER4, FAMILY4, TCP4], f"errno {number}")


@test
def preload_asks_by_family_where_the_number_is_unknown_or_forbidden(bench):
    for number in (errno.EPROTONOSUPPORT, errno.EINVAL, errno.EACCES, errno.EPERM):
        calls = asked(bench, TCP4, TCP6, (2, 2, 0), FAKE_SMC="ok", FAKE_PROTOCOL=str(number))
        equal(calls, [NUMBER4, FAMILY4, FAMILY6, (2, 2, 0)], f"errno {number}")


@test
def preload_asks_once_if_descriptors_or_memory_are_short(bench):
    for number in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS):
        # and again for the next socket
        calls = asked(bench, TCP4, TCP6, FAKE_SMC="ok", FAKE_PROTOCOL=str(number))
        equal(calls, [NUMBER4, TCP4, NUMBER6, TCP6], f"errno {number}")
        # the number is unknown, and is not asked for again
        calls = asked(bench, TCP4, TCP6, FAKE_SMC=str(number))
        equal(calls, [NUMBER4, FAMILY4, TCP4, FAMILY6, TCP6], f"errno {number}")


@test
def preload_leaves_errors_of_other_sockets_alone(bench):
    result, calls = preloaded(bench, (2, 1, 12345), (99, 1, 0), FAKE_SMC="ok")
    equal(result.out.split(), [str(errno.EINVAL), str(errno.EAFNOSUPPORT)])
    equal(len(calls), 2)


@test
def preload_does_not_ask_a_kernel_without_smc_for_each_socket(bench):
    result, calls = preloaded(bench, TCP4, TCP4, TCP6, SMC_DEBUG="1")
    equal([call[1:] for call in calls], [NUMBER4, FAMILY4, TCP4, TCP4, TCP6])
    equal(result.out, "0\n0\n0\n")
    lines = result.err.splitlines()
    equal(len(lines), 3)
    contains(lines[0], "libsmc-preload: AF_SMC not available (Address family")
    equal(lines[1], "libsmc-preload: AF_SMC not available, using TCP")
    # one that forbids SMC is not asked either
    equal(asked(bench, TCP4, TCP4, FAKE_SMC=str(errno.EACCES)), [NUMBER4, FAMILY4, TCP4, TCP4])
    # a system without IPv6 has SMC for IPv4
    equal(asked(bench, TCP6, TCP4, TCP6), [NUMBER6, FAMILY6, TCP6, NUMBER4, FAMILY4, TCP4, TCP6])


@test
def preload_messages_are_as_documented(bench):
    result, _ = preloaded(bench, TCP4, (2, 2, 0), TCP6, FAKE_PROTOCOL="ok", SMC_DEBUG="1")
    equal(result.err, "libsmc-preload: map sock to AF_SMC\n" * 2)
    for off in ("0", ""):
        result, _ = preloaded(bench, TCP4, FAKE_PROTOCOL="ok", SMC_DEBUG=off)
        equal(result.err, "")
    result, _ = preloaded(bench, TCP4, FAKE_PROTOCOL="ok", SMC_DEBUG="1", SMC_SNDBUF="20000",
                          SMC_RCVBUF="32k")
    equal(result.err, "libsmc-preload: map sock to AF_SMC\n"
                      "libsmc-preload: sockopt 7 set to 20000\n"
                      "libsmc-preload: sockopt 8 set to 32768\n")


@test
def preload_sets_buffer_sizes_of_mapped_sockets(bench):
    for text, size in (("20000", 20000), ("32k", 32768), ("32K", 32768), ("1m", 1 << 20),
                       ("2M", 2 << 20), ("99999999999", 2 ** 31 - 1),
                       ("9999999999999999999m", 2 ** 31 - 1)):
        _, calls = preloaded(bench, TCP4, FAKE_PROTOCOL="ok", SMC_SNDBUF=text)
        equal(calls[1:], [("setsockopt", socket.SO_SNDBUF, size)], text)
        _, calls = preloaded(bench, TCP4, FAKE_PROTOCOL="ok", SMC_RCVBUF=text)
        equal(calls[1:], [("setsockopt", socket.SO_RCVBUF, size)], text)
    for text in ("", "0", "x", "12q", "-1", "k", "1kk", " 1"):
        _, calls = preloaded(bench, TCP4, FAKE_PROTOCOL="ok", SMC_SNDBUF=text)
        equal(calls[1:], [], repr(text))
    _, calls = preloaded(bench, (2, 2, 0), FAKE_PROTOCOL="ok", SMC_SNDBUF="20000")
    equal(calls[1:], [], "a datagram socket")
    _, calls = preloaded(bench, TCP4, SMC_SNDBUF="20000")
    equal(calls[3:], [], "a TCP socket")


@test
def preload_exports_nothing_but_socket(bench):
    out = subprocess.run(["nm", "-D", "--defined-only", build_path(bench, LIBRARY)],
                         capture_output=True, text=True, check=True).stdout
    equal([line.split()[-1] for line in out.splitlines()], ["socket"])
    out = subprocess.run(["readelf", "-d", build_path(bench, LIBRARY)],
                         capture_output=True, text=True, check=True).stdout
    contains(out, "[libsmc-preload.so.1]")


@test
def run_prepares_the_environment(bench):
    mine = build_path(bench, LIBRARY)

    def environment(*options, **env):
        out = smc_run(bench, *options, "env", FAKE_SMC="ok", **env).ok()
        return dict(line.split("=", 1) for line in out.splitlines())

    env = environment()
    equal(env["LD_PRELOAD"], f"{bench.environment['LD_PRELOAD']}:{mine}")
    equal(env["SMC_DEBUG"], "0")
    check("SMC_RCVBUF" not in env and "SMC_SNDBUF" not in env, "sizes nobody asked for")
    env = environment("-d", "-r", "16k", "-t", "17000")
    equal((env["SMC_DEBUG"], env["SMC_RCVBUF"], env["SMC_SNDBUF"]), ("1", "16k", "17000"))
    equal(environment(SMC_DEBUG="1")["SMC_DEBUG"], "0")


@test
def run_maps_sockets_of_the_command(bench):
    result = smc_run(bench, "-d", PYTHON, "-c", SOCKETS, ",".join(map(str, TCP4)),
                     FAKE_SMC="ok")
    # the fakes come first here and see the library's work only by its words
    equal(result.status, 0)
    log = os.path.join(bench.tmp, "log2")
    result = smc_run(bench, "-d", "env", f"LD_PRELOAD={build_path(bench, LIBRARY)} "
                     f"{bench.environment['LD_PRELOAD']}", PYTHON, "-c", SOCKETS,
                     ",".join(map(str, TCP6)), FAKE_SMC="ok", FAKE_LOG=log)
    equal((result.status, result.out, result.err),
          (0, "0\n", "libsmc-preload: map sock to AF_SMC\n"))
    with open(log, encoding="ascii") as file:
        equal(file.read().splitlines()[-1], "socket 43 1 1")


@test
def run_works_with_an_unset_or_empty_preload(bench):
    script = f'{build_path(bench, "smc_run")} printenv LD_PRELOAD 2>/dev/null'
    for setting in ("unset LD_PRELOAD", "export LD_PRELOAD="):
        out = bench.run(["/bin/sh", "-c", f"{setting}; {script}"]).ok()
        equal(out, build_path(bench, LIBRARY) + "\n")


@test
def run_refuses_bad_sizes(bench):
    for option in ("-r", "-t"):
        for text in ("x", "12q", "", "1kk", "-1", "k", "1 k", "99999999999999999999",
                     "99999999999999999m"):
            result = smc_run(bench, option, text, "true")
            equal((result.status, result.out, result.err),
                  (1, "", f"Error: Invalid buffer size specified: '{text}'\n"))


@test
def run_refuses_bad_command_lines(bench):
    for words in ([], ["-d"], ["-x", "true"], ["-r"], ["-r", "1k"]):
        result = smc_run(bench, *words)
        equal((result.status, result.out), (1, ""), f"{words}")
        check(result.err.splitlines()[0].partition(":")[0].endswith("smc_run"),
              f"no name in {result.err!r}")


@test
def run_options_end_at_the_command(bench):
    equal(smc_run(bench, "echo", "-d", "-x", FAKE_SMC="ok").ok(), "-d -x\n")
    equal(smc_run(bench, "-d", "--", "echo", "-h", FAKE_SMC="ok").ok(), "-h\n")


@test
def run_returns_the_status_of_the_command(bench):
    equal(smc_run(bench, "sh", "-c", "exit 42", FAKE_SMC="ok").status, 42)
    equal(smc_run(bench, "sh", "-c", "kill -9 $$", FAKE_SMC="ok").status, -9)
    for command, status, text in (("no-such-command", 127, "No such file or directory"),
                                  ("/no/such/file", 127, "No such file or directory"),
                                  ("/etc/passwd", 126, "Permission denied")):
        result = smc_run(bench, command, FAKE_SMC="ok")
        equal((result.status, result.err), (status, f"smc_run: {command}: {text}\n"))


@test
def run_help_and_version_succeed(bench):
    contains(smc_run(bench, "-h").ok(), "Usage: smc_run")
    contains(smc_run(bench, "-v").ok(), "smc_run utility, ")


@test
def run_says_that_the_module_is_missing(bench):
    result = smc_run(bench, "echo", "hello")
    equal((result.status, result.out, result.err),
          (0, "hello\n", MISSING + "smc_run: running echo over TCP\n"))
    equal(smc_run(bench, "true", FAKE_SMC=str(errno.EACCES), FAKE_PROTOCOL="ok").err, "")
    result = smc_run(bench, "true", FAKE_SMC=str(errno.EACCES))
    refused = ("smc_run: cannot open an SMC socket: Permission denied\n"
               "smc_run: running true over TCP\n")
    equal(result.err, refused)
    equal(smc_run(bench, "true", FAKE_PROTOCOL=str(errno.EACCES)).err, refused)


@test
def run_can_be_strict(bench):
    result = smc_run(bench, "echo", "hello", SMC_RUN_STRICT="1")
    equal((result.status, result.out, result.err),
          (1, "", MISSING + "smc_run: not running echo (SMC_RUN_STRICT)\n"))
    for off in ("", "0"):
        equal(smc_run(bench, "echo", SMC_RUN_STRICT=off).status, 0)
    equal(smc_run(bench, "echo", "hello", SMC_RUN_STRICT="1", FAKE_SMC="ok").ok(), "hello\n")


def compile_c(bench, name, text, *options):
    path = os.path.join(bench.tmp, name)
    subprocess.run(["cc", "-o", path, *options, "-x", "c", "-"], input=text, text=True,
                   check=True)
    return path


@test
def run_warns_of_static_programs(bench):
    for option in ("-static", "-static-pie"):
        path = compile_c(bench, "static", "int main(void) { return 7; }", option)
        result = smc_run(bench, path, FAKE_SMC="ok")
        equal((result.status, result.err),
              (7, f"smc_run: {path} is statically linked: its sockets cannot be mapped\n"
                  f"smc_run: running {path} over TCP\n"))
    script = os.path.join(bench.tmp, "script")
    with open(script, "w", encoding="ascii") as file:
        file.write(f"#! {path} -x\n")
    os.chmod(script, 0o755)
    contains(smc_run(bench, script, FAKE_SMC="ok").err,
             f"smc_run: {script} is a script for {path}, which is statically linked: ")
    # found in PATH as well, and refused in strict mode
    for search, name in ((f"/nowhere:{bench.tmp}:/bin", path), ("/nowhere::/bin", "static")):
        result = smc_run(bench, "static", FAKE_SMC="ok", SMC_RUN_STRICT="1", PATH=search)
        equal(result.status, 1)
        contains(result.err, f"smc_run: {name} is statically linked")


@test
def run_warns_of_privileged_programs(bench):
    if os.geteuid():
        raise Skip("needs root")
    os.chmod(bench.tmp, 0o755)
    path = shutil.copy("/bin/true", os.path.join(bench.tmp, "privileged"))
    as_nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]

    def run():
        return bench.run([*as_nobody, "env", "FAKE_SMC=ok", build_path(bench, "smc_run"),
                          path], FAKE_KERNEL=None).err

    os.chmod(path, 0o4755)
    contains(run(), f"smc_run: {path} is a set-user-ID program: ")
    equal(smc_run(bench, path, FAKE_SMC="ok").ok(), "", "root gains nothing")
    os.chmod(path, 0o2755)
    contains(run(), f"smc_run: {path} is a set-group-ID program: ")
    os.chmod(path, 0o2745)
    equal(run(), "", "mandatory locking, not set-group-ID")
    os.chmod(path, 0o755)
    equal(run(), "")
    # cap_net_raw+ep, as setcap would write it
    os.setxattr(path, "security.capability",
                bytes.fromhex("0100000200200000000000000000000000000000"))
    contains(run(), f"smc_run: {path} has file capabilities: ")
    equal(bench.run([*as_nobody, "--no-new-privs", "env", "FAKE_SMC=ok",
                     build_path(bench, "smc_run"), path], FAKE_KERNEL=None).err, "")


@test
def run_warns_of_foreign_architectures(bench):
    path = os.path.join(bench.tmp, "foreign")
    with open("/bin/true", "rb") as file:
        elf = bytearray(file.read())
    elf[18] ^= 0xff                                         # e_machine
    with open(path, "wb") as file:
        file.write(elf)
    os.chmod(path, 0o755)
    result = smc_run(bench, path, FAKE_SMC="ok")
    contains(result.err, f"smc_run: {path} is built for another architecture")


@test
def run_leaves_odd_files_to_the_kernel(bench):
    path = os.path.join(bench.tmp, "odd")
    with open("/bin/true", "rb") as file:
        header = file.read(64)                      # without what it points to
    for content in (b"", b"#!", b"#!\n", b"#! " + b"x" * 300, b"\x7fELF", header,
                    header[:54] + b"\xff\xff\xff\xff" + header[58:], b"#!" + path.encode()):
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o755)
        # looked at, but never run: execvp() would have a shell read it
        result = smc_run(bench, path, SMC_RUN_STRICT="1")
        equal((result.status, result.err),
              (1, MISSING + f"smc_run: not running {path} (SMC_RUN_STRICT)\n"), f"{content[:20]}")


@test
def run_raises_the_limits_of_the_system(bench):
    unshare = ["unshare", "--net", "--mount"]
    limits = {"-r": "/proc/sys/net/core/rmem_max", "-t": "/proc/sys/net/core/wmem_max"}
    if os.geteuid() or not all(os.path.exists(path) for path in limits.values()):
        raise Skip("needs root and the limits in /proc/sys")
    for option, path in limits.items():
        # a file in the place of the limit keeps the system as it is
        fake = os.path.join(bench.tmp, "limit")
        for before, size, after in (("1000\n", "32k", "32768\n"), ("50000\n", "32k", "50000\n"),
                                    ("1000\n", "9999999m", "2147483647\n")):
            with open(fake, "w", encoding="ascii") as file:
                file.write(before)
            script = (f"mount --bind {fake} {path} && "
                      f"exec {build_path(bench, 'smc_run')} {option} {size} cat {path}")
            result = bench.run([*unshare, "sh", "-c", script], FAKE_SMC="ok", FAKE_KERNEL=None)
            equal(result.ok(), after, f"{option} {size}")


@test
def run_finds_an_installed_library(bench):
    if os.geteuid():
        raise Skip("needs root")
    # alone in a folder, with the library where the loader looks
    alone = os.path.join(bench.tmp, "alone")
    os.makedirs(os.path.join(alone, "lib"), exist_ok=True)
    tool = shutil.copy(build_path(bench, "smc_run"), alone)
    result = bench.run([tool, "true"], FAKE_SMC="ok", FAKE_KERNEL=None)
    if "not found" not in result.err:
        raise Skip("the library is installed on this machine")
    equal(result.err, "smc_run: libsmc-preload.so not found\n"
                      "smc_run: running true over TCP\n")
    installed = shutil.copy(build_path(bench, LIBRARY), os.path.join(alone, "lib"))
    env = {"FAKE_SMC": "ok", "FAKE_KERNEL": None,
           "LD_LIBRARY_PATH": os.path.dirname(installed)}
    out = bench.run([tool, "printenv", "LD_PRELOAD"], **env).ok()
    equal(out, f"{bench.environment['LD_PRELOAD']}:{LIBRARY}\n")


@test
def run_knows_when_the_loader_trusts_the_library(bench):
    folder = f"/usr/lib/{os.uname().machine}-linux-gnu"
    if os.geteuid() or not os.path.isdir(folder):
        raise Skip("needs root and Debian's folders")
    path = shutil.copy("/bin/true", os.path.join(bench.tmp, "privileged2"))
    os.chown(path, 65534, 65534)
    os.chmod(path, 0o4755)
    tool = shutil.copy(build_path(bench, "smc_run"), os.path.join(bench.tmp, "smc_run"))
    # a library in a standard folder, seen by this process only
    script = f"""
        mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work &&
        mount -t overlay -o lowerdir={folder},upperdir=/mnt/upper,workdir=/mnt/work \
            overlay {folder} || exit 77
        install -m $1 {build_path(bench, LIBRARY)} {folder}
        FAKE_SMC=ok LD_PRELOAD=$FAKES exec {tool} {path}"""

    def run(mode):
        result = bench.run(["unshare", "--mount", "sh", "-c", script, "sh", mode],
                           FAKE_KERNEL=None, LD_PRELOAD=None,
                           FAKES=bench.environment["LD_PRELOAD"])
        if result.status == 77:
            raise Skip("no overlay file system")
        equal(result.status, 0)
        return result.err

    # ld.so says about the fakes what it must not say about the library
    contains(run("0644"), "is a set-user-ID program: its sockets cannot be mapped")
    err = run("4755")
    check("libsmc-preload" not in err and "smc_run:" not in err, err)


@test
def run_cannot_preload_from_a_folder_with_blanks(bench):
    folder = os.path.join(bench.tmp, "a b")
    os.makedirs(folder, exist_ok=True)
    for name in ("smc_run", LIBRARY):
        shutil.copy(build_path(bench, name), folder)
    result = bench.run([os.path.join(folder, "smc_run"), "true"], FAKE_SMC="ok",
                       FAKE_KERNEL=None)
    equal(result.status, 0)
    contains(result.err, "cannot be preloaded: blank or colon in its path")
