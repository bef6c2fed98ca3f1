"""Right loops on Chat Completions that take tools from MCP servers."""

# ruff: noqa: BLE001, D101

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from looptck.driver import error, handlers, post, started, value
from meta.strangers.mcp.client import Client, Failed

Json = dict[str, Any]
Run = Callable[[Json], str]


class Loop:
    client = Client

    def start(self) -> Any:
        able: Any = {"mcp_client": True, "concurrent": True, "parallel": True}
        return started(type(self).__name__, "1", wires=["openai-chat"], modes=["sync"], **able)

    def run(self, case: Any, emit: Any) -> Any:
        clients: list[Client] = []
        try:
            for server in case.get("tool_servers", ()):
                clients.append(self.client(server["name"], server["url"]))
                clients[-1].connect()
            return value(self.talk(case, clients))
        except Exception as problem:
            return error(problem)
        finally:
            for client in clients:
                self.leave(client)

    def leave(self, client: Client) -> None:
        client.close()

    # -- the tools ----------------------------------------------------------------------------------------------------

    def tools(self, case: Any, clients: list[Client]) -> tuple[list[Json], dict[str, Run]]:
        """What is offered, and what runs a call, by the offered name."""
        functions = handlers(case)
        offered = [self.function(one["name"], one["description"], one["parameters"]) for one in case["tools"]]
        runs: dict[str, Run] = {name: self.own(function) for name, function in functions.items()}
        for client in clients:
            for tool in client.list():
                name = self.named(client, tool["name"], runs)
                runs[name] = self.remote(client, tool["name"])
                offered.append(self.function(name, tool.get("description", ""), self.schema(tool["inputSchema"])))
        return offered, runs

    def named(self, client: Client, name: str, taken: Any) -> str:
        legal = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_-") else "_" for sign in name)[:64]
        return f"{client.name}_{legal}"[:64] if legal in taken else legal

    def schema(self, schema: Json) -> Json:
        return {"properties": {}, **schema}

    def function(self, name: str, about: str, parameters: Json) -> Json:
        return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}

    def own(self, function: Callable[..., Any]) -> Run:
        return lambda told: json.dumps(function(**told))

    def remote(self, client: Client, name: str) -> Run:
        return lambda told: self.text(self.called(client, name, told))

    def called(self, client: Client, name: str, told: Json) -> Json:
        return client.call(name, told)

    # -- the results --------------------------------------------------------------------------------------------------

    def text(self, result: Json) -> str:
        said = "\n".join(filter(None, map(self.part, result["content"])))
        if not said and result.get("structuredContent") is not None:
            said = json.dumps(result["structuredContent"])
        return f"Error: {said}" if result.get("isError") else said

    def part(self, part: Json) -> str:
        match part["type"]:
            case "text":
                return str(part["text"])
            case "resource_link":
                return f"{part['name']}: {part['uri']}"
            case "resource":
                return str(part["resource"].get("text", f"[{part['resource']['uri']} is not text, and is left out]"))
        return f"[{part['type']} of type {part.get('mimeType')}, which cannot be shown, is left out]"

    # -- the loop -----------------------------------------------------------------------------------------------------

    def talk(self, case: Any, clients: list[Client]) -> str:
        offered, runs = self.tools(case, clients)
        history = [dict(message) for message in case["messages"]]
        for _ in range(9):
            body = {"model": case["model"], "messages": history, **({"tools": offered} if offered else {})}
            message = post(f"{case['base_url']}/chat/completions", body)["choices"][0]["message"]
            calls = message.get("tool_calls") or []
            if not calls:
                return str(message.get("content") or "")
            history.append({"role": "assistant", "content": message.get("content"), "tool_calls": calls})
            history += self.round(calls, runs)
        raise RuntimeError("too many rounds")

    def round(self, calls: list[Json], runs: dict[str, Run]) -> list[Json]:
        with ThreadPoolExecutor(len(calls)) as threads:
            said = list(threads.map(lambda call: self.ran(call, runs), calls))
        return [self.result(call, text) for call, text in zip(calls, said, strict=True)]

    def result(self, call: Json, text: str) -> Json:
        return {"role": "tool", "tool_call_id": call["id"], "content": text}

    def ran(self, call: Json, runs: dict[str, Run]) -> str:
        run = runs.get(call["function"]["name"])
        if run is None:
            return "Error: there is no such tool."
        try:
            return run(json.loads(call["function"]["arguments"] or "{}"))
        except Exception as problem:
            return self.problem(problem)

    def problem(self, problem: Exception) -> str:
        return f"Error: {type(problem).__name__}: {problem}"


class Prefixed(Loop):
    """Every name has its server's in front, and results are text parts."""

    def named(self, client: Client, name: str, taken: Any) -> str:
        return f"mcp__{client.name}__{super().named(client, name, ())}"[:64]

    def result(self, call: Json, text: str) -> Json:
        return super().result(call, text) | {"content": [{"type": "text", "text": text or "(nothing)"}]}


class AsJson(Loop):
    """The model reads results as JSON, in which other parts than text are named."""

    def text(self, result: Json) -> str:
        parts = [{"type": "text", "text": self.part(part)} for part in result["content"]]
        return json.dumps({**result, "content": parts})


class InWordsOfItsClient(Loop):
    """A server that gives no answer is told in the words of an HTTP client, as Go and Node.js have them."""

    def problem(self, problem: Exception) -> str:
        if "the server has hung up" in str(problem):
            return "socket hang up"
        return "EOF" if "the stream has ended" in str(problem) else super().problem(problem)


class Raises(Loop):
    """Any failure ends the run, as do two tools of one name."""

    def named(self, client: Client, name: str, taken: Any) -> str:
        if name in taken:
            raise ValueError(f"two servers have a tool {name}")
        return super().named(client, name, taken)

    def text(self, result: Json) -> str:
        if result.get("isError"):
            raise RuntimeError(super().text(result))
        return super().text(result)

    def problem(self, problem: Exception) -> str:
        raise problem


class StructuredFirst(Loop):
    """The model reads structured content where there is some, and text only where there is none."""

    def text(self, result: Json) -> str:
        structured = result.get("structuredContent")
        return super().text(result) if structured is None or result.get("isError") else json.dumps(structured)


class Older(Loop):
    """An older revision, which has no header for its version."""

    class client(Client):
        version = "2025-03-26"
        speaks = (version,)

        def headers(self) -> dict[str, str]:
            return {name: text for name, text in super().headers().items() if name != "mcp-protocol-version"}


class EachEventIsJson(Loop):
    """A revision before streams began with an event without data: it reads each event as JSON."""

    class client(Client):
        version = "2025-06-18"
        speaks = (version, "2025-03-26")

        def is_empty(self, text: str) -> bool:
            return False


class AnewForEach(Loop):
    """Each call has a connection of its own."""

    def called(self, client: Client, name: str, told: Json) -> Json:
        own = type(client)(client.name, client.place.geturl())
        own.connect()
        try:
            return own.call(name, told)
        finally:
            own.close()


class Tolerant(Loop):
    """A server that cannot be reached is left out."""

    def run(self, case: Any, emit: Any) -> Any:
        there = []
        for server in case.get("tool_servers", ()):
            probe = self.client(server["name"], server["url"])
            try:
                probe.connect()
                probe.close()
            except Failed:
                continue
            there.append(server)
        return super().run({**case, "tool_servers": there}, emit)
