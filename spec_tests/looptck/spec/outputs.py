"""A model that gives outputs where requests ask for them, and what its loop may make of one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from looptck.bench.checks import Implementation, RunOverrides
from looptck.bench.outputs import FORM, Place, Schema, Wanted, dangling, place
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.schema_blocks import without_nulls
from looptck.catalogue.agents import agent
from looptck.provider.script import RUNAWAY_CAP
from looptck.spec.obeying import may_not_call
from looptck.values.history import same_value
from looptck.values.outcome import Failed, Outcome, Value
from looptck.values.plain import plain
from looptck.values.transcript import Received
from looptck.values.turns import Turn, refuses, says
from looptck.values.verdicts import NotReached
from looptck.wires import WIRES

LIMIT = 6
"""Enough for a round of tools, and for asking again as often as loops do."""
RUNAWAY = 24
"""Enough to show that a limit of six was not enforced."""
WORDS = "It is warm in Paris today, with a light wind."
"""What the model says where a request asks for no output."""
DECLINES = "I cannot help with that."
TOLD = {"limit", "length", "content_filter", "refusal", "calls", "other"}
"""The stop reasons by which a caller sees that there is no output."""
TOOLS = {tool.name: tool.description for tool in agent("assistant").tools}

SCHEMA: Schema = {
    "type": "object",
    "title": "Report",
    "properties": {
        "station_name": {"type": "string", "description": "The station that has measured."},
        "sky": {"type": "string", "enum": ["clear", "cloudy", "stormy"]},
        "degrees_celsius": {"type": "integer"},
        "is_certain": {"type": "boolean"},
        "place_of_it": {
            "type": "object",
            "properties": {"latitude_deg": {"type": "number"}, "district_code": {"type": "string"}},
            "required": ["latitude_deg", "district_code"],
            "additionalProperties": False,
        },
        "gust_list": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"hour_of_day": {"type": "integer"}, "remark_text": {"type": "string"}},
                "required": ["hour_of_day", "remark_text"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["station_name", "sky", "degrees_celsius", "is_certain", "place_of_it", "gust_list"],
    "additionalProperties": False,
}
"""The schema of most checks, which every mode of every service takes as it is."""
GOOD: Mapping[str, Any] = {
    "station_name": "Montsouris",
    "sky": "cloudy",
    "degrees_celsius": 18,
    "is_certain": True,
    "place_of_it": {"latitude_deg": 48.8217, "district_code": "75014"},
    "gust_list": [{"hour_of_day": 9, "remark_text": "a light wind"}, {"hour_of_day": 15, "remark_text": "calm"}],
}
LIST_SCHEMA: Schema = {"type": "array", "items": SCHEMA["properties"]["gust_list"]["items"]}

Given = Callable[[Place], Turn]
"""Makes the turn with an output for the place where it belongs."""


def wanted(schema: Schema = SCHEMA, good: Any = GOOD) -> Wanted:
    """An output of this schema, asked for with the tools of the agent `assistant`."""
    return Wanted(schema, good, TOOLS)


def gives(value: Any) -> Given:
    """An output that is this value."""
    return lambda at: at.says(at.text(value))


def gives_unfit(value: Any) -> Given:
    """An output that is this value, which does not fit, with nothing filled in."""
    return lambda at: at.says(at.text(value, obeys=False))


def cut(value: Any, *, before: str) -> Given:
    """An output that the token limit has cut before these words."""
    return lambda at: at.says(at.text(value).partition(before)[0], stop="length")


def broken(value: Any, *, plainly: bool) -> Given:
    """An output without its last two characters; ``plainly``: the wire may have no form for that in a call.

    There the call has no arguments, as of a model that has written none which can be read.
    """
    return lambda at: at.says("{}" if plainly and at.kind == "tool" else at.text(value)[:-2])


def tells(text: str) -> Given:
    """Words in place of an output."""
    return lambda _: says(text)


def declines() -> Given:
    """The model declines to give an output."""
    return lambda _: refuses(DECLINES)


@dataclass(slots=True)
class Model:
    """A model that obeys: it makes its first turns as far as it may call, and gives outputs where they are asked for.

    The last output is given again and again. A request that shows no schema gets words.
    """

    wire: str
    wanted: Wanted
    first: Sequence[Turn]
    outputs: Sequence[Given]
    turns: int = 0
    given: int = 0

    def __call__(self, body: Any) -> Turn:
        """The turn for a request."""
        if self.turns < len(self.first) and not may_not_call(body):
            self.turns += 1
            return self.first[self.turns - 1]
        at = place(body, self.wire, self.wanted)
        if at is None:
            return says(WORDS)
        self.given += 1
        return self.outputs[min(self.given, len(self.outputs)) - 1](at)


def play(
    scenario: Scenario,
    implementation: Implementation,
    *outputs: Given,
    first: Sequence[Turn] = (),
    of: Wanted | None = None,
) -> Wanted:
    """Let the model of the next runs give these outputs after these turns; returns what its caller wants."""
    asked = of or wanted()
    model = Model(implementation.cell.wire, asked, first, outputs)
    scenario.listens(model, most=RUNAWAY if implementation.started.can("limit") else RUNAWAY_CAP)
    return asked


def options(implementation: Implementation, asked: Wanted) -> RunOverrides:
    """How a run with an output differs from the default."""
    limit = LIMIT if implementation.started.can("limit") else None
    return {"output_schema": asked.schema, "limit": limit}


def run_for(
    scenario: Scenario,
    implementation: Implementation,
    *outputs: Given,
    first: Sequence[Turn] = (),
    of: Wanted | None = None,
) -> Run:
    """A run whose model gives these outputs after these turns."""
    asked = play(scenario, implementation, *outputs, first=first, of=of)
    return implementation.run(**options(implementation, asked))


def places(run: Run, asked: Wanted) -> list[tuple[Received, Place]]:
    """The requests that show the schema, each with the place."""
    found = ((received, place(received.body, run.cell.wire, asked)) for received in run.requests)
    return [(received, at) for received, at in found if at is not None]


def given(run: Run, asked: Wanted) -> tuple[Received, Place]:
    """The first request that was answered with an output, and the place of that. NotReached if there was none."""
    run.request(1)
    for received, at in places(run, asked):
        turn = run.turns.get(received.n)
        if turn is not None and all(call.tool == at.tool for call in turn.calls):
            return received, at
    if why := _names_nothing(run, asked):
        raise NotReached(f"{why}; the loop {run.outcome}")
    raise NotReached(f"no request shows the schema of the output, so the model gave none; the loop {run.outcome}")


def _names_nothing(run: Run, asked: Wanted) -> str:
    """What is wrong with a run whose schema refers to something that is not there; empty if that is not so."""
    for received in run.requests:
        if reference := dangling(received.body, run.cell.wire, asked):
            return (
                f"in the schema that request {received.n} shows the $ref {reference} names nothing, as definitions "
                "belong at the top of a whole schema; the model gave no output"
            )
    return ""


def shows_none(run: Run) -> str:
    """What is wrong with a run of which no request shows the schema."""
    return (
        f"no request shows the schema of the output, which {run.cell.wire} says as {FORM[run.cell.wire]}, and which a "
        f"tool of the loop's own or words in the prompt may have too; the loop {run.outcome}"
    )


def returns(run: Run, value: Any, *, nulls: bool = False) -> None:
    """The caller gets this value, which the model has given. Raises AssertionError with what it gets instead.

    ``nulls``: a member that may be missing may be null.
    """
    got = run.outcome.output if isinstance(run.outcome, Value) else None
    same = same_value(*map(without_nulls, (value, got))) if nulls else same_value(value, got)
    assert same, f"the loop {_instead(run.outcome, value)}, and the model gave the output {plain(value)}"


def _instead(got: Outcome, value: Any) -> str:
    if isinstance(got, Value):
        text = got.text if got.output is None else got.output
        if isinstance(text, str) and same_value(_parsed(text), value):
            return f"returned a text in place of the value: {plain(text)}"
    return str(got)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def is_told(outcome: Outcome) -> bool:
    """Whether the caller of a run without an output sees that there is none."""
    return isinstance(outcome, Failed) or (
        isinstance(outcome, Value) and outcome.output is None and outcome.stop in TOLD
    )


def told_or_mended(run: Run, what: str, value: Any = GOOD) -> None:
    """The caller gets the output of a later turn, or sees that there is none.

    Raises AssertionError: it gets something else; ``what``: what the model had given.
    """
    got = run.outcome
    if is_told(got) or (isinstance(got, Value) and same_value(value, got.output)):
        return
    silent = ", and says nothing of an output that is missing" if isinstance(got, Value) and got.output is None else ""
    raise AssertionError(f"the loop {got}{silent}; {what}")


def plainly(implementation: Implementation) -> bool:
    """Whether the wire has no form for broken arguments of a call in this cell."""
    return WIRES[implementation.cell.wire].parsed_arguments and not implementation.cell.stream


def changed(value: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    """A value with other members; ``...`` is one that is missing."""
    found = {**value, **members}
    return {name: one for name, one in found.items() if one is not ...}
