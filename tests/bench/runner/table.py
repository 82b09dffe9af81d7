# SPDX-License-Identifier: GPL-2.0-only
"""Tables of medians, with ratios. Pure: cells in, lines out."""

from . import cases, reference

NAME_WIDTH = 36
WIDTH = 18


def _number(value):
    if value is None:
        return '-'
    if value == 0:
        return '0'
    if value < 1:
        return f'{value:.3f}'
    if value < 10:
        return f'{value:.2f}'
    if value < 100:
        return f'{value:.1f}'
    return f'{value:,.0f}'


def _value_of(cell, value):
    return cell.value(value) if cell else None


def times_better(number, base, value):
    """How many times better than the base; None if that cannot be said."""
    if not number or not base:
        return None
    return number / base if value.more_is_better else base / number


def _cell_text(number, base, value):
    ratio = times_better(number, base, value)
    return f'{_number(number)} {f"({ratio:.2f}x)" if ratio else "       ":>9}'


def _line(title, unit, texts):
    return f'{title:<{NAME_WIDTH}}{unit:>8} ' + ''.join(f'{text:>{WIDTH}}' for text in texts)


def _head(title, columns):
    return [_line(title, '', [f'{name}          ' for name in columns]).rstrip()]


def _rows(cells, chosen, columns, pick, known=None, ratios=True):
    for case in chosen:
        value = pick(case)
        if not value:
            continue
        numbers = {name: _value_of(cells.get((case.name, name)), value) for name in columns}
        if all(number is None for number in numbers.values()):
            continue
        texts = []
        for name in columns:
            base = cases.find_variant(name).base
            other = numbers.get(base) if base != name and ratios else None
            texts.append(_cell_text(numbers[name], other, value))
        if known is not None:
            texts.append(_cell_text(*known.get(case.name, (None, None)), value))
        yield _line(case.title, value.unit, texts).rstrip()


def main_table(cells, chosen, columns, icount, known=False):
    """The comparison itself; known: with the numbers that are known from elsewhere."""
    return (_head('', columns + [reference.NAME] * known)
            + list(_rows(cells, chosen, columns, lambda case: case.icount if icount else case.wall,
                         reference.INSTRUCTIONS if known else None)))


def switches_table(cells, chosen, columns, known=False):
    """Context switches, which instructions do not show."""
    return (_head('context switches', columns + [reference.NAME] * known)
            + list(_rows(cells, chosen, columns, lambda case: case.switches,
                         reference.SWITCHES if known else None)))


def counters_tables(cells, chosen, columns):
    """
    What connections leave to kworkers, and how many resets they send.

    Without ratios: TCP has next to none of both.
    """
    lines = []
    for title, pick in (('runs of kworkers', lambda case: case.kworkers),
                        ('TCP resets sent', lambda case: case.rsts)):
        rows = list(_rows(cells, chosen, columns, pick, ratios=False))
        if rows:
            lines += [''] + _head(title, columns) + rows
    return lines


def spread_line(cells, icount):
    """How far the rounds were apart, at worst."""
    worst, where = 0.0, None
    for (name, variant), cell in cells.items():
        case = next(case for case in cases.CASES if case.name == name)
        spread = cell.spread(case.icount if icount else case.wall)
        if spread > worst:
            worst, where = spread, f'{name} {variant}'
    return f'farthest from its median: {worst:.1%}' + (f' ({where})' if where else '')


def comparison_table(cells, old, chosen, columns, icount):
    """Against an earlier run: new value and how many times better it got."""
    lines = _head('against before', columns)
    for case in chosen:
        value = case.icount if icount else case.wall
        texts = []
        for name in columns:
            now = _value_of(cells.get((case.name, name)), value)
            texts.append(_cell_text(now, _value_of(old.get((case.name, name)), value), value))
        lines.append(_line(case.title, value.unit, texts).rstrip())
    return lines
