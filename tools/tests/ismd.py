# SPDX-License-Identifier: GPL-2.0-only
"""smc-ismd as a service, and a service manager that keeps its descriptors."""

import array
import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time

from ivshmem import LIMIT, Client

USER = 1_000_000_000 + os.getpid()      # runs nothing else, also where tests run at once
HIGH = 600          # descriptors on their way to a child, out of the way of its own


def until(condition, what):
    deadline = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not in {LIMIT} s: {what}")
        time.sleep(0.005)


def inherited():
    """What whoever started the test left open for all children."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if int(name) > 2 and os.get_inheritable(int(name)):
                found.append(int(name))
    return found


class Store:
    """What systemd does for FileDescriptorStoreMax=, in a thread."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "notify")
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(self.path)
        self.kept = []          # of (name, descriptor)
        self.unpolled = set()   # descriptors that are kept when they are at their end
        self.ready = 0
        self.count = 0          # of datagrams
        self.most = 0
        self.wake, self.stop = os.pipe()
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self):
        while True:
            ready, _, _ = select.select([self.sock, self.wake], [], [])
            if self.wake in ready:
                return
            self.take()

    def take(self):
        with self.lock:
            try:
                data, control, _, _ = self.sock.recvmsg(4096, socket.CMSG_SPACE(64),
                                                        socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            self.count += 1
            descriptors = array.array("i")
            for _, _, rights in control:
                descriptors.frombytes(rights)
            lines = data.decode().split("\n")
            name = next((line[7:] for line in lines if line.startswith("FDNAME=")), "")
            if "FDSTORE=1" in lines:
                self.kept += [(name, fd) for fd in descriptors]
                if "FDPOLL=0" in lines:
                    self.unpolled |= set(descriptors)
            if "FDSTOREREMOVE=1" in lines:
                for _, fd in [entry for entry in self.kept if entry[0] == name]:
                    os.close(fd)
                    self.unpolled.discard(fd)
                self.kept = [entry for entry in self.kept if entry[0] != name]
            self.ready += "READY=1" in lines
            self.most = max(self.most, len(self.kept))
            return True

    def drain(self):
        """All that was sent. What is at its end is not kept without FDPOLL=0, as systemd has it."""
        while self.take():
            pass
        with self.lock:
            poll = select.poll()
            for _, fd in self.kept:
                if fd not in self.unpolled and \
                        not os.readlink(f"/proc/self/fd/{fd}").startswith("/memfd:"):
                    poll.register(fd, 0)
            gone = {fd for fd, _ in poll.poll(0)}
            for fd in gone:
                os.close(fd)
            self.kept = [entry for entry in self.kept if entry[1] not in gone]
            return list(self.kept)

    def names(self):
        return sorted(name for name, _ in self.drain())

    def close(self):
        os.write(self.stop, b".")
        self.thread.join()
        for _, fd in self.kept:
            os.close(fd)
        for fd in (self.wake, self.stop):
            os.close(fd)
        self.sock.close()
        os.unlink(self.path)


class Daemon:
    """A running daemon in a folder of its own."""

    def __init__(self, bench, policy, kept=False, limit=None, **environment):
        self.folder = tempfile.TemporaryDirectory(prefix="ismd-")
        self.tmp = self.folder.name
        os.chmod(self.tmp, 0o755)
        self.program = bench.tool("smc-ismd")
        self.run_folder = os.path.join(self.tmp, "run")
        self.config = os.path.join(self.tmp, "policy")
        self.log_path = os.path.join(self.tmp, "log")
        self.set_policy(policy)
        self.store = Store(self.tmp) if kept else None
        self.environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C",
                            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
                            "ASAN_OPTIONS": "quarantine_size_mb=1", **environment}
        if self.store:
            self.environment["NOTIFY_SOCKET"] = self.store.path
        self.pid = None
        self.limit = limit
        if limit and not os.geteuid():
            self._give_away()
        self.start()

    def _give_away(self):
        """To a user whose descriptors in flight count."""
        os.chown(self.tmp, USER, USER)
        os.chown(self.config, USER, USER)
        if self.store:
            os.chown(self.store.path, USER, USER)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if self.pid:
                status = self.stop()
                if not kind and status:
                    raise AssertionError(f"exit status {status}\n{self.log()}")
        finally:
            if self.store:
                self.store.close()
            self.folder.cleanup()

    def set_policy(self, text):
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)

    def command(self, *words):
        return [self.program, "-c", self.config, "-r", self.run_folder, "-s", self.tmp, *words]

    def service(self):
        """The command that serves, with a limit of open files and without privileges."""
        command = self.command("run")
        if not self.limit:
            return command
        user = [] if os.geteuid() else ["setpriv", f"--reuid={USER}", f"--regid={USER}",
                                        "--clear-groups", "--"]
        return ["/usr/bin/prlimit", f"--nofile={self.limit}:{self.limit}", *user, *command]

    def run(self, *words):
        environment = {name: value for name, value in self.environment.items()
                       if name != "NOTIFY_SOCKET"}
        return subprocess.run(self.command(*words), env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)

    def spawn(self):
        """As systemd starts it: with what it keeps, from descriptor 3 on."""
        kept = self.store.drain() if self.store else []
        environment = dict(self.environment)
        actions = [(os.POSIX_SPAWN_OPEN, 2, self.log_path,
                    os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)]
        actions += [(os.POSIX_SPAWN_CLOSE, fd) for fd in inherited()]
        command = self.service()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH) for _, fd in kept]
        if kept:
            environment["LISTEN_FDS"] = str(len(kept))
            environment["LISTEN_FDNAMES"] = ":".join(name for name, _ in kept)
            actions += [(os.POSIX_SPAWN_DUP2, fd, 3 + index) for index, fd in enumerate(high)]
            command = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" "$@"', *command]
        self.pid = os.posix_spawn(command[0], command, environment, file_actions=actions)
        for fd in high:
            os.close(fd)

    def start(self):
        before = self.store.ready if self.store else 0
        self.spawn()
        try:
            until(lambda: self.is_up(before), "the daemon answers")
        except AssertionError as problem:
            raise AssertionError(f"{problem}\n{self.log()}") from problem

    def is_up(self, before):
        done, status = os.waitpid(self.pid, os.WNOHANG)
        if done:
            self.pid = None
            raise AssertionError(f"ended with {os.waitstatus_to_exitcode(status)}")
        if self.store:
            return self.store.ready > before
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as sock:
            sock.connect(os.path.join(self.run_folder, "control.sock"))
            return True
        return False

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self):
        ended = []

        def has_ended():
            ended[:] = os.waitpid(self.pid, os.WNOHANG)
            return ended[0]

        try:
            until(has_ended, "the daemon ends")
        except AssertionError:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise
        finally:
            self.pid = None
        return os.waitstatus_to_exitcode(ended[1])

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        self.signal(signal.SIGKILL)
        self.wait()

    def restart(self):
        """Killed, and started again."""
        self.kill()
        self.start()

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def ask(self, command):
        """The daemon has one thread: what happened before has been dealt with afterwards."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(os.path.join(self.run_folder, "control.sock"))
            sock.settimeout(LIMIT)
            sock.sendall(command.encode() + b"\n")
            text = b"".join(iter(lambda: sock.recv(65536), b""))
        verdict, _, text = text.decode().partition("\n")
        return verdict == "ok", text

    def status(self):
        good, text = self.ask("status json")
        assert good, text
        return json.loads(text)

    def restarts(self):
        """How often it took over; it may be about to do so, and not be there."""
        with contextlib.suppress(OSError, json.JSONDecodeError):
            return json.loads(self.ask("status json")[1])["restarts"]
        return None

    def pair(self, vm, peer):
        for pair in self.status()["pairs"]:
            if [end["vm"] for end in pair["ends"]] == sorted((vm, peer)):
                return pair
        return None

    def end(self, vm, peer):
        return next(end for end in self.pair(vm, peer)["ends"] if end["vm"] == vm)

    def path(self, vm, peer):
        return os.path.join(self.run_folder, vm, peer + ".sock")

    def client(self, vm, peer, **more):
        return Client(self.path(vm, peer), **more)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def leave_descriptors(self, spare):
        """A limit that lets it open so many more, from two on or so; returns the one before."""
        used = {int(name) for name in os.listdir(f"/proc/{self.pid}/fd")}
        limit = 0
        while spare > 0 or used - set(range(limit)):
            spare -= limit not in used
            limit += 1
        _, hard = resource.prlimit(self.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (limit, hard))
        return hard

    def resident(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
