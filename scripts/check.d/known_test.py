#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Kernels that check-kernel has to refuse, since AF_SMC does not know what they have or lack."""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
TOP = os.path.dirname(SCRIPTS)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SCRIPTS, 'lib'))

import symbols  # noqa: E402
from headers import known_kernel, listed  # noqa: E402
from tables import KERNELS  # noqa: E402
from tree import Tree  # noqa: E402


class Case(unittest.TestCase):
    """A temporary folder."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding='utf-8') as file:
            return file.read()

    def replace(self, name, pattern, text):
        old = self.read(name)
        new = re.sub(pattern, text, old, count=1, flags=re.MULTILINE)
        self.assertNotEqual(old, new)
        self.write(name, new)

    def check(self, kdir, **environment):
        return subprocess.run([os.path.join(SCRIPTS, 'check-kernel'), kdir], cwd='/', text=True,
                              env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


class Headers(Case):
    """Headers of a kernel that has all that is listed, and then not quite."""

    def setUp(self):
        super().setUp()
        known_kernel(self.write, 'kdir', 'source', 'SMC=m', 'INFINIBAND=y')

    def accepted(self, said='', **environment):
        done = self.check(self.folder + '/kdir', **environment)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, '6.99-test: smc smc_diag smc_rdma\n', said))

    def refused(self, what):
        what = f'check-kernel: kernel 6.99-test is not known to AF_SMC: it {what}; '
        done = self.check(self.folder + '/kdir')
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, '', what + 'set ANY_KERNEL=1 to build anyway\n'))
        self.accepted(what + 'building anyway\n', ANY_KERNEL='1')

    def add(self, member):
        self.replace('source/include/linux/net.h', r'^\tint\t\(\*bind\)', f'\t{member}\n\\g<0>')

    def test_all_is_known(self):
        self.accepted()

    def test_unknown_operation(self):
        self.add('int (*read_all)(struct socket *sock, /* buf */ void *buf);')
        self.refused('has proto_ops.read_all')

    def test_unknown_member_of_proto(self):
        self.replace('source/include/net/sock.h', r'^}', '\tstruct { int a; } more, *most;\n}')
        self.refused('has proto.more, proto.most')

    def test_unknown_member_of_a_configuration(self):
        self.add('\n#ifdef CONFIG_X\n\tint x1;\n#define Y \\\n\tint y;\n#endif')
        self.refused('has proto_ops.x1')

    def test_declarations(self):
        self.add('union { int a1, *a2; struct { char a3[4]; }; };\tunsigned int a4:1; // int a5;')
        self.refused('has proto_ops.a1, proto_ops.a2, proto_ops.a3, proto_ops.a4')

    def test_declarations_that_cannot_be_read(self):
        for text in ('struct_group(x, int (*y)(void), int z);', 'RESERVE(1);',
                     'void (*(*f)(int))(int);', 'int f __aligned(8);'):
            with self.subTest(text):
                self.setUp()
                self.add(text)
                self.refused('has proto_ops.' + text[:-1])

    def test_no_struct(self):
        self.replace('source/include/net/sock.h', r'^struct proto ', 'struct other ')
        self.refused('has no struct proto_ops or no struct proto that can be read')

    def test_no_end_of_struct(self):
        self.replace('source/include/linux/net.h', r'^}', ' }')
        self.refused('has no struct proto_ops or no struct proto that can be read')

    def test_no_headers(self):
        os.remove(self.folder + '/source/include/net/sock.h')
        self.refused('has no include/linux/net.h and include/net/sock.h')

    def test_missing_operation(self):
        for name in ('read_skb', 'sendpage', 'splice_eof', 'mmap'):
            self.replace('source/include/linux/net.h', rf'^.*\*{name}\)', '\tint (*bind)')
        self.refused('lacks proto_ops.mmap, proto_ops.read_skb')

    def test_operation_of_tcp_is_missing(self):
        self.replace('source/include/linux/net.h', r'^.*\*show_fdinfo\)', '\tint (*bind)')
        self.accepted()

    def test_missing_symbol(self):
        self.replace('kdir/Module.symvers', r'\ttcp_read_sock\t', '\ttcp_read_socks\t')
        self.refused('does not export tcp_read_sock')

    def test_missing_symbols_of_rdma(self):
        self.replace('kdir/Module.symvers', r'\tib_drain_qp\t', '\t_\t')
        self.refused('does not export ib_drain_qp')
        self.replace('kdir/include/config/auto.conf', 'CONFIG_INFINIBAND=y\n', '')
        done = self.check(self.folder + '/kdir')
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_symbol_for_some_modules_only(self):
        self.replace('kdir/Module.symvers', r'(\ttcp_read_sock\t.*\t)$', r'\1module:other')
        self.refused('does not export tcp_read_sock')

    def test_symbol_of_some_kernels_is_missing(self):
        name = next(line.split(' ')[1][:-1] for line in listed('symbols.txt') if ', ' in line)
        self.replace('kdir/Module.symvers', rf'\t{name}\t', '\t_\t')
        self.accepted()

    def test_symbol_became_a_macro_or_inline(self):
        for text in ('#define tcp_read_sock(...) x(__VA_ARGS__)\n',
                     'static inline int tcp_read_sock(struct sock *sk)\n',
                     'static inline int\ntcp_read_sock(struct sock *sk)\n'):
            with self.subTest(text):
                self.setUp()
                self.replace('kdir/Module.symvers', r'\ttcp_read_sock\t', '\t_\t')
                self.write('source/include/net/tcp.h', text)
                self.accepted()
        self.write('source/include/net/tcp.h', 'int tcp_read_sock(struct sock *sk);\n'
                   'static inline int x(struct sock *sk) { return tcp_read_sock_x(sk); }\n')
        self.refused('does not export tcp_read_sock')

    def test_no_symvers(self):
        os.remove(self.folder + '/kdir/Module.symvers')
        self.accepted()

    def test_all_differences(self):
        self.add('int x;')
        self.replace('source/include/linux/net.h', r'^.*\*read_skb\)', '\tint (*bind)')
        self.replace('kdir/Module.symvers', r'\ttcp_read_sock\t', '\t_\t')
        self.refused('has proto_ops.x; lacks proto_ops.read_skb; does not export tcp_read_sock')

    def test_places_of_headers(self):
        """As of Debian's packages, of a build in the source, and of an installed one."""
        self.add('int x;')
        for makefile, place in (
                ('include $(abspath $(dir $(realpath $(lastword $(MAKEFILE_LIST))))../source)/Makefile',
                 None), (f'include {self.folder}/source/Makefile', None), ('', 'kdir/include'),
                ('', 'kdir/source/include')):
            with self.subTest(makefile or place):
                self.write('kdir/Makefile', makefile + '\n')
                if place:
                    shutil.copytree(self.folder + '/source/include', f'{self.folder}/{place}',
                                    dirs_exist_ok=True)
                self.refused('has proto_ops.x')
                if place:
                    shutil.rmtree(f'{self.folder}/{place}/net')

    def test_make(self):
        self.add('int x;')
        done = subprocess.run(['make', '-s', '-C', TOP, '--no-print-directory', 'modules',
                               f'KDIR={self.folder}/kdir'], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('it has proto_ops.x; set ANY_KERNEL=1', done.stderr.splitlines()[0])
        self.write('source/Makefile', 'modules:\n\t@echo building\n')
        done = subprocess.run(['make', '-s', '-C', TOP, '--no-print-directory', 'modules',
                               f'KDIR={self.folder}/kdir', 'ANY_KERNEL=1'], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, 'building\n'))
        self.assertIn('it has proto_ops.x; building anyway', done.stderr)


def processor_seconds(function):
    """How long the processes that a function starts keep a processor busy, and what it returns."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    value = function()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, value


class Debian(Case):
    """The kernels that are supported."""

    def test_supported(self):
        for name in KERNELS:
            with self.subTest(name):
                folder = subprocess.run([os.path.join(TOP, 'tests/kernels/get'), name], text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        check=True).stdout.strip()
                seconds, done = processor_seconds(lambda: self.check(f'{folder}/build'))
                once, _ = processor_seconds(lambda: self.read_headers(folder))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn('not known', done.stderr)
                self.assertIn(': smc smc_diag smc_rdma\n', done.stdout)
                # It reads the headers a few times, not for each symbol
                self.assertLess(seconds, 40 * once)

    @staticmethod
    def read_headers(folder):
        """Of a package of Debian, once."""
        subprocess.run(f'grep -rc tcp_read_sock {folder}/usr/src/*/include', shell=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


class Symbols(Case):
    """The list of symbols, compared with modules."""

    def problems(self, text):
        self.write('net/smc/symbols.txt', text)
        return symbols.symbols(Tree(self.folder), self.folder, 'stock-x')

    def setUp(self):
        super().setUp()
        self.write('net/smc/a.c', '/* in_comment() */\n#include <x.h>\n'
                   'int own(void) { first(); second(); log("in_string"); memcpy(a, b, c); }\n'
                   'EXPORT_SYMBOL_GPL(own);\n')
        for name, calls in (('smc', 'first second in_comment in_string memcpy inlined'),
                            ('smc_diag', 'own'), ('smc_rdma', 'first')):
            self.write(f'{name}.c', ''.join(f'int {call}(void);\n' for call in calls.split())
                       + 'int f(void)\n{\n\treturn '
                       + ' + '.join(f'{call}()' for call in calls.split()) + ';\n}\n')
            subprocess.run(['cc', '-w', '-fno-builtin', '-c', '-o', f'{self.folder}/{name}.ko',
                            f'{self.folder}/{name}.c'], check=True)

    def test_right(self):
        self.assertEqual(self.problems('# comment\n\nsmc first\nsmc second, since 6.1\n'
                                       'smc log, since 9.9\nsmc_rdma first\n'), [])

    def test_wrong(self):
        where = 'net/smc/symbols.txt'
        self.assertEqual(self.problems('smc first\nsmc log\nsmc_other x\nsmc_rdma\n'), [
            f'{where}:3: not "MODULE SYMBOL", nor "MODULE SYMBOL, WHERE"',
            f'{where}:4: not "MODULE SYMBOL", nor "MODULE SYMBOL, WHERE"',
            f'{where}: smc needs second of stock-x, which is not listed',
            f'{where}: smc does not need log of stock-x',
            f'{where}: smc_rdma needs first of stock-x, which is not listed'])

    def test_no_list(self):
        self.assertEqual(symbols.symbols(Tree(self.folder), self.folder, 'stock-x'), [])


if __name__ == '__main__':
    unittest.main()
