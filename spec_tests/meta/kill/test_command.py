"""``looptck kill``: what it makes of mutants of every fate, and its exit status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from looptck.catalogue.data import fixture
from looptck.cli.group import main
from looptck.commands.kill.plan import Planned, plan
from looptck.suite.session import Session

ROWS = {
    "call-runs-its-tool-once",
    "every-call-is-answered",
    "every-call-of-a-turn-runs",
    "limit-counts-all-agents",
    "limit-is-a-ceiling",
    "limit-of-zero-runs-no-tool",
    "spec-limit-error-has-the-documents-text",
    "spec-limit-raises-runtime-error",
}
"""The rows by whose checks the mutants here are judged; CI judges those of the reference by all."""
MUTANTS = f"python:{Path(__file__).parent / 'some_mutants.py'}"


def kill(collection: str, *words: str) -> tuple[int, str]:
    """Exit status and output of the matrix of some mutants."""
    done = CliRunner().invoke(main, ["kill", "--mutants", f"{MUTANTS}:{collection}", "--workers", "1", *words])
    return done.exit_code, done.output


def states(path: Path) -> dict[str, str]:
    """The state of each mutant in a matrix that was written."""
    return {one["name"]: one["state"] for one in read(path)["mutants"]}


def read(path: Path) -> dict[str, Any]:
    """A matrix that was written."""
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


@pytest.fixture(scope="module", autouse=True)
def _few_checks() -> Iterator[None]:
    """Only these rows in the plan."""

    def few(session: Session) -> list[Planned]:
        return [one for one in plan(session) if one.check.requirement.id in ROWS]

    with patch("looptck.commands.kill.command.plan", few):
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str, dict[str, Any]]:
    """Exit status, output and content of the matrix of mutants of every fate."""
    path = tmp_path_factory.mktemp("every-fate") / "kill.json"
    return *kill("OF_EVERY_FATE", "--json", str(path)), read(path)


def test_mutant_that_does_what_it_says_is_killed(tmp_path: Path) -> None:
    """It fails what it breaks in the cells that are asked for, and its collateral has a reason: nothing to mend."""
    wide = ["--profile", "core", "--cell", "openai-chat/plain/*"]
    status, output = kill("KILLED", "--mutant", "one-too-many", *wide, "--json", str(tmp_path / "kill.json"))

    assert 0 == status
    assert output.splitlines()[-1].startswith("1 killed   0 survived   0 noisy   (1 mutant; ")
    assert {"one-too-many": "killed"} == states(tmp_path / "kill.json")
    cells = {one["cell"] for one in read(tmp_path / "kill.json")["mutants"][0]["failed"]["limit-is-a-ceiling"]}
    assert {"openai-chat/plain/sync", "openai-chat/plain/async"} == cells


def test_what_is_not_as_declared_is_reported(made: tuple[int, str, dict[str, Any]]) -> None:
    """Noise, a kill by others only, and a survivor: each is a finding, in words."""
    status, output, matrix = made

    assert 1 == status
    wanted = {"noisy": "killed", "mistaken": "killed by others only", "harmless": "survived"}
    assert wanted == {one["name"]: one["state"] for one in matrix["mutants"] if one["name"] in wanted}
    assert (
        "mutant noisy: it also fails limit-of-zero-runs-no-tool, which it does not declare: openai-chat/plain" in output
    )
    assert "mutant mistaken: it does not fail every-call-is-answered, which passes\n" in output
    assert "mutant harmless: it does not fail every-call-is-answered, which passes\n" in output
    last = "2 killed   1 killed by others only   1 survived   2 broken   2 noisy   0 idle   (6 mutants; "
    assert output.splitlines()[-1].startswith(last)


def test_mutant_that_cannot_be_judged_is_told(made: tuple[int, str, dict[str, Any]]) -> None:
    """A driver that does not start and a process that ends are findings, and stop no other mutant."""
    _, output, matrix = made

    assert "mutant unready: DriverFault: " in output
    assert "mutant gone: its process ended unexpectedly, with status 3" in output
    assert {"unready", "gone"} == {one["name"] for one in matrix["mutants"] if one["state"] == "broken"}


def test_crash_kills_nothing() -> None:
    """A check that fails because the mutant crashed has proven nothing."""
    status, output = kill("CRASHING", "--mutant", "crashes", "--cell", "openai-chat/plain/sync")

    assert 1 == status
    assert "it does not fail spec-limit-raises-runtime-error, but crashes with TypeError" in output
    assert output.splitlines()[-1].startswith("0 killed   1 killed by others only   0 survived   1 noisy   (1 mutant; ")


def test_requirement_that_nothing_kills_is_told(made: tuple[int, str, dict[str, Any]]) -> None:
    """Where all mutants are judged, each requirement of their profiles needs one."""
    _, output, matrix = made

    rows = {row["id"]: row for row in matrix["requirements"]}
    row = rows["call-runs-its-tool-once"]
    assert 0 < row["cases"] == len(row["unproven"])
    counts = matrix["summary"]
    proven = counts["cases"] - counts["cases without a mutant"]
    assert f"; {proven} of {counts['cases']} cases; " in output.splitlines()[-1]
    assert "\ncall-runs-its-tool-once: no mutant that declares to break it fails it\n" in output
    assert "\nevery-call-of-a-turn-runs: no mutant" not in output


def test_only_its_own_checks_may_be_played(tmp_path: Path) -> None:
    """A mutant is judged by the checks of what it breaks; its noise is not seen, and nothing is said to fail alone."""
    named = ["--mutant", "noisy", "--mutant", "mistaken", "--own", "--json", str(tmp_path / "kill.json")]
    status, output = kill("MISTAKEN", *named)

    assert 1 == status
    assert {"noisy": "killed", "mistaken": "survived"} == states(tmp_path / "kill.json")
    assert [{"limit-is-a-ceiling"}] == [
        {*one["failed"]} for one in read(tmp_path / "kill.json")["mutants"] if one["name"] == "noisy"
    ]
    assert "(2 mutants; each judged only by the checks of what it breaks, until one fails; " in output.splitlines()[-1]


def test_broad_mutant_is_judged_by_what_it_breaks(tmp_path: Path) -> None:
    """Its collateral failures are no noise, though the other mutants are judged by more, and no proof of its own."""
    status, output = kill("BROAD", "--mutant", "broad", "--json", str(tmp_path / "kill.json"))
    (one,) = read(tmp_path / "kill.json")["mutants"]

    assert 0 == status
    assert ["limit-is-a-ceiling"] == [*one["failed"]]
    assert (True, "killed", []) == (one["coarse"], one["state"], one["noise"])
    assert output.splitlines()[-1].startswith("1 killed   0 survived   0 noisy   (1 mutant; ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--mutants", f"{MUTANTS}:KILLED", "--own", "--html", "page.html"], "--html and --own exclude each other"),
        (["--mutants", "somewhere"], "is not a collection of mutants: write python:MODULE:NAME or python:FILE.py:NAME"),
        (["--mutants", "python:nowhere:MUTANTS"], "cannot be read: ModuleNotFoundError"),
        (["--mutants", f"{MUTANTS}:OneTooMany"], "cannot be read: TypeError"),
        (["--mutants", f"{MUTANTS}:KILLED", "--mutant", "one-to-many"], "did you mean one-too-many?"),
        (["--mutants", f"{MUTANTS}:KILLED", "--profile", "prompty-spec"], "nothing was selected"),
        (["--mutants", f"{MUTANTS}:KILLED", "--requirement", "every-call-is-answered"], "nothing was selected"),
        (["--mutants", f"{MUTANTS}:KILLED", "--profile", "prompty-speck"], "did you mean prompty-spec"),
        (["--requirement", "every-call-is-answerd"], "did you mean every-call-is-answered"),
        (["--mutants", f"{MUTANTS}:KILLED", "--cell", "carrier-pigeon/*"], "nothing was selected"),
        (
            ["--mutants", f"{MUTANTS}:KILLED", "--driver", "python:meta.kit.flawed:TakesCallsForAnswers"],
            "the loop without a fault fails: ",
        ),
    ],
)
def test_what_cannot_be_judged_is_refused(words: list[str], told: str) -> None:
    """Nothing to judge, or nothing to judge it by, ends with status 2 and the reason."""
    done = CliRunner().invoke(main, ["kill", "--workers", "1", *words])

    assert 2 == done.exit_code
    assert told in done.output


def test_mutants_may_be_chosen_by_what_they_break(tmp_path: Path) -> None:
    """Those that break the requirement are judged, and nothing is said of requirements as a whole."""
    status, _ = kill("MISTAKEN", "--requirement", "limit-is-a-ceiling", "--own", "--json", str(tmp_path / "kill.json"))

    assert 0 == status
    assert ({"noisy": "killed"}, []) == (states(tmp_path / "kill.json"), read(tmp_path / "kill.json")["requirements"])


def test_proofs_are_written_without_playing(tmp_path: Path) -> None:
    """The file holds what the mutants of all references break."""
    done = CliRunner().invoke(main, ["kill", "--proofs", str(tmp_path / "proofs.json")])

    assert (0, "") == (done.exit_code, done.output)
    assert fixture("proofs.json").read_text(encoding="utf-8") == (tmp_path / "proofs.json").read_text(encoding="utf-8")
