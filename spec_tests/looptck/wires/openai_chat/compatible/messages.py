"""Quirks of messages: their members, what stands beside what, their role and their reasoning."""

from __future__ import annotations

from copy import deepcopy

from looptck.wires.openai_chat.compatible.changes import Chunk, deltas, in_body, in_stream, message_in, pieces

REASONING = "Let me see. First of all I have to look that up."
"""The reasoning of a turn with the quirk ``reasoning-content`` or ``reasoning-beside``."""
SEALED = "bG9vcHRjayBzZWFsZWQ="
"""The encrypted part of the reasoning of a turn with the quirk ``reasoning-details``."""
_REASONED = ("Let me see. ", "First of all I have to look that up.")
_MEMBERS: Chunk = {"role": None, "content": None, "refusal": None, "function_call": None, "tool_calls": None}
"""The documented members of a delta."""


@in_stream("null-members")
def _null_members(chunks: list[Chunk]) -> list[Chunk]:
    for delta in deltas(chunks):
        delta.update({**_MEMBERS, **delta})
    return chunks


@in_stream("role-repeated")
def _role_repeated(chunks: list[Chunk]) -> list[Chunk]:
    for delta in deltas(chunks):
        delta["role"] = "assistant"
    return chunks


@in_stream("no-role")
def _no_role(chunks: list[Chunk]) -> list[Chunk]:
    for delta in deltas(chunks):
        delta.pop("role", None)
    return chunks


@in_stream("text-beside-a-call")
def _text_beside_a_call(chunks: list[Chunk]) -> list[Chunk]:
    """The last piece of the text comes in one delta with the first piece of the first call."""
    at = next((at for at, chunk in enumerate(chunks) if any(pieces([chunk]))), 0)
    text = chunks[at - 1]["choices"][0]["delta"].get("content") if at else None
    if not text:
        return chunks
    chunks[at]["choices"][0]["delta"]["content"] = text
    return [*chunks[: at - 1], *chunks[at:]]


@in_stream("content-beside-calls")
def _content_beside_calls(chunks: list[Chunk]) -> list[Chunk]:
    for delta in deltas(chunks):
        if "tool_calls" in delta:
            delta["content"] = ""
    return chunks


@in_body("content-beside-calls")
def _content_in_body(body: Chunk) -> Chunk:
    message = message_in(body)
    if message.get("tool_calls"):
        message["content"] = message["content"] or ""
    return body


@in_stream("refusal-beside-empty-text")
def _refusal_beside_empty_text(chunks: list[Chunk]) -> list[Chunk]:
    for delta in deltas(chunks):
        if delta.get("refusal"):
            delta["content"] = ""
    return chunks


@in_body("refusal-beside-empty-text")
def _refusal_beside_empty_text_in_body(body: Chunk) -> Chunk:
    message = message_in(body)
    if message["refusal"]:
        message["content"] = message["content"] or ""
    return body


@in_body("no-content")
def _no_content(body: Chunk) -> Chunk:
    """A message without a member for its content, where it has none."""
    message = message_in(body)
    if message["content"] is None:
        del message["content"]
    return body


@in_stream("reasoning-content")
def _reasoning(chunks: list[Chunk]) -> list[Chunk]:
    """The reasoning comes in deltas of its own, before everything but the role."""
    first, *others = chunks
    thoughts = []
    for piece in _REASONED:
        thought = deepcopy(first)
        thought["choices"][0]["delta"] = {"content": None, "reasoning_content": piece}
        thoughts.append(thought)
    return [first, *thoughts, *others]


@in_body("reasoning-content")
def _reasoning_in_body(body: Chunk) -> Chunk:
    message_in(body)["reasoning_content"] = REASONING
    return body


@in_stream("reasoning-beside")
def _reasoning_beside(chunks: list[Chunk]) -> list[Chunk]:
    """The last piece of the reasoning comes in one delta with the first piece of the text, or of a call."""
    first, thought, last, *others = _reasoning(chunks)
    reasoning = last["choices"][0]["delta"]["reasoning_content"]
    for delta in deltas(others):
        if delta.get("content") or delta.get("tool_calls"):
            delta["reasoning_content"] = reasoning
            return [first, thought, *others]
    return [first, thought, last, *others]


@in_stream("reasoning-details")
def _details(chunks: list[Chunk]) -> list[Chunk]:
    """The reasoning comes as a list of details too, of which each has a type and an index: a text and a sealed part."""
    first, *others = chunks
    thoughts = []
    for members in (*map(_readable, _REASONED), {"reasoning_details": [_SEALED]}):
        thought = deepcopy(first)
        thought["choices"][0]["delta"] = {"content": "", **members}
        thoughts.append(thought)
    return [first, *thoughts, *others]


@in_body("reasoning-details")
def _details_in_body(body: Chunk) -> Chunk:
    message = message_in(body)
    message.update(_readable(REASONING))
    message["reasoning_details"].append(_SEALED)
    return body


_SEALED = {"type": "reasoning.encrypted", "data": SEALED, "id": "rd_looptck", "format": "looptck-v1", "index": 1}


def _readable(text: str) -> Chunk:
    detail = {"type": "reasoning.text", "text": text, "format": "looptck-v1", "index": 0}
    return {"reasoning": text, "reasoning_details": [detail]}
