"""Clients of MCP servers that leave out a step of the protocol, mix up answers, or lose tools and results."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import httpx

from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.served import Served
from looptck_reference.kit.servers import Servers
from looptck_reference.mcp import McpClient, McpFailed, ToolFailed
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Handler, Tool
from looptck_reference.vocabulary.values import Json

# -- how it speaks ----------------------------------------------------------------------------------------------------


@breaks("mcp-begins-with-a-handshake")
class NeverInitialized(McpClient):
    """Does not say that it is initialized."""

    def ready(self) -> None:
        pass


@breaks(
    "mcp-revision-is-named",
    collateral={"mcp-agreed-revision-is-named": "no revision is named, so the agreed one is not"},
)
class RevisionUnsaid(McpClient):
    """Names its revision in no header."""

    def headers(self) -> dict[str, str]:
        return {name: text for name, text in super().headers().items() if name != "mcp-protocol-version"}


@breaks("mcp-agreed-revision-is-named")
class NamesTheLatest(McpClient):
    """Names the revision that it has asked for, whatever was agreed on."""

    def headers(self) -> dict[str, str]:
        return super().headers() | ({"mcp-protocol-version": "2025-11-25"} if self.revision else {})


@breaks(
    "mcp-session-is-carried",
    collateral={"mcp-streamed-answers-are-read": "the server refuses all that comes after the handshake"},
)
class SessionForgotten(McpClient):
    """Sends no id of the session."""

    def headers(self) -> dict[str, str]:
        return {name: text for name, text in super().headers().items() if name != "mcp-session-id"}


@breaks("mcp-both-forms-are-accepted")
class AcceptsJsonAlone(McpClient):
    """Accepts JSON alone."""

    def headers(self) -> dict[str, str]:
        return super().headers() | {"accept": "application/json"}


@breaks("mcp-streamed-answers-are-read")
class LastLineOfData(McpClient):
    """Reads the last line of a stream for its answer, as if each event had one line of data."""

    def answer(self, reply: httpx.Response, id: int) -> Json:
        lines = [line for line in reply.read().decode().splitlines() if line.strip()]
        found: Json = json.loads(lines[-1].removeprefix("data:"))
        return found


@breaks(
    "mcp-notifications-change-nothing",
    collateral={"mcp-pings-are-answered": "a ping that comes before the answer is taken for it, too"},
)
class FirstMessageOfAStream(McpClient):
    """Takes the first message of a stream for the answer."""

    def is_answer(self, message: Json, id: int) -> bool:
        return bool(message)


@breaks("mcp-pings-are-answered")
class DeafToTheServer(McpClient):
    """Answers no request of the server."""

    def heard(self, message: Json) -> None:
        pass


@breaks("mcp-pings-are-answered")
class KnowsAnAnswerByItsId(McpClient):
    """Takes a request of the server for the answer if it has the id of its own, as servers count from one too."""

    def is_answer(self, message: Json, id: int) -> bool:
        return message.get("id") == id


@breaks("mcp-lost-session-begins-anew")
class GoesOnWithADeadSession(McpClient):
    """Goes on with a session that is over."""

    def connect_again(self, lost: str) -> None:
        pass


@breaks("mcp-session-is-ended")
class NeverLeaves(McpClient):
    """Does not end its session."""

    def close(self) -> None:
        pass


@breaks("mcp-only-declared-capabilities-are-used")
class AsksAnyway(McpClient):
    """Asks for tools whatever the server has declared, and takes an error for none."""

    def tools(self) -> list[Json]:
        try:
            return list(self.pages())
        except McpFailed:
            return []


# -- what it offers and calls -----------------------------------------------------------------------------------------


@breaks("mcp-tools-are-offered")
class OnlyDescribedTools(Servers):
    """Leaves out tools without a description."""

    def served(self, clients: Sequence[McpClient], case: Json) -> Served:
        found = super().served(clients, case)
        return Served([tool for tool in found.tools if tool.description], found.handlers)


@breaks("mcp-tools-are-offered")
class OneTypeEach(Servers):
    """Leaves out tools with a parameter that has a list of types."""

    def served(self, clients: Sequence[McpClient], case: Json) -> Served:
        found = super().served(clients, case)
        return Served([tool for tool in found.tools if not _has_a_list_of_types(tool.parameters)], found.handlers)


def _has_a_list_of_types(schema: Mapping[str, Any]) -> bool:
    members = (schema.get("properties") or {}).values()
    return any(isinstance(one, dict) and isinstance(one.get("type"), list) for one in members)


@breaks(
    "mcp-all-pages-are-offered",
    collateral={"mcp-cursors-are-opaque": "no second page is asked for"},
)
class FirstPageOnly(McpClient):
    """Takes the first page of tools for all."""

    def pages(self) -> Iterator[Json]:
        yield from self.request("tools/list", {})["tools"]


@breaks(
    "mcp-cursors-are-opaque",
    collateral={"mcp-all-pages-are-offered": "the server does not know the cursor of the second page"},
)
class CursorAsInAUrl(McpClient):
    """Writes a cursor as it would be in a URL."""

    def request(self, method: str, params: Json) -> Json:
        return super().request(method, {name: quote(one) if name == "cursor" else one for name, one in params.items()})


@breaks("mcp-descriptions-are-offered")
class FirstLineOfADescription(Servers):
    """Offers the first line of a description."""

    def served(self, clients: Sequence[McpClient], case: Json) -> Served:
        found = super().served(clients, case)
        tools = [Tool(one.name, one.description.partition("\n")[0], one.parameters) for one in found.tools]
        return Served(tools, found.handlers)


@breaks("mcp-schemas-keep-their-meaning")
class PropertiesAlone(Servers):
    """Offers the properties of a schema, and nothing else of it."""

    def schema(self, listed: Json) -> Json:
        return {"type": "object", "properties": listed["inputSchema"].get("properties", {})}


class _AsItIs(Tool):
    """A tool that is offered with its schema as it is."""

    @property
    def offered(self) -> Json:
        return dict(self.parameters)


@breaks("mcp-tools-without-parameters-are-offered")
class SchemasAsListed(Servers):
    """Offers a schema as it is listed, also to services that ask for properties."""

    def served(self, clients: Sequence[McpClient], case: Json) -> Served:
        found = super().served(clients, case)
        tools = [_AsItIs(one.name, one.description, one.parameters) for one in found.tools]
        return Served(tools, found.handlers)


@breaks("mcp-call-names-the-tool")
class CallsTheLegalName(Servers):
    """Calls a tool by the name under which the service knows it, where the two differ."""

    def handler(self, client: McpClient, tool: str, mode: str) -> Handler:
        return super().handler(client, tool.replace(".", "_"), mode)


@breaks("mcp-arguments-arrive-as-written")
class NullForNoArguments(McpClient):
    """Sends null where there are no arguments."""

    def call(self, tool: str, arguments: Json) -> Json:
        return super().call(tool, arguments or None)  # type: ignore[arg-type]


@breaks("mcp-arguments-arrive-as-written")
class NullsStripped(McpClient):
    """Leaves out arguments that are null."""

    def call(self, tool: str, arguments: Json) -> Json:
        return super().call(tool, {name: one for name, one in arguments.items() if one is not None})


@breaks("mcp-arguments-arrive-as-written")
class ArgumentsAsText(McpClient):
    """Sends each argument that is an object as its JSON."""

    def call(self, tool: str, arguments: Json) -> Json:
        told = {name: json.dumps(one) if isinstance(one, dict) else one for name, one in arguments.items()}
        return super().call(tool, told)


@breaks("mcp-answers-stay-apart")
class InTheOrderOfTheirEnds(McpClient):
    """Gives the answer that came first to the call that began first."""

    def __init__(self, name: str, url: str, client: httpx.Client) -> None:
        super().__init__(name, url, client)
        self.begun = 0
        self.answers: list[Json] = []

    def call(self, tool: str, arguments: Json) -> Json:
        place = self.begun
        self.begun += 1
        self.answers.append(super().call(tool, arguments))
        return self.answers[min(place, len(self.answers) - 1)]


@breaks("mcp-tools-join-the-loops-own")
class ServersInPlaceOfTools(Driver):
    """Offers no tools of the caller where there are servers."""

    def agent_of(self, case: Json) -> Agent:
        return super().agent_of(case | {"tools": []} if case.get("tool_servers") else case)


@breaks("mcp-servers-stay-apart")
class LastOfAName(Servers):
    """Offers the last of several tools of one name, without a word."""

    def served(self, clients: Sequence[McpClient], case: Json) -> Served:
        found = super().served(clients, case)
        return Served([*{tool.name: tool for tool in found.tools}.values()], found.handlers)

    def name(self, client: McpClient, tool: str, taken: Collection[str]) -> str:
        return tool


# -- what the model reads ---------------------------------------------------------------------------------------------


@breaks("mcp-text-reaches-the-model")
class FirstTextOnly(Servers):
    """Reads the first text of a result, and no other."""

    def value(self, result: Json) -> Any:
        texts = [part for part in result["content"] if part["type"] == "text"]
        return super().value(result | {"content": [part for part in result["content"] if part not in texts[1:]]})


@breaks("mcp-structured-content-reaches-the-model")
class ContentOnly(Servers):
    """Does not know structured content."""

    def value(self, result: Json) -> Any:
        return super().value({name: one for name, one in result.items() if name != "structuredContent"})


class _Without(Servers):
    """Leaves out parts of these types."""

    types: frozenset[str] = frozenset()

    def value(self, result: Json) -> Any:
        return super().value(
            result | {"content": [part for part in result["content"] if part["type"] not in self.types]}
        )


@breaks("mcp-embedded-text-reaches-the-model")
class WithoutResources(_Without):
    """Leaves out embedded resources, without a word."""

    types = frozenset({"resource"})


@breaks("mcp-other-content-is-told")
class WithoutLinksAndSounds(_Without):
    """Leaves out links and sounds, without a word."""

    types = frozenset({"resource_link", "audio"})


@breaks("mcp-other-content-is-told")
class StructuredInPlaceOfImages(Servers):
    """Leaves out images where there is structured content, without a word."""

    def value(self, result: Json) -> Any:
        structured = "structuredContent" in result
        left = [part for part in result["content"] if part["type"] != "image" or not structured]
        return super().value(result | {"content": left})


@breaks("mcp-tool-errors-reach-the-model")
class ErrorsAreTexts(Servers):
    """Reads no structured content of an error."""

    def value(self, result: Json) -> Any:
        lost = {"structuredContent"} if result.get("isError") else frozenset[str]()
        return super().value({name: one for name, one in result.items() if name not in lost})


@breaks("mcp-image-is-never-text")
class ImagesAsJson(Servers):
    """Writes an image as the JSON of its part."""

    def value(self, result: Json) -> Any:
        content = [
            {"type": "text", "text": json.dumps(part)} if part["type"] == "image" else part
            for part in result["content"]
        ]
        return super().value(result | {"content": content})


@breaks("mcp-tool-errors-reach-the-model")
class NoWordOfErrors(Servers):
    """Tells the model that a tool has failed, and not what it says of it."""

    def value(self, result: Json) -> Any:
        if result.get("isError"):
            raise ToolFailed("it has failed")
        return super().value(result)


@breaks("failed-results-are-marked", cells=MESSAGES)
class EmptyIsAFailure(Servers):
    """Takes a result without any part for a failure."""

    def value(self, result: Json) -> Any:
        if not result["content"] and "structuredContent" not in result:
            raise ToolFailed("it has returned nothing")
        return super().value(result)


@breaks("mcp-failures-are-not-lost", "mcp-broken-streams-are-told")
class FailuresAsDone(McpClient):
    """Takes a call that has no result for done."""

    def call(self, tool: str, arguments: Json) -> Json:
        try:
            return super().call(tool, arguments)
        except McpFailed:
            return {"content": [{"type": "text", "text": "Done."}]}
