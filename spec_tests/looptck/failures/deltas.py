"""The deltas of an event stream as text: what each event adds, and how its SSE encoding differs from the usual.

A failure report shows the content of the stream and its pieces, without the ids that every event repeats. Data that is
not an event of the wire is shown unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from looptck.values.plain import cut

WIDEST = 110
"""The most characters of one line."""
_LINE_END = re.compile(rb"\r\n|\n|\r")

Said = tuple[str, str]
"""The target of an event and the text that it adds. Consecutive events with the same target share a line."""


def deltas(writes: Sequence[bytes], wire: str, most: int) -> list[str]:
    """The lines that describe a stream, at most ``most`` and a note on what is left out."""
    said = [one for data in _events(b"".join(writes)) for one in _words(data, wire)]
    lines = []
    for what, group in groupby(said, key=itemgetter(0)):
        texts = [text for _, text in group]
        pieces = " ".join(json.dumps(text, ensure_ascii=False) for text in texts if text)
        lines.append(cut(f"{what}: {pieces}" if pieces else _counted(what, len(texts)), WIDEST))
    if len(lines) > most + 1:
        half = most // 2
        lines = [*lines[:half], f"({len(lines) - 2 * half} lines in the middle are omitted)", *lines[-half:]]
    return lines


def encoding_of(writes: Sequence[bytes]) -> str:
    """How the SSE encoding of a stream differs from that of most services; empty if it does not."""
    stream = b"".join(writes)
    lines = _LINE_END.split(stream)
    unusual = {
        "a byte order mark at the start": stream.startswith(b"\xef\xbb\xbf"),
        "CRLF line ends": b"\r\n" in stream,
        "CR line ends": re.search(rb"\r(?!\n)", stream) is not None,
        "comments": any(line.startswith(b":") for line in lines),
        "values right behind their colons": any(re.match(rb"data:(?! |$)", line) for line in lines),
        "several data lines in one event": re.search(rb"(?m)^data:.*\ndata:", b"\n".join(lines)) is not None,
        "id or retry fields": any(line.startswith((b"id:", b"retry:")) for line in lines),
        "no empty line at the end": bool(stream) and not re.search(rb"(?:\r\n\r\n|\n\n|\r\r)\Z", stream),
    }
    return ", ".join(words for words, there in unusual.items() if there)


def _events(stream: bytes) -> Iterator[str]:
    """The data of each event, and each line that is not a line of an event stream."""
    data: list[str] = []
    for line in _LINE_END.split(stream.removeprefix(b"\xef\xbb\xbf")):
        text = line.decode(errors="replace")
        field, colon, value = text.partition(":")
        if not text and data:
            yield "\n".join(data)
            data = []
        elif field == "data" and colon:
            data.append(value.removeprefix(" "))
        elif text and field not in {"", "event", "id", "retry"}:
            yield text
    if data:
        yield "\n".join(data)


def _words(data: str, wire: str) -> Iterator[Said]:
    if data.strip() == "[DONE]":
        yield "[DONE]", ""
        return
    try:
        event = json.loads(data)
    except ValueError:
        yield "not JSON", cut(data, WIDEST // 2)
        return
    said = list(_BY_WIRE[wire](event)) if isinstance(event, dict) and wire in _BY_WIRE else []
    yield from said or [("event", cut(data, WIDEST // 2))]


def _chat(event: dict[str, Any]) -> Iterator[Said]:
    if "error" in event:
        yield "error", json.dumps(event["error"], ensure_ascii=False)
    choices = event.get("choices")
    if choices == []:
        yield ("usage, without choices" if event.get("usage") else "a chunk without choices"), ""
    for choice in choices if isinstance(choices, list) else []:
        delta = choice.get("delta") or {}
        said = [*_chat_texts(delta), *_chat_calls(delta)]
        if choice.get("finish_reason") is not None:
            said.append((f"finish_reason {choice['finish_reason'] or '(an empty text)'}", ""))
        yield from said or [(_unsaid(delta), "")]


def _unsaid(delta: dict[str, Any]) -> str:
    """A delta that says nothing, and whether it has calls all the same: null or an empty list."""
    if "tool_calls" in delta:
        return f"a delta with tool_calls {json.dumps(delta['tool_calls'])}"
    return "a delta with only the role" if "role" in delta else "an empty delta"


def _chat_texts(delta: dict[str, Any]) -> Iterator[Said]:
    for key, value in delta.items():
        if key not in {"role", "tool_calls"} and isinstance(value, str) and value:
            yield "text" if key == "content" else key, value


def _chat_calls(delta: dict[str, Any]) -> Iterator[Said]:
    for call in delta.get("tool_calls") or []:
        place = f"call {call['index']}" if "index" in call else "call without index"
        function = call.get("function") or {}
        named = [f"name {function['name']}"] if function.get("name") else []
        named += [f"id {call['id']}"] if call.get("id") else []
        if named:
            yield f"{place}: {', '.join(named)}", ""
        arguments = function.get("arguments")
        if arguments not in (None, ""):
            yield f"arguments of {place}", arguments if isinstance(arguments, str) else json.dumps(arguments)


def _messages(event: dict[str, Any]) -> Iterator[Said]:
    kind, place = event.get("type"), f"block {event.get('index')}"
    if kind == "content_block_start":
        block = event.get("content_block") or {}
        named = " ".join(str(block[key]) for key in ("type", "name", "id") if block.get(key))
        whole = f", whole input {json.dumps(block['input'])}" if block.get("input") else ""
        yield f"{place} starts: {named}{whole}", ""
    elif kind == "content_block_delta":
        delta = event.get("delta") or {}
        sort = str(delta.get("type"))
        text = next((value for key, value in delta.items() if key != "type" and isinstance(value, str)), "")
        yield f"{place}, {sort.removesuffix('_delta')}", text if sort != "signature_delta" else ""
    elif kind == "content_block_stop":
        yield f"{place} stops", ""
    elif kind == "message_delta":
        yield f"stop_reason {(event.get('delta') or {}).get('stop_reason')}", ""
    elif kind == "error":
        yield "error", json.dumps(event.get("error"), ensure_ascii=False)
    elif isinstance(kind, str):
        yield kind, ""


def _responses(event: dict[str, Any]) -> Iterator[Said]:
    kind = event.get("type")
    item = event.get("item")
    place = f"item {event['output_index']}" if "output_index" in event else "an item"
    if isinstance(kind, str) and isinstance(item, dict):
        named = " ".join(str(item[key]) for key in ("type", "name", "call_id", "status") if item.get(key))
        yield f"{place} is {'done' if kind.endswith('.done') else 'added'}: {named}", ""
    elif isinstance(kind, str) and isinstance(event.get("delta"), str):
        sort = kind.removeprefix("response.").removesuffix(".delta").replace("_", " ").replace(".", " ")
        yield f"{place}, {sort}", event["delta"]
    elif isinstance(kind, str) and isinstance(event.get("response"), dict):
        yield f"{kind}, status {event['response'].get('status')}", ""
    elif isinstance(kind, str):
        yield kind, json.dumps(event["message"]) if kind == "error" and "message" in event else ""


_BY_WIRE: dict[str, Callable[[dict[str, Any]], Iterator[Said]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _messages,
}


def _counted(what: str, count: int) -> str:
    return what if count == 1 else f"{what} ({count} times)"
