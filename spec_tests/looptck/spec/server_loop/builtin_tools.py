"""Tools built into a server: how checks find them among the offered tools, and how they ask for Python."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Self, Unpack

from looptck.bench.client.words import TOOLS
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import RequestOverrides, ServerUnderTest
from looptck.catalogue.agents import Tool
from looptck.values.frozen import dataclass
from looptck.values.history import Offered
from looptck.values.plain import plain
from looptck.values.turns import Call, says
from looptck.values.verdicts import NotReached

CHAT = "openai-chat"
PYTHON = "mistralrs_execute_python"
SEARCH = "mistralrs_search_the_web"
"""The names that the documents have, for servers whose questions to their model cannot be seen."""
CODE_INTERPRETER = {"type": "code_interpreter", "container": {"type": "auto"}}
ASKS_FOR_SEARCH: Mapping[str, Any] = {"web_search_options": {}}
ASKS_FOR_CODE: Mapping[str, Any] = {"enable_code_execution": True}
BINARY = bytes(range(256)) * 3
"""What is no text in any usual encoding."""


def offered_tools(server: ServerUnderTest, **how: Unpack[RequestOverrides]) -> Sequence[Offered]:
    """The tools that a server offers its model in the first model request of a run."""
    how["scenario"] = Scenario()
    how["scenario"].plays(says("Hello."))
    return server.ask(**how).request(1).request.tools


def code_tools(tools: Sequence[Offered]) -> list[str]:
    """The names of the tools that take Python code."""
    return [tool.name for tool in tools if "code" in _parameters(tool)]


def search_tools(tools: Sequence[Offered]) -> list[str]:
    """The names of the tools that search."""
    return [tool.name for tool in tools if "search" in f"{tool.name} {tool.description}".lower()]


def search_members(server: ServerUnderTest) -> Mapping[str, Any]:
    """The request members that enable search, in the form that the server declares or, undeclared, shows."""
    way = server.implementation.started.dialect.get("search_advertised")
    if way is None and server.can("upstream") and not search_tools(offered_tools(server, tools=())):
        way = "by-the-request"
    return ASKS_FOR_SEARCH if way == "by-the-request" else {}


def interpreter_members(tools: Sequence[Tool], wire: str = CHAT) -> Mapping[str, Any]:
    """The request members that ask for Python in the form of the current documentation."""
    return {"tools": [*(TOOLS[wire](tool) for tool in tools), CODE_INTERPRETER]}


@dataclass(frozen=True, slots=True)
class Coder:
    """A client that asks for code execution, in the form that the server declares or, undeclared, understands."""

    server: ServerUnderTest
    wire: str
    members: Mapping[str, Any]
    tool: str
    """The name under which Python is offered."""

    @classmethod
    def of(cls, server: ServerUnderTest, wire: str = CHAT) -> Self:
        """Find out under which name the server offers Python.

        Raises:
            NotReached: the request asks for code execution, and the server does not offer it.
        """
        ways = {
            "enable_code_execution": ASKS_FOR_CODE,
            "code_interpreter": interpreter_members(server.offers, wire),
        }
        declared = server.implementation.started.dialect.get("code_asked_for_by")
        tried = [ways[declared]] if declared in ways else [*ways.values()]
        if not server.can("upstream"):
            return cls(server, wire, tried[0], PYTHON)
        for members in tried:
            if names := code_tools(offered_tools(server, wire=wire, members=members)):
                return cls(server, wire, members, names[0])
        raise NotReached(f"the model is offered no tool that takes code, though the request asks for it: {tried}")

    def call(self, *lines: str, outputs: Sequence[str] = ()) -> Call:
        """A call of Python."""
        arguments: dict[str, Any] = {"code": "\n".join(lines)}
        if outputs:
            arguments["outputs"] = [*outputs]
        return Call.of(self.tool, arguments)

    def writes(self, *files: tuple[str, bytes], listed: bool = True) -> Call:
        """A call of Python that writes files, and lists them in its outputs if ``listed``."""
        lines = [f"with open({name!r}, 'wb') as file: file.write({data!r})" for name, data in files]
        return self.call(*lines, outputs=[name for name, _ in files] if listed else ())

    def ask(self, *declared: str, **how: Unpack[RequestOverrides]) -> Run:
        """Send a request that asks for Python; ``declared`` holds the names of the files that the request declares."""
        how["members"] = {**self.members, **how.get("members", {})}
        if declared:
            how["members"] = {**how["members"], "files": [{"name": name} for name in declared]}
        how["wire"] = self.wire
        return self.server.ask(**how)

    def content(self, file: Mapping[str, Any]) -> bytes:
        """The bytes of a file of a reply: its inline content if it has one, otherwise the fetched content."""
        if isinstance(file.get("text"), str):
            return str(file["text"]).encode()
        if isinstance(file.get("data_base64"), str):
            try:
                return base64.b64decode(file["data_base64"])
            except ValueError as error:
                raise AssertionError(f"data_base64 cannot be read: {error}") from None
        with self.server.http() as client:
            return client.get(f"/v1/files/{file.get('id')}/content").content


def file_names(run: Run) -> list[Any]:
    """The names of the files of a reply, in order. Raises NotReached if the request got no answer."""
    _ = run.got.turn
    return [file.get("name") for file in run.got.files]


def file_named(run: Run, name: str) -> Mapping[str, Any]:
    """The one file of a reply that has this name.

    Raises:
        NotReached: the request got no answer.
        AssertionError: there is no such file, or there are several.
    """
    found = [file for file in run.got.files if file.get("name") == name]

    names = file_names(run)
    assert names or not run.got.stream, f"no event of the stream has a file, and {name} was written"
    assert [name] == [file["name"] for file in found], f"the files of the reply are {plain(names)}"
    return found[0]


def origin(file: Mapping[str, Any]) -> tuple[Any, Any]:
    """The round and the tool in the source of a file; None for each that it does not name."""
    source = file.get("source")
    return (source.get("round"), source.get("tool")) if isinstance(source, Mapping) else (None, None)


def _parameters(tool: Offered) -> Mapping[str, Any]:
    schema = tool.parameters if isinstance(tool.parameters, dict) else {}
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}
