"""Conversations: a case followed on one wire, with its tools, until the model answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from importlib.metadata import version

from looptck.bench.cases import Case
from looptck.catalogue.agents import agent
from looptck.commands.recording.chat_session import ChatSession
from looptck.commands.recording.client_session import (
    ClientSession,
    RequestedCall,
    RequestOptions,
    SessionOptions,
    ToolResult,
)
from looptck.commands.recording.messages_session import MessagesSession
from looptck.commands.recording.responses_session import ResponsesSession
from looptck.commands.recording.upstreams import Upstream
from looptck.provider.toolbox import Toolbox
from looptck.values.lenient import is_object

MAX_TOKENS = 4096
"""The token limit for a reply that should not be cut."""
GRACE = 10.0
"""Seconds that a client waits longer than the proxy, which can say why a reply is missing."""
CUT = 16
"""The token limit for a reply that should be cut, if the model is not scripted; OpenAI's minimum on Responses."""
EXTRA_REQUESTS = 4
"""Requests beyond the end of the script, for a model that does not follow it."""

_SESSIONS: dict[str, Callable[[SessionOptions], ClientSession]] = {
    "openai-chat": ChatSession,
    "openai-responses": ResponsesSession,
    "anthropic-messages": MessagesSession,
}


class Endless(Exception):
    """The model still makes calls when it should have answered."""


def converse(case: Case, wire: str, base_url: str, upstream: Upstream, *, stream: bool, patience: float) -> None:
    """Ask the model and run its calls until it answers or is cut.

    Raises:
        Endless: it does not.
    """
    common = SessionOptions(
        base_url=base_url,
        key=upstream.key,
        patience=patience + GRACE,
        model=upstream.model,
        messages=agent(case.agent).messages({"question": case.question}),
        tools=case.tools,
        stream=stream,
        vendor=upstream.is_vendor,
    )
    toolbox = Toolbox(dict(case.behaviours))
    most = len(case.steps) + EXTRA_REQUESTS
    with closing(_SESSIONS[wire](common)) as session:
        for n in range(1, most + 1):
            asked = session.ask(request_options(case, upstream, n))
            if not asked:
                return
            session.answer([_result(case, toolbox, one) for one in asked])
    raise Endless(f"the model still makes calls after {most} requests")


def client_of(wire: str) -> str:
    """The SDK that is used on a wire, with its version."""
    sdk = wire.partition("-")[0]
    return f"the {sdk} SDK {version(sdk)}"


def request_options(case: Case, upstream: Upstream, n: int) -> RequestOptions:
    """The options of the ``n``-th request. Only the first has a tool choice, or the model would never stop calling."""
    assert case.record is not None
    turn = case.steps[n - 1].turn if n <= len(case.steps) else None
    most = MAX_TOKENS
    if turn is not None and turn.stop == "length":
        most = upstream.tokens[case.name][n - 1] if upstream.tokens else CUT
    choice = case.record.tool_choice
    return RequestOptions(most, choice if n == 1 or choice == "none" else None, case.record.stop)


def _result(case: Case, toolbox: Toolbox, asked: RequestedCall) -> ToolResult:
    """The result of a call: its tool's value, or the reason why there is none."""
    handled = [tool.name for tool in case.tools if tool.handled]
    if asked.tool not in handled:
        return ToolResult(asked, f"Error: there is no tool {asked.tool!r}", failed=True)
    if not is_object(asked.arguments):
        return ToolResult(asked, f"Error: the arguments of {asked.tool!r} are no JSON object", failed=True)
    answer = toolbox.next(asked.tool).answer()
    if error := answer.get("error"):
        text = f"Error: the tool {asked.tool!r} failed: {error['type']}: {error['message']}"
        return ToolResult(asked, text, failed=True)
    value = answer["value"]
    return ToolResult(asked, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), failed=False)
