"""What a server of the kit does when one of its tools is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck.provider.gate import Gate
from looptck.provider.mcp import content, speaking
from looptck.provider.mcp.server import Server
from looptck.values.frozen import dataclass

Json = dict[str, Any]

ID_OF_THE_CALL = "the id of the call"
"""The id of a message before an answer that is to have the call's own, as each side counts the ids of its requests."""


@dataclass(frozen=True, slots=True)
class Content:
    """It returns these parts, and structured content if there is some; ``failed``: as the tool's error."""

    parts: tuple[content.Part, ...] = ()
    structured: Json | None = None
    failed: bool = False
    type: str = "complete"
    """Its type, which results of the revision without a handshake have."""
    before: tuple[Json, ...] = ()
    """Messages of the server that come before the answer, in the stream of a server that streams."""
    hold: Gate | None = None

    @classmethod
    def of(cls, *parts: content.Part | str, **more: Any) -> Content:
        """Parts, of which texts are given as such."""
        return cls(tuple(content.text(one) if isinstance(one, str) else one for one in parts), **more)

    def message(self, id: Any) -> Json:
        """The answer to the request with this id."""
        result = content.result(self.parts, self.structured, failed=self.failed)
        return speaking.answer(id, result if self.type == "complete" else {"resultType": self.type, **result})

    def answer(self) -> Json:
        """The answer for the transcript: the texts, as what the tool returned or as its error."""
        said = "\n".join(part["text"] for part in self.parts if part["type"] == "text")
        return {"error": {"type": "ToolError", "message": said}} if self.failed else {"value": said}


@dataclass(frozen=True, slots=True)
class RpcError:
    """The protocol's own error, in place of a result."""

    message_text: str
    code: int = speaking.INTERNAL
    before: tuple[Json, ...] = ()
    hold: Gate | None = None

    def message(self, id: Any) -> Json:
        return speaking.error(id, self.code, self.message_text)

    def answer(self) -> Json:
        return {"error": {"type": "McpError", "message": self.message_text}}


@dataclass(frozen=True, slots=True)
class AsksAgain:
    """It asks for the call to be made again, with this state: an interim result, for a request without a handshake."""

    state: str
    before: tuple[Json, ...] = ()
    hold: Gate | None = None

    def message(self, id: Any) -> Json:
        return speaking.answer(id, self.answer()["value"])

    def answer(self) -> Json:
        return {"value": {"resultType": "input_required", "requestState": self.state}}


@dataclass(frozen=True, slots=True)
class HangsUp:
    """It closes the connection without an answer."""

    hold: Gate | None = None

    def answer(self) -> Json:
        return {"error": {"type": "HangUp", "message": "the server has hung up"}}


@dataclass(frozen=True, slots=True)
class Forgets:
    """It has ended the session, and says so."""

    hold: Gate | None = None

    def answer(self) -> Json:
        return {"error": {"type": "SessionOver", "message": "the session is over"}}


Behaviour = Content | RpcError | AsksAgain | HangsUp | Forgets


@dataclass(slots=True)
class Served:
    """A server, and what its tools do: behaviours by tool, one per call, of which the last is repeated.

    By default a tool returns a text with its name, the server's, and the number of the call.
    """

    server: Server
    behaviours: dict[str, Sequence[Behaviour]]

    def next(self, tool: str, call: int) -> Behaviour:
        """The behaviour of this call of a tool, which count from 1."""
        behaviours = self.behaviours.get(tool)
        if not behaviours:
            return Content.of(f"result {call} of {tool} at {self.server.name}")
        return behaviours[min(call, len(behaviours)) - 1]
