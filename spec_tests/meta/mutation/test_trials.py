"""A small package with small tests: its mutants are killed, survive, or run into a limit, and it is told which."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from looptck.suite.options import CouldNotRun
from tools.mutation import __main__ as mutation
from tools.mutation.by_tests import killed_by
from tools.mutation.covering import Covered, Watch, remembered, spread
from tools.mutation.equivalents import equivalents
from tools.mutation.importing import change
from tools.mutation.reference import aside
from tools.mutation.sites import Site, mutated, sites
from tools.mutation.telling import Report
from tools.mutation.trials import Kill, Trial, trials

SOURCE = """\
def largest(numbers):
    most = numbers[0]
    place = 0
    while place < len(numbers):
        if numbers[place] > most:
            most = numbers[place]
        place += 1
    return most
"""
MODULE = "tiny_mutated"
SITES = sites(f"{MODULE}.py", SOURCE)


def examine(site: Site) -> Kill | None:
    """What three small tests make of a mutant of the package."""
    change({MODULE: mutated(SOURCE, site)}, [MODULE])
    largest = importlib.import_module(MODULE).largest
    for number, (numbers, expected) in enumerate([([1], 1), ([1, 3, 2], 3), ([-2, -1], -1)]):
        try:
            if largest(numbers) != expected:
                return Kill("tests", str(number), "fail")
        except IndexError:
            return Kill("tests", str(number), "error")
    return None


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the package in it, from which it can be imported."""
    (tmp_path / f"{MODULE}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_mutants_are_killed_survive_or_run_into_their_limit(package: Path) -> None:
    """Each has the end that its change leads to."""
    fates = {
        trial.mutant.name.partition(": ")[2]: trial.kill.by if trial.kill else None
        for trial in trials(examine, SITES, workers=2, seconds=5.0)
    }

    assert {
        "int + 1: `numbers[0]`": "tests",
        "int - 1: `numbers[0]`": None,
        "int + 1: `place = 0`": None,
        "int - 1: `place = 0`": None,
        "comparison flipped: `place < len(numbers)`": "tests",
        "boundary moved: `place < len(numbers)`": "tests",
        "comparison flipped: `numbers[place] > most`": "tests",
        "boundary moved: `numbers[place] > most`": None,
        "int + 1: `place += 1`": "tests",
        "int - 1: `place += 1`": "limit",
        "return dropped: `return most`": "tests",
    } == fates


def test_an_examination_that_fails_is_no_kill() -> None:
    """An error of the examination itself says nothing of the mutant."""

    def broken(site: Site) -> Kill | None:
        raise KeyError(site.name)

    (trial,) = trials(broken, SITES[:1], workers=1, seconds=9)

    assert trial.kill is None
    assert "KeyError" in trial.trouble


@pytest.mark.parametrize(("assertion", "found"), [("1 == 1", False), ("1 == 2", True)])
def test_a_test_that_fails_kills(tmp_path: Path, assertion: str, found: bool) -> None:
    """The first test that fails is named."""
    (tmp_path / "test_tiny.py").write_text(f"def test_tiny():\n    assert {assertion}\n")

    killed = aside(lambda: [killed_by([str(tmp_path)])])[0]

    assert found == (killed is not None and killed.which.endswith("test_tiny.py::test_tiny"))


def test_lines_are_known_by_who_executes_them(package: Path) -> None:
    """Each line has the set of those that executed it, as bits."""

    def learn() -> Covered:
        watch = Watch(package)
        largest = importlib.import_module(MODULE).largest
        for number, numbers in enumerate([[1], [1, 2]]):
            watch.switch(number)
            largest(numbers)
        return watch.end(2)

    lines = aside(learn).lines[f"{MODULE}.py"]

    assert (0b11, 0b10) == (lines[5], lines[6])


def test_what_was_learnt_is_remembered(tmp_path: Path) -> None:
    """As long as it is about the same."""
    first, second = Covered([0.5], {"m.py": {3: 0b101}}), Covered([0.7], {})
    file = tmp_path / "kept.json"

    remembered(file, ["a"], lambda: first)

    assert first == remembered(file, ["a"], lambda: second)
    assert second == remembered(file, ["b"], lambda: second)


def test_a_site_is_seen_by_those_that_execute_it() -> None:
    """A change in a function by those that run its lines; one on import by all, first by those that run the line."""
    covered = Covered([0.1, 0.1, 0.1], {"m.py": {1: 0b100, 2: 0b011}})
    on_import, in_call = sites("m.py", "a = 1\ndef f(): return 1\n")[::3]

    assert [2, 0, 1] == covered.of(on_import)
    assert [0, 1] == covered.of(in_call)


def test_checks_are_spread() -> None:
    """The quickest of each requirement, then another cell of it, then the same again; slow ones wait."""
    checks = [("a", "x"), ("a", "x"), ("a", "y"), ("b", "x"), ("c", "x")]
    seconds = [0.001, 0.002, 0.003, 0.004, 0.5]

    assert [0, 3, 2, 1, 4] == spread(range(5), seconds, checks.__getitem__)


def report(*kills: Kill | None, listed: tuple[int, ...] = ()) -> Report[Site]:
    """A report of the first sites, some of them on the reviewed list."""
    trials = [Trial(site, kill) for site, kill in zip(SITES, kills, strict=False)]
    return Report(trials, {SITES[number].name: "makes no difference" for number in listed}, lambda _: ["  there"])


def test_a_report_counts() -> None:
    """The last line says how many there are of each kind."""
    kills = Kill("suite", "a", "fail"), Kill("suite", "b", "error"), Kill("tests", "c"), Kill("limit", "d"), None, None

    told = report(*kills, listed=(4,))

    assert [f"survived: {SITES[5].name}", "  there"] == told.lines()[:2]
    assert (
        "6 sites, 2 killed by the suite (1 by a fail), 1 killed by unit tests, 1 killed by a limit, 1 equivalent, "
        "1 survived: 80.0 % killed"
    ) == told.lines()[-1]


def test_an_interrupted_run_says_what_it_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What became of the mutants until then is kept; the others count as trouble, not as killed."""

    def interrupted(*_: object, **__: object) -> Iterator[Trial[Site]]:
        yield Trial(SITES[1], Kill("suite", "a", "fail"))
        raise KeyboardInterrupt

    monkeypatch.setattr(mutation, "trials", interrupted)

    tried = mutation._tried(lambda _: None, SITES[:3], {}, 1, 1.0)
    told = Report(tried, {}, lambda _: [], len(SITES[:3]) - len(tried))

    assert [SITES[1]] == [one.mutant for one in tried]
    assert ["interrupted: 2 mutants were not tried"] == told.troubles


def test_an_entry_that_is_killed_is_a_finding() -> None:
    """The reviewed list may not excuse what needs no excuse."""
    told = report(Kill("suite", "every-call-runs", "fail"), listed=(0,))

    assert [f"{SITES[0].name}: is on the list, and every-call-runs kills it"] == told.stale


def test_an_entry_of_no_mutant_is_refused(tmp_path: Path) -> None:
    """A name that no site has any more."""
    file = tmp_path / "equivalents.yaml"
    file.write_text("a site that was: makes no difference\n")

    assert {"a site that was": "makes no difference"} == equivalents(["a site that was"], file)
    with pytest.raises(CouldNotRun, match="a site that was"):
        equivalents(["another"], file)


def test_an_entry_without_a_reason_is_refused(tmp_path: Path) -> None:
    """Each has to be explained."""
    file = tmp_path / "equivalents.yaml"
    file.write_text("a site: ''\n")

    with pytest.raises(CouldNotRun, match="a site"):
        equivalents(["a site"], file)
