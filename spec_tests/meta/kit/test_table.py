"""The table of verdicts, as a person sees it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from rich.console import Console

from looptck.catalogue import catalogue
from looptck.cells import Cell
from looptck.known import Known
from looptck.report.table import table
from looptck.verdicts import Result, Verdict
from looptck.wires import WIRES

ROW = "unknown-tool-is-not-lost"
CELLS = [Cell(wire, stream, mode) for wire in WIRES for stream in (False, True) for mode in ("sync", "async")]
DIFFERENT: tuple[Verdict, Verdict] = "pass", "fail"
PLAIN_CHAT = Cell("openai-chat", False, "sync"), Cell("openai-chat", False, "async")


def _printed(results: list[tuple[str, Cell, Verdict]], *known: Known, width: int = 140) -> list[str]:
    session: Any = SimpleNamespace(
        results=[Result(row, "core", "MUST", str(cell), "case", verdict) for row, cell, verdict in results],
        cells=lambda: CELLS,
        catalogue=catalogue(),
        kit=SimpleNamespace(started=SimpleNamespace(name="a loop", version="1.0", language="python")),
        known=known,
        is_known=lambda row, cell: any(one.covers(row, cell) for one in known),
    )
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(table(session))
    return [line.rstrip() for line in capture.get().splitlines()]


def test_all_cells_fit() -> None:
    """Every requirement in every cell, failing: nothing is cut off at the width of a log."""
    printed = _printed(
        [(row.id, cell, verdict) for row in catalogue() for cell in CELLS for verdict in ("not-reached", "pass")]
    )

    assert not [line for line in printed if "…" in line]
    assert {row.id for row in catalogue()} <= {line.split()[0] for line in printed}


def test_modes_that_agree_share_a_word() -> None:
    """The worst verdict of the cases of both modes, and how many have it."""
    printed = _printed([(ROW, cell, verdict) for cell in PLAIN_CHAT for verdict in ("pass", "fail", "pass")])

    assert ["a loop 1.0 (python)", f"{ROW}  MUST    fail 1/3"] == [printed[0], printed[-1]]


def test_modes_that_differ_are_told_apart() -> None:
    """Each on a line of its own."""
    printed = _printed([(ROW, cell, verdict) for cell, verdict in zip(PLAIN_CHAT, DIFFERENT, strict=True)])

    assert [f"{ROW}  MUST    sync pass", "async fail"] == [line.strip() for line in printed[-2:]]


def test_known_failures_are_marked() -> None:
    """With a star, and the table says what that is."""
    printed = _printed([(ROW, cell, "fail") for cell in PLAIN_CHAT], Known(ROW, "openai-chat/*/*", "it is so"))

    assert f"{ROW}  MUST    fail*" in printed
    assert "* a known failure" == printed[-1]


def test_what_was_not_asked_is_a_dot() -> None:
    """A cell of the table without a check is no verdict."""
    printed = _printed([(ROW, PLAIN_CHAT[0], "pass"), ("wires-agree", CELLS[-1], "not-applicable")])

    assert f"{ROW}  MUST    pass     ·" in printed
    assert "wires-agree               MUST    ·        n/a" in printed
