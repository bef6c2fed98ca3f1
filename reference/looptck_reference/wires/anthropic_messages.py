"""Anthropic Messages: requests, messages and plain replies.

A turn is a list of content blocks, and all of them are sent back unchanged and in order: thinking is signed, blocks of
server tools (`server_tool_use`, `mcp_tool_use` and their results) belong to the conversation though the service runs
these tools, and so does any block type that the API may add. The next message must be one user message that begins with
a `tool_result` for each `tool_use` of the turn.

The stop reason alone determines the kind of a turn, never its blocks: only `tool_use` means that calls are to run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, starmap
from typing import TYPE_CHECKING, Any

from looptck_reference.vocabulary.errors import MalformedReply
from looptck_reference.vocabulary.values import Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires.anthropic_messages_stream import MessagesStream, in_container
from looptck_reference.wires.choosing import messages_choice
from looptck_reference.wires.given import calls_in, result_in, up_to
from looptck_reference.wires.outputs import messages_format
from looptck_reference.wires.parts import messages_content
from looptck_reference.wires.sse import EventReader
from looptck_reference.wires.text import joined, refuse_error, text_at

if TYPE_CHECKING:
    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.tools import Tool

__all__ = ["ANTHROPIC_MESSAGES", "MessagesWire"]

# Null and unknown reasons end the turn: the API adds reasons, and its own SDK stops without running anything at an
# unknown one.
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
"""The roles of callers that take precedence over the user; OpenAI has renamed the role, and prompts may use either."""


class MessagesWire:
    """The wire as a value; see `Wire` for what each method is for."""

    provider = "anthropic"
    path = "/messages"
    reader = EventReader
    runs_calls_on = frozenset({Stop.CALLS})

    # The API requires a limit and has no default. Every model so far can write this many tokens, and no proxy times
    # out before that.
    max_tokens = 4096

    def headers(self, api_key: str) -> Mapping[str, str]:
        """The key, and the only API version since 2023."""
        return {"x-api-key": api_key, "anthropic-version": "2023-06-01"}

    def headers_for(self, agent: Agent) -> Mapping[str, str]:
        """MCP servers need a beta header."""
        return {"anthropic-beta": MCP_BETA} if agent.mcp_servers else {}

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        """The caller's messages without the system messages, which have a member of their own in a request.

        Results of one turn are one message; an empty message has no form on this wire.
        """
        said = [message for message in messages if message["role"] not in SYSTEM]
        history: list[Json] = []
        for are_results, group in groupby(said, key=lambda message: "call_id" in message):
            if are_results:
                history += self.results([result for message in group if (result := result_in(message))])
            else:
                history += [given for message in group if (given := _given(message))["content"]]
        return history

    def instructions(self, messages: Sequence[Json]) -> list[Json]:
        """The system messages."""
        return [message for message in messages if message["role"] in SYSTEM]

    def echo(self, turn: Turn) -> list[Json]:
        """All blocks, unchanged. The API refuses a message without content, so an empty turn adds nothing."""
        content = [block for block in turn.content if not _is_empty_text(block)]
        return [{"role": "assistant", "content": content}] if content else []

    def answer(self, turn: Turn) -> list[Json]:
        """All blocks up to the last that may end a turn; nothing of a refused turn, which would be refused again.

        A turn does not end in thinking, and a truncated one only in text: thinking may lack its signature behind it,
        and a call of the service its result.
        """
        ends = _is_text if turn.stop.truncated else _is_no_thinking
        said = [] if turn.stop is Stop.REFUSAL else [block for block in turn.content if not _is_empty_text(block)]
        return self.echo(replace(turn, content=tuple(up_to(said, ends))))

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        """All results in one message without other blocks: models stop calling in parallel if results are spread."""
        return [{"role": "user", "content": [self.result(result) for result in results]}]

    def result(self, result: ToolResult) -> Json:
        """One block; `is_error` is present only if true."""
        block: Json = {"type": "tool_result", "tool_use_id": result.call_id, "content": messages_content(result)}
        block |= result.extra
        return {**block, "is_error": True} if result.failed else block

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        """The body. Tools are in every request, because the API refuses a history with calls and no tools."""
        body: Json = {"max_tokens": self.max_tokens, **agent.options, "model": agent.model, "messages": history}
        own = [agent.instructions] if agent.instructions else []
        if system := [*own, *(message["content"] for message in self.instructions(agent.messages))]:
            body["system"] = system[0] if len(system) == 1 else [{"type": "text", "text": text} for text in system]
        if agent.mcp_servers:
            body["mcp_servers"] = [{"type": "url", "name": name, "url": url} for name, url in agent.mcp_servers.items()]
        hosted: list[Json] = [{"type": "mcp_toolset", "mcp_server_name": name} for name in agent.mcp_servers]
        if agent.search:
            hosted.append(SEARCH)
        if tools := [*starmap(_offer, agent.offered.items()), *hosted, *agent.hosted]:
            body["tools"] = tools
            body |= messages_choice(agent)
        body |= messages_format(agent)
        if stream:
            body["stream"] = True
        return body

    def decode(self, reply: Json) -> Turn:
        """The turn is the message."""
        refuse_error(reply)
        content = reply.get("content")
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            raise MalformedReply("the reply has no content blocks; is the base URL that of a messages API?")
        turn = self.turn(content, text_at(reply, "stop_reason"), reply.get("usage"), {})
        return replace(turn, carried=in_container(reply))

    def stream(self) -> MessagesStream:
        """A collector for one stream."""
        return MessagesStream(self.turn)

    def turn(
        self, blocks: Sequence[Json], stop_reason: str, usage: Mapping[str, Any] | None, written: Mapping[int, str]
    ) -> Turn:
        """The turn of these blocks, streamed or not; `written` has the original text of streamed arguments.

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
        """The stop for a stop reason; empty means that there was none."""
        return STOPS.get(reason, Stop.END)

    def call(self, block: Json, written: str | None) -> ToolCall:
        """The call in a block; for a call of a toolset, the result has to repeat its `toolset_name`."""
        arguments = json.dumps(block.get("input") or {}) if written is None else written
        extra = {name: block[name] for name in ("toolset_name",) if block.get(name) is not None}
        return ToolCall(text_at(block, "id"), text_at(block, "name"), arguments, extra)


ANTHROPIC_MESSAGES = MessagesWire()


def _offer(name: str, tool: Tool) -> Json:
    # The API refuses a schema without the type object.
    offer: Json = {
        "name": name,
        "description": tool.description,
        "input_schema": {"type": "object", **tool.offered},
    }
    return {**offer, "strict": True} if tool.strict else offer


def _given(message: Json) -> Json:
    calls = calls_in(message)
    if not calls:
        return message
    said = [{"type": "text", "text": message["content"]}] if message["content"] else []
    called = [{"type": "tool_use", "id": c.id, "name": c.name, "input": json.loads(c.arguments)} for c in calls]
    return {"role": "assistant", "content": [*said, *called]}


def _is_text(block: Json) -> bool:
    return block.get("type") == "text"


def _is_no_thinking(block: Json) -> bool:
    return block.get("type") not in {"thinking", "redacted_thinking"}


def _is_empty_text(block: Json) -> bool:
    """Whether a block is an empty text: models produce such blocks, the API refuses them, and they have no content."""
    return block.get("type") == "text" and not block.get("text")
