"""What the loop without a fault has passed in an earlier run is not played again by ``looptck kill``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from looptck.cli.group import main
from looptck.commands.kill.command import Kill
from looptck.commands.kill.options import KillOptions
from looptck.drivers import REFERENCE
from looptck.suite.options import CouldNotRun

MUTANTS = f"python:{Path(__file__).parent / 'some_mutants.py'}:BROAD"
EVERYTHING = {"profiles": [], "requirements": [], "cells": [], "cases": [], "level": "MAY", "traits": []}
ROW, CELL = "limit-is-a-ceiling", "openai-chat/plain/sync"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the reference, in one row and cell."""
    path = tmp_path_factory.mktemp("passed") / "results.json"
    words = ["run", "-q", "-j", "1", "--driver", REFERENCE, "--requirement", ROW, "--cell", CELL, "--json", str(path)]
    assert 0 == CliRunner().invoke(main, words).exit_code
    return path


def unharmed(*files: Path) -> int:
    """How many checks the loop without a fault has to pass before its mutant is judged."""
    return Kill(KillOptions(mutants=MUTANTS, names=("broad",), cells=(CELL,), own=True, passed=files)).unharmed()


def changed(results: Path, path: Path, members: Mapping[str, object]) -> Path:
    """The results with other members."""
    path.write_text(json.dumps({**json.loads(results.read_text(encoding="utf-8")), **members}), encoding="utf-8")
    return path


def test_what_has_passed_is_not_played_again(results: Path) -> None:
    """With the results of all its checks there is nothing left, and without them they are played."""
    assert (True, 0) == (unharmed() > 0, unharmed(results))


def test_what_has_not_passed_is_played(results: Path, tmp_path: Path) -> None:
    """A check that has failed or does not apply, and one that has no result, are no check that has passed."""
    first, second, *others = json.loads(results.read_text(encoding="utf-8"))["results"]
    left = [{**first, "verdict": "fail"}, {**second, "verdict": "not-applicable"}, *others[1:]]

    assert 3 == unharmed(changed(results, tmp_path / "results.json", {"results": left}))


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"content": "0" * 64}, "was written by another looptck"),
        ({"driver": "python:somebody:Else"}, "has the results of looptck-reference"),
        ({"results": None}, "results.json"),
        ({"selection": {**EVERYTHING, "options": ["--dialect", "vllm"]}}, "of a run with --dialect; mutants"),
    ],
)
def test_other_results_are_refused(results: Path, tmp_path: Path, members: dict[str, object], told: str) -> None:
    """Results of another loop, of another looptck, or of nothing prove nothing."""
    with pytest.raises(CouldNotRun, match=told):
        unharmed(changed(results, tmp_path / "results.json", members))
