# SPDX-License-Identifier: GPL-2.0-only
"""Reads what gcov knows: for each file of net/smc how often each line was executed."""

import collections
import json
import os
import re
import subprocess

MARK = '/net/smc/'


class Unreadable(Exception):
    """gcov cannot make sense of a file."""


def _data_files(folder):
    for path, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith('.gcda'):
                yield os.path.join(path, name)


def files(folder):
    """Yields (name below net/smc, description by gcov) for all coverage data below a folder."""
    for path in _data_files(folder):
        done = subprocess.run(['gcov', '--json-format', '--stdout', '--branch-probabilities', path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise Unreadable(f'gcov {path}: {done.stderr.decode(errors="replace").strip()}')
        for document in done.stdout.decode().splitlines():
            data = json.loads(document)
            for file in data['files']:
                place = os.path.join(data['current_working_directory'], file['file'])
                place = os.path.normpath(place)
                if MARK in place:
                    yield place.split(MARK, 1)[1], file


def lines(folder, wanted='.*'):
    """{name: Counter of executions by line}; objects that share a source are added up."""
    counts = collections.defaultdict(collections.Counter)
    for name, file in files(folder):
        if re.fullmatch(wanted, name):
            for line in file['lines']:
                counts[name][line['line_number']] += line['count']
    return counts
