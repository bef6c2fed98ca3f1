"""The suite under plain pytest: its outcomes tell the truth, whatever else is installed or configured."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from meta.drivers.bench import process

CALLS = "call-runs-its-tool-once"
FLAWED = "python:meta.kit.flawed:TakesCallsForAnswers"
HERE = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Ran:
    """What pytest told: exit status, counts of outcomes, and what it printed."""

    status: int
    outcomes: dict[str, int]
    printed: str


SUITE = ("--pyargs", "looptck.spec", "-p", "no:cacheprovider")


def run(folder: Path, *options: str) -> Ran:
    """Run the suite with plain pytest in a process and a folder of its own, among all plugins that are installed."""
    done = started(folder, *SUITE, *options, alone=False)
    return Ran(done.returncode, outcomes(done.stdout), done.stdout + done.stderr)


def run_here(folder: Path, *options: str) -> Ran:
    """Run the suite with plain pytest in this process, with no other plugins; the folder has no configuration."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.setenv("COLUMNS", "200")
        status = pytest.main(["-p", "looptck.suite.plugin", *SUITE, "--capture=sys", *options])
    return Ran(int(status), outcomes(out.getvalue()), out.getvalue())


def outcomes(printed: str) -> dict[str, int]:
    """The counts in the last line."""
    last = printed.strip().splitlines()[-1] if printed.strip() else ""
    return {word.rstrip("s"): int(count) for count, word in re.findall(r"(\d+) (\w+)", last.partition(" in ")[0])}


def started(folder: Path, *words: str, alone: bool = True) -> subprocess.CompletedProcess[str]:
    """A process of pytest that has ended."""
    path = os.pathsep.join([str(HERE), str(HERE.parent / "reference")])
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    if alone:
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        words = ("-p", "looptck.suite.plugin", *words)
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


def only(cell: str = "openai-chat/plain/sync", requirement: str = CALLS) -> list[str]:
    """Options for one requirement in some cells."""
    return ["--looptck-requirement", requirement, "--looptck-cell", cell]


def test_many_processes_are_refused(tmp_path: Path) -> None:
    """A session cannot be shared out over processes, and one that was would have lost its verdicts."""
    ran = run(tmp_path, "-n", "2", *only())

    assert 2 == ran.status
    assert "looptck could not run: looptck.spec cannot run in parallel under pytest; leave out -n" in ran.printed


def test_what_passes_passes(tmp_path: Path) -> None:
    """A pass is passed, and the counts of verdicts are told; the plugin is found, and disturbs no other."""
    ran = run(tmp_path, *only())

    assert (0, {"passed": 3}) == (ran.status, ran.outcomes)
    assert "3 pass" in ran.printed


def test_what_fails_fails(tmp_path: Path) -> None:
    """A fail is failed, with the story of the failure in the place of a traceback."""
    ran = run_here(tmp_path, "--looptck-driver", FLAWED, *only())

    assert (1, {"failed": 3}) == (ran.status, ran.outcomes)
    assert f"FAIL  {CALLS}  [openai-chat/plain/sync]" in ran.printed
    assert "  again: looptck run --driver " in ran.printed
    assert "Traceback" not in ran.printed


def test_the_drivers_fault_is_an_error(tmp_path: Path) -> None:
    """A driver's fault is an error and not a failure; what it did beside it is judged."""
    ran = run_here(tmp_path, "--looptck-driver", process("Crashes", only="one-call"), *only())

    assert (1, {"passed": 2, "error": 1}) == (ran.status, ran.outcomes)
    assert "driver: crashed: " in ran.printed


def test_what_does_not_apply_is_skipped(tmp_path: Path) -> None:
    """What needs a capability that is absent is skipped, with the reason."""
    ran = run_here(
        tmp_path, "--looptck-driver", "python:meta.kit.flawed:CannotStream", *only("openai-chat/stream/sync"), "-rs"
    )

    assert (0, {"skipped": 3}) == (ran.status, ran.outcomes)
    assert "not-applicable: the driver declares no capability `stream`" in ran.printed


def test_a_known_failure_is_expected_to_fail(tmp_path: Path) -> None:
    """A known failure is xfailed; one that passes by now fails the run."""
    known = tmp_path / "known.yaml"
    known.write_text(f"- {{requirement: {CALLS}, cell: 'openai-chat/plain/sync', reason: it runs no tools}}", "utf-8")
    option = ["--looptck-known-failures", str(known)]

    alive = run_here(tmp_path, "--looptck-driver", FLAWED, *only(), *option)
    stale = run_here(tmp_path, *only(), *option)

    assert (0, {"xfailed": 3}) == (alive.status, alive.outcomes)
    assert (1, {"failed": 1, "passed": 2}) == (stale.status, stale.outcomes)
    assert "XPASS(strict)" in stale.printed
    assert "stale known failure: " in stale.printed


def test_a_late_fault_fails_the_run(tmp_path: Path) -> None:
    """What comes to light after all checks have passed fails the run, and the results say error."""
    results = tmp_path / "results.json"
    driver = process("AnswersTwice", only="one-call")

    ran = run_here(tmp_path, "--looptck-driver", driver, *only(), "--looptck-json", str(results))

    assert 1 == ran.status
    assert "answered-twice" in ran.printed
    told = json.loads(results.read_text("utf-8"))
    assert (1, 2) == (told["summary"]["error"], told["summary"]["pass"])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--looptck-driver", "cmd:no-such-program"], "looptck could not run: driver: cannot-start"),
        (["--looptck-level", "always"], "looptck could not run: there is no level 'ALWAYS'"),
    ],
)
def test_what_cannot_run_is_no_success(tmp_path: Path, options: list[str], told: str) -> None:
    """Where the suite cannot begin, pytest ends with exit status 2 and the reason."""
    ran = run_here(tmp_path, *options)

    assert (2, {}) == (ran.status, ran.outcomes)
    assert told in ran.printed


def test_an_empty_selection_is_no_success(tmp_path: Path) -> None:
    """A selection in which nothing is left ends with pytest's own status for that."""
    ran = run_here(tmp_path, "--looptck-case", "no-such-case")

    assert pytest.ExitCode.NO_TESTS_COLLECTED == ran.status
    assert "nothing was selected" in ran.printed


def test_other_tests_beside_it_are_left_alone(tmp_path: Path) -> None:
    """A project's own tests may run in the same session; they are no checks."""
    (tmp_path / "test_own.py").write_text("def test_own():\n    '''Ours.'''\n", "utf-8")
    results = tmp_path / "results.json"

    ran = run(tmp_path, "test_own.py", *only(), "--looptck-json", str(results))

    assert (0, {"passed": 4}) == (ran.status, ran.outcomes)
    assert 3 == json.loads(results.read_text("utf-8"))["summary"]["pass"]


def test_a_project_without_the_suite_is_left_alone(tmp_path: Path) -> None:
    """Where the suite was not asked for, no driver is started and nothing is told."""
    (tmp_path / "test_own.py").write_text("def test_own():\n    '''Ours.'''\n", "utf-8")
    done = started(tmp_path, "test_own.py", "--looptck-driver", "cmd:no-such-program")

    assert 0 == done.returncode
    assert "looptck" not in done.stdout.splitlines()[-1]
