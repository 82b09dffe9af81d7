# SPDX-License-Identifier: GPL-2.0-only
"""The files of a source tree, and what kind each one is."""

import os
import re
import shutil
import subprocess

# Deliberately bad input for the checks themselves; see "Static checks" in Documentation/testing.rst
FIXTURES = 'scripts/check.d/fixtures/'
SKIPPED_FOLDERS = {'.git', '__pycache__', 'build'}


class Tree:
    """A checkout, an unpacked release or a fixture; paths are relative to its root."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        has_git = os.path.exists(self.path('.git')) and shutil.which('git')
        names = self._known_to_git() if has_git else self._walk()
        self.files = sorted(name for name in names
                            if not name.startswith(FIXTURES) and os.path.isfile(self.path(name))
                            and not os.path.islink(self.path(name)))

    def _known_to_git(self):
        """What is or will be committed: new files count, ignored ones do not."""
        output = subprocess.run(
            ['git', '-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others',
             '--exclude-standard'], cwd=self.root, check=True, stdout=subprocess.PIPE).stdout
        return set(os.fsdecode(output).split('\0')) - {''}

    def _walk(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.root)

    def git(self, *arguments):
        """What git says about this tree, or nothing; a hook sets variables for another one."""
        if not shutil.which('git'):
            return ''
        environment = {name: value for name, value in os.environ.items() if name[:4] != 'GIT_'}
        return subprocess.run(['git', '-c', 'safe.directory=*', *arguments], cwd=self.root,
                              text=True, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False).stdout.strip()

    def changed(self):
        """Files that differ from origin/main, without it from the last commit; none without git."""
        if not self.has('.git'):
            return []
        base = self.git('rev-parse', '-q', '--verify', 'origin/main') or 'HEAD'
        return [name for command in (['diff', '--name-only', base],
                                     ['ls-files', '--others', '--exclude-standard'])
                for name in self.git(*command).splitlines()]

    def path(self, name):
        """The file's path for the operating system."""
        return os.path.join(self.root, name)

    def has(self, name):
        """Whether this file or folder exists."""
        return os.path.exists(self.path(name))

    def read(self, name):
        """The text of a file; bytes that are not UTF-8 become question marks."""
        with open(self.path(name), encoding='utf-8', errors='replace') as file:
            return file.read()

    def lines(self, name):
        """Pairs of line number and line."""
        return enumerate(self.read(name).splitlines(), 1)

    def is_binary(self, name):
        """Whether the file holds something else than text: packets, fuzzing input."""
        with open(self.path(name), 'rb') as file:
            return b'\0' in file.read(8192)

    def shebang(self, name):
        """The interpreter of a script, or ''."""
        with open(self.path(name), 'rb') as file:
            first = file.readline(200)
        return first[2:].decode(errors='replace').strip() if first.startswith(b'#!') else ''

    def below(self, *folders, suffix=('',)):
        """Files in one of the folders whose name ends in one of the suffixes."""
        return [name for name in self.files if name.startswith(tuple(f'{f}/' for f in folders))
                and name.endswith(suffix)]

    def scripts(self, language):
        """Scripts in 'sh' (also bash) or 'python'."""
        suffix, program = {'sh': ('.sh', r'(ba|da)?sh'),
                           'python': ('.py', r'python[\d.]*')}[language]
        return [name for name in self.files if name.endswith(suffix)
                or re.search(rf'(^|/| ){program}($| )', self.shebang(name))]
