"""Events of drivers: they come through as they were emitted, in order with the text; malformed ones are their fault."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from looptck.drivers import DriverFault, InProcess, Process
from meta.drivers.bench import ENOUGH
from meta.drivers.table_drivers import SAYS
from meta.drivers.test_process import CASE

DRIVER = f"{Path(__file__).with_name('table_drivers.py')}:Driver"
CALL = {"kind": "call", "call_id": "c1", "name": "ping", "arguments": {"to": None}}
TOLD = [
    {"kind": "arguments", "call_id": "c1", "text": "{"},
    CALL,
    {"kind": "call", "call_id": None, "name": "ping"},
    "Well,",
    {"kind": "result", "call_id": "c1", "result": [0], "failed": False},
    {"kind": "result", "call_id": None},
    {"kind": "end", "how": "value"},
    {"kind": "end"},
]
WRONG = [
    {"kind": "call", "name": "ping"},
    {"kind": "call", "call_id": 1, "name": "ping"},
    {"kind": "result", "call_id": "c1", "name": "ping"},
    {"kind": "end", "how": "done"},
    {"kind": "thought", "text": "Hm."},
]


@pytest.fixture(params=["in-process", "process"])
def line(request: pytest.FixtureRequest) -> InProcess | Process:
    """A connection to a driver that emits what the environment says."""
    if request.param == "in-process":
        return InProcess(DRIVER)
    return Process(f"{shlex.quote(sys.executable)} -m looptck.driver {shlex.quote(DRIVER)}")


def _told(line: InProcess | Process) -> list[Any]:
    told: list[Any] = []
    line.start()
    try:
        line.run("r1", CASE, told.append).result(ENOUGH)
    finally:
        line.stop()
    return told


def test_events_come_through(line: InProcess | Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each event is as the driver has emitted it, between the texts where it was emitted."""
    monkeypatch.setenv(SAYS, json.dumps({"chunks": TOLD}))

    assert TOLD == _told(line)


@pytest.mark.parametrize("event", WRONG, ids=json.dumps)
def test_wrong_event(line: InProcess | Process, monkeypatch: pytest.MonkeyPatch, event: object) -> None:
    """An event that the protocol does not have is a fault of the driver."""
    monkeypatch.setenv(SAYS, json.dumps({"chunks": [CALL, event]}))

    with pytest.raises(DriverFault) as fault:
        _told(line)

    assert "bad-message" == fault.value.kind
