"""Files for results: tried before anything is played, and what cannot be written in the end costs no report."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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


@pytest.mark.parametrize("place", [".", "file/pages", "full"])
def test_a_folder_for_pages_is_tried_first(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that holds other files, or cannot be made, is the reason, and nothing is left beside it."""
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").touch()
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)

    ended = CliRunner().invoke(main, ["run", "--driver", "python:nowhere:Driver", "--html", place])

    assert 2 == ended.exit_code
    assert "nowhere" not in ended.output
    assert "looptck could not run: " in ended.output
    assert before == sorted(tmp_path.rglob("*"))


def test_one_file_does_not_hold_two_results(tmp_path: Path) -> None:
    """The one that is written last would be all that is left."""
    same = str(tmp_path / "same")

    ended = CliRunner().invoke(main, ["run", "--driver", "python:nowhere:Driver", "--json", same, "--junit", same])

    assert 2 == ended.exit_code
    assert "is to hold two kinds of results" in ended.output


@pytest.mark.parametrize("words", [["list"], ["run", "-q", *ONE]], ids=["alone", "guarded"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only some systems have a device that is always full")
def test_output_that_cannot_be_written_is_no_finding(words: list[str]) -> None:
    """The status is 2, and a line says so elsewhere."""
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "looptck.cli", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert 2 == ended.returncode
    assert "looptck could not run: " in ended.stderr


def test_a_command_that_breaks_off_is_no_finding(tmp_path: Path) -> None:
    """Its status is 2, and the file that it could not write is named."""
    (tmp_path / "file").touch()
    place = str(tmp_path / "file" / "place")
    ended = subprocess.run(
        [sys.executable, "-m", "looptck.cli", "kill", "--proofs", place], capture_output=True, text=True, check=False
    )

    assert 2 == ended.returncode
    assert f"looptck could not run: {place}: " in ended.stderr


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
    assert "1 pass   (1 check)" in ended.output
    assert f"{folder / 'results'} cannot be written: No such file or directory" in ended.output


def test_trying_leaves_nothing(tmp_path: Path) -> None:
    """A file that was not there is not there if the run cannot begin; one that was there is as it was."""
    old = tmp_path / "old.json"
    old.write_text("{}", encoding="utf-8")

    for name in ("old.json", "new.json"):
        CliRunner().invoke(main, ["run", "--driver", "python:nowhere:Driver", "--json", str(tmp_path / name)])

    assert [old] == list(tmp_path.iterdir())
    assert "{}" == old.read_text(encoding="utf-8")
