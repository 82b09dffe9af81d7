# SPDX-License-Identifier: GPL-2.0-only
"""One boot of one or two guests, and the tests run in it one after another."""

import math
import selectors
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import clock, initramfs, paths, qemu, topology
from .clock import Deadline
from .guest import Guest
from .kernel import depends

# Seconds; only what hangs takes this long
BOOT_LIMIT = 600
LOG_LIMIT = 60
OTHER_GUEST_LIMIT = 120
REST_LIMIT = 900       # kmemleak scans twice
DEBUG_FACTOR = 3
EMULATION_FACTOR = 2
# The header of a test says how long it takes at most on a machine that does nothing else
HANG_FACTOR = 3
HANG_LIMIT = 10
QUIET = 2
TICK = 0.2

# The host may not run a guest for some time, whose clock goes on: its own watchdogs wait longer
WATCHDOGS = ['rcupdate.rcu_cpu_stall_timeout=120', 'watchdog_thresh=60',
             'workqueue.watchdog_thresh=120']


@dataclass
class Spec:
    """What is to be booted."""
    kernel: object
    guests: int = 1
    peer: str = 'same'
    cpus: int = 1
    threads: int = 0
    memory: int = 0
    boot: list = field(default_factory=list)
    config: dict = field(default_factory=dict)      # VM_... for the agent
    gdb: bool = False
    terminal: bool = False

    def is_debug(self):
        """Kernels with checkers need more memory and more time."""
        return not self.kernel.name.startswith('stock')

    def slowness(self):
        """How many times longer everything may take."""
        return DEBUG_FACTOR if self.is_debug() else 1

    def guest_slowness(self, accel):
        """The same for what a guest waits for. Another guest may need the processor at any time,
        which the load at boot does not tell."""
        least = 1 if accel == 'kvm' else EMULATION_FACTOR
        return max(least, self.slowness() * clock.crowding()) * clock.scale()

    @classmethod
    def for_test(cls, test, kernel, config):
        return cls(kernel=kernel, guests=test.guests, peer=test.peer, cpus=test.cpus,
                   threads=test.threads, memory=test.memory, boot=test.boot, config=config)


class BootFailed(Exception):
    """The guests did not come up; findings are in the console log."""

    def __init__(self, guest, reason):
        super().__init__(f'guest {guest.name}: {reason}')
        self.guest = guest


def _machine(spec, index, accel, folder, wires):
    """The machine of one guest, its initramfs written."""
    intree = spec.peer == 'intree' and index == 1
    kernel = spec.kernel
    config = dict(spec.config, VM_AGENT=paths.GUEST / 'agent.sh', VM_DIR=paths.VM,
                  VM_GUEST=topology.guest_names(2)[index], VM_GUESTS=spec.guests,
                  VM_KERNEL=kernel.name, VM_KERNEL_DIR=kernel.folder, VM_RELEASE=kernel.release,
                  VM_SLOW=math.ceil(spec.guest_slowness(accel)),
                  VM_INTREE='1' if intree else '')
    if intree:
        config['VM_MODULES'] = ''
    if config['VM_MODULES']:
        config.update(depends(config['VM_MODULES']))
    archive = folder / f'initramfs-{config["VM_GUEST"]}'
    initramfs.build(archive, kernel, config)
    return qemu.Machine(
        image=kernel.image, initramfs=archive, accel=accel, cpus=spec.cpus,
        threads=spec.threads,
        memory=spec.memory or (2048 if spec.is_debug() else 1024), wires=wires,
        # A socket of family 43 must not load the distribution's module behind our back.
        append=([] if intree else ['modprobe.blacklist=smc,smc_diag']) + WATCHDOGS + spec.boot,
        gdb=1234 + index if spec.gdb else 0, terminal=spec.terminal and index == 0)


class Boot:
    """Guests that are up; a context manager, which kills them at its end."""

    def __init__(self, spec, folder, on_output=None, accel=None):
        self.spec = spec
        self.folder = folder
        self._selector = selectors.DefaultSelector()
        self._relay = topology.Relay(spec.guests)
        # Sockets have short names: not below the log folder.
        self._sockets = tempfile.TemporaryDirectory(prefix='smc-vm-')
        self.guests = []
        accel = accel or qemu.accelerator(spec.kernel.image)
        wires = topology.wires(Path(self._sockets.name), spec.guests)
        try:
            for index in range(spec.guests):
                machine = _machine(spec, index, accel, folder, wires[index])
                guest = Guest(topology.guest_names(2)[index], machine, folder, self._relay, on_output)
                self.guests.append(guest)
                for end, name in guest.sockets().items():
                    self._selector.register(end, selectors.EVENT_READ, (guest, name))
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for guest in self.guests:
            guest.kill()
        self._selector.close()
        self._sockets.cleanup()

    def wait(self, condition, limit):
        """Serves the guests until the condition holds; False if time was up before."""
        deadline = Deadline(limit)
        while not condition():
            if deadline.passed():
                # This process may not have run since: what came in time counts
                self._serve(0)
                return condition()
            self._serve(TICK)
        return True

    def _serve(self, seconds):
        """One round of reading; whether there was anything."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            guest, name = key.data
            if not guest.receive(name):
                self._selector.unregister(key.fileobj)
        return bool(ready)

    def _drain(self):
        """What a guest that is gone had still written."""
        while self._serve(0):
            pass

    def wait_up(self):
        def settled():
            return all(guest.hello or guest.is_gone() for guest in self.guests)
        limit = 0 if self.spec.gdb else BOOT_LIMIT * self.spec.slowness()
        in_time = self.wait(settled, limit)
        for guest in self.guests:
            if not guest.hello:
                self._drain()
                raise BootFailed(guest, f'it ended while booting: {guest.why_gone()}'
                                 if in_time else 'no sign of life within the time limit')

    def run(self, test):
        """Runs one test in all guests; returns the facts by guest name."""
        self._relay.reset()
        for guest in self.guests:
            guest.begin(test)
            intree = self.spec.peer == 'intree' and guest is self.guests[-1]
            modules = [name for name in test.modules
                       if not intree or name in ('smc', 'smc_diag')]
            guest.tell('run', test.name, str(test.path), ' '.join(modules))

        def all_over():
            return all(guest.facts.ended or guest.is_gone() for guest in self.guests)

        def any_gone():
            return any(guest.is_gone() for guest in self.guests)

        limit = test.timeout * HANG_FACTOR * self.spec.slowness()
        if self.spec.gdb:
            limit = 0
        in_time = self.wait(lambda: all_over() or any_gone(), limit)
        if in_time and not all_over():
            for guest in self.guests:
                if guest.is_gone():
                    self._relay.left(guest)
            self.wait(all_over, OTHER_GUEST_LIMIT)
        self._collect()
        return {guest.name: guest.facts for guest in self.guests}

    def _collect(self):
        self._wait_log(lambda guest: not guest.facts.ended or guest.log_is_complete())
        for guest in self.guests:
            guest.take_cost()
            guest.take_log()
            if guest.is_gone():
                guest.facts.gone = guest.why_gone()
            elif not guest.facts.ended:
                guest.facts.timed_out = True
                guest.facts.hung_in = self._interrogate(guest)

    def _wait_log(self, complete):
        """Until the console of each guest has shown what the agent has told before."""
        limit = 0 if self.spec.gdb else LOG_LIMIT * self.spec.slowness()
        self.wait(lambda: all(guest.is_gone() or complete(guest) for guest in self.guests), limit)
        self._drain()

    def _interrogate(self, guest):
        """A guest hangs: blocked tasks, running tasks and registers tell where."""
        start = len(guest.log.lines)
        for key in 'wl':
            seen = guest.monitor_answers
            guest.send_break()
            self.wait(lambda: guest.monitor_answers > seen, HANG_LIMIT)     # pylint: disable=W0640
            guest.type(key)
            self._wait_quiet(guest)
        guest.read_registers()
        self.wait(lambda: guest.registers, HANG_LIMIT)
        return guest.registers + guest.log.window(start)

    def _wait_quiet(self, guest):
        """Until a guest has nothing more to say on its console."""
        seen = -1
        while len(guest.log.lines) > seen:
            seen = len(guest.log.lines)
            self.wait(lambda: len(guest.log.lines) > seen, QUIET)   # pylint: disable=W0640

    def rest(self):
        """Waits for what comes late after the last test; returns it by guest name."""
        for guest in self.guests:
            guest.tell('rest')
        self.wait(lambda: all(guest.rested or guest.is_gone() for guest in self.guests), REST_LIMIT)
        self._wait_log(lambda guest: not guest.rested or guest.log.rested)
        return {guest.name: guest.take_rest() for guest in self.guests}

    def shell(self, modules):
        """A shell on the terminal in guest a; the other one has the modules loaded, too."""
        for guest in self.guests:
            guest.tell('shell' if guest.machine.terminal else 'load', ' '.join(modules))
        self.wait(lambda: self.guests[0].shell_done or self.guests[0].is_gone(), 0)
