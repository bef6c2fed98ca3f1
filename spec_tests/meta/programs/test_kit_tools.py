"""The tools of a case for programs: asked by the official client, by their address and by the command."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from mcp import MCPError
from mcp.client import Client, Transport
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from looptck.catalogue.agents import Tool
from looptck.provider.gate import Gate
from looptck.provider.mock_run import CASE_TOOLS, MockRun
from looptck.provider.script import Script
from looptck.provider.server import Provider
from looptck.provider.toolbox import Behaviour, Raises, Returns, Toolbox
from looptck.values.transcript import ToolBegan
from looptck.wires import WIRES

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
MANY = 40


def text_of(done: Any) -> tuple[str, bool | None]:
    """The text of a result, and whether it is one of an error."""
    assert isinstance(done, CallToolResult)
    (part,) = done.content
    assert isinstance(part, TextContent)
    return part.text, done.is_error


@contextmanager
def offered(*weather: Behaviour) -> Iterator[tuple[MockRun, str]]:
    """A mock run with a tool, and the address of its tools."""
    with Provider() as provider:
        mock_run = MockRun(WIRES["openai-chat"], Script(), Toolbox({"weather": [*weather]}))
        mock_run.offered = [Tool("weather", "Tells it.", SCHEMA)]
        yield mock_run, provider.open(mock_run) + CASE_TOOLS


def as_command(url: str) -> Transport:
    """The same server as a program that takes only commands has it."""
    words = ["-m", "looptck.drivers.programs.stdio", url]
    return stdio_client(
        StdioServerParameters(command=sys.executable, args=words, env={"PYTHONPATH": ":".join(sys.path)})
    )


BOTH_WAYS = pytest.mark.parametrize("by", [str, as_command], ids=["address", "command"])


@BOTH_WAYS
def test_a_call_reaches_the_toolbox(by: Any) -> None:
    """Texts arrive as they are, other values as JSON, errors as errors, by the address and by the command."""

    async def ask(url: str) -> tuple[Any, list[Any]]:
        async with Client(by(url)) as client:
            (tool,) = (await client.list_tools()).tools
            done = [text_of(await client.call_tool("weather", {"city": city})) for city in ("Oslo", "Rome", "Ü\u2028")]
            return tool, done

    with offered(Returns("warm"), Returns({"degrees": 4}), Raises("no such city", "LookupError")) as (mock_run, url):
        tool, done = asyncio.run(ask(url))
        events = mock_run.transcript.events

    assert ("weather", "Tells it.", SCHEMA) == (tool.name, tool.description, tool.input_schema)
    assert [("warm", False), ('{"degrees":4}', False), ("LookupError: no such city", True)] == done
    assert [{"city": "Oslo"}, {"city": "Rome"}, {"city": "Ü\u2028"}] == [
        event.arguments for event in events if isinstance(event, ToolBegan)
    ]


@BOTH_WAYS
def test_calls_wait_for_no_others(by: Any) -> None:
    """However many calls are held until the last of them has begun, it begins."""
    gate = Gate("held until all have begun")

    def count(mock_run: MockRun) -> None:
        if mock_run.tool_runs == MANY:
            gate.open()

    async def ask(url: str) -> list[Any]:
        async with Client(by(url)) as client:
            asked = (client.call_tool("weather", {"city": str(number)}) for number in range(MANY))
            return [text_of(done) for done in await asyncio.gather(*asked)]

    with offered(*[Returns("together", hold=gate)] * MANY) as (mock_run, url):
        mock_run.transcript.watchers.append(lambda _: count(mock_run))

        assert {("together", False)} == set(asyncio.run(ask(url)))


@BOTH_WAYS
def test_a_tool_of_another_case_cannot_be_called(by: Any) -> None:
    """It is the protocol's error, and nothing runs."""

    async def ask(url: str) -> None:
        async with Client(by(url)) as client:
            with pytest.raises(MCPError, match="Unknown tool: climate"):
                await client.call_tool("climate", {})

    with offered() as (mock_run, url):
        asyncio.run(ask(url))
        assert 0 == mock_run.tool_runs
