# SPDX-License-Identifier: GPL-2.0-only
"""
The language of the tree: names, words, functions that exist, width, and commit subjects.

Most of these checks have a list below scripts/check.d of findings that are older than the check. A
finding that is not listed is a failure, and so is a line of the list that has no finding any more:
lists only shrink. A line is the key of a finding, with "# reason" behind it or not.
"""

import collections
import os
import re

LISTS = 'scripts/check.d/'
MAX_COLUMNS = 100
MAX_SUBJECT = 72

C_FOLDERS = 'net', 'include', 'tests', 'tools'
C_FILES = '.c', '.h'
DOCUMENT = re.compile(r'\.(rst|[1-8])$')
# Strings count as tokens, so that no comment begins inside one.
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|/\*.*?\*/|//[^\n]*', re.DOTALL)
STATIC = re.compile(r'^static\s[\w\s*]*?\b([a-z_][a-z0-9_]*)\([^;{}=]*\{', re.MULTILINE)
CALL = re.compile(r'\w+(?=\s*\(|\)\s*\()')
DEFINITION = {'python': re.compile(r'\bdef (\w+)'), 'sh': re.compile(r'^(\w+)\(\)', re.MULTILINE)}
MENTION = re.compile(r'(?<![\w.>-])([a-z_]\w+)\(\)')

# Names in these folders are not checked yet.
OTHER_NAMES = 'net/smc/rdma/'
# The style page quotes what it forbids; the change log names functions that are gone.
STYLE_PAGE, CHANGE_LOG = 'Documentation/style.rst', 'CHANGELOG.rst'

# Private vocabulary and pronouns: what to write instead. A blank also matches a line break.
WORDS = {
    'whoever|(no|some|every)body|someone|everyone|those who|the one who|that one(?=[.,;:)])':
        'name the actor: the caller, the kworker, the peer, the receiver',
    '\\w+(?<!there) (is|are) none|none of (our|their|its) business|(of|by|from|to) (ours|theirs)':
        'say the noun',
    '(what|that|which) says so|says so above|as long as it takes':
        'name the fields, or the time limit',
    'news|has to look|takes? a look': 'event, state change; poll, process',
    '(takes?|taken) in(?! (the|a|an|any|each|process|order|this|that|[0-9]+)\\b)':
        'accept, dequeue',
    'patience|end of (our|its) time|time is up': 'timeout, deadline',
    'spoil(t|ed|s)?': 'dirty, corrupt',
    'bears?|mend(s|ed|ing)?|wish(es)?': 'tolerate, fix, request',
    'last words?|makes? an end|comes? to an end|in good order': 'final message, ends, cleanly',
    '(in|out of) (our|their|its) hands|lets? go': 'owned by, releases',
    'fallen(?! back)|fell(?! back)': 'fell back, fallback',
    'is worth|for good(?! reason)|for ever': 'priority, permanently',
    'does without|makes? do': 'does not need',
}
VOCABULARY = {re.compile(rf'\b({pattern})\b'.replace(' ', r'\s+'), re.IGNORECASE): better
              for pattern, better in WORDS.items()}

AREA = re.compile(r'[a-z0-9][\w.,/ -]*: ')
NOT_IMPERATIVE = re.compile(r'(an?|the|what|which|whether|how|no|who|it|more|when|where|wip'
                            r'|\w+ed|\w+ing|\w+[^s]s)\b')
IMPERATIVE = {'need', 'proceed', 'feed', 'seed', 'speed', 'embed', 'bring', 'ping', 'focus',
              'bias', 'alias'}


def line_of(text, offset):
    """The number of the line in which the offset is."""
    return text.count('\n', 0, offset) + 1


def blank(match):
    """Spaces for what matched, which keep each line where it is."""
    return re.sub(r'[^\n]', ' ', match.group())


def code(text):
    """A C file without comments and strings."""
    return TOKEN.sub(blank, text)


def comments(text):
    """A C file without anything but comments."""
    result, end = [], 0
    for match in TOKEN.finditer(text):
        if match.group().startswith('/'):
            result += [re.sub(r'\S', ' ', text[end:match.start()]),
                       re.sub(r'(?m)^[ \t]*\*(?!/)', blank, match.group())]
            end = match.end()
    return ''.join(result)


def prose(tree):
    """Pairs of file and text, of comments and of documents."""
    for name in tree.below(*C_FOLDERS, suffix=C_FILES):
        yield name, comments(tree.read(name))
    for name in tree.files:
        if DOCUMENT.search(name):
            yield name, tree.read(name)


def find_names(tree):
    """Static functions whose name says too little: one word, or that of another one as well."""
    places = collections.defaultdict(dict)
    for name in tree.below('net', suffix=C_FILES):
        if not name.startswith(OTHER_NAMES):
            text = code(tree.read(name))
            for match in STATIC.finditer(text):
                places[match.group(1)].setdefault(name, line_of(text, match.start(1)))
    found = {}
    for function, files in places.items():
        for name, line in files.items():
            others = [other for other in files if other != name]
            if others:
                found[f'{name} {function}'] = [
                    f'{name}:{line}: {function}() is also in {" and ".join(others)}']
            elif '_' not in function.strip('_'):
                found[f'{name} {function}'] = [
                    f'{name}:{line}: {function}() is one word: name the object, too']
    return found


def find_words(tree):
    """Words for which there is a standard term, by folder of C files and by document."""
    found = collections.defaultdict(list)
    for name, text in prose(tree):
        if name == STYLE_PAGE:
            continue
        document = DOCUMENT.search(name)
        if document:
            text = re.sub(r'``[^`]+``', lambda match: re.sub(r'\S', '`', match.group()), text)
        for pattern, better in VOCABULARY.items():
            found_here = [f'{name}:{line_of(text, match.start())}: '
                          f'"{" ".join(match.group().split())}": {better}'
                          for match in pattern.finditer(text)]
            if found_here:
                found[name if document else os.path.dirname(name)] += found_here
    return found


def find_ghosts(tree):
    """Functions in comments and documents which the tree neither has nor calls."""
    known = set()
    for name in tree.below(*C_FOLDERS, suffix=C_FILES):
        known.update(CALL.findall(code(tree.read(name))))
    for language, definition in DEFINITION.items():
        for name in tree.scripts(language):
            known.update(definition.findall(tree.read(name)))
    found = collections.defaultdict(list)
    for name, text in prose(tree):
        if name in (STYLE_PAGE, CHANGE_LOG):
            continue
        for match in MENTION.finditer(text):
            if match.group(1) not in known:
                found[match.group(1)].append(f'{name}:{line_of(text, match.start())}: '
                                             f'there is no {match.group()}')
    return found


def find_width(tree):
    """Documents with lines that are too long."""
    found = collections.defaultdict(list)
    for name in tree.files:
        if name.endswith('.rst'):
            for number, line in tree.lines(name):
                if len(line) > MAX_COLUMNS:
                    found[name].append(f'{name}:{number}: {len(line)} columns')
    return found


# Only a reader knows which functions the kernel has: no program adds one to that list.
FIND = {'names': find_names, 'words': find_words, 'ghosts': find_ghosts, 'width': find_width}
ADDED_BY_HAND = 'ghosts'


def read_list(tree, check):
    """The comment at the head of a list, and its lines by key."""
    name = f'{LISTS}{check}.txt'
    lines = tree.read(name).splitlines() if tree.has(name) else []
    return [line for line in lines if line.startswith('#')], {
        line.partition('#')[0].strip(): line for line in lines
        if line and not line.startswith('#')}


def listed(check):
    """The check of this name: what it finds against its list."""
    def judge(tree):
        found = FIND[check](tree)
        _, known = read_list(tree, check)
        new = [problem for key in sorted(found) if key not in known for problem in found[key]]
        gone = [key for key in known if key not in found]
        return new + [f'{LISTS}{check}.txt: "{key}" is no finding any more: remove it (--update)'
                      for key in gone]
    return judge


def update(tree, check):
    """Writes the list of a check anew; reasons stay."""
    found = FIND[check](tree)
    head, known = read_list(tree, check)
    keys = [key for key in sorted(found) if key in known or check != ADDED_BY_HAND]
    with open(tree.path(f'{LISTS}{check}.txt'), 'w', encoding='utf-8') as file:
        file.writelines(line + '\n' for line in head + [known.get(key, key) for key in keys])


def wrong_subject(subject):
    """What is wrong with the subject of a commit, or None."""
    area = AREA.match(subject)
    if not area or area.group().lower() == 'wip: ':
        return 'not "area: subject"'
    rest = subject[area.end():].lower()
    if NOT_IMPERATIVE.match(rest) and re.match(r'\w+', rest).group() not in IMPERATIVE:
        return 'does not begin with an imperative'
    if len(subject) > MAX_SUBJECT:
        return f'{len(subject)} characters, more than {MAX_SUBJECT}'
    return 'ends with a full stop' if subject.endswith('.') else None


def subjects(tree):
    """Subjects of the commits since origin/main or the last tag; there is no git in a release."""
    base = tree.has('.git') and (tree.git('rev-parse', '-q', '--verify', 'origin/main')
                                 or tree.git('describe', '--tags', '--abbrev=0'))
    if not base:
        return []
    rows = tree.git('log', '--no-merges', '--format=%h %s', f'{base}..HEAD').splitlines()
    commits = (row.partition(' ')[::2] for row in rows)
    return [f'{commit}: {problem}: {subject}' for commit, subject in commits
            for problem in [wrong_subject(subject)] if problem]
