# SPDX-License-Identifier: GPL-2.0-only
"""Test points of a Python test, for cases.sh."""

import errno
import sys
import traceback

import smc

failed = False


def report(passed, name, *details):
    global failed
    failed |= not passed
    print(f'{"ok" if passed else "not ok"} - {name}')
    if not passed:
        for detail in details:
            for line in str(detail).splitlines():
                print(f'#   {line}')
    sys.stdout.flush()


def check(name, condition, *details):
    report(bool(condition), name, *details)


def equal(name, got, wanted):
    report(got == wanted, name, f'got    {got!r}', f'wanted {wanted!r}')


def becomes(name, look, wanted):
    """What look() returns is this, at once or later."""
    got = [look()]

    def is_so():
        got[0] = look()
        return got[0] == wanted
    smc.eventually(is_so)
    equal(name, got[0], wanted)


def refused(name, answer, error, text=None):
    """A request failed with this errno, and the kernel said why."""
    report(answer.error == error and (text is None or text in answer.text), name, answer,
           f'wanted {errno.errorcode[error]} "{text or ""}"')


def accepted(name, answer):
    report(not answer.error, name, answer)


def run(*functions):
    """Runs test functions; an exception in one is a failure of it, and the others run."""
    for function in functions:
        try:
            function()
        except Exception:       # pylint: disable=broad-except
            report(False, f'{function.__name__} ran to its end', traceback.format_exc())
    sys.exit(int(failed))
