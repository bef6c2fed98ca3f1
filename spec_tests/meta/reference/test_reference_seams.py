"""Seams: a variant of the loop is a subclass of a few lines that breaks one thing and nothing else.

Each of these loops has one bug, which its docstring states.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import httpx
import pytest
import respx

from looptck_reference import (
    ChatStream,
    ChatWire,
    Decision,
    Delta,
    Loop,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from looptck_reference.kit.driver import Driver
from meta.reference.reference_driving import TOOL, case, driver
from meta.reference.reference_replies import CHAT, EVENT_STREAM, call, delta, piece, pieces, plain, sse
from meta.reference.reference_wires import CHAT as CHAT_SIDE

if TYPE_CHECKING:
    from looptck_reference.loop.tools import Handler
    from looptck_reference.loop.values import Json


class OneMore(Loop):
    """Asks the model once more than the limit allows."""

    def limit_reached(self) -> bool:
        return self.model_calls > self.limit


class Endless(Loop):
    """Knows no limit."""

    def limit_reached(self) -> bool:
        return False


class Swapped(Loop):
    """Sends the results back in the wrong order."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[::-1])


class FirstOnly(Loop):
    """Runs the first call of a turn and forgets the others."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return turn.calls[:1]


class Forgetful(Loop):
    """Does not echo the model's turn."""

    def append_turn(self, turn: Turn) -> None:
        pass


class Trusting(Loop):
    """Runs the calls of cut turns."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.calls else Decision.ANSWER


class Deaf(Loop):
    """Calls tools without arguments."""

    def parse_arguments(self, text: str) -> Json:
        super().parse_arguments(text)
        return {}


class Injecting(Loop):
    """Binds what nobody asked for."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        return {**super().bind(tool, arguments), "city": "Rome"}


class Misdialled(Loop):
    """Runs the first tool whatever was called."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        del call
        return self.registry.get_tool(next(iter(self.tools)))


class Renaming(Loop):
    """Invents an id for each result."""

    def answer_id(self, call: ToolCall) -> str:
        return call.id.upper()


class Mute(Loop):
    """Forwards no text of a stream."""

    def forwards(self, delta: Delta) -> bool:
        del delta
        return False


class Lossy(ChatStream):
    """Keeps only the last piece of the arguments."""

    def add_call(self, delta: Json) -> None:
        for partial in self._calls:
            partial.arguments.clear()
        super().add_call(delta)


class LossyWire(ChatWire):
    """Streams through the lossy collector."""

    def stream(self) -> ChatStream:
        return Lossy()


class Hoarding(Driver):
    """Hands the text of a stream over when all of it is there."""

    def run(self, case: Json, emit: Callable[[str], object]) -> Json:
        held: list[str] = []
        outcome = super().run(case, held.append)
        emit("".join(held))
        return outcome


@pytest.fixture
def toolbox() -> respx.Route:
    """A tool that returns sunny."""
    return respx.post(TOOL).respond(json={"value": "sunny"})


def last_results() -> list[tuple[str, str]]:
    """Id and text of the results in the last request to the model."""
    asked = [one.request for one in respx.calls if str(one.request.url) == CHAT]
    return [
        (one["tool_call_id"], one["content"])
        for one in json.loads(asked[-1].content)["messages"]
        if one["role"] == "tool"
    ]


@respx.mock
@pytest.mark.parametrize(("broken", "asked"), [(Loop, 2), (OneMore, 3)])
def test_the_limit_can_be_broken(toolbox: respx.Route, broken: type[Loop], asked: int) -> None:
    """The seam `limit_reached` decides how often the model is asked."""
    route = respx.post(CHAT).respond(json=plain(None, call()))

    outcome = driver(broken).run(case(options={"limit": 2}), print)

    assert ("limit", asked, asked) == (outcome["reason"], route.call_count, toolbox.call_count)


@respx.mock
def test_the_limit_can_be_lost(toolbox: respx.Route) -> None:
    """Without a limit only the provider ends the run."""
    replies = [plain(None, call())] * 30 + [plain("enough")]
    respx.post(CHAT).mock(side_effect=[httpx.Response(200, json=reply) for reply in replies])

    outcome = driver(Endless).run(case(options={"limit": 2}), print)

    assert ("enough", 30) == (outcome["text"], toolbox.call_count)


@respx.mock
@pytest.mark.parametrize(
    ("broken", "results"),
    [
        (Loop, [("a", "sunny"), ("b", "sunny")]),
        (Swapped, [("b", "sunny"), ("a", "sunny")]),
        (FirstOnly, [("a", "sunny")]),
        (Renaming, [("A", "sunny"), ("B", "sunny")]),
    ],
)
@pytest.mark.usefixtures("toolbox")
def test_results_can_be_broken(broken: type[Loop], results: list[tuple[str, str]]) -> None:
    """The seams around the results show in the next request."""
    replies = [plain(None, call("a"), call("b")), plain("x")]
    respx.post(CHAT).mock(side_effect=[httpx.Response(200, json=reply) for reply in replies])

    driver(broken).run(case(), print)

    assert results == last_results()


@respx.mock
def test_the_echo_can_be_lost(toolbox: respx.Route) -> None:
    """The seam `append_turn` is the only place where the model's turn enters the history."""
    replies = [plain(None, call()), plain("x")]
    chat = respx.post(CHAT).mock(side_effect=[httpx.Response(200, json=reply) for reply in replies])

    driver(Forgetful).run(case(), print)

    roles = [one["role"] for one in json.loads(chat.calls.last.request.content)["messages"]]
    assert (["user", "tool"], 1) == (roles, toolbox.call_count)


@respx.mock
@pytest.mark.parametrize(("broken", "ran"), [(Loop, 0), (Trusting, 1)])
def test_the_decision_can_be_broken(toolbox: respx.Route, broken: type[Loop], ran: int) -> None:
    """The seam `decide` keeps cut turns from being run."""
    replies = [plain(None, call(), finish="length"), plain("x")]
    respx.post(CHAT).mock(side_effect=[httpx.Response(200, json=reply) for reply in replies])

    driver(broken).run(case(), print)

    assert ran == toolbox.call_count


@respx.mock
@pytest.mark.parametrize(
    ("broken", "arguments"),
    [
        (Loop, {"city": "Paris"}),
        (Deaf, {}),
        (Injecting, {"city": "Rome"}),
        (Misdialled, {"city": "Paris"}),
    ],
)
def test_the_way_to_a_tool_can_be_broken(toolbox: respx.Route, broken: type[Loop], arguments: Json) -> None:
    """The seams before a handler decide what reaches which tool."""
    name = "nope" if broken is Misdialled else "weather"
    replies = [plain(None, call(name=name)), plain("x")]
    respx.post(CHAT).mock(side_effect=[httpx.Response(200, json=reply) for reply in replies])

    driver(broken).run(case(), print)

    assert {"arguments": arguments} == json.loads(toolbox.calls.last.request.content)


@respx.mock
@pytest.mark.parametrize(
    ("kind", "chunks"),
    [(driver(Loop), ["1", "2"]), (driver(Mute), []), (Hoarding(), ["12"])],
    ids=["whole", "mute", "hoarding"],
)
def test_forwarding_can_be_broken(kind: Driver, chunks: list[str]) -> None:
    """The seam `forwards`, and a driver that buffers."""
    body = sse(delta("1"), delta("2"), delta(finish="stop"))
    respx.post(CHAT).respond(headers=EVENT_STREAM, content=body)
    heard: list[str] = []

    kind.run(case(stream=True), heard.append)

    assert chunks == heard


@respx.mock
def test_accumulation_can_be_broken(toolbox: respx.Route) -> None:
    """A wire with another collector goes through the driver."""
    one = sse(pieces(piece('{"city":"Pa', call_id="a", name="weather")), pieces(piece('{"city":"Oslo"}')), done=False)
    end = sse(delta(finish="tool_calls"))
    replies = [one + end, sse(delta("x", finish="stop"))]
    respx.post(CHAT).mock(side_effect=[httpx.Response(200, headers=EVENT_STREAM, content=body) for body in replies])

    driver(side=CHAT_SIDE, wire=LossyWire()).run(case(stream=True), print)

    assert {"arguments": {"city": "Oslo"}} == json.loads(toolbox.calls.last.request.content)
