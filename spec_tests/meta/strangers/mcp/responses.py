"""A right loop on Responses that takes tools from MCP servers, and hands files on as files."""

from __future__ import annotations

from typing import Any

from looptck.driver import post, started
from meta.strangers.mcp.client import Client
from meta.strangers.mcp.loops import Json, Loop


class LinksAsFiles(Loop):
    """The model reads a link of a result as a file at that address, without a word beside it."""

    def start(self) -> Any:
        able: Any = {"mcp_client": True, "concurrent": True, "parallel": True}
        return started(type(self).__name__, "1", wires=["openai-responses"], modes=["sync"], **able)

    def function(self, name: str, about: str, parameters: Json) -> Json:
        return {"type": "function", **super().function(name, about, parameters)["function"], "strict": False}

    def text(self, result: Json) -> Any:
        """A list of parts, where the first one is a link."""
        if [part["type"] for part in result["content"]] != ["resource_link"]:
            return super().text(result)
        return [{"type": "input_file", "file_url": result["content"][0]["uri"]}]

    def result(self, call: Json, text: Any) -> Json:
        return {"type": "function_call_output", "call_id": call["id"], "output": text}

    def talk(self, case: Any, clients: list[Client]) -> str:
        offered, runs = self.tools(case, clients)
        history = [dict(message) for message in case["messages"]]
        for _ in range(9):
            body = {"model": case["model"], "input": history, **({"tools": offered} if offered else {})}
            said = post(f"{case['base_url']}/responses", body)["output"]
            calls = [{"id": one["call_id"], "function": one} for one in said if one["type"] == "function_call"]
            if not calls:
                return "".join(part["text"] for one in said if one["type"] == "message" for part in one["content"])
            history += [*said, *self.round(calls, runs)]
        raise RuntimeError("too many rounds")
