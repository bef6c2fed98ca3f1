"""Blocks of the report: one for each cause, with its requirement, the reason, the cells and the command to repeat it.

A few causes are reported in full, many in short form, and the last of very many in one line each, so that the report of
a bad loop stays readable: everything omitted is in the JSON results and in the traces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from textwrap import wrap

from looptck.failures.causes import Cause, patterns
from looptck.failures.failure import indented, weight
from looptck.failures.groups import Finding
from looptck.values.plain import amount, begun

AT_LENGTH = 2
"""The most causes that are reported in full."""
MOST_LINES = 140
"""The most lines for all blocks together; exceeded only by the lines that each block must have."""
MOST_CASES = 4
MOST_ROWS = 8
MOST_SOURCES = 2
REASON = 600
"""The most characters of a line of a reason."""
SEVERAL_LINES = 4
WIDTH = 140
"""The most characters of a line; the command line to paste may be longer."""
FEW_ROWS = 3
AGAIN = "  again: "


def blocks(causes: Sequence[Cause], cells: Sequence[str], width: int = WIDTH) -> list[list[str]]:
    """The lines of each block, `WIDTH` wide at most; ``cells`` are all judged cells."""
    width = min(width, WIDTH)
    if len(causes) <= AT_LENGTH:
        return [_wrapped((_long if cause.example.text else _middling)(cause, cells), width) for cause in causes]
    shown = [_wrapped(_middling(cause, cells), width) for cause in causes]
    for shorter in (_short, _shortest):
        for number in reversed(range(len(shown))):
            if sum(len(lines) + 1 for lines in shown) <= MOST_LINES:
                return shown
            shown[number] = _wrapped(shorter(causes[number], cells), width)
    return shown


def _wrapped(lines: Iterable[str], width: int) -> list[str]:
    """The lines wrapped to a width, except the command line to paste."""
    return [part for line in lines for part in (wrapped(line, width) if not line.startswith(AGAIN) else [line])]


def wrapped(line: str, width: int = WIDTH) -> list[str]:
    """A line wrapped to a width, its further lines indented below the first."""
    if len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    return wrap(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        expand_tabs=False,
        replace_whitespace=False,
        break_on_hyphens=False,
    )


def one_line_each(causes: Sequence[Cause], cells: Sequence[str]) -> list[str]:
    """A line for each cause, with the cases where several are named after one requirement."""
    named = Counter(cause.row.id for cause in causes)
    lines = (_one_line(one, cells, _few_cases(one) if named[one.row.id] > 1 else "") for one in causes)
    return ["  ".join(filter(None, (line, _also(cause)))) for line, cause in zip(lines, causes, strict=True)]


def _one_line(cause: Cause, cells: Sequence[str], cases: str = "") -> str:
    return "  ".join(filter(None, (_head(cause, cells), cases and f"({cases})", _shortly(cause.example))))


def _also(cause: Cause) -> str:
    """The other requirements that fail, of which one may say more than the one that names the cause.

    Where none fails, not even that one, they are those that are not reached either.
    """
    ids = [id for id, found in cause.noticed_by.items() if any(one.result.verdict == "fail" for one in found)]
    words = "also fails"
    if cause.example.result.verdict == "not-reached":
        ids, words = list(cause.noticed_by), "not reached either"
    more = f", and {len(ids) - FEW_ROWS} more" if len(ids) > FEW_ROWS else ""
    return f"({words}: {', '.join(ids[:FEW_ROWS])}{more})" if ids else ""


def where(cells: Sequence[str], all_cells: Sequence[str]) -> str:
    """Cells in words."""
    words = []
    for pattern in patterns(cells, all_cells):
        count = sum(fnmatchcase(cell, pattern) for cell in cells)
        short = pattern.replace("/*/*", "/*")
        several = f"{short} ({amount(count, 'cell')})" if "*" in short else short
        words.append(f"all {count} cells" if pattern == "*" else several)
    return ", ".join(words)


def _head(cause: Cause, cells: Sequence[str]) -> str:
    verdict = cause.example.result.verdict.upper()
    return f"{verdict}  {cause.row.id}  [{where(cause.named_in, cells)}]"


def _long(cause: Cause, cells: Sequence[str]) -> Iterator[str]:
    """The full report of the example, with cases, other requirements and the trace before its last line."""
    lines = cause.example.text.splitlines()[1:]
    last = next((at for at, line in enumerate(lines) if line.startswith(AGAIN)), len(lines))
    yield _head(cause, cells)
    for line in lines[:last]:
        yield from _cases(cause) if line.startswith("  case: ") and len(cause.findings) > 1 else [line]
    yield from _others(cause, cells)
    yield from _trace(cause.example)
    yield from lines[last:]


def _middling(cause: Cause, cells: Sequence[str]) -> Iterator[str]:
    yield _head(cause, cells)
    yield f"  {weight(cause.row)} {cause.row.text}"
    more = len(cause.row.sources) - MOST_SOURCES
    sources = "; ".join(map(str, cause.row.sources[:MOST_SOURCES]))
    yield f"  source: {sources}{f'; and {more} more' if more > 0 else ''}"
    yield from (f"  not for loops that declare {one}" for one in cause.row.excused_by)
    yield from _because(cause.example)
    yield from cause.example.evidence
    yield from _cases(cause)
    yield from _others(cause, cells)
    yield from _trace(cause.example)
    yield f"{AGAIN}{cause.example.again}"


def _short(cause: Cause, cells: Sequence[str]) -> Iterator[str]:
    yield _head(cause, cells)
    yield f"  {weight(cause.row)} {cause.row.text}"
    yield f"  because: {_shortly(cause.example)}"
    yield from _others(cause, cells, most=FEW_ROWS)
    yield f"{AGAIN}{cause.example.again}"


def _shortest(cause: Cause, cells: Sequence[str]) -> Iterator[str]:
    yield _one_line(cause, cells)
    yield f"{AGAIN}{cause.example.again}"


def _shortly(one: Finding) -> str:
    """The first line of a reason, and what ended the run early."""
    reason = begun(next(iter(one.result.reason.splitlines()), ""), REASON)
    return f"{reason}; {one.ending}" if one.ending else reason


def _because(one: Finding) -> Iterator[str]:
    lines = [begun(line, REASON) for line in one.result.reason.splitlines()[:SEVERAL_LINES]]
    yield from indented("  because: ", "\n".join(lines))


def _cases(cause: Cause) -> Iterator[str]:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in cause.verdicts.items())
    yield f"  {_few_cases(cause)} ({counts})"


def _few_cases(cause: Cause) -> str:
    cases = list(cause.cases)
    more = f", and {len(cases) - MOST_CASES} more" if len(cases) > MOST_CASES else ""
    return f"case{'s' if len(cases) > 1 else ''}: {', '.join(cases[:MOST_CASES])}{more}"


def _others(cause: Cause, cells: Sequence[str], words: str = "also fails", most: int = MOST_ROWS) -> Iterator[str]:
    others = cause.noticed_by
    if not others:
        return
    rows = [f"{id} ({_counted(found)}{_elsewhere(found, cause, cells)})" for id, found in others.items()]
    more = f", and {len(rows) - most} more requirements" if len(rows) > most else ""
    yield f"  {words}: {', '.join(rows[:most])}{more}"


def _elsewhere(found: Sequence[Finding], cause: Cause, cells: Sequence[str]) -> str:
    """Where another requirement fails, if it is somewhere else than the one that names the cause."""
    own = list(dict.fromkeys(one.result.cell for one in found))
    return "" if {*own} <= {*cause.named_in} else f", {where(own, cells)}"


def _counted(found: Sequence[Finding]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in Counter(one.result.verdict for one in found).items())


def _trace(one: Finding) -> Iterator[str]:
    if one.trace:
        yield f"  trace: {one.trace}"
