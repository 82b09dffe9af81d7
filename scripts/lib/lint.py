# SPDX-License-Identifier: GPL-2.0-only
"""Checks that run another program: each takes a Tree and returns a list of problems."""

import concurrent.futures
import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time

import symbols

# What checkpatch says about patches and about kernel code, where it does not apply
IGNORE = {
    '': [
        'FILE_PATH_CHANGES',    # there is no MAINTAINERS file to update
        'CONSTANT_COMPARISON',  # also says it about two constants in BUILD_BUG_ON()
    ],
    'net/smc/compat/': [
        'LINUX_VERSION_CODE',   # the one place that may look at versions
        'MACRO_ARG_UNUSED',     # drops what older kernels do not have
        'SPACING',              # takes the <> of __has_include for operators
    ],
    # Pure files do without the headers that have these
    'net/smc/wire/': ['ARRAY_SIZE', 'BIT_MACRO'],
    # Macros make the rows and cells of a table
    'net/smc/conn/close_fsm.c': ['BRACKET_SPACE', 'COMPLEX_MACRO'],
    # Pure files cannot export, so one file does it for all
    'net/smc/export.c': ['EXPORT_SYMBOL'],
    # The tables are filled when the module is loaded
    'net/smc/sock/proto.h': ['CONST_STRUCT'],
    'net/smc/rdma/llc_flow.c': ['BRACKET_SPACE', 'COMPLEX_MACRO'],
    # The defects there are deliberate
    'tests/selfcheck/': ['AVOID_BUG', 'MSLEEP'],
    # Its macros have the arguments of the kernel's
    'tests/unit/llc/kernel.h': ['MACRO_ARG_REUSE', 'MACRO_ARG_UNUSED', 'MEMORY_BARRIER'],
    # TRACE_EVENT() has a layout of its own
    'net/smc/trace.h': ['OPEN_ENDED_LINE', 'PARENTHESIS_ALIGNMENT'],
    # User space has neither these helpers nor the kernel's types
    'user': [
        'ARRAY_SIZE', 'BIT_MACRO', 'CAMELCASE', 'CONSIDER_KSTRTO', 'CONST_STRUCT',
        'EMBEDDED_FUNCTION_NAME', 'ENOSYS', 'MINMAX', 'NAKED_SSCANF',
        'PREFER_DEFINED_ATTRIBUTE_MACRO', 'PREFER_FALLTHROUGH', 'PREFER_KERNEL_TYPES',
        'SSCANF_TO_KSTRTO', 'STRCPY', 'STRLCPY', 'STRNCPY', 'USLEEP_RANGE',
        'AVOID_EXTERNS',        # environ
        'NEW_TYPEDEFS',         # the shim headers define what the kernel's linux/types.h does
        'VOLATILE',             # sig_atomic_t
    ],
}
KERNEL_CODE = ('net/', 'include/', 'tests/kunit/', 'tests/modules/', 'tests/selfcheck/')
WARNING = re.compile(r'\b(warning|error|WARNING|ERROR): ')
FORGET_SECONDS = 30 * 24 * 3600


class CannotRun(Exception):
    """A check could not do its work; counts as a failure."""


def run(command, cwd, **environment):
    """Runs a command and returns its exit code and all it said."""
    try:
        done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
    except OSError as error:
        raise CannotRun(f'cannot run {command[0]}: {error.strerror}') from error
    return done.returncode, done.stdout.decode(errors='replace')


def cache():
    """The project's folder in the user's cache."""
    base = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    folder = os.path.join(base, 'smc')
    os.makedirs(folder, exist_ok=True)
    return folder


@functools.lru_cache(maxsize=None)
def kernel(top, name):
    """The folder of a kernel in the cache, which may have to be fetched first."""
    done = subprocess.run(['tests/kernels/get', name], cwd=top, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)
    folder = done.stdout.decode().strip()
    if done.returncode or not os.path.isdir(folder):
        raise CannotRun(f'tests/kernels/get {name} failed, see the messages above')
    return folder


def complaints(code, output, root):
    """The output as problems: nothing unless the program failed."""
    lines = [line.replace(root + '/', '') for line in output.splitlines() if line.strip()]
    return (lines or [f'exit code {code}']) if code else []


def in_parallel(function, items, size):
    """Maps a function that returns problems over chunks of the items."""
    chunks = [items[at:at + size] for at in range(0, len(items), size)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [problem for problems in pool.map(function, chunks) for problem in problems]


def ignored_types(name):
    """What checkpatch shall not say about this file."""
    types = list(IGNORE[''])
    for prefix, more in IGNORE.items():
        if prefix and name.startswith(prefix):
            types += more
    return tuple(types + ([] if name.startswith(KERNEL_CODE) else IGNORE['user']))


class Clean:
    """Remembers in which files a program found nothing, by all that its verdict depends on."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with contextlib.suppress(FileNotFoundError):    # another run forgets it as well
                if time.time() - os.path.getmtime(path) > FORGET_SECONDS:
                    os.unlink(path)

    def _mark(self, path, *words):
        with open(path, 'rb') as file:
            content = file.read()
        return os.path.join(self.folder, hashlib.sha256(
            '\0'.join(words).encode() + b'\0' + content).hexdigest())

    def knows(self, path, *words):
        return os.path.exists(self._mark(path, *words))

    def add(self, path, *words):
        with open(self._mark(path, *words), 'w', encoding='ascii'):
            pass


def find_camelcase(source, folder):
    """
    Lets checkpatch look for the kernel's own CamelCase names, which it keeps in the current folder:
    of several at once, some would read the file before all names are in it.
    """
    with open(os.path.join(folder, '.lock'), 'w', encoding='ascii') as lock, \
            tempfile.TemporaryDirectory() as scratch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = os.path.join(scratch, 'a.c')
        with open(path, 'w', encoding='ascii') as file:
            file.write('int CamelCase;\n')
        run(['perl', source + '/scripts/checkpatch.pl', '--root', source, '--strict', '-f', path],
            folder)


def checkpatch(tree, top):
    """The kernel's coding style, of files that it has not yet found clean."""
    source = kernel(top, 'source-6.12')
    folder = os.path.join(cache(), 'checkpatch')
    clean = Clean(os.path.join(folder, 'clean'))
    find_camelcase(source, folder)
    groups = {}
    for name in tree.below('net', 'include', 'tests', 'tools', suffix=('.c', '.h')):
        groups.setdefault(ignored_types(name), []).append(name)

    def look(types, names):
        names = [name for name in names if not clean.knows(tree.path(name), source, name, *types)]
        if not names:
            return []
        code, output = run(['perl', source + '/scripts/checkpatch.pl', '--root', source,
                            '--strict', '--no-summary', '--terse', '--show-types', '--quiet',
                            '--ignore', ','.join(types), '-f', *map(tree.path, names)], folder)
        problems = complaints(code, output, tree.root)
        if not problems:
            for name in names:
                clean.add(tree.path(name), source, name, *types)
        return problems

    return [problem for types, names in groups.items()
            for problem in in_parallel(functools.partial(look, types), names, 8)]


def kernel_doc(tree, top):
    """Comments that kernel-doc reads, compared with the code below them."""
    program = kernel(top, 'source-6.12') + '/scripts/kernel-doc'
    names = tree.below('net/smc', 'include', suffix=('.c', '.h'))
    if not names:
        return []
    return complaints(*run(['perl', program, '-none', '-Werror', *names], tree.root), tree.root)


def module_warnings(tree, top, name):
    """
    A build of all modules with the compiler's extra warnings and with sparse, and then the list of
    symbols that they need.

    -Werror keeps the compiler from leaving an object that would hide the same warning in the next
    build, and all objects are removed afterwards: sparse and modpost see everything each time, the
    compiler what ccache has not.
    """
    environment = {'KDIR': os.path.join(kernel(top, name), 'build')}
    if tree.root == top:
        del environment['KDIR']
    command = ['scripts/build-modules', name, 'W=1', 'C=2', 'CF=-D__CHECK_ENDIAN__',
               'KCFLAGS=-Werror', '-k']
    with open(os.path.join(cache(), 'check.lock'), 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, output = run(command, tree.root, **environment)
        lines = output.splitlines()
        unlisted = [] if code else symbols.symbols(tree, lines[-1], name)
        folder = os.path.dirname(lines[-1]) if lines else ''
        in_message = re.search(r'\(log: (.*)/build\.log\)', output)
        if in_message:
            folder = in_message.group(1)
        if folder.startswith(os.path.join(cache(), 'build', name + '-')):
            # Of a copy that is about to vanish, nothing shall stay.
            shutil.rmtree(os.path.join(folder, 'src') if tree.root == top else folder,
                          ignore_errors=True)
    problems = [re.sub(r'\S*/usr/src/(linux-headers-)', r'\1', line)
                for line in lines if WARNING.search(line)]
    return (list(dict.fromkeys(problems)) or unlisted
            or complaints(code, '\n'.join(lines[-5:]), tree.root))


def shellcheck(tree, _top):
    """Shell scripts, following what they source."""
    def look(names):
        return complaints(*run(['shellcheck', '-x', '-P', 'SCRIPTDIR', '-f', 'gcc', *names],
                               tree.root), tree.root)

    return in_parallel(look, tree.scripts('sh'), 4)


def documents(tree, _top):
    """reStructuredText as docutils sees it."""
    problems = []
    for name in tree.files:
        if name.endswith('.rst'):
            # It goes on quoting the place after each message.
            found = complaints(*run(['rst2html', '--report=2', '--halt=2', name, os.devnull],
                                    tree.root), tree.root)
            problems += [line for line in found if re.match(r'\S+:\d+: \(', line)] or found
    return problems


def defects(tree, _top):
    """Patches that no longer put their defect into the tree; see tests/vm/selfcheck."""
    problems = []
    for name in tree.below('tests/selfcheck', suffix=('.patch',)):
        code, output = run(['patch', '--strip=1', '--fuzz=0', '--dry-run', '--silent', '--force',
                            '--input', name], tree.root)
        problems += [f'{name}: {line}' for line in complaints(code, output, tree.root)[-1:]]
    return problems


def man_pages(tree, _top):
    """Manual pages as mandoc sees them."""
    pages = [name for name in tree.below('tools', 'Documentation')
             if re.search(r'\.[1-8]$', name)]
    return [problem for name in pages for problem in
            complaints(*run(['mandoc', '-T', 'lint', '-W', 'warning', name], tree.root), tree.root)]


def programs(tree, _top):
    """The user-space programs, with all warnings as errors."""
    if not tree.has('tools/Makefile'):
        return ['tools/Makefile does not exist']
    problems = []
    for folder in ('tools', 'tests/bench', 'tests/selftests'):
        if not tree.has(folder + '/Makefile'):
            continue
        with tempfile.TemporaryDirectory() as out:
            code, output = run(['make', '--silent', '-C', folder, '-k', 'O=' + out, 'OUT=' + out,
                                'CFLAGS=-O2 -g -Wall -Wextra -Werror'], tree.root)
        found = [line for line in output.splitlines() if WARNING.search(line)]
        problems += found or complaints(code, output, tree.root)
    return problems
