"""Encodes a turn as Chat Completions would send it: one body, or a stream of chunks.

The default layout is what the service was seen to send: the members in its order, the call's id, type and name only in
its first delta with empty arguments, ``finish_reason`` null until the chunk that ends the choice, then a chunk with
usage and no choices (left out by the provider where the request does not ask for it), then ``[DONE]``. Everything else
is asked for by the framing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from looptck.values.framing import MODEL, Framing
from looptck.values.turns import Call, Stop, Turn
from looptck.wires.fragments import parts, taking_turns
from looptck.wires.openai_chat.compatible import arguments_of, changed_body, changed_stream

FINISH: dict[Stop, str] = {
    "end": "stop",
    "calls": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}
_NO_CALLS: dict[str | None, Any] = {"calls-null": None, "calls-empty": []}
_OUTPUT_DETAILS = {
    "audio_tokens": 0,
    "accepted_prediction_tokens": 0,
    "rejected_prediction_tokens": 0,
}
_FINGERPRINT = {"service_tier": "default", "system_fingerprint": "fp_looptck"}
_UNKNOWN: dict[str, Any] = {"tool_calls": None}
"""The value of every undocumented field. It is of one type, so that deltas which repeat it can be merged."""
_PADDING = "aG5ydWx4cQ9vT3"
_ERROR_TYPES = {401: "invalid_request_error", 429: "rate_limit_error", 500: "server_error", 503: "server_error"}


def body(turn: Turn, n: int, framing: Framing) -> dict[str, Any]:
    """The plain reply: an object ``chat.completion``."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text, "refusal": turn.refusal, "annotations": []}
    if turn.calls:
        message["tool_calls"] = [_whole(call, framing) for call in turn.calls]
    elif framing.quirk in _NO_CALLS:
        message["tool_calls"] = _NO_CALLS[framing.quirk]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": FINISH[turn.stopped]}
    reply = {**_head(n, "chat.completion"), "choices": [choice], "usage": _usage(turn), **_FINGERPRINT}
    for known in (message, reply) if framing.unknown_fields else ():
        known["x_unknown"] = _UNKNOWN
    return changed_body(framing.quirk, reply)


def events(turn: Turn, n: int, framing: Framing) -> list[object]:
    """The streamed reply: objects ``chat.completion.chunk``, and the end marker."""
    head = {**_head(n, "chat.completion.chunk"), **_FINGERPRINT}
    if framing.unknown_fields:
        head["x_unknown"] = _UNKNOWN
    counted = framing.usage is not False
    usage = {"usage": None} if counted else {}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice], **usage, "obfuscation": _obfuscation(delta)}

    stream: list[object] = []
    if framing.opening:
        stream.append({**head, "choices": [], "prompt_filter_results": [{"prompt_index": 0}], **usage})
    for delta in _deltas(turn, framing):
        stream.append(chunk(delta))
        if framing.empty_deltas:
            stream.append(chunk({}))
    stream.append(chunk({}, FINISH[turn.stopped]))
    if framing.quirk == "finish-repeated":
        stream.append(chunk({}, FINISH[turn.stopped]))
    if counted:
        stream.append({**head, "choices": [], "usage": _usage(turn), "obfuscation": _obfuscation({})})
    if framing.done:
        stream.append("[DONE]")
    return changed_stream(framing.quirk, stream)


def error_events(before: list[object], message: str) -> list[object]:
    """The events that replace the rest of a stream: the error object as a separate chunk."""
    return [error_body(500, message)]


def text_of(event: object) -> str:
    """The text that a chunk adds."""
    choices = event.get("choices") or () if isinstance(event, dict) else ()
    return "".join((choice["delta"] or {}).get("content") or "" for choice in choices)


def error_body(status: int, message: str) -> dict[str, Any]:
    """The error object that the service sends, alone or inside a stream."""
    kind = _ERROR_TYPES.get(status, "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def without_finish(events: list[object]) -> list[object]:
    """The events without the chunks that have a ``finish_reason``."""
    return [event for event in events if not _finishes(event)]


def _finishes(event: object) -> bool:
    return isinstance(event, dict) and any(choice["finish_reason"] for choice in event["choices"] or ())


def _head(n: int, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-looptck{n:016d}",
        "object": kind,
        "created": 1_750_000_000 + n,
        "model": MODEL,
    }


def _usage(turn: Turn) -> dict[str, Any]:
    used = turn.used
    return {
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": used.reasoning, **_OUTPUT_DETAILS},
    }


def _obfuscation(delta: dict[str, Any]) -> str:
    """Padding that hides the length of a delta."""
    return _PADDING[len(delta.get("content") or "") % len(_PADDING) :]


def _whole(call: Call, framing: Framing) -> dict[str, Any]:
    if call.custom:
        return {"id": call.id, "type": "custom", "custom": {"name": call.tool, "input": call.arguments}}
    arguments = arguments_of(call.arguments, framing.quirk)
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


def _deltas(turn: Turn, framing: Framing) -> Iterator[dict[str, Any]]:
    """The deltas between the role and the end, in order: text, refusal, then calls; or calls first."""
    first: dict[str, Any] = {"role": "assistant", "content": None if turn.text is None else "", "refusal": None}
    texts = [{"content": part} for part in parts(turn.text or "", framing.fragment)]
    texts += [{"refusal": part} for part in parts(turn.refusal or "", framing.fragment)]
    wanted = list(_calls(turn, framing))
    if framing.calls_first and wanted:
        yield first | {"content": None} | wanted[0]
        yield from [*wanted[1:], *texts]
    else:
        yield first
        yield from [*texts, *wanted]


def _calls(turn: Turn, framing: Framing) -> Iterator[dict[str, Any]]:
    if not turn.calls:
        if framing.quirk in _NO_CALLS:
            yield {"tool_calls": _NO_CALLS[framing.quirk]}
        return
    if framing.one_delta:
        yield {"tool_calls": [{"index": i, **_whole(call, framing)} for i, call in enumerate(turn.calls)]}
        return
    lines = [list(_call_deltas(call, index, framing)) for index, call in enumerate(turn.calls)]
    for part in taking_turns(lines) if framing.interleaved else (part for line in lines for part in line):
        yield {"tool_calls": [part]}


def _call_deltas(call: Call, index: int, framing: Framing) -> Iterator[dict[str, Any]]:
    """The deltas of one call, each an entry of ``delta.tool_calls``."""
    place: dict[str, Any] = {"index": index}
    if framing.quirk == "one-index":
        place = {"index": 0}
    elif framing.quirk == "index-from-one":
        place = {"index": index + 1}
    named = {"id": call.id, "type": "function"}
    if framing.quirk in {"arguments-object", "arguments-null"} or call.custom:
        yield {**place, **_whole(call, framing)}
        return
    if framing.quirk == "name-in-pieces":
        half = len(call.tool) // 2
        yield {**place, **named, "function": {"name": call.tool[:half], "arguments": ""}}
        yield {**place, "function": {"name": call.tool[half:], "arguments": ""}}
    else:
        yield {**place, **named, "function": {"name": call.tool, "arguments": ""}}
    repeated = named if framing.quirk in {"ids-repeated", "one-index"} else {}
    for part in parts(call.arguments, framing.fragment):
        yield {**place, **repeated, "function": {"arguments": part}}
