# SPDX-License-Identifier: GPL-2.0-only
"""
Symbols of the kernel that the modules need, compared with a list of them.

net/smc/symbols.txt has what the code names and all supported kernels have to export, so that a build
can refuse a kernel without it before anything is compiled (check-kernel). What macros and inline
functions of the kernel need differs between kernels, and is not listed. A symbol which the modules
need on some kernels only is listed with these: "smc kmem_cache_charge, on 6.12".
"""

import os
import re
import subprocess

LIST = 'net/smc/symbols.txt'
MODULES = 'smc', 'smc_diag', 'smc_rdma'
# The compiler decides whether it calls these
BUILTIN = re.compile(r'(mem|str)[a-z]+$')
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def named_in(tree):
    """Words in the code, without those exported by it."""
    words, own = set(), set()
    for name in tree.below('net/smc', 'include', suffix=('.c', '.h')):
        code = NO_CODE.sub(' ', tree.read(name))
        words.update(re.findall(r'[A-Za-z_]\w*', code))
        own.update(re.findall(r'\bEXPORT_SYMBOL\w*\((\w+)', code))
    return {word for word in words - own if not BUILTIN.match(word)}


def undefined(path):
    """What a module takes from elsewhere."""
    done = subprocess.run(['nm', '-u', path], stdout=subprocess.PIPE, text=True, check=True)
    return {line.split()[1] for line in done.stdout.splitlines()}


def listed(text):
    """Each (module, symbol), and whether only some kernels need it; and lines that say nothing."""
    said, problems = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        match = re.match(r'(\w+) (\w+)(, \S.*)?$', line)
        if match and match.group(1) in MODULES:
            said[match.group(1), match.group(2)] = bool(match.group(3))
        else:
            problems.append(f'{LIST}:{number}: not "MODULE SYMBOL", nor "MODULE SYMBOL, WHERE"')
    return said, problems


def symbols(tree, folder, kernel):
    """The list, compared with the modules in a folder, which were built for this kernel."""
    if not tree.has(LIST):
        return []
    said, problems = listed(tree.read(LIST))
    words = named_in(tree)
    for module in MODULES:
        needed = undefined(os.path.join(folder, module + '.ko')) & words
        for name in sorted(needed):
            if (module, name) not in said:
                problems.append(f'{LIST}: {module} needs {name} of {kernel}, which is not listed')
        problems += [f'{LIST}: {module} does not need {name} of {kernel}'
                     for (of, name), some in said.items()
                     if of == module and not some and name not in needed]
    return problems
