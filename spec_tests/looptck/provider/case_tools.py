"""The tools of a case as an MCP server, for a loop that takes its tools from servers alone.

A call is answered by the toolbox, as a call by URL is. What the loop says to this server is not judged: the servers of
`tool_servers` are there for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from looptck.catalogue.agents import Tool
from looptck.provider.http import HttpReply, HttpRequest, head
from looptck.provider.mcp import Called, Server, Speaking, content, stateless
from looptck.provider.mcp import Tool as ListedTool
from looptck.provider.mcp.speaking import answer
from looptck.provider.replies import whole
from looptck.provider.toolbox import Behaviour, Raises, Returns, ReturnsParts
from looptck.values.jsontext import compact

Runs = Callable[[str, Any, Callable[[Behaviour], HttpReply]], HttpReply]
"""Runs a tool with arguments, and has its behaviour told as a reply."""


class CaseTools:
    """The server. It answers in JSON, and keeps no sessions."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        """Offer those of these tools that have a handler."""
        listed = tuple(ListedTool(tool.name, tool.description, tool.parameters) for tool in tools if tool.handled)
        self._speaking = Speaking(Server(name="tools", tools=listed, sessions=False))

    def answer(self, request: HttpRequest, runs: Runs) -> HttpReply:
        """Answer a request to the server."""
        _, found = self._speaking.heard(request.method, request.headers, request.body)
        if isinstance(found, Called):
            return runs(found.tool, found.arguments, lambda behaviour: self._told(found, behaviour))
        if found.message is None:
            return HttpReply([head(found.status, [], length=0)])
        return whole(found.status, found.message)

    def _told(self, call: Called, behaviour: Behaviour) -> HttpReply:
        said = answer(call.id, result(behaviour))
        if call.stateless:
            said = stateless.completed(self._speaking.server, said)
        return whole(200, said)


def result(behaviour: Behaviour) -> dict[str, Any]:
    """A result: a text as it is, any other value as JSON, parts as such, an error with its type and message."""
    match behaviour:
        case Raises(message, type):
            return content.result((content.text(f"{type}: {message}"),), None, failed=True)
        case ReturnsParts(parts):
            said = tuple(content.text(part) if isinstance(part, str) else content.image(part) for part in parts)
            return content.result(said, None, failed=False)
        case Returns(value):
            text = value if isinstance(value, str) else compact(value).decode()
            return content.result((content.text(text),), None, failed=False)
    raise ValueError(f"only a dispatch endpoint answers with {behaviour}")
