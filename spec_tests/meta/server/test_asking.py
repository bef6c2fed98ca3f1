"""What a client asks: the bodies of requests on all wires, read again by the kit's own judges of requests."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.client import Ask
from looptck.bench.server import PING, WEATHER
from looptck.values.history import Answered, Asked, Item, Said
from looptck.wires import WIRES

PARIS = Asked("call_1", "weather", '{"city": "Paris"}')
OSLO = Asked("call_2", "weather", '{"city": "Oslo"}')
EARLIER = (
    Said("system", "Be brief."),
    Said("user", "How is the weather?"),
    PARIS,
    OSLO,
    Answered("call_1", "sunny"),
    Answered("call_2", "snow “❄”"),
    Said("assistant", "Sunny and snow."),
)
AGAIN = Asked("call_3", "ping", "{}")


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_is_told_on_each_wire(wire: str, stream: bool) -> None:
    """What a body tells is the conversation and the tools, and no service would refuse it."""
    ask = Ask(question="And now?", before=EARLIER, after=(AGAIN, Answered("call_3", "pong")), tools=(PING, WEATHER))
    service = WIRES[wire].service(False)
    body = ask.body(wire, stream=stream)

    problems = list(service.judge(body))
    request = service.read(body)

    assert [] == problems
    expected: list[Item] = [*EARLIER, Said("user", "And now?"), AGAIN, Answered("call_3", "pong")]
    assert expected == list(request.items)
    assert stream == request.stream
    offered = [(tool.name, tool.description, tool.parameters) for tool in request.tools]
    assert [(tool.name, tool.description, tool.parameters) for tool in (PING, WEATHER)] == offered


@pytest.mark.parametrize("wire", WIRES)
def test_what_is_not_asked_for_is_not_told(wire: str) -> None:
    """A request of a question alone has its model and its conversation, and where the wire wants it a limit."""
    told = {
        "openai-chat": ["messages"],
        "openai-responses": ["input"],
        "anthropic-messages": ["max_tokens", "messages"],
    }

    assert sorted(["model", *told[wire]]) == sorted(Ask(question="Go.").body(wire, stream=False))


@pytest.mark.parametrize("wire", WIRES)
def test_what_is_asked_for_is_told(wire: str) -> None:
    """Session, rounds, permission and choice are members at the top, and 0 and an empty object are something."""
    ask = Ask(question="Go.", session="s", rounds=0, permission="deny", choice={}, members={"files": [], "model": "m"})

    body = ask.body(wire, stream=True)

    wanted: dict[str, Any] = {
        "session_id": "s",
        "max_tool_rounds": 0,
        "agent_permission": "deny",
        "tool_choice": {},
        "files": [],
        "model": "m",
        "stream": True,
    }
    assert wanted == {name: body[name] for name in wanted}


def test_a_failed_result_is_marked_where_the_wire_can() -> None:
    """Messages has a mark for results of tools that have failed."""
    ask = Ask(question="Go.", after=(AGAIN, Answered("call_3", "no", failed=True)))

    request = WIRES["anthropic-messages"].service(False).read(ask.body("anthropic-messages", stream=False))

    assert [True] == [answer.failed for answer in request.answers]


def test_calls_of_one_turn_stand_in_one_message() -> None:
    """Calls that follow each other are one turn; results end it."""
    before = (Said("user", "Go."), PARIS, OSLO, Answered("call_1", "a"), Answered("call_2", "b"), AGAIN)
    messages = Ask(question="", before=before).body("openai-chat", stream=False)["messages"]

    assert [2, 1] == [len(message["tool_calls"]) for message in messages if "tool_calls" in message]
