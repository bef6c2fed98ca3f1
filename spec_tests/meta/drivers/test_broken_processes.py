"""Broken driver processes: each is found out, named, and never scored as a fault of the loop behind it."""

from __future__ import annotations

import json

import pytest

from looptck.drivers import child, process
from meta.drivers import fake_driver
from meta.drivers.bench import SCRIPTED, SHORT, judged
from meta.drivers.bench import process as fake

CALLS = "call-runs-its-tool-once"
"""A requirement with two declared cases, ``empty-object`` and ``one-call``."""

IN_A_RUN = {
    "Crashes": ("crashed", "exit status 3", "Traceback: the fake has crashed"),
    "Segfaults": ("crashed", "was ended by SIGSEGV", "parsing the reply"),
    "Babbles": ("rubbish", "'Running the case now!'", "debug mode is on"),
    "UnknownId": ("unknown-id", "finished for 'nobody'", ""),
    "HalfLineAndEnd": ("half-line", "outc", "out of memory"),
    "BadFinished": ("bad-message", "/outcome", ""),
    "HalfCharacter": ("bad-message", "half of a surrogate pair", ""),
    "TypeIsAList": ("bad-message", "type is ['finished']", ""),
    "Nested": ("rubbish", "'[[[[", ""),
    "StartsTwice": ("bad-message", "a second `started`", ""),
}
"""Faults that are known once the run is over: the driver's class, and the fault's kind, detail and standard error."""

AFTER_A_RUN = {
    "AnswersTwice": ("answered-twice", "a second `finished` for run"),
    "ChunkAfterEnd": ("bad-message", "after its `finished`"),
}

NOT_STARTING = {
    "ExitsAtOnce": ("crashed: exit status 7", "no module named the_loop"),
    "OtherVersion": ("/protocol", ""),
    "BadStarted": ("telepathy", ""),
    "UnknownProfile": ("it claims the profile core-loop, which there is not; there are agent-loop-010, ", ""),
    "ChunkBeforeStarted": ("`chunk` before `started`", ""),
    "NoGreeting": ("rubbish: 'Driver ready.'", ""),
}


@pytest.mark.parametrize("driver", [*IN_A_RUN, *AFTER_A_RUN, *NOT_STARTING])
def test_every_broken_driver_states_its_bug(driver: str) -> None:
    """The docstring of each broken driver states its bug."""
    assert (getattr(fake_driver, driver).__doc__ or "").endswith(".")


def test_a_well_behaved_process_passes() -> None:
    """A small loop in its own process passes, with exit status 0 and without a driver fault."""
    report = judged(fake(), CALLS, cases=SCRIPTED)

    assert (0, {"empty-object": "pass", "one-call": "pass"}) == (report.status, report.verdicts)
    assert [] == report.late


@pytest.mark.parametrize("driver", IN_A_RUN)
def test_a_fault_in_one_run_is_an_error_there(driver: str) -> None:
    """A fault in one run makes its verdict an error that names the fault; the next run is judged normally."""
    kind, detail, stderr = IN_A_RUN[driver]

    report = judged(fake(driver, only="empty-object"), CALLS, cases=SCRIPTED)

    assert {"empty-object": "error", "one-call": "pass"} == report.verdicts
    assert 1 == report.status
    assert [] == report.late
    reason = report.reason("empty-object")
    assert reason.startswith(f"driver: {kind}: ")
    assert detail in reason
    assert stderr in reason.partition("its standard error ends:")[2]
    assert "".join(reason.splitlines()[0].split()) in "".join(report.printed.split())  # long lines are wrapped


@pytest.mark.parametrize("driver", AFTER_A_RUN)
def test_a_fault_after_a_run_turns_its_verdict(driver: str) -> None:
    """A fault that is found after a run has passed turns this verdict into an error, and no other."""
    kind, detail = AFTER_A_RUN[driver]

    report = judged(fake(driver, only="empty-object"), CALLS, cases=SCRIPTED)

    assert {"empty-object": "error", "one-call": "pass"} == report.verdicts
    assert 1 == report.status
    assert [kind] == [kind for kind, _ in report.late]
    assert detail in report.reason("empty-object")
    assert detail in report.printed


def test_a_late_fault_turns_the_verdict_of_the_last_run() -> None:
    """The last message of a driver is read, although no run follows."""
    report = judged(fake("AnswersTwice"), CALLS, cases=("one-call",))

    assert (1, {"one-call": "error"}) == (report.status, report.verdicts)


def test_a_driver_that_hangs_is_at_fault() -> None:
    """If a run has not asked the model when the watchdog fires, this is the driver's fault."""
    report = judged(fake("Hangs", only="empty-object"), CALLS, timeout=SHORT, cases=SCRIPTED)

    assert {"empty-object": "error", "one-call": "pass"} == report.verdicts
    assert 1 == report.status
    reason = report.reason("empty-object")
    assert reason.startswith("driver: hung: ")
    assert "no model request" in reason
    assert "waiting for a lock" in reason


def test_a_loop_that_hangs_fails() -> None:
    """A run that hangs after it has asked the model is a failure of the loop, about liveness."""
    report = judged(fake("LoopHangs", only="empty-object"), CALLS, timeout=SHORT, cases=SCRIPTED)

    assert {"empty-object": "fail", "one-call": "pass"} == report.verdicts
    assert 1 == report.status
    assert report.reason("empty-object").startswith("liveness: ")
    assert [] == report.late


def test_half_a_line_and_silence_is_at_fault() -> None:
    """A driver that hangs in the middle of a line is at fault, though the model was asked."""
    report = judged(fake("HalfLineAndHang", only="empty-object"), CALLS, timeout=SHORT, cases=SCRIPTED)

    assert {"empty-object": "error", "one-call": "pass"} == report.verdicts
    assert report.reason("empty-object").startswith("driver: half-line: ")


def test_an_answer_under_an_earlier_id_is_the_drivers() -> None:
    """A run that never ends, while the driver finishes one that was over, is not held against the loop."""
    report = judged(fake("AnswersUnderTheIdBefore"), CALLS, timeout=SHORT, cases=SCRIPTED)

    assert {"empty-object": "error", "one-call": "error"} == report.verdicts
    reasons = [report.reason(case) for case in SCRIPTED]
    assert all(reason.startswith("driver: answered-twice: ") for reason in reasons)
    assert any(", while run r2.1 was open" in reason for reason in reasons)


def test_a_process_that_is_left_behind_costs_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that has ended is known to have ended, though something that it started holds its output open."""
    monkeypatch.setattr(child, "STOPPING", 0.2)
    monkeypatch.setattr(child, "HELD_OPEN", 0.2)

    report = judged(fake("LeavesAHolder", only="empty-object"), CALLS, cases=SCRIPTED)

    assert {"empty-object": "error", "one-call": "pass"} == report.verdicts
    assert report.reason("empty-object").startswith("driver: crashed: ")
    assert "held its standard output open" in report.reason("empty-object")


def test_nothing_of_a_driver_moves_the_cursor() -> None:
    """Control characters of names and errors are written as escapes, on the terminal and in the JSON; names are cut."""
    report = judged(fake("Escapes"), CALLS, cases=("one-call",))

    assert {"one-call": "fail"} == report.verdicts
    told = json.dumps(report.json, ensure_ascii=False)
    assert r"\\x1b[2Jfake" in told
    assert "808 more characters" in told
    for unsafe in ("\x1b", "\x07", "\u202e"):
        assert unsafe not in told
        assert unsafe not in report.printed


def test_closed_output_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that closes its standard output is killed, and its run is an error."""
    monkeypatch.setattr(child, "STOPPING", 0.2)

    report = judged(fake("ClosesItsOutput", only="empty-object"), CALLS, cases=SCRIPTED)

    assert {"empty-object": "error", "one-call": "pass"} == report.verdicts
    assert "it closed its standard output but did not exit" in report.reason("empty-object")


def test_an_endless_line_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that writes an extremely long line is killed, and its run is an error."""
    monkeypatch.setattr(child, "MAX_LINE", 100_000)

    report = judged(fake("Nested", only="empty-object"), CALLS, cases=SCRIPTED)

    assert {"empty-object": "error", "one-call": "pass"} == report.verdicts
    assert "a line of more than 100000 bytes" in report.reason("empty-object")


@pytest.mark.parametrize("driver", NOT_STARTING)
def test_a_driver_that_does_not_start_ends_the_run(driver: str) -> None:
    """Without a driver there is no verdict: exit status 2, the reason, and the driver's standard error."""
    detail, stderr = NOT_STARTING[driver]

    report = judged(fake(driver), CALLS, cases=SCRIPTED)

    assert (2, {}) == (report.status, report.json)
    assert "driver: cannot-start: " in report.printed
    assert detail in report.printed
    assert stderr in report.printed


@pytest.mark.parametrize("command", ["no-such-program --at all", "'unclosed", "/"])
def test_a_command_that_cannot_run_ends_the_run(command: str) -> None:
    """A command line without an existing program, or with a syntax error, ends the run with exit status 2."""
    report = judged(f"cmd:{command}", CALLS, cases=SCRIPTED)

    assert (2, {}) == (report.status, report.json)
    assert f"cannot-start: the driver could not be started: {command!r}" in report.printed


def test_a_driver_that_never_sends_started_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time for a driver's start is limited."""
    monkeypatch.setattr(process, "STARTING", SHORT)

    report = judged(fake("NeverStarts"), CALLS, cases=SCRIPTED)

    assert (2, {}) == (report.status, report.json)
    assert "no `started` within" in report.printed
    assert "loading a large model" in report.printed


def test_a_driver_that_always_crashes_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """After several consecutive faults the driver is not started again: the remaining runs are errors at once."""
    monkeypatch.setattr(process, "FAULTS_IN_A_ROW", 2)

    report = judged(fake("Crashes"), "text-result-arrives-unchanged")

    assert {"error"} == set(report.verdicts.values())
    kinds = [result["reason"].split(":")[1].strip() for result in report.json["results"]]
    assert ["crashed", "crashed", *["given-up"] * (len(kinds) - 2)] == kinds
    assert 2 < len(kinds)


def test_a_driver_that_does_not_stop_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that does not exit after ``stop`` is killed; the verdicts remain, and the fault fails the run."""
    monkeypatch.setattr(child, "STOPPING", 0.5)

    report = judged(fake("WillNotStop"), CALLS, cases=SCRIPTED)

    assert (1, {"empty-object": "pass", "one-call": "pass"}) == (report.status, report.verdicts)
    assert ["hung"] == [kind for kind, _ in report.late]
