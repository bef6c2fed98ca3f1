"""Whatever ends the process that plays, a run without a word of its end is status 2, and its verdicts are kept."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from looptck.catalogue.data import json_fixture
from looptck.guard import descendants, watching
from looptck.guard.folder import PREFIX, Folder
from looptck.guard.salvage import salvage

COMMON = ["--requirement", "call-runs-its-tool-once", "--cell", "openai-chat/plain/sync"]
CASES = ["--case", "one-call", "--case", "empty-object"]


@dataclass(slots=True)
class Ran:
    """What a command left."""

    status: int
    printed: str
    errors: str
    results: dict[str, Any] = field(default_factory=dict)
    cases: dict[str, str] = field(default_factory=dict)
    """What JUnit XML says of each test case: the name of its child, or nothing."""


def command(ender: str, folder: Path, *words: str) -> list[str]:
    """The command line of a short run of such a driver."""
    files = ["--json", str(folder / "results.json"), "--junit", str(folder / "results.xml")]
    return [
        sys.executable, "-m", "looptck.cli", "run", "-q", "--driver", driver(ender), *COMMON, *CASES, *files, *words
    ]  # fmt: skip


def driver(ender: str) -> str:
    """How such a driver is named."""
    return f"python:{Path(__file__).with_name('enders.py')}:{ender}"


def left(status: int, printed: str, errors: str, folder: Path) -> Ran:
    """What a command left in a folder."""
    ran = Ran(status, printed, errors)
    if (path := folder / "results.json").exists():
        ran.results = json.loads(path.read_text(encoding="utf-8"))
    if (path := folder / "results.xml").exists():
        cases = ET.parse(path).getroot().iter("testcase")  # noqa: S314  the kit has written it
        ran.cases = {
            f"{case.get('classname')} {case.get('name')}": "".join(part.tag for part in case) for case in cases
        }
    return ran


def run(ender: str, folder: Path, *words: str) -> Ran:
    """Such a run, to its end."""
    done = subprocess.run(
        command(ender, folder, *words), capture_output=True, text=True, check=False, timeout=120, env=environ(folder)
    )
    return left(done.returncode, done.stdout, done.stderr, folder)


def environ(folder: Path) -> dict[str, str]:
    """An environment with a folder of its own for temporary files."""
    (folder / "tmp").mkdir(exist_ok=True)
    own = {"TMPDIR": str(folder / "tmp"), "PIPE": str(folder / "pipe"), "STOPPED": str(folder / "stopped")}
    return os.environ | own | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def folders_in(folder: Path) -> Sequence[Path]:
    """What a run has left among the temporary files."""
    return list((folder / "tmp").glob(f"{PREFIX}*"))


@pytest.mark.parametrize(
    ("ender", "how", "verdicts"),
    [
        ("StartExits", "exited with status 0", []),
        ("SecondRunExits", "exited with status 0", ["pass"]),
        ("SecondRunIsKilled", "was ended by SIGSEGV", ["pass"]),
        ("StopExits", "exited with status 0", ["pass", "pass"]),
        ("ClosesOutput", "exited with status 2", ["error", "error"]),
    ],
)
def test_what_ends_the_process_is_no_success(ender: str, how: str, verdicts: list[str], tmp_path: Path) -> None:
    """Status 2, the driver's name, how it ended, and all verdicts until then in both files."""
    ran = run(ender, tmp_path)

    assert 2 == ran.status
    assert f"looptck could not run: the process that ran {driver(ender)} {how}" in ran.printed
    assert verdicts == [one["verdict"] for one in ran.results["results"]]
    Draft202012Validator(json_fixture("results.schema.json")).validate(ran.results)
    assert "error" == ran.cases["looptck the run"]
    assert len(verdicts) + 1 == len(ran.cases)
    assert [] == folders_in(tmp_path)


def test_what_is_left_to_judge_is_counted(tmp_path: Path) -> None:
    """A run that ends in its second check says that one check has no verdict, and which was under way."""
    ran = run("SecondRunExits", tmp_path)

    assert {"checks": 1, "questions": 0} == ran.results["unfinished"]
    assert "Until then: 1 pass; without a verdict: 1." in ran.printed
    assert "during call-runs-its-tool-once/openai-chat/plain/sync/" in ran.printed


def test_what_is_noticed_beside_a_check_is_none_of_those_to_judge(tmp_path: Path) -> None:
    """A verdict that is noticed beside the one of its check does not lower the number of checks without a verdict."""
    folder = Folder(tmp_path)
    folder.note("began", looptck="1", driver="d", json_file=None, junit=None)
    folder.note("chosen", checks=3)
    for verdict, judged in (("fail", 0), ("pass", 1), ("divergence", 1)):
        folder.note("result", judged=judged, requirement="r", case="c", cell="x", verdict=verdict, reason="so")

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        salvage(folder, "exited", [], 2)

    assert "1 pass · 1 fail · 1 divergence; without a verdict: 2" in out.getvalue()
    assert "FAIL  r  [x]  so\n" in out.getvalue()


def test_the_status_is_the_commands_own(tmp_path: Path) -> None:
    """A process that exits with status 0 does not turn findings into a success."""
    ran = run("WrongAndExitsAtTheEnd", tmp_path, "--requirement", "final-text-is-returned")

    assert 1 == ran.status
    assert 0 < ran.results["summary"]["fail"]


def test_standard_output_is_the_reports(tmp_path: Path) -> None:
    """What a driver writes past Python is not among the verdicts."""
    ran = run("Prints", tmp_path)

    assert 0 == ran.status
    assert "by " not in ran.printed
    assert "by descriptor" in ran.errors


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("told", ["guard", "player"])
def test_a_signal_ends_a_run_in_order(name: str, told: str, tmp_path: Path) -> None:
    """A run that is asked to end stops its driver and keeps its verdicts; its status is 2."""
    ran = _signalled(getattr(signal, name), told, tmp_path)

    assert 2 == ran.status
    assert "no verdict for 1 of 2 checks" in ran.printed
    assert ["pass"] == [one["verdict"] for one in ran.results["results"]]
    assert (tmp_path / "stopped").exists()
    assert [] == folders_in(tmp_path)


def test_both_processes_are_told(tmp_path: Path) -> None:
    """The command is told once by whoever tells both, and once by its guard: the table is printed all the same."""
    ran = _signalled(signal.SIGINT, "both", tmp_path)

    assert (2, "") == (ran.status, ran.errors)
    assert "no verdict for 1 of 2 checks" in ran.printed
    assert ["pass"] == [one["verdict"] for one in ran.results["results"]]


def test_a_player_that_is_killed_leaves_its_verdicts(tmp_path: Path) -> None:
    """The guard says how the process ended, and writes what there is."""
    ran = _signalled(signal.SIGKILL, "player", tmp_path)

    assert 2 == ran.status
    assert "was ended by SIGKILL" in ran.printed
    assert ["pass"] == [one["verdict"] for one in ran.results["results"]]
    assert [] == folders_in(tmp_path)


def _signalled(number: int, told: str, folder: Path) -> Ran:
    """A run that gets a signal in its second check."""
    os.mkfifo(folder / "pipe")
    with subprocess.Popen(
        command("Waits", folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ(folder)
    ) as guard:
        player = int((folder / "pipe").read_text(encoding="ascii"))
        for pid in {"guard": [guard.pid], "player": [player], "both": [player, guard.pid]}[told]:
            os.kill(pid, number)
        printed, errors = guard.communicate(timeout=120)
    return left(guard.returncode, printed, errors, folder)


STOPS_ITSELF = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP); raise SystemExit(7)"


@pytest.mark.parametrize(("goes_on", "status"), [(False, -signal.SIGKILL), (True, 7)])
def test_process_that_stops_itself_is_ended(
    goes_on: bool, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is stopped at so many looks in a row is killed, and told from one that goes on in time."""
    is_stopped = descendants.is_stopped

    def seen(pid: int) -> bool:
        if (stopped := is_stopped(pid)) and goes_on:
            os.kill(pid, signal.SIGCONT)
        return stopped

    monkeypatch.setattr(watching, "is_stopped", seen)
    monkeypatch.setattr(watching, "LOOK", 0.01)
    process = subprocess.Popen([sys.executable, "-c", STOPS_ITSELF])

    was_stopped = watching._wait(process, Folder(tmp_path), watching._Signals(process))

    assert (not goes_on, status) == (was_stopped, process.returncode)


@pytest.mark.parametrize("words", [["smoke"], ["run", "-q", *COMMON, *CASES]], ids=["smoke", "run"])
def test_a_pipe_that_nobody_reads(words: Sequence[str], tmp_path: Path) -> None:
    """The output goes to a pipe that is closed at its other end, as by `head`: the command ends without a word."""
    reading, writing = os.pipe()
    os.close(reading)
    line = [sys.executable, "-m", "looptck.cli", *words, "--driver", "python:looptck_reference.kit.driver:Driver"]
    done = subprocess.run(
        line, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, timeout=120, env=environ(tmp_path)
    )
    os.close(writing)

    assert (2, "") == (done.returncode, done.stderr)


def test_a_command_without_a_journal_names_no_driver(tmp_path: Path) -> None:
    """What is not known of the command is not said of the reference."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        salvage(Folder(tmp_path), "exited", ["smoke", "--driver", "python:mine.py:Driver"], 2)

    assert "the process that ran the command exited" in out.getvalue()
    assert "looptck smoke --driver python:mine.py:Driver" in out.getvalue()
