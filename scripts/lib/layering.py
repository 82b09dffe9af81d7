# SPDX-License-Identifier: GPL-2.0-only
"""Who may include whom, read from the #include lines."""

import os
import re
import subprocess

MODULE = 'net/smc/'

# Each folder of net/smc and the layers below it that it may include, beside itself. "base" is
# the files in net/smc itself, except main.c and export.c; it and config share a level, because the
# state of a namespace holds what was configured there.
BELOW = {'wire', 'base', 'config'}
MAY_INCLUDE = {
    'wire': set(),
    'base': {'wire', 'config'},
    'config': {'wire', 'base'},
    'group': BELOW,
    'rdma': BELOW | {'group'},
    'ism': BELOW | {'group'},
    'conn': BELOW | {'group'},
    'handshake': BELOW | {'group', 'conn'},
    'sock': BELOW | {'handshake', 'conn'},
    'listen': BELOW | {'handshake', 'conn', 'sock'},
    'ops': BELOW | {'handshake', 'conn', 'sock', 'listen'},
}
# A lower layer calls an upper one only by functions that a header of its own declares: the header,
# and the layer where these functions are. The other headers of CHECKED declare what is in their own
# layer.
UPCALLS = {
    MODULE + 'sock/listener.h': 'listen',
}
CHECKED = {'sock', 'listen', 'ops'}
# These start, stop or show every layer.
MAY_INCLUDE_ALL = {'main', 'admin'}
# This one belongs to no layer. Most of it overlays headers of the kernel and is found through the
# include path; nobody names that part.
COMPAT = 'compat'
OVERLAYS = MODULE + 'compat/include/'

# All that a pure file needs; tests/unit has these headers for user space.
PURE_HEADERS = {
    'linux/types.h', 'linux/errno.h', 'linux/string.h', 'linux/build_bug.h', 'linux/unaligned.h',
    'net/tcp_states.h',
}
# Headers of the kernel that belong to another implementation, or to one layer of this one.
FORBIDDEN = {'net/smc.h': 'the kernel\'s own implementation'}
OWNED = {'net/smc_ism.h': {'ism', 'main'}}

PROTOTYPE = re.compile(r'^(?!static\b|extern\b)\w[\w\s]*?[\s*](\w+)\([^{;]*\);', re.M)
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(name):
    """The layer of a file below net/smc."""
    inside = name[len(MODULE):]
    if '/' in inside:
        return inside.split('/')[0]
    return 'main' if inside in ('main.c', 'export.c') else 'base'


def includes(tree, name):
    """Triples of line number, bracket and header."""
    for number, line in tree.lines(name):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def resolve(tree, name, header):
    """The file of this tree that #include "header" in name stands for, or None."""
    for folder in (os.path.dirname(name), MODULE, 'include', 'include/uapi'):
        path = os.path.normpath(os.path.join(folder, header))
        if path in tree.files:
            return path
    return None


def check_quoted(tree, name, layer, header):
    """The problem with one #include "header", or None."""
    target = resolve(tree, name, header)
    if target is None:
        return f'"{header}" is not a file of this tree'
    if not target.startswith(MODULE):
        return None
    if target.startswith(OVERLAYS):
        return f'"{header}": overlays are on the include path, never named'
    other = layer_of(target)
    if other in (layer, COMPAT) or layer in MAY_INCLUDE_ALL or other in MAY_INCLUDE.get(layer, ()):
        return None
    return f'"{header}": {layer} may not include {other}'


def defines(tree, layer, function):
    """Whether a source of this layer has the body of a function."""
    body = re.compile(rf'^(?!static\b)\w[^;{{}}()]*\b{function}\([^{{;]*\)\n{{', re.M)
    return any(body.search(tree.read(name)) for name in tree.below(MODULE + layer, suffix=('.c',)))


def upcalls(tree):
    """Functions that a header declares and another layer than the right one defines."""
    problems = []
    for name in tree.below('net/smc', suffix=('.h',)):
        layer = layer_of(name)
        if layer not in CHECKED:
            continue
        layer = UPCALLS.get(name, layer)
        problems += [f'{name}: {function}() is not in {layer}/'
                     for function in PROTOTYPE.findall(tree.read(name))
                     if not defines(tree, layer, function)]
    return problems


def layers(tree):
    """Includes against the order of the layers."""
    problems = upcalls(tree)
    for name in tree.below('net/smc', suffix=('.c', '.h')):
        layer = layer_of(name)
        if layer == COMPAT:
            continue
        if layer not in MAY_INCLUDE and layer not in MAY_INCLUDE_ALL:
            problems.append(f'{name}: folder {layer} is no layer')
            continue
        for number, bracket, header in includes(tree, name):
            problem = None
            if bracket == '"':
                problem = check_quoted(tree, name, layer, header)
            elif header in FORBIDDEN:
                problem = f'<{header}> is {FORBIDDEN[header]}'
            elif layer not in OWNED.get(header, {layer}):
                problem = f'<{header}>: only for {" and ".join(sorted(OWNED[header]))}'
            if problem:
                problems.append(f'{name}:{number}: {problem}')
    return problems


def pure_sources(tree):
    """The sources in pure-y, which net/smc/Kbuild puts together, and what make had to say."""
    makefile = f'smc-root := .\nobj := {MODULE}\nsrc := {MODULE}\n' \
               f'include {MODULE}Kbuild\n$(info $(pure-y))\nnothing: ;@:\n'
    done = subprocess.run(['make', '-s', '-f', os.devnull, '--eval', makefile], cwd=tree.root,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    said = re.sub(r'(?m)^make: ', '', done.stderr.decode(errors='replace')).splitlines()
    problems = said[:1] if done.returncode else []
    objects = done.stdout.decode(errors='replace').split()
    return [MODULE + re.sub(r'\.o$', '.c', name) for name in objects], problems


def pure(tree):
    """Kernel headers in files which have to build without a kernel, and files left off the list."""
    listed, problems = pure_sources(tree)
    problems += [f'{name}: on the list pure-y, but missing' for name in listed
                if name not in tree.files]
    problems += [f'{name}: not on the list pure-y of {MODULE}Kbuild'
                 for name in tree.below('net/smc/wire', suffix=('.c',)) if name not in listed]
    todo = [name for name in listed if name in tree.files]
    todo += tree.below('net/smc/wire', suffix=('.h',))
    seen = set(todo)
    while todo:
        name = todo.pop()
        for number, bracket, header in includes(tree, name):
            target = resolve(tree, name, header)
            if bracket == '<' and header not in PURE_HEADERS:
                problems.append(f'{name}:{number}: <{header}> in a pure file or its header')
            elif bracket == '"' and target and target not in seen:
                seen.add(target)
                todo.append(target)
    return sorted(problems)
