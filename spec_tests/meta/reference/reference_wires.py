"""The provider's side of each wire, so that what holds for all wires is tested on all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from looptck_reference import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Stop, ToolCall, Turn, Wire
from looptck_reference.http.reception import Reception
from meta.reference import reference_messages as messages
from meta.reference import reference_replies as chat
from meta.reference import reference_responses as responses
from meta.reference.reference_replies import Json

Cut = Callable[[str], list[str]]

PARIS = ToolCall("call_1", "weather", '{"city":"Paris"}')


def halves(text: str) -> list[str]:
    """In two pieces."""
    return [text[: len(text) // 2], text[len(text) // 2 :]]


@dataclass(frozen=True)
class Side:
    """How the provider of a wire says things."""

    name: str
    wire: Wire
    url: str
    sse: Callable[..., bytes]
    plain: Callable[[str, Sequence[ToolCall], Stop], Json]
    lanes: Callable[[str, Sequence[ToolCall], Cut], list[list[Json]]]
    """The events of each part of a turn; those of two parts may come in any order."""
    around: Callable[[str, Sequence[ToolCall], Stop], tuple[list[Json], list[Json]]]
    """The events before and after those."""
    answers: Callable[[Json], list[tuple[str, str]]]
    """Id and text of the results in a request."""
    read: Callable[[list[Json]], list[Any]]
    """A history as it should alternate: text and calls of a turn, then the ids of its results."""
    stops: frozenset[Stop]
    """The stops that it has a word for."""
    error: Json
    """The event of an error."""
    noise: Json
    """An event that means nothing."""

    def events(self, text: str = "", *calls: ToolCall, stop: Stop | None = None, cut: Cut = halves) -> list[Json]:
        """A whole stream, part after part."""
        stop = stop or (Stop.CALLS if calls else Stop.END)
        head, tail = self.around(text, calls, stop)
        return [*head, *[event for lane in self.lanes(text, calls, cut) for event in lane], *tail]

    def body(self, text: str = "", *calls: ToolCall, stop: Stop | None = None, stream: bool = True) -> Json | bytes:
        """A reply in either form."""
        if stream:
            return self.sse(*self.events(text, *calls, stop=stop))
        return self.plain(text, calls, stop or (Stop.CALLS if calls else Stop.END))

    def echoed_arguments(self, call: ToolCall) -> Any:
        """What a call's arguments look like in a history: text, but on the wire whose arguments are objects."""
        if self.name != "anthropic-messages":
            return call.arguments
        try:
            said = json.loads(call.arguments or "{}")
        except ValueError:
            said = None
        return said if isinstance(said, dict) else {"INVALID_JSON": call.arguments}

    def turn_of(self, *events: Json) -> Turn:
        """The turn that these events make."""
        return self.received(self.sse(*events))[0]

    def received(self, *pieces: bytes) -> tuple[Turn, str]:
        """The turn that these bytes make, and the text that the caller got."""
        reception = Reception(self.wire, lambda _: True)
        text = "".join(said for piece in pieces for said in reception.feed(piece) if isinstance(said, str))
        return reception.close(), text


def _chat_sse(*events: Json) -> bytes:
    """With the end mark behind the finish reason, where the service has it."""
    last = events[-1].get("choices") if events else None
    return chat.sse(*events, done=bool(last and last[0]["finish_reason"]))


def _chat_plain(text: str, calls: Sequence[ToolCall], stop: Stop) -> Json:
    return chat.plain(text, *[chat.call(one.id, one.name, one.arguments) for one in calls], finish=CHAT_WORDS[stop])


def _chat_lanes(text: str, calls: Sequence[ToolCall], cut: Cut) -> list[list[Json]]:
    lanes = [[chat.delta(piece) for piece in cut(text)]] if text else []
    for at, one in enumerate(calls):
        first = chat.piece("", index=at, call_id=one.id, name=one.name)
        lanes.append(
            [chat.pieces(part) for part in (first, *[chat.piece(bit, index=at) for bit in cut(one.arguments)])]
        )
    return lanes


def _chat_around(_text: str, _calls: Sequence[ToolCall], stop: Stop) -> tuple[list[Json], list[Json]]:
    return [chat.delta("", role="assistant")], [chat.delta(finish=CHAT_WORDS[stop])]


def _chat_answers(body: Json) -> list[tuple[str, str]]:
    return [(one["tool_call_id"], one["content"]) for one in body["messages"] if one["role"] == "tool"]


def _chat_read(history: list[Json]) -> list[Any]:
    read: list[Any] = []
    for is_result, group in groupby(history, key=lambda message: message["role"] == "tool"):
        if is_result:
            read.append([one["tool_call_id"] for one in group])
            continue
        for one in group:
            calls = [(call["id"], call["function"]) for call in one["tool_calls"]]
            made = [(call_id, function["name"], function["arguments"]) for call_id, function in calls]
            read.append((one["content"] or "", made))
    return read


def _blocks(text: str, calls: Sequence[ToolCall]) -> list[Json]:
    said = [messages.text(text)] if text else []
    return said + [messages.tool_use(one.id, one.name, input=json.loads(one.arguments)) for one in calls]


def _messages_plain(text: str, calls: Sequence[ToolCall], stop: Stop) -> Json:
    return messages.message(*_blocks(text, calls), stop=MESSAGES_WORDS[stop])


def _messages_lanes(text: str, calls: Sequence[ToolCall], cut: Cut) -> list[list[Json]]:
    said = [messages.text_block(0, *cut(text))] if text else []
    return said + [
        messages.tool_block(at, *cut(one.arguments), call_id=one.id, name=one.name)
        for at, one in enumerate(calls, len(said))
    ]


def _messages_around(_text: str, _calls: Sequence[ToolCall], stop: Stop) -> tuple[list[Json], list[Json]]:
    return [messages.START], [messages.ends(MESSAGES_WORDS[stop]), messages.STOP]


def _messages_answers(body: Json) -> list[tuple[str, str]]:
    blocks = [
        block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]
    ]
    return [(block["tool_use_id"], block["content"]) for block in blocks if block["type"] == "tool_result"]


def _messages_read(history: list[Json]) -> list[Any]:
    read: list[Any] = []
    for message in history:
        blocks = message["content"]
        assert blocks
        if message["role"] == "user":
            assert {"tool_result"} == {block["type"] for block in blocks}
            read.append([block["tool_use_id"] for block in blocks])
            continue
        calls = [(one["id"], one["name"], one["input"]) for one in blocks if one["type"] == "tool_use"]
        read.append(("".join(one["text"] for one in blocks if one["type"] == "text"), calls))
    return read


def _items(text: str, calls: Sequence[ToolCall]) -> list[Json]:
    said = [responses.text(text)] if text else []
    return said + [responses.function_call(one.id, one.arguments, name=one.name) for one in calls]


def _responses_plain(text: str, calls: Sequence[ToolCall], stop: Stop) -> Json:
    if stop is Stop.REFUSAL:
        return responses.response(responses.refusal(text or "no"), *_items("", calls))
    reason = RESPONSES_REASONS.get(stop)
    return responses.response(*_items(text, calls), status="incomplete" if reason else "completed", reason=reason)


def _responses_lanes(text: str, calls: Sequence[ToolCall], cut: Cut) -> list[list[Json]]:
    lanes = []
    for at, item in enumerate(_items(text, calls)):
        make = responses.message_item if item["type"] == "message" else responses.call_item
        said = item["content"][0]["text"] if item["type"] == "message" else item["arguments"]
        lanes.append(make(at, item, *cut(said)))
    return lanes


def _responses_around(text: str, calls: Sequence[ToolCall], stop: Stop) -> tuple[list[Json], list[Json]]:
    whole = responses.stream(_responses_plain(text, calls, stop))
    return whole[:-1], whole[-1:]


def _responses_answers(body: Json) -> list[tuple[str, str]]:
    return [(one["call_id"], one["output"]) for one in body["input"] if one.get("type") == "function_call_output"]


def _responses_read(history: list[Json]) -> list[Any]:
    read: list[Any] = []
    for is_result, group in groupby(history, key=lambda item: item["type"] == "function_call_output"):
        items = list(group)
        if is_result:
            read.append([one["call_id"] for one in items])
            continue
        said = [part["text"] for one in items if one["type"] == "message" for part in one["content"]]
        calls = [one for one in items if one["type"] == "function_call"]
        read.append(("".join(said), [(one["call_id"], one["name"], one["arguments"]) for one in calls]))
    return read


CHAT_WORDS = {
    Stop.END: "stop",
    Stop.CALLS: "tool_calls",
    Stop.LENGTH: "length",
    Stop.CONTENT_FILTER: "content_filter",
}
MESSAGES_WORDS = {
    Stop.END: "end_turn",
    Stop.CALLS: "tool_use",
    Stop.LENGTH: "max_tokens",
    Stop.REFUSAL: "refusal",
    Stop.PAUSE: "pause_turn",
}
RESPONSES_REASONS = {Stop.LENGTH: "max_output_tokens", Stop.CONTENT_FILTER: "content_filter"}

OVERLOADED = {"type": "overloaded_error", "message": "overloaded"}

CHAT = Side(
    name="openai-chat",
    wire=OPENAI_CHAT,
    url=chat.CHAT,
    sse=_chat_sse,
    plain=_chat_plain,
    lanes=_chat_lanes,
    around=_chat_around,
    answers=_chat_answers,
    read=_chat_read,
    stops=frozenset(CHAT_WORDS),
    error={"error": OVERLOADED},
    noise={"choices": [], "usage": None},
)
MESSAGES = Side(
    name="anthropic-messages",
    wire=ANTHROPIC_MESSAGES,
    url=messages.MESSAGES,
    sse=messages.sse,
    plain=_messages_plain,
    lanes=_messages_lanes,
    around=_messages_around,
    answers=_messages_answers,
    read=_messages_read,
    stops=frozenset(MESSAGES_WORDS),
    error={"type": "error", "error": OVERLOADED},
    noise=messages.PING,
)
RESPONSES = Side(
    name="openai-responses",
    wire=OPENAI_RESPONSES,
    url=responses.RESPONSES,
    sse=responses.sse,
    plain=_responses_plain,
    lanes=_responses_lanes,
    around=_responses_around,
    answers=_responses_answers,
    read=_responses_read,
    stops=frozenset({Stop.END, Stop.CALLS, *RESPONSES_REASONS}),
    error={"type": "error", "code": "server_error", "message": "overloaded", "param": None},
    noise={"type": "response.some.future.event", "output_index": 0, "delta": "x"},
)
SIDES = [CHAT, MESSAGES, RESPONSES]
