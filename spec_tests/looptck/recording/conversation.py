"""Conversations: a case followed on one wire, with its tools, until the model answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from importlib.metadata import version

from looptck.agents import agent
from looptck.cases import Case
from looptck.provider.toolbox import Toolbox
from looptck.recording.talk import Asked, Result, Setting, Talk, Wish
from looptck.recording.talk_chat import Chat
from looptck.recording.talk_messages import Messages
from looptck.recording.talk_responses import Responses
from looptck.recording.upstreams import Upstream

ROOM = 4096
"""Tokens for a reply that is not to be cut."""
GRACE = 10.0
"""Seconds that a client waits longer than the proxy, which can say more of a reply that does not come."""
CUT = 16
"""Tokens for a reply that is to be cut, where the model is not scripted; OpenAI takes no fewer on Responses."""
SPARE = 4
"""Requests beyond the end of the script, for a model that goes its own way."""

_TALKS: dict[str, Callable[[Setting], Talk]] = {
    "openai-chat": Chat,
    "openai-responses": Responses,
    "anthropic-messages": Messages,
}


class Endless(Exception):
    """The model still asks for tools when it should have answered long ago."""


def converse(case: Case, wire: str, base_url: str, upstream: Upstream, *, stream: bool, patience: float) -> None:
    """Ask, run the tools that the model asks for, and go on until it answers or is cut.

    Raises:
        Endless: it does not.
    """
    setting = Setting(
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
    most = len(case.steps) + SPARE
    with closing(_TALKS[wire](setting)) as talk:
        for n in range(1, most + 1):
            asked = talk.ask(wish(case, upstream, n))
            if not asked:
                return
            talk.answer([_result(case, toolbox, one) for one in asked])
    raise Endless(f"the model still asks for tools after {most} requests")


def client_of(wire: str) -> str:
    """The SDK that is used on a wire, with its version."""
    sdk = wire.partition("-")[0]
    return f"the {sdk} SDK {version(sdk)}"


def wish(case: Case, upstream: Upstream, n: int) -> Wish:
    """What the ``n``-th request says: a choice of tools is the first one's, lest the model calls for ever."""
    assert case.record is not None
    turn = case.steps[n - 1].turn if n <= len(case.steps) else None
    most = ROOM
    if turn is not None and turn.stop == "length":
        most = upstream.tokens[case.name][n - 1] if upstream.tokens else CUT
    choice = case.record.tool_choice
    return Wish(most, choice if n == 1 or choice == "none" else None, case.record.stop)


def _result(case: Case, toolbox: Toolbox, asked: Asked) -> Result:
    """What the model is told of a call: its tool's value, or in words why there is none."""
    handled = [tool.name for tool in case.tools if tool.handled]
    if asked.tool not in handled:
        return Result(asked, f"Error: there is no tool {asked.tool!r}", failed=True)
    if not _is_object(asked.arguments):
        return Result(asked, f"Error: the arguments of {asked.tool!r} are no JSON object", failed=True)
    answer = toolbox.next(asked.tool).answer()
    if error := answer.get("error"):
        text = f"Error: the tool {asked.tool!r} failed: {error['type']}: {error['message']}"
        return Result(asked, text, failed=True)
    value = answer["value"]
    return Result(asked, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), failed=False)


def _is_object(arguments: str) -> bool:
    try:
        return not arguments.strip() or isinstance(json.loads(arguments), dict)
    except ValueError:
        return False
