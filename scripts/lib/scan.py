# SPDX-License-Identifier: GPL-2.0-only
"""Checks that only read the tree: each takes a Tree and returns a list of problems."""

import os
import re
import sys
import warnings

MAX_LINES = 800
LICENCE = 'SPDX-License-Identifier: GPL-2.0-only'
LICENCE_UAPI = LICENCE + ' WITH Linux-syscall-note'
# Formats without comments, and files that other programs write or measure
WITHOUT_LICENCE = re.compile(r'(^COPYING|\.json|\.pcap|\.patch|\.info)$|(^|/)corpus/')
WITHOUT_LIMIT = re.compile(r'^COPYING$|(^|/)corpus/|_gen\.[ch]$')

VERSION = re.compile(r'\b(LINUX_VERSION_\w+|KERNEL_VERSION|UTS_RELEASE|RHEL_RELEASE\w*)\b'
                     r'|\$[({](VERSION|PATCHLEVEL|SUBLEVEL|KERNELVERSION)[)}]')
MACHINE_PATH = re.compile(r'(?<![\w.$})*-])/(root|work|home/\w+|mnt/\w+)/\w')
HOST = re.compile(
    r'\b((deb|ftp|mirror|mirrors|security|snapshot|packages|archive|cdn-\w+)'
    r'(\.[a-z]{2})?\.(debian|ubuntu)\.(org|net|com)'
    r'|(\w+\.)?(pypi|pythonhosted|npmjs|crates|golang|docker|ghcr|quay)\.(org|com|io)'
    r'|storage\.googleapis\.com)\b')

PACKAGE_SETS = {'build', 'vm', 'demo', 'test', 'check', 'tools', 'bench', 'bpf',
                'programs'}
DOC_LINK = re.compile(r'`[^`<]*<([^>`:#]+)(?:#[^>`]*)?>`__?')
DOC_PATH = re.compile(r'``((?:Documentation|include|net|scripts|tests|tools)/[\w./-]+)``')


def text_files(tree):
    """Every file but fuzzing input, recorded packets and the like."""
    return [name for name in tree.files if not tree.is_binary(name)]


def spdx(tree):
    """The licence line, in the form which the kernel wants for each kind of file."""
    problems = []
    for name in text_files(tree):
        if WITHOUT_LICENCE.search(name):
            continue
        head = tree.read(name).split('\n', 3)[:3]
        line = next((line for line in head if 'SPDX-License-Identifier' in line), None)
        wanted = LICENCE_UAPI if name.startswith('include/uapi/') else LICENCE
        if line is None:
            problems.append(f'{name}: no SPDX line')
        elif not re.search(re.escape(wanted) + r'\s*(\*/)?$', line):
            problems.append(f'{name}: not "{wanted}"')
        elif name.endswith('.c') and not line.startswith('// '):
            problems.append(f'{name}: the SPDX line of a source is a // comment')
        elif name.endswith('.h') and not line.startswith('/* '):
            problems.append(f'{name}: the SPDX line of a header is a /* */ comment')
    return problems


def length(tree):
    """Files so long that they must hold more than one concept."""
    counts = ((name, len(tree.read(name).splitlines())) for name in text_files(tree)
              if not WITHOUT_LIMIT.search(name))
    return [f'{name}: {count} lines, more than {MAX_LINES}'
            for name, count in counts if count > MAX_LINES]


def versions(tree):
    """Knowledge of kernel versions outside net/smc/compat."""
    code = [name for name in tree.below('net', 'include', 'tests', suffix=('.c', '.h'))
            if not name.startswith('net/smc/compat/')]
    code += [name for name in tree.files if os.path.basename(name) == 'Kbuild']
    return [f'{name}:{number}: {match.group(0)} outside net/smc/compat'
            for name in code for number, line in tree.lines(name)
            for match in [VERSION.search(line)] if match]


def places(tree):
    """Paths of one machine, and names of servers that only some machines can or should reach."""
    problems = []
    for name in text_files(tree):
        for number, line in tree.lines(name):
            for what, pattern in (('path of one machine', MACHINE_PATH), ('host name', HOST)):
                match = pattern.search(line)
                if match:
                    problems.append(f'{name}:{number}: {what}: {match.group(0)}')
    return problems


def modes(tree):
    """Scripts that cannot be started, and other files that can."""
    problems = []
    for name in tree.files:
        executable = os.access(tree.path(name), os.X_OK)
        if tree.shebang(name) and not executable:
            problems.append(f'{name}: has an interpreter line, but is not executable')
        elif executable and not tree.shebang(name):
            problems.append(f'{name}: is executable, but no script')
    return problems


def imported(tree_node):
    """The top-level modules that an import statement names."""
    import ast
    if isinstance(tree_node, ast.Import):
        return [alias.name.split('.')[0] for alias in tree_node.names]
    if isinstance(tree_node, ast.ImportFrom) and not tree_node.level:
        return [tree_node.module.split('.')[0]]
    return []


def python(tree):
    """Scripts that do not compile, or that need more than Debian's python3 alone."""
    import ast
    own = {os.path.basename(part)[:-3] for part in tree.files if part.endswith('.py')}
    own |= {os.path.basename(os.path.dirname(part)) for part in tree.files
            if part.endswith('/__init__.py')}
    problems = []
    for name in tree.scripts('python'):
        if tree.shebang(name) not in ('', '/usr/bin/python3'):
            problems.append(f'{name}:1: the interpreter is not /usr/bin/python3')
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('error')
                parsed = ast.parse(tree.read(name), name)
                compile(parsed, name, 'exec', dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            problems.append(f'{name}:{getattr(error, "lineno", 0)}: {error}')
            continue
        for node in ast.walk(parsed):
            problems += [f'{name}:{node.lineno}: {module} is not part of the standard library'
                         for module in imported(node)
                         if module not in sys.stdlib_module_names and module not in own]
    return problems


def packages(tree):
    """The list of packages: its form and its order."""
    name = 'scripts/packages'
    entries = [(number, line) for number, line in tree.lines(name)
               if line and not line.startswith('#')] if name in tree.files else []
    problems = [] if entries else [f'{name}: missing or empty']
    for number, line in entries:
        if not re.fullmatch(r'[a-z]+ [a-z0-9][a-z0-9.+-]+(\|[a-z0-9][a-z0-9.+-]+)*', line):
            problems.append(f'{name}:{number}: not "SET package"')
        elif line.split()[0] not in PACKAGE_SETS:
            problems.append(f'{name}:{number}: unknown set {line.split()[0]}')
    lines = [line for _, line in entries]
    problems += [f'{name}: "{right}" comes after "{left}": not sorted, or doubled'
                 for left, right in zip(lines, lines[1:]) if left.split() >= right.split()]
    return problems


def links(tree):
    """Documents that point at files which do not exist."""
    problems = []
    for name in [file for file in tree.files if file.endswith('.rst')]:
        folder = os.path.dirname(name)
        for number, line in tree.lines(name):
            targets = [os.path.normpath(os.path.join(folder, match))
                       for match in DOC_LINK.findall(line)]
            # A README further down may speak of another tree: the kernel has scripts/ as well.
            if folder in ('', 'Documentation'):
                targets += [match.rstrip('/.') for match in DOC_PATH.findall(line)]
            problems += [f'{name}:{number}: {target} does not exist'
                         for target in targets if not tree.has(target)]
    return problems


def release(tree):
    """One version everywhere: DKMS, modules and tools."""
    config = tree.read('dkms.conf') if tree.has('dkms.conf') else ''
    version = re.search(r'^PACKAGE_VERSION="(.+)"$', config, re.MULTILINE)
    if not version:
        return ['dkms.conf: no PACKAGE_VERSION']
    texts = {name: tree.read(name) for name in tree.below('net/smc', 'tools', suffix=('.c', '.h'))}
    pattern = re.compile(r'^(?:MODULE_VERSION\(|#define SMC_TOOLS_VERSION )(".+")', re.MULTILINE)
    found = [(name, value) for name, text in texts.items() for value in pattern.findall(text)]
    modules = len(re.findall(r'^BUILT_MODULE_NAME', config, re.MULTILINE))
    versions_seen = sum(name.startswith('net/') for name, _ in found)
    problems = [f'{name}: version {value} is not "{version.group(1)}" as in dkms.conf'
                for name, value in found if value != f'"{version.group(1)}"']
    if versions_seen < modules:
        problems.append(f'net/smc: {modules} modules, but {versions_seen} with MODULE_VERSION; '
                        f'DKMS would leave the others out')
    return problems
