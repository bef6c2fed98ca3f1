"""A run in several processes comes to what a run in one comes to, and tells what happens to its processes."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from meta.parallel.running import CELL, ENDERS, ROWS, Ran, played


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The run in one process."""
    return played(tmp_path_factory.mktemp("alone") / "results.json", "-j", "1")


def test_the_loop_fails(alone: Ran) -> None:
    """What is compared has failures of several causes, among passes."""
    found = alone.results

    assert 1 == alone.status
    assert len(found["causes"]) > 1
    assert found["summary"]["pass"] > 0


@pytest.mark.parametrize(
    "words", [("-j", "2"), ("-j", "3"), ("--tx", "popen", "--tx", "popen")], ids=["two", "three", "hosts"]
)
def test_the_results_are_the_same_text(words: tuple[str, ...], alone: Ran, tmp_path: Path) -> None:
    """Verdicts, their order, their reasons, causes and evidence: the files are equal."""
    ran = played(tmp_path / "results.json", *words)

    assert (alone.status, alone.printed) == (ran.status, ran.printed)
    assert alone.text == ran.text


@pytest.mark.parametrize(
    ("host", "why"), [("pigeon", "no gateway type found for 'pigeon'"), ("socket=127.0.0.1:1", "refused")]
)
def test_a_host_that_cannot_be_reached(host: str, why: str, tmp_path: Path) -> None:
    """Status 2, and the reason in one line."""
    ran = played(tmp_path / "results.json", "--tx", host)

    (line,) = ran.printed.splitlines()
    assert 2 == ran.status
    assert line.startswith("looptck could not run: a process of the run cannot be started: ")
    assert why in line


def test_what_is_noticed_beside_a_control_is_noticed_once(tmp_path: Path) -> None:
    """Many cases share the run of their control: a refused request in it is one finding, however the run is played."""
    rows = ("claude-truncated-turn-runs-nothing", "claude-ended-turn-runs-nothing", "claude-refused-turn-runs-nothing")
    loop = f"python:{Path(__file__).with_name('echoing.py')}:Driver"
    ran = [
        played(
            tmp_path / f"{workers}.json", "-j", workers, driver=loop, rows=rows, cell="anthropic-messages/plain/sync"
        )
        for workers in ("1", "2")
    ]

    assert ["no-request-is-refused"] == [
        one["requirement"] for one in ran[0].results["results"] if one["verdict"] == "fail"
    ]
    assert ran[0].text == ran[1].text


def test_junit_has_the_same_order(tmp_path: Path) -> None:
    """The test cases of JUnit XML stand in the order of one process, with the same outcomes."""
    cases = []
    for workers in ("1", "2"):
        file = tmp_path / f"{workers}.xml"
        played(tmp_path / "results.json", "-j", workers, "--junit", str(file), rows=ROWS[:2])
        found = ET.parse(file).getroot().iter("testcase")  # noqa: S314  the kit has written it
        cases.append([(one.get("classname"), one.get("name"), [part.tag for part in one]) for one in found])

    assert cases[0] == cases[1]
    assert len(cases[0]) > 5


def test_a_process_that_ends_is_no_success(tmp_path: Path) -> None:
    """Whoever ends a process of the run: status 2, the check that was under way, and all verdicts until then."""
    ran = played(
        tmp_path / "results.json",
        *("-j", "2"),
        driver=f"python:{ENDERS}:SecondRunExits",
    )

    assert 2 == ran.status
    assert "exited with status 0 during " in ran.printed
    assert f"/{CELL}/" in ran.printed
    found = ran.results
    assert found["unfinished"]["checks"] > 0
    assert {"crashed"} == {one["kind"] for one in found["driver_faults"]}
    assert 0 < len(found["results"])


def test_a_driver_that_starts_only_once_is_told(tmp_path: Path) -> None:
    """A driver that starts in the first process and in no other: status 2, and the driver's own words."""
    driver = tmp_path / "once.py"
    driver.write_text(ONCE, "utf-8")

    ran = played(tmp_path / "results.json", "-j", "2", driver=f"python:{driver}:Once")

    assert 2 == ran.status
    assert "looptck could not run: driver: cannot-start: " in ran.printed
    assert "the port is in use" in ran.printed
    assert "is played with -j 1" in ran.printed


ONCE = """
from pathlib import Path
from xml.etree import ElementTree
from looptck_reference.kit.driver import Driver

class Once(Driver):
    def start(self):
        with Path(__file__).with_suffix(".lock").open("x" if not Path(__file__).with_suffix(".lock").exists() else "r"):
            if Path(__file__).with_suffix(".second").exists():
                raise OSError("the port is in use")
            Path(__file__).with_suffix(".second").touch()
        return super().start()
"""
