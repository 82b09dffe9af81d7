#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
usage: exclusive.py

Where each RDMA device belongs to one namespace ("rdma system set netns exclusive"), others do not hear
of it. There must be no other namespace at first, says the core.
"""

import os
import subprocess

import nl
import smc
from cases import becomes, check, run
from spec import Family


def devices():
    return [m['dev-smcr']['ib-name'] for m in Family('smc').show('get-dev-smcr')]


def set_mode(mode):
    return not subprocess.run(['rdma', 'system', 'set', 'netns', mode], stderr=subprocess.DEVNULL,
                              check=False).returncode


def elsewhere():
    """What another namespace sees."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            nl.own_namespace()
            os.write(write, ' '.join(devices()).encode() or b'none')
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with os.fdopen(read) as file:
        return file.read()


def exclusive():
    becomes('shared devices', elsewhere, 'rxe0 rxe1')
    check('from now on they are not', smc.eventually(lambda: set_mode('exclusive')))
    becomes('the namespace that has them', devices, ['rxe0', 'rxe1'])
    becomes('another one', elsewhere, 'none')
    check('shared again', smc.eventually(lambda: set_mode('shared')))


run(exclusive)
