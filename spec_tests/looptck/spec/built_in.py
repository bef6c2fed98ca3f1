"""What a server brings with it: how its own tools are found among those that it offers, and how its Python is asked."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, Unpack

from looptck.agents import Tool
from looptck.client.words import TOOLS
from looptck.guest import Guest, How
from looptck.history import Offered
from looptck.kit import Scene
from looptck.run import Run
from looptck.turns import Call, says
from looptck.verdicts import NotReached

CHAT = "openai-chat"
PYTHON = "mistralrs_execute_python"
SEARCH = "mistralrs_search_the_web"
"""The names that the documents have, for servers whose questions to their model cannot be seen."""
CODE_INTERPRETER = {"type": "code_interpreter", "container": {"type": "auto"}}


def offered(guest: Guest, **how: Unpack[How]) -> Sequence[Offered]:
    """The tools that a server offers its model in the first question of a run."""
    how["scene"] = Scene()
    how["scene"].plays(says("Hello."))
    return guest.ask(**how).request(1).request.tools


def taking_code(tools: Sequence[Offered]) -> list[str]:
    """The names of those that take Python code."""
    return [tool.name for tool in tools if "code" in _parameters(tool)]


def searching(tools: Sequence[Offered]) -> list[str]:
    """The names of those that search."""
    return [tool.name for tool in tools if "search" in f"{tool.name} {tool.description}".lower()]


def asking_for_search(guest: Guest) -> Mapping[str, Any]:
    """The members of a request that is to be offered search, in the way that the server says it is asked for."""
    way = guest.implementation.started.dialect.get("search_advertised", "by-the-server")
    return {} if way == "by-the-server" else {"web_search_options": {}}


def with_interpreter(tools: Sequence[Tool], wire: str = CHAT) -> Mapping[str, Any]:
    """The members of a request that asks for Python as today's documents have it."""
    return {"tools": [*(TOOLS[wire](tool) for tool in tools), CODE_INTERPRETER]}


@dataclass(frozen=True, slots=True)
class Coder:
    """A client that asks for code execution, in the way that the server says it is asked for."""

    guest: Guest
    wire: str
    members: Mapping[str, Any]
    tool: str
    """The name under which Python is offered."""

    @classmethod
    def of(cls, guest: Guest, wire: str = CHAT) -> Self:
        """Find out.

        Raises:
            NotReached: asked for code execution, the server does not offer it.
        """
        way = guest.implementation.started.dialect.get("code_asked_for_by", "enable_code_execution")
        members = {"enable_code_execution": True}
        if way != "enable_code_execution":
            members = {**with_interpreter(guest.offers, wire)}
        if not guest.can("upstream"):
            return cls(guest, wire, members, PYTHON)
        names = taking_code(offered(guest, wire=wire, members=members))
        if not names:
            raise NotReached(f"the model is offered no tool that takes code, though the request asks for it: {members}")
        return cls(guest, wire, members, names[0])

    def call(self, *lines: str, outputs: Sequence[str] = ()) -> Call:
        """A call of Python."""
        arguments: dict[str, Any] = {"code": "\n".join(lines)}
        if outputs:
            arguments["outputs"] = [*outputs]
        return Call.of(self.tool, arguments)

    def writes(self, *files: tuple[str, bytes], listed: bool = True) -> Call:
        """A call of Python that writes files, and lists them in its outputs."""
        lines = [f"with open({name!r}, 'wb') as file: file.write({data!r})" for name, data in files]
        return self.call(*lines, outputs=[name for name, _ in files] if listed else ())

    def ask(self, *declared: str, **how: Unpack[How]) -> Run:
        """Ask; ``declared`` are the names of files that the request declares."""
        how["members"] = {**self.members, **how.get("members", {})}
        if declared:
            how["members"] = {**how["members"], "files": [{"name": name} for name in declared]}
        how["wire"] = self.wire
        return self.guest.ask(**how)

    def content(self, file: Mapping[str, Any]) -> bytes:
        """The bytes of a file of a reply: those that stand in it, or else those that can be fetched."""
        if isinstance(file.get("text"), str):
            return str(file["text"]).encode()
        if isinstance(file.get("data_base64"), str):
            try:
                return base64.b64decode(file["data_base64"])
            except ValueError as error:
                raise AssertionError(f"data_base64 cannot be read: {error}") from None
        with self.guest.http() as client:
            return client.get(f"/v1/files/{file.get('id')}/content").content


def names(run: Run) -> list[Any]:
    """The names of the files of a reply, in their order. Raises NotReached where there is no answer."""
    _ = run.got.turn
    return [file.get("name") for file in run.got.files]


def named(run: Run, name: str) -> Mapping[str, Any]:
    """The one file of a reply that has this name.

    Raises:
        NotReached: there is no answer.
        AssertionError: there is no such file, or there are several.
    """
    found = [file for file in run.got.files if file.get("name") == name]

    assert [name] == [file["name"] for file in found], f"the files of the reply are {names(run)}"
    return found[0]


def origin(file: Mapping[str, Any]) -> tuple[Any, Any]:
    """The round and the tool that a file names as its source; None where it names none."""
    source = file.get("source")
    return (source.get("round"), source.get("tool")) if isinstance(source, Mapping) else (None, None)


def _parameters(tool: Offered) -> Mapping[str, Any]:
    schema = tool.parameters if isinstance(tool.parameters, dict) else {}
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}
