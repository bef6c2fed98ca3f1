"""Broken drivers in this process: the same rules as for processes, though a thread cannot be ended."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

import pytest

from looptck.drivers import in_process as line
from looptck.drivers import limits, mends
from meta.drivers.bench import SCRIPTED, SHORT, in_process, judged
from meta.drivers.in_process_drivers import LeavesATask

CALLS = "call-runs-its-tool-once"
HOUR = 3600.0
UNFIT = "and the method does not fit that"
STOP = "`def stop(self)`"
CELLS = ("openai-chat/plain/*",)

IN_A_RUN = {
    "Raises": ("crashed", "KeyError: 'the fake has crashed'"),
    "Exits": ("crashed", "SystemExit: 0"),
    "Interrupts": ("crashed", "KeyboardInterrupt"),
    "Stops": ("crashed", "StopIteration"),
    "Cancels": ("crashed", "CancelledError: by itself"),
    "Returns": ("bad-message", "run() returned"),
    "ReturnsAnObject": ("bad-message", "object is not JSON serializable"),
    "NotAsync": ("crashed", "can't be used in 'await' expression"),
    "NoRun": ("crashed", "NoRun has no method run"),
    "EmitsANumber": ("bad-message", "a chunk of 7"),
}

NOT_STARTING = {
    "NeedsArguments": "missing 1 required positional argument: 'loop'",
    "DeclaresAList": "start() returned ('openai-chat',), not a mapping: return started(…)",
    "DeclaresNonsense": "telepathic",
    "ExitsAtStart": "SystemExit: 0",
    "LeavesAtStart": "GeneratorExit: the fake leaves",
    "Misspelt": "has no attribute 'Misspelt'",
}


def test_a_well_behaved_driver_passes() -> None:
    """A driver that is no more than two methods passes in both modes."""
    report = judged(in_process("Driver"), CALLS, cells=CELLS, cases=SCRIPTED)

    assert (0, {"pass": 4}) == (report.status, report.counts)


def test_a_driver_starts_in_the_main_thread() -> None:
    """A driver that sets a signal handler at its start is a right one."""
    before = signal.getsignal(signal.SIGUSR1)
    try:
        report = judged(in_process("SetsASignalHandler"), CALLS, cells=CELLS, cases=SCRIPTED)
    finally:
        signal.signal(signal.SIGUSR1, before)

    assert (0, {"pass": 4}) == (report.status, report.counts)


def test_what_async_runs_leave_ends_with_the_driver() -> None:
    """Tasks are cancelled and generators closed before their event loop ends: nothing is destroyed while it waits."""
    LeavesATask.left.clear()

    report = judged(in_process("LeavesATask"), CALLS, cells=("openai-chat/plain/async",), cases=SCRIPTED)

    assert (0, {"pass": 2}) == (report.status, report.counts)
    assert ["generator", "task"] == sorted({*LeavesATask.left})


@pytest.mark.parametrize("driver", ["HangsAtStart", "HangsInAFinalizer"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_start_that_hangs_ends_the_run(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that does not return in its time is the driver's fault, and ends the run with exit status 2."""
    monkeypatch.setattr(line, "STARTING", 0.2)
    monkeypatch.setattr(limits, "AGAIN", 0.0003)  # the next alarm may come while the first one is taken in
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # a further alarm would come while pytest's is at work

    report = judged(in_process(driver), CALLS, cases=SCRIPTED)

    assert (2, {}) == (report.status, report.json)
    assert "start() did not return within 0.2 s" in report.printed


def test_an_alarm_around_a_run_comes_all_the_same() -> None:
    """A limit on tests that uses the same alarm is set again when the driver has started, for the time that is left."""
    rang = threading.Event()
    before = signal.signal(signal.SIGALRM, lambda *_: rang.set())
    try:
        assert limits.within(60, "this", lambda: "done") == "done"
        assert (0.0, 0.0) == signal.getitimer(signal.ITIMER_REAL)
        signal.setitimer(signal.ITIMER_REAL, HOUR)
        assert limits.within(60, "this", lambda: "done") == "done"
        kept, _ = signal.getitimer(signal.ITIMER_REAL)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    assert 0 < kept <= HOUR
    assert not rang.is_set()


@pytest.mark.parametrize("driver", IN_A_RUN)
def test_a_fault_is_an_error(driver: str) -> None:
    """Whatever a driver raises or returns instead of an outcome is its own fault, in each mode that it offers."""
    kind, detail = IN_A_RUN[driver]

    report = judged(in_process(driver), CALLS, cells=CELLS, cases=SCRIPTED)

    assert (1, {"error": 4}) == (report.status, report.counts)
    for result in report.json["results"]:
        assert result["reason"].startswith(f"driver: {kind}: ")
        assert detail in result["reason"]


def test_a_traceback_is_reported() -> None:
    """The traceback of a driver that raises is reported as its standard error."""
    report = judged(in_process("Raises"), CALLS, cases=("one-call",))

    assert 'raise KeyError("the fake has crashed")' in report.reason("one-call").partition("standard error")[2]


@pytest.mark.parametrize(
    ("driver", "mend"),
    [
        ("Raises", mends.RAISED),
        ("Returns", mends.OUTCOME),
        ("StopsInItsOwnWord", mends.STOP),
        ("Exits", ""),
        ("NoRun", ""),
    ],
)
def test_a_usual_mistake_has_its_mend(driver: str, mend: str) -> None:
    """What mends it stands in the first line, and nothing where it is no usual mistake."""
    report = judged(in_process(driver), CALLS, cases=("one-call",))

    first = report.reason("one-call").splitlines()[0]
    assert first.endswith(f"; {mend}") if mend else mends.RAISED not in first


def test_a_chunk_after_the_end_turns_the_verdict() -> None:
    """A chunk of a run that is over turns that run's verdict into an error."""
    report = judged(in_process("EmitsLate"), CALLS, cases=SCRIPTED)

    assert {"empty-object": "error", "one-call": "pass"} == report.verdicts
    assert 1 == report.status
    assert ["bad-message"] == [kind for kind, _ in report.late]


@pytest.mark.parametrize("cell", ["openai-chat/plain/sync", "openai-chat/plain/async"])
def test_a_driver_that_hangs_is_at_fault(cell: str) -> None:
    """A run that has asked no model by the time that the watchdog goes off is the driver's fault."""
    report = judged(in_process("Hangs"), CALLS, cells=(cell,), cases=("one-call",), timeout=0.3)

    assert (1, {"one-call": "error"}) == (report.status, report.verdicts)
    assert report.reason("one-call").startswith("driver: hung: ")
    assert "does the client ask at `base_url`?" in report.reason("one-call")


def test_a_driver_that_hangs_after_other_runs_keeps_something() -> None:
    """Where earlier runs have asked at the base URL, the address of the client is not what is doubted."""
    report = judged(in_process("HangsLater"), CALLS, cells=CELLS[:1], cases=SCRIPTED, timeout=0.3)

    reasons = [report.reason(case) for case in SCRIPTED if report.verdicts.get(case) == "error"]
    assert 1 == len(reasons)
    assert "earlier runs have asked" in reasons[0]
    assert "base_url" not in reasons[0]


@pytest.mark.parametrize("cell", ["openai-chat/plain/sync", "openai-chat/plain/async"])
def test_a_loop_that_hangs_fails(cell: str) -> None:
    """A run that hangs after it has asked the model is a failure of the loop, about liveness."""
    report = judged(in_process("LoopHangs"), CALLS, cells=(cell,), cases=("one-call",), timeout=SHORT)

    assert (1, {"one-call": "fail"}) == (report.status, report.verdicts)
    assert report.reason("one-call").startswith("liveness: ")
    told = "after 1 model request; the last thing it was sent is reply 1: 200, a turn"
    assert report.reason("one-call").endswith(told)


def test_a_blocked_event_loop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """An async run that blocks the event loop is an error; the next ones have a new event loop, and are judged."""
    monkeypatch.setattr(line, "ANSWERING", 0.2)

    report = judged(
        in_process("BlocksItsEventLoop"), CALLS, cells=("openai-chat/plain/async",), timeout=SHORT, cases=SCRIPTED
    )

    assert {"empty-object": "error", "one-call": "pass"} == report.verdicts


@pytest.mark.parametrize("driver", NOT_STARTING)
def test_a_driver_that_does_not_start_ends_the_run(driver: str) -> None:
    """Without a driver there is no verdict: exit status 2 and the reason."""
    report = judged(in_process(driver), CALLS, cases=SCRIPTED)

    assert (2, {}) == (report.status, report.json)
    assert "driver: cannot-start: " in report.printed
    assert NOT_STARTING[driver] in report.printed


@pytest.mark.parametrize(
    ("text", "message"),
    [("raise SystemExit(0)", "SystemExit: 0"), ("import no_such_module", "No module named 'no_such_module'")],
)
def test_a_file_that_cannot_be_imported_ends_the_run(tmp_path: Path, text: str, message: str) -> None:
    """A driver's file that exits or raises when it is imported ends the run with exit status 2, never with 0."""
    path = tmp_path / f"unimportable_{len(text)}.py"
    path.write_text(text, "utf-8")

    report = judged(f"python:{path}:Driver", CALLS, cases=SCRIPTED)

    assert (2, {}) == (report.status, report.json)
    assert message in report.printed


@pytest.mark.parametrize("driver", ["python:nowhere", "ruby:driver", "", "cmd:", "cmd:  "])
def test_what_is_no_driver_ends_the_run(driver: str) -> None:
    """A driver of no known form ends the run with exit status 2 and the forms that there are."""
    report = judged(driver or ":", CALLS, cases=SCRIPTED)

    assert (2, {}) == (report.status, report.json)
    assert (
        "write python:MODULE:NAME, python:FILE.py:NAME, cmd:COMMAND LINE, server:FILE, server:URL or program:FILE"
        in report.printed
    )


@pytest.mark.parametrize(
    ("driver", "fault"),
    [
        ("CannotStop", ("crashed", "RuntimeError: the pool is closed")),
        ("NeverStops", ("hung", "stop() did not return")),
        (
            "StopsOneRun",
            ("crashed", f"looptck calls stop(), {UNFIT}: missing a required argument: 'id'; declare {STOP}"),
        ),
    ],
)
def test_a_fault_at_the_end_is_reported(driver: str, fault: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that cannot be stopped fails the run; the verdicts stand."""
    monkeypatch.setattr(line, "STOPPING", 0.2)

    report = judged(in_process(driver), CALLS, cases=("one-call",))

    assert (1, {"one-call": "pass"}) == (report.status, report.verdicts)
    assert fault[0] == report.late[0][0]
    assert report.late[0][1].startswith(fault[1])


def test_no_thread_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a run, the threads of the kit have ended, those of hanging runs apart."""
    before = set(threading.enumerate())

    judged(in_process("Driver"), CALLS, cells=CELLS, cases=SCRIPTED)

    left = [thread for thread in threading.enumerate() if thread not in before and thread.name.startswith("looptck")]
    for thread in left:
        thread.join(5.0)
    assert [] == [thread for thread in left if thread.is_alive()]
