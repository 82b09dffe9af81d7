#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Bad input at the front door: one sentence, an error exit, and nothing changed."""

import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SCRIPTS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
TOP = os.path.dirname(SCRIPTS)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, 'tests', 'vm'))

from harness import cli, testfile   # noqa: E402
from headers import known_kernel   # noqa: E402
NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] \
    if os.getuid() == 0 else []


class Case(unittest.TestCase):
    """A temporary folder, and a program that has to refuse."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        os.chmod(self.folder, 0o755)

    def run_program(self, *command, **environment):
        return subprocess.run(command, env={**os.environ, **environment}, cwd='/', text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)

    def refused(self, sentence, *command, **environment):
        done = self.run_program(*command, **environment)
        self.assertNotEqual(done.returncode, 0)
        lines = [line for line in done.stderr.splitlines() if not line.startswith('make: ***')]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn(sentence, lines[0])
        self.assertEqual(done.stdout, '')

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path


class Kernel(Case):
    """check-kernel, alone and as what make asks first."""

    program = os.path.join(SCRIPTS, 'check-kernel')

    def kernel(self, *options):
        known_kernel(self.file, 'kdir', 'source', *options)
        return os.path.join(self.folder, 'kdir')

    def test_good(self):
        done = self.run_program(self.program, self.kernel('SMC=m', 'INFINIBAND=m'))
        self.assertEqual(done.stdout, '6.99-test: smc smc_diag smc_rdma\n')
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_without_infiniband(self):
        done = self.run_program(self.program, self.kernel('SMC=m'))
        self.assertEqual((done.returncode, done.stdout), (0, '6.99-test: smc smc_diag\n'))

    def test_smc_off(self):
        self.refused('kernel 6.99-test has CONFIG_SMC off', self.program, self.kernel())

    def test_modules_off(self):
        kdir = self.kernel('SMC=m')
        self.file('kdir/include/config/auto.conf', 'CONFIG_NET=y\nCONFIG_INET=y\nCONFIG_SMC=m\n')
        self.refused('CONFIG_MODULES off', self.program, kdir)

    def test_similar_option(self):
        self.refused('CONFIG_SMC off', self.program, self.kernel('SMC_DIAG=m', 'MAX_SMC=y'))

    def test_unknown_folder(self):
        self.refused('does not exist', self.program, self.folder + '/none')

    def test_headers_not_installed(self):
        self.refused('install linux-headers-1.2-none', self.program, '/lib/modules/1.2-none/build')

    def test_no_kernel(self):
        self.refused('not a kernel build folder', self.program, self.folder)

    def test_not_prepared(self):
        kdir = self.kernel('SMC=m')
        os.remove(kdir + '/include/generated/utsrelease.h')
        self.refused('not prepared', self.program, kdir)

    def test_no_argument(self):
        self.refused('usage', self.program)

    def test_compiler_missing(self):
        kdir = self.kernel('SMC=m', 'CC_VERSION_TEXT="x86_64-linux-gnu-gcc-99 (Debian) 99.1"')
        done = self.run_program(self.program, kdir)
        self.assertEqual(done.returncode, 0)
        self.assertIn('compiler gcc-99, which built kernel 6.99-test, is not', done.stderr)

    def test_compiler_of_debian_missing(self):
        kdir = self.kernel('SMC=m', 'CC_VERSION_TEXT="x86_64-linux-gnu-gcc-99 (Debian) 99.1"')
        self.file('kdir/.kernelvariables', 'CC = gcc-99\n')
        self.refused('compiler gcc-99, which built kernel 6.99-test, is not installed',
                     self.program, kdir)

    def test_make(self):
        self.refused('does not exist', 'make', '-s', '-C', TOP, '--no-print-directory',
                     'KDIR=' + self.folder + '/none')

    def test_make_install(self):
        self.refused('CONFIG_SMC off', 'make', '-s', '-C', TOP, '--no-print-directory', 'install',
                     'KDIR=' + self.kernel(), 'DESTDIR=' + self.folder + '/dest')
        self.assertFalse(os.path.exists(self.folder + '/dest'))


class Needs(Case):
    """check-packages, alone and as what make asks first, with few programs in the path."""

    program = os.path.join(SCRIPTS, 'check-packages')
    basics = ('bash', 'sh', 'make', 'sed', 'sort', 'paste', 'dirname', 'uname', 'cat')

    def path(self, *others):
        """A folder with the usual programs, and these."""
        folder = os.path.join(self.folder, 'path')
        os.makedirs(folder, exist_ok=True)
        for name in (*self.basics, *others):
            if not os.path.exists(f'{folder}/{name}'):
                os.symlink(shutil.which(name), f'{folder}/{name}')
        return folder

    def path_with_compiler(self):
        """A compiler may itself look for others in the path, as that of ccache does."""
        folder = self.path()
        command = shlex.join(['env', 'PATH=' + os.environ['PATH'], shutil.which('cc')])
        os.chmod(self.file('path/cc', f'#!/bin/sh\nexec /usr/bin/{command} "$@"\n'), 0o755)
        return folder

    def none_installed(self, command, packages, path, **environment):
        self.refused('missing packages; run as root: apt-get install --no-install-recommends '
                     + packages, *command, PATH=path, **environment)

    def test_nothing_is_missing(self):
        done = self.run_program(self.program, '/lib/modules/x', 'tools', 'install')
        self.assertEqual((done.returncode, done.stdout), (0, ''))

    def test_pkg_config(self):
        self.none_installed((self.program, self.folder, 'tools'), 'clang libbpf-dev libc6-dev '
                            'libnl-genl-3-dev pkg-config', self.path('false'), CC='false')

    def test_all(self):
        self.none_installed((self.program, '/lib/modules/1.2-none/build', 'modules', 'tools',
                             'install'),
                            'clang gcc kmod libbpf-dev libc6-dev libnl-genl-3-dev '
                            'linux-headers-1.2-none pkg-config', self.path())

    def test_modules_need_no_tools(self):
        self.none_installed((self.program, '/lib/modules/1.2-none/build', 'modules'),
                            'linux-headers-1.2-none', self.path_with_compiler())

    def test_compiler_of_the_kernel(self):
        self.file('kdir/.kernelvariables', 'CC = $(CROSS_COMPILE)gcc-99\n')
        self.none_installed((self.program, self.folder + '/kdir', 'modules'), 'gcc-99',
                            self.path_with_compiler())

    def test_bpf_is_not_required(self):
        done = self.run_program(self.program, self.folder, 'tools', CLANG='no-such-clang')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))

    def test_make(self):
        for goal in ('all', 'tools', 'install'):
            with self.subTest(goal):
                self.none_installed(('make', '-s', '-j2', '-C', TOP, '--no-print-directory', goal,
                                     'KDIR=' + self.folder), 'clang', self.path('false'),
                                    CC='false')

    def test_tools_alone(self):
        self.refused('the tools need the packages', 'make', '-s', '-C', TOP + '/tools',
                     '--no-print-directory', 'O=' + self.folder + '/out',
                     PATH=self.path_with_compiler())

    def test_bad_words(self):
        self.refused("unknown purpose 'all'", self.program, self.folder, 'all')
        self.refused('usage', self.program, self.folder)


class Packages(Case):
    """install-packages with a list of its own."""

    program = os.path.join(SCRIPTS, 'install-packages')

    def list(self, *lines):
        return self.file('packages', '# comment\n' + ''.join(line + '\n' for line in lines))

    def path_of_user(self, uid):
        """A PATH whose id(1) says so: a real other user may not be able to read this tree."""
        self.file('bin/id', f'#!/bin/sh\necho {uid}\n')
        os.chmod(self.folder + '/bin/id', 0o755)
        return self.folder + '/bin:' + os.environ['PATH']

    def test_all_installed(self):
        done = self.run_program(self.program, 'build', SMC_PACKAGES=self.list('build dpkg'))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))

    def test_missing_without_root(self):
        packages = self.list('build dpkg', 'build no-such-package', 'test neither-this')
        self.refused('missing packages; run as root: apt-get install --no-install-recommends '
                     'no-such-package', self.program, 'build', SMC_PACKAGES=packages,
                     PATH=self.path_of_user(65534))

    def test_only_check(self):
        packages = self.list('build no-such-package')
        self.refused('missing packages', self.program, '--check', 'build', SMC_PACKAGES=packages)

    def dpkg(self, **provides):
        """What dpkg knows as installed: packages, each with what it provides."""
        return os.path.dirname(self.file('dpkg/status', ''.join(
            f'Package: {name.replace("_", "-")}\nStatus: install ok installed\nVersion: 1-1\n'
            f'Architecture: amd64\nMaintainer: x <x@example.com>\nDescription: x\n'
            + (f'Provides: {names}\n' if names else '') + '\n'
            for name, names in provides.items())))

    def test_provided_under_another_name(self):
        """As Debian 13 does for packages with 64-bit times."""
        admin = self.dpkg(libother='', libelf1t64='libelf9 (= 0.192-4), libelf1 (= 0.192-4)')
        packages = self.list('build libelf1', 'build libelf1t64', 'build libelf9', 'build libother')
        done = self.run_program(self.program, 'build', SMC_PACKAGES=packages, DPKG_ADMINDIR=admin)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))

    def test_similar_name_does_not_provide(self):
        admin = self.dpkg(libelf1t64='libelf10, xlibelf1', removed='')
        status = self.folder + '/dpkg/status'
        with open(status, encoding='utf-8') as file:
            text = file.read()
        self.file('dpkg/status', text.replace('Package: removed\nStatus: install ok installed',
                                              'Package: removed\nStatus: deinstall ok config-files'))
        self.refused('--no-install-recommends libelf1 removed', self.program, '--check', 'build',
                     SMC_PACKAGES=self.list('build libelf1', 'build removed'), DPKG_ADMINDIR=admin)

    def test_one_of_two(self):
        """A name that has the version of a release of Debian."""
        for name in ('libtwo1.1+a', 'libtwo1.2'):
            admin = self.dpkg(**{name: ''})
            packages = self.list('build libtwo1.1+a|libtwo1.2')
            done = self.run_program(self.program, 'build', SMC_PACKAGES=packages,
                                    DPKG_ADMINDIR=admin)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))
        self.refused('--no-install-recommends libtwo1.1+a', self.program, '--check', 'build',
                     SMC_PACKAGES=packages, DPKG_ADMINDIR=self.dpkg(other=''))
        packages = self.list('build no-such-package1|libc6')
        self.refused('--no-install-recommends libc6', self.program, '--check', 'build',
                     SMC_PACKAGES=packages, DPKG_ADMINDIR=self.dpkg(other=''))

    def test_unknown_set(self):
        self.refused("unknown set 'nosuch' (sets: build test)", self.program, 'build', 'nosuch',
                     SMC_PACKAGES=self.list('build dpkg', 'test dpkg'))

    def test_no_set(self):
        self.refused('usage', self.program, SMC_PACKAGES=self.list('build dpkg'))

    def test_no_network(self):
        """A root whose apt-get fails like the real one without a network."""
        path = self.path_of_user(0)
        self.file('bin/apt-get', '#!/bin/sh\necho "E: Failed to fetch a/file" >&2\nexit 100\n')
        os.chmod(self.folder + '/bin/apt-get', 0o755)
        done = self.run_program(self.program, 'build', PATH=path, TMPDIR=self.folder,
                                SMC_PACKAGES=self.list('build no-such-package'))
        self.assertEqual(done.returncode, 1)
        last = done.stderr.splitlines()[-1]
        self.assertIn('cannot download no-such-package: Failed to fetch a/file (no network?)', last)


class Fetching(Case):
    """Kernels for the tests and the demo, with an empty cache."""

    program = os.path.join(TOP, 'tests', 'kernels', 'get')

    def last_sentence(self, *command, **environment):
        done = self.run_program(*command, XDG_CACHE_HOME=self.folder + '/cache', **environment)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn('Traceback', done.stderr)
        return done.stderr.splitlines()[-1]

    def test_no_network(self):
        self.file('bin/apt-get', '#!/bin/sh\ncase $* in\n*update | *download*)\n'
                  'echo "E: Failed to fetch a/file" >&2\nexit 100 ;;\nesac\n'
                  f'exec {shutil.which("apt-get")} "$@"\n')
        os.chmod(self.folder + '/bin/apt-get', 0o755)
        last = self.last_sentence(self.program, 'stock-6.12',
                                  PATH=self.folder + '/bin:' + os.environ['PATH'])
        self.assertIn('likely cause: no network', last)
        self.assertFalse(os.path.exists(self.folder + '/cache/smc/kernels/stock-6.12/current'))

    def sources(self, kernel, text, name='debian.sources', origins=()):
        """
        The private sources for this kernel on a system with these. There is no network; origins
        are of the Release files that apt has already.
        """
        self.file('bin/apt-get', '#!/bin/sh\ncase $* in\n*update) exit 100 ;;\nesac\n'
                  f'exec {shutil.which("apt-get")} "$@"\n')
        os.chmod(self.folder + '/bin/apt-get', 0o755)
        shutil.rmtree(self.folder + '/etc', ignore_errors=True)
        shutil.rmtree(self.folder + '/cache', ignore_errors=True)
        os.makedirs(self.folder + '/lists/partial', exist_ok=True)
        self.file('etc/' + name, text)
        for site, release, origin in origins:
            self.file(f'lists/{site}_dists_{release}_InRelease',
                      f'Origin: {origin}\nSuite: {release}\nCodename: {release}\n'
                      'Date: Sat, 01 Aug 2026 00:00:00 UTC\nArchitectures: amd64\n'
                      'Components: main\nSHA256:\n '
                      f'{"0" * 64} 100 main/binary-amd64/Packages\n')
            self.file(f'lists/{site}_dists_{release}_main_binary-amd64_Packages', '')
        config = self.file('apt.conf', f'Dir::Etc::sourcelist "/dev/null";\n'
                           f'Dir::Etc::sourceparts "{self.folder}/etc";\n'
                           f'Dir::State::lists "{self.folder}/lists";\n')
        self.last_sentence(self.program, kernel, APT_CONFIG=config,
                           PATH=self.folder + '/bin:' + os.environ['PATH'])
        lines = []
        for folder, _, names in os.walk(self.folder + '/cache/smc/kernels/apt'):
            if 'sources.list' in names:
                with open(folder + '/sources.list', encoding='utf-8') as file:
                    lines += [line.split('] ')[1] for line in file.read().splitlines()]
        return lines

    deb822 = ('Types: deb\nURIs: http://a.example/debian\nSuites: {0} {0}-updates\n'
              'Components: main\n\nTypes: deb\nURIs: http://b.example/security\n'
              'Suites: {0}-security\nComponents: main\n')
    one_line = ('deb cdrom:[Debian]/ {0} main\ndeb http://a.example/debian {0} main contrib\n'
                'deb-src http://c.example/debian {0} main\n'
                'deb [arch=amd64] http://b.example/security {0}-security main\n')

    def test_sources_of_any_release(self):
        """A mirror has all releases, so the system's own release tells it."""
        for release in ('bookworm', 'trixie', 'stable'):
            for name, text in (('debian.sources', self.deb822), ('debian.list', self.one_line)):
                for kernel, suite in (('stock-6.1', 'bookworm'), ('stock-13', 'trixie')):
                    with self.subTest(f'{kernel} from {name} of {release}'):
                        self.assertEqual(self.sources(kernel, text.format(release), name), [
                            f'http://a.example/debian/ {suite} main',
                            f'http://a.example/debian/ {suite}-updates main',
                            f'http://b.example/security/ {suite}-security main'])

    def test_sources_of_backports(self):
        self.assertEqual(self.sources('stock-6.12', self.deb822.format('trixie')),
                         ['http://a.example/debian/ bookworm-backports main'])

    def test_sources_without_security(self):
        text = 'deb http://a.example/debian trixie main\n'
        self.assertEqual(self.sources('stock-6.1', text, 'a.list'), [
            'http://a.example/debian/ bookworm main',
            'http://a.example/debian/ bookworm-updates main'])

    def test_sources_of_others(self):
        """Others have suites of the same names."""
        text = ('deb http://other.example/docker bookworm stable\n'
                'deb http://other.example/apt bookworm main\n'
                'deb http://a.example/debian trixie main\n')
        origins = [('other.example_apt', 'bookworm', 'Other'),
                   ('a.example_debian', 'trixie', 'Debian')]
        lines = self.sources('stock-6.12', text, 'a.list', origins)
        self.assertEqual(lines, ['http://a.example/debian/ bookworm-backports main'])

    def test_no_sources(self):
        for text in ('', 'deb http://a.example/debian noble main\n'):
            self.assertEqual(self.sources('stock-6.1', text, 'a.list'), [])
            last = self.last_sentence(self.program, 'stock-6.1',
                                      APT_CONFIG=self.folder + '/apt.conf')
            self.assertEqual(last, "kernels: apt has no source for Debian: add it to the system's "
                             'sources')

    def test_unknown_kernel(self):
        self.assertIn('stock-9.9', self.last_sentence(self.program, 'stock-9.9'))

    def test_demo_on_unknown_kernel(self):
        last = self.last_sentence(os.path.join(SCRIPTS, 'demo'), KERNEL='9.9')
        self.assertEqual(last, 'FAILURE: start: KERNEL=9.9 is not known; there are 6.12, 6.1, 13')


class KernelNames(unittest.TestCase):
    """The name that chooses the kernel of Debian 13."""

    def test_demo_shows_the_kernel_of_debian_13_there(self):
        loader = importlib.machinery.SourceFileLoader('demo', os.path.join(SCRIPTS, 'demo'))
        demo = importlib.util.module_from_spec(importlib.util.spec_from_loader('demo', loader))
        loader.exec_module(demo)
        for release, kernel in (({'VERSION_ID': '13'}, '13'), ({'VERSION_ID': '12'}, '6.12'),
                                ({'ID': 'debian'}, '6.12')):
            with mock.patch('platform.freedesktop_os_release', return_value=release):
                self.assertEqual(demo.default_kernel(), kernel)
        with mock.patch('platform.freedesktop_os_release', side_effect=OSError):
            self.assertEqual(demo.default_kernel(), '6.12')

    def test_debian_13_runs_the_tests_for_6_12(self):
        tests = [testfile.Test(name, None, kernels=kernels) for name, kernels in
                 (('new', ['stock-6.12']), ('old', ['stock-6.1']), ('debug', ['debug-6.12']))]
        with mock.patch.dict(os.environ, KERNEL='13', DAILY=''):
            options = cli.parse([])
        self.assertEqual(options.kernel, ['stock-13'])
        chosen = cli.choose_tests(tests, options.kernel[0], options)
        self.assertEqual([test.name for test in chosen], ['new'])


class Modules(Case):
    """install-modules in a staging folder."""

    def setUp(self):
        super().setUp()
        shutil.copytree(SCRIPTS, self.folder + '/tree/scripts', symlinks=True)
        os.makedirs(self.folder + '/tree/net/smc')
        self.program = self.folder + '/tree/scripts/install-modules'
        self.file('kdir/include/generated/utsrelease.h', '#define UTS_RELEASE "6.99-test"\n')
        self.kdir = self.folder + '/kdir'
        self.file('bin/modinfo', '#!/bin/sh\neval "file=\\$$#"\ncat "$file"\n')
        os.chmod(self.folder + '/bin/modinfo', 0o755)
        self.environment = {'DESTDIR': self.folder + '/dest',
                            'PATH': self.folder + '/bin:' + os.environ['PATH']}
        self.target = self.folder + '/dest/lib/modules/6.99-test/updates/smc'

    def test_install_and_uninstall(self):
        self.file('tree/net/smc/smc.ko', '6.99-test SMP\n')
        self.file('dest/lib/modules/6.99-test/updates/other.ko', '')
        done = self.run_program(self.program, 'install', self.kdir, **self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.target), ['smc.ko'])
        done = self.run_program(self.program, 'uninstall', self.kdir, **self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(os.path.dirname(self.target)), ['other.ko'])

    def test_nothing_built(self):
        self.refused('no modules are built', self.program, 'install', self.kdir,
                     **self.environment)
        self.assertFalse(os.path.exists(self.target))

    def test_built_for_another_kernel(self):
        self.file('tree/net/smc/smc.ko', '6.98-test SMP\n')
        self.refused('is not built for kernel 6.99-test', self.program, 'install', self.kdir,
                     **self.environment)
        self.assertFalse(os.path.exists(self.target))

    def test_without_root(self):
        self.file('tree/net/smc/smc.ko', '6.99-test SMP\n')
        self.refused('run as root', *NOBODY, self.program, 'install', self.kdir,
                     **self.environment)

    def test_unknown_kernel(self):
        self.refused('does not name a kernel', self.program, 'uninstall', self.folder,
                     **self.environment)


if __name__ == '__main__':
    unittest.main()
