"""Gates within a reply: where it is held, and that nothing is lost."""

from __future__ import annotations

import json

import pytest

from looptck.provider.gate import Gate
from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.script import Hold, Step
from looptck.values.framing import DEFAULT
from looptck.values.turns import says
from meta.provider.mock_runs import ASKS, CALL, STREAMS, events, mock_run, parsed_reply, reply


@pytest.mark.parametrize("every", [0, 7])
@pytest.mark.parametrize("after", [(0,), (2,), (0, 0, 3), (2, 999), (999,), (999, 0)])
def test_holds_cut_the_stream_and_lose_nothing(after: tuple[int, ...], every: int) -> None:
    """However a stream is held, its parts add up to the same stream, with one gate for each hold."""
    framing = DEFAULT.but(every=every)
    gates = [Gate(f"no. {n}") for n in range(len(after))]
    held = Step(CALL, framing, holds=tuple(Hold(gate, at) for gate, at in zip(gates, after, strict=True)))

    answer = reply(mock_run(held), STREAMS)

    assert parsed_reply(reply(mock_run(CALL), STREAMS))[2] == parsed_reply(answer)[2]
    assert sorted(map(id, gates)) == sorted(id(part) for part in answer.parts if isinstance(part, Gate))
    ends = [part for part in answer.parts if isinstance(part, bytes) and part.endswith(b"0\r\n\r\n")]
    assert [answer.parts[-1]] == ends


def test_a_hold_follows_its_events() -> None:
    """Exactly the requested number of events is sent before a gate."""
    gate = Gate("held")

    answer = reply(mock_run(Step(CALL, holds=(Hold(gate, 2),))), STREAMS)

    before = HttpReply(answer.parts[: answer.parts.index(gate)])
    assert 2 == len(events(before))


@pytest.mark.parametrize("body", [ASKS, STREAMS])
def test_a_gate_may_stand_before_the_reply(body: object) -> None:
    """No part of a reply is sent before a gate at its beginning."""
    gate = Gate("held")

    assert gate is reply(mock_run(Step(CALL, before=gate)), body).parts[0]


def test_a_gate_waits_for_a_text() -> None:
    """A hold after a text is placed where it has been sent; a text that never comes is a mistake in the script."""
    gate = Gate("never")
    slow = DEFAULT.but(fragment=2)
    answer = reply(mock_run(Step(says("A long story."), slow, holds=(Hold(gate, "A long"),))), STREAMS)

    place = answer.parts.index(gate)
    before = b"".join(part for part in answer.parts[:place] if isinstance(part, bytes))
    assert (True, False) == (b'"content":"ng"' in before, b'"content":" s"' in before)
    broken = mock_run(Step(says("A story."), holds=(Hold(gate, "A long"),)))
    assert broken.answer(HttpRequest("POST", "/c1/v1/chat/completions", {}, json.dumps(STREAMS).encode())) is None
    assert isinstance(broken.broken, ValueError)


def test_a_gate_waits_for_all_but_the_finish() -> None:
    """A hold without a position is placed before the event with the stop reason."""
    gate = Gate("never")
    answer = reply(mock_run(Step(CALL, holds=(Hold(gate, None),))), STREAMS)

    place = answer.parts.index(gate)
    before = b"".join(part for part in answer.parts[:place] if isinstance(part, bytes))
    after = b"".join(part for part in answer.parts[place:] if isinstance(part, bytes))
    assert (True, False) == (b"arguments" in before, b"arguments" in after)
    assert (False, True) == (b'"finish_reason":"tool_calls"' in before, b'"finish_reason":"tool_calls"' in after)
