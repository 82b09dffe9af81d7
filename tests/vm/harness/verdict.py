# SPDX-License-Identifier: GPL-2.0-only
"""From what was observed to what is wrong. Pure: facts in, failures out."""

from dataclasses import dataclass, field

from . import console
from .tap import Result

# Taint flags by bit, as in Documentation/admin-guide/tainted-kernels.rst.
TAINT_FLAGS = 'PFSRMBUDAWCIOELKXTN'
# Not a defect: an out-of-tree (O) and unsigned (E) module, staging (C), KUnit (N), randstruct (T).
TAINT_ALLOWED = set('OECNT')


@dataclass
class Failure:
    """One thing that is wrong: a name that stays the same, and what was seen."""
    name: str
    detail: str
    lines: list = field(default_factory=list)


@dataclass
class Facts:
    """What one guest reported about one test, and what its console showed."""
    phase: str = 'start'
    output: list = field(default_factory=list)
    tap: Result = field(default_factory=Result)
    exit_status: int = None
    load_failed: str = None
    unload_failed: list = field(default_factory=list)
    objects: dict = field(default_factory=dict)     # 'before'/'after' -> {name: live}
    no_objects: bool = False
    unsettled: bool = False         # the agent waited for the counters until its time was over
    taint_before: int = 0
    taint: int = None
    garbled: list = field(default_factory=list)     # lines of the agent that are not complete
    ended: bool = False
    timed_out: bool = False
    hung_in: list = field(default_factory=list)     # what a hanging guest was doing
    gone: str = None                                # why QEMU ended before the test did
    log_before: list = field(default_factory=list)      # of the test before, after its end
    allowed_before: list = field(default_factory=list)
    log: list = field(default_factory=list)
    log_ended: bool = False         # the console has shown the end of the test
    allowed: list = field(default_factory=list)     # patterns of expected log lines
    needs_tap: bool = True
    seconds: float = 0.0                            # from the command to the end
    processor: float = 0.0                          # seconds that QEMU used


@dataclass
class Rest:
    """What one guest reported after its last test."""
    leak: list = None               # the lines of kmemleak; None: no answer
    has_kmemleak: bool = False
    log: list = field(default_factory=list)
    log_ended: bool = True          # the console has shown the mark, unless the agent did not come so far


def taint_flags(bits):
    return [TAINT_FLAGS[bit] if bit < len(TAINT_FLAGS) else f'bit{bit}'
            for bit in range(bits.bit_length()) if bits >> bit & 1]


def _log_failures(facts):
    for finding in (console.scan(facts.log_before, facts.allowed_before)
                    + console.scan(facts.log, facts.allowed)):
        line = next((text for text in finding.lines if text.strip()), '')
        yield Failure(finding.name, console.PREFIX.sub('', line), finding.lines)


def _end_failures(facts, panicked):
    """How the test stopped, if it did not come to its end."""
    if facts.gone and not panicked:
        yield Failure('reboot', f'the guest ended in phase "{facts.phase}": {facts.gone}',
                      facts.log[-5:])
    if facts.ended and not facts.log_ended:
        yield Failure('no-log', 'the console does not show the end of the test', facts.log[-5:])
    if facts.timed_out:
        yield Failure('hang', f'no end within the time limit, in phase "{facts.phase}"',
                      facts.output[-10:] + facts.hung_in)


def _test_failures(facts):
    """What the test itself said."""
    if facts.garbled:
        yield Failure('agent', f'the guest said "{facts.garbled[0]}"', facts.garbled)
    if facts.load_failed:
        yield Failure('load', facts.load_failed)
    if facts.exit_status is None:
        if facts.ended and not facts.load_failed and not facts.garbled:
            yield Failure('agent', 'the guest did not say how the test ended')
        return
    if facts.tap.bail_out is not None:
        yield Failure('bail-out', facts.tap.bail_out)
    for name in facts.tap.failed:
        yield Failure('test', name, facts.tap.reasons[name])
    if facts.exit_status:
        yield Failure('exit-status', f'the test ended with status {facts.exit_status}',
                      facts.output[-10:] if not facts.tap.failed else [])
    elif facts.needs_tap and not facts.tap.complete:
        yield Failure('no-verdict', 'the test ended without keeping a plan: '
                      f'{facts.tap.points} points, plan {facts.tap.plan}'
                      + (f', out of order: "{facts.tap.broken}"' if facts.tap.broken else ''),
                      facts.output[-10:])


def _leak_failures(facts):
    before, after = facts.objects.get('before', {}), facts.objects.get('after', {})
    leaks = 0
    if facts.no_objects:
        yield Failure('no-objects', 'smc is loaded, but /sys/kernel/debug/smc/objects is missing')
    for name, live in after.items():
        if live != before.get(name, 0):
            yield Failure('object-leak', f'{name}: {before.get(name, 0)} live before the test, '
                          f'{live} after it')
            leaks += 1
    if facts.unsettled and not leaks:
        yield Failure('object-leak', 'the counters came back too late, or the agent waited in vain')
    for text in facts.unload_failed:
        yield Failure('module-stuck', text)
    if facts.ended and facts.taint is None:
        yield Failure('agent', 'the guest did not say whether its kernel is tainted')
    flags = [flag for flag in taint_flags((facts.taint or 0) & ~facts.taint_before)
             if flag not in TAINT_ALLOWED]
    if flags:
        yield Failure('taint', f'the kernel got tainted: {"".join(flags)}')


def judge(facts):
    """All failures of one test in one guest; an empty list is the only way to pass."""
    failures = list(_log_failures(facts))
    panicked = any(failure.name == 'panic' for failure in failures)
    failures += _end_failures(facts, panicked)
    failures += _test_failures(facts)
    failures += _leak_failures(facts)
    if not failures and not facts.ended:
        failures.append(Failure('no-verdict', f'no verdict came, phase "{facts.phase}"'))
    return failures


def judge_rest(last, rest):
    """What a kernel has complained about after its last test, whose facts are known."""
    findings = [finding for finding in console.scan(rest.log, last.allowed)
                if finding.name != 'kmemleak']      # it speaks for itself: rest.leak
    if findings and findings[0].name == 'trace' and console.scan(last.log, last.allowed):
        del findings[0]     # the end of a report that is in the log of the test
    if last.log_ended and not rest.log_ended:
        findings.append(console.Finding('no-log', rest.log[-5:]))
    return findings


def is_dirty(facts, failures):
    """Whether the guest is unfit for another test."""
    harmless = {'test', 'exit-status', 'bail-out', 'no-verdict', 'no-objects', 'object-leak'}
    return not facts.ended or any(failure.name not in harmless for failure in failures)
