"""Coverage: each statement of a profile is in one of four sorts, by what a run did with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from looptck.catalogue.requirements import Profile, catalogue
from looptck.commands.coverage import coverage_of
from looptck.values.verdicts import Result, Verdict
from meta.kit.commands import run

ROW = replace(catalogue()["lost-memory-reruns-no-tool"], id="row", needs=("memory",), excluded=None)


def sort_of(verdict: Verdict | None, *, needs: tuple[str, ...] = (), excluded: str | None = None) -> dict[str, int]:
    """The sorts of a profile of one row, which has one result of this verdict, or none."""
    row = replace(ROW, needs=needs, excluded=excluded)
    results = [Result("row", "core", "MUST", "openai-chat/plain/sync", "case", verdict, "")] if verdict else []
    found = coverage_of(Profile("core", "Core", finished=True, requirements=(row,)), results)
    sorts = {sort: len(getattr(found, sort)) for sort in ("tested", "excluded", "inapplicable", "untested")}
    return {**{sort: count for sort, count in sorts.items() if count}, "lacking": int(found.lacking)}


@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_what_was_decided_was_tested(verdict: Verdict) -> None:
    """A pass and a failure show that the deciding event happened."""
    assert {"tested": 1, "lacking": 0} == sort_of(verdict)


@pytest.mark.parametrize("verdict", [None, "not-reached", "error", "divergence"])
def test_what_was_not_decided_is_untested(verdict: Verdict | None) -> None:
    """Nothing that did not come to its deciding event counts as tested, and a finished profile lacks it."""
    assert {"untested": 1, "lacking": 1} == sort_of(verdict)


def test_what_an_implementation_cannot_do_is_not_applicable() -> None:
    """A check that was ready, and a capability that is declared absent, are no lack of the kit."""
    assert {"inapplicable": 1, "lacking": 0} == sort_of("not-applicable", needs=("memory",))


def test_what_does_not_apply_to_a_loop_that_does_otherwise_is_not_applicable() -> None:
    """A row may be for loops that are seen to do something, such as to lean on the service's memory."""
    assert {"inapplicable": 1, "lacking": 0} == sort_of("not-applicable")


def test_what_is_excluded_is_excluded() -> None:
    """A row with a reason needs no result."""
    assert {"excluded": 1, "lacking": 0} == sort_of(None, excluded="It cannot be seen.")


def test_results_of_a_run_that_has_been_are_enough(tmp_path: Path) -> None:
    """Their coverage is told without a second run."""
    file = str(tmp_path / "results.json")
    ran, _ = run("run", "-q", "--requirement", "limit-is-a-ceiling", "--cell", "openai-chat/plain/sync", "--json", file)

    status, printed = run("coverage", "--results", file, "--profile", "prompty-spec")

    rows = len(catalogue().profiles["prompty-spec"].requirements)
    assert (0, catalogue().profiles["prompty-spec"].finished) == (ran, status == 1)
    assert f"prompty-spec          {rows}       0" in printed


def test_a_profile_that_there_is_not_is_named(tmp_path: Path) -> None:
    """No coverage is told of it, neither of a new run nor of one that has been."""
    file = str(tmp_path / "results.json")
    ran, _ = run("run", "-q", "--requirement", "limit-is-a-ceiling", "--cell", "openai-chat/plain/sync", "--json", file)

    assert 0 == ran
    for words in ([], ["--results", file]):
        status, printed = run("coverage", "--profile", "prompty-speck", *words)
        assert 2 == status
        assert "there is no profile 'prompty-speck'; did you mean prompty-spec" in printed


def test_results_of_several_runs_count_together(tmp_path: Path) -> None:
    """What one implementation cannot be asked another may have answered."""
    files = [str(tmp_path / "loops.json"), str(tmp_path / "servers.json")]
    chosen = (("limit-is-a-ceiling", "core"), ("server-no-call-no-tool", "server-loop"))
    for file, (row, profile) in zip(files, chosen, strict=True):
        ran, _ = run("run", "-q", "--profile", profile, "--requirement", row, "--json", file)
        assert 0 == ran

    _, printed = run("coverage", "--results", files[0], "--results", files[1])

    tested = {row[0]: row[2] for row in map(str.split, printed.splitlines()) if row and row[0] in catalogue().profiles}
    assert ("1", "1") == (tested["core"], tested["server-loop"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read: No such file or directory"),
        ("{", "is not a results file"),
        ("[]", "name a file written by looptck run"),
    ],
)
def test_a_file_that_holds_no_results_is_told(tmp_path: Path, text: str | None, words: str) -> None:
    """It is named, with what is wrong with it, and nothing counts as covered."""
    file = tmp_path / "results.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")

    status, printed = run("coverage", "--results", str(file))

    assert 2 == status
    assert str(file) in printed.replace("\n", "")
    assert words in printed
