"""The encoder of Responses, for the tests that all encoders share."""

from __future__ import annotations

import json
from typing import Any

from looptck.values.turns import Turn
from looptck.wires.openai_responses import OPENAI_RESPONSES
from meta.wires.encoded import EncodedWire
from meta.wires.responses import samples
from meta.wires.responses.reader import meant, said, streamed
from meta.wires.responses.samples import FRAMINGS, TURNS
from meta.wires.sse_reader import data_of

STATUS = {
    "end": ("completed", None),
    "calls": ("completed", None),
    "length": ("incomplete", "max_output_tokens"),
    "content_filter": ("incomplete", "content_filter"),
}
NO_LAST_EVENT = frozenset({"cancelled", "queued", "in_progress"})
"""The stop reasons of a response whose stream just ends."""
_SHOWN = (
    "text",
    "refusal",
    "text-and-calls",
    "custom-calls",
    "thinking",
    "hosted",
    "call-length",
    "call-failed",
)


def expected(turn: Turn, *, stream: bool) -> dict[str, Any]:
    """What a reader of a turn should come to; a stream that just ends says no more than that there is work."""
    status, why = STATUS.get(turn.stopped, (turn.stopped, None))
    if not stream:
        return {"pieces": meant(turn), "status": status, "why": why}
    status = "in_progress" if status == "cancelled" else status
    return {"pieces": [] if status == "queued" else meant(turn), "status": status, "why": why}


def stop(turn: Turn) -> str:
    """Why a turn stopped, as far as a reply can say: a response that is completed does not say what of the two."""
    if turn.stopped in {"end", "calls"}:
        return "calls" if turn.calls else "end"
    return turn.stopped


RESPONSES = EncodedWire(
    wire=OPENAI_RESPONSES,
    turns=TURNS,
    streamed_only={},
    framings=FRAMINGS,
    any_turn=samples.turns(),
    any_framing=samples.framings(),
    shown_bodies=_SHOWN,
    shown_streams=("refusal", "text-and-calls", "custom-calls", "thinking", "hosted"),
    in_body=lambda turn: expected(turn, stream=False),
    in_stream=lambda turn: expected(turn, stream=True),
    read_body=said,
    read_stream=lambda stream: streamed(data_of(stream)),
    quirks=(),
    quirk_turns=("text-and-calls",),
    recorded=lambda turn: (meant(turn), stop(turn)),
    read_back=lambda turn: (meant(turn), turn.stopped),
    is_ended=lambda turn: turn.stopped not in NO_LAST_EVENT,
    no_turn=(
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
    ),
)
