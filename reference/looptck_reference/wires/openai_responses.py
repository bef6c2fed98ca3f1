"""OpenAI Responses: requests, items and plain replies.

A turn is a list of output items, and all of them are sent back unchanged and in order: the API refuses a
`function_call` without the reasoning that led to it, and items of its own tools (`web_search_call`, `mcp_call`) belong
to the conversation though the service runs these tools. They are followed by one `function_call_output` for each call,
under the call's `call_id`, which is not the item's `id`.

The client keeps the conversation, not the service (`store: false`), so that a run depends only on its own requests. The
service can then read reasoning only in its encrypted form, which has to be requested.

The status determines the kind of a turn: calls of a response that is not completed never run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import TYPE_CHECKING

from looptck_reference.vocabulary.values import Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import openai_responses_turn as items
from looptck_reference.wires.choosing import responses_choice
from looptck_reference.wires.given import calls_in, result_in, up_to
from looptck_reference.wires.openai_responses_stream import ResponsesStream
from looptck_reference.wires.outputs import responses_format
from looptck_reference.wires.parts import responses_output
from looptck_reference.wires.sse import EventReader
from looptck_reference.wires.text import refuse_error

if TYPE_CHECKING:
    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.tools import Tool

__all__ = ["OPENAI_RESPONSES", "ResponsesWire"]


class ResponsesWire:
    """The wire as a value; see `Wire` for what each method is for."""

    provider = "openai"
    path = "/responses"
    reader = EventReader
    runs_calls_on = frozenset({Stop.CALLS})

    def headers(self, api_key: str) -> Mapping[str, str]:
        """A bearer token."""
        return {"authorization": f"Bearer {api_key}"}

    def headers_for(self, agent: Agent) -> Mapping[str, str]:
        """No headers: on this wire MCP servers are tools."""
        return {}

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        """The caller's messages, which are items already, except calls and results in the form for all wires.

        System messages are items too: `instructions` could hold only one of them, and only before all others.
        """
        return [item for message in messages for item in _given(message)]

    def instructions(self, messages: Sequence[Json]) -> list[Json]:
        """None: system messages are items of the history."""
        return []

    def echo(self, turn: Turn) -> list[Json]:
        """All items, unchanged."""
        return list(turn.content)

    def answer(self, turn: Turn) -> list[Json]:
        """All items up to the last that may end a turn: the API refuses reasoning that nothing follows.

        Of a truncated turn that is the last message, because a call of the service may be cut off behind it.
        """
        return up_to(turn.content, _is_message if turn.stop.truncated else _is_no_reasoning)

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        """One item for each result. This wire has no member for a failure: the text reports it."""
        return [_result(result) for result in results]

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        """The body: stateless, with tools if there are any."""
        body: Json = {
            **agent.options,
            "model": agent.model,
            "input": history,
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        if agent.instructions:
            body["instructions"] = agent.instructions
        hosted: list[Json] = [_server(name, url) for name, url in agent.mcp_servers.items()]
        if agent.search:
            hosted.append({"type": "web_search"})
        if tools := [*starmap(_offer, agent.offered.items()), *hosted, *agent.hosted]:
            body["tools"] = tools
            body |= responses_choice(agent)
        body |= responses_format(agent)
        if stream:
            body["stream"] = True
        return body

    def decode(self, reply: Json) -> Turn:
        """The turn is the response; a stream's last event has the same form.

        Raises:
            ProviderError: the response failed, or is not finished: nothing of it may be used.
            MalformedReply: it contains calls that this wire does not run, or that cannot be answered.
        """
        refuse_error(reply)
        items.refuse_unfinished(reply)
        output = items.output_of(reply)
        calls = [self.call(item) for item in output if item.get("type") == "function_call"]
        text, refusal = items.said(output)
        stop = Stop.REFUSAL if refusal else items.stop_of(reply, output)
        if stop is Stop.CALLS:
            items.refuse_unanswerable(calls)
        return Turn(refusal or text, tuple(calls), stop, reply.get("usage"), tuple(output))

    def call(self, item: Json) -> ToolCall:
        """The call in an item."""
        return items.call_of(item)

    def stream(self) -> ResponsesStream:
        """A collector for one stream."""
        return ResponsesStream(self.decode)


OPENAI_RESPONSES = ResponsesWire()


def _given(message: Json) -> list[Json]:
    if result := result_in(message):
        return [_result(result)]
    calls = calls_in(message)
    if not calls:
        return [message]
    called = [{"type": "function_call", "call_id": c.id, "name": c.name, "arguments": c.arguments} for c in calls]
    return [*([{"role": "assistant", "content": message["content"]}] if message["content"] else []), *called]


def _result(result: ToolResult) -> Json:
    return {"type": "function_call_output", "call_id": result.call_id, "output": responses_output(result)}


def _is_message(item: Json) -> bool:
    return item.get("type") == "message"


def _is_no_reasoning(item: Json) -> bool:
    return item.get("type") != "reasoning"


def _server(name: str, url: str) -> Json:
    """An MCP server whose tools the service calls without asking."""
    return {"type": "mcp", "server_label": name, "server_url": url, "require_approval": "never"}


def _offer(name: str, tool: Tool) -> Json:
    # The default of `strict` is true here: the API would then refuse or rewrite schemas that its strict mode lacks.
    return {
        "type": "function",
        "name": name,
        "description": tool.description,
        "parameters": tool.offered,
        "strict": tool.strict,
    }
