# SPDX-License-Identifier: GPL-2.0-only
"""
The map of the standards: Documentation/standards against the code and the tests.

Each requirement has an entry, whose format Documentation/standards/README.rst describes. Files are
named without their folder: a file that moves needs no change here. Run as a program, this module
renames functions in the map (arguments OLD=NEW), and corrects the names of files from which a
function has moved to another one.
"""

import os
import re
import sys

FOLDER = 'Documentation/standards/'
CODE = 'net', 'include'
TESTS = 'tests', 'tools/tests'
CITING = 'net', 'include', 'tests', 'tools', 'Documentation'
GROUP = r'(?:R-[A-Z]+|V2-[A-Z][A-Z0-9]*|D1|[ACSV])'
ID = re.compile(rf'(?<![\w-])({GROUP}-)(\d\d[a-d]?)(?:\s+(?:\*\s+)?to\s+(?:\*\s+)?(?:\1)?(\d\d)\b)?'
                r'(?![\w-])')
HEAD = re.compile(rf'({GROUP}-\d\d[a-d]?) \((.+)\)$')
FIELD = re.compile(r'(?:^|(?<=\. ))(Code|Test|No test|Differs|Left out): ')
LITERAL = re.compile(r'``([^`]+)``')
PATH = re.compile(r'``((?:Documentation|include|net|scripts|tests|tools)/[^`]+)``')
CODE_ITEM = re.compile(r'([\w.-]+): (\w+)\(\)$')
TEST_ITEM = re.compile(r'([\w./-]+)(?:: (\w+))?$')


class Entry:
    """What the map says about one requirement."""

    def __init__(self, place, name, where, body):
        self.place = f'{place}: {name}'
        self.name = name
        self.section, _, self.level = where.partition('; ')
        self.body = ' '.join(body)
        parts = FIELD.split(self.body)
        self.text = parts[0]
        self.fields = dict(zip(parts[1::2], parts[2::2]))

    def items(self, field):
        """The literals in one of the fields."""
        return LITERAL.findall(self.fields.get(field, ''))


def entries(tree):
    """All entries of the map."""
    found = []
    for name in tree.below(FOLDER.rstrip('/'), suffix=('.rst',)):
        lines = tree.read(name).splitlines()
        for number, line in enumerate(lines):
            match = HEAD.match(line)
            if match:
                body = []
                for following in lines[number + 1:]:
                    if not following.startswith('    '):
                        break
                    body.append(following.strip())
                found.append(Entry(f'{name}:{number + 1}', *match.groups(), body))
    return found


def cited(text):
    """Pairs of offset and identifier; "R-LTO-01 to 06" is six of them."""
    for match in ID.finditer(text):
        group, first, last = match.groups()
        yield match.start(), group + first
        if last:
            for number in range(int(first) + 1, int(last) + 1):
                yield match.start(), f'{group}{number:02}'


def undefined(tree, known):
    """Citations of requirements that the map does not have."""
    for name in tree.below(*CITING):
        if '/corpus/' in name or tree.is_binary(name):
            continue
        text = tree.read(name)
        for offset, identifier in cited(text):
            if identifier not in known:
                yield f'{name}:{text.count(chr(10), 0, offset) + 1}: {identifier} is not defined'


class Code:
    """Where each function is defined."""

    def __init__(self, tree):
        self.text = {}
        for name in tree.below(*CODE, suffix=('.c', '.h')):
            self.text.setdefault(os.path.basename(name), []).append(tree.read(name))

    def defines(self, file, function):
        """A definition begins in the first column, and a prototype ends with a semicolon."""
        pattern = re.compile(rf'^\w[^;{{}}()=]*\b{function}\([^;{{}}]*\)\s*{{', re.MULTILINE)
        return any(pattern.search(text) for text in self.text.get(file, []))

    def wrong(self, item):
        """What is wrong with "file.c: function()", or None."""
        match = CODE_ITEM.match(item)
        if not match:
            return f'"{item}" is not "file.c: function()"'
        file, function = match.groups()
        if self.defines(file, function):
            return None
        places = self.places(function)
        if places:
            return f'{function}() is in {" and ".join(places)}, not in {file}'
        missing = '' if file in self.text else f', nor is there a file {file}'
        return f'there is no function {function}(){missing}'

    def places(self, function):
        """Files that define a function; headers only if nothing else does."""
        found = [file for file in sorted(self.text) if self.defines(file, function)]
        return [file for file in found if file.endswith('.c')] or found


class Tests:
    """The text of each file that tests."""

    def __init__(self, tree):
        self.tree = tree
        self.files = [name for name in tree.below(*TESTS) if '/corpus/' not in name]

    def wrong(self, item):
        """What is wrong with "file.c: case" or "file.sh", or None."""
        match = TEST_ITEM.match(item)
        if not match:
            return f'"{item}" is not "file: case"'
        file, case = match.groups()
        found = [name for name in self.files if f'/{name}'.endswith(f'/{file}')]
        if not found:
            return f'there is no test file {file}'
        if case and not any(re.search(rf'\b{case}\b', self.tree.read(name)) for name in found):
            return f'there is no test {case} in {file}'
        return None


def unsound(tree, entry):
    """An entry that leaves open what became of the requirement."""
    if not entry.text:
        yield 'does not say what is demanded'
    if entry.level and not {'Code', 'Left out'} & set(entry.fields):
        yield 'names no code, and no reason why it is left out'
    if {'Code', 'Left out'} <= set(entry.fields):
        yield 'names code, and is left out'
    if entry.level.startswith('must') and 'Code' in entry.fields and \
            not {'Test', 'No test'} & set(entry.fields):
        yield 'names no test, and no reason why there is none'
    for path in PATH.findall(entry.body):
        if not tree.has(path):
            yield f'{path} does not exist'
    for field in ('Code', 'Test'):
        if field in entry.fields and not entry.items(field):
            yield f'{field}: names nothing'


def standards(tree):
    """The map against the tree, and the tree against the map."""
    found = entries(tree)
    code, tests = Code(tree), Tests(tree)
    known, problems = set(), []
    for entry in found:
        if entry.name in known:
            problems.append(f'{entry.place} is defined twice')
        known.add(entry.name)
        wrong = list(unsound(tree, entry))
        wrong += filter(None, map(code.wrong, entry.items('Code')))
        wrong += filter(None, map(tests.wrong, entry.items('Test')))
        problems += [f'{entry.place} {what}' if what.startswith(('names', 'does')) else
                     f'{entry.place}: {what}' for what in wrong]
    return problems + list(undefined(tree, known))


def correct(tree, renamed):
    """Names the file in which each function is now, if that is one file."""
    code = Code(tree)

    def new(match):
        file, function = match.group(1), renamed.get(match.group(2), match.group(2))
        places = code.places(function)
        if not code.defines(file, function) and len(places) == 1:
            file = places[0]
        return f'{file}: {function}()'

    for name in tree.below(FOLDER.rstrip('/'), suffix=('.rst',)):
        text = tree.read(name)
        # Long lines stay: a name seldom gets so much longer
        changed = re.sub(r'(?<=``)([\w.-]+): (\w+)\(\)(?=``)', new, text)
        if changed != text:
            with open(tree.path(name), 'w', encoding='utf-8') as file:
                file.write(changed)
            print(name)


if __name__ == '__main__':
    from tree import Tree
    correct(Tree(os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..')),
            dict(argument.split('=') for argument in sys.argv[1:]))
