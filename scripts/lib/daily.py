# SPDX-License-Identifier: GPL-2.0-only
"""
What "make test" leaves to "make test-all", and what finds the same faults every day.

A test in virtual machines says it in its header ("daily" and "instead", see tests/vm/README.rst). Suites,
programs and checks are in the tables here. The page tests/daily.rst is written from both.
"""

import os
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../../tests/vm'))

from harness import errors, testfile  # noqa: E402  pylint: disable=wrong-import-position

PAGE = 'tests/daily.rst'
TESTS = 'tests/vm/tests'
WIDTH = 100


@dataclass(frozen=True)
class Left:
    """
    Something that "make test" leaves out. If a file has changed whose path begins with one of @changed,
    "make test" runs it all the same. @rest are arguments with which the program runs every day.
    """
    finds: str
    instead: str
    changed: tuple = ()
    rest: list = field(default_factory=list)

    def is_due(self, files):
        return any(name.startswith(self.changed) for name in files)


SUITES = {
    'debug': Left(
        'Use after free, leaks, wrong order of locks and sleeping in atomic context, with preemption '
        'and, in some tests, two processors; and that the harness reports them.',
        'User Mode Linux has the same checkers on one processor (``uml``, ``kunit``). '
        '``torture_loopback``, ``diag_storm``, ``hostile_writer`` and ``socket_fuzz`` use two '
        'processors on a stock kernel.'),
    'long': Left(
        'Scripts for User Mode Linux that take many minutes each: devices and links that go at '
        'many moments (``removal``), namespaces that go while their links end (``namespaces``), many '
        'clients at once (``forming``, ``torture``), monitoring meanwhile (``monitor``), tshark as '
        'another reader of all messages (``dissect``), two links over software RoCE (``links``), '
        'faults of an RDMA device (``memrdma``), the '
        'socket tests over SMC-R (``RDMA_TYPE=mem``), and each call that can fail, in programs that '
        'do not block (``--faults``).',
        '``paths``, ``talk``, ``hostile``, ``sockfuzz`` and, over the device in memory, ``links`` in '
        'the suite ``uml``; '
        '``--faults`` for programs that block; ``smcr_forming``, ``smcr_netlink`` and ``memrdma`` on '
        'a stock kernel; in place of tshark, the module of the distribution (``smcr_intree``, '
        '``smcr_intree_ports``); of the socket tests over SMC-R, ``missing_pages_rdma``. Only '
        '``make test-all`` deletes a namespace while its links end.'),
}
PROGRAMS = {
    'tests/vm/selfcheck': Left(
        'A harness that does not notice a warning, a leak, a hang, or a plan that was not kept: each '
        'in a guest with that defect.',
        '``harness_test.py`` and ``uml_test.py`` in ``tests/selfcheck``: from what a guest says to the verdict.',
        ('tests/vm/harness/', 'tests/vm/guest/', 'tests/vm/lib.sh', 'tests/vm/run', 'tests/vm/selfcheck',
         'tests/selfcheck/'),
        ['--units']),
    'tests/install/run': Left(
        'Files that ``make install`` and DKMS forget, leave behind, or put where ``modprobe`` does not '
        'find them.',
        'nothing.',
        ('Makefile', 'Kbuild', 'net/smc/Kbuild', 'Kconfig', 'dkms.conf', 'scripts/install',
         'scripts/check-', 'scripts/lib/kernel.sh', 'scripts/lib/known.sh', 'scripts/lib/say.sh', 'tools/Makefile',
         'tests/install/')),
    'scripts/budget': Left(
        'A test of ``make test`` that has become dear, or a new one that is: ``tests/budget.txt``.',
        'nothing fails; ``make test`` shows the ten dearest.'),
}
SMALLER = {
    'tests/uml/hostile': Left(
        'A hostile peer of SMC-R, in both roles and versions.',
        'the client of version 2 and the server of version 1.'),
    'tests/uml/sockfuzz': Left(
        'Socket calls at random under all checkers, over SMC-D and SMC-R.',
        '10 seconds each in place of 30.'),
    'tests/uml/links': Left(
        'Connections that outlive one of two links, in both versions, whether a device or its '
        'network device goes.',
        'devices go in version 2, network devices in version 1.'),
    'tests/uml/paths': Left(
        'SMC-R over VLANs and routers, with ports that the operator has named.',
        'VLANs with IPv4, routers with IPv6.'),
    'tests/uml/talk': Left(
        'Two programs that talk over SMC-R in every way, in both versions.',
        'half of the ways in each version.'),
}
CHECKS = {
    'build-13': Left(
        "Warnings of the compiler and of sparse with the headers and options of Debian 13's kernel; on "
        'Debian 13 that is another compiler, too.',
        '``build-6.12``: the same series of the kernel.'),
}

HEAD = '''\
.. SPDX-License-Identifier: GPL-2.0-only
.. Written by "scripts/check --update daily" from the headers of the tests and scripts/lib/daily.py

=================================
What make test leaves to test-all
=================================

``make test`` runs most tests on one kernel, some on two, some on none, and some with fewer cases.
``make test-all`` runs each test in full size on all its stock kernels, the tests that name a debug
kernel on that too (suite ``debug``), and everything that is listed here. An entry says which faults
it finds, and after "Daily" what ``make test`` runs of it, or what else finds the same faults there.
Only ``make test-all`` finds the other faults. A test that an entry names can itself have fewer
cases in ``make test``. A file has changed if it differs from ``origin/main``, or, in a clone
without that branch, from the last commit.
'''


def is_sometimes_left(test):
    """Does the test, a program with arguments, not run in each "make test"?"""
    return any(program in test.split() for program in PROGRAMS)


def title(text):
    return f'\n{text}\n{"=" * len(text)}\n\n'


def entry(name, *sentences):
    """One entry of a definition list."""
    lines = textwrap.wrap(' '.join(sentences), WIDTH - 4, break_on_hyphens=False,
                          break_long_words=False)
    return f'{name}\n' + ''.join(f'    {line}\n' for line in lines)


def entry_of(name, left):
    when = ('``make test`` runs all of it when one of these has changed: '
            + ', '.join(f'``{path}``' for path in left.changed) + '.' if left.changed else '')
    return entry(name, left.finds, f'Daily: {left.instead}', when)


def all_tests(tree):
    return testfile.find([], Path(tree.path(TESTS)))


def left_tests(tree):
    """The tests in virtual machines that do not run on all their stock kernels every day."""
    return [test for test in all_tests(tree) if not test.daily
            or set(test.daily) != {name for name in test.kernels if name.startswith('stock-')}]


def entry_of_test(test, instead):
    return entry(f'``{test.name}``', test.proves, f'Daily: {instead}')


def entries_of_kernels(tests):
    """One entry for each choice of kernels, then one for each test that says what else finds a fault."""
    names, others = {}, []
    for test in tests:
        left = [name for name in test.kernels
                if name.startswith('stock-') and name not in test.daily]
        choice = f'On {" and ".join(test.daily)}, not on {" and ".join(left)}'
        names.setdefault(choice, []).append(f'``{test.name}``')
        if test.instead:
            others.append(entry_of_test(test, test.instead))
    return [entry(choice, ', '.join(names[choice])) for choice in sorted(names)] + others


def page(tree):
    tests = left_tests(tree)
    return ''.join([
        HEAD,
        title('Suites, programs and checks'),
        *(entry_of(f'Suite ``{name}``', left) for name, left in SUITES.items()),
        *(entry_of(f'``{name}``', left) for name, left in PROGRAMS.items()),
        *(entry_of(f'Check ``{name}``', left) for name, left in CHECKS.items()),
        title('Tests with fewer cases'),
        *(entry_of(f'``{name}``', left) for name, left in SMALLER.items()),
        *(entry_of_test(test, test.smaller) for test in all_tests(tree) if test.smaller),
        title('Tests in virtual machines, on no kernel'),
        *(entry_of_test(test, test.instead) for test in tests if not test.daily),
        title('Tests in virtual machines, on fewer kernels'),
        *entries_of_kernels([test for test in tests if test.daily])])


def daily(tree):
    """Tests without a word on what finds the same faults every day, and a page that is not current."""
    if not tree.has(TESTS):
        return []
    try:
        tests, wanted = left_tests(tree), page(tree)
    except errors.Trouble as trouble:
        return [str(trouble).removeprefix(f'{tree.root}/')]
    problems = [f'{TESTS}/{test.name}.sh: no text that says what it proves'
                for test in tests if not test.proves]
    problems += [f'{TESTS}/{test.name}.sh: "# daily: none" without "# instead:"'
                 for test in tests if not test.daily and not test.instead]
    problems += [f'{TESTS}/{test.name}.sh: "# variables: DAILY" without "# smaller:"'
                 for test in all_tests(tree) if 'DAILY' in test.variables and not test.smaller]
    problems += [f'{TESTS}/{test.name}.sh: no "# kernels:" at the beginning of a line'
                 for test in all_tests(tree) if '\n# kernels: ' not in tree.read(f'{TESTS}/{test.name}.sh')]
    problems += [f'{TESTS}/{test.name}.sh: "# smaller:" without "# variables: DAILY"'
                 for test in all_tests(tree) if test.smaller and 'DAILY' not in test.variables]
    problems += [f'{name}: looks at DAILY, and is not in SMALLER of scripts/lib/daily.py'
                 for name in tree.below('tests/uml') if name not in (*SMALLER, 'tests/uml/run')
                 and 'DAILY' in tree.read(name)]
    if not tree.has(PAGE) or tree.read(PAGE) != wanted:
        problems.append(f'{PAGE}: "scripts/check --update daily" writes another page')
    return problems


def update(tree):
    with open(tree.path(PAGE), 'w', encoding='utf-8') as file:
        file.write(page(tree))
