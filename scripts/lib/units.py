# SPDX-License-Identifier: GPL-2.0-only
"""Units of systemd, beside those with which the distribution boots."""

import os
import re
import shutil
import tempfile

from lint import complaints, kernel, run

BINDIR = '/usr/local/bin'
SYSTEM = 'lib/systemd/system'
WANTED = re.compile(r'^(?:WantedBy|RequiredBy)=(.*)$', re.MULTILINE)
PROGRAM = re.compile(r'^Exec\w+=[-+!@:]*(/\S+)', re.MULTILINE)
IN_CYCLE = re.compile(r': Found (?:ordering cycle|dependency) on (\S+)/\w+')


def write_file(path, text, mode=0o644):
    """A file below folders that may not be there yet."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)


def enable_units(root):
    """Enables all units that have an [Install] section. A generator enables cloud-init.target."""
    links = [('multi-user.target', 'cloud-init.target')]
    for name in os.listdir(f'{root}/{SYSTEM}'):
        path = f'{root}/{SYSTEM}/{name}'
        if os.path.isfile(path) and '@' not in name:
            with open(path, encoding='utf-8') as file:
                links += [(target, name) for line in WANTED.findall(file.read())
                          for target in line.split()]
    for target, name in links:
        folder = f'{root}/etc/systemd/system/{target}.wants'
        os.makedirs(folder, exist_ok=True)
        if not os.path.lexists(f'{folder}/{name}'):
            os.symlink(f'/{SYSTEM}/{name}', f'{folder}/{name}')


def install_unit(tree, name, root):
    """Writes a unit as make install does, and an empty script for each program that it starts."""
    text = tree.read(name).replace('@BINDIR@', BINDIR)
    write_file(f'{root}/{SYSTEM}/{unit_name(name)}', text)
    for program in PROGRAM.findall(text):
        write_file(root + program, '#!/bin/sh\n', 0o755)


def unit_name(name):
    return os.path.basename(name).removesuffix('.in')


def verify_boot(tree, distribution, names):
    """Lets systemd plan a boot with these units: what it says about them, and any ordering cycle."""
    with tempfile.TemporaryDirectory() as folder:
        root = f'{folder}/root'
        shutil.copytree(distribution, root, symlinks=True)
        for name in names:
            install_unit(tree, name, root)
        enable_units(root)
        own = [unit_name(name) for name in names]
        code, output = run(['systemd-analyze', f'--root={root}', '--man=no', 'verify',
                            'multi-user.target', *own], root)
    # systemd enters a cycle anywhere and drops any job of it, but it finds each cycle
    cycle = sorted(set(IN_CYCLE.findall(output)))
    if cycle:
        return [f'ordering cycle, systemd drops one of {" ".join(cycle)}']
    output = output.replace(root, '')
    return ([line for line in output.splitlines() if any(name in line for name in own)] or
            complaints(code, output, root))


def verify_units(tree, top):
    """Settings that systemd does not know, and ordering cycles with the distribution's units."""
    names = tree.below('tools', suffix=('.service.in', '.socket.in'))
    if not names:
        return ['tools: there are no units']
    distribution = kernel(top, 'boot-units')
    problems = [f"the distribution's units alone: {problem}"
                for problem in verify_boot(tree, distribution, [])]
    for name in names:
        problems += [f'{name}: {problem}' for problem in verify_boot(tree, distribution, [name])]
    if not problems:
        problems = [f'all units: {problem}' for problem in verify_boot(tree, distribution, names)]
    return problems
