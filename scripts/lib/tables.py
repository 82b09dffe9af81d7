# SPDX-License-Identifier: GPL-2.0-only
"""
Members of TCP's tables of operations that nobody has thought of.

In SMC mode a socket has our struct proto_ops and our struct proto, copies of TCP's in which members
are replaced. A member that a newer kernel adds would reach TCP's byte stream past us, so each member
of each supported kernel has to be in net/smc/ops/proto_tables.txt: as "ours", and then
proto_tables.c sets it, or as "tcp", with the reason why TCP's does no harm. A build (check-kernel)
refuses a kernel that has another one. It also refuses one that lacks a member which is "ours", so
those which proto_tables.c sets only #ifdef SMC_HAVE_... have to say in which kernels they are:
"ours, since 6.5".
"""

import glob
import os
import re
import subprocess

from lint import CannotRun, kernel

LIST = 'net/smc/ops/proto_tables.txt'
CODE = 'net/smc/ops/proto_tables.c'
KERNELS = 'stock-6.12', 'stock-6.1', 'stock-13'
HEADERS = {'proto_ops': 'linux/net.h', 'proto': 'net/sock.h'}
SETS = re.compile(r'\b(ops|prot)->(\w+) =')


def members(top, name, struct):
    """Names of the members of a struct, as a build for this kernel reads them."""
    pattern = os.path.join(kernel(top, name), 'usr/src/linux-headers-*-common/include',
                           HEADERS[struct])
    paths = glob.glob(pattern)
    if not paths:
        raise CannotRun(f'{name} has no {HEADERS[struct]}')
    done = subprocess.run(['awk', '-v', 'struct=' + struct, '-f',
                           os.path.join(top, 'scripts/lib/members.awk'), paths[0]],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise CannotRun(f'{name} has no struct {struct}')
    return [line[len(struct) + 1:] for line in done.stdout.splitlines()]


def thought_of(text):
    """The list: what is said of each (struct, member); and lines that say nothing."""
    said, problems = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        match = re.match(r'(proto_ops|proto) (\w+): (ours|ours, \S.*|tcp, \S.*)$', line)
        if match:
            said[match.group(1), match.group(2)] = match.group(3)
        else:
            problems.append(f'{LIST}:{number}: not "STRUCT MEMBER: ours", nor "tcp, REASON"')
    return said, problems


def set_in(code):
    """What the code sets, each (struct, member), and whether only where the kernel has it."""
    found, optional = {}, []
    for line in code.splitlines():
        if re.match(r'#\s*if', line):
            optional.append('SMC_HAVE_' in line)
        elif re.match(r'#\s*endif', line):
            optional.pop()
        for variable, name in SETS.findall(line):
            found['proto_ops' if variable == 'ops' else 'proto', name] = any(optional)
    return found


def unlike(said, code):
    """Members of which the list and the code say different things."""
    found, problems = set_in(code), []
    for (struct, name), what in said.items():
        if what.startswith('tcp'):
            continue
        if (struct, name) not in found:
            problems.append(f'{LIST}: {struct}.{name} is not set in {CODE}')
        elif found[struct, name] != (what != 'ours'):
            problems.append(f'{LIST}: {struct}.{name} is set in {CODE} for '
                            f'{"some kernels" if what == "ours" else "all kernels"}')
    return problems


def tables(tree, top):
    """Each member of both structs, in each kernel."""
    if not os.path.exists(os.path.join(tree.root, LIST)):
        return []
    with open(os.path.join(tree.root, LIST), encoding='utf-8') as file:
        said, problems = thought_of(file.read())
    with open(os.path.join(tree.root, CODE), encoding='utf-8') as file:
        problems += unlike(said, file.read())
    known = set()
    for struct in HEADERS:
        for name in KERNELS:
            for member in members(top, name, struct):
                known.add((struct, member))
                if (struct, member) not in said:
                    problems.append(f'{LIST}: {struct}.{member} of {name} is not thought of')
    return list(dict.fromkeys(problems)) + [
        f'{LIST}: no kernel has {struct}.{name}' for struct, name in said
        if (struct, name) not in known]
