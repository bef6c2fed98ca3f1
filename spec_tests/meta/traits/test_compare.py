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

from looptck.catalogue.data import fixture
from looptck.cli.group import main
from looptck.report.traits import where
from looptck.values.verdicts import MEANINGS
from looptck.wires import WIRES

CELLS = [f"{wire}/{how}/{mode}" for wire in WIRES for how in ("plain", "stream") for mode in ("sync", "async")]
CHAT, CHAT_ASYNC, STREAM = CELLS[0], CELLS[1], CELLS[2]
SELECTION: dict[str, Any] = {
    "profiles": [], "requirements": [], "cells": [], "cases": [], "level": "MAY", "traits": [], "options": [],
}  # fmt: skip
WHOLE = {"content": "c0ffee", "selection": SELECTION, "unfinished": {"checks": 0, "questions": 0}}
"""What a run says that has come to its end."""
TOLD, RAISED = "told-to-the-model", "error-for-the-caller"
Row = tuple[str, str, str]
"""A requirement, with its case behind a colon, or trait; a cell; a verdict or answer."""


def _file(folder: Path, name: str, verdicts: Sequence[Row], traits: Sequence[Row] | None = (), **more: object) -> str:
    """The results of a run: verdicts, and answers whose details come behind a colon; ``more`` are other members."""
    results = [
        {
            "requirement": id.partition(":")[0], "profile": "core", "level": "MUST", "cell": cell,
            "case": id.partition(":")[2] or "a-case", "verdict": verdict, "reason": "",
        }
        for id, cell, verdict in verdicts
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
        **({} if traits is None else WHOLE),
        **more,
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
    ("twin-ids-lose-nothing:one", CHAT, "pass"),
    ("twin-ids-lose-nothing:two", CHAT, "fail"),
    ("refusal-is-told", CHAT, "pass"),
    ("refusal-is-told", STREAM, "pass"),
    ("model-name-is-sent", CHAT, "pass"),
    ("history-only-grows", CHAT, "fail"),
    ("pings-are-skipped", CHAT, "pass"),
    ("model-name-is-sent", CHAT, "divergence"),
]
AFTER: list[Row] = [
    ("twin-ids-lose-nothing:one", CHAT, "pass"),
    ("twin-ids-lose-nothing:two", CHAT, "pass"),
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
        "broken: passed in A, fails or is not reached in B (1 requirement)",
        f"MUST refusal-is-told pass not-reached {'plain'}",
        f"MUST refusal-is-told pass error {'stream'}",
        "fixed: failed or was not reached in A, passes in B (1 requirement)",
        "MUST twin-ids-lose-nothing fail pass two plain",
        "changed otherwise (1 requirement)",
        "MUST history-only-grows fail not-reached plain",
        "gone: judged in A; not played or not applicable in B (1 requirement)",
        "MUST pings-are-skipped pass · plain",
        "new: judged in B; not played or not applicable in A (1 requirement)",
        "MUST cr-line-ends-are-read · pass plain",
    ] == [_without_impact(line) for line in told]
    counts = "2 broken, 1 fixed, 1 other, 1 gone, 1 new"
    assert f"requirements by cell: {counts}, 1 same; cases by cell: {counts}, 2 same" == lines[-1]


def _without_impact(line: str) -> str:
    """A row without what the catalogue says of its impact."""
    words = line.split()
    return " ".join(word for place, word in enumerate(words) if place != 1 or word not in _IMPACTS)


_IMPACTS = {"unsafe", "broken", "fragile", "untidy"}


def _compared_as_json(a: str, b: str, *words: str) -> dict[str, Any]:
    """What ``--json`` writes, which fits its schema."""
    path = Path(a).with_name("compared.json")
    _compared(a, b, "--json", str(path), *words)
    told: dict[str, Any] = json.loads(path.read_text("utf-8"))
    Draft202012Validator(json.loads(fixture("compare.schema.json").read_text("utf-8"))).validate(told)
    return told


def test_a_case_that_changes_beside_one_that_fails_in_both_is_shown(tmp_path: Path) -> None:
    """The worst verdict of its requirement is the same, and it is named all the same."""
    before: list[Row] = [("twin-ids-lose-nothing:a", CHAT, "fail"), ("twin-ids-lose-nothing:b[one]", CHAT, "pass")]
    after: list[Row] = [("twin-ids-lose-nothing:a", CHAT, "fail"), ("twin-ids-lose-nothing:b[one]", CHAT, "fail")]
    files = _file(tmp_path, "a", before), _file(tmp_path, "b", after)
    status, _, lines = _compared(*files)
    (row,) = _compared_as_json(*files)["requirements"]

    assert 1 == status
    assert "MUST twin-ids-lose-nothing pass fail b[one] everywhere" in [_without_impact(line) for line in lines]
    assert "requirements by cell: 1 the same except for single cases; cases by cell: 1 broken, 1 same" in lines
    assert ("fail", "fail", "cases") == (row["a"], row["b"], row["change"])
    assert [{"case": "b[one]", "a": "pass", "b": "fail", "change": "broken"}] == row["cases"]


def test_cases_with_the_same_two_verdicts_share_a_line(tmp_path: Path) -> None:
    """A few of them are named, and the others counted."""
    sides = [
        [(f"twin-ids-lose-nothing:c{n}", CHAT, word if n else "pass") for n in range(7)] for word in ("fail", "pass")
    ]
    _, _, lines = _compared(_file(tmp_path, "a", sides[0]), _file(tmp_path, "b", sides[1]))

    assert "MUST twin-ids-lose-nothing fail pass c1, c2, c3, c4, and 2 more everywhere" in map(_without_impact, lines)


def test_a_case_of_one_run_alone_fixes_nothing(tmp_path: Path) -> None:
    """A case that failed and is no longer played is gone, and its requirement is not fixed."""
    before: list[Row] = [("twin-ids-lose-nothing:a", CHAT, "pass"), ("twin-ids-lose-nothing:b", CHAT, "fail")]
    (row,) = _compared_as_json(_file(tmp_path, "a", before), _file(tmp_path, "b", before[:1]))["requirements"]

    assert ("fail", "pass", "cases") == (row["a"], row["b"], row["change"])
    assert ["gone"] == [case["change"] for case in row["cases"]]


def test_what_does_not_apply_is_not_judged(tmp_path: Path) -> None:
    """What passed and does not apply any more is gone, the reverse new, and in both it is not compared."""
    names = ("pings-are-skipped", "model-name-is-sent", "refusal-is-told", "history-only-grows")
    words = [("pass", "not-applicable"), ("not-applicable", "fail"), ("not-applicable",) * 2, ("pass", "pass")]
    sides = [[(id, CHAT, pair[side]) for id, pair in zip(names, words, strict=True)] for side in (0, 1)]
    files = _file(tmp_path, "a", sides[0]), _file(tmp_path, "b", sides[1])
    _, output, lines = _compared(*files)
    told = {row["requirement"]: row["change"] for row in _compared_as_json(*files, "--all")["requirements"]}

    assert dict(zip(names, ("gone", "new", "not-applicable", "same"), strict=True)) == told
    assert "requirements by cell: 1 gone, 1 new, 1 same; cases by cell: 1 gone, 1 new, 1 same" in lines
    assert "refusal-is-told" not in output


@pytest.mark.parametrize(
    ("of_a", "of_b", "told"),
    [
        ({}, {}, []),
        (
            {},
            {"unfinished": {"checks": 7, "questions": 2}},
            ["B was interrupted: 9 of the chosen checks and questions"],
        ),
        ({}, {"looptck": "1.0.0"}, ["A was judged by looptck 0.9.0, B by looptck 1.0.0"]),
        (
            {},
            {"content": "bad"},
            ["both were judged by looptck 0.9.0, but with different content (c0ffee and bad)"],
        ),
        (
            {"selection": SELECTION | {"profiles": ["core"]}},
            {"selection": SELECTION | {"cells": ["*/sync", "*/async"]}},
            [
                "the runs had different profiles: core in A, the default in B",
                "the runs had different cells: all in A, */sync, */async in B",
            ],
        ),
    ],
)
def test_runs_that_are_not_alike_are_warned_of(
    tmp_path: Path, of_a: dict[str, Any], of_b: dict[str, Any], told: list[str]
) -> None:
    """A run that was cut short, another kit, another selection: on the terminal and as JSON."""
    files = _file(tmp_path, "a", BEFORE, **of_a), _file(tmp_path, "b", BEFORE, **of_b)
    status, output, _ = _compared(*files)
    compared = _compared_as_json(*files)

    assert 0 == status
    assert told == [warning[: len(words)] for warning, words in zip(compared["warnings"], told, strict=True)]
    assert len(told) == output.count("warning: ")
    assert ("unfinished" in of_b) == compared["b"]["cut_short"]


def test_an_older_run_that_lacks_checks_may_have_been_cut_short(tmp_path: Path) -> None:
    """It does not say so; it is told where the other one has more, and not where it has not."""
    more = [*BEFORE, ("pings-are-skipped", STREAM, "pass")]
    new = _file(tmp_path, "b", BEFORE)
    warnings = [_compared_as_json(_file(tmp_path, "a", rows, None), new)["warnings"] for rows in (BEFORE[3:], more)]

    assert [True, False] == [
        any(one.startswith("A, of looptck 0.8.0, does not say whether it was interrupted") for one in told)
        for told in warnings
    ]


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
    assert "A has no traits (looptck 0.8.0 did not record any), so traits are not compared" in output


def test_cells_of_one_run_alone_are_told_in_a_line(tmp_path: Path) -> None:
    """A cell in which only one of them was played is no list of requirements."""
    one = [("refusal-is-told", CHAT, "pass"), ("model-name-is-sent", CHAT, "pass")]
    more = [*one, *((id, cell, "pass") for id, _, _ in one for cell in CELLS[8:])]
    status, output, _ = _compared(_file(tmp_path, "a", one), _file(tmp_path, "b", more))

    assert 1 == status
    assert "only B has results in anthropic-messages\n" in output
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
        (None, "cannot be read: No such file or directory"),
        ("{", "is not a results file: Expecting"),
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


def test_a_cell_that_is_none_is_found(tmp_path: Path) -> None:
    """A place that is no cell is refused with where it is, among verdicts and among answers."""
    odd = _file(tmp_path, "b", [("x", CHAT, "pass"), ("x", "chat", "pass")])
    asked = _file(tmp_path, "c", [("x", CHAT, "pass")], [("error-429", "chat", RAISED)])

    for file, place in ((odd, "b.json: /results/1/cell: 'chat' is no cell"), (asked, "c.json: /traits/0/cell")):
        status, output, _ = _compared(_file(tmp_path, "a", BEFORE), file)
        assert 2 == status
        assert place in output.replace("\n", " ")


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
