"""The client-side path: its events, and the calls and results of the client."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT_STREAM, MESSAGES, RESPONSES
from looptck_mutants.server_loop.bodies import changed, without
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.bench import Bench
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.sessions import Session
from looptck_reference.server.steps import Finish
from looptck_reference.server.values import Message
from looptck_reference.vocabulary.values import Json, Stop, ToolCall, Turn


@breaks("server-client-side-path-runs-no-loop")
class CallsOfTheClientAreRecorded(ServerLoop):
    """Records calls for the client as if the server had run them."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        step = super().finish(turn, capped=capped)
        if self.offer.entered:
            return step
        return replace(step, answer=replace(step.answer, tool_calls=tuple(map(_record, turn.calls))))


def _record(call: ToolCall) -> Json:
    return {"round": 0, "name": call.name, "arguments": call.arguments, "result_content": ""}


@breaks("server-client-side-calls-are-returned")
class OneCallIsHandedOver(ServerLoop):
    """Sends the client only the first call of a turn."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        kept = turn if self.offer.entered else replace(turn, calls=turn.calls[:1])
        return super().finish(kept, capped=capped)


@breaks("server-client-runs-the-next-round")
class ResultsOfTheClientAreQuoted(ServerLoop):
    """Sends the client's results to the model as JSON strings."""

    def splice(self, session: Session | None) -> list[Message]:
        return [_quoted(message) for message in super().splice(session)]


@breaks("server-client-runs-the-next-round")
class InstructionsOfTheClientAreLost(ServerLoop):
    """Leaves the instructions out of what it sends to the model on the client-side path."""

    def splice(self, session: Session | None) -> list[Message]:
        every = super().splice(session)
        return every if self.offer.entered else [one for one in every if one.body.get("role") != "system"]


@breaks("server-client-runs-the-next-round")
class TextBesideCallsOfTheClientIsLost(ServerLoop):
    """Sends the client's calls to the model without the text before them."""

    def splice(self, session: Session | None) -> list[Message]:
        return [_silent(one) for one in super().splice(session)]


def _silent(message: Message) -> Message:
    calls = not message.hidden and message.body.get("tool_calls")
    return replace(message, body={**message.body, "content": None}) if calls else message


@breaks("server-client-runs-the-next-round", cells=(*RESPONSES, *MESSAGES))
class InstructionsAreMessages(Bench):
    """Takes instructions from messages and texts alone: neither from `instructions` nor from the blocks of `system`."""

    def app(self, simulator: Simulator) -> Any:
        return changed(super().app(simulator), lambda body: without(without(body, "instructions", str), "system", list))


def _with(message: Message, result: str) -> Message:
    return replace(message, body={**message.body, "content": result})


def _quoted(message: Message) -> Message:
    if message.hidden or message.body.get("role") != "tool":
        return message
    return replace(message, body={**message.body, "content": json.dumps(message.body["content"])})


@breaks("server-client-side-path-is-standard")
class CallsOfTheClientStopAsAnswers(ServerLoop):
    """Sends the stop reason of an answer with calls for the client."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        step = super().finish(turn, capped=capped)
        return step if self.offer.entered else replace(step, answer=replace(step.answer, stop=Stop.END))


@breaks("server-client-side-calls-are-returned", cells=CHAT_STREAM)
class CallsHaveOneIndex(ChatFrames):
    """Streams all calls of a turn under the index 0."""

    def calls(self, calls: tuple[ToolCall, ...]) -> list[bytes]:
        frames = super().calls(calls)
        self._delta = {"tool_calls": [{**call, "index": 0} for call in self._delta["tool_calls"]]}
        return frames
