#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Lists of older findings: what an update keeps, adds and removes; and a few subjects."""

import os
import sys
import tempfile
import unittest

SCRIPTS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SCRIPTS, 'lib'))

import language     # noqa: E402
from tree import Tree       # noqa: E402


class Lists(unittest.TestCase):
    """A small tree, a list, and the same list after an update."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def updated(self, check, text):
        """The list after an update, and what the check says then."""
        name = f'scripts/check.d/{check}.txt'
        self.write(name, text)
        language.update(Tree(self.folder), check)
        tree = Tree(self.folder)
        return tree.read(name), language.listed(check)(tree)

    def test_names(self):
        self.write('net/smc/a.c', 'static int take(void)\n{\n}\n\nstatic int end(void)\n{\n}\n')
        text, problems = self.updated('names', '# head\nnet/smc/a.c take  # reason\nnet/b.c gone\n')
        self.assertEqual(text, '# head\nnet/smc/a.c end\nnet/smc/a.c take  # reason\n')
        self.assertEqual(problems, [])

    def test_words(self):
        self.write('net/smc/a.c', '/* Nobody waits. */\n')
        self.write('README.rst', 'Nobody waits.\n')
        self.assertEqual(self.updated('words', 'net/gone\n'), ('README.rst\nnet/smc\n', []))

    def test_width(self):
        self.write('README.rst', 101 * 'x' + '\n')
        self.assertEqual(self.updated('width', 'gone.rst\n'), ('README.rst\n', []))

    def test_ghosts_are_added_by_hand(self):
        self.write('README.rst', '``tcp_close()`` and ``smc_gone()``\n')
        self.assertEqual(self.updated('ghosts', 'tcp_close\ngone\n'),
                         ('tcp_close\n', ['README.rst:1: there is no smc_gone()']))


class Subjects(unittest.TestCase):
    """The limits; the fixture has a history."""

    def test_length(self):
        subject = 'sock: wait' + 62 * 'x'
        self.assertIsNone(language.wrong_subject(subject))
        self.assertIn('73 characters', language.wrong_subject(subject + 'x'))

    def test_verbs(self):
        for verb in ('address', 'bring', 'need', 'proceed'):
            self.assertIsNone(language.wrong_subject(f'sock: {verb} it'), verb)
        for word in ('adds', 'added', 'adding', 'the', 'A', 'wip'):
            self.assertIn('imperative', language.wrong_subject(f'sock: {word} it'), word)


if __name__ == '__main__':
    unittest.main()
