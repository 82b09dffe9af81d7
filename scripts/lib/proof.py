# SPDX-License-Identifier: GPL-2.0-only
"""Proves that the checks can fail: each one against bad input of its own, all against clean."""

import os
import re
import shutil
import subprocess
import tempfile

from tree import FIXTURES, Tree


def expectations(folder):
    """The lines of a fixture's "expect": one regular expression per problem."""
    with open(os.path.join(folder, 'expect'), encoding='utf-8') as file:
        return [line.rstrip('\n') for line in file if line.strip() and not line.startswith('#')]


def unexpected(problems, wanted):
    """Each problem has to be expected, each expectation has to be met by another problem."""
    left = list(problems)
    wrong = []
    for pattern in wanted:
        found = next((line for line in left if re.search(pattern, line)), None)
        if found is None:
            wrong.append(f'did not find: {pattern}')
        else:
            left.remove(found)
    return wrong + [f'found, but not expected: {line}' for line in left]


def on_copy(function, source, top, wanted):
    """Runs a check on a copy of a fixture, beside the scripts which a check may start."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, 'tree')
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns('expect', 'generate'))
        generate = os.path.join(source, 'generate')
        if os.path.exists(generate):
            subprocess.run([generate], cwd=copy, check=True)
        tree = Tree(copy)
        for name in ('build-modules', 'check-kernel', 'lib'):
            place = os.path.join(copy, 'scripts', name)
            if not os.path.exists(place):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.symlink(os.path.join(top, 'scripts', name), place)
        return unexpected(function(tree, top), wanted)


def run_python_tests(path):
    """A unittest file; its output only if it fails."""
    done = subprocess.run(['/usr/bin/python3', '-B', path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    lines = done.stdout.decode(errors='replace').splitlines()
    if not any(re.match(r'Ran [1-9]\d* test', line) for line in lines):
        return [f'{path}: ran no test', *lines]
    return lines if done.returncode else []


def collect(checks, top):
    """Pairs of name and function: a bad and a clean tree for each check, and the runner."""
    fixtures = os.path.join(top, FIXTURES)

    def bad(name):
        folder = os.path.join(fixtures, re.sub(r'-[0-9.]+$', '', name))
        if not os.path.isdir(folder):
            return [f'{FIXTURES}{name} does not exist: nothing shows that this check can fail']
        wanted = expectations(folder)
        return on_copy(checks[name][1], folder, top, wanted) if wanted else ['expects nothing']

    def clean(name):
        return on_copy(checks[name][1], os.path.join(fixtures, 'clean'), top, [])

    proofs = []
    for name in checks:
        proofs.append((f'{name} finds what is wrong', lambda name=name: bad(name)))
        proofs.append((f'{name} accepts what is right', lambda name=name: clean(name)))
    tests = os.path.join(top, 'scripts', 'check.d')
    for name in sorted(os.listdir(tests)):
        if name.endswith('_test.py'):
            proofs.append((name, lambda name=name: run_python_tests(os.path.join(tests, name))))
    return proofs
