"""Cancelling and renewing, over both kinds of connection."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from looptck import driver as door
from looptck.drivers import Connection, DriverFault, InProcess, Process, connect
from looptck.values.outcome import Failed, Outcome, Value

DRIVERS = Path(__file__).with_name("cancelled_drivers.py")
PATIENCE = 30.0
CASE: dict[str, Any] = {
    "name": "a case", "id": "r.1", "profile": "core", "wire": "openai-chat", "stream": False, "mode": "sync",
    "base_url": "http://127.0.0.1:1/v1", "api_key": "k", "model": "m", "messages": [], "inputs": {}, "tools": [],
    "agent": {"name": "a", "description": "", "template": []}, "options": {},
}  # fmt: skip
WAYS = ("inside", "served")


@contextmanager
def connection(way: str, name: str) -> Iterator[Connection]:
    """A connection to this driver, in this process or served as one of its own."""
    reference = f"{DRIVERS}:{name}"
    served = "cmd:" + shlex.join([sys.executable, door.__file__, reference])
    line = connect(f"python:{reference}" if way == "inside" else served)
    assert isinstance(line, InProcess | Process)
    line.start()
    try:
        yield line
    finally:
        line.stop()


def begun(line: Connection, mode: str, id: str = "r.1") -> Future[Outcome]:
    """A run that waits."""
    waits = threading.Event()
    future = line.run(id, CASE | {"id": id, "mode": mode}, lambda _: waits.set())
    assert waits.wait(PATIENCE)
    return future


@pytest.mark.parametrize("way", WAYS)
def test_the_task_of_a_run_is_cancelled(way: str) -> None:
    """A driver without `cancel` needs to do nothing: its run ends as cancelled."""
    with connection(way, "ByTask") as line:
        future = begun(line, "async")
        line.cancel("r.1")

        assert Failed("cancelled", "CancelledError", "") == future.result(PATIENCE)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_driver_is_told_by_the_id(way: str, mode: str) -> None:
    """A driver with `cancel` gets the id of the run, which its case had too; other runs go on."""
    with connection(way, "ByMethod") as line:
        first, second = begun(line, mode, "r.1"), begun(line, mode, "r.2")
        line.cancel("r.2")

        assert Failed("cancelled", "Cancelled", "r.2") == second.result(PATIENCE)
        assert not first.done()
        line.cancel("r.1")
        assert Failed("cancelled", "Cancelled", "r.1") == first.result(PATIENCE)


@pytest.mark.parametrize("way", WAYS)
def test_a_driver_may_end_the_task_in_its_own_way(way: str) -> None:
    """What it returns of the cancelled task is the outcome."""
    with connection(way, "Catches") as line:
        future = begun(line, "async")
        line.cancel("r.1")

        assert Value("as far as it went", "other") == future.result(PATIENCE)


@pytest.mark.parametrize("way", WAYS)
def test_a_broken_cancel_is_a_fault_of_the_driver(way: str) -> None:
    """An exception in `cancel` is a driver's fault in that run, and not its outcome."""
    with connection(way, "RaisesOnCancel") as line:
        future = begun(line, "sync")
        line.cancel("r.1")

        with pytest.raises(DriverFault, match=r"KeyError: 'r.1'|exit status 70"):
            future.result(PATIENCE)


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_over_is_not_cancelled(way: str) -> None:
    """The id of a run that has ended, or that never was, is nothing to cancel."""
    with connection(way, "ByTask") as line:
        future = begun(line, "async")
        line.cancel("r.1")
        future.result(PATIENCE)

        line.cancel("r.1")
        line.cancel("r.7")

        assert [] == line.stop()


@pytest.mark.parametrize("way", WAYS)
def test_a_renewed_driver_has_forgotten_its_runs(way: str) -> None:
    """Behind `renew` there is another object of the driver."""
    texts: list[str | None] = []
    with connection(way, "Counts") as line:
        for renewed in (False, False, True):
            if renewed:
                line.renew()
            outcome = line.run(f"r.{len(texts)}", CASE, lambda _: None).result(PATIENCE)
            assert isinstance(outcome, Value)
            texts.append(outcome.text)

    assert ["1", "2", "1"] == texts
