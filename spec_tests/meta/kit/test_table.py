"""The table of verdicts, as a person sees it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from rich.console import Console

from looptck.catalogue.known_failures import Known
from looptck.catalogue.requirements import catalogue
from looptck.report.table import table
from looptck.values.cell import Cell
from looptck.values.verdicts import Result, Verdict
from looptck.wires import WIRES

ROW = "unknown-tool-is-not-lost"
CELLS = [Cell(wire, stream, mode) for wire in WIRES for stream in (False, True) for mode in ("sync", "async")]
REASONS: dict[Verdict, str] = {"not-applicable": "the driver declares no capability `chunks`"}
DIFFERENT: tuple[Verdict, Verdict] = "pass", "fail"
PLAIN_CHAT = Cell("openai-chat", False, "sync"), Cell("openai-chat", False, "async")


def _printed(
    results: list[tuple[str, Cell, Verdict]],
    *known: Known,
    width: int = 140,
    brief: bool = False,
    plain: bool = True,
) -> list[str]:
    """The printed table; ``plain``: whether the loop can ask for plain replies."""
    record: Any = SimpleNamespace(
        results=[
            Result(row, "core", "MUST", str(cell), "case", verdict, reason)
            for row, cell, verdict in results
            for reason in [REASONS.get(verdict, "") if plain or cell.stream else "no capability `plain`"]
        ],
        cells=lambda: CELLS,
        catalogue=catalogue(),
        started=SimpleNamespace(name="a loop", version="1.0", language="python"),
        known=known,
        known_of=lambda one: next(
            (entry for entry in known if entry.covers(one.requirement, Cell.parse(one.cell), one.case, one.reason)),
            None,
        ),
    )
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(table(record, brief=brief))
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
    assert "* known failure" == printed[-1]


def test_a_known_case_excuses_no_other() -> None:
    """Where a case fails that the entry does not name, the cell bears no star."""
    printed = _printed([(ROW, PLAIN_CHAT[0], "fail")], Known(ROW, "*", "it is so", "another-case"))

    assert f"{ROW}  MUST    fail" in printed


def test_what_was_not_asked_is_a_dot() -> None:
    """A cell of the table without a check is no verdict."""
    printed = _printed([(ROW, PLAIN_CHAT[0], "pass"), ("wires-agree", CELLS[-1], "fail")])

    assert f"{ROW}  MUST    pass     ·" in printed
    assert "wires-agree               MUST    ·        fail" in printed


def test_rows_that_do_not_apply_share_a_line() -> None:
    """What the driver declares absent is told once, with the reason and how many rows it concerns."""
    idle = ["chunks-join-to-the-answer", "final-text-arrives-as-it-is-written"]

    printed = _printed([(ROW, PLAIN_CHAT[0], "pass"), *((row, PLAIN_CHAT[0], "not-applicable") for row in idle)])

    assert "2 requirements do not apply: no capability `chunks` (2)" == printed[-1]
    assert not [line for line in printed if line.startswith(tuple(idle))]


def test_a_reason_is_that_of_a_cell_with_a_column() -> None:
    """Of a loop that only streams, what a row lacks in streams is told, and not once more that it has no plain mode."""
    plain, stream = PLAIN_CHAT[0], Cell("openai-chat", True, "sync")
    idle = "chunks-join-to-the-answer"
    verdicts: list[tuple[str, Cell, Verdict]] = [
        *((row, plain, "not-applicable") for row in (ROW, idle)),
        (ROW, stream, "pass"),
        (idle, stream, "not-applicable"),
    ]

    told = _printed(verdicts, plain=False)[-2:]

    assert [
        "1 requirement does not apply: no capability `chunks` (1)",
        "nothing applies to openai-chat/plain: no capability `plain`",
    ] == told


def test_columns_that_do_not_apply_share_a_line() -> None:
    """A wire and mode in which nothing applies has no column."""
    streams = [cell for cell in CELLS if cell.stream]

    printed = _printed([(ROW, PLAIN_CHAT[0], "pass"), *((ROW, cell, "not-applicable") for cell in streams)])

    told = "openai-chat/stream, openai-responses/stream, anthropic-messages/stream: no capability `chunks`"
    assert f"nothing applies to {told}" == printed[-1]
    assert f"{ROW}  MUST    pass" in printed


def test_a_brief_table_has_what_fails() -> None:
    """What passes is counted, and what failed has its row."""
    printed = _printed([(ROW, PLAIN_CHAT[0], "pass"), ("wires-agree", PLAIN_CHAT[0], "fail")], brief=True)

    assert ["wires-agree  MUST    fail", "1 more requirement passed in every applicable cell"] == printed[-2:]
