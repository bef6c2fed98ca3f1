"""Files that a person names, of known failures, servers, programs and results: anything but a file is told at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from looptck.catalogue import yaml_text
from looptck.catalogue.known_failures import read
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.yaml_files import BadFile
from looptck.drivers.programs.description import Description
from looptck.drivers.servers.described import Described
from looptck.report import results

READERS: dict[str, Callable[[Path], object]] = {
    "known failures": partial(read, catalogue=catalogue()),
    "a server": Described.read,
    "a program": Description.read,
    "results": results.read,
}
BOMB = "a: &a [1, 2, 3]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nd: [*c, *c, *c]\n"
"""Twenty nodes that stand for more than a hundred."""


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "make",
    [os.mkfifo, lambda path: path.symlink_to("/dev/full"), lambda path: path.symlink_to("/dev/zero")],
    ids=["pipe", "full", "zero"],
)
def test_what_has_no_end_is_not_read(make: Callable[[Path], None], reader: str, tmp_path: Path) -> None:
    """A pipe that nobody writes to, and devices, are refused by their name."""
    make(tmp_path / "given")

    with pytest.raises(BadFile, match="given: is not a regular file"):
        READERS[reader](tmp_path / "given")


@pytest.mark.parametrize("reader", [name for name in READERS if name != "results"])
def test_aliases_count_as_what_they_stand_for(reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few lines that stand for very much are refused before anything is built or walked through."""
    monkeypatch.setattr(yaml_text, "MOST_NODES", 100)
    (tmp_path / "given").write_text(BOMB, encoding="utf-8")

    with pytest.raises(BadFile, match="has more than 100 nodes"):
        READERS[reader](tmp_path / "given")


def test_links_and_aliases_are_a_persons_own(tmp_path: Path) -> None:
    """A file of known failures may be a link, and repeat a reason by an alias."""
    (tmp_path / "kept").write_text(
        "- {requirement: call-runs-its-tool-once, cell: '*', reason: &why see the tracker}\n"
        "- {requirement: calls-are-echoed, cell: '*', reason: *why}\n",
        encoding="utf-8",
    )
    (tmp_path / "given").symlink_to(tmp_path / "kept")

    assert ["see the tracker"] * 2 == [entry.reason for entry in read(tmp_path / "given", catalogue())]


def test_large_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than the limit is read of a file of results."""
    monkeypatch.setattr(results, "MOST", 100)
    (tmp_path / "given").write_text(" " * 1000, encoding="utf-8")

    with pytest.raises(BadFile, match="is too large: 1000 bytes, where 100 are the most"):
        results.read(tmp_path / "given")
