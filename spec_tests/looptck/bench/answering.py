"""Turns that a request rules out, and loops that take an answer only by a call of a tool of their own.

A request that forces a call rules out an answer; one that forbids parallel calls rules out several calls in a turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from looptck.bench.run import Run
from looptck.provider.script import Step
from looptck.values.answer_tool import NO_ANSWER, AnswerTool
from looptck.values.turns import Served
from looptck.values.verdicts import NotApplicable
from looptck.wires import WIRES

FORCES = frozenset({"required", "any"})
"""What a request says where the model has to call some tool."""
NAMES = frozenset({"tool", "function", "custom"})
"""The types of a choice that names the one tool that the model has to call."""
WRITTEN = frozenset({"text", "message"})
"""The types of a block or item as the service has written it, with sources or in parts, that is an answer's text."""
WORD = "a driver whose loop takes its answer only by a call of a tool of its own says so with `answer` in `started`"


def answerable(steps: Iterable[Step], answer: AnswerTool | None) -> None:
    """Raise NotApplicable if these steps have an answer that the loop cannot be given."""
    if answer is None:
        return
    turns = [step.turn for step in steps if step.turn is not None]
    said = (piece for turn in turns if not turn.calls for piece in turn.pieces)
    if any(isinstance(piece, Served) and piece.value.get("type") in WRITTEN for piece in said):
        raise NotApplicable(f"the loop takes its answer by a call of {answer.tool}, which has no sources and no parts")
    stops = sorted(turn.stopped for turn in turns if turn.text and not turn.calls and turn.stopped in NO_ANSWER)
    if stops:
        raise NotApplicable(
            f"the loop takes its answer by a call of {answer.tool}, so a text that stops for the reason {stops[0]} is "
            "no answer to it"
        )


def ruled_out(body: Any, answer: AnswerTool | None) -> str | None:
    """What a request says that rules out an answer of the model; None: it may answer."""
    choice = body.get("tool_choice") if isinstance(body, dict) else None
    kind = choice.get("type") if isinstance(choice, dict) else choice
    if kind == "allowed_tools" and isinstance(choice, dict):
        kind = (choice.get("allowed_tools") or choice).get("mode")
    named = _named(choice) if isinstance(choice, dict) and kind in NAMES else None
    if kind not in FORCES | NAMES or (answer is not None and named in {None, answer.tool}):
        return None
    return f"tool_choice {json.dumps(choice)}"


def _named(choice: Any) -> Any:
    """The tool that a choice of such a type names."""
    inner = choice.get(choice["type"])
    return inner.get("name") if isinstance(inner, dict) else choice.get("name")


def several_ruled_out(run: Run) -> str | None:
    """Why the service would not have written a turn of the run: its request allows one call at most; None: it would.

    OpenAI's APIs have ``parallel_tool_calls``, Anthropic's has ``disable_parallel_tool_use`` in ``tool_choice``.
    """
    for received in run.received:
        turn = run.turns.get(received.n)
        if turn is not None and len(turn.calls) > 1 and (said := one_at_most(run.cell.wire, received.body)):
            return f"request {received.n} says {said}: the service then writes one call at most, not {len(turn.calls)}"
    return None


def one_at_most(wire: str, body: Any) -> str | None:
    """What a request of a wire says by which a turn has one call at most; None: nothing."""
    if not isinstance(body, dict):
        return None
    choice = body.get("tool_choice")
    if wire == "anthropic-messages":
        single = isinstance(choice, dict) and choice.get("disable_parallel_tool_use") is True
        return "tool_choice.disable_parallel_tool_use: true" if single else None
    return "parallel_tool_calls: false" if body.get("parallel_tool_calls") is False else None


def own_tools(run: Run) -> list[str]:
    """The tools that the first request offers beside those of the case; an answer tool that is declared is one."""
    received = run.request(1)
    of_the_case = {tool.pointer for tool in received.request.tools if tool.name in run.offered}
    offered = WIRES[run.cell.wire].service(True).read(received.body).tools
    return [tool.name for tool in offered if tool.pointer not in of_the_case]


def hint(run: Run) -> str:
    """What a driver may have to say of a loop that does not take a text for an answer; empty: nothing shows that."""
    body = run.request(1).body
    own, choice = own_tools(run), ruled_out(body, None)
    if choice is not None:
        return f"the request forces a call ({choice}), which no model answers with a text: {WORD}"
    return f"the loop offers {', '.join(own)} of its own: {WORD}" if own else ""
