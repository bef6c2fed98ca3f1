"""Baselines: what fails today goes into the file of known failures, and what a person wrote there stays."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from looptck.catalogue.known_failures import Known
from looptck.catalogue.requirements import catalogue
from looptck.commands.baseline import entries, stale
from looptck.report.results import Results
from looptck.values.verdicts import Result, Verdict
from meta.drivers.bench import judged
from meta.kit.commands import run
from meta.site.making import cause, data

FLAWED = "python:meta.kit.flawed:TakesCallsForAnswers"
CALLS = "call-runs-its-tool-once"
CELLS = [f"openai-chat/{dress}/sync" for dress in ("plain", "stream")]
CUT = json.dumps(data("cut", "1", [], [cause(CALLS, [0])]))
"""Results whose cause names a result that was taken out."""


def test_a_baseline_excuses_the_run_that_it_was_made_from(tmp_path: Path) -> None:
    """With the file that it writes the same run has no findings, and a second baseline adds nothing."""
    into = tmp_path / "known.yaml"
    words = ["--driver", FLAWED, "--requirement", CALLS, "--cell", "openai-chat/*/sync"]
    first = run("baseline", *words, "--into", str(into))
    again = run("run", "-q", *words, "--known-failures", str(into))
    second = run("baseline", *words, "--into", str(into))

    assert (0, f"2 entries added to {into}, which had 0") == (first[0], first[1].strip())
    assert 0 == again[0]
    assert f"0 entries added to {into}, which had 2" in second[1]
    written = yaml.safe_load(into.read_text("utf-8"))
    assert [(CALLS, cell) for cell in CELLS] == [(entry["requirement"], entry["cell"]) for entry in written]
    for entry in written:
        assert entry["reason"].startswith(
            "To be reviewed: Each tool call of a complete turn runs its tool exactly once"
        )


def test_a_baseline_is_made_from_results(tmp_path: Path) -> None:
    """What ``--json`` left behind is enough; a reason that somebody wrote stays, and so does a comment."""
    results, into = tmp_path / "results.json", tmp_path / "known.yaml"
    report = judged(FLAWED, CALLS, "calls-are-echoed", cells=("openai-chat/plain/sync",))
    results.write_text(json.dumps({**report.json, "looptck": "0.1"}), "utf-8")
    written = f"# ours\n- requirement: {CALLS}\n  cell: '*'\n  reason: This loop runs no tools; see issue 12.\n"
    into.write_text(written, "utf-8")
    status, output = run("baseline", "--results", str(results), "--into", str(into))

    warning, added = output.split("\n", 1)

    assert (0, "1 entry added") == (status, added[:13])
    assert warning.startswith(f"warning: {results} was judged by looptck 0.1, and this is looptck ")
    assert into.read_text("utf-8").startswith(written)
    assert [CALLS, "calls-are-echoed"] == [one["requirement"] for one in yaml.safe_load(into.read_text("utf-8"))]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", "name a file written by looptck run --json"),
        ("{", "is not a results file"),
        (CUT, "/causes/0/results: names a result that is not there"),
    ],
)
def test_what_is_no_results_is_refused(tmp_path: Path, text: str, told: str) -> None:
    """A file that no run has written is refused with exit status 2, and nothing is written."""
    (tmp_path / "results.json").write_text(text, "utf-8")
    status, output = run("baseline", "--results", str(tmp_path / "results.json"), "--into", str(tmp_path / "k.yaml"))

    assert (2, False) == (status, (tmp_path / "k.yaml").exists())
    assert told in output.replace("\n", "")


def results(*rows: tuple[str, str, Verdict], id: str = CALLS, **more: Any) -> Results:
    """The results of a row: case, cell and verdict."""
    found = tuple(Result(id, "core", "MUST", cell, case, verdict, "why") for case, cell, verdict in rows)
    return replace(Results(Path(), "0", "", {}, found), **more)


def made(found: Results, *old: Known) -> list[tuple[str, str | None]]:
    """Cells and cases of the entries that are made."""
    return [(one.cell, one.case) for one in entries(found, old)]


def test_a_case_that_fails_alone_is_named() -> None:
    """Beside others that pass; where several fail, or there is no other, the entry holds for all."""
    alone: list[tuple[str, str, Verdict]] = [("a[1]", CELLS[0], "fail"), ("b", CELLS[0], "pass")]

    assert [(CELLS[0], "a[1]")] == made(results(*alone))
    assert [(CELLS[0], None)] == made(results(*alone, ("c", CELLS[0], "not-reached")))
    assert [(CELLS[0], None)] == made(results(alone[0]))


def test_an_entry_covers_the_cells_that_fail() -> None:
    """All of them or the one; an error is no failure of the loop."""
    assert [("*", None)] == made(results(*(("a", cell, "fail") for cell in CELLS)))
    assert [(CELLS[1], None)] == made(results(("a", CELLS[0], "pass"), ("a", CELLS[1], "fail")))
    assert [] == made(results(("a", CELLS[0], "error"), ("a", CELLS[1], "not-applicable")))


CHAT: dict[str, Any] = {"wires": ["openai-chat", "a-wire-of-its-own"], "modes": ["sync"]}


def test_an_entry_covers_no_cell_that_was_not_played() -> None:
    """Where the driver has more cells than the run, and the requirement is about them."""
    stream = results(("a", CELLS[1], "fail"), implementation=CHAT)
    both = results(*(("a", cell, "fail") for cell in CELLS), implementation=CHAT)
    async_too = results(*(("a", cell, "fail") for cell in CELLS), implementation=CHAT | {"modes": ["sync", "async"]})
    about_streams = results(("a", CELLS[1], "fail"), id="pings-are-skipped", implementation=CHAT)

    assert [(CELLS[1], None)] == made(stream) == made(about_streams)
    assert [("*", None)] == made(both)
    assert [(cell, None) for cell in CELLS] == made(async_too)


def test_an_entry_covers_no_case_that_was_not_asked_for() -> None:
    """Of a run that was asked for cases each entry names its own."""
    found = results(("a", CELLS[0], "fail"), ("b", CELLS[0], "fail"), selection={"cases": ["a", "b"]})

    assert [(CELLS[0], "a"), (CELLS[0], "b")] == made(found)


def test_the_reason_tells_of_the_requirement_itself() -> None:
    """It has the sentence of its own row, whatever row names the cause that it falls with, and what was seen of it."""
    report = judged(FLAWED, CALLS, "calls-are-echoed", cells=(CELLS[0],))
    told = {one.requirement: one.reason for one in entries(Results.of(report.json), [])}

    assert {CALLS} == {cause["requirement"] for cause in report.json["causes"]}
    assert told["calls-are-echoed"].startswith(f"To be reviewed: {catalogue()['calls-are-echoed'].text} Observed: ")


def test_what_an_entry_covers_is_not_added() -> None:
    """Whether it names the case or all of them."""
    found = results(("a", CELLS[0], "fail"), ("b", CELLS[0], "fail"))

    assert [] == made(found, Known(CALLS, "*", "it is so"))
    assert [(CELLS[0], "b")] == made(found, Known(CALLS, "*", "it is so", "a"))


def test_stale_entries_are_named_and_stay() -> None:
    """An entry whose checks all pass is told; one that nothing of the run concerns is not."""
    old: list[Any] = [
        Known(CALLS, CELLS[0], "was so"),
        Known(CALLS, CELLS[1], "is so"),
        Known("wires-agree", "*", "so"),
    ]
    at_times = Known(CALLS, CELLS[0], "was so once", sometimes=True)
    found = results(("a", CELLS[0], "pass"), ("a", CELLS[1], "fail"))

    assert [] == list(stale(found.results, [at_times]))
    assert old[:1] == list(stale(found.results, old))
