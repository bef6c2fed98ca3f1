"""Blocks: one for each cause, with the row that names it, why, where, and how to see it again.

A few causes are told at length, many in short, so that the report of a bad loop can still be read: all that was left
out is in the results as JSON and in the traces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from looptck.plain import cut
from looptck.report.causes import Cause, patterns
from looptck.report.failure import indented, weight
from looptck.report.groups import Finding

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


def blocks(causes: Sequence[Cause], cells: Sequence[str]) -> list[list[str]]:
    """The lines of each block; ``cells`` are all in which anything was judged."""
    if len(causes) <= AT_LENGTH:
        return [list((_long if cause.example.text else _middling)(cause, cells)) for cause in causes]
    told = [list(_middling(cause, cells)) for cause in causes]
    for number in reversed(range(len(told))):
        if sum(len(lines) + 1 for lines in told) <= MOST_LINES:
            break
        told[number] = list(_short(causes[number], cells))
    return told


def one_line(cause: Cause, cells: Sequence[str]) -> str:
    """A cause in one line."""
    reason = cause.example.result.reason.splitlines()[0] if cause.example.result.reason else ""
    return f"{_head(cause, cells)}  {cut(reason, REASON // 2)}"


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
    last = next((at for at, line in enumerate(lines) if line.startswith("  again: ")), len(lines))
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
    yield f"  again: {cause.example.again}"


def _short(cause: Cause, cells: Sequence[str]) -> Iterator[str]:
    yield _head(cause, cells)
    yield f"  {weight(cause.row)} {cause.row.text}"
    yield next(_because(cause.example))
    yield from _others(cause, words="also")
    yield f"  again: {cause.example.again}"


def _because(one: Finding) -> Iterator[str]:
    lines = [cut(line, REASON) for line in one.result.reason.splitlines()[:SEVERAL_LINES]]
    yield from indented("  because: ", "\n".join(lines))


def _cases(cause: Cause) -> Iterator[str]:
    cases = list(cause.cases)
    more = f", and {len(cases) - MOST_CASES} more" if len(cases) > MOST_CASES else ""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in cause.verdicts.items())
    yield f"  case{'s' if len(cases) > 1 else ''}: {', '.join(cases[:MOST_CASES])}{more} ({counts})"


def _others(cause: Cause, words: str = "also noticed by") -> Iterator[str]:
    others = cause.noticed_by
    if not others:
        return
    told = [f"{id} ({_counted(found)})" for id, found in others.items()]
    more = f", and {len(told) - MOST_ROWS} more rows" if len(told) > MOST_ROWS else ""
    yield f"  {words}: {', '.join(told[:MOST_ROWS])}{more}"


def _counted(found: Sequence[Finding]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in Counter(one.result.verdict for one in found).items())


def _trace(one: Finding) -> Iterator[str]:
    if one.trace:
        yield f"  trace: {one.trace}"
