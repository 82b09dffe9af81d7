# SPDX-License-Identifier: GPL-2.0-only
"""
What the distribution's own SMC-D does over loopback. Pure data.

Debian's kernels have its loopback device compiled out, so it cannot be measured here: these are
from a 6.12 module rebuilt with it (one processor, icount, medians of five seeds), with TCP over
loopback from the same guests, because the ratio is what can be compared.
"""

NAME = 'in-tree lo *'
NOTE = ('* 6.12 with its own loopback device, which stock kernels lack: measured elsewhere, '
        'ratio to TCP there')

# case: (in-tree SMC-D, TCP), in the units of the table
INSTRUCTIONS = {
    'bulk-1k': (5.29, 3.96),
    'bulk-4k': (1.75, 1.58),
    'bulk-16k': (0.844, 1.02),
    'bulk-64k': (0.526, 0.949),
    'bulk-1m': (0.433, 0.735),
    'rr-1': (14.5, 30.3),
    'rr-1k': (15.1, 30.9),
    'rr-64k': (73.3, 117),
    'crr-1': (248, 136),
    'redis-get': (27.2, 43.5),
}
SWITCHES = {
    'bulk-1k': (596, 48),
    'bulk-64k': (46, 44),
    'bulk-1m': (31, 10),
    'crr-1': (14, 4),
}
