# SPDX-License-Identifier: GPL-2.0-only
"""
Members of TCP's tables of operations that nobody has thought of.

In SMC mode a socket has our struct proto_ops and our struct proto, copies of TCP's in which members
are replaced. A member that a newer kernel adds would reach TCP's byte stream past us, so each member
of each supported kernel has to be in net/smc/sock/tables.txt: as "ours", and then tables.c sets
it, or as "tcp", with the reason why TCP's does no harm.
"""

import glob
import os
import re

from lint import CannotRun, kernel

LIST = 'net/smc/sock/tables.txt'
CODE = 'net/smc/sock/tables.c'
KERNELS = 'stock-6.12', 'stock-6.1', 'stock-13'
HEADERS = {'proto_ops': 'linux/net.h', 'proto': 'net/sock.h'}
SETS = {'proto_ops': r'\bops->(\w+) =', 'proto': r'\bprot->(\w+) ='}


def members(text, struct):
    """Names of the members of a struct, in a header."""
    body = re.search(r'^struct %s \{\n(.*?)^\}' % struct, text, re.DOTALL | re.MULTILINE).group(1)
    body = re.sub(r'/\*.*?\*/', '', body, flags=re.DOTALL)
    body = re.sub(r'^#.*$', '', body, flags=re.MULTILINE)
    body = re.sub(r'union\s*\{.*?\}\s*(\w+)', r'int \1', body, flags=re.DOTALL)
    names = []
    for declaration in body.split(';'):
        function = re.search(r'\(\s*\*\s*(\w+)\s*\)\s*\(', declaration)
        plain = re.search(r'(\w+)\s*(\[\w+\])?\s*$', declaration)
        if function or plain:
            names.append((function or plain).group(1))
    return names


def header(top, name, struct):
    """Text of the header that has the struct, for one kernel."""
    pattern = os.path.join(kernel(top, name), 'usr/src/linux-headers-*-common/include',
                           HEADERS[struct])
    paths = glob.glob(pattern)
    if not paths:
        raise CannotRun(f'{name} has no {HEADERS[struct]}')
    with open(paths[0], encoding='utf-8') as file:
        return file.read()


def thought_of(text):
    """The list: what is said of each (struct, member); and lines that say nothing."""
    said, problems = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        match = re.match(r'(proto_ops|proto) (\w+): (ours|tcp, \S.*)$', line)
        if match:
            said[match.group(1), match.group(2)] = match.group(3)
        else:
            problems.append(f'{LIST}:{number}: not "STRUCT MEMBER: ours", nor "tcp, REASON"')
    return said, problems


def unset(said, code):
    """Members that are said to be ours, and are not."""
    return [f'{LIST}: {struct}.{name} is not set in {CODE}'
            for (struct, name), what in said.items()
            if what == 'ours' and name not in re.findall(SETS[struct], code)]


def tables(tree, top):
    """Each member of both structs, in each kernel."""
    if not os.path.exists(os.path.join(tree.root, LIST)):
        return []
    with open(os.path.join(tree.root, LIST), encoding='utf-8') as file:
        said, problems = thought_of(file.read())
    with open(os.path.join(tree.root, CODE), encoding='utf-8') as file:
        problems += unset(said, file.read())
    known = set()
    for struct in HEADERS:
        for name in KERNELS:
            for member in members(header(top, name, struct), struct):
                known.add((struct, member))
                if (struct, member) not in said:
                    problems.append(f'{LIST}: {struct}.{member} of {name} is not thought of')
    return list(dict.fromkeys(problems)) + [
        f'{LIST}: no kernel has {struct}.{name}' for struct, name in said
        if (struct, name) not in known]
