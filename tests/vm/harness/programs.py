# SPDX-License-Identifier: GPL-2.0-only
"""User-space programs for the guests, built on the host beforehand."""

import subprocess
import sys

from . import paths
from .errors import Trouble

SHOWN_ERRORS = 5


def build(name, required=True):
    """
    Builds a folder of the tree; returns where its programs are, '' if there are none.

    Unless required, a failure is only told: programs that are not needed right now do not
    keep anybody from working on another part.
    """
    source = paths.TREE / name
    if not (source / 'Makefile').exists():
        return ''
    with paths.build_folder(name) as output:
        log = output / 'build.log'
        with open(log, 'w', encoding='utf-8') as file:
            result = subprocess.run(['make', '-C', source, f'O={output}'], stdout=file,
                                    stderr=file, check=False)
    if not result.returncode:
        return output
    errors = [line for line in log.read_text(errors='replace').splitlines()
              if 'error: ' in line or '*** ' in line][:SHOWN_ERRORS]
    text = '\n'.join([f'building {name} failed, log: {log}', *errors])
    if required:
        raise Trouble(text)
    print(f'warning: {text}', file=sys.stderr)
    return output
