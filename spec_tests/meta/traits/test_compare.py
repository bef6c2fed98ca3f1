"""Comparing two runs: what is told of verdicts and traits that differ, and of files that cannot be compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from looptck.cli import main
from looptck.data import fixture
from looptck.report.traits import where
from looptck.verdicts import MEANINGS
from looptck.wires import WIRES

CELLS = [f"{wire}/{how}/{mode}" for wire in WIRES for how in ("plain", "stream") for mode in ("sync", "async")]
CHAT, CHAT_ASYNC, STREAM = CELLS[0], CELLS[1], CELLS[2]
TOLD, RAISED = "told-to-the-model", "error-for-the-caller"
Row = tuple[str, str, str]
"""A requirement or trait, a cell, and a verdict or answer."""


def _file(folder: Path, name: str, verdicts: Sequence[Row], traits: Sequence[Row] | None = ()) -> str:
    """The results of a run: verdicts, and answers whose details come behind a colon."""
    results = [
        {
            "requirement": id, "profile": "core", "level": "MUST", "cell": cell, "case": f"case-{n}",
            "verdict": verdict, "reason": "",
        }
        for n, (id, cell, verdict) in enumerate(verdicts)
    ]  # fmt: skip
    counts = Counter(verdict for _, _, verdict in verdicts)
    told: dict[str, Any] = {
        "looptck": "0.8.0" if traits is None else "0.9.0",
        "driver": "python:a:B",
        "implementation": {
            "name": f"loop {name}", "version": "1.2", "language": "python", "wires": ["openai-chat"], "modes": ["sync"],
            "profiles": [], "capabilities": {}, "dialect": {},
        },
        "summary": {verdict: counts[verdict] for verdict in MEANINGS},
        "results": results,
        "driver_faults": [],
        "stale_known_failures": [],
    }  # fmt: skip
    if traits is not None:
        told["traits"] = [
            {"trait": id, "cell": cell, "answer": answer.partition(": ")[0], "detail": answer.partition(": ")[2]}
            for id, cell, answer in traits
        ]
    path = folder / f"{name}.json"
    path.write_text(json.dumps(told), "utf-8")
    return str(path)


def _compared(*words: str) -> tuple[int, str, list[str]]:
    """Exit status, output, and output without the blanks of its columns."""
    done = CliRunner().invoke(main, ["compare", *words])
    return done.exit_code, done.output, [" ".join(line.split()) for line in done.output.splitlines()]


BEFORE: list[Row] = [
    ("twin-ids-lose-nothing", CHAT, "pass"),
    ("twin-ids-lose-nothing", CHAT, "fail"),
    ("refusal-is-told", CHAT, "pass"),
    ("refusal-is-told", STREAM, "pass"),
    ("model-name-is-sent", CHAT, "pass"),
    ("history-only-grows", CHAT, "fail"),
    ("pings-are-skipped", CHAT, "pass"),
    ("model-name-is-sent", CHAT, "divergence"),
]
AFTER: list[Row] = [
    ("twin-ids-lose-nothing", CHAT, "pass"),
    ("refusal-is-told", CHAT, "not-reached"),
    ("refusal-is-told", STREAM, "error"),
    ("model-name-is-sent", CHAT, "pass"),
    ("history-only-grows", CHAT, "not-reached"),
    ("cr-line-ends-are-read", CHAT, "pass"),
]


def test_verdicts_are_grouped_by_what_became_of_them(tmp_path: Path) -> None:
    """The worst verdict of each cell counts: fixed, broken, new, gone, and what changed otherwise."""
    status, _, lines = _compared(_file(tmp_path, "a", BEFORE), _file(tmp_path, "b", AFTER))

    assert 1 == status
    assert ["A loop a 1.2 (python)", "B loop b 1.2 (python)"] == [line.partition(") ")[0] + ")" for line in lines[:2]]
    told = [line for line in lines if line.startswith(("MUST", "broken", "fixed", "changed", "gone", "new"))]
    assert [
        "broken: passed in A, counts against B (1 requirements)",
        f"MUST refusal-is-told pass not-reached {'plain'}",
        f"MUST refusal-is-told pass error {'stream'}",
        "fixed: counted against A, passes in B (1 requirements)",
        "MUST twin-ids-lose-nothing fail pass plain",
        "changed otherwise (1 requirements)",
        "MUST history-only-grows fail not-reached plain",
        "gone: judged in A, and not in B (1 requirements)",
        "MUST pings-are-skipped pass · plain",
        "new: judged in B, and not in A (1 requirements)",
        "MUST cr-line-ends-are-read · pass plain",
    ] == [_without_impact(line) for line in told]
    assert "requirements by cell: 2 broken, 1 fixed, 1 other, 1 gone, 1 new, 1 same" == lines[-1]


def _without_impact(line: str) -> str:
    """A row without what the catalogue says of its impact."""
    words = line.split()
    return " ".join(word for place, word in enumerate(words) if place != 1 or word not in _IMPACTS)


_IMPACTS = {"unsafe", "broken", "fragile", "untidy"}


def test_same_files_are_the_same(tmp_path: Path) -> None:
    """Nothing is told of what is the same, but for their counts; with --all it is."""
    traits: list[Row] = [("raising-tool", CHAT, f"{TOLD}: Error: no"), ("cut-reply", CHAT, f"{RAISED}: of 12 bytes")]
    otherwise: list[Row] = [*traits[:1], ("cut-reply", CHAT, f"{RAISED}: of 13 bytes")]
    a, b = _file(tmp_path, "a", BEFORE, traits), _file(tmp_path, "b", BEFORE, otherwise)

    status, output, _ = _compared(a, b)
    assert (0, False) == (status, "refusal-is-told" in output)
    status, output, lines = _compared(a, b, "--all")
    assert (0, True) == (status, "refusal-is-told" in output)
    assert f"raising-tool {TOLD} Error: no {TOLD} Error: no plain" in lines


def test_traits_that_differ_show_both_answers(tmp_path: Path) -> None:
    """An answer that changed is told with its cells; a detail counts where the trait says so, and nowhere else."""
    cells = [(id, cell, "pass") for id in ("refusal-is-told",) for cell in (CHAT, CHAT_ASYNC, STREAM)]
    a: list[Row] = [
        *(("raising-tool", cell, f"{TOLD}: Error: no") for cell in (CHAT, CHAT_ASYNC, STREAM)),
        ("error-429", CHAT, "given-up-later: 3 requests"),
        ("refusal", CHAT, "stop-told: refusal: No."),
        ("null-result", CHAT, "as-json"),
    ]
    b: list[Row] = [
        *(("raising-tool", cell, f"{RAISED}: LookupError: no") for cell in (CHAT, CHAT_ASYNC)),
        ("raising-tool", STREAM, f"{TOLD}: Error: no"),
        ("error-429", CHAT, "given-up-later: 2 requests"),
        ("refusal", CHAT, "stop-told: refusal: I will not."),
        ("twin-ids", CHAT, "one-runs"),
    ]
    status, _, lines = _compared(_file(tmp_path, "a", cells, a), _file(tmp_path, "b", cells, b))

    assert 1 == status
    assert [
        f"raising-tool {TOLD} Error: no {RAISED} LookupError: no plain",
        "error-429 given-up-later 3 requests given-up-later 2 requests plain/sync",
        "null-result as-json · plain/sync",
        "twin-ids · one-runs plain/sync",
    ] == [line for line in lines if line.startswith(("raising", "error", "refusal", "null", "twin"))]
    assert lines[-1].endswith("traits by cell: 5 of 7 differ")


def test_older_results_have_no_traits(tmp_path: Path) -> None:
    """Results of a version that knew none are compared by their verdicts, and it is told."""
    old = _file(tmp_path, "a", BEFORE, None)
    new = _file(tmp_path, "b", BEFORE, [("raising-tool", CHAT, TOLD)])
    status, output, _ = _compared(old, new)

    assert 0 == status
    assert "A holds no traits: looptck 0.8.0 knew none, so they are not compared" in output


def test_cells_of_one_run_alone_are_told_in_a_line(tmp_path: Path) -> None:
    """A cell in which only one of them was played is no list of requirements."""
    one = [("refusal-is-told", CHAT, "pass"), ("model-name-is-sent", CHAT, "pass")]
    more = [*one, *((id, cell, "pass") for id, _, _ in one for cell in CELLS[8:])]
    status, output, _ = _compared(_file(tmp_path, "a", one), _file(tmp_path, "b", more))

    assert 1 == status
    assert "only B was played in anthropic-messages\n" in output
    assert "refusal-is-told" not in output


@pytest.mark.parametrize("everything", [False, True])
def test_comparison_fits_its_schema(tmp_path: Path, everything: bool) -> None:
    """The JSON fits its schema, and holds what is the same only when it is asked for."""
    path = tmp_path / "compared.json"
    files = _file(tmp_path, "a", BEFORE, [("raising-tool", CHAT, TOLD)]), _file(tmp_path, "b", AFTER, None)
    _compared(*files, "--json", str(path), *(["--all"] if everything else []))
    told = json.loads(path.read_text("utf-8"))

    Draft202012Validator(json.loads(fixture("compare.schema.json").read_text("utf-8"))).validate(told)
    assert everything == any(row["change"] == "same" for row in told["requirements"])
    assert (1, None) == (told["a"]["traits"], told["b"]["traits"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "is no file of results: "),
        ("{", "is no file of results: Expecting"),
        ("[1]", "/: [1] is not of type"),
        ('{"looptck": "1"}', '/: "driver" is a required property'),
    ],
)
def test_file_that_is_no_results_cannot_be_compared(tmp_path: Path, text: str | None, told: str) -> None:
    """It is named, with the place of the fault."""
    path = tmp_path / "b.json"
    if text is not None:
        path.write_text(text, "utf-8")
    status, output, _ = _compared(_file(tmp_path, "a", BEFORE), str(path))

    assert 2 == status
    assert f"b.json: {told}" in output.replace("\n", " ")


def test_place_of_a_fault_is_told(tmp_path: Path) -> None:
    """A verdict that there is not is found where it stands."""
    status, output, _ = _compared(_file(tmp_path, "a", BEFORE), _file(tmp_path, "b", [("x", CHAT, "perhaps")]))

    assert 2 == status
    assert "/summary" in output or "/results/0/verdict" in output


def test_nothing_is_not_the_same_as_nothing(tmp_path: Path) -> None:
    """A run without results cannot be compared."""
    status, output, _ = _compared(_file(tmp_path, "a", []), _file(tmp_path, "b", BEFORE))

    assert 2 == status
    assert "a.json: holds no results" in output


@pytest.mark.parametrize(
    ("some", "words"),
    [
        (CELLS, []),
        (CELLS[:4], ["openai-chat"]),
        ([cell for cell in CELLS if "/stream/" in cell], ["stream"]),
        ([cell for cell in CELLS if cell.endswith("/sync")], ["sync"]),
        ([CHAT], ["openai-chat/plain/sync"]),
        ([*CELLS[:4], CELLS[6], CELLS[7]], ["openai-chat", "openai-responses/stream"]),
        ([CELLS[0], CELLS[1], CELLS[2]], ["openai-chat/sync", "openai-chat/plain"]),
    ],
)
def test_cells_are_told_in_few_words(some: list[str], words: list[str]) -> None:
    """Cells are named by what they have in common, and all of them by nothing."""
    assert words == where(some, CELLS)
