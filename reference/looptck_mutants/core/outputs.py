"""Outputs that the service is not asked for, that the caller gets wrongly, or that leave a history nobody takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference import Action, Agent, Answer, ChatWire, Decision, Fail, Finish, Loop, MessagesWire, Stop, Turn
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.errors import BadOutput
from looptck_reference.vocabulary.output import Output
from looptck_reference.vocabulary.values import Json

REFUSED = "the service refuses the request"


@breaks(
    "output-schema-reaches-the-service",
    collateral={"output-need-not-be-an-object": "the model puts a list into no member that has no type"},
)
class TypesUnsaid(ChatWire):
    """Says the names of an output's members, and no types."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        if agent.output is None:
            return super().request(agent, history, stream=stream)
        members = agent.output.wrapped["properties"]
        bare = {name: _described(one) for name, one in members.items()}
        output = Output({**agent.output.wrapped, "properties": bare})
        return super().request(replace(agent, output=output), history, stream=stream)


def _described(schema: Json) -> Json:
    return {name: one for name, one in schema.items() if name in ("description", "properties", "items")}


@breaks("output-descriptions-reach-the-model")
class OutputUndescribed(ChatWire):
    """Says no descriptions of an output's members."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        for member in _format(body).get("schema", {}).get("properties", {}).values():
            member.pop("description", None)
        return body


def _format(body: Json) -> Json:
    """A copy of the format in a request, put in its place."""
    if "response_format" not in body:
        return {}
    body["response_format"] = json.loads(json.dumps(body["response_format"]))
    found: Json = body["response_format"]["json_schema"]
    return found


@breaks("output-schema-is-taken")
class StrictInVain(ChatWire):
    """Asks for the strict mode, whatever the schema is."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        if format := _format(body):
            format["strict"] = "anyOf" not in json.dumps(format["schema"])
        return body


@breaks("output-schema-is-taken", cells=MESSAGES)
class OpenOutputs(MessagesWire):
    """Says a schema as it is to a service that compiles none with open objects."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        if agent.output is not None:
            body["output_config"]["format"]["schema"] = agent.output.wrapped
        return body


@breaks("output-is-returned")
class NumbersInTexts(Loop):
    """Makes a number of a text that looks like one."""

    def read_output(self, turn: Turn, output: Output) -> Any:
        value = super().read_output(turn, output)
        place = value.get("place_of_it") if isinstance(value, dict) else None
        if place and place["district_code"].startswith("00"):
            place["district_code"] = int(place["district_code"])
        return value


@breaks("output-need-not-be-an-object")
class Wrapped(Loop):
    """Hands out the object in which it has asked for a list."""

    def read_output(self, turn: Turn, output: Output) -> Any:
        value = super().read_output(turn, output)
        return value if output.is_object else {"value": value}


@breaks("output-need-not-be-an-object")
class DefinitionsAreLost(ChatWire):
    """Puts a list into an object without the definitions that it refers to."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        if agent.output is None or agent.output.is_object:
            return super().request(agent, history, stream=stream)
        bare = Output({name: one for name, one in agent.output.schema.items() if name != "$defs"})
        return super().request(replace(agent, output=bare), history, stream=stream)


@breaks(
    "output-leaves-tools-callable",
    collateral={
        ("tools-run-before-the-output", "text-beside-calls-is-not-the-output"): "the model is offered no tool to call"
    },
)
class FormatOrTools(ChatWire):
    """Offers no tools beside a format."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return {name: one for name, one in body.items() if name != "tools" or agent.output is None}


@breaks(
    "tools-run-before-the-output",
    collateral={
        "text-beside-calls-is-not-the-output": "the output comes after a round of tools there too",
        "turn-after-an-output-is-accepted": "there is no output after a round of tools",
    },
)
class FormatForgotten(ChatWire):
    """Says no format once a tool has run."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        if any(message["role"] == "tool" for message in history):
            body.pop("response_format", None)
        return body


@breaks("text-beside-calls-is-not-the-output")
class DraftsCount(Loop):
    """Takes a text that fits for the output, whatever is called beside it."""

    def decide(self, turn: Turn) -> Decision:
        if self.agent.output is not None:
            with suppress(BadOutput):
                self.agent.output.read(turn.text)
                return Decision.ANSWER
        return super().decide(turn)


@breaks("unreadable-output-is-not-returned")
class WordsWillDo(Loop):
    """Ends with the text where the model gives no JSON."""

    def refuse_output(self, turn: Turn, error: BadOutput) -> Action:
        try:
            json.loads(turn.text)
        except ValueError:
            if self.bad_outputs == 0:
                return Finish(Answer(turn.text, Stop.END, tuple(self.usage)))
        return super().refuse_output(turn, error)


@breaks("unfit-output-is-not-returned")
class AnyWord(Loop):
    """Takes a value outside of an enumeration."""

    def read_output(self, turn: Turn, output: Output) -> Any:
        with suppress(ValueError):
            value = json.loads(turn.text)
            if isinstance(value, dict) and value.get("sky") == "purple":
                return value
        return super().read_output(turn, output)


@breaks("unfit-output-is-not-returned")
class TextsFit(Loop):
    """Takes a text for an output, whatever the schema."""

    def read_output(self, turn: Turn, output: Output) -> Any:
        with suppress(ValueError):
            value = json.loads(turn.text)
            if isinstance(value, str):
                return value
        return super().read_output(turn, output)


@breaks("cut-output-is-not-returned")
class Mended(Loop):
    """Closes an output that was cut, as far as it goes."""

    def give(self, turn: Turn, output: Output) -> Action:
        if turn.stop is Stop.LENGTH:
            with suppress(ValueError):
                return Finish(Answer(turn.text, Stop.END, (), (), json.loads(turn.text + '"}]}')))
        return super().give(turn, output)


@breaks("refused-output-is-told")
class RefusalIsNothing(Loop):
    """Ends with no output where the model declines."""

    def give(self, turn: Turn, output: Output) -> Action:
        action = super().give(turn, output)
        if isinstance(action, Fail) and turn.stop is Stop.REFUSAL:
            return Finish(Answer("", Stop.END))
        return action


@breaks("asking-for-an-output-ends")
class AsksOnAndOn(Loop):
    """Asks for an output without an end, and counts no such request against the limit."""

    asks_again = 1_000

    def limit_reached(self) -> bool:
        return super().limit_reached() and not self.bad_outputs


@breaks("request-for-an-output-again-is-accepted", collateral={"no-request-is-refused": REFUSED})
class ComplainsAsATool(Loop):
    """Says what is wrong with an output as the result of a call that was never made."""

    def complaint(self, turn: Turn, error: BadOutput) -> Sequence[Json]:
        return self.wire.opening([{"role": "tool", "tool_call_id": "output", "content": str(error)}])


@breaks("asking-again-ends-with-the-user", cells=MESSAGES)
class AsksAgainWithoutAWord(Loop):
    """Says nothing about an output that does not fit, and asks once more."""

    def complaint(self, turn: Turn, error: BadOutput) -> Sequence[Json]:
        return []


@breaks("turn-after-an-output-is-accepted", collateral={"no-request-is-refused": REFUSED})
class KeepsTheValue(Loop):
    """Keeps the value of an output in the history in place of its text."""

    def append_answer(self, turn: Turn) -> None:
        super().append_answer(turn)
        if self.agent.output is not None and self.history[-1].get("content"):
            with suppress(BadOutput):
                self.history[-1] = {**self.history[-1], "content": self.agent.output.read(turn.text)}


@breaks("output-schema-is-of-its-run")
class SchemaStays(Driver):
    """Keeps the schema of one run for those that come after it."""

    kept: Output | None = None

    def agent_of(self, case: Json) -> Agent:
        agent = super().agent_of(case)
        self.kept = agent.output or self.kept
        return replace(agent, output=agent.output or (self.kept if "What time" in str(case["messages"]) else None))
