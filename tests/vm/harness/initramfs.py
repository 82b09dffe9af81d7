# SPDX-License-Identifier: GPL-2.0-only
"""Packs the initramfs of a guest: our init, its configuration, modules, files."""

import hashlib
import os
import re
import stat
import subprocess
import threading

from . import paths
from .errors import Trouble

# What init needs to get at the host's files.
ROOT_MODULES = ('virtio_pci', '9pnet_virtio', '9p', 'overlay')

LIBRARY = re.compile(r'(/\S+) \(0x')


class Archive:
    """A cpio archive in the "newc" format, uncompressed: it is small and read once."""

    def __init__(self):
        self._blob = bytearray()
        self._known = set()

    def _entry(self, name, mode, data=b'', rdev=(0, 0)):
        encoded = name.encode() + b'\0'
        fields = (len(self._known), mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(encoded), 0)
        self._blob += b'070701' + b''.join(b'%08X' % field for field in fields) + encoded
        self._pad()
        self._blob += data
        self._pad()

    def _pad(self):
        self._blob += b'\0' * (-len(self._blob) % 4)

    def _parents(self, name):
        parent = os.path.dirname(name)
        if parent and parent not in self._known:
            self._parents(parent)
            self._known.add(parent)
            self._entry(parent, stat.S_IFDIR | 0o755)

    def add(self, name, data, mode=0o644):
        """Adds a file with the given bytes; the same name twice is kept once."""
        name = name.lstrip('/')
        if name in self._known:
            return
        self._parents(name)
        self._known.add(name)
        self._entry(name, stat.S_IFREG | mode, data)

    def add_folder(self, name):
        self._parents(name.lstrip('/') + '/x')

    def add_link(self, name, target):
        name = name.lstrip('/')
        if name not in self._known:
            self._parents(name)
            self._known.add(name)
            self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def add_console(self):
        self._parents('dev/console')
        self._entry('dev/console', stat.S_IFCHR | 0o600, rdev=(5, 1))

    def add_host_file(self, path, name=None):
        """Adds a file of the host, under its own path unless a name is given."""
        with open(path, 'rb') as file:
            self.add(name or str(path), file.read(), stat.S_IMODE(os.stat(path).st_mode))

    def add_program(self, path):
        """Adds a program of the host with the libraries it is linked to."""
        self.add_host_file(path)
        result = subprocess.run(['ldd', path], capture_output=True, text=True, check=False)
        for library in LIBRARY.findall(result.stdout):
            self.add_host_file(library)

    def write(self, path):
        """Ends the archive and writes it."""
        self._entry('TRAILER!!!', 0)
        path.write_bytes(self._blob)


def compile_init():
    """Builds the static init of the guests once for each state of its source; returns its path."""
    source = paths.GUEST / 'init.c'
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    binary = paths.cache('vm') / f'init-{digest}'
    if binary.exists():
        return binary
    # Built under a name of its own: other runs, or threads of this one, may be at it too.
    fresh = binary.with_suffix(f'.{os.getpid()}.{threading.get_ident()}')
    result = subprocess.run(['gcc', '-static', '-Os', '-Wall', '-Wextra', '-o', fresh, source],
                            capture_output=True, text=True, check=False)
    if result.returncode:
        raise Trouble(f'cannot build {source.name} of the guest (gcc and libc6-dev are needed): '
                      + result.stderr.strip())
    fresh.rename(binary)
    return binary


def _quoted(value):
    """For between two apostrophes in a shell, which reads it there; init alone takes it as it is."""
    return str(value).replace("'", "'\\''")


def _finish(path, archive, modules, config):
    """What every initramfs has: init, the modules it loads in order, its configuration."""
    archive.add_console()
    archive.add_host_file(compile_init(), '/init')
    order = []
    for module in modules:
        name = f'/boot/{module.name}'
        archive.add_host_file(module, name)
        order.append(name)
    archive.add('/boot/order', ''.join(f'{name}\n' for name in order).encode())
    lines = [f"{key}='{value}'\n" for key, value in config.items()]
    archive.add('/boot/config', ''.join(lines).encode())
    archive.write(path)


def build(path, kernel, config):
    """Writes the initramfs of a guest that goes on with the host's files."""
    words = {key: _quoted(value) for key, value in config.items()}
    _finish(path, Archive(), kernel.module_order(ROOT_MODULES), dict(words, VM_ROOT='9p'))


def build_whole(path, archive, modules, command):
    """
    Writes an initramfs that has everything: the archive holds the programs, the modules
    (files) are loaded in this order, the command ends the guest.
    """
    archive.add_program('/bin/sh')
    _finish(path, archive, modules, {'VM_ROOT': 'ram', 'VM_COMMAND': command})
