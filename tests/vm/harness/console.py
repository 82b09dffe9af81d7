# SPDX-License-Identifier: GPL-2.0-only
"""Finds what must not be in a kernel log. Pure: lines in, findings out."""

import re
from dataclasses import dataclass, field

# (name of the finding, pattern); the first match names it, so the special come first.
# "Call Trace:" alone is the safety net for whatever has no row of its own.
PATTERNS = [(name, re.compile(pattern)) for name, pattern in (
    ('init-failed', r'smc-vm: init failed:'),
    ('kasan', r'BUG: KASAN:'),
    ('kcsan', r'BUG: KCSAN:'),
    ('kfence', r'BUG: KFENCE:'),
    ('ubsan', r'UBSAN:'),
    ('atomic-sleep', r'BUG: sleeping function called from invalid context'
                     r'|BUG: scheduling while atomic|Voluntary context switch within RCU'),
    ('lockdep', r'possible (?:recursive|circular) locking|inconsistent lock state'
                r'|possible irq lock inversion|suspicious RCU usage|bad unlock balance'
                r'|held lock freed|lock held when returning to user space|BUG: Invalid wait context'
                r'|\[ BUG: Invalid wait context|unsafe lock order detected'
                r'|MAX_LOCKDEP_\w+ too low|possible deadlock in|DEBUG_LOCKS_WARN_ON'),
    ('lockup', r'(?:soft lockup|hard LOCKUP|Hard LOCKUP)'),
    ('rcu-stall', r'rcu\w*: INFO: .*(?:stall|detected)|rcu_\w+ (?:self-)?detected stall'),
    ('hung-task', r'INFO: task \S+ blocked for more than'),
    ('debug-objects', r'ODEBUG:'),
    ('refcount', r'refcount_t: '),
    ('list-corruption', r'list_(?:add|del) corruption'),
    ('slab', r'BUG [\w:.-]+ \((?:Not tainted|Tainted)|Objects remaining in|kmem_cache_destroy'),
    ('kmemleak', r'kmemleak: \d+ new suspected memory leaks|Kernel memory leak detector disabled'),
    ('netdev-leak', r'unregister_netdevice: waiting for'),
    ('ref-tracker', r'ref_tracker: .*(?:leaked|reference already)'),
    ('log-lost', r'printk messages dropped'),
    ('panic', r'Kernel panic - not syncing'),
    ('bug', r'kernel BUG at|BUG: |Oops|general protection fault|Unable to handle kernel'
            r'|divide error:|invalid opcode:'),
    ('warning', r'WARNING: '),
    ('trace', r'Call Trace:'),
)]

# What a log line begins with: time and, with PRINTK_CALLER, who spoke.
PREFIX = re.compile(r'^\s*(?:<\d+>)?\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])?\s?')
END_OF_TRACE = re.compile(r'---\[ end trace|\</TASK>|={20,}$')
CONTEXT = 45
# Two chains of locks with all who took them come before the trace.
LONG_CONTEXT = {'lockdep': 250}

# These introduce a report of their own, even right behind another one.
ALWAYS_NEW = ('panic', 'kmemleak', 'hung-task', 'netdev-leak')


@dataclass
class Finding:
    """One report in the log: its name, and its lines."""
    name: str
    lines: list = field(default_factory=list)


def _match(line, allowed):
    if any(pattern.search(line) for pattern in allowed):
        return None
    for name, pattern in PATTERNS:
        if pattern.search(line):
            return name
    return None


def scan(lines, allowed=()):
    """
    The findings in the lines of a log.

    The lines that follow a finding belong to it until the end of its trace; what matches
    there as well ("Oops" after "BUG:") is not counted again.
    """
    findings = []
    current = None
    for line in lines:
        text = PREFIX.sub('', line.rstrip('\r\n'))
        name = _match(text, allowed)
        if name and (current is None or name in ALWAYS_NEW):
            current = Finding(name)
            findings.append(current)
        if current:
            current.lines.append(line.rstrip('\r\n'))
            context = LONG_CONTEXT.get(current.name, CONTEXT)
            if END_OF_TRACE.search(text) or len(current.lines) >= context:
                current = None
    return findings


class Log:
    """The console of one guest: splits it into lines and keeps the place of each test."""

    MARK = re.compile(r'smc-vm: (?:(begin|end) (\S+)|rest)\s*$')

    def __init__(self):
        self.lines = []
        self._rest = b''
        self.begun = {}         # number of the line, by test
        self.ended = set()
        self.rested = False     # the end of all tests

    def feed(self, data):
        *complete, self._rest = (self._rest + data).split(b'\n')
        for raw in complete:
            line = raw.decode(errors='replace').rstrip('\r')
            self.lines.append(line)
            mark = self.MARK.search(line)
            if mark:
                self._mark(mark, len(self.lines) - 1)

    def _mark(self, mark, number):
        if mark[1] == 'begin':
            self.begun[mark[2]] = number
        elif mark[1] == 'end':
            self.ended.add(mark[2])
        else:
            self.rested = True

    def forget(self, name):
        """A test of this name may have run before."""
        self.begun.pop(name, None)
        self.ended.discard(name)

    def finish(self):
        """The last line may have no end: the guest died while writing it."""
        if self._rest:
            self.feed(b'\n')

    def window(self, start):
        return self.lines[start:]
