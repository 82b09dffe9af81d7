# SPDX-License-Identifier: GPL-2.0-only
"""
Packs what a measuring guest needs into its initramfs.

Not the host's files over 9p: while a guest waits for those, its time jumps.
"""

import os
import shutil

from harness import paths, programs
from harness.errors import Trouble

BENCH = paths.TREE / 'tests' / 'bench'
AT = '/bench'                   # where our own files are in the guest

SHELL = '/bin/dash'
BUSYBOX = '/bin/busybox'
# For guest.sh; a real program of the same name comes before.
APPLETS = ('awk', 'cat', 'env', 'grep', 'head', 'kill', 'ls', 'mkdir', 'mount', 'ps', 'rm', 'rmmod',
           'sed', 'sleep', 'tail', 'tr', 'uname')
# Not of busybox: its setsid would run its own ip.
PROGRAMS = ('ip', 'rdma', 'setsid', 'redis-cli', 'redis-benchmark')
# redis-server and redis-check-rdb are one program, which looks at its name; the package
# redis-server would start a service on the host.
REDIS_SERVER = 'redis-check-rdb'


def find_program(name):
    path = shutil.which(name, path=f'{os.environ.get("PATH", "")}:/usr/sbin:/sbin')
    if not path:
        raise Trouble(f'{name} is missing: run scripts/install-packages bench')
    return path


def make(folder, target):
    """Builds programs of this tree into the cache; returns the folder."""
    output = programs.build(folder)
    if not output or not (output / target).exists():
        raise Trouble(f'building {folder} left no {target}')
    return output


def _add_tools(archive):
    """smc_run with its library, and the tools that configure and show."""
    output = make('tools', 'smc_run')
    for path in sorted(output.iterdir()):
        if not path.is_file():
            continue
        if path.suffix == '.so':
            archive.add_host_file(path)         # smc_run looks beside itself
        elif os.access(path, os.X_OK):
            archive.add_program(str(path))
            archive.add_link(f'/usr/local/bin/{path.name}', str(path))


def _add_programs(archive):
    archive.add_program(SHELL)
    archive.add_link('/bin/sh', SHELL)
    archive.add_host_file(BUSYBOX)
    for name in PROGRAMS:
        path = find_program(name)
        archive.add_program(path)
        if os.path.dirname(path) not in ('/bin', '/sbin', '/usr/bin', '/usr/sbin'):
            archive.add_link(f'/bin/{name}', path)
    server = find_program(REDIS_SERVER)
    archive.add_program(server)
    archive.add_link('/usr/local/bin/redis-server', server)
    for name in APPLETS:
        archive.add_link(f'/usr/local/sbin/{name}', BUSYBOX)


def add_all(archive):
    """Programs that every guest has."""
    for needed in (SHELL, BUSYBOX):
        if not os.path.exists(needed):
            raise Trouble(f'{needed} is missing: run scripts/install-packages bench')
    _add_programs(archive)
    output = make('tests/bench', 'smcbench')
    archive.add_host_file(output / 'smcbench', '/usr/local/bin/smcbench')
    archive.add_host_file(BENCH / 'guest.sh', f'{AT}/guest.sh')
    _add_tools(archive)
    for folder in ('/tmp', '/etc', '/root', '/run', '/var'):
        archive.add_folder(folder)
    archive.add_link('/var/run', '/run')
