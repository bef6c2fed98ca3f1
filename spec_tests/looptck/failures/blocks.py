"""Blocks: one for each cause, with the row that names it, why, where, and how to see it again.

A few causes are told at length, many in short and the last of very many in a line, so that the report of a bad loop can
still be read: all that was left out is in the results as JSON and in the traces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from textwrap import wrap

from looptck.failures.causes import Cause, patterns
from looptck.failures.failure import indented, weight
from looptck.failures.groups import Finding
from looptck.values.plain import cut

AT_LENGTH = 2
"""The most causes that are told with all that happened."""
MOST_LINES = 140
"""The most lines for all blocks together, as far as the lines that each must have allow it."""
MOST_CASES = 4
MOST_ROWS = 8
MOST_SOURCES = 2
REASON = 300
"""The most characters of a reason."""
SEVERAL_LINES = 4
WIDTH = 140
"""The most characters of a line, but of the one to paste."""
LEAST = 40
"""The characters that a reason has at least, however little room there is."""
CUT = 26
"""The characters of the words that say how much of a reason was cut."""
FEW_ROWS = 3
AGAIN = "  again: "


def blocks(causes: Sequence[Cause], cells: Sequence[str]) -> list[list[str]]:
    """The lines of each block; ``cells`` are all in which anything was judged."""
    if len(causes) <= AT_LENGTH:
        return [_wrapped((_long if cause.example.text else _middling)(cause, cells)) for cause in causes]
    told = [_wrapped(_middling(cause, cells)) for cause in causes]
    for shorter in (_short, _shortest):
        for number in reversed(range(len(told))):
            if sum(len(lines) + 1 for lines in told) <= MOST_LINES:
                return told
            told[number] = _wrapped(shorter(causes[number], cells))
    return told


def _wrapped(lines: Iterable[str]) -> list[str]:
    """The same in lines that fit; the one to paste stays as it is."""
    return [part for line in lines for part in (wrapped(line) if not line.startswith(AGAIN) else [line])]


def wrapped(line: str) -> list[str]:
    """A line in as many as it needs, the further ones below the first and further in."""
    if len(line) <= WIDTH:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    return wrap(
        line.strip(),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        expand_tabs=False,
        replace_whitespace=False,
        break_on_hyphens=False,
    )


def one_line(cause: Cause, cells: Sequence[str]) -> str:
    """A cause in one line."""
    head = _head(cause, cells)
    return f"{head}  {_shortly(cause.example, WIDTH - len(head) - 2)}"


def where(cells: Sequence[str], all_cells: Sequence[str]) -> str:
    """Cells in words."""
    told = []
    for pattern in patterns(cells, all_cells):
        count = sum(fnmatchcase(cell, pattern) for cell in cells)
        short = pattern.replace("/*/*", "/*")
        told.append(f"all {count} cells" if pattern == "*" else f"{short} ({count} cells)" if "*" in short else short)
    return ", ".join(told)


def _head(cause: Cause, cells: Sequence[str]) -> str:
    verdict = cause.example.result.verdict.upper()
    return f"{verdict}  {cause.row.id}  [{where(cause.cells, cells)}]"


def _long(cause: Cause, cells: Sequence[str]) -> Iterator[str]:
    """The whole text of the example, with what else there is before its last line."""
    lines = cause.example.text.splitlines()[1:]
    last = next((at for at, line in enumerate(lines) if line.startswith(AGAIN)), len(lines))
    yield _head(cause, cells)
    for line in lines[:last]:
        yield from _cases(cause) if line.startswith("  case: ") and len(cause.findings) > 1 else [line]
    yield from _others(cause)
    yield from _trace(cause.example)
    yield from lines[last:]


def _middling(cause: Cause, cells: Sequence[str]) -> Iterator[str]:
    yield _head(cause, cells)
    yield f"  {weight(cause.row)} {cause.row.text}"
    more = len(cause.row.sources) - MOST_SOURCES
    sources = "; ".join(map(str, cause.row.sources[:MOST_SOURCES]))
    yield f"  source: {sources}{f'; and {more} more' if more > 0 else ''}"
    yield from _because(cause.example)
    yield from cause.example.evidence
    yield from _cases(cause)
    yield from _others(cause)
    yield from _trace(cause.example)
    yield f"{AGAIN}{cause.example.again}"


def _short(cause: Cause, cells: Sequence[str]) -> Iterator[str]:
    yield _head(cause, cells)
    yield f"  {weight(cause.row)} {cause.row.text}"
    yield f"  because: {_shortly(cause.example, WIDTH - len('  because: '))}"
    yield from _others(cause, words="also", most=FEW_ROWS)
    yield f"{AGAIN}{cause.example.again}"


def _shortest(cause: Cause, cells: Sequence[str]) -> Iterator[str]:
    yield one_line(cause, cells)
    yield f"{AGAIN}{cause.example.again}"


def _shortly(one: Finding, width: int) -> str:
    """The first line of a reason, cut so that it fits behind something else."""
    reason = next(iter(one.result.reason.splitlines()), "")
    return reason if len(reason) <= width else cut(reason, max(LEAST, width - CUT))


def _because(one: Finding) -> Iterator[str]:
    lines = [cut(line, REASON) for line in one.result.reason.splitlines()[:SEVERAL_LINES]]
    yield from indented("  because: ", "\n".join(lines))


def _cases(cause: Cause) -> Iterator[str]:
    cases = list(cause.cases)
    more = f", and {len(cases) - MOST_CASES} more" if len(cases) > MOST_CASES else ""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in cause.verdicts.items())
    yield f"  case{'s' if len(cases) > 1 else ''}: {', '.join(cases[:MOST_CASES])}{more} ({counts})"


def _others(cause: Cause, words: str = "also noticed by", most: int = MOST_ROWS) -> Iterator[str]:
    others = cause.noticed_by
    if not others:
        return
    told = [f"{id} ({_counted(found)})" for id, found in others.items()]
    more = f", and {len(told) - most} more rows" if len(told) > most else ""
    yield f"  {words}: {', '.join(told[:most])}{more}"


def _counted(found: Sequence[Finding]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in Counter(one.result.verdict for one in found).items())


def _trace(one: Finding) -> Iterator[str]:
    if one.trace:
        yield f"  trace: {one.trace}"
