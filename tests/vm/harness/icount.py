# SPDX-License-Identifier: GPL-2.0-only
"""
Guests whose clock counts instructions: one nanosecond of guest time is one instruction.

Same files, command and seed give the same result to the byte, whatever else the host does.
Everything is in the initramfs and nothing is typed in, because waiting for the host would let
guest time jump.
"""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import console, initramfs, qemu
from .errors import Trouble


@dataclass
class Job:
    """
    One command in one guest.

    programs are files of the host with all libraries they are linked to; files maps names
    in the guest to bytes, or to the Path of a file of the host; modules are loaded in this
    order: names stand for the kernel's own with all they need, paths for files.
    """
    kernel: object
    command: str
    programs: list = field(default_factory=list)
    files: dict = field(default_factory=dict)
    modules: list = field(default_factory=list)
    append: list = field(default_factory=list)
    memory: int = 1024
    cpus: int = 1
    seed: int = 0
    cpu: str = qemu.ICOUNT_CPU


@dataclass
class Outcome:
    """What the command printed (without the end mark), its exit status, and the console."""
    output: str
    status: int
    log: list



def _module_files(job):
    files = []
    for module in job.modules:
        if isinstance(module, Path):
            files.append(module)
        else:
            files += [file for file in job.kernel.module_order([module]) if file not in files]
    return files


def _pack(job, path):
    archive = initramfs.Archive()
    for folder in ('tmp', 'run', 'etc', 'root'):
        archive.add_folder(folder)
    for program in job.programs:
        archive.add_program(program)
    for name, content in job.files.items():
        if isinstance(content, Path):
            archive.add_host_file(content, name)
        else:
            archive.add(name, content, 0o755 if content.startswith(b'#!') else 0o644)
    initramfs.build_whole(path, archive, _module_files(job), job.command)


def run(job, folder, limit=3600):
    """
    Runs a job; limit is in seconds of the host. Logs stay in the folder.

    A guest that dies, hangs or whose kernel complains is Trouble, with the reason.
    """
    files = {'console': folder / 'console.log', 'agent': folder / 'output.log'}
    archive = folder / 'initramfs'
    _pack(job, archive)
    machine = qemu.Machine(image=job.kernel.image, initramfs=archive, memory=job.memory,
                           cpus=job.cpus, icount=True, seed=job.seed, cpu=job.cpu,
                           append=['modprobe.blacklist=smc,smc_diag', *job.append])
    args = qemu.batch_command(machine, files)
    try:
        result = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise Trouble(f'the guest did not end within {limit} seconds; logs: {folder}') from None
    finally:
        archive.unlink()
    if result.returncode:
        raise Trouble(f'QEMU failed: {result.stderr.strip()[-300:]}')
    log = files['console'].read_text(errors='replace').splitlines()
    findings = console.scan(log)
    if findings:
        raise Trouble(f'{findings[0].name} in the kernel log: {findings[0].lines[0]}; '
                      f'logs: {folder}')
    output, mark, status = files['agent'].read_text(errors='replace').rpartition('@exit ')
    if not mark:
        raise Trouble(f'the guest ended before the command did; logs: {folder}')
    return Outcome(output, int(status), log)
