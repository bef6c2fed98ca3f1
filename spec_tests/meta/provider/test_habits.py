"""Streams that are held where a loop may start calls early, and the position of a break in a stream."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from looptck.provider import faults
from looptck.provider import habits as module
from looptck.provider.gate import Gate
from looptck.provider.habits import AT_WORK, Habits
from looptck.provider.http import HttpReply
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Hold, Recorded, Script, Step, step
from looptck.provider.toolbox import Toolbox
from looptck.values.framing import DEFAULT
from looptck.values.transcript import GaveUp, ToolBegan
from looptck.values.turns import calls, says
from looptck.wires import WIRES
from looptck.wires.openai_chat import OPENAI_CHAT
from meta.provider.mock_runs import CALL, events, noted, parsed_reply, reply

ROUTES: dict[str, tuple[str, dict[str, Any]]] = {
    "openai-chat": ("/c1/v1/chat/completions", {"messages": [{"role": "user", "content": "Go."}]}),
    "openai-responses": ("/c1/v1/responses", {"input": "Go."}),
    "anthropic-messages": (
        "/c1/v1/messages",
        {"messages": [{"role": "user", "content": "Go."}], "max_tokens": 9},
    ),
}
LOST = [
    Step(CALL, fault=faults.NoFinish(done=False)),
    Step(CALL, fault=faults.ErrorEvent()),
    Step(CALL, fault=faults.Cut(place="before-finish")),
    Step(CALL, fault=faults.Cut(place="finish")),
    Step(calls(*CALL.calls, stop="length")),
]
"""Turns whose calls must not run."""
LAST_PIECE = b'ris\\"}'
"""The last piece of the call's arguments in its delta."""


def _held(what: Step, habits: Habits | None, wire: str = "openai-chat") -> tuple[MockRun, HttpReply]:
    made = MockRun(WIRES[wire], Script((step(what),)), Toolbox({}), habits=habits)
    made.opened("/c1")
    path, body = ROUTES[wire]
    return made, reply(made, {"model": "m", **body, "stream": True}, path)


def _gates(answer: HttpReply) -> list[Gate]:
    return [part for part in answer.parts if isinstance(part, Gate)]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("lost", LOST, ids=lambda lost: f"{lost.fault or lost.turn.stop}")
def test_a_lost_turn_is_held_behind_its_calls(lost: Step, wire: str) -> None:
    """The whole call is sent before the gate, and the stop reason after it; no byte is lost."""
    plain = parsed_reply(_held(lost, None, wire)[1])[2]
    _, answer = _held(lost, Habits(), wire)
    (gate,) = _gates(answer)
    before = parsed_reply(HttpReply(answer.parts[: answer.parts.index(gate)]))[2]

    assert plain == parsed_reply(answer)[2]
    assert plain.startswith(before)
    assert LAST_PIECE in before
    for word in (b'_reason":"', b"response.incomplete", b"error_", b"message_stop"):
        assert word not in before


@pytest.mark.parametrize(
    "whole",
    [
        Step(CALL),
        Step(says("Half"), fault=faults.NoFinish()),
        Step(says("Half", stop="length")),
        Step(CALL, fault=faults.ErrorEvent(1)),
    ],
)
def test_other_turns_are_not_held(whole: Step) -> None:
    """Not held: a turn whose calls run, a turn without calls, and a turn whose calls are not streamed."""
    assert [] == _gates(_held(whole, Habits())[1])


def test_a_hold_of_the_step_is_the_only_one() -> None:
    """If a check holds a stream itself, no further gate is added."""
    mine = Gate("mine")
    held = Step(CALL, fault=faults.NoFinish(), holds=(Hold(mine, 2),))

    assert [mine] == _gates(_held(held, Habits())[1])


def test_a_tool_that_begins_opens_the_gate() -> None:
    """If an implementation starts the call, the stream continues at once; the next stream is held there too."""
    habits = Habits()
    made, answer = _held(LOST[0], habits)
    (gate,) = _gates(answer)

    made.transcript.append(ToolBegan(0.0, 1, "weather", {}))

    assert gate.is_open
    assert 1 == len(_gates(_held(LOST[0], habits)[1]))


def test_where_nothing_starts_nothing_is_held_again() -> None:
    """Once the implementation has waited at such a position, it is not held there again. Checks do not see the gate."""
    habits = Habits()
    made, answer = _held(LOST[0], habits)
    (gate,) = _gates(answer)
    assert answer.gave_up is not None
    answer.gave_up(gate)

    assert [] == noted(made, GaveUp)
    assert [] == _gates(_held(LOST[0], habits)[1])
    assert [] == _gates(_held(LOST[1], habits)[1])
    others = [Step(CALL, DEFAULT.but(fragment=1), faults.NoFinish()), Step(calls(*CALL.calls * 2, stop="length"))]
    assert [1, 1] == [len(_gates(_held(other, habits)[1])) for other in others]
    assert 1 == len(_gates(_held(LOST[0], habits, "openai-responses")[1]))
    assert 1 == len(_gates(_held(LOST[0], Habits())[1]))


def test_another_gate_that_stays_shut_is_noted() -> None:
    """A gate that is not for early calls is recorded if it stays shut."""
    mine = Gate("mine")
    made, answer = _held(Step(CALL, holds=(Hold(mine, 1),)), Habits())
    assert answer.gave_up is not None

    answer.gave_up(mine)

    assert ["mine"] == [event.gate for event in noted(made, GaveUp)]


def test_its_patience_is_short() -> None:
    """The gate is expected to stay shut, so its timeout is short."""
    gate = _gates(_held(LOST[0], Habits())[1])[0]

    assert not asyncio.run(gate.wait(60.0))


@pytest.mark.parametrize(("works", "asked"), [(3, 3 + 2), (999, AT_WORK + 2)])
def test_a_busy_implementation_does_not_count_as_waiting(
    works: int, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The timeout restarts while the implementation is busy, up to a limit; it is looked at twice before the end."""
    monkeypatch.setattr(module, "LEARNING", 0.001)
    looks: list[bool] = []

    def at_work() -> bool:
        looks.append(len(looks) < works)
        return looks[-1]

    assert not asyncio.run(_gates(_held(LOST[0], Habits(at_work))[1])[0].wait(60.0))
    assert asked == len(looks)


# -- breaks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("turn", [CALL, says("The capital of France is Paris.")], ids=["call", "text"])
def test_a_break_has_its_place(wire: str, turn: Any) -> None:
    """A break may be in the last piece, after it, or in the event with the stop reason; each sends more."""
    whole = parsed_reply(_held(Step(turn), None, wire)[1])[2]
    places: list[faults.Break] = ["last-piece", "before-finish", "finish"]
    kept = [parsed_reply(_held(Step(turn, fault=faults.Cut(place=place)), None, wire)[1])[2] for place in places]

    assert sorted(kept, key=len) == kept
    assert all(whole.startswith(one) for one in kept)
    assert [False, True, False] == [one.endswith(b"\n\n") for one in kept]
    last = LAST_PIECE if turn is CALL else b"Paris."
    assert [False, True, True] == [last in one for one in kept]


# -- recordings -------------------------------------------------------------------------------------------------------


def _recorded(streamed: bool, *, cut: bool = False) -> Step:
    """A recording with the bytes that the encoders produce."""
    turn = calls(*CALL.calls, stop="length" if cut else None).numbered(1)
    if not streamed:
        body = json.dumps(OPENAI_CHAT.body(turn, 1, DEFAULT)).encode()
        return Step(turn, recorded=Recorded(200, (("content-type", "application/json"),), body))
    body = DEFAULT.encode(OPENAI_CHAT.events(turn, 1, DEFAULT))
    third = len(body) // 3
    return Step(turn, recorded=Recorded(200, (("content-type", "text/event-stream"),), body, (third, len(body))))


def test_a_recorded_plain_reply_is_streamed_on_request() -> None:
    """The turn is encoded as a stream, with the recorded ids."""
    _, answer = _held(_recorded(False), None)

    assert parsed_reply(answer)[1]["content-type"].startswith("text/event-stream")
    assert "[DONE]" == events(answer)[-1]
    assert '"id":"call_1a"' in "".join(events(answer))


def test_a_recorded_lost_turn_is_held_too() -> None:
    """The gate is between the call and the event with the stop reason; the bytes are unchanged."""
    made, answer = _held(_recorded(True, cut=True), Habits())
    (gate,) = _gates(answer)
    before = parsed_reply(HttpReply(answer.parts[: answer.parts.index(gate)]))[2]

    assert parsed_reply(_held(_recorded(True, cut=True), None)[1])[2] == parsed_reply(answer)[2]
    assert LAST_PIECE in before
    assert b'"length"' not in before
    assert before.endswith(b"\n\n")
    assert 3 == len(made.streams[1])
    assert [] == _gates(_held(_recorded(True), Habits())[1])


def test_a_recorded_stream_that_cannot_be_parsed_is_not_held() -> None:
    """Events of another server may lack the information where the call ends."""
    turn = calls(*CALL.calls, stop="length").numbered(1)
    odd = Recorded(200, (("content-type", "text/event-stream"),), b'data: {"odd": 1}\n\n')

    assert [] == _gates(_held(Step(turn, recorded=odd), Habits())[1])
