"""The next request of the reference after a turn; the judge has to accept it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from looptck.values.problem import Problem
from looptck.values.turns import Turn
from looptck.wires import WIRES
from looptck.wires.anthropic_messages.judge import judge as judge_messages
from looptck.wires.openai_chat.judge import judge as judge_chat
from looptck.wires.openai_responses.judge import judge as judge_responses
from looptck_reference import Action, Agent, Ask, Loop, Tool
from looptck_reference import Turn as Decoded
from looptck_reference.vocabulary.actions import Returned, RunTools
from tools.corpus.understood import REFERENCE, exchange_of

QUESTION = "What is to be done?"
ALONE: Mapping[str, Callable[[object, Mapping[str, str] | None], Sequence[Problem]]] = {
    "openai-chat": lambda body, _headers: judge_chat(body),
    "openai-responses": lambda body, _headers: judge_responses(body),
    "anthropic-messages": judge_messages,
}
"""Judges of single requests with headers, which trust a request's references to earlier ones."""


def problems_after(decoded: Decoded, read: Turn | None, wire: str, *, stream: bool) -> Sequence[Problem] | None:
    """The problems that the judge finds in the next request; None if the turn is the last one.

    The turn answers a question of ours, and every tool that it calls is there. The judge's service has sent the turn
    and stored it: most of the recorded requests left that to the service, and the reference's own would have made it
    send the thoughts encrypted. Where the kit could not read the turn (``read``), the request is judged by itself.
    """
    agent = Agent("looptck-model", [{"role": "user", "content": QUESTION}], _tools(decoded))
    loop = Loop(agent, wire=REFERENCE[wire])
    exchange = exchange_of(loop, wire, stream=stream)
    service = WIRES[wire].service(True)
    first = exchange.request(_ask(loop.start()))
    asked = json.loads(first.content)
    if found := service.judge(asked, first.headers):
        return found
    action = _run_tools(loop, loop.model_answered(decoded))
    if not isinstance(action, Ask):
        return None
    second = exchange.request(action)
    following = json.loads(second.content)
    if read is None:
        return ALONE[wire](following, second.headers)
    service.replied({**asked, "store": True}, 1, read)
    return service.judge(following, second.headers)


def _tools(turn: Decoded) -> list[Tool]:
    return [Tool(name, handler=_done) for name in dict.fromkeys(call.name for call in turn.calls)]


def _done(**_arguments: object) -> str:
    return "Done."


def _run_tools(loop: Loop, action: Action) -> Action:
    while isinstance(action, RunTools):
        action = loop.tools_ended([Returned(run.handler()) for run in action.runs])
    return action


def _ask(action: Action) -> Ask:
    assert isinstance(action, Ask)
    return action
