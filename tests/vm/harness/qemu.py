# SPDX-License-Identifier: GPL-2.0-only
"""The QEMU command line of one guest, and whether KVM works here."""

import fcntl
import os
import shutil
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

from . import paths
from .errors import Trouble

QEMU = 'qemu-system-x86_64'
KVM_PROBE_LIMIT = 120  # seconds

# Not "pc": its table of interrupts is a loop in AML, 30 s of it in a kernel with KASAN.
MACHINE = 'q35'

# no_timer_check: a loaded host makes the timer test of the IO-APIC panic now and then.
# nokaslr, mitigations=off: addresses a debugger knows, and no instructions wasted.
BOOT_LINE = ('console=ttyS0 no_timer_check nokaslr mitigations=off tsc=reliable '
             'random.trust_cpu=on oops=panic panic=-1 loglevel=5 printk.devkmsg=on '
             'sysrq_always_enabled net.ifnames=0').split()

# Serial lines of a guest, in the order of ttyS0, ttyS1, ttyS2.
LINES = ('console', 'agent', 'sync')

# ERMS is off because icount takes every byte of "rep movsb" for an instruction. FSRM, which the QEMU
# of Debian 13 has, must then be off as well: where memmove() of Linux 6.1 finds FSRM, it relies on
# ERMS, and the guest stops in its first second.
ICOUNT_CPU = 'max,-erms,-fsrm'
# QEMU 7.2 computes the flags of cmpxchg16b from stale state: an interrupt right after one pushes
# garbage, and sets the trap flag when it returns. Seen as a double fault in one of fifty boots.
TCG_CPU = ICOUNT_CPU + ',-cx16'


@dataclass
class Machine:
    """What a guest is made of."""
    image: Path
    initramfs: Path
    append: list = field(default_factory=list)
    memory: int = 1024
    cpus: int = 1
    threads: int = 0                            # 1: the processors take turns
    accel: str = 'tcg'
    icount: bool = False
    cpu: str = ''
    seed: int = 0
    wires: list = field(default_factory=list)   # of (netdev arguments, MAC address, MTU)
    gdb: int = 0                                # port, 0: no debugger
    terminal: bool = False                      # console on the user's terminal


def _accelerator(machine):
    if machine.icount:
        return ['-accel', 'tcg,thread=single', '-icount', 'shift=0,align=off,sleep=off',
                '-seed', str(machine.seed), '-rtc', 'base=2024-01-01,clock=vm',
                '-cpu', machine.cpu or ICOUNT_CPU]
    if machine.accel == 'kvm':
        return ['-accel', 'kvm', '-cpu', 'host']
    # With a thread for each processor, one may execute a breakpoint that another has replaced already.
    thread = 'single' if machine.threads == 1 else 'multi'
    return ['-accel', f'tcg,thread={thread}', '-cpu', TCG_CPU]


def _lines(machine, descriptors, console_log):
    """The serial lines: each a socket we hold the other end of."""
    args = []
    for name in LINES:
        device = f'socket,id={name},fd={descriptors.get(name)}'
        if name == 'console':
            if machine.terminal:
                device = f'stdio,id={name},mux=on,signal=off'
            device += f',logfile={console_log}'
        args += ['-chardev', device, '-serial', f'chardev:{name}']
    if machine.terminal:
        args += ['-mon', 'chardev=console,mode=readline']
    args += ['-chardev', f'socket,id=qmp,fd={descriptors["qmp"]}',
             '-mon', 'chardev=qmp,mode=control']
    return args


def _files(files):
    """Serial lines into files: for guests that are only read."""
    args = []
    for name in ('console', 'agent'):
        args += ['-chardev', f'file,id={name},path={files[name]}', '-serial', f'chardev:{name}']
    return args


def _base(machine):
    return [QEMU, '-M', MACHINE, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
            '-m', f'{machine.memory}M', '-smp', str(machine.cpus), *_accelerator(machine),
            '-kernel', str(machine.image), '-initrd', str(machine.initramfs),
            '-append', ' '.join(BOOT_LINE + machine.append)]


def batch_command(machine, files):
    """The argument list for a guest without input, whose lines end in files."""
    return _base(machine) + _files(files) + ['-monitor', 'none']


def command(machine, descriptors, console_log):
    """
    The argument list for one guest.

    descriptors maps 'agent', 'sync', 'qmp' and, unless the console is the user's terminal,
    'console' to the descriptors of connected sockets which the process inherits.
    """
    args = _base(machine) + _lines(machine, descriptors, console_log)
    args += ['-fsdev', 'local,id=host,path=/,security_model=none,readonly=on,multidevs=remap',
             '-device', 'virtio-9p-pci,fsdev=host,mount_tag=host']
    for number, (netdev, mac, mtu) in enumerate(machine.wires):
        args += ['-netdev', f'{netdev},id=wire{number}',
                 '-device', f'virtio-net-pci,netdev=wire{number},mac={mac},host_mtu={mtu},romfile=']
    if machine.gdb:
        args += ['-gdb', f'tcp:127.0.0.1:{machine.gdb}', '-S']
    return args


def _kvm_runs(image):
    """
    Whether a whole kernel boots: it ends in a panic, as it has no root file system. Nothing less will
    do, KVM without hardware support starts guests and gives up at some instruction.
    """
    args = [QEMU, '-accel', 'kvm', '-cpu', 'host', '-M', MACHINE, '-nodefaults', '-no-user-config',
            '-display', 'none', '-no-reboot', '-m', '512', '-serial', 'stdio',
            '-kernel', str(image), '-append', 'console=ttyS0 panic=-1']
    with subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        limit = threading.Timer(KVM_PROBE_LIMIT, process.kill)
        limit.start()
        try:
            for line in process.stdout:
                if b'Kernel panic' in line or b'KVM internal error' in line:
                    return b'Kernel panic' in line
            return False
        finally:
            limit.cancel()
            process.kill()


def _boot_id():
    return Path('/proc/sys/kernel/random/boot_id').read_text().strip()


def accelerator(image):
    """
    'kvm' where it boots this kernel image, else 'tcg'; VM_ACCEL overrides. The answer is kept until
    the host boots again.
    """
    chosen = os.environ.get('VM_ACCEL')
    if chosen:
        if chosen not in ('kvm', 'tcg'):
            raise Trouble(f'VM_ACCEL={chosen}: only kvm and tcg are known')
        return chosen
    if not os.access('/dev/kvm', os.R_OK | os.W_OK):
        return 'tcg'
    known = paths.cache('vm') / 'accelerator'
    # One at a time finds out: the others have the answer at once, and do not slow it down
    with open(known.with_suffix('.lock'), 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fields = known.read_text().split() if known.exists() else []
        if len(fields) != 2 or fields[0] != _boot_id():
            fields = [_boot_id(), 'kvm' if _kvm_runs(image) else 'tcg']
            known.write_text(' '.join(fields) + '\n')
    return fields[1]


def require():
    """One clear sentence if QEMU is not there."""
    if not shutil.which(QEMU):
        raise Trouble(f'{QEMU} is missing: install the Debian package qemu-system-x86')
