#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
A reader that looks for data before it goes to sleep (SO_BUSY_POLL), with a writer on another processor:
waits that ended so are counted, and the tool shows the number.
"""

import json
import os
import socket
import subprocess

import smc
from cases import check, equal, run
from spec import Family

SO_BUSY_POLL = 46
TURNS = 300


def hits():
    return Family('smc').show('get-stats')[0]['stats']['smcd-tech']['busy-poll-cnt']


def echo(sock):
    """Until the other end closes."""
    while data := sock.recv(1):
        sock.send(data)


def start_echo(pair):
    """On the second processor; returns the pid."""
    pid = os.fork()
    if not pid:
        try:
            pair.client.close()
            os.sched_setaffinity(0, {1})
            echo(pair.server)
        finally:
            os._exit(0)
    pair.server.close()
    os.sched_setaffinity(0, {0})
    return pid


def talk(pair, microseconds):
    """Round trips until one was counted, or many were not."""
    pair.client.setsockopt(socket.SOL_SOCKET, SO_BUSY_POLL, microseconds)
    before, turns = hits(), 0
    while hits() == before and turns < TURNS:
        turns += 1
        pair.client.send(b'x')
        pair.client.recv(1)
    return hits() - before, turns


def busy_poll():
    pair = smc.Pair()
    pair.client.settimeout(None)
    pid = start_echo(pair)
    equal('nothing is counted without it', talk(pair, 0), (0, TURNS))
    found = talk(pair, 500000)
    check('a wait that it ended is counted', found[0] == 1, found)
    shown = subprocess.run(['smcd', '-a', '-j', 'stats'], stdout=subprocess.PIPE, check=True)
    equal('the tool shows it', json.loads(shown.stdout)['busy_polls'], hits())
    pair.close()
    os.waitpid(pid, 0)


run(busy_poll)
