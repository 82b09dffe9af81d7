# SPDX-License-Identifier: GPL-2.0-only
"""The one exception whose text is shown to the user as it is."""


class Trouble(Exception):
    """Something outside the tests is wrong: one clear sentence, no trace back."""
