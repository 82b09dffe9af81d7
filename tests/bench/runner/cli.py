# SPDX-License-Identifier: GPL-2.0-only
"""The command line of tests/bench/run."""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from harness import paths, qemu
from harness.errors import Trouble
from harness.kernel import Kernel

from . import cases, guest, reference, results, table

# For numbers KVM has to run longer; emulation gives none worth waiting for.
WALL_FACTOR = {'tcg': 0.5, 'kvm': 20}
MEMORY = 1024
# rxe asks for crc32 by name, and no program is there to load it then; the fast one is preferred.
PATH_MODULES = {'veth': ['veth'], 'cgroup': [], 'rxe': ['veth', 'crc32_generic', 'crc32_pclmul', 'rdma_rxe']}
EID = 'SMCBENCH'


@dataclass
class Boot:
    """What one guest runs: all these variants side by side."""
    name: str
    variants: list
    paths: tuple


def boot_of(variant):
    """Only one AF_SMC fits into a kernel, and where there is RDMA, ours takes nothing else."""
    if variant.module == 'intree':
        return 'intree'
    return 'rdma' if variant.path == 'rxe' else 'main'


def plan_boots(wanted):
    """One boot for everything that can share a kernel."""
    chosen = [variant for variant in cases.VARIANTS if variant.name in wanted]
    boots = []
    for name in ('main', 'rdma', 'intree'):
        own = [variant for variant in chosen if boot_of(variant) == name]
        if not own:
            continue
        # The same path without SMC goes along, so that the ratio is from one boot.
        bases = {variant.base for variant in own}
        own = [variant for variant in cases.VARIANTS if variant in own or variant.name in bases]
        paths_used = dict.fromkeys(one.path for one in own)
        boots.append(Boot(name, own, tuple(path for path in paths_used if path != 'lo')))
    return boots


def parse(argv):
    names = [variant.name for variant in cases.VARIANTS]
    parser = argparse.ArgumentParser(
        prog='tests/bench/run', description='Compare socket families; see README.rst. Each option '
        'is also a variable of make bench: MODE, ROUNDS, T, VARIANTS, KERNEL, SEEDS, CPUS.')
    parser.add_argument('cases', nargs='*', help='names or globs (default: the variable T, else '
                        'all but the extra ones)')
    parser.add_argument('--mode', choices=('icount', 'wall'), default=os.environ.get('MODE') or 'icount')
    parser.add_argument('--rounds', type=int, default=int(os.environ.get('ROUNDS') or 5))
    parser.add_argument('--seeds', type=int, default=int(os.environ.get('SEEDS') or 1),
                        help='boots with different seeds, under icount')
    parser.add_argument('--cpus', type=int, default=int(os.environ.get('CPUS') or 0),
                        help='processors of a guest (default: 1 under icount, else 2)')
    parser.add_argument('--variants', default=os.environ.get('VARIANTS') or '',
                        help=f'columns: {", ".join(names)}')
    parser.add_argument('--kernel', default=os.environ.get('KERNEL') or 'stock-6.12')
    parser.add_argument('--modules', type=Path, help='folder with smc.ko (default: built from the tree)')
    parser.add_argument('--against', type=Path, help='results of an earlier run to compare with')
    parser.add_argument('--output', type=Path, help='file for the results')
    parser.add_argument('--after', metavar='COMMAND', default='',
                        help='shell command in each guest at the end; its output is shown')
    parser.add_argument('--list', action='store_true', help='list cases and variants, and stop')
    options = parser.parse_args(argv)
    if options.kernel[:1].isdigit():
        options.kernel = f'stock-{options.kernel}'
    options.cases = options.cases or (os.environ.get('T') or '').split()
    options.wanted = options.variants.replace(',', ' ').split() or names
    options.icount = options.mode == 'icount'
    options.cpus = options.cpus or (1 if options.icount else 2)
    unknown = [name for name in options.wanted if name not in names]
    if unknown:
        parser.error(f'unknown variant {unknown[0]} (there are: {", ".join(names)})')
    if options.rounds < 1 or options.seeds < 1:
        parser.error('rounds and seeds must be at least 1')
    return options


def drop_impossible(options):
    """Who asked for nothing gets all that the modules can do: SMC-R if they have it."""
    if options.variants or (options.modules / 'smc_rdma.ko').exists():
        return
    without = [one.name for one in cases.VARIANTS if one.module == 'ours-rdma']
    options.wanted = [name for name in options.wanted if name not in without]
    say(f'no smc_rdma.ko, so no {" ".join(without)}')


def say(text):
    print(text, file=sys.stderr, flush=True)


def modules_for(boot, options):
    """Modules in loading order, and those that have to go at the end, in that order."""
    order = [name for path in boot.paths for name in PATH_MODULES[path]]
    own = {variant.module for variant in boot.variants} - {''}
    if not own:
        return order, ''
    if own == {'intree'}:
        return order + ['smc'], ''
    names = ['smc'] + (['smc_rdma'] if 'ours-rdma' in own else [])
    for name in names:
        if not (options.modules / f'{name}.ko').exists():
            raise Trouble(f'{name}.ko was not built: there is none in {options.modules}')
    files = [Path(options.modules, f'{name}.ko').resolve() for name in names]
    return order + files, ' '.join(reversed(names))


def eid_for(boot):
    """SMC-Rv2 needs a user EID."""
    return EID if 'rxe' in boot.paths and any(one.module for one in boot.variants) else ''


def accelerator(kernel, options):
    return 'tcg' if options.icount else qemu.accelerator(kernel.image)


def factor(kernel, options):
    return 1 if options.icount else WALL_FACTOR[accelerator(kernel, options)]


def boot_plan(boot, chosen, size):
    return [f'{case.name} {variant.name} {cases.guest_command(case, variant, size)}'
            for case in chosen for variant in boot.variants if variant.has(case)]


class Progress:
    """One line on the terminal, rewritten; a line per round elsewhere."""

    def __init__(self, boot, seed, total):
        self._title = f'{boot.name}, seed {seed}'
        self._total = total
        self._done = 0
        self._round = 0
        self._start = time.monotonic()

    def __call__(self, result):
        self._done += 1
        seconds = time.monotonic() - self._start
        text = (f'{self._title}: {self._done} of {self._total} in {seconds:.0f} s '
                f'({result["case"]} {result["variant"]})')
        if sys.stderr.isatty():
            print(f'\r\033[K{text}', end='', file=sys.stderr, flush=True)
        elif result['round'] != self._round:
            say(text)
        self._round = result['round']

    @staticmethod
    def end():
        if sys.stderr.isatty():
            print('\r\033[K', end='', file=sys.stderr, flush=True)


def run_boot(boot, chosen, kernel, seed, options, folder):
    """What one guest measured; if it came to a bad end, what it measured until then."""
    modules, unload = modules_for(boot, options)
    plan = boot_plan(boot, chosen, factor(kernel, options))
    memory = max([MEMORY] + [case.memory for case in chosen])
    setup = guest.Setup(kernel=kernel, plan=plan, rounds=options.rounds, paths=boot.paths,
                        modules=modules, unload=unload, icount=options.icount, seed=seed,
                        eid=eid_for(boot),
                        cpus=options.cpus, memory=memory, after=options.after)
    progress = Progress(boot, seed, len(plan) * options.rounds)
    parser = results.Parser(seed, progress)
    folder = folder / f'{boot.name}-{seed}'
    folder.mkdir()
    say(f'{boot.name}: booting {kernel.release} ({options.mode}, {options.cpus} processors)')
    try:
        guest.run(setup, folder, parser.feed)
    except Trouble as trouble:
        parser.failures.append(str(trouble))
    finally:
        progress.end()
    for line in parser.after:
        print(line)
    return parser


def _git(*words):
    result = subprocess.run(['git', '-C', paths.TREE, *words], capture_output=True, text=True,
                            check=False)
    return result.stdout.strip()


def _notes(kernel, options):
    config = kernel.folder / 'config'
    text = config.read_text() if config.exists() else ''
    return {'mode': options.mode, 'kernel': kernel.release, 'cpus': options.cpus,
            'rounds': options.rounds, 'seeds': options.seeds, 'commit': _git('rev-parse', 'HEAD'),
            'changed': bool(_git('status', '--porcelain', '--', 'net', 'include')),
            'init_on_alloc': 'CONFIG_INIT_ON_ALLOC_DEFAULT_ON=y' in text,
            'accelerator': accelerator(kernel, options),
            'date': time.strftime('%Y-%m-%dT%H:%M:%S')}


def _result_file(options, kernel):
    if options.output:
        return options.output
    folder = paths.TREE / 'bench-results'
    folder.mkdir(exist_ok=True)
    (folder / '.gitignore').write_text('*\n')
    return folder / f'{time.strftime("%Y%m%d-%H%M%S")}-{options.mode}-{kernel.name}.jsonl'


def _print_tables(found, chosen, columns, options, notes):
    cells = results.collect(found)
    unit = ('instructions of both ends together' if options.icount
            else f'wall clock, {notes["accelerator"]}')
    print(f'\n{notes["kernel"]}, {unit}, {options.cpus} processor(s), medians of '
          f'{options.rounds} x {options.seeds}, init_on_alloc '
          f'{"on" if notes["init_on_alloc"] else "off"}; '
          '(2.00x): two times better than TCP on the same path\n')
    known = options.icount and options.cpus == 1 and 'smc-lo' in columns
    lines = table.main_table(cells, chosen, columns, options.icount, known)
    lines += [''] + table.switches_table(cells, chosen, columns, known)
    lines += table.counters_tables(cells, chosen, columns)
    if options.against:
        _, old = results.read(options.against)
        lines += [''] + table.comparison_table(cells, results.collect(old), chosen, columns,
                                               options.icount)
    lines += ['', table.spread_line(cells, options.icount)] + [reference.NOTE] * known
    print('\n'.join(lines))


def _list():
    for case in cases.CASES:
        print(f'{case.name:14} {case.title}{" (extra)" if case.extra else ""}')
    print()
    for variant in cases.VARIANTS:
        print(f'{variant.name:14} {variant.family} over {variant.path}')


def run(options):
    qemu.require()
    chosen = cases.choose_cases(options.cases)
    if not chosen:
        raise Trouble(f'no case matches {" ".join(options.cases)} (--list shows all)')
    needed = max(case.cpus for case in chosen)
    if options.cpus < needed:
        raise Trouble(f'{" ".join(options.cases)} needs CPUS={needed}')
    kernel = Kernel.get(options.kernel)
    options.modules = options.modules or kernel.build_modules()
    drop_impossible(options)
    folder = paths.new_log_folder()
    notes = _notes(kernel, options)
    path = _result_file(options, kernel)
    found, failures = [], []
    with open(path, 'w', encoding='utf-8') as output:
        output.write(json.dumps({'notes': notes}) + '\n')
        for boot in plan_boots(options.wanted):
            for seed in range(1, options.seeds + 1 if options.icount else 2):
                parser = run_boot(boot, chosen, kernel, seed, options, folder)
                output.writelines(json.dumps(dict(one, boot=boot.name)) + '\n'
                                  for one in parser.results)
                failures += [f'{boot.name}: {text}' for text in parser.failures]
                found += parser.results
    columns = [variant.name for variant in cases.VARIANTS
               if any(one['variant'] == variant.name for one in found)]
    if columns:
        _print_tables(found, chosen, columns, options, notes)
    for text in failures:
        print(f'FAILED {text}')
    print(f'results: {os.path.relpath(path)}; logs: {folder}')
    return 1 if failures or not found else 0


def main(argv=None):
    options = parse(argv)
    if options.list:
        _list()
        return 0
    try:
        return run(options)
    except Trouble as trouble:
        say(f'tests/bench/run: {trouble}')
        return 1
