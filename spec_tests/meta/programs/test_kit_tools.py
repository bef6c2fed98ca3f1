"""The kit's tools over MCP: what is listed, what a call comes to, and whose tools they are."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from mcp.client import Client, Transport
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from looptck.drivers.programs import kit_tools
from looptck.drivers.programs.kit_tools import KitTools, result
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Script
from looptck.provider.server import Provider
from looptck.provider.toolbox import Raises, Returns, Toolbox
from looptck.wires import WIRES

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLBOX = Toolbox({"weather": [Returns("warm"), Returns({"degrees": 4}), Raises("no such city", "LookupError")]})


def text_of(done: Any) -> tuple[str, bool | None]:
    """The text of a result, and whether it is one of an error."""
    assert isinstance(done, CallToolResult)
    (part,) = done.content
    assert isinstance(part, TextContent)
    return part.text, done.is_error


@contextmanager
def offered() -> Iterator[tuple[MockRun, str]]:
    """A mock run with a tool, and the address of its tools."""
    tools = KitTools()
    with Provider() as provider:
        mock_run = MockRun(WIRES["openai-chat"], Script(), TOOLBOX)
        url = f"{provider.open(mock_run)}/tools/weather"
        listed = {"name": "weather", "description": "Tells it.", "parameters": SCHEMA, "url": url}
        try:
            yield mock_run, tools.open("one.1", [listed])
        finally:
            tools.stop()


def as_command(url: str) -> Transport:
    """The same server as a program that takes only commands has it."""
    words = ["-m", "looptck.drivers.programs.stdio", url]
    return stdio_client(
        StdioServerParameters(command=sys.executable, args=words, env={"PYTHONPATH": ":".join(sys.path)})
    )


@pytest.mark.parametrize("by", [str, as_command], ids=["address", "command"])
def test_a_call_reaches_the_toolbox(by: Any) -> None:
    """Texts arrive as they are, other values as JSON, errors as errors, by the address and by the command."""
    TOOLBOX._runs.clear()

    async def ask(url: str) -> tuple[Any, list[Any]]:
        async with Client(by(url)) as client:
            (tool,) = (await client.list_tools()).tools
            done = [text_of(await client.call_tool("weather", {"city": city})) for city in ("Oslo", "Rome", "Atlantis")]
            return tool, done

    with offered() as (mock_run, url):
        tool, done = asyncio.run(ask(url))
        events = mock_run.transcript.events

    assert ("weather", "Tells it.", SCHEMA) == (tool.name, tool.description, tool.input_schema)
    assert [("warm", False), ('{"degrees":4}', False), ("LookupError: no such city", True)] == done
    assert [{"city": "Oslo"}, {"city": "Rome"}, {"city": "Atlantis"}] == [
        event.arguments for event in events if hasattr(event, "arguments")
    ]


def test_calls_wait_for_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many calls are held until the last of them has begun, it begins; one too many is an error."""
    monkeypatch.setattr(kit_tools, "MOST_CALLS", 40)
    begun = threading.Barrier(40)

    def held(*_: object) -> dict[str, Any]:
        try:
            begun.wait(10)
        except threading.BrokenBarrierError:
            return {"value": "alone"}
        return {"value": "together"}

    monkeypatch.setattr(kit_tools, "forwarded", held)

    async def ask(url: str) -> list[Any]:
        async with Client(url) as client:
            return [
                text_of(done) for done in await asyncio.gather(*(client.call_tool("weather", {}) for _ in range(40)))
            ]

    with offered() as (_, url):
        assert {("together", False)} == set(asyncio.run(ask(url)))
        monkeypatch.setattr(kit_tools, "MOST_CALLS", 0)

        assert [("TooManyCalls: 0 calls are under way", True)] == asyncio.run(one_call(url))


async def one_call(url: str) -> list[Any]:
    """The result of one call."""
    async with Client(url) as client:
        return [text_of(await client.call_tool("weather", {}))]


def test_a_case_has_its_own_tools() -> None:
    """Another case has none of these tools, and a call of one is answered with an error."""

    async def ask(url: str) -> tuple[list[Any], Any]:
        async with Client(url.replace("one.1", "one.2")) as client:
            return (await client.list_tools()).tools, await client.call_tool("weather", {"city": "Oslo"})

    with offered() as (mock_run, url):
        tools, done = asyncio.run(ask(url))
        events = list(mock_run.transcript.events)

    assert ([], ("UnknownTool: there is no tool weather", True), []) == (tools, text_of(done), events)


@pytest.mark.parametrize(("value", "text"), [(None, "null"), ("", ""), (0, "0"), ([], "[]"), ("é\u2028", "é\u2028")])
def test_a_value_is_a_text(value: Any, text: str) -> None:
    """A text is sent as it is; any other value as JSON."""
    assert (text, False) == text_of(result({"value": value}))
