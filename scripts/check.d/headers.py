# SPDX-License-Identifier: GPL-2.0-only
"""Kernels for tests of check-kernel: all that the modules need, and nothing else."""

import os

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def listed(name):
    """The lines of a list below net/smc."""
    with open(os.path.join(TOP, 'net/smc', name), encoding='utf-8') as file:
        return [line.rstrip('\n') for line in file if line.strip() and line[0] != '#']


def struct(name):
    """One of TCP's tables, with the members of all kernels."""
    members = [line.split(':')[0].split(' ')[1] for line in listed('ops/proto_tables.txt')
               if line.startswith(name + ' ')]
    return f'struct {name} {{\n' + ''.join(
        f'\tint\t(*{member})(struct sock *sk,\n\t\t\t\tint x);\n'
        for member in members) + '} __randomize_layout;\n'


def known_kernel(write, kdir, source, *options):
    """Writes the build folder and the headers of a kernel with these options."""
    write(source + '/include/linux/net.h', struct('proto_ops'))
    write(source + '/include/net/sock.h', struct('proto'))
    write(source + '/arch/x86/include/asm/x.h', '')
    write(kdir + '/Makefile', f'include {os.path.relpath(source, kdir)}/Makefile\n')
    write(kdir + '/include/generated/utsrelease.h', '#define UTS_RELEASE "6.99-test"\n')
    write(kdir + '/include/config/auto.conf', ''.join(
        f'CONFIG_{option}\n' for option in ('MODULES=y', 'NET=y', 'INET=y', *options)))
    names = {line.split(',')[0].split(' ')[1] for line in listed('symbols.txt')}
    write(kdir + '/Module.symvers', ''.join(
        f'0x00000000\t{name}\tvmlinux\tEXPORT_SYMBOL\t\n' for name in sorted(names)))
