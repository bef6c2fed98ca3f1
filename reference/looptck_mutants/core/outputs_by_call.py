"""A loop that asks for an output by a tool of its own, where the reference asks by a format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.parts import breaks, speaking
from looptck_reference import Action, Agent, Answer, ChatWire, Decision, Finish, Loop, Stop, Turn
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.errors import BadOutput
from looptck_reference.vocabulary.values import Json

DELIVER = "deliver_output"


class _ByCall(ChatWire):
    """Offers a tool for the output. A call of it alone is read as a text, whose calls are no more."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        if agent.output is not None:
            del body["response_format"]
            about = {"name": DELIVER, "description": "Delivers the output.", "parameters": agent.output.wrapped}
            body["tools"] = [*body.get("tools", ()), {"type": "function", "function": about}]
        return body

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        given = [call.arguments for call in turn.calls if call.name == DELIVER]
        return replace(turn, text=given[0], calls=turn.calls if len(turn.calls) > 1 else ()) if given else turn


class _EndsWithIt(Loop):
    """Takes an output for the end of the run, whatever is beside it."""

    def decide(self, turn: Turn) -> Decision:
        ends = any(call.name == DELIVER for call in turn.calls)
        return Decision.ANSWER if ends else super().decide(turn)

    def refuse_output(self, turn: Turn, error: BadOutput) -> Action:
        return Finish(Answer("", Stop.END, tuple(self.usage))) if turn.calls else super().refuse_output(turn, error)


class _LeavesOthersOpen(_EndsWithIt):
    """Answers of the calls in the last turn the output alone."""

    def append_answer(self, turn: Turn) -> None:
        super().append_answer(turn)
        others = {call.id for call in turn.calls if call.name != DELIVER}
        self.history = [one for one in self.history if one.get("tool_call_id") not in others]
        self.round_ends[-1] = len(self.history)


@breaks(
    "turn-after-an-output-is-accepted",
    cells=("openai-chat/plain/*",),
    collateral={
        "no-request-is-refused": "a call without a result",
        "unfit-output-is-not-returned": "an output that does not fit ends the run too",
    },
)
class CallsBesideTheOutputStayOpen(Driver):
    """Ends a run with its output, and leaves a call beside it without a result."""

    wires = speaking(chat=_ByCall())
    loop = _LeavesOthersOpen


@breaks("unfit-output-is-not-returned", cells=("openai-chat/plain/*",))
class UnfitBesideACallIsNothing(Driver):
    """Ends a run without an output where one that does not fit comes beside another call."""

    wires = speaking(chat=_ByCall())
    loop = _EndsWithIt
