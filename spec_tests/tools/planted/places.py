"""The places of a recording that a secret is planted in: what the person, the tools and the upstream write."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from looptck.provider.http import HttpReply, HttpRequest, head
from looptck.provider.toolbox import Behaviour, Raises, Returns
from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, Text, Thinking, Turn, calls, says
from looptck.wires import WIRES
from meta.recording.fake_upstream import EVENTS, JSON, stream, whole

Reply = HttpReply | Callable[[HttpRequest], HttpReply]
HEADER_OF_ONE = {
    "openai-chat": "OPENAI_ORG_ID",
    "openai-responses": "OPENAI_PROJECT_ID",
    "anthropic-messages": "ANTHROPIC_CUSTOM_HEADERS",
}
"""The variable of the environment that the SDK of a wire makes a header of, beside the key's."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A wire, and whether it streams."""

    wire: str
    stream: bool

    def __str__(self) -> str:
        return f"{self.wire}/{'stream' if self.stream else 'plain'}"

    def body(self, turn: Turn) -> Any:
        """A turn as the JSON of a plain reply."""
        return WIRES[self.wire].body(turn, 1, DEFAULT)

    def events(self, turn: Turn, fragment: int = 0) -> list[bytes]:
        """A turn as events, with so many characters in a delta; 0: all."""
        framing = DEFAULT.but(fragment=fragment)
        wire = WIRES[self.wire]
        return list(framing.encode_each(wire.events(turn, 1, framing), named=wire.named_events))

    def says(self, turn: Turn, fragment: int = 0, written: Callable[[bytes], bytes] = bytes) -> HttpReply:
        """A turn as a reply, whose bytes may be written in another way."""
        if self.stream:
            return stream(*(written(event) for event in self.events(turn, fragment)))
        return whole(200, written(json.dumps(self.body(turn)).encode()))

    def with_more(self, members: Mapping[str, Any]) -> HttpReply:
        """A turn whose reply, or each of whose events, has more members."""
        added = json.dumps(members)[1:-1].encode()
        return self.says(says("Hello."), written=lambda event: event.replace(b"{", b"{" + added + b",", 1))

    def headed(self, headers: Sequence[tuple[str, str]], kind: str = "") -> HttpReply:
        """A turn whose reply has more headers, and more behind its content type."""
        ((name, value),) = EVENTS if self.stream else JSON
        given = [(name, value + kind), *headers]
        if self.stream:
            return stream(*self.events(says("Hello.")), headers=given)
        return whole(200, json.dumps(self.body(says("Hello."))).encode(), given)


@dataclass(frozen=True, slots=True)
class Setting:
    """A recording with a secret in it."""

    replies: Sequence[Reply]
    question: str = ""
    """Behind the case's own."""
    system: str = ""
    described: str = ""
    """The description of a tool."""
    behaviours: Mapping[str, tuple[Behaviour, ...]] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    """Before the host of the upstream's address."""
    path: str = ""
    """Behind its base path, with its query."""


def escaped(text: str) -> str:
    """A text as JSON may write it: each character as an escape."""
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


def in_a_header(text: str) -> str:
    """A text as it stands in a header, which has one line."""
    return text.replace("\n", "\\n")


def halved(before: str, secret: str, after: str = "") -> tuple[str, int]:
    """A text, and the length of the deltas with which the border of two lies in the middle of the secret."""
    at = len(before) + len(secret) // 2
    after = after.ljust(at - len(secret) + len(secret) // 2, ".")
    return f"{before}{secret}{after}", at


def _echo(cell: Cell) -> Reply:
    def echo(request: HttpRequest) -> HttpReply:
        return cell.says(says(json.dumps([request.path, request.headers])))

    return echo


def _calls(cell: Cell, arguments: str, fragment: int = 0) -> list[Reply]:
    return [cell.says(calls(Call("note", arguments, "call_1")), fragment), cell.says(says("Done."))]


def _weather(cell: Cell) -> list[Reply]:
    return [cell.says(calls(Call("weather", '{"city": "Paris"}', "call_1"))), cell.says(says("Done."))]


def _text(cell: Cell, text: str, fragment: int = 0) -> Setting:
    return Setting([cell.says(says(text), fragment)])


def _arguments(cell: Cell, value: Any, fragment: int = 0) -> Setting:
    return Setting(_calls(cell, json.dumps({"text": value}), fragment))


def _halved_arguments(cell: Cell, secret: str) -> Setting:
    text, at = halved('{"text": "', json.dumps(secret)[1:-1], '"}')
    return Setting(_calls(cell, text.rstrip("."), at))


def _escaped_text(cell: Cell, secret: str) -> Setting:
    mark, spelled = "qqPLANTEDqq", escaped(secret).encode()
    return Setting([cell.says(says(f"So {mark}."), written=lambda event: event.replace(mark.encode(), spelled))])


def _error(cell: Cell, status: int, secret: str) -> Setting:
    error = {"type": "authentication_error", "message": f"Incorrect key provided: {secret}."}
    return Setting([whole(status, json.dumps({"type": "error", "error": error}).encode())])


def _error_event(cell: Cell, secret: str) -> Setting:
    if not cell.stream:
        return _error(cell, 500, secret)
    error = json.dumps({"type": "error", "error": {"type": "server_error", "message": secret}, "message": secret})
    return Setting([stream(*cell.events(says("Hel"))[:2], f"event: error\ndata: {error}\n\n".encode())])


def _broken(cell: Cell, secret: str) -> Setting:
    if not cell.stream:
        body = json.dumps(cell.body(says(secret))).encode()
        return Setting([HttpReply([head(200, JSON, length=len(body) + 9) + body], then_close=True)])
    text, at = halved("So ", secret)
    sent = cell.events(says(text), at)
    second = json.dumps(text[at : at + 4])[1:-1].encode()
    until = next(n for n, event in enumerate(sent) if second in event)
    return Setting([stream(*sent[: until + 1], breaks=True)])


def _thinking(cell: Cell, secret: str) -> Setting:
    text, at = halved("I know ", secret)
    if cell.wire != "openai-chat":
        return Setting([cell.says(Turn((Thinking(text), Text("Hello."))), at)])
    if not cell.stream:
        body = cell.body(says("Hello."))
        body["choices"][0]["message"]["reasoning_content"] = text
        return Setting([whole(200, json.dumps(body).encode())])
    sent = cell.events(says(text), at)
    return Setting([stream(*(event.replace(b'"content"', b'"reasoning_content"') for event in sent))])


def _beside_data(cell: Cell, lines: str) -> Setting:
    """Lines of an event stream that are no data; a plain reply has them in a header."""
    if not cell.stream:
        return Setting([cell.headed([("x-note", in_a_header(lines.strip()))])])
    sent = cell.events(says("Hello."))
    return Setting([stream(lines.encode(), *sent)])


def _with_result(cell: Cell, behaviour: Behaviour) -> Setting:
    return Setting(_weather(cell), behaviours={"weather": (behaviour,)})


def _encoded(secret: str) -> str:
    return base64.b64encode(secret.encode()).decode()


def _compressed(cell: Cell, secret: str) -> Setting:
    text = says(f"It is {secret}.")
    body = b"".join(cell.events(text)) if cell.stream else json.dumps(cell.body(text)).encode()
    kind = EVENTS if cell.stream else JSON
    return Setting([whole(200, gzip.compress(body), [*kind, ("content-encoding", "gzip")])])


def _all_percent(secret: str) -> str:
    return "".join(f"%{one:02X}" for one in secret.encode())


PLACES: dict[str, Callable[[Cell, str], Setting]] = {
    "the key, sent back": lambda cell, s: Setting([_echo(cell)], environment={"LOOPTCK_API_KEY": in_a_header(s)}),
    "a header of the SDK, sent back": lambda cell, s: Setting(
        [_echo(cell)],
        environment={
            HEADER_OF_ONE[cell.wire]: ("x-own: " if "HEADERS" in HEADER_OF_ONE[cell.wire] else "") + in_a_header(s)
        },
    ),
    "the query of the address, sent back": lambda cell, s: Setting([_echo(cell)], path=f"?key={quote(s, safe='')}"),
    "the user of the address, sent back": lambda cell, s: Setting([_echo(cell)], user=f"me:{quote(s, safe='')}@"),
    "the path of the address, sent back": lambda cell, s: Setting([_echo(cell)], path=f"/{quote(s, safe='')}"),
    "the system prompt": lambda cell, s: Setting([cell.says(says("Hello."))], system=f"Sign with {s} always."),
    "the question": lambda cell, s: Setting([cell.says(says("Hello."))], question=f"My secret is {s}."),
    "a tool's description": lambda cell, s: Setting([cell.says(says("Hello."))], described=f"Uses {s} to ask."),
    "a tool's result": lambda cell, s: _with_result(cell, Returns(f"sunny\n{s}\n")),
    "a tool's result in JSON": lambda cell, s: _with_result(cell, Returns({"rows": [{"note": s}]})),
    "a tool's error": lambda cell, s: _with_result(cell, Raises(f"cannot log in with {s}")),
    "headers of the reply": lambda cell, s: Setting(
        [cell.headed([("set-cookie", f"a={in_a_header(s)}; Path=/"), ("x-request-id", in_a_header(s))])]
    ),
    "the content type": lambda cell, s: Setting([cell.headed([], f"; boundary={in_a_header(s)}")]),
    "a header that is kept": lambda cell, s: Setting([cell.headed([("retry-after", in_a_header(s))])]),
    "text": lambda cell, s: _text(cell, f"It is {s} today."),
    "text, escaped": _escaped_text,
    "text in two deltas": lambda cell, s: _text(cell, *halved("It is ", s)),
    "text in a delta for each three letters": lambda cell, s: _text(cell, f"It is {s} today.", 3),
    "arguments": lambda cell, s: _arguments(cell, f"Keep {s}!"),
    "arguments in two deltas": _halved_arguments,
    "arguments in a delta for each three letters": lambda cell, s: _arguments(cell, f"Keep {s}!", 3),
    "arguments, escaped": lambda cell, s: Setting(_calls(cell, f'{{"text": "{escaped(s)}"}}', 7)),
    "arguments, in JSON in JSON": lambda cell, s: _arguments(cell, json.dumps({"body": json.dumps([{"k": s}])})),
    "arguments that are no JSON": lambda cell, s: Setting(_calls(cell, json.dumps({"text": s, "more": 1})[:-9])),
    "text in base64": lambda cell, s: _text(cell, f"It is {_encoded(s)} today."),
    "arguments in base64 of more": lambda cell, s: _arguments(cell, _encoded(f"user:{s}:1")),
    "text in percent signs": lambda cell, s: _text(cell, f"See https://example.org/?q={_all_percent(s)}&x=1"),
    "a URL's user": lambda cell, s: _arguments(cell, f"https://app:{quote(s, safe='')}@db.example.org/x"),
    "a URL's query, twice quoted": lambda cell, s: _text(
        cell, f"https://example.org/?to={quote('https://b.example/?q=' + quote(s, safe=''), safe='')}"
    ),
    "a file name": lambda cell, s: Setting(
        [cell.with_more({"files": [{"filename": f"backup-{s}.pem", "path": f"keys/{s}.txt"}]})]
    ),
    "an unknown member": lambda cell, s: Setting([cell.with_more({"debug": {"upstream": [1, {"a": s}]}})]),
    "the name of a member": lambda cell, s: Setting([cell.with_more({"metadata": {s: True}})]),
    "a data URL": lambda cell, s: Setting(
        [cell.with_more({"images": [{"image_url": f"data:text/plain;base64,{_encoded(f'key {s}')}"}]})]
    ),
    "two texts of a list": lambda cell, s: Setting(
        [cell.with_more({"parts": [{"text": f"a {s[: len(s) // 2]}"}, {"text": f"{s[len(s) // 2 :]} b"}]})]
    ),
    "the name of a tool": lambda cell, s: Setting(
        [cell.says(calls(Call(s, "{}", "call_1"))), cell.says(says("Done."))]
    ),
    "thoughts in two deltas": _thinking,
    "an error's body": lambda cell, s: _error(cell, 401, s),
    "an error's page": lambda _, s: Setting(
        [whole(502, f"<html><b>{s}</b></html>".encode(), [("content-type", "text/html")])]
    ),
    "an error in a stream": _error_event,
    "a page in place of a reply": lambda _, s: Setting(
        [whole(200, f"<html>{s}".encode(), [("content-type", in_a_header(f"text/html; x={s}"))])]
    ),
    "a reply that breaks off": _broken,
    "a compressed reply": _compressed,
    "a comment": lambda cell, s: _beside_data(cell, f": {in_a_header(s)}\n\n"),
    "the id of an event": lambda cell, s: _beside_data(cell, f"id: {in_a_header(s)}\nretry: 10\n"),
    "the name of an event": lambda cell, s: _beside_data(cell, f"event: {in_a_header(s)}\ndata: {{}}\n\n"),
}
"""What the recorder meets, by the name of the place."""
