"""Files for results: tried before anything is played, and what cannot be written in the end costs no report."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from looptck.cli.group import main
from looptck_reference.kit.driver import Driver

ONE = ["--requirement", "call-runs-its-tool-once", "--case", "one-call", "--cell", "openai-chat/plain/sync"]
FOLDER = "LOOPTCK_TEST_FOLDER"


class RemovesFolder(Driver):
    """Removes the folder in which the results are to be written."""

    def run(self, *words: Any) -> Any:
        shutil.rmtree(os.environ[FOLDER], ignore_errors=True)
        return super().run(*words)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--driver", "python:nowhere:Driver", "--json"],
        ["run", "--driver", "python:nowhere:Driver", "--junit"],
        ["kill", "--driver", "python:nowhere:Driver", "--json"],
        ["baseline", "--driver", "python:nowhere:Driver", "--into"],
    ],
    ids=" ".join,
)
def test_files_are_tried_first(words: list[str], tmp_path: Path) -> None:
    """A file that cannot be written is the reason, and not what would have come later."""
    (tmp_path / "file").touch()

    ended = CliRunner().invoke(main, [*words, str(tmp_path / "file" / "results")])

    assert 2 == ended.exit_code
    assert "results cannot be written: " in ended.output
    assert "nowhere" not in ended.output


@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_verdicts_are_printed_whatever_becomes_of_a_file(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report comes first, then one line for the file; the status is 2."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setenv(FOLDER, str(folder))
    driver = "python:meta.kit.test_result_files:RemovesFolder"

    ended = CliRunner().invoke(main, ["run", "--driver", driver, *ONE, option, str(folder / "results")])

    assert 2 == ended.exit_code
    assert "1 pass   (1 checks)" in ended.output
    assert f"{folder / 'results'} cannot be written: No such file or directory" in ended.output


def test_trying_leaves_nothing(tmp_path: Path) -> None:
    """A file that was not there is not there if the run cannot begin; one that was there is as it was."""
    old = tmp_path / "old.json"
    old.write_text("{}", encoding="utf-8")

    for name in ("old.json", "new.json"):
        CliRunner().invoke(main, ["run", "--driver", "python:nowhere:Driver", "--json", str(tmp_path / name)])

    assert [old] == list(tmp_path.iterdir())
    assert "{}" == old.read_text(encoding="utf-8")
