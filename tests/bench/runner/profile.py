# SPDX-License-Identifier: GPL-2.0-only
"""
Where do the instructions of one test go? The command line of tests/bench/profile.

Not by sampling: a plugin in QEMU counts every execution of every piece of guest code in the
measured window (see insncount.c), and the guest's own symbol table names them.
"""

import argparse
import bisect
import os
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from harness import paths, qemu
from harness.errors import Trouble
from harness.kernel import Kernel

from . import cases, cli, files, guest, results

KERNEL_HALF = 1 << 63
SYMBOL_TYPES = 'tTwW'
PERF_SHOWN = 150
PERF_FACTOR = 5


@dataclass
class Block:
    """A piece of code without branches: where, how long, how often executed."""
    address: int
    length: int
    count: int

    @property
    def instructions(self):
        return self.length * self.count


class Symbols:
    """Functions by address, from the lines of /proc/kallsyms."""

    def __init__(self, lines):
        found = set()
        for line in lines:
            fields = line.split()
            if len(fields) >= 3 and fields[1] in SYMBOL_TYPES:
                found.add((int(fields[0], 16), ' '.join(fields[2:])))
        self._symbols = sorted(found)
        self._addresses = [address for address, _ in self._symbols]

    def at(self, address):
        """(name, offset) of the function an address is in."""
        index = bisect.bisect(self._addresses, address) - 1
        if address < KERNEL_HALF or index < 0:
            return '[user space]', 0
        start, name = self._symbols[index]
        return name, address - start


def parse(argv):
    parser = argparse.ArgumentParser(
        prog='tests/bench/profile',
        description='Count the instructions of one test by function; see README.rst.')
    parser.add_argument('case', help='a case of tests/bench/run --list')
    parser.add_argument('variant', nargs='?', default='smc-lo')
    parser.add_argument('--top', type=int, default=40, help='how many functions')
    parser.add_argument('--function', help='show this function piece by piece instead')
    parser.add_argument('--perf', action='store_true',
                        help='sample with perf instead: not exact, but shows who called')
    parser.add_argument('--kernel', default=os.environ.get('KERNEL') or 'stock-6.12')
    parser.add_argument('--modules', type=Path, help='folder with smc.ko (default: built from the tree)')
    parser.add_argument('--cpus', type=int, default=1)
    options = parser.parse_args(argv)
    if options.kernel[:1].isdigit():
        options.kernel = f'stock-{options.kernel}'
    options.icount = True
    options.mode = 'icount'
    options.rounds = 1
    return options


def choose(options):
    """The case and the boot with nothing but the variant."""
    chosen = [case for case in cases.CASES if case.name == options.case]
    if not chosen:
        raise Trouble(f'no case is called {options.case} (tests/bench/run --list shows all)')
    variants = [one for one in cases.VARIANTS if one.name == options.variant]
    if not variants:
        raise Trouble(f'no variant is called {options.variant} (tests/bench/run --list shows all)')
    options.cpus = max(options.cpus, chosen[0].cpus)
    path = variants[0].path
    return chosen[0], cli.Boot('profile', variants, () if path == 'lo' else (path,))


def _kept_symbols(kernel):
    """The kernel's own symbols are the same in each boot (nokaslr), and many."""
    return paths.cache('bench') / f'kallsyms-{kernel.folder.name}'


def count(options, case, boot, kernel, folder):
    """Runs the test under the plugin; returns its result, the blocks and the symbols."""
    kept = _kept_symbols(kernel)
    output = folder / 'insncount.out'
    plugin = files.make('tests/bench', 'insncount.so') / 'insncount.so'
    modules, _ = cli.modules_for(boot, options)
    setup = guest.Setup(
        kernel=kernel, plan=cli.boot_plan(boot, [case], cli.factor(kernel, options)), rounds=1, paths=boot.paths,
        modules=modules, cpus=options.cpus, memory=max(cli.MEMORY, case.memory),
        eid=cli.eid_for(boot),
        after="grep '\\[' /proc/kallsyms" if kept.exists() else 'cat /proc/kallsyms',
        qemu=['-plugin', f'{plugin},out={output}'])
    parser = results.Parser(setup.seed)
    guest.run(setup, folder, parser.feed)
    if parser.failures or not parser.results:
        raise Trouble('; '.join(parser.failures) or f'no result came; logs: {folder}')
    if not kept.exists():
        kept.write_text(''.join(f'{line}\n' for line in parser.after if '[' not in line))
    symbols = Symbols(kept.read_text().splitlines() + parser.after)
    blocks = [Block(int(address, 16), int(length), int(executed)) for address, length, executed
              in (line.split() for line in output.read_text().splitlines())]
    return parser.results[0], blocks, symbols


def _work(result):
    """How much was done, and what one of it is called."""
    return (result['ops'], 'operation') if result['ops'] else (result['bytes'] / 1024, 'KiB')


def print_functions(result, blocks, symbols, top):
    work, unit = _work(result)
    total = Counter()
    for block in blocks:
        total[symbols.at(block.address)[0]] += block.instructions
    everything = sum(total.values())
    print(f'{everything / work:,.0f} instructions per {unit}, '
          f'{result["ctxt"] / work:.2f} context switches\n')
    print(f'{"per " + unit:>14} {"share":>7} {"sum":>7}  function')
    so_far = 0
    for name, instructions in total.most_common(top):
        so_far += instructions
        print(f'{instructions / work:14,.1f} {instructions / everything:7.1%} '
              f'{so_far / everything:7.1%}  {name}')
    _print_modules(total, everything)


def _print_modules(total, everything):
    """Whose code it is."""
    owners = Counter()
    for name, instructions in total.items():
        owner = name.split('[')[1].rstrip(']') if '[' in name else 'kernel'
        owners[owner] += instructions
    print('\n' + ', '.join(f'{owner} {instructions / everything:.1%}'
                           for owner, instructions in owners.most_common()))


def _source_lines(module, function, offsets):
    """file:line for each offset into a function of a module, as far as known."""
    if not module:
        return {}
    table = subprocess.run(['nm', module], capture_output=True, text=True, check=False).stdout
    starts = [line.split()[0] for line in table.splitlines() if line.split()[2:] == [function]]
    if not starts:
        return {}
    addresses = [hex(int(starts[0], 16) + offset) for offset in offsets]
    text = subprocess.run(['addr2line', '-j', '.text', '-e', module, *addresses],
                          capture_output=True, text=True, check=False).stdout
    return dict(zip(offsets, text.splitlines()))


def print_function(result, blocks, symbols, name, module):
    """One function: each piece with its place and its share."""
    work, unit = _work(result)
    pieces = {}
    for block in blocks:
        found, offset = symbols.at(block.address)
        if found.split()[0] == name:
            pieces.setdefault(offset, []).append(block)
    if not pieces:
        raise Trouble(f'{name} was not executed, or is inlined')
    lines = _source_lines(module, name, sorted(pieces))
    print(f'{"per " + unit:>14} {"executed":>10}  {name}')
    for offset in sorted(pieces):
        instructions = sum(block.instructions for block in pieces[offset])
        executed = sum(block.count for block in pieces[offset])
        print(f'{instructions / work:14,.1f} {executed / work:10.2f}  +{offset:#x} '
              f'{lines.get(offset, "")}')


def _module_file(name, boot, options):
    """The module of ours that has a function with this name, for line numbers."""
    modules, _ = cli.modules_for(boot, options)
    for module in modules:
        if isinstance(module, Path):
            table = subprocess.run(['nm', module], capture_output=True, text=True, check=False)
            if any(line.split()[-1] == name for line in table.stdout.splitlines()):
                return module
    return None


def perf(options, case, boot, kernel):
    """A guest with the host's files, and perf in it."""
    if not {'rxe', 'cgroup'}.isdisjoint(boot.paths) or case.kind == 'redis':
        raise Trouble('--perf knows neither the paths rxe and cgroup nor redis')
    variant = boot.variants[0]
    smcbench = files.make('tests/bench', 'smcbench') / 'smcbench'
    # More work than else: sampling needs seconds.
    command = cases.guest_command(case, variant, PERF_FACTOR).replace('smcbench', str(smcbench), 1)
    wires = 'ns_pair client server; ' if variant.netns else ''
    address = '$(addr server)' if variant.netns else '127.0.0.1'
    command = command.replace('10.1.0.2', address)
    script = (f'{wires}perf record -q -e cpu-clock -F 2000 -g -a -o /tmp/perf.data {command}; '
              f'perf report -i /tmp/perf.data --stdio --children -g caller,0.5,callee --max-stack 12 '
              f'2>/dev/null | grep -v "^#" | head -{PERF_SHOWN}')
    load = 'smc' if variant.family == 'smc' else ''
    words = [paths.VM / 'run', '--kernel', kernel.name, '--cmd', script, '--cpus', str(options.cpus),
             '--load', load, *(['--modules', options.modules] if options.modules else [])]
    print(' '.join(shlex.quote(str(word)) for word in words), file=sys.stderr)
    return subprocess.run([str(word) for word in words], check=False).returncode


def run(options):
    qemu.require()
    case, boot = choose(options)
    kernel = Kernel.get(options.kernel)
    if options.perf:
        return perf(options, case, boot, kernel)
    options.modules = options.modules or kernel.build_modules()
    folder = paths.new_log_folder()
    result, blocks, symbols = count(options, case, boot, kernel, folder)
    print(f'{case.title}, {options.variant}, {kernel.release}')
    if options.function:
        module = _module_file(options.function, boot, options)
        print_function(result, blocks, symbols, options.function, module)
    else:
        print_functions(result, blocks, symbols, options.top)
    return 0


def main(argv=None):
    options = parse(argv)
    try:
        return run(options)
    except Trouble as trouble:
        print(f'tests/bench/profile: {trouble}', file=sys.stderr)
        return 1
