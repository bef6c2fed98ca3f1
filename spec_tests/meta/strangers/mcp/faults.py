"""Loops with one slip each, as clients of MCP servers."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from meta.strangers.mcp.client import Client, Failed
from meta.strangers.mcp.loops import Json, Loop, Prefixed, Run


class FirstPage(Loop):
    """Takes the first page of tools for all."""

    class client(Client):
        def list(self) -> list[Json]:
            return list(self.request("tools/list")["tools"]) if "tools" in self.able else []


class NeverReady(Loop):
    """Never says that it is initialized."""

    class client(Client):
        def notify(self, method: str) -> None:
            pass


class WithoutSession(Loop):
    """Forgets the id of its session."""

    class client(Client):
        def headers(self) -> dict[str, str]:
            return {name: text for name, text in super().headers().items() if name != "mcp-session-id"}


class WithoutVersion(Loop):
    """Says its version in no header."""

    class client(Client):
        def headers(self) -> dict[str, str]:
            return {name: text for name, text in super().headers().items() if name != "mcp-protocol-version"}


class OwnVersion(Loop):
    """Says the version it has asked for, whatever was agreed."""

    class client(Client):
        def headers(self) -> dict[str, str]:
            found = super().headers()
            return found | {"mcp-protocol-version": self.version} if self.agreed else found


class JsonAlone(Loop):
    """Takes JSON alone."""

    class client(Client):
        accepts = "application/json"


class Flat(Loop):
    """Offers type and description of the outermost parameters."""

    def schema(self, schema: Json) -> Json:
        known = schema.get("properties", {})
        return {
            "type": "object",
            "properties": {
                name: {"type": one.get("type", "string"), "description": one.get("description", "")}
                for name, one in known.items()
            },
            "required": schema.get("required", []),
        }


class AsListed(Loop):
    """Offers a schema as the server lists it, without properties too."""

    def schema(self, schema: Json) -> Json:
        return schema


class NothingRequired(Loop):
    """Offers every parameter as optional."""

    def schema(self, schema: Json) -> Json:
        return {name: one for name, one in super().schema(schema).items() if name != "required"}


class FirstText(Loop):
    """The first part of a result is its text."""

    def text(self, result: Json) -> str:
        return super().text(result | {"content": result["content"][:1]})


class NoWordOfErrors(Loop):
    """The model reads of an error no more than that there was one."""

    def text(self, result: Json) -> str:
        return "The tool has failed." if result.get("isError") else super().text(result)


class ErrorsWithoutStructure(Loop):
    """The model reads the texts of an error, and no structured content."""

    def text(self, result: Json) -> str:
        failed = result.get("isError")
        return super().text({**result, "structuredContent": None} if failed else result)


class ErrorsAsNothing(Loop):
    """What fails at the server is answered with nothing."""

    def problem(self, problem: Exception) -> str:
        return "null" if isinstance(problem, Failed) else super().problem(problem)


class ErrorsAsDone(Loop):
    """What fails at the server is answered as if it were done."""

    def problem(self, problem: Exception) -> str:
        return "Done."


class OfferedNameIsCalled(Prefixed):
    """Calls the tool by the name under which it was offered."""

    def remote(self, client: Client, name: str) -> Run:
        return super().remote(client, self.named(client, name, ()))


class TextForArguments(Loop):
    """Sends the arguments as the text in which they came."""

    def called(self, client: Client, name: str, told: Json) -> Json:
        return client.call(name, json.dumps(told))  # type: ignore[arg-type]


class TextForEach(Loop):
    """Sends each argument as text."""

    def called(self, client: Client, name: str, told: Json) -> Json:
        return client.call(name, {key: str(one) for key, one in told.items()})


class NullForNone(Loop):
    """Sends null where there are no arguments."""

    def called(self, client: Client, name: str, told: Json) -> Json:
        return client.call(name, told or None)  # type: ignore[arg-type]


class ImageAsText(Loop):
    """Spells an image out."""

    def part(self, part: Json) -> str:
        return json.dumps(part) if part["type"] == "image" else super().part(part)


class TextAlone(Loop):
    """Sends the texts of a result, and no word of anything else."""

    def part(self, part: Json) -> str:
        return str(part["text"]) if part["type"] == "text" else ""


class TextOrNothing(Loop):
    """Does not know structured content."""

    def text(self, result: Json) -> str:
        return super().text({key: one for key, one in result.items() if key != "structuredContent"})


class LastServerWins(Loop):
    """Of two tools of one name the last is offered, without a word."""

    def tools(self, case: Any, clients: list[Client]) -> tuple[list[Json], dict[str, Run]]:
        offered, runs = super().tools(case, clients)
        return list({one["function"]["name"]: one for one in offered}.values()), runs

    def named(self, client: Client, name: str, taken: Any) -> str:
        return super().named(client, name, ())


class FirstMessage(Loop):
    """Takes the first message of a stream for the answer."""

    class client(Client):
        def is_answer(self, message: Json, id: Any) -> bool:
            return True


class Deaf(Loop):
    """Answers no request of a server."""

    class client(Client):
        def heard(self, message: Json) -> None:
            pass


class DeadSession(Loop):
    """Goes on with a session that is over."""

    class client(Client):
        def call(self, name: str, arguments: Json) -> Json:
            return self.request("tools/call", {"name": name, "arguments": arguments})


class NeverLeaves(Loop):
    """Does not end its sessions."""

    def leave(self, client: Client) -> None:
        pass


class AsksAnyway(Loop):
    """Asks a server for tools that has said that it has none."""

    class client(Client):
        def list(self) -> list[Json]:
            self.able = {"tools": {}}
            return super().list()


class QuotedCursor(Loop):
    """Writes a cursor as in a URL."""

    class client(Client):
        def request(self, method: str, params: Json | None = None) -> Json:
            if params and "cursor" in params:
                params = {"cursor": quote(params["cursor"])}
            return super().request(method, params)


class EmptyIsNoResult(Loop):
    """Sends no result that has nothing in it."""

    def round(self, calls: list[Json], runs: dict[str, Run]) -> list[Json]:
        return [one for one in super().round(calls, runs) if one["content"]]


class ServersInPlaceOfTools(Loop):
    """Where there are servers, the tools of the caller are not offered."""

    def tools(self, case: Any, clients: list[Client]) -> tuple[list[Json], dict[str, Run]]:
        return super().tools({**case, "tools": []} if clients else case, clients)


class InOrderOfTheirEnds(Loop):
    """Takes the answers of parallel calls in the order in which they come."""

    def round(self, calls: list[Json], runs: dict[str, Run]) -> list[Json]:
        ended: list[str] = []

        def noted(run: Run) -> Run:
            def ran(told: Json) -> str:
                ended.append(run(told))
                return ended[-1]

            return ran

        found = super().round(calls, {name: noted(run) for name, run in runs.items()})
        return [one | {"content": text} for one, text in zip(found, ended, strict=True)] if len(ended) > 1 else found


class ForwardedAsTheyAre(Loop):
    """Offers names as the server lists them, and leaves it to the service to refuse them."""

    def named(self, client: Client, name: str, taken: Any) -> str:
        return name
