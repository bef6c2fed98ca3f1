"""Cassettes from anywhere: regular files inside their folder, of bounded size, and messages of bounded length."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from looptck.cassettes import files
from looptck.cassettes.check import check
from looptck.catalogue import yaml_files, yaml_text
from looptck.catalogue.data import cassette
from looptck.catalogue.yaml_files import LONGEST, BadFile

SHIPPED = cassette("openai-chat/one-call-plain.yaml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the folder of a wire."""
    (tmp_path / "here" / "openai-chat").mkdir(parents=True)
    return tmp_path / "here"


def _link(path: Path) -> None:
    shutil.copy(SHIPPED, path.parent.parent / "elsewhere.yaml")
    path.symlink_to(path.parent.parent / "elsewhere.yaml")


def _long(path: Path) -> None:
    path.write_text(f"provenance: {'x' * 100_000}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "is not a regular file"),
        (Path.mkdir, "Is a directory"),
        (_link, "is a symbolic link; put the file itself in its place"),
        (lambda path: path.symlink_to("/dev/zero"), "is a symbolic link"),
        (_long, "more characters"),
    ],
    ids=["pipe", "directory", "link", "device", "long"],
)
def test_what_is_no_file_is_refused(make: Callable[[Path], None], why: str, folder: Path) -> None:
    """It is named with the reason, at once, and the others are checked."""
    make(folder / "openai-chat" / "chain-plain.yaml")
    shutil.copy(SHIPPED, folder / "openai-chat")

    found = check([folder])

    [line] = [line for line in found.lines if "chain-plain.yaml" in line]
    assert why in line
    assert len(line) < LONGEST + 500


def test_a_large_file_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than the limit is read of it."""
    monkeypatch.setattr(yaml_files, "MOST", 100)
    shutil.copy(SHIPPED, folder / "openai-chat")

    assert any("where 100 are the most" in line for line in check([folder]).lines)


def test_nodes_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file may have nodes for much memory."""
    monkeypatch.setattr(yaml_text, "MOST_NODES", 20)
    shutil.copy(SHIPPED, folder / "openai-chat")

    assert any("has more than 20 nodes" in line for line in check([folder]).lines)


def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    """A folder of a wire that is a link is as good as its files."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(SHIPPED, elsewhere)
    (folder / "anthropic-messages").symlink_to(elsewhere)

    with pytest.raises(BadFile, match="leads out of the folder"):
        list(files(folder))


@pytest.mark.parametrize("dialect", ["../requirements/core", "x" * 100_000])
def test_a_dialect_is_no_path(dialect: str, folder: Path) -> None:
    """A name that leads out of the folder of deviations, or is longer than any name of a file, is refused in words."""
    written = SHIPPED.read_text(encoding="utf-8")
    named = re.sub(r"(?m)^( +dialect:).*$", lambda line: f"{line[1]} {dialect}", written)
    (folder / "openai-chat" / SHIPPED.name).write_text(named, encoding="utf-8")

    found = check([folder])

    assert any("dialect" in line for line in found.lines)
    assert max(map(len, found.lines)) < LONGEST + 500
