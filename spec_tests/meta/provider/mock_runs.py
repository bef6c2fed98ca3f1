"""A mock run for tests, and requests to it."""

from __future__ import annotations

import json
from typing import Any

from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Script, step
from looptck.provider.toolbox import Behaviour, Toolbox
from looptck.values.turns import Call, calls
from looptck.wires.openai_chat import OPENAI_CHAT

ASKS: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Go."}]}
STREAMS = {**ASKS, "stream": True}
CALL = calls(Call.of("weather", {"city": "Paris"}), text="I look.")


def mock_run(*what: Any, endless: Any = None, **tools: list[Behaviour]) -> MockRun:
    """A mock run below ``/c1`` that plays these steps."""
    made = MockRun(OPENAI_CHAT, Script(tuple(step(one) for one in what), endless), Toolbox({**tools}))
    made.opened("/c1")
    return made


def reply(
    mock_run: MockRun, body: object = ASKS, path: str = "/c1/v1/chat/completions", method: str = "POST"
) -> HttpReply:
    """The complete reply to a request."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = mock_run.answer(HttpRequest(method, path, {"anthropic-version": "2023-06-01"}, raw))
    assert answer is not None
    if answer.sent:
        answer.sent()
    return answer


def parsed_reply(answer: HttpReply) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a reply; a chunked body is joined."""
    head, _, body = b"".join(part for part in answer.parts if isinstance(part, bytes)).partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    if headers.get("transfer-encoding") == "chunked":
        rest, body = body, b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return int(first.split()[1]), headers, body


def events(answer: HttpReply) -> list[str]:
    """The data of a streamed reply's events."""
    return [event.removeprefix("data: ") for event in parsed_reply(answer)[2].decode().split("\n\n") if event]


def noted(mock_run: MockRun, kind: type) -> list[Any]:
    """The entries of one kind in the transcript."""
    return [event for event in mock_run.transcript.events if isinstance(event, kind)]
