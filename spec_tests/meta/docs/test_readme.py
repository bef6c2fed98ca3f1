"""README and the page on Python tell the truth: their drivers work, and the output is what the kit prints."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from looptck.commands.init import write
from meta.docs.pages import ASYNC_LOOP, LOOP, PAGES, ROOT, SERVED_LOOP, SESSION, SOLVER, block
from meta.drivers.bench import judged

ARGUMENTS = 'json.loads(call["function"]["arguments"])'


def _written(folder: Path, page: str, words: str, loop: str) -> str:
    """Write the driver of a page and its loop into a folder; the driver's name."""
    (folder / "driver.py").write_text(block(page, words), encoding="utf-8")
    (folder / "mypkg.py").write_text(loop, encoding="utf-8")
    return f"python:{folder / 'driver.py'}:Driver"


def _looptck(*words: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "looptck.cli", *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return ran.returncode, ran.stdout, ran.stderr


def test_readme_is_short() -> None:
    """README is read in a few minutes, and so is ARCHITECTURE."""
    assert len(PAGES["README.md"].splitlines()) <= 160
    assert len(PAGES["ARCHITECTURE.md"].splitlines()) <= 120


@pytest.mark.parametrize("called", ["by-name", "by-position"])
def test_the_smallest_driver_works(tmp_path: Path, called: str) -> None:
    """README's driver passes the smoke test on a loop of twenty lines, whichever way that calls a handler."""
    by_position = LOOP.replace(f"**{ARGUMENTS}", f"*{ARGUMENTS}.values()")
    driver = _written(tmp_path, "README.md", "class Driver", LOOP if called == "by-name" else by_position)

    status, printed, error = _looptck("smoke", "--driver", driver)

    assert (0, "") == (status, error), printed


def test_the_first_verdict_is_that_of_the_loop(tmp_path: Path) -> None:
    """The failures that README shows are those that the kit finds in the loop of twenty lines."""
    driver = _written(tmp_path, "README.md", "class Driver", LOOP)
    shown = [line for line in block("README.md", "FAIL  ").splitlines() if line.startswith("FAIL")]
    wanted = [word for line in shown for word in ("--requirement", line.split()[1])]

    status, printed, _ = _looptck("run", "-q", "--driver", driver, *wanted)

    assert 1 == status
    assert shown == [line for line in printed.splitlines() if line.startswith("FAIL")]


@pytest.mark.parametrize(
    ("words", "loop", "oks"),
    [
        ("on_text=on_text", ASYNC_LOOP, ["answer", "tool"] * 2),
        ("beta_tool", "", ["answer", "tool"]),
        ("servers=", SERVED_LOOP, ["answer", "tool"]),
    ],
    ids=["async", "framework", "tools-of-servers"],
)
def test_the_drivers_of_the_page_on_python_work(tmp_path: Path, words: str, loop: str, oks: list[str]) -> None:
    """Each passes the smoke test in every cell that it declares."""
    driver = _written(tmp_path, "docs/python.md", words, loop)

    status, printed, error = _looptck("smoke", "--driver", driver)

    assert (0, "") == (status, error), printed
    assert ["start", *oks] == [line.split()[1] for line in printed.splitlines() if line.startswith("ok")]


TEN_MINUTES = "docs/driver-in-ten-minutes.md"
DECLARED = ("limit-is-a-ceiling", "cancelled-run-ends", "final-text-arrives-as-it-is-written")
"""Requirements of what the drivers of that page declare."""


def test_the_driver_in_python_of_the_page_for_both_works(tmp_path: Path) -> None:
    """It passes what it declares, on an async loop with a limit."""
    driver = _written(tmp_path, TEN_MINUTES, "class Driver", ASYNC_LOOP).removeprefix("python:")

    _passes(f"cmd:{sys.executable} -m looptck.driver {driver}")


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_driver_in_javascript_of_the_page_for_both_works(tmp_path: Path) -> None:
    """It passes the same, beside what `looptck init` writes and a loop of its own."""
    made = write("javascript", tmp_path)
    made.files[0].write_text(block(TEN_MINUTES, "serve("), encoding="utf-8")
    shutil.copy(ROOT / "spec_tests" / "meta" / "drivers" / "chat_loop.mjs", tmp_path / "mypkg.mjs")

    _passes(made.driver)


def _passes(driver: str) -> None:
    report = judged(driver, *DECLARED, cells=("openai-chat/stream/async",))

    assert (0, []) == (report.status, report.late), report.printed
    assert {*DECLARED} <= {one["requirement"] for one in report.json["results"] if one["verdict"] == "pass"}


def test_the_driver_of_the_page_on_conversations_works(tmp_path: Path) -> None:
    """On a session that keeps its history whole, it passes what it declares."""
    driver = _written(tmp_path, "docs/conversations.md", "Session  # your loop", SESSION)
    rows = ("conversation-is-carried-once", "cancelled-run-ends", "next-turn-after-a-cancel-is-accepted")

    results = judged(driver, *rows, cells=("openai-chat/plain/async",)).json["results"]

    assert {row: {"pass"} for row in rows} == {
        row: {one["verdict"] for one in results if one["requirement"] == row} - {"not-applicable"} for row in rows
    }


def test_the_driver_of_the_page_on_solutions_works(tmp_path: Path) -> None:
    """On a loop of Solutions without references, it passes what needs none."""
    driver = _written(tmp_path, "docs/solutions.md", "OutOfTurns, solve  # your loop", SOLVER).removeprefix("python:")
    rows = {
        "loop010-output-ends-and-is-returned", "loop010-rejected-calls-do-not-run",
        "loop010-requests-have-tools-and-schema", "loop010-turns-are-limited",
    }  # fmt: skip

    report = judged(
        f"cmd:{sys.executable} -m looptck.driver {driver}",
        *rows,
        profiles=("agent-loop-010",),
        cells=("openai-chat/plain/sync",),
    )

    assert 0 == report.status, report.printed
    assert rows == {one["requirement"] for one in report.json["results"] if one["verdict"] == "pass"}


def test_what_a_driver_declares_is_a_driver_s_start() -> None:
    """The example of a declaration runs, and declares what it says."""
    names: dict[str, object] = {}

    exec(block("docs/capabilities.md", "found = started("), names)  # noqa: S102  the example is ours

    assert {"stream": True, "limit": True} == names["found"]["capabilities"]  # type: ignore[index]


def test_the_example_of_a_failure_is_one() -> None:
    """The failure that is explained is what the kit prints of a loop that answers calls with each other's results."""
    example = block("docs/failures.md", "FAIL  ")
    driver = "python:meta.docs.swapping:OneByOne"
    printed = judged(driver, "results-carry-their-call-ids", profiles=("core",)).printed.replace(driver, "…")
    lines = iter(printed.splitlines())

    shown = [line.rstrip("…") for line in example.splitlines() if line.strip() != "…"]
    assert [] == [line for line in shown if not any(one.startswith(line) for one in lines)]
