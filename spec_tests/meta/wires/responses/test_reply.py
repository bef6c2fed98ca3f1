"""Recorded replies of Responses are read back into the turns that they say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from looptck.framing import NATURAL, Framing, Quirk
from looptck.turns import Thinking, Turn
from looptck.wires.found import NoTurn
from looptck.wires.openai_responses import OPENAI_RESPONSES
from meta.kit.steady import STEADY
from meta.wires.responses import samples
from meta.wires.responses.reader import meant
from meta.wires.responses.samples import TURNS

NO_LAST_EVENT = frozenset({"cancelled", "queued", "in_progress"})


def stop(turn: Turn) -> str:
    """Why a turn stopped, as far as a reply can say: a response that is completed does not say what of the two."""
    if turn.stopped in {"end", "calls"}:
        return "calls" if turn.calls else "end"
    return turn.stopped


def plain(turn: Turn, framing: Framing = NATURAL) -> Turn:
    """A turn, written as a body and read back."""
    return OPENAI_RESPONSES.turn(json.dumps(OPENAI_RESPONSES.body(turn, 1, framing)), False)


def streamed(turn: Turn, framing: Framing = NATURAL) -> Turn:
    """A turn, written as a stream and read back."""
    stream = framing.dress(OPENAI_RESPONSES.events(turn, 1, framing), named=True)
    return OPENAI_RESPONSES.turn(stream.decode(), True)


@STEADY
@given(samples.turns(), samples.framings())
def test_any_reply_is_read_back(turn: Turn, framing: Framing) -> None:
    """Any turn in any framing comes back piece by piece, seals included, and for the same reason."""
    numbered = turn.numbered(1)
    replies = [plain(numbered, framing)]
    if turn.stopped not in NO_LAST_EVENT:
        replies.append(streamed(numbered, framing))

    for reply in replies:
        assert meant(numbered) == meant(reply)
        assert stop(numbered) == reply.stopped


@pytest.mark.parametrize("quirk", sorted(OPENAI_RESPONSES.quirks))
def test_quirks_are_read_back(quirk: Quirk) -> None:
    """What servers of this wire were seen to do can be recorded too."""
    numbered = TURNS["text-and-calls"].numbered(1)

    assert numbered.pieces == streamed(numbered, NATURAL.but(quirk=quirk)).pieces


def test_a_recorded_thought_keeps_its_seal() -> None:
    """Encrypted content that nobody can work out is what the service will want back."""
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    (thought,) = OPENAI_RESPONSES.turn(_body(item), False).pieces

    assert isinstance(thought, Thinking)
    assert (True, "1", "gAAA") == (thought.redacted, thought.id, thought.seal)


def test_a_thought_is_as_it_was_when_it_was_done() -> None:
    """The last event of a stream encrypts a thought anew: the one to return was done before, and both are known."""
    done = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    last = {"status": "completed", "output": [{**done, "encrypted_content": "gBBB"}]}
    events = [
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": last},
    ]
    (thought,) = OPENAI_RESPONSES.turn(NATURAL.dress(events).decode(), True).pieces

    assert Thinking("", True, "1", "gAAA", "gBBB") == thought


def test_a_message_of_many_parts_is_many_pieces() -> None:
    """A message of the service may hold text and a refusal; each is a piece."""
    parts = [{"type": "output_text", "text": "Well."}, {"type": "refusal", "refusal": "No."}]
    reply = OPENAI_RESPONSES.turn(_body({"id": "msg_1", "type": "message", "content": parts}), False)

    assert ("Well.", "No.") == (reply.text, reply.refusal)


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("", False),
        ("[]", False),
        ('{"error": {"message": "No."}}', False),
        (json.dumps({"output": [], "status": "looptck"}), False),
        (json.dumps({"output": [], "status": "incomplete", "incomplete_details": {"reason": "steered"}}), False),
        (json.dumps({"output": [{"id": "1", "type": "computer_call"}], "status": "completed"}), False),
        ("", True),
        ('data: {"error": {"message": "No."}}\n\n', True),
        ('data: {"type": "response.created", "response": {"output": []}}\n\n', True),
        ("data: [DONE]\n\n", True),
    ],
)
def test_what_says_no_turn(text: str, stream: bool) -> None:
    """A body that is no reply, or is not over, raises the one error that is announced."""
    with pytest.raises(NoTurn):
        OPENAI_RESPONSES.turn(text, stream)


def _body(item: dict[str, Any]) -> str:
    return json.dumps({"status": "completed", "output": [item]})
