"""Quirks of usage: what it has, and which chunks have it."""

from __future__ import annotations

from looptck.wires.openai_chat.compatible.changes import Chunk, in_body, in_both, in_stream

_TOTALS = ("prompt_tokens", "completion_tokens", "total_tokens")


@in_both("usage-null")
def _usage_null(reply: Chunk) -> Chunk:
    return {**reply, "usage": None} if "usage" in reply else reply


@in_both("usage-totals")
def _totals(reply: Chunk) -> Chunk:
    usage = reply.get("usage")
    return {**reply, "usage": {name: usage[name] for name in _TOTALS}} if usage else reply


@in_both("usage-details-null")
def _null_details(reply: Chunk) -> Chunk:
    usage = reply.get("usage")
    if not usage:
        return reply
    return {**reply, "usage": {name: None if isinstance(one, dict) else one for name, one in usage.items()}}


@in_body("no-usage")
def _no_usage(body: Chunk) -> Chunk:
    del body["usage"]
    return body


@in_stream("usage-beside-finish")
def _beside_finish(chunks: list[Chunk]) -> list[Chunk]:
    """The usage comes in the chunk with the finish reason, and no chunk after it."""
    *others, last = chunks
    if last.get("usage"):
        others[-1]["usage"] = last["usage"]
        return others
    return chunks


@in_stream("usage-then-none")
def _then_none(chunks: list[Chunk]) -> list[Chunk]:
    """The usage comes in the chunk with the finish reason; the one after it has none."""
    before = len(chunks)
    changed = _beside_finish(chunks)
    return changed if len(changed) == before else [*changed, {**chunks[-1], "usage": None}]


@in_stream("usage-in-every-chunk")
def _in_every_chunk(chunks: list[Chunk]) -> list[Chunk]:
    """Each chunk has the usage so far: all of the input, and more and more of the output."""
    *others, last = chunks
    usage: Chunk = last.get("usage") or {}
    for place, chunk in enumerate(others if usage else ()):
        output = usage["completion_tokens"] * place // len(others)
        chunk["usage"] = {**usage, "completion_tokens": output, "total_tokens": usage["prompt_tokens"] + output}
    return chunks
