"""A table of faults for both kinds of driver: each is the driver's, of the right kind, with the place in words."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from looptck.bench.bench import Patience
from looptck.bench.benches import loop_bench
from looptck.bench.choosing import bench_for
from looptck.bench.scenario import Scenario
from looptck.drivers import DriverFault
from looptck.values.cell import Cell
from looptck.values.turns import says
from meta.drivers.bench import ENOUGH
from meta.drivers.table_drivers import SAYS, STARTED

FILE = Path(__file__).with_name("table_drivers.py")
KINDS = {
    "python": f"python:{FILE}:Driver",
    "cmd": "cmd:" + shlex.join([sys.executable, "-S", str(FILE)]),
}
CELL = Cell("openai-chat", stream=False, mode="sync")

WRONG: list[Any] = [None, 7, {"a": 1}, [[]]]
NOT_STARTED: dict[str, Any] = {
    **{
        f"no {name}": {key: value for key, value in STARTED.items() if key != name}
        for name in STARTED
        if name != "protocol"
    },
    **{f"{name} is {wrong!r}": {**STARTED, name: wrong} for name in STARTED for wrong in WRONG},
    "an empty name": {**STARTED, "name": ""},
    "another version": {**STARTED, "protocol": 2},
    "the version as text": {**STARTED, "protocol": "1"},
    "no wire": {**STARTED, "wires": []},
    "an unknown wire": {**STARTED, "wires": ["openai-chat", "smoke-signals"]},
    "a wire twice": {**STARTED, "wires": ["openai-chat", "openai-chat"]},
    "an unknown mode": {**STARTED, "modes": ["both"]},
    "no mode": {**STARTED, "modes": []},
    "an unknown profile": {**STARTED, "profiles": ["everything"]},
    "a profile twice": {**STARTED, "profiles": ["prompty-spec", "prompty-spec"]},
    "an unknown capability": {**STARTED, "capabilities": {"telepathy": True}},
    "a capability that is no boolean": {**STARTED, "capabilities": {"stream": "yes"}},
    "an unknown member": {**STARTED, "wire": "openai-chat"},
    "half of a surrogate pair": {**STARTED, "name": "\ud83d"},
    "nothing": {},
}
"""What a driver may say in place of ``started``."""
del NOT_STARTED["capabilities is {'a': 1}"]
NOT_STARTED["an unknown capability that is a number"] = {**STARTED, "capabilities": {"a": 1}}

NO_OUTCOME: dict[str, Any] = {
    **{f"{wrong!r}": wrong for wrong in (*WRONG, "Done.", [], {}, True)},
    "no kind": {"text": "Done."},
    "an unknown kind": {"kind": "success", "text": "Done."},
    "a kind that is a list": {"kind": ["value"], "text": "Done."},
    "an error without a reason": {"kind": "error", "type": "E", "message": "m"},
    "an error without a type": {"kind": "error", "reason": "other", "message": "m"},
    "an error without a message": {"kind": "error", "reason": "other", "type": "E"},
    "an unknown reason": {"kind": "error", "reason": "fate", "type": "E", "message": "m"},
    "a reason that is a number": {"kind": "error", "reason": 1, "type": "E", "message": "m"},
    "a message that is a list": {"kind": "error", "reason": "other", "type": "E", "message": ["m"]},
    "a text that is a number": {"kind": "value", "text": 7},
    "a text that is a list": {"kind": "value", "text": ["Done."]},
    "an unknown member": {"kind": "value", "text": "Done.", "texts": []},
    "half of a surrogate pair": {"kind": "value", "text": "\udc00"},
}
"""What a driver may give in place of an outcome."""
NO_CHUNKS: dict[str, Any] = {f"{wrong!r}": wrong for wrong in (*WRONG, True, "\ud83d") if wrong is not None}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", NOT_STARTED)
def test_what_is_no_start_is_told_at_once(fault: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver cannot be started, and the message says what is wrong with its words."""
    monkeypatch.setenv(SAYS, json.dumps({"started": NOT_STARTED[fault]}))

    with pytest.raises(DriverFault) as caught, bench_for(KINDS[kind], Patience(ENOUGH)):
        pass

    assert "cannot-start" == caught.value.kind
    assert caught.value.detail


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", NO_OUTCOME)
def test_what_is_no_outcome_is_the_drivers(fault: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run ends in a fault of the driver, and the next one is played as ever."""
    _judged(kind, {"outcome": NO_OUTCOME[fault]}, monkeypatch)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", NO_CHUNKS)
def test_what_is_no_chunk_is_the_drivers(fault: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mistake is not raised in the loop that calls it, and is known in the end."""
    _judged(kind, {"chunks": [NO_CHUNKS[fault]]}, monkeypatch)


def _judged(kind: str, words: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SAYS, json.dumps(words))
    with loop_bench(bench_for(KINDS[kind], Patience(ENOUGH))) as bench:
        for _ in range(2):
            scenario = Scenario()
            scenario.plays(says("Done."))
            with pytest.raises(DriverFault) as caught:
                bench.begin(scenario, CELL, name="case").result()
            assert "bad-message" == caught.value.kind
            assert caught.value.run


def test_there_are_many() -> None:
    """Faults times kinds of driver."""
    assert 120 <= len(KINDS) * (len(NOT_STARTED) + len(NO_OUTCOME) + len(NO_CHUNKS))
