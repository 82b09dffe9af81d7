# SPDX-License-Identifier: GPL-2.0-only
"""A test is a script; its first comments say what it needs."""

import re
import shlex
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from . import paths
from .errors import Trouble

HEADER = re.compile(r'^#\s*(kernels|daily|guests|timeout|modules|peer|cpus|memory|boot|allow-log'
                    r'|expect|follows|variables|patch|roce|threads|instead|smaller)\s*:\s*(.*?)\s*$')
WORD = re.compile(r'^#\s*(?!SPDX|shellcheck)([A-Za-z][\w-]*)\s*:(?:\s|$)')
REPEATED = ('instead', 'smaller', 'boot', 'allow-log', 'variables')


@dataclass
class Test:
    """One test script with what its header declares."""
    name: str
    path: Path
    kernels: list = field(default_factory=lambda: ['stock-6.12'])
    daily: list = None              # those of them on which "make test" runs it
    instead: str = ''               # what finds the same faults there, if it does not run
    smaller: str = ''               # what it does there, if it looks at the variable DAILY
    proves: str = ''                # the first sentence of the text before the header
    guests: int = 1
    timeout: int = 60
    modules: list = field(default_factory=list)
    peer: str = 'same'              # what guest b runs: "same" or "intree"
    roce: str = 'v2'                # "v1": software RoCE has addresses of that version as well
    cpus: int = 1
    threads: int = 0                # 1: the processors of a guest take turns
    memory: int = 0                 # MiB; 0: what the kernel needs
    boot: list = field(default_factory=list)
    allowed: list = field(default_factory=list)
    variables: list = field(default_factory=list)   # of the caller, handed to the guest
    needs_tap: bool = True
    # For tests/vm/selfcheck: names of failures, and of those which may come from these
    expected: set = field(default_factory=set)
    follows: set = field(default_factory=set)
    patch: str = ''                 # file beside it: puts the defect into our modules

    def topology(self):
        """Tests with the same answer can share a boot."""
        return (self.guests, self.peer, self.roce, self.cpus, self.threads, self.memory, tuple(self.boot))


def _number(test, key, value, low, high):
    if not value.isdecimal() or not low <= int(value) <= high:
        raise Trouble(f'{test.path}: "# {key}: {value}" is not a number from {low} to {high}')
    return int(value)


def _apply(test, key, value):
    if key == 'kernels':
        test.kernels = value.split()
    elif key == 'daily':
        test.daily = [] if value.strip() == 'none' else value.split()
    elif key == 'instead':
        test.instead = f'{test.instead} {value}'.strip()
    elif key == 'smaller':
        test.smaller = f'{test.smaller} {value}'.strip()
    elif key == 'modules':
        test.modules = value.split()
    elif key == 'expect':
        test.expected = set(value.split())
    elif key == 'guests':
        test.guests = _number(test, key, value, 1, 2)
    elif key == 'follows':
        test.follows = set(value.split())
    elif key == 'timeout':
        test.timeout = _number(test, key, value, 1, 3600)
    elif key == 'cpus':
        test.cpus = _number(test, key, value, 1, 8)
    elif key == 'threads':
        test.threads = _number(test, key, value, 1, 1)
    elif key == 'memory':
        test.memory = _number(test, key, value.removesuffix('M'), 128, 65536)
    elif key == 'boot':
        test.boot += shlex.split(value)
    elif key == 'variables':
        test.variables += value.split()
    elif key == 'patch':
        test.patch = value.strip()
    elif key == 'allow-log':
        test.allowed.append(re.compile(value))
    elif key == 'roce':
        if value not in ('v1', 'v2'):
            raise Trouble(f'{test.path}: unknown version of RoCE "{value}"')
        test.roce = value
    elif key == 'peer':
        if value not in ('same', 'intree'):
            raise Trouble(f'{test.path}: unknown peer "{value}"')
        test.peer = value


def _apply_header(test, lines):
    """@lines: those of the header; each has a word that is known, only some words more than once."""
    seen = set()
    for line in lines:
        match = HEADER.match(line)
        if not match:
            raise Trouble(f'{test.path}: a header has no "{WORD.match(line)[1]}"')
        key, value = match.groups()
        if key in seen and key not in REPEATED:
            raise Trouble(f'{test.path}: a second "# {key}:"')
        if not value and key != 'expect':
            raise Trouble(f'{test.path}: "# {key}:" without a value')
        seen.add(key)
        try:
            _apply(test, key, value)
        except (re.error, ValueError) as error:
            raise Trouble(f'{test.path}: "# {key}: {value}": {error}') from error


def _header(path, paragraphs):
    """The paragraph whose lines all look like "word: value"; no other one has a word of it."""
    found = [lines for lines in paragraphs if all(map(WORD.match, lines))]
    if len(found) > 1:
        raise Trouble(f'{path}: a second header: "{found[1][0]}"')
    for lines in paragraphs:
        words = [line for line in lines if HEADER.match(line)]
        if words and lines not in found:
            raise Trouble(f'{path}: "{words[0]}" is not in the header')
    return found[0] if found else []


def _paragraphs(text):
    """The comments before the first command: lists of lines that no empty one divides."""
    found = [[]]
    for line in text.splitlines():
        if line.strip() and not line.startswith('#'):
            break
        if line.strip(' #') and not line.startswith('#!'):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [lines for lines in found if lines]


def _first_sentence(paragraphs):
    """What the test proves, without the details."""
    texts = [lines for lines in paragraphs
             if 'SPDX' not in lines[0] and not all(map(WORD.match, lines))]
    text = ' '.join(line.lstrip('# ') for line in texts[0]) if texts else ''
    return re.split(r'(?<=\.) (?=[A-Z])', text)[0]


def read(path, name=None):
    """Reads the header of a test script: the comments before its first command."""
    path = Path(path).resolve()
    test = Test(name or path.stem, path)
    try:
        paragraphs = _paragraphs(path.read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise Trouble(f'{path}: {error}') from error
    test.proves = _first_sentence(paragraphs)
    _apply_header(test, _header(test.path, paragraphs))
    if test.peer == 'intree':
        test.guests = 2
    stock = [name for name in test.kernels if name.startswith('stock-')]
    if test.daily is None:
        test.daily = stock
    unknown = [one for one in test.daily if one not in stock]
    if unknown:
        raise Trouble(f'{test.path}: "# daily: {unknown[0]}" is no stock kernel of the test')
    return test


def find(words, folder=paths.TESTS):
    """The tests for a list of names, globs over names, and paths of scripts; none: all."""
    known = {path.stem: path for path in sorted(folder.glob('*.sh')) if path.stem != 'lib'}
    if not words:
        return [read(path) for path in known.values()]
    tests = []
    for word in words:
        names = [name for name in known if fnmatchcase(name, word)]
        if names:
            tests += [read(known[name]) for name in names]
        elif Path(word).is_file():
            tests.append(read(word))
        else:
            raise Trouble(f'no test matches "{word}"; the tests are in {folder}')
    return list({test.path: test for test in tests}.values())
