# SPDX-License-Identifier: GPL-2.0-only
"""A prepared kernel: its image and its modules."""

import subprocess
from pathlib import Path

from . import paths
from .errors import Trouble

GET = paths.TREE / 'tests' / 'kernels' / 'get'
RXE_V1 = paths.TREE / 'tests' / 'kernels' / 'rxe-v1'
BUILD_MODULES = paths.TREE / 'scripts' / 'build-modules'

# What scripts/build-modules needs of the tree, for a copy that is changed
SOURCES = ['Kbuild', 'Kconfig', 'include', 'net', 'scripts', 'tests/kernels']


def _last_line(command, what):
    """Runs one of the project's scripts; its progress goes to our stderr."""
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                            check=False)
    lines = result.stdout.split('\n')
    if result.returncode or not lines[0]:
        raise Trouble(f'{what} failed: {" ".join(map(str, command))} (see above)')
    return Path([line for line in lines if line][-1])


def _run(command, folder, what):
    """A program that has nothing to say unless it fails."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Trouble(f'{what} failed: {result.stderr.strip() or result.stdout.strip()}')


def depends(folder):
    """
    What the modules of a folder need, as variables for the agent: a program less to start in the
    guest for each module that it loads.
    """
    found = {}
    for file in sorted(Path(folder).glob('*.ko')):
        done = subprocess.run(['modinfo', '-F', 'depends', file], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise Trouble(f'{file}: {done.stderr.strip()}')
        found[f'VM_DEPENDS_{_module_name(file)}'] = done.stdout.strip().replace(',', ' ')
    return found


class Kernel:
    """The folder that tests/kernels/get prepared, read."""

    def __init__(self, name, folder):
        self.name = name
        self.folder = Path(folder).resolve()
        try:
            self.release = (self.folder / 'release').read_text().strip()
        except OSError as error:
            raise Trouble(f'{folder} is no prepared kernel: {error.strerror}: release') from None
        self.image = self.folder / 'image'
        self.modules = self.folder / 'lib' / 'modules' / self.release

    @classmethod
    def get(cls, name):
        return cls(name, _last_line([GET, name], f'preparing kernel {name}'))

    def build_modules(self):
        """The folder with the modules of this tree, built for this kernel."""
        return _last_line([BUILD_MODULES, self.name, 'CONFIG_SMC_TEST_MODULES=m'],
                          f'building the modules for {self.name}')

    def build_rxe_v1(self):
        """The folder with a software RoCE driver that has addresses of RoCE version 1."""
        return _last_line([RXE_V1, self.name], f'building software RoCE for {self.name}')

    def build_folder(self, source):
        """Builds the modules of one folder of test sources; returns where they are."""
        with paths.build_folder(f'{self.name}/{source.name}') as output:
            for file in source.iterdir():
                if file.name == 'Kbuild' or file.suffix in ('.c', '.h'):
                    _copy_if_changed(file, output / file.name)
            command = ['make', '-s', '-C', self.folder / 'build', f'M={output}',
                       'CONFIG_DEBUG_INFO_BTF_MODULES=', 'modules']
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise Trouble(f'building {source} for {self.name} failed: '
                          + (result.stderr.strip() or result.stdout.strip()))
        return output

    def build_patched(self, patch):
        """The folder with the modules of a copy of this tree, which has a defect."""
        with paths.build_folder(f'defect/{patch.stem}') as copy:
            command = ['rsync', '-rlp', '--checksum', '--delete', '--relative', '--exclude=/.lock',
                       *[f'./{name}' for name in SOURCES], f'{copy}/']
            _run(command, paths.TREE, f'copying the tree for {patch.name}')
            command = ['patch', '--strip=1', '--fuzz=0', '--no-backup-if-mismatch', '--input', patch]
            _run(command, copy, f'putting the defect of {patch.name} into a copy of the tree')
            return _last_line([copy / 'scripts' / 'build-modules', self.name],
                              f'building the modules with {patch.name} for {self.name}')

    def _dependencies(self):
        """modules.dep as {module name: [files, the module itself first]}."""
        table = {}
        for line in (self.modules / 'modules.dep').read_text().splitlines():
            file, _, needed = line.partition(':')
            table[_module_name(file)] = [file, *needed.split()]
        return table

    def module_order(self, names):
        """Files to load for the named modules, in order; built-in ones need none."""
        table = self._dependencies()
        builtin = {_module_name(line) for line
                   in (self.modules / 'modules.builtin').read_text().splitlines()}
        order = []
        for name in names:
            if name in table:
                order += [file for file in reversed(table[name]) if file not in order]
            elif name not in builtin:
                raise Trouble(f'kernel {self.release} has no {name}: it cannot boot as a guest')
        return [self.modules / file for file in order]

    def has_modules(self, names):
        """Whether the kernel has all of these itself; smc... are always meant to be ours."""
        table = self._dependencies()
        return all(name in table and not name.startswith('smc') for name in names)

    def debugger_image(self):
        """The ELF image with symbols, if this kernel has one."""
        for file in (self.folder / 'vmlinux', self.folder / 'build' / 'vmlinux'):
            if file.exists():
                return file
        return None


def _copy_if_changed(source, copy):
    """Times tell make what is new, so an equal file is left alone."""
    data = source.read_bytes()
    if not copy.exists() or copy.read_bytes() != data:
        copy.write_bytes(data)


def _module_name(file):
    return Path(file).name.split('.ko')[0].replace('-', '_')
