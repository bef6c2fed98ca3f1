"""Outputs: beside tools, the caller of a loop gets a value that fits its schema, or sees that there is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, requirement
from looptck.bench.choices import chosen
from looptck.bench.outputs import Place, Schema, undefined
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.script import RUNAWAY_CAP
from looptck.spec import outputs
from looptck.spec.conversing import accepted
from looptck.spec.outputs import (
    GOOD,
    LIST_SCHEMA,
    RUNAWAY,
    SCHEMA,
    Given,
    changed,
    gives,
    gives_unfit,
    run_for,
    told_or_mended,
)
from looptck.values.history import Said
from looptck.values.outcome import Failed, Value
from looptck.values.plain import plain
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

WEATHER = Call.of("weather", {"city": "Paris"})
WARM = changed(GOOD, sky="clear", degrees_celsius=31)
"""Another value that fits."""
FITS = gives(GOOD)

VALUES: Mapping[str, Mapping[str, Any]] = {
    "at-once": GOOD,
    "texts-that-mean-something": changed(
        GOOD, station_name="null", place_of_it={"latitude_deg": 0, "district_code": "007"}
    ),
    "nothing-in-it": changed(GOOD, station_name="", degrees_celsius=0, is_certain=False, gust_list=[]),
    "beyond-ascii": changed(GOOD, station_name='Zürich 😀 \u2028 "quoted" \\ back'),
    "marks-of-code": changed(GOOD, station_name='```json\n{"a": 1}\n``` and } or ] or """'),
    "blanks-around": changed(GOOD, station_name="  Montsouris\n"),
}  # fmt: skip


@requirement("output-is-returned")
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_value(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """The model gives a value that fits, and the caller gets it."""
    run = run_for(scenario, implementation, gives(value))

    outputs.given(run, outputs.wanted())
    outputs.returns(run, value)


NULLABLE: Schema = {
    **SCHEMA,
    "properties": {
        **SCHEMA["properties"],
        "sky": {"type": ["string", "null"], "description": "The sky, if it is seen."},
    },
}
"""The schema of most checks with a member that may be null."""


@requirement("output-is-returned")
def test_null_member(scenario: Scenario, implementation: Implementation) -> None:
    """A member that has to be there may be null, and is; a loop may refuse such a schema before it asks."""
    value = changed(GOOD, sky=None)
    asked = outputs.wanted(NULLABLE, GOOD)

    run = run_for(scenario, implementation, gives(value), of=asked)

    if isinstance(run.outcome, Failed) and not run.requests:
        implementation.run().request(1)
        raise NotApplicable(f"the loop takes no schema with a member that may be null, and {run.outcome}")
    outputs.given(run, asked)
    outputs.returns(run, value)


DEFINED: Schema = {
    "$defs": {"Gust": LIST_SCHEMA["items"]},
    "type": "array",
    "items": {"$ref": "#/$defs/Gust"},
}
"""The same list, as generators of schemas write it."""
LISTS: Mapping[str, tuple[Schema, Any]] = {
    "list": (LIST_SCHEMA, GOOD["gust_list"]),
    "empty-list": (LIST_SCHEMA, []),
    "definitions": (DEFINED, GOOD["gust_list"]),
}


@requirement("output-need-not-be-an-object")
@pytest.mark.parametrize(("schema", "value"), LISTS.values(), ids=LISTS)
def test_list(scenario: Scenario, implementation: Implementation, schema: Schema, value: Any) -> None:
    """The output is a list, without whatever the loop had put around it for the service."""
    asked = outputs.wanted(schema, GOOD["gust_list"])

    run = run_for(scenario, implementation, gives(value), of=asked)

    if isinstance(run.outcome, Failed) and not run.requests:
        implementation.run().request(1)
        raise NotApplicable(f"the loop takes no schema of a list, and {run.outcome}")
    received, at = outputs.given(run, asked)
    if at.schema is None:
        raise NotApplicable(f"request {received.n} says in words that are no JSON how a list is to be written")
    lost = undefined(at.schema)
    assert not lost, (
        f"the caller's schema is {plain(schema)}, and request {received.n} has in {at.words} the reference {lost[0]} "
        "without its definition"
    )
    outputs.returns(run, value)


@requirement("tools-run-before-the-output")
@pytest.mark.parametrize("result", ["18 degrees", json.dumps(WARM)], ids=["text", "result-that-fits"])
def test_tools_run(scenario: Scenario, implementation: Implementation, result: str) -> None:
    """The model calls a tool, and gives its output in the turn after that."""
    scenario.returns("weather", result)

    run = run_for(scenario, implementation, FITS, first=[calls(WEATHER)])

    _ran_and_returned(run)


@requirement("text-beside-calls-is-not-the-output")
@pytest.mark.parametrize("text", ["Let me look.", json.dumps(WARM)], ids=["words", "text-that-fits"])
def test_text_beside_calls(scenario: Scenario, implementation: Implementation, text: str) -> None:
    """The model writes something beside a call, which runs; its output comes in the turn after that."""
    run = run_for(scenario, implementation, FITS, first=[calls(WEATHER, text=text)])

    _ran_and_returned(run)


def _ran_and_returned(run: Run) -> None:
    """The tool has run once, and the output is that of the turn after it."""
    run.delivered(1)
    if not run.turns[1].calls:
        raise NotReached("request 1 lets the model call no tool")
    tools_ran(run, [{"weather": {"city": "Paris"}}])
    if isinstance(run.outcome, Value):
        assert len(run.requests) > 1, f"the loop {run.outcome} after the tool had run, without asking the model again"
    run.delivered(2)
    if not outputs.places(run, outputs.wanted()):
        raise NotReached(outputs.shows_none(run))
    assert any(received.n > 1 for received, _ in outputs.places(run, outputs.wanted())), (
        f"request 1 shows the schema of the output, and request {run.requests[-1].n}, after a round of tools, does "
        f"not, so the model answers in words; the loop {run.outcome}"
    )
    outputs.returns(run, GOOD)


@requirement("unreadable-output-is-not-returned")
@pytest.mark.parametrize("always", [False, True], ids=["once", "always"])
@pytest.mark.parametrize("what", ["broken", "words"])
def test_unreadable(scenario: Scenario, implementation: Implementation, what: str, always: bool) -> None:
    """The model gives JSON that breaks off, or answers in words; its next output is right, or is never."""
    bad = outputs.tells(outputs.WORDS)
    if what == "broken":
        bad = outputs.broken(GOOD, plainly=outputs.plainly(implementation))

    run = run_for(scenario, implementation, *([bad] if always else [bad, FITS]))

    outputs.given(run, outputs.wanted())
    told_or_mended(run, "the model gave no JSON of an output")


UNFIT: Mapping[str, Any] = {
    "missing": changed(GOOD, is_certain=...),
    "type": changed(GOOD, degrees_celsius="mild"),
    "enum": changed(GOOD, sky="purple"),
    "within": changed(GOOD, gust_list=[{"hour_of_day": "nine", "remark_text": "calm"}]),
}
"""Values that do not fit, with nothing that could be meant otherwise."""


@requirement("unfit-output-is-not-returned")
@pytest.mark.parametrize("value", UNFIT.values(), ids=UNFIT)
def test_unfit(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """The model gives a value that does not fit, which no service has promised that it would."""
    run = run_for(scenario, implementation, gives_unfit(value), FITS)

    received, at = outputs.given(run, outputs.wanted())
    if at.is_promised:
        raise NotApplicable(f"by {at.words} in request {received.n} the service promises that each output fits")
    told_or_mended(run, f"the model gave an output that does not fit, {plain(value)}")


@requirement("unfit-output-is-not-returned")
def test_json_in_a_text(scenario: Scenario, implementation: Implementation) -> None:
    """The model writes the JSON of its output into a text of JSON. A loop may take the value out of it."""
    packed = json.dumps(json.dumps(GOOD))
    run = run_for(scenario, implementation, lambda at: FITS(at) if at.kind == "tool" else at.says(packed), FITS)

    received, at = outputs.given(run, outputs.wanted())
    if at.is_promised or at.kind == "tool":
        raise NotApplicable(f"by {at.words} in request {received.n} no output is a text")
    told_or_mended(run, "the model gave the JSON of the output within a text")


BESIDE: Mapping[str, Callable[[Call], Sequence[Call]]] = {
    "before-a-call": lambda output: (output, WEATHER),
    "behind-a-call": lambda output: (WEATHER, output),
}


@requirement("unfit-output-is-not-returned")
@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
def test_unfit_beside_a_call(
    scenario: Scenario, implementation: Implementation, beside: Callable[[Call], Sequence[Call]]
) -> None:
    """Where an output is a call, one that does not fit comes in a turn with an ordinary call."""

    def bad(at: Place) -> Turn:
        unfit = gives_unfit(UNFIT["missing"])(at)
        return calls(*beside(unfit.calls[0])) if at.kind == "tool" else unfit

    run = run_for(scenario, implementation, bad, FITS)

    run.request(1)
    found = outputs.places(run, outputs.wanted())
    if not found or found[0][1].kind != "tool":
        raise NotApplicable("the loop asks for an output in no tool of its own")
    received, at = found[0]
    if at.is_promised or "weather" not in chosen(run, received).callable:
        raise NotApplicable(
            f"request {received.n} has {at.words} to which the service keeps, or which is all it allows"
        )
    run.delivered(received.n)
    told_or_mended(run, "beside an ordinary call the model gave an output that does not fit")


def _two(at: Place) -> Turn:
    """Two different outputs in one turn, of which each is a call where an output is one."""
    first, second = (at.says(at.text(value)) for value in (GOOD, WARM))
    return Turn((*first.pieces, *second.pieces)) if at.kind == "tool" else outputs.tells(outputs.WORDS)(at)


AGAIN: Mapping[str, Given] = {"unfit": gives_unfit(UNFIT["type"]), "words": outputs.tells(outputs.WORDS), "two": _two}


@requirement("request-for-an-output-again-is-accepted")
@pytest.mark.parametrize("bad", AGAIN.values(), ids=AGAIN)
def test_asking_again(scenario: Scenario, implementation: Implementation, bad: Given) -> None:
    """The model gives an output that does not fit, none, or two at once, and is asked again."""
    implementation.plays_several = True
    run = run_for(scenario, implementation, bad, FITS)

    received, _ = outputs.given(run, outputs.wanted())
    if len(run.requests) == received.n:
        raise NotApplicable(f"the loop does not ask again, and {run.outcome}")
    accepted(run.request(received.n + 1))


@requirement("asking-again-ends-with-the-user")
@pytest.mark.parametrize("bad", [AGAIN["unfit"], AGAIN["words"]], ids=["unfit", "words"])
def test_asking_again_ends(scenario: Scenario, implementation: Implementation, bad: Given) -> None:
    """The request that asks again ends with something else than what the model has just said."""
    run = run_for(scenario, implementation, bad, FITS)

    received, _ = outputs.given(run, outputs.wanted())
    if len(run.requests) == received.n:
        raise NotApplicable(f"the loop does not ask again, and {run.outcome}")
    text = (run.delivered(received.n).text or "").strip()
    items = run.request(received.n + 1).request.items
    last = items[-1] if items else None
    assert not (isinstance(last, Said) and last.role == "assistant" and text and text in last.text), (
        f"request {received.n + 1} ends with the model's own answer, which newer models refuse to go on from"
    )


CUTS = {"in-a-text": "light wind", "between-members": ', "is_certain"'}


@requirement("cut-output-is-not-returned")
@pytest.mark.parametrize("before", CUTS.values(), ids=CUTS)
def test_cut(scenario: Scenario, implementation: Implementation, before: str) -> None:
    """The token limit cuts an output."""
    run = run_for(scenario, implementation, outputs.cut(GOOD, before=before), FITS)

    outputs.given(run, outputs.wanted())
    told_or_mended(run, "the model's output was cut by the token limit")


@requirement("refused-output-is-told")
def test_refused(scenario: Scenario, implementation: Implementation) -> None:
    """The model declines to give an output."""
    run = run_for(scenario, implementation, outputs.declines())

    outputs.given(run, outputs.wanted())
    told_or_mended(run, "the model declined to give an output")


ENDLESS: Mapping[str, Given] = {"unfit": gives_unfit(UNFIT["missing"]), "words": outputs.tells(outputs.WORDS)}


@requirement("asking-for-an-output-ends")
@pytest.mark.parametrize("bad", ENDLESS.values(), ids=ENDLESS)
def test_asking_ends(scenario: Scenario, implementation: Implementation, bad: Given) -> None:
    """The model never gives an output that fits."""
    run = run_for(scenario, implementation, bad)

    received, _ = outputs.given(run, outputs.wanted())
    most = RUNAWAY if implementation.started.can("limit") else RUNAWAY_CAP
    assert not run.is_endless(most), f"the loop asks for an output again and again: {len(run.requests)} requests"
    if len(run.requests) == received.n:
        raise NotApplicable(f"the loop asks for an output once, and {run.outcome}")
    told_or_mended(run, "the model never gave an output that fits")


@requirement("turn-after-an-output-is-accepted")
@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
def test_next_turn_after_a_call_beside(
    scenario: Scenario, implementation: Implementation, beside: Callable[[Call], Sequence[Call]]
) -> None:
    """Where an output is a call, it comes in a turn with an ordinary call, which may have run or not."""

    def both(at: Place) -> Turn:
        output = FITS(at)
        return calls(*beside(output.calls[0])) if at.kind == "tool" and not at.is_promised else output

    talk, asked = Talk(implementation), outputs.play(scenario, implementation, both, FITS)
    first = talk.run(**outputs.options(implementation, asked))
    first.request(1)
    found = outputs.places(first, asked)
    if not found or found[0][1].kind != "tool" or found[0][1].is_promised:
        raise NotApplicable("the loop asks for an output in no tool of its own, or the service allows nothing else")
    if "weather" not in chosen(first, found[0][0]).callable:
        raise NotApplicable(f"request {found[0][0].n} lets the model call nothing but the tool of the output")
    scenario.plays(says("It is noon."))

    run = talk.run("What time is it?")

    accepted(run.request(1))


@requirement("turn-after-an-output-is-accepted")
@pytest.mark.parametrize("again", [True, False], ids=["output-again", "text"])
def test_next_turn(scenario: Scenario, implementation: Implementation, again: bool) -> None:
    """The next question of the conversation wants an output too, or a text."""
    talk, asked = Talk(implementation), outputs.play(scenario, implementation, FITS, first=[calls(WEATHER)])
    first = talk.run(**outputs.options(implementation, asked))
    outputs.given(first, asked)
    outputs.returns(first, GOOD)
    if not again:
        scenario.plays(says("It is noon."))

    run = talk.run("What time is it?", **(outputs.options(implementation, asked) if again else {}))

    accepted(run.request(1))
