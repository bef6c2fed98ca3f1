"""The processes of a run are forks: what happens in one, or to one, is told, and no other is harmed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from looptck.commands.forks import ROUNDS, SPARE, mixed
from meta.parallel.running import ENDERS, environ, left, played, words

DRIVERS = Path(__file__).with_name("drivers_in_forks.py")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are not forked on this system")


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which drivers leave word."""
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.setenv("NOTES", str(folder))
    return folder


def driver(name: str) -> str:
    """How one of the drivers is named."""
    return f"python:{DRIVERS}:{name}"


def test_no_process_that_is_forked_loads_the_driver(notes: Path, tmp_path: Path) -> None:
    """The driver is loaded in the forks alone: in the one that tries it, and in those that play."""
    ran = played(tmp_path / "results.json", "-j", "2", driver=driver("Plays"))

    loaded = {path.name.partition("-")[2] for path in notes.glob("loaded-*")}
    parents = {path.name.partition("-")[2] for path in notes.glob("parent-*")}
    assert 0 == ran.status
    assert 3 == len(loaded)
    assert 1 == len(parents)
    assert parents.isdisjoint(loaded)


@pytest.mark.parametrize("name", ["OneEnds", "OneEndsAndLeavesAFork"])
def test_the_others_go_on_when_one_has_ended(name: str, tmp_path: Path) -> None:
    """What a process that has ended had before it is lost, and nothing else; whatever it has left lives on."""
    ran = played(tmp_path / "results.json", "-j", "2", driver=driver(name))

    assert 2 == ran.status
    assert "exited with status 0 during " in ran.printed
    assert 1 == ran.results["unfinished"]["checks"]


def test_another_takes_the_place_of_one_that_has_ended(tmp_path: Path) -> None:
    """However many end: only the checks in which they end have no verdict."""
    ran = played(tmp_path / "results.json", "-j", "2", driver=driver("FourEnd"))

    assert 2 == ran.status
    assert 4 == ran.printed.count("exited with status 3 during ")
    assert re.search(r"no verdict for 4 of 1\d\d checks: a process that played them has ended", ran.printed)
    assert 4 == ran.results["unfinished"]["checks"]


def test_not_for_ever(tmp_path: Path) -> None:
    """Where each process ends in its second run, the run ends too, and what it has not come to has no verdict."""
    ran = played(tmp_path / "results.json", "-j", "2", driver=driver("EachEnds"))

    assert 2 == ran.status
    assert 2 + SPARE == ran.printed.count("was ended by SIGKILL during ")
    assert 2 + SPARE < ran.results["unfinished"]["checks"]


@pytest.mark.parametrize(
    ("name", "end"), [("OneStops", "stopped itself during "), ("StartStops", "before looptck had finished")]
)
def test_one_that_stops_itself_is_ended(name: str, end: str, tmp_path: Path) -> None:
    """It is killed when it has been stopped for long, and is told like any that has ended."""
    file = tmp_path / "results.json"
    line = words(file, "-j", "2", driver=driver(name))
    done = subprocess.run(
        [line[0], "-c", SOON, *line[3:]], stdout=subprocess.PIPE, text=True, env=environ(), check=False, timeout=120
    )
    ran = left(done.returncode, done.stdout, file)

    assert 2 == ran.status
    assert end in ran.printed


def test_one_that_is_interrupted_is_no_success(tmp_path: Path) -> None:
    """What it has not played has no verdict, and the status is 2."""
    ran = played(tmp_path / "results.json", "-j", "2", driver=driver("OneIsInterrupted"))

    assert 2 == ran.status
    assert "no verdict for " in ran.printed
    assert ran.results["unfinished"]["checks"] > 0


def test_an_error_of_the_kit_in_a_fork_is_told(tmp_path: Path) -> None:
    """With its traceback, and status 2."""
    ran = played(tmp_path / "results.json", "-j", "2", driver=driver("BreaksTheKit"))

    assert 2 == ran.status
    assert "TypeError: 'NoneType' object is not callable" in ran.printed


@pytest.mark.parametrize(
    ("name", "stopped", "words_of_it"),
    [
        ("Waits", 3, "the run was interrupted"),
        ("LastToStartWaits", 2, "the run was interrupted"),
        ("TrialWaits", 1, "it was interrupted before the first check"),
    ],
)
def test_an_interrupt_stops_every_driver(
    name: str, stopped: int, words_of_it: str, notes: Path, tmp_path: Path
) -> None:
    """Each driver that has started is stopped, no process is taken for one that has crashed, and the status is 2."""
    os.mkfifo(notes / "pipe")
    pipe = os.open(notes / "pipe", os.O_RDWR)  # open all the time: what is written while nobody reads is lost
    file = tmp_path / "results.json"
    with subprocess.Popen(
        words(file, "-j", "2", driver=driver(name)), stdout=subprocess.PIPE, text=True, env=environ()
    ) as process:
        waiting = b""
        while len(waiting) < (1 if name == "TrialWaits" else 2):
            waiting += os.read(pipe, 16)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=120)
    os.close(pipe)
    ran = left(process.returncode, printed, file)

    assert 2 == ran.status
    assert words_of_it in ran.printed
    assert "a process of the run" not in ran.printed
    assert stopped == len([*notes.glob("stop-*")])


def test_a_driver_that_declares_something_else_is_told(tmp_path: Path) -> None:
    """What was collected for one declaration is not played with another."""
    ran = played(tmp_path / "results.json", "-j", "2", driver=driver("Differs"))

    assert 2 == ran.status
    assert "the driver declares something else when it is started once more" in ran.printed


def test_a_driver_may_have_another_version_each_time(tmp_path: Path) -> None:
    """Nothing that is played depends on it."""
    ran = played(tmp_path / "results.json", "-j", "2", driver=driver("DiffersInVersion"))

    assert 0 == ran.status


@pytest.mark.parametrize(
    ("ender", "end"),
    [
        (f"python:{ENDERS}:StartExits", "exited with status 0 before looptck had finished"),
        (driver("StartIsKilled"), "was ended by SIGKILL before looptck had finished"),
    ],
    ids=["exits", "killed"],
)
def test_the_end_of_the_first_fork_is_the_end_of_the_run(ender: str, end: str, tmp_path: Path) -> None:
    """A driver that ends its process when it starts ends the run in the same way, and never with status 0."""
    ran = played(tmp_path / "results.json", "-j", "2", driver=ender)

    assert 2 == ran.status
    assert end in ran.printed


@pytest.mark.parametrize("count", [0, 1, ROUNDS, ROUNDS + 1, 7 * ROUNDS + 3])
def test_units_that_are_beside_each_other_are_dealt_far_from_each_other(count: int) -> None:
    """Every unit is dealt once; between two neighbours are all others of a round."""
    ordered = [[number] for number in range(count)]

    dealt = [*mixed(ordered)]

    assert ordered == sorted(dealt)
    places = {number: place for place, (number,) in enumerate(dealt)}
    assert all(abs(places[one] - places[one + 1]) >= count // ROUNDS for one in range(count - 1))


SOON = """
import sys
from looptck.cli import entry
from looptck.guard import forking
forking.LOOK, forking.STOPPED = 0.05, 4
entry()
"""
"""The command, which ends what has been stopped for a fifth of a second."""
