# SPDX-License-Identifier: GPL-2.0-only
"""
A QEMU whose processor never runs: the test does what a guest's driver would, through QEMU's qtest
protocol.

It has an ivshmem-doorbell. Its interrupts are messages that go to RAM, where they can be read.
"""

import json
import os
import signal
import socket
import subprocess
import tempfile

QEMU = "qemu-system-x86_64"
LIMIT = 120         # seconds; only what hangs takes this long
# Between two commands QEMU takes one message of the host at least; an arrival has one for each
# vector
ROUNDS = 4
SLOT = 4
ID = 0x11101af4

# Addresses that are free on this machine
REGISTERS, TABLE, MEMORY = 0xe0000000, 0xe0001000, 0xe8000000
MESSAGES = 0x10000          # in RAM, four bytes for each vector
MESSAGE = 0xabc0            # and the number of the vector

POSITION, DOORBELL = 8, 12


class Machine:
    """One device on @socket_path. It runs once answers() is true; setup() programs the device."""

    def __init__(self, socket_path, vectors=5):
        self.vectors = vectors
        self.folder = tempfile.TemporaryDirectory(prefix="ismd-qemu-")
        self.listeners = {name: self._listen(name) for name in ("qtest", "qmp")}
        self.log = os.path.join(self.folder.name, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [QEMU, "-M", "pc", "-accel", "tcg", "-S", "-nodefaults", "-no-user-config",
                 "-display", "none", "-m", "16",
                 "-qtest", f"unix:{self.folder.name}/qtest", "-qtest-log", "/dev/null",
                 "-qmp", f"unix:{self.folder.name}/qmp",
                 "-chardev", f"socket,id=peer,path={socket_path}",
                 "-device", f"ivshmem-doorbell,chardev=peer,vectors={vectors},addr={SLOT:#x}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.lines = self.monitor = None

    def _listen(self, name):
        sock = socket.socket(socket.AF_UNIX)
        sock.bind(os.path.join(self.folder.name, name))
        sock.listen(1)
        sock.settimeout(LIMIT)
        return sock

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for file in (self.lines, self.monitor, *self.listeners.values()):
            if file:
                file.close()
        self.listeners = {}
        self.lines = self.monitor = None
        self.folder.cleanup()

    def _file(self, name):
        try:
            sock, _ = self.listeners[name].accept()
        except TimeoutError as problem:
            raise AssertionError(f"QEMU does not start\n{self.output()}") from problem
        sock.settimeout(LIMIT)
        with sock:
            return sock.makefile("rw", encoding="ascii")

    def ask(self, command):
        """The value of an answer."""
        self.lines.write(command + "\n")
        self.lines.flush()
        answer = self.lines.readline().split()
        if not answer or answer[0] != "OK":
            raise AssertionError(f"{command}: {answer}\n{self.output()}")
        return int(answer[1], 16) if len(answer) > 1 else None

    def output(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def config(self, offset):
        self.ask(f"outl 0xcf8 {0x80000000 | SLOT << 11 | offset & 0xfc:#x}")
        return self.ask("inl 0xcfc")

    def set_config(self, offset, value):
        self.ask(f"outl 0xcf8 {0x80000000 | SLOT << 11 | offset & 0xfc:#x}")
        self.ask(f"outl 0xcfc {value:#x}")

    def setup(self):
        self.lines = self._file("qtest")
        self.monitor = self._file("qmp")
        self.monitor.readline()
        self.qmp("qmp_capabilities")
        if self.config(0) != ID:
            raise AssertionError(f"device {self.config(0):#x}")
        self.set_config(0x18, 0xffffffff)
        size_low = self.config(0x18) & ~0xf
        self.size = -size_low & 0xffffffff
        for offset, value in ((0x10, REGISTERS), (0x14, TABLE), (0x18, MEMORY), (0x1c, 0)):
            self.set_config(offset, value)
        self.set_config(0x04, 0x6)      # memory, bus master
        self._setup_interrupts()
        return self

    def _setup_interrupts(self):
        at = self.config(0x34) & 0xfc
        while self.config(at) & 0xff != 0x11:
            at = self.config(at) >> 8 & 0xfc
            if not at:
                raise AssertionError("no MSI-X")
        for vector in range(self.vectors):
            entry = TABLE + 16 * vector
            for offset, value in ((0, MESSAGES + 4 * vector), (4, 0), (8, MESSAGE + vector),
                                  (12, 0)):
                self.ask(f"writel {entry + offset:#x} {value:#x}")
        self.set_config(at, self.config(at) | 1 << 31)

    def qmp(self, command, **arguments):
        self.monitor.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.monitor.flush()
        while True:
            answer = json.loads(self.monitor.readline())
            if "error" in answer:
                raise AssertionError(answer["error"])
            if "return" in answer:
                return answer["return"]

    def info(self, what):
        return self.qmp("human-monitor-command", **{"command-line": f"info {what}"})

    def position(self):
        return self.ask(f"readl {REGISTERS + POSITION:#x}")

    def ring(self, peer, vector):
        self.ask(f"writel {REGISTERS + DOORBELL:#x} {peer << 16 | vector:#x}")

    def interrupted(self, vector):
        """Has this interrupt come since the last time?"""
        at = MESSAGES + 4 * vector
        came = self.ask(f"readl {at:#x}")
        if came not in (0, MESSAGE + vector):
            raise AssertionError(f"interrupt {came:#x} for vector {vector}")
        if came:        # one that comes between the two commands must not be lost
            self.ask(f"writel {at:#x} 0")
        return bool(came)

    def settle(self):
        """Until QEMU has taken what the host sent before; interrupts that came are forgotten."""
        for _ in range(ROUNDS):
            for vector in range(self.vectors):
                self.interrupted(vector)

    def write(self, offset, value):
        self.ask(f"writeq {MEMORY + offset:#x} {value:#x}")

    def read(self, offset):
        return self.ask(f"readq {MEMORY + offset:#x}")

    def read_word(self, offset):
        return self.ask(f"readl {MEMORY + offset:#x}")

    def mapped(self):
        """Inodes of shared memory in its address space."""
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as file:
            return {int(line.split()[4]) for line in file if "/memfd:smc-ism " in line}
