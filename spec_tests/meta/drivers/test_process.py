"""The connection to a driver process: overlapping runs, ends at bad moments, and no leftovers."""

from __future__ import annotations

import gc
import os
import select
import shlex
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from looptck.bench.bench import Patience
from looptck.bench.benches import loop_bench
from looptck.bench.choosing import bench_for
from looptck.bench.scenario import Scenario
from looptck.drivers import DriverFault, Process
from looptck.drivers import child as module
from looptck.values.cell import Cell
from looptck.values.outcome import Outcome, Value
from looptck.values.turns import Call, calls, says
from meta.drivers.bench import ENOUGH, SHORT
from meta.drivers.bench import process as fake

CELL = Cell("openai-chat", stream=False, mode="sync")
CASE = {
    "name": "case", "profile": "core", "wire": "openai-chat", "stream": False, "mode": "sync",
    "base_url": "http://127.0.0.1:9/v1", "api_key": "k", "model": "m",
    "agent": {"name": "a", "description": "", "template": []}, "messages": [], "inputs": {}, "tools": [], "options": {},
}  # fmt: skip


def nowhere(_text: str) -> None:
    """Discard a chunk."""


@contextmanager
def line(script: str, folder: Path) -> Iterator[Process]:
    """A connection to a driver process that runs this script after sending ``started``; it may call ``say``."""
    path = folder / "driver.py"
    path.write_text(BEGINNING + script, "utf-8")
    process = Process(shlex.join([sys.executable, "-S", str(path)]))
    process.start()
    try:
        yield process
    finally:
        process.stop()


BEGINNING = """
import json, os, sys, threading
def say(**message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()
def finish(id, text="Done."):
    say(type="finished", id=id, outcome={"kind": "value", "text": text})
say(type="started", protocol=1, name="f", version="1", language="python", wires=["openai-chat"], modes=["sync"],
    profiles=[], capabilities={})
sys.stdin.readline()
"""


def files() -> int:
    """The number of open files of this process."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def fault(future: Future[Outcome]) -> DriverFault:
    """The fault with which a run ends."""
    found = future.exception(ENOUGH)
    assert isinstance(found, DriverFault)
    return found


def ended(process: Process) -> None:
    """Wait until the current driver has ended and all its messages are read."""
    child: Any = process._child
    child._listening[1].join(ENOUGH)
    assert not child._listening[1].is_alive()


def test_answers_may_come_in_any_order() -> None:
    """Two overlapping runs that are answered in reverse order each have their own outcome."""
    with loop_bench(bench_for(fake("Backwards"), Patience(ENOUGH))) as bench:
        scenario = Scenario()
        scenario.plays(calls(Call.of("ping")), says("First."))
        first = bench.begin(scenario, CELL, name="first")
        scenario.plays(says("Second."))
        second = bench.begin(scenario, CELL, name="second")

        outcomes = first.result().outcome, second.result().outcome

    assert (Value("First."), Value("Second.")) == outcomes
    assert [] == bench.late_faults


def test_a_crash_is_reported_to_every_open_run(tmp_path: Path) -> None:
    """When a driver exits, all its open runs fail."""
    with line("sys.stdin.readline(); sys.stdin.readline(); os._exit(4)", tmp_path) as process:
        runs = [process.run(id, CASE, nowhere) for id in ("r1", "r2")]

        faults = [fault(run) for run in runs]

    assert [("crashed", "r1"), ("crashed", "r2")] == [(one.kind, one.run) for one in faults]
    assert [] == process.stop()


def test_a_run_that_is_sent_to_a_dying_driver_ends(tmp_path: Path) -> None:
    """A new process may start while the end of the old one is still being reported; no run is lost."""
    closing = "sys.stdin.readline(); os.close(1); sys.stdin.readline(); os._exit(4)"
    with line(closing, tmp_path) as process:
        child: Any = process._child
        first = process.run("r1", CASE, nowhere)
        while child.alive:
            os.sched_yield()
        process._command = shlex.join([sys.executable, "-S", str(tmp_path / "next.py")])
        (tmp_path / "next.py").write_text(BEGINNING + "sys.stdin.readline(); finish('r2')", "utf-8")

        second = process.run("r2", CASE, nowhere)

        assert Value("Done.") == second.result(ENOUGH)
        child._close_input()
        assert "crashed" == fault(first).kind


def test_an_end_between_two_runs_is_a_late_fault(tmp_path: Path) -> None:
    """A driver that exits between runs is started again for the next run, and the exit is reported afterwards."""
    with line("id = json.loads(sys.stdin.readline())['id']; finish(id); os._exit(5)", tmp_path) as process:
        assert Value("Done.") == process.run("r1", CASE, nowhere).result(ENOUGH)
        ended(process)
        assert Value("Done.") == process.run("r2", CASE, nowhere).result(ENOUGH)
        ended(process)

        late = process.stop()

    assert [("crashed", "exit status 5", None)] * 2 == [(one.kind, one.detail, one.run) for one in late]


def test_an_answer_that_comes_too_late_is_ignored(tmp_path: Path) -> None:
    """The answer of an abandoned run is ignored."""
    script = "id = json.loads(sys.stdin.readline())['id']; say(type='chunk', id=id, text='x')\n"
    with line(script + "threading.Event().wait()", tmp_path) as process:
        heard = threading.Event()
        process.run("r1", CASE, lambda _text: heard.set())
        assert heard.wait(ENOUGH)
        child: Any = process._child

        given_up = process.abandon("r1")
        process._on_line(child, b'{"type": "finished", "id": "r1", "outcome": {"kind": "value", "text": "late"}}')

        assert given_up is not None
        assert "hung" == given_up.kind
    assert [] == process.stop()


def test_abandoning_one_run_ends_the_others(tmp_path: Path) -> None:
    """When a process is killed because of one run, its other runs fail too, with this reason."""
    with line("sys.stdin.read()", tmp_path) as process:
        process.run("r1", CASE, nowhere)
        beside = process.run("r2", CASE, nowhere)

        process.abandon("r1")

        assert "looptck killed it: run r1 never finished" == fault(beside).detail
    assert [] == process.stop()


def test_a_hang_of_the_loop_is_no_reason_to_abandon_the_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A driver is restarted without limit if its runs had begun; otherwise it is abandoned."""
    monkeypatch.setattr("looptck.drivers.process.FAULTS_IN_A_ROW", 1)
    with line("sys.stdin.read()", tmp_path) as process:
        for id in ("r1", "r2"):
            process.run(id, CASE, nowhere)
            process.abandon(id, begun=True)
        process.run("r3", CASE, nowhere)
        process.abandon("r3")

        assert "given-up" == fault(process.run("r4", CASE, nowhere)).kind
    assert [] == process.stop()


def test_the_first_fault_of_a_run_is_reported(tmp_path: Path) -> None:
    """A run with several driver faults reports the first one."""
    with line("sys.stdin.readline(); print('oh'); print('no'); sys.stdout.flush(); os._exit(1)", tmp_path) as process:
        late = fault(process.run("r1", CASE, nowhere))

    assert ("rubbish", "'oh'") == (late.kind, late.detail)


def test_rubbish_between_two_runs_is_a_late_fault(tmp_path: Path) -> None:
    """Invalid output outside of runs is reported at the end."""
    with line("sys.stdin.read(); print('bye')", tmp_path) as process:
        late = process.stop()

    assert [("rubbish", "'bye'", None)] == [(one.kind, one.detail, one.run) for one in late]


def test_blank_lines_are_no_messages(tmp_path: Path) -> None:
    """An empty line is not invalid output, and a line may end in CR LF."""
    script = "print('\\r'); print(); id = json.loads(sys.stdin.readline())['id']; finish(id); sys.stdin.read()"
    with line(script, tmp_path) as process:
        assert Value("Done.") == process.run("r1", CASE, nowhere).result(ENOUGH)
    assert [] == process.stop()


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_a_line_may_come_in_pieces(size: int, tmp_path: Path) -> None:
    """A message is read completely, however its bytes are split, also with characters beyond ASCII."""
    script = f"""
id = json.loads(sys.stdin.readline())["id"]
outcome = {{"kind": "value", "text": "\\u00fc\\u20ac\\U0001f600\\u2028" * 20}}
data = json.dumps({{"type": "finished", "id": id, "outcome": outcome}}, ensure_ascii=False).encode() + b"\\n"
for at in range(0, len(data), {size}):
    os.write(1, data[at : at + {size}])
sys.stdin.read()
"""
    with line(script, tmp_path) as process:
        assert Value("ü€😀\u2028" * 20) == process.run("r1", CASE, nowhere).result(ENOUGH)
    assert [] == process.stop()


def test_much_standard_error_does_not_block(tmp_path: Path) -> None:
    """A driver may write more to standard error than a pipe holds; the last part is kept."""
    script = "sys.stdin.readline(); sys.stderr.write('x' * 1_000_000 + 'the end'); sys.stderr.flush(); os._exit(1)"
    with line(script, tmp_path) as process:
        stderr = fault(process.run("r1", CASE, nowhere)).stderr

    assert stderr.endswith("xxxthe end")
    assert 4000 == len(stderr)


def test_a_driver_with_closed_standard_input_is_noticed(tmp_path: Path) -> None:
    """If a driver closes its standard input and exits, the run that was sent to it is a crash."""
    with line("os.close(0); threading.Event().wait(0.05); os._exit(9)", tmp_path) as process:
        late = fault(process.run("r1", CASE, nowhere))

    assert "crashed" == late.kind


def test_child_processes_of_a_driver_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that a driver leaves behind with an open standard output is killed too."""
    if not hasattr(os, "pidfd_open"):
        pytest.skip("the end of another's process cannot be waited for here")
    monkeypatch.setattr(module, "STOPPING", 0.5)
    process = Process(fake("LeavesAChild").removeprefix("cmd:"))
    left = os.pidfd_open(int(process.start().version))
    try:
        process.stop()
        over, _, _ = select.select([left], [], [], ENOUGH)
    finally:
        os.close(left)

    assert [left] == over


def test_nothing_is_left_open() -> None:
    """After any number of runs, crashes and hangs, no process, thread or file descriptor is left."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("there is no /proc here to look at")
    children = []
    gc.collect()  # leftovers of earlier tests must not count
    before = files()
    for driver in ("Driver", "Crashes", "Hangs"):
        with loop_bench(bench_for(fake(driver), Patience(SHORT))) as bench:
            line: Any = bench._connection
            children.append(line._child)
            scenario = Scenario()
            scenario.plays(says("Done."))
            with suppress(DriverFault):
                bench.begin(scenario, CELL, name="case").result()
    for child in children:
        for thread in child._listening:
            thread.join(ENOUGH)

    assert [0, 3, -9] == [child._process.returncode for child in children]
    assert [] == [thread for child in children for thread in child._listening if thread.is_alive()]
    assert before >= files()


def test_of_a_line_without_an_end_little_is_kept() -> None:
    """Megabytes without a line end cost what they are, and only their beginning is there for a message."""
    ended = threading.Event()
    write = "import sys; sys.stdout.write('x' * 4_000_000)"

    child = module.Child(shlex.join([sys.executable, "-c", write]), lambda *_: None, lambda *_: ended.set())

    assert ended.wait(20)
    assert module.REST_KEPT == len(child.half_line())
