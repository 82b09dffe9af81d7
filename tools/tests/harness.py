# SPDX-License-Identifier: GPL-2.0-only
"""TAP output, and running tools against a kernel that the test plays."""

import difflib
import os
import subprocess
import sys
import tempfile
import traceback

import kernel

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
TOOLS = ("smc", "smc_run", "smcss", "smcd", "smcr", "smc_pnet", "smc-ismd")
TIME_LIMIT = 120        # seconds; only a hanging tool takes this long

tests = []


def test(function):
    """Decorator: a test case. Its docstring says what must hold."""
    tests.append(function)
    return function


class Skip(Exception):
    pass


def equal(got, expected, what=""):
    if got == expected:
        return
    if isinstance(got, str) and isinstance(expected, str):
        detail = "\n".join(difflib.unified_diff(
            expected.splitlines(), got.splitlines(), "expected", "got", lineterm=""))
        if not detail:
            detail = f"expected {expected!r}\ngot      {got!r}"
    else:
        detail = f"expected {expected!r}\ngot      {got!r}"
    raise AssertionError(f"{what}\n{detail}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text!r}")


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Result:
    def __init__(self, process):
        self.status = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    def ok(self):
        """The tool succeeded and had nothing to complain about."""
        equal((self.status, self.err), (0, ""), "exit status and stderr")
        return self.out


class Bench:
    """A build folder, a played kernel, and a folder for files."""

    def __init__(self, build, fakes, preload_first=()):
        self.build = build
        self.folder = tempfile.TemporaryDirectory(prefix="smc-tools-")
        self.tmp = self.folder.name
        self.kernel = kernel.Kernel(self.tmp)
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LC_ALL": "C",
            "TZ": "UTC",
            "LD_PRELOAD": " ".join([*preload_first, fakes]),
            "FAKE_KERNEL": self.kernel.path,
            "FAKE_TMP": self.tmp,
            "FAKE_NETDEV": "2=eth0",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        }

    def tool(self, name):
        """A tool under test; other programs keep their names."""
        return os.path.join(self.build, name) if name in TOOLS else name

    def run(self, command, **environment):
        env = {**self.environment, **environment}
        env = {key: value for key, value in env.items() if value is not None}
        command = [self.tool(command[0]), *command[1:]]
        return Result(subprocess.run(command, env=env, timeout=TIME_LIMIT, cwd=self.tmp,
                                     stdin=subprocess.DEVNULL, capture_output=True,
                                     encoding="latin-1", check=False))

    def popen(self, command, **environment):
        command = [self.tool(command[0]), *command[1:]]
        return subprocess.Popen(command, env={**self.environment, **environment},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                encoding="latin-1")

    def close(self):
        self.kernel.close()
        self.folder.cleanup()


def run_all(bench, only):
    """Run the tests whose names contain one of the words; returns the exit status."""
    chosen = [t for t in tests
              if not only or any(word in t.__name__ for word in only)]
    passed = failed = skipped = 0
    print("TAP version 13")
    print(f"1..{len(chosen)}")
    for number, function in enumerate(chosen, 1):
        name = function.__name__.replace("_", " ")
        bench.kernel.reset()
        try:
            function(bench)
        except Skip as reason:
            skipped += 1
            print(f"ok {number} - {name} # SKIP {reason}")
        except Exception as problem:        # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {name}")
            for line in traceback.format_exc().splitlines():
                print(f"  # {line}")
            if not isinstance(problem, AssertionError):
                print("  # (the test itself broke)")
        else:
            passed += 1
            print(f"ok {number} - {name}")
        sys.stdout.flush()
    summary = f"{passed} passed, {failed} failed"
    print(f"# {summary}, {skipped} skipped" if skipped else f"# {summary}")
    return 1 if failed or not chosen else 0
