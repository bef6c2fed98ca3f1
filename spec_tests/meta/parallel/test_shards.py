"""The parts of a run, and the run that is made of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from looptck.suite.units import Shard
from meta.parallel.running import Ran, command, played

OF = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the whole run and its parts."""
    return tmp_path_factory.mktemp("shards")


@pytest.fixture(scope="module")
def alone(folder: Path) -> Ran:
    """The whole run."""
    return played(folder / "whole.json", "-j", "1")


@pytest.fixture(scope="module")
def parts(folder: Path) -> list[Path]:
    """Its parts."""
    files = [folder / f"{number}.json" for number in range(1, OF + 1)]
    for number, file in enumerate(files, 1):
        played(file, "-j", "1", "--shard", f"{number}/{OF}")
    return files


def test_the_parts_make_the_whole(alone: Ran, parts: list[Path], tmp_path: Path) -> None:
    """In any order, the merged results are the text that the whole run writes, and its report is the same."""
    merged = command("merge", "-q", *(str(one) for one in reversed(parts)), file=tmp_path / "merged.json")

    assert (alone.status, alone.printed) == (merged.status, merged.printed)
    assert alone.text == merged.text


def test_each_check_is_in_one_part(alone: Ran, parts: list[Path]) -> None:
    """The parts share nothing, and none is empty."""
    counts = [len(json.loads(one.read_text("utf-8"))["results"]) for one in parts]

    assert len(alone.results["results"]) == sum(counts)
    assert min(counts) > 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data.pop("shard"), "is the result of a whole run"),
        (lambda data: data.update(looptck="0.0.1"), "the version of looptck is not that of"),
        (lambda data: data.update(driver="python:another:One"), "the driver is not that of"),
        (lambda data: data["implementation"].update(version="2"), "version: '2', not '"),
        (lambda data: data["selection"].update(level="MUST"), "level: 'MUST', not 'MAY'"),
        (lambda data: data["shard"].update(number=1), "is shard 1, as "),
        (lambda data: data["shard"].update(of=4), "is one of 4, and "),
        (lambda data: data.update(summary=None), "/summary: "),
    ],
)
def test_what_is_no_whole_is_refused(
    change: Callable[[dict[str, Any]], object], told: str, parts: list[Path], tmp_path: Path
) -> None:
    """Parts of different runs, a part twice, or another file: status 2, with the file and the reason."""
    data = json.loads(parts[1].read_text("utf-8"))
    change(data)
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(data), "utf-8")

    ran = command("merge", str(parts[0]), str(changed), str(parts[2]), file=tmp_path / "merged.json")

    assert (2, "") == (ran.status, ran.text)
    assert "looptck could not run: " in ran.printed
    assert told in ran.printed
    assert "changed.json" in ran.printed


def test_a_missing_part_is_named(parts: list[Path], tmp_path: Path) -> None:
    """Without one of the parts there is no whole."""
    ran = command("merge", str(parts[0]), str(parts[2]), file=tmp_path / "merged.json")

    assert 2 == ran.status
    assert "shard 2/3 is missing" in ran.printed


@pytest.mark.parametrize("text", ["", "3", "0/2", "3/2", "a/b", "1/0", "-1/2", "1/2/3"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    """A shard is a number of as many."""
    with pytest.raises(ValueError, match="is no shard"):
        Shard.parse(text)
