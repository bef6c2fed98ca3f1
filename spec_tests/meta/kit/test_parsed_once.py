"""What looptck's own files contain is kept, and used for nothing but the very file that it was read from."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from looptck.catalogue import parsed_once, yaml_files
from looptck.catalogue.yaml_files import BadFile, load

CONTENT = {"a": 1, "b": ["x", 2.5, None, True]}


@pytest.fixture
def parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """A file with its schema that counts as looptck's own; the parser, which notes its calls."""
    monkeypatch.setattr(parsed_once, "_is_ours", lambda path: path.name != "foreign.yaml")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setattr(yaml_files, "parse", spy := MagicMock(wraps=yaml_files.parse))
    (tmp_path / "it.yaml").write_text("{a: 1, b: [x, 2.5, null, true]}")
    (tmp_path / "it.json").write_text('{"properties": {"a": {"type": "integer"}}}')
    return spy


def _load(folder: Path, name: str = "it.yaml") -> object:
    yaml_files._validator.cache_clear()
    parsed_once._digest_of.cache_clear()
    return load(folder / name, folder / "it.json")


def _kept(folder: Path) -> Path:
    (file,) = (folder / "__pycache__").iterdir()
    return file


def test_a_file_is_parsed_once(parse: MagicMock, tmp_path: Path) -> None:
    """Later reads take what is kept, types and all."""
    assert [CONTENT] * 3 == [_load(tmp_path) for _ in range(3)]
    assert parse.call_count == 1


def test_a_changed_file_is_parsed_again(parse: MagicMock, tmp_path: Path) -> None:
    """The bytes count, not the time of the change."""
    _load(tmp_path)
    (tmp_path / "it.yaml").write_text("a: 2")
    assert _load(tmp_path) == {"a": 2}


def test_a_changed_schema_is_heeded(parse: MagicMock, tmp_path: Path) -> None:
    """What an older schema accepted says nothing."""
    _load(tmp_path)
    (tmp_path / "it.json").write_text('{"properties": {"a": {"type": "string"}}}')
    with pytest.raises(BadFile, match="/a: 1 is not of type"):
        _load(tmp_path)


def test_another_reader_reads_anew(parse: MagicMock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of the module that reads is a change of what is read."""
    _load(tmp_path)
    monkeypatch.setattr(parsed_once, "READER", (Path(__file__),))
    _load(tmp_path)
    assert parse.call_count == 2


@pytest.mark.parametrize("damage", [b"", b"no bytecode", None], ids=["empty", "other", "cut"])
def test_what_is_damaged_is_not_used(parse: MagicMock, tmp_path: Path, damage: bytes | None) -> None:
    """Half a file, or one of somebody else, counts as none."""
    _load(tmp_path)
    file = _kept(tmp_path)
    file.write_bytes(file.read_bytes()[:-1] if damage is None else damage)
    assert _load(tmp_path) == CONTENT
    assert parse.call_count == 2


def test_a_bad_file_is_not_kept(parse: MagicMock, tmp_path: Path) -> None:
    """The second read finds the same fault."""
    (tmp_path / "it.yaml").write_text("a: x")
    for _ in range(2):
        with pytest.raises(BadFile, match="/a"):
            _load(tmp_path)
    assert not (tmp_path / "__pycache__").exists()


def test_no_bytecode_means_nothing_kept(parse: MagicMock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wants no bytecode wants none of these files."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert _load(tmp_path) == CONTENT
    assert not (tmp_path / "__pycache__").exists()


def test_the_files_of_others_are_not_kept(parse: MagicMock, tmp_path: Path) -> None:
    """A file that a person names is read each time."""
    (tmp_path / "it.yaml").rename(tmp_path / "foreign.yaml")
    assert [CONTENT] * 2 == [_load(tmp_path, "foreign.yaml") for _ in range(2)]
    assert not (tmp_path / "__pycache__").exists()


def test_a_place_that_cannot_be_written_is_no_error(parse: MagicMock, tmp_path: Path) -> None:
    """The content is there all the same."""
    (tmp_path / "__pycache__").write_text("a file where the folder would be")
    assert _load(tmp_path) == CONTENT
