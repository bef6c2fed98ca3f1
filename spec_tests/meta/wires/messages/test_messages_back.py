"""A reply of the Messages encoder, sent back as it is: the judge accepts it, and it is what a request should carry."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.oracle import agrees
from looptck.values.framing import DEFAULT, PRESETS, Framing
from looptck.values.history import Answered
from looptck.values.turns import Thinking, Turn
from looptck.wires.anthropic_messages import ANTHROPIC_MESSAGES
from meta.wires.messages.samples import STRANGE, TURNS

_ASKED: dict[str, Any] = {
    "model": "looptck-model",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Hello."}],
    "tools": [{"name": tool, "input_schema": {"type": "object"}} for tool in ("ping", "weather", "add")],
}
SENT_BACK = {name: turn for name, turn in {**TURNS, "strange": STRANGE}.items() if turn.text or turn.calls}


def sent_back(turn: Turn, framing: Framing) -> dict[str, Any]:
    """The next request: the reply's content, and a result for each call."""
    reply = ANTHROPIC_MESSAGES.body(turn, 1, framing)
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "Done."} for call in turn.calls]
    answer = {"role": "user", "content": results or "Go on."}
    return {**_ASKED, "messages": [*_ASKED["messages"], {"role": "assistant", "content": reply["content"]}, answer]}


@pytest.mark.parametrize("framing", [DEFAULT, PRESETS["unknown-fields"]], ids=["natural", "unknown-fields"])
@pytest.mark.parametrize("name", SENT_BACK)
def test_a_reply_may_be_sent_back(name: str, framing: Framing) -> None:
    """The judge accepts the blocks of any reply, and they are read as the echo of its turn, in order."""
    numbered = SENT_BACK[name].numbered(1)
    service = ANTHROPIC_MESSAGES.service(False)
    service.replied(_ASKED, 1, numbered)
    request = sent_back(numbered, framing)
    echoed = [item for item in service.read(request).items if not isinstance(item, Answered)][1:]
    wanted = ANTHROPIC_MESSAGES.echo(numbered)

    assert [] == service.judge(request)
    assert len(wanted) == len(echoed) - (0 if numbered.calls else 1)
    assert all(agrees(want, item) for want, item in zip(wanted, echoed, strict=False))


def test_a_signature_that_was_changed_is_refused() -> None:
    """The control of the test above: a thought with the seal of another is no longer the one that was sent."""
    numbered = TURNS["thinking"].numbered(1)
    service = ANTHROPIC_MESSAGES.service(False)
    service.replied(_ASKED, 1, numbered)
    request = sent_back(numbered, DEFAULT)
    request["messages"][1]["content"][0]["signature"] = Thinking("Cold, I think.", id="thought_1a").signature

    assert service.judge(request)
