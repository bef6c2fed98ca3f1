"""OpenAI Chat Completions: requests, messages and plain replies.

The provider accepts only histories of this form: an assistant message that carries the calls, then, with nothing
between, one message of role `tool` for each of its calls, with the call's id and content that is text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from looptck_reference.vocabulary.errors import MalformedReply, NotOnThisWire
from looptck_reference.vocabulary.values import Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires.choosing import chat_choice
from looptck_reference.wires.given import calls_in, result_in
from looptck_reference.wires.openai_chat_stream import ChatStream
from looptck_reference.wires.openai_chat_turn import call_extra, call_parts, chat_turn, refuse_unsupported
from looptck_reference.wires.outputs import chat_format
from looptck_reference.wires.parts import chat_images, chat_text
from looptck_reference.wires.sse import EventReader
from looptck_reference.wires.text import refuse_error, text_at

if TYPE_CHECKING:
    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.tools import Tool

__all__ = ["OPENAI_CHAT", "ChatWire"]


class ChatWire:
    """The wire as a value; see `Wire` for what each method is for."""

    provider = "openai"
    path = "/chat/completions"
    reader = EventReader
    # A turn ends with "stop", not "tool_calls", if tool_choice forced the call, and always on several compatible
    # servers. So the calls decide, not the finish reason; a cut turn (length, content filter) runs none.
    runs_calls_on = frozenset({Stop.END, Stop.CALLS})

    def headers(self, api_key: str) -> Mapping[str, str]:
        """A bearer token."""
        return {"authorization": f"Bearer {api_key}"}

    def headers_for(self, agent: Agent) -> Mapping[str, str]:
        """No headers. This wire has no MCP servers."""
        if agent.mcp_servers:
            raise NotOnThisWire(
                f"{self.path} does not support MCP servers; leave them out: {sorted(agent.mcp_servers)}"
            )
        return {}

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        """The caller's messages are already in this wire's form, except calls and results in the form for all wires."""
        return [_given(message) for message in messages]

    def instructions(self, messages: Sequence[Json]) -> list[Json]:
        """None: instructions are messages of the history."""
        return []

    def echo(self, turn: Turn) -> list[Json]:
        """The calls are sent back verbatim, with the turn's text and reasoning; no text is null, not ""."""
        kept = {name: value for members in turn.content for name, value in members.items()}
        called = [_call(call) for call in turn.calls]
        return [{"role": "assistant", "content": turn.text or None, **kept, "tool_calls": called}]

    def answer(self, turn: Turn) -> list[Json]:
        """The text, or the refusal in its own member; reasoning is for the turns of one question only.

        The provider refuses a message without content, so an empty turn adds nothing.
        """
        if not turn.text and not turn.calls:
            return []
        said = {"content": None, "refusal": turn.text} if turn.stop is Stop.REFUSAL else {"content": turn.text or None}
        called = {"tool_calls": [_call(call) for call in turn.calls]} if turn.calls else {}
        return [{"role": "assistant", **said, **called}]

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        """One message each, and behind them one with their images, if there are any."""
        return [*map(_result, results), *chat_images(results)]

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        """The body. Tools are in every request; an empty list is left out, because the provider refuses it."""
        own = [{"role": "system", "content": agent.instructions}] if agent.instructions else []
        body: Json = {**agent.options, "model": agent.model, "messages": [*own, *history]}
        if agent.tools:
            body["tools"] = [_offer(name, tool) for name, tool in agent.offered.items()]
            body |= chat_choice(agent)
        body |= chat_format(agent)
        if stream:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        return body

    def decode(self, reply: Json) -> Turn:
        """The turn is the first choice's message."""
        refuse_error(reply)
        choice = _first_choice(reply)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise MalformedReply("the reply's choice has no message")
        refuse_unsupported(message)
        return chat_turn(
            content=message.get("content") or "",
            refusal=message.get("refusal") or "",
            reasoning=text_at(message, "reasoning_content"),
            details=message.get("reasoning_details") or (),
            calls=[ToolCall(*call_parts(call), call_extra(call)) for call in message.get("tool_calls") or ()],
            finish_reason=choice.get("finish_reason"),
            usage=reply.get("usage"),
        )

    def stream(self) -> ChatStream:
        """A collector for one stream."""
        return ChatStream()


OPENAI_CHAT = ChatWire()


def _given(message: Json) -> Json:
    if result := result_in(message):
        return _result(result)
    calls = calls_in(message)
    if not calls:
        return message
    return {"role": "assistant", "content": message["content"] or None, "tool_calls": [_call(call) for call in calls]}


def _result(result: ToolResult) -> Json:
    return {"role": "tool", "tool_call_id": result.call_id, "content": chat_text(result)}


def _call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function, **call.extra}


def _offer(name: str, tool: Tool) -> Json:
    function: Json = {"name": name, "description": tool.description, "parameters": tool.offered}
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _first_choice(reply: Json) -> Json:
    for choice in reply.get("choices") or ():
        if isinstance(choice, dict) and not choice.get("index"):
            return choice
    raise MalformedReply("the reply has no choice with index 0; is the base URL that of a chat completions API?")
