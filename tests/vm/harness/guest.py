# SPDX-License-Identifier: GPL-2.0-only
"""One running guest: its QEMU process and the lines between it and us."""

import ctypes
import json
import signal
import socket
import subprocess
import time

from . import clock, console, qemu
from .verdict import Facts, Rest

PR_SET_PDEATHSIG = 1


# Loaded here: after a fork() of a process with threads there may be a lock nobody gives back.
LIBC = ctypes.CDLL(None)


def _die_with_parent():
    """No guest outlives its runner, however that ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Guest:
    """
    Feeds what QEMU's sockets deliver into the facts of the current test.

    The loop calls receive() for each socket in sockets(); nothing here blocks.
    """

    def __init__(self, name, machine, folder, relay, on_output=None):
        self.name = name
        self.machine = machine
        self.log = console.Log()
        self.log_file = folder / f'console-{name}.log'
        self.facts = Facts()
        self.hello = False
        self.shell_done = False
        self.taint = 0
        self.registers = []
        self.monitor_answers = 0
        self.rested = False
        self._rest = Rest()
        self._leak_lines = []
        self._log_start = 0
        self._test = None
        self._begun = 0.0, 0.0
        self._relay = relay
        self._on_output = on_output
        self._pending = {}
        self._shutdown_reason = None
        self._folder = folder
        self._start()

    def _start(self):
        names = ['agent', 'sync', 'qmp'] + ([] if self.machine.terminal else ['console'])
        pairs = {name: socket.socketpair() for name in names}
        self._sockets = {name: ours for name, (ours, _) in pairs.items()}
        theirs = {name: end.fileno() for name, (_, end) in pairs.items()}
        args = qemu.command(self.machine, theirs, self.log_file)
        (self._folder / f'qemu-{self.name}.cmd').write_text(' '.join(args) + '\n')
        with open(self._folder / f'qemu-{self.name}.log', 'wb') as errors:
            self._process = subprocess.Popen(
                args, stdin=None if self.machine.terminal else subprocess.DEVNULL,
                stdout=None if self.machine.terminal else errors, stderr=errors,
                pass_fds=list(theirs.values()), preexec_fn=_die_with_parent)
        for ours, end in pairs.values():
            end.close()
            ours.setblocking(False)
        self._monitor('qmp_capabilities')

    # What goes to the guest.

    def _send(self, name, data):
        try:
            self._sockets[name].sendall(data)
        except OSError:
            pass        # gone; the loop will notice

    def _monitor(self, command, **arguments):
        message = {'execute': command, 'arguments': arguments}
        self._send('qmp', json.dumps(message).encode() + b'\n')

    def tell(self, *fields):
        """A command to the agent."""
        self._send('agent', '\t'.join(fields).encode() + b'\n')

    def answer(self, line):
        """An answer on the sync line."""
        self._send('sync', line.encode() + b'\n')

    def begin(self, test):
        if not self._test:
            self._log_start = len(self.log.lines)       # what booting said is no test's
        before = self._test.allowed if self._test else []
        self._test = test
        self.log.forget(test.name)
        self._begun = time.monotonic(), clock.processor_seconds(self._process.pid)
        self.facts = Facts(taint_before=self.taint, allowed=test.allowed,
                           allowed_before=before, needs_tap=test.needs_tap)

    def take_cost(self):
        """What the test has cost until now; of a guest that is gone, QEMU tells nothing any more."""
        seconds, processor = self._begun
        self.facts.seconds = time.monotonic() - seconds
        self.facts.processor = max(0.0, clock.processor_seconds(self._process.pid) - processor)

    # For a guest that hangs: SysRq keys on the serial console, and the processors' registers.

    def send_break(self):
        self._monitor('chardev-send-break', id='console')

    def type(self, key):
        self._send('console', key.encode())

    def read_registers(self):
        self._monitor('human-monitor-command', **{'command-line': 'info registers -a'})

    # What comes from it.

    def sockets(self):
        return {end: name for name, end in self._sockets.items()}

    def receive(self, name):
        """Reads what there is on a line; False if the line has ended."""
        try:
            data = self._sockets[name].recv(65536)
        except BlockingIOError:
            return True
        except OSError:
            data = b''
        if not data:
            return False
        if name == 'console':
            self.log.feed(data)
            return True
        *lines, rest = (self._pending.get(name, b'') + data).split(b'\n')
        self._pending[name] = rest
        for raw in lines:
            line = raw.decode(errors='replace').rstrip('\r')
            getattr(self, f'_on_{name}')(line)
        return True

    def _on_sync(self, line):
        self._relay.request(self, line)

    def _on_qmp(self, line):
        message = json.loads(line)
        self.monitor_answers += 'return' in message or 'error' in message
        if message.get('event') == 'SHUTDOWN':
            self._shutdown_reason = message['data'].get('reason')
        elif isinstance(message.get('return'), str):
            self.registers = [text.strip() for text in message['return'].splitlines()
                              if text.startswith(('CPU#', 'RIP='))]

    def _on_agent(self, line):
        if line.startswith('|'):
            self._on_test_output(line[1:])
        elif line.startswith('@'):
            word, _, rest = line[1:].partition(' ')
            handler = getattr(self, '_agent_' + word.replace('-', '_'), None)
            try:
                if not handler:
                    raise ValueError(word)
                handler(rest)
            except ValueError:
                self.facts.garbled.append(line)

    def _on_test_output(self, line):
        self.facts.output.append(line)
        self.facts.tap.feed(line)
        if self._on_output:
            self._on_output(self, line)

    def _agent_hello(self, _):
        self.hello = True

    def _agent_begin(self, _):
        pass

    def _agent_phase(self, rest):
        self.facts.phase = rest

    def _agent_exit(self, rest):
        self._relay.left(self)
        self.facts.exit_status = int(rest)

    def _agent_load_failed(self, rest):
        self.facts.load_failed = rest
        self._relay.left(self)

    def _agent_unload_failed(self, rest):
        self.facts.unload_failed.append(rest)

    def _agent_no_objects(self, _):
        self.facts.no_objects = True

    def _agent_objects(self, rest):
        when, name, live = rest.split()
        self.facts.objects.setdefault(when, {})[name] = int(live)

    def _agent_unsettled(self, _):
        self.facts.unsettled = True

    def _agent_taint(self, rest):
        self.taint = self.facts.taint = int(rest)

    def _agent_end(self, rest):
        self.facts.ended = rest == self._test.name

    def _agent_leak(self, rest):
        self._leak_lines.append(rest)

    def _agent_kmemleak(self, rest):
        self._rest.has_kmemleak = rest == 'scanned'
        self._rest.leak = self._leak_lines

    def _agent_rest(self, _):
        self.rested = True

    def _agent_module(self, rest):
        name, address, path = rest.split()
        with open(self._folder / f'modules-{self.name}.gdb', 'a', encoding='utf-8') as file:
            file.write(f'# {name}\nadd-symbol-file {path} {address}\n')

    def _agent_shell(self, _):
        self.shell_done = True

    # State the loop waits for.

    def is_gone(self):
        return self._process.poll() is not None

    def why_gone(self):
        errors = (self._folder / f'qemu-{self.name}.log').read_text(errors='replace').strip()
        reason = {'guest-reset': 'it reset itself', 'guest-shutdown': 'it switched itself off',
                  'guest-panic': 'it panicked'}.get(self._shutdown_reason)
        return reason or f'QEMU ended with status {self._process.returncode}: {errors[-300:]}'

    def log_is_complete(self):
        """The console is slower than the agent: has it shown the end of the test?"""
        return self._test.name in self.log.ended

    def take_log(self):
        start = self._log_start
        lines = self.late_log()
        begun = max(0, self.log.begun.get(self._test.name, start) - start)
        self.facts.log_before, self.facts.log = lines[:begun], lines[begun:]
        self.facts.log_ended = self.log_is_complete()

    def take_rest(self):
        self._rest.log = self.late_log()
        self._rest.log_ended = self.log.rested or not self.rested
        return self._rest

    def late_log(self):
        """The lines on the console since the last time, or since the first test began."""
        if self.is_gone():
            self.log.finish()
        start, self._log_start = self._log_start, len(self.log.lines)
        return self.log.window(start)

    def kill(self):
        if self.machine.terminal:
            # QEMU has to give the terminal back as it was.
            self._process.terminate()
        elif not self.is_gone():
            self._process.kill()
        self._process.wait()
        for end in self._sockets.values():
            end.close()

