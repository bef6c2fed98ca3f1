"""Recorded replies of Responses: signatures of thoughts, and messages of several parts."""

from __future__ import annotations

import json
from typing import Any

from looptck.values.framing import DEFAULT
from looptck.values.turns import Thinking
from looptck.wires.openai_responses import OPENAI_RESPONSES


def test_a_recorded_thought_keeps_its_signature() -> None:
    """Encrypted content that nobody can work out is what the service will want back."""
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    (thought,) = OPENAI_RESPONSES.turn(_body(item), False).pieces

    assert isinstance(thought, Thinking)
    assert (True, "1", "gAAA") == (thought.redacted, thought.id, thought.signature)


def test_a_thought_is_as_it_was_when_it_was_done() -> None:
    """The last event of a stream encrypts a thought anew: the one to return was done before, and both are known."""
    done = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    last = {"status": "completed", "output": [{**done, "encrypted_content": "gBBB"}]}
    events = [
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": last},
    ]
    (thought,) = OPENAI_RESPONSES.turn(DEFAULT.encode(events).decode(), True).pieces

    assert Thinking("", True, "1", "gAAA", "gBBB") == thought


def test_a_message_of_many_parts_is_many_pieces() -> None:
    """A message of the service may hold text and a refusal; each is a piece."""
    parts = [{"type": "output_text", "text": "Well."}, {"type": "refusal", "refusal": "No."}]
    reply = OPENAI_RESPONSES.turn(_body({"id": "msg_1", "type": "message", "content": parts}), False)

    assert ("Well.", "No.") == (reply.text, reply.refusal)


def _body(item: dict[str, Any]) -> str:
    return json.dumps({"status": "completed", "output": [item]})
