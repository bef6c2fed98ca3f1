"""Anthropic Messages: requests, messages and plain replies.

A turn is a list of content blocks, and all of them go back as they came and in their order: thinking is signed, blocks
of server tools (`server_tool_use`, `mcp_tool_use` and their results) belong to the conversation though nobody here runs
them, and so does whatever block the API may invent. What comes next must be one user message that begins with a
`tool_result` for each `tool_use` of the turn.

The stop reason decides what a turn is, never its blocks: only `tool_use` means that calls are to be run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from looptck_reference.errors import MalformedReply
from looptck_reference.values import Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires.anthropic_messages_stream import MessagesStream
from looptck_reference.wires.sse import EventReader
from looptck_reference.wires.text import joined, refuse_error, text_at

if TYPE_CHECKING:
    from looptck_reference.agent import Agent
    from looptck_reference.tools import Tool

__all__ = ["ANTHROPIC_MESSAGES", "MessagesWire"]

# Null, and any reason that is not here, is the end: reasons are added to the API, and what its own SDK does with one
# that it does not know is to stop without running anything.
STOPS = {
    "tool_use": Stop.CALLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSAL,
    "pause_turn": Stop.PAUSE,
    "compaction": Stop.PAUSE,
}


MCP_BETA = "mcp-client-2025-11-20"
SEARCH: Json = {"type": "web_search_20250305", "name": "web_search"}

SYSTEM = frozenset({"system", "developer"})
"""The roles of callers whose word stands over the user's; OpenAI has renamed it, and prompts may use either."""


class MessagesWire:
    """The wire as a value; see `Wire` for what each method is for."""

    provider = "anthropic"
    path = "/messages"
    reader = EventReader
    runs_calls_on = frozenset({Stop.CALLS})

    # The API wants a limit and has no default. Every model that it ever had can write this much, and no proxy gives
    # up waiting for it.
    max_tokens = 4096

    def headers(self, api_key: str) -> Mapping[str, str]:
        """The key, and the one version that the API has had since 2023."""
        return {"x-api-key": api_key, "anthropic-version": "2023-06-01"}

    def headers_for(self, agent: Agent) -> Mapping[str, str]:
        """MCP servers are a beta."""
        return {"anthropic-beta": MCP_BETA} if agent.mcp_servers else {}

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        """The caller's messages, without those of the system, which have a place of their own in a request."""
        return [message for message in messages if message["role"] not in SYSTEM]

    def echo(self, turn: Turn) -> list[Json]:
        """All blocks as they came. A message without content is refused by the API, so an empty turn adds nothing."""
        content = [block for block in turn.content if not _is_empty_text(block)]
        return [{"role": "assistant", "content": content}] if content else []

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        """All of them in one message and nothing else in it: models that see them apart stop calling in parallel."""
        return [{"role": "user", "content": [self.result(result) for result in results]}]

    def result(self, result: ToolResult) -> Json:
        """One block; `is_error` only where it is true."""
        block = {"type": "tool_result", "tool_use_id": result.call_id, "content": result.text, **result.extra}
        return {**block, "is_error": True} if result.failed else block

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        """Tools are offered with every request: the API refuses a history with calls if there are none."""
        body: Json = {"max_tokens": self.max_tokens, **agent.options, "model": agent.model, "messages": history}
        if system := [message["content"] for message in agent.messages if message["role"] in SYSTEM]:
            body["system"] = system[0] if len(system) == 1 else [{"type": "text", "text": text} for text in system]
        if agent.mcp_servers:
            body["mcp_servers"] = [{"type": "url", "name": name, "url": url} for name, url in agent.mcp_servers.items()]
        hosted: list[Json] = [{"type": "mcp_toolset", "mcp_server_name": name} for name in agent.mcp_servers]
        if agent.search:
            hosted.append(SEARCH)
        if tools := [*map(_offer, agent.tools), *hosted]:
            body["tools"] = tools
        if stream:
            body["stream"] = True
        return body

    def decode(self, reply: Json) -> Turn:
        """The message is the turn."""
        refuse_error(reply)
        content = reply.get("content")
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            raise MalformedReply("the reply has no content blocks; is the base URL that of a messages API?")
        return self.turn(content, text_at(reply, "stop_reason"), reply.get("usage"), {})

    def stream(self) -> MessagesStream:
        """A collector for one stream."""
        return MessagesStream(self)

    def turn(
        self, blocks: Sequence[Json], stop_reason: str, usage: Mapping[str, Any] | None, written: Mapping[int, str]
    ) -> Turn:
        """The turn of these blocks, streamed or not; `written` has the arguments of calls whose own text is known.

        Raises:
            MalformedReply: a call could not be answered because it lacks id or name.
        """
        stop = self.stop_for(stop_reason)
        calls = [
            self.call(block, written.get(at)) for at, block in enumerate(blocks) if block.get("type") == "tool_use"
        ]
        if stop is Stop.CALLS and not all(call.id and call.name for call in calls):
            raise MalformedReply("a tool_use block of the reply lacks id or name")
        text = joined(text_at(block, "text") for block in blocks if block.get("type") == "text")
        return Turn(text, tuple(calls), stop, usage, tuple(blocks))

    def stop_for(self, reason: str) -> Stop:
        """Why a turn ended, by the word for it; empty: there was none."""
        return STOPS.get(reason, Stop.END)

    def call(self, block: Json, written: str | None) -> ToolCall:
        """The call in a block; a call of a toolset has its `toolset_name` repeated with its result."""
        arguments = json.dumps(block.get("input") or {}) if written is None else written
        extra = {name: block[name] for name in ("toolset_name",) if block.get(name) is not None}
        return ToolCall(text_at(block, "id"), text_at(block, "name"), arguments, extra)


ANTHROPIC_MESSAGES = MessagesWire()


def _offer(tool: Tool) -> Json:
    # The API refuses a schema that does not say that it is an object's.
    offer: Json = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": {"type": "object", **tool.offered},
    }
    return {**offer, "strict": True} if tool.strict else offer


def _is_empty_text(block: Json) -> bool:
    """Models begin text blocks and write nothing in them; sent back, the API refuses them, and they say nothing."""
    return block.get("type") == "text" and not block.get("text")
