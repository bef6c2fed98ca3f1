"""The parts of the tool that plays mutants of a loop from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from looptck.suite.options import CouldNotRun
from tools.mutation.sites import sites
from tools.outside.fates import KILLED, NOT_PLAYED, SURVIVED, Kept, fate, lines
from tools.outside.loop import Loop, Mutant, sample
from tools.outside.marking import MARK, MARKER, marked, reached
from tools.outside.playing import Heard

SOURCE = '''\
"""A module."""

from __future__ import annotations


def played(a):
    """What it does."""
    if (
        a
        and len(a) > 1
    ):
        return [
            a,
        ]
    try:
        found = a[0]
    except (
        IndexError
    ):
        found = None
    else:
        never()
    match found:
        case None if not a:
            a = 1
        case _:
            a = 2
    return a


def idle():
    return 1


played("")
'''
MUTANT = Mutant(sites("loop.py", "a = 1")[0], "a = 1", "a = 2")


def loop(folder: Path, source: str = SOURCE) -> Loop:
    """A loop of one module, and its driver."""
    (folder / "driver.py").write_text("", encoding="utf-8")
    (folder / "loop.py").write_text(source, encoding="utf-8")
    return Loop.beside(folder / "driver.py", ())


def test_marked_sources_tell_what_is_reached(tmp_path: Path) -> None:
    """Heads and statements on all their lines, and none of a branch that was not taken."""
    (tmp_path / f"{MARK}.py").write_text(MARKER, encoding="utf-8")
    (tmp_path / "loop.py").write_text(marked("loop.py", SOURCE), encoding="utf-8")

    subprocess.run([sys.executable, "loop.py"], cwd=tmp_path, check=True)

    never = {12, 13, 14, 22, 26, 27}
    assert {"loop.py": set(range(8, 29)) - never - {21}} == {
        module: numbers - {21, 11} | {11} for module, numbers in reached(tmp_path).items()
    }


def test_mutants_are_on_reached_lines(tmp_path: Path) -> None:
    """What is not reached is not changed, and a name does not lose the only value that it has."""
    found = loop(tmp_path, "def f(a):\n    b = 1\n    return b\n\n\ndef g():\n    return 2\n")

    assert ["int + 1", "int - 1", "return dropped"] == [one.site.operator for one in found.mutants({"loop.py": {2, 3}})]


def test_mutants_are_different_modules(tmp_path: Path) -> None:
    """Two changes that come to the same are one mutant."""
    found = list(loop(tmp_path, "def f(a):\n    return a and not a\n").mutants({"loop.py": {2}}))

    assert len(found) == len({one.source for one in found}) > 0


def test_a_greater_sample_begins_with_a_smaller_one(tmp_path: Path) -> None:
    """A seed names one order of mutants, which begins with one of each kind."""
    found = list(loop(tmp_path).mutants({"loop.py": set(range(100))}))

    assert sample(found, 5, 3) == sample(found, 12, 3)[:5] != sample(found, 5, 4)
    assert len({(one.site.operator.split()[0], one.site.operator.split()[-1]) for one in sample(found, 5, 3)}) == 5
    assert found == sample(found, None, 3)


@pytest.mark.parametrize("modules", [("other.py",), ()], ids=["another", "none"])
def test_a_loop_without_modules(tmp_path: Path, modules: tuple[str, ...]) -> None:
    """A module that is not there is told, and so is a driver alone."""
    (tmp_path / "driver.py").write_text("", encoding="utf-8")

    with pytest.raises(CouldNotRun):
        Loop.beside(tmp_path / "driver.py", modules)


@pytest.mark.parametrize(
    ("heard", "expected", "told"),
    [
        (Heard(), SURVIVED, "    + a = 2"),
        (Heard((("a-row", "why"),), ("a-row",)), KILLED, "    a-row: why"),
        (Heard((("a-row", "why"),), ("a-row", "b", "c")), KILLED, "    2 more rows failed"),
        (Heard(trouble="no\nresults"), NOT_PLAYED, "    no results"),
    ],
    ids=["survived", "killed", "killed-by-several", "not-played"],
)
def test_fates(heard: Heard, expected: str, told: str) -> None:
    """A mutant is killed by rows, survives, or cannot be played; its last line says the rest."""
    one = fate(MUTANT, heard)

    assert expected == one["fate"]
    assert told == list(lines(one))[-1]


def test_fates_are_kept_for_the_same_loop(tmp_path: Path) -> None:
    """Another run goes on with the file; after an edit of the loop it begins anew."""
    kept = Kept(tmp_path / "mutants.json", "digest", {"loop.py": [1]})
    kept.add(fate(MUTANT, Heard()))

    read = Kept.of(kept.file, "digest")

    assert (kept.reached, kept.fates) == (read.reached, read.fates)
    assert ({}, {}) == (Kept.of(kept.file, "other").reached, Kept.of(kept.file, "other").fates)


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    """A file that has no fates is left alone."""
    (tmp_path / "mutants.json").write_text(json.dumps({"results": []}), encoding="utf-8")

    with pytest.raises(CouldNotRun):
        Kept.of(tmp_path / "mutants.json", "digest")
