"""Compatible servers: what they write otherwise than Chat Completions itself says the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.bench.assertions.caller import shows_failure, text_or_error
from looptck.bench.assertions.tool_runs import model_calls, tools_ran
from looptck.bench.assertions.turns import calls_echoed
from looptck.bench.checks import Implementation, on, refusable, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.script import Step
from looptck.values.framing import DEFAULT, MODEL, Framing, Quirk
from looptck.values.history import Said
from looptck.values.lenient import as_object, objects_in
from looptck.values.outcome import Value
from looptck.values.plain import plain
from looptck.values.turns import Call, Turn, calls, refuses, says
from looptck.values.verdicts import NotReached
from looptck.wires.openai_chat.compatible import UNKNOWN_FINISH, extras

UNTYPED = "calls-are-whole"
"""The rule that a call without a type breaks."""
OWN_FORM = "A loop may send back what it has made of its server's own form, because that server accepts it."
ANSWER = "It is done, and all is well."
REFUSAL = "I cannot help with that."
WEATHER = calls(Call.of("weather", {"city": "Paris"}))
TWO_CALLS = calls(Call.of("weather", {"city": "Paris"}), Call.of("add", {"a": 1, "b": 2}))
LOOKING = calls(*TWO_CALLS.calls, text="Let me look at the thermometer.")


def _reads(implementation: Implementation, quirk: Quirk, turn: Turn, *, fragment: int = DEFAULT.fragment) -> Run:
    """Assert that a turn and an answer with this quirk run the turn's calls, echo them, and lead to the answer."""
    framing = DEFAULT.but(quirk=quirk, fragment=fragment)
    implementation.scenario.plays(Step(turn, framing), Step(says(ANSWER), framing))

    run = implementation.run()

    tools_ran(run, [{call.tool: json.loads(call.arguments)} for call in turn.calls])
    calls_echoed(run, 1)
    if {one.rule for one in run.request(2).problems} == {UNTYPED}:
        return run  # the calls went back as the server had written them, without a type, and it accepts that
    assert isinstance(run.outcome, Value), f"the calls ran, and then the loop {run.outcome}"
    assert ANSWER == (run.outcome.text or "").strip()
    return run


def _counts(run: Run) -> None:
    """Assert that the caller is told numbers of tokens, or none."""
    odd = run.outcome.not_numbers if isinstance(run.outcome, Value) else ()
    assert not odd, f"the usage lacks numbers, and the caller is told NaN for {', '.join(odd)}"


def _ids_stay_apart(run: Run) -> None:
    """Assert that calls with ids of their own are sent back with ids of their own."""
    ids = [asked.id for asked in run.request(2).request.asked]
    assert len(ids) == len({*ids}), f"calls with different ids are sent back with {plain(ids)}"


@requirement("null-members-are-absent")
@refusable(OWN_FORM)
@pytest.mark.parametrize("quirk", ["null-members", "null-call-members", "null-call-type", "null-delta", "null-choices"])
def test_null_members(implementation: Implementation, quirk: Quirk) -> None:
    """Members that other chunks leave out are null: in deltas, in pieces of calls, the last delta, or the choices."""
    _ids_stay_apart(_reads(implementation, quirk, TWO_CALLS))


@requirement("null-members-are-absent")
@refusable(OWN_FORM)
def test_finish_reason_that_is_empty(implementation: Implementation) -> None:
    """The finish reason is an empty text until the end."""
    _reads(implementation, "blank-finish", WEATHER)


@requirement("call-type-may-be-missing")
@refusable(OWN_FORM)
def test_no_call_type(implementation: Implementation) -> None:
    """No call says that it is one of a function."""
    _reads(implementation, "no-call-type", TWO_CALLS)


@requirement("call-type-may-be-missing")
@refusable(OWN_FORM)
@on("*/stream/*")
def test_blank_call_type(implementation: Implementation) -> None:
    """All pieces of a call but the first have an empty text as their type."""
    _reads(implementation, "blank-call-type", TWO_CALLS)


@requirement("null-events-are-skipped")
@refusable(OWN_FORM)
def test_null_events(implementation: Implementation) -> None:
    """A null comes after each chunk, to keep the connection alive."""
    _reads(implementation, "null-events", WEATHER)


@requirement("empty-id-later-is-no-new-call")
@refusable(OWN_FORM)
@pytest.mark.parametrize("turn", [WEATHER, TWO_CALLS], ids=["one", "two"])
def test_empty_ids_later(implementation: Implementation, turn: Turn) -> None:
    """All pieces of a call but the first have an empty id and an empty name."""
    _ids_stay_apart(_reads(implementation, "blank-call-members", turn))


@requirement("name-may-come-later")
@refusable(OWN_FORM)
def test_late_name(implementation: Implementation) -> None:
    """The first piece of a call has its id, the second one its name."""
    _reads(implementation, "name-late", TWO_CALLS)


@requirement("repeated-name-is-one-name")
@refusable(OWN_FORM)
def test_repeated_name(implementation: Implementation) -> None:
    """Each piece of a call has its id, its type and its whole name."""
    _reads(implementation, "names-repeated", TWO_CALLS)


@requirement("blank-piece-changes-nothing")
@refusable(OWN_FORM)
@pytest.mark.parametrize("turn", [WEATHER, TWO_CALLS], ids=["one", "two"])
def test_blank_piece(implementation: Implementation, turn: Turn) -> None:
    """Behind the pieces of the calls the first gets one more, whose id is empty and whose arguments are null."""
    _reads(implementation, "blank-call-last", turn)


@requirement("several-calls-without-index")
@refusable(OWN_FORM)
@pytest.mark.parametrize("fragment", [0, DEFAULT.fragment], ids=["whole", "in-pieces"])
def test_several_calls_without_index(implementation: Implementation, fragment: int) -> None:
    """Two calls follow each other, and no piece has an index."""
    _reads(implementation, "no-index", TWO_CALLS, fragment=fragment)


@requirement("pieces-in-one-delta-all-count")
@pytest.mark.parametrize("fragment", [0, DEFAULT.fragment], ids=["whole", "in-pieces"])
def test_pieces_in_pairs(implementation: Implementation, fragment: int) -> None:
    """Each delta has two pieces of the same call."""
    _reads(implementation, "pieces-in-pairs", TWO_CALLS, fragment=fragment)


@requirement("finish-beside-the-last-delta")
@pytest.mark.parametrize("fragment", [0, DEFAULT.fragment], ids=["whole", "in-pieces"])
def test_finish_beside_the_last_delta(implementation: Implementation, fragment: int) -> None:
    """The finish reason comes with the last piece of the arguments, and with the last piece of the answer."""
    _reads(implementation, "finish-beside", TWO_CALLS, fragment=fragment)


@requirement("text-and-a-call-in-one-delta")
@pytest.mark.parametrize("fragment", [0, DEFAULT.fragment], ids=["whole", "in-pieces"])
def test_text_beside_a_call(scenario: Scenario, implementation: Implementation, fragment: int) -> None:
    """A delta has the end of the text and the first piece of a call; the run is the one of two deltas."""
    apart = DEFAULT.but(fragment=fragment)
    runs = []
    for framing in (apart, apart.but(quirk="text-beside-a-call")):
        scenario.plays(Step(LOOKING, framing), Step(says(ANSWER), framing))
        runs.append(run := implementation.run())
        run.delivered(1)
        if framing is apart and len(run.ran) < len(LOOKING.calls):
            raise NotReached("calls behind a text do not run where each has deltas of its own either")
        tools_ran(run, [{call.tool: json.loads(call.arguments)} for call in LOOKING.calls])
        calls_echoed(run, 1)

    one, other = runs
    kept, found = _echoed_text(one), _echoed_text(other)
    assert kept == found, f"the text of the turn goes back as {found!r}, and as {kept!r} if no call is in its deltas"
    assert one.ending == other.ending


def _echoed_text(run: Run) -> str:
    """What the next request says that the model has said."""
    said = (item for item in run.request(2).request.items if isinstance(item, Said))
    return "".join(item.text for item in said if item.role == "assistant")


@requirement("finish-reason-is-kept")
def test_nothing_takes_the_finish_reason_back(implementation: Implementation) -> None:
    """Behind the chunk with the finish reason comes one about a filter, whose finish reason is null."""
    _reads(implementation, "finish-then-null", TWO_CALLS)


@requirement("empty-content-beside-calls")
@refusable(OWN_FORM)
def test_empty_content_beside_calls(implementation: Implementation) -> None:
    """What has calls has an empty text beside them."""
    _reads(implementation, "content-beside-calls", WEATHER)


@requirement("empty-content-beside-calls")
@refusable(OWN_FORM)
@on("openai-chat/stream/*")
def test_empty_calls_beside_content(implementation: Implementation) -> None:
    """Each piece of text has an empty list of calls beside it."""
    _reads(implementation, "calls-empty-beside-text", WEATHER)


@requirement("empty-content-beside-calls")
@refusable(OWN_FORM)
@on("openai-chat/plain/*")
def test_no_content_beside_calls(implementation: Implementation) -> None:
    """A message with calls has no member for a text."""
    _reads(implementation, "no-content", WEATHER)


@requirement("role-may-be-missing-or-repeated")
@refusable(OWN_FORM)
@pytest.mark.parametrize("quirk", ["no-role", "role-repeated"])
def test_roles(implementation: Implementation, quirk: Quirk) -> None:
    """No delta has a role, or each one has."""
    _reads(implementation, quirk, WEATHER)


@requirement("usage-may-be-missing")
@on("openai-chat/*/*")
@pytest.mark.parametrize("quirk", ["usage-null", "usage-totals", "usage-details-null"])
def test_usage(implementation: Implementation, quirk: Quirk) -> None:
    """The usage is null, has no details, or has details that are null."""
    _counts(_reads(implementation, quirk, WEATHER))


@requirement("usage-may-be-missing")
@on("openai-chat/plain/*")
def test_no_usage(implementation: Implementation) -> None:
    """The reply has no member for its usage."""
    _counts(_reads(implementation, "no-usage", WEATHER))


@requirement("usage-of-a-response-may-be-missing")
@pytest.mark.parametrize("quirk", ["no-usage", "usage-null"])
def test_usage_of_a_response(implementation: Implementation, quirk: Quirk) -> None:
    """The usage of a response that has been completed is null, or has no member."""
    _counts(_reads(implementation, quirk, WEATHER))


@requirement("usage-may-be-missing")
@on("anthropic-messages/*/*")
@pytest.mark.parametrize("quirk", ["counts-null", "counts-missing"])
def test_counts(implementation: Implementation, quirk: Quirk) -> None:
    """The counts of cached tokens, and at the end of a stream those of the input, are null or left out."""
    _counts(_reads(implementation, quirk, WEATHER))


@requirement("content-types-may-have-parameters")
@pytest.mark.parametrize(
    "parameters", [";charset=UTF-8", pytest.param("", marks=on("*/stream/*"))], ids=["a-charset", "no-charset"]
)
def test_content_types(implementation: Implementation, parameters: str) -> None:
    """The content type names a charset, in capitals and without a space before it, or names none."""
    steps = [Step(one, type=parameters) for one in (WEATHER, says(ANSWER))]
    implementation.scenario.plays(*steps)

    run = implementation.run()

    tools_ran(run, [{"weather": {"city": "Paris"}}])
    assert isinstance(run.outcome, Value), f"the call ran, and then the loop {run.outcome}"
    assert ANSWER == (run.outcome.text or "").strip()


@requirement("refusal-beside-an-empty-text-is-told")
def test_refusal_beside_an_empty_text(scenario: Scenario, implementation: Implementation) -> None:
    """The text beside a refusal is empty and not null."""
    scenario.plays(Step(refuses(REFUSAL), DEFAULT.but(quirk="refusal-beside-empty-text")))

    run = implementation.run()

    run.delivered(1)
    assert shows_failure(run) or REFUSAL in (run.value.text or ""), f"the model refused, and the loop {run.outcome}"


@requirement("arguments-after-a-placeholder-are-not-lost")
@refusable(OWN_FORM)
def test_arguments_after_a_placeholder(scenario: Scenario, implementation: Implementation) -> None:
    """The first piece of a call has an empty object, the others its arguments: the tool never runs without them."""
    scenario.plays(Step(WEATHER, DEFAULT.but(quirk="object-before-arguments")), says(ANSWER))

    run = implementation.run()

    run.delivered(1)
    assert run.tools_ran in ([], [("weather", {"city": "Paris"})]), f"the tool ran as {run.tools_ran}"


@requirement("unknown-finish-reason-is-read")
def test_unknown_finish_reason(scenario: Scenario, implementation: Implementation) -> None:
    """The answer ends with a reason that the documentation does not know; it is the answer, or the caller is told."""
    scenario.plays(Step(says(ANSWER), DEFAULT.but(quirk="finish-unknown")), says("Never asked for."))

    run = implementation.run()

    run.replied(1)
    model_calls(run, 1)
    text_or_error(run, {"text": ANSWER, "names": UNKNOWN_FINISH})


@requirement("empty-id-is-not-lost")
@refusable("A loop may send back the empty id that its server wrote, because that server accepts it.")
def test_empty_id(scenario: Scenario, implementation: Implementation) -> None:
    """The call has an empty id; its tool runs, and the model is asked again, unless the run fails."""
    scenario.plays(Step(WEATHER, Framing(quirk="blank-ids")), says(ANSWER))

    run = implementation.run()

    run.delivered(1)
    if not run.failed:
        tools_ran(run, [{"weather": {"city": "Paris"}}])
        assert run.new_answers(1), "the tool ran, and no result of it was sent"


@requirement("empty-id-is-not-lost")
@refusable("A loop may send back the empty ids that its server wrote, because that server accepts them.")
def test_empty_ids(scenario: Scenario, implementation: Implementation) -> None:
    """Two calls of one tool have empty ids; unless the run fails, both run, and ids that the loop makes differ."""
    cities = ("Paris", "Oslo")
    both = calls(*(Call.of("weather", {"city": one}) for one in cities))
    scenario.plays(Step(both, Framing(quirk="blank-ids")), says(ANSWER))

    run = implementation.run()

    run.delivered(1)
    if not run.failed:
        tools_ran(run, [{"weather": {"city": one}} for one in cities])
        made = [asked.id for asked in run.request(2).request.asked if asked.id]
        assert len(made) == len({*made}), f"calls that came without ids are sent back with {plain(made)}"


@requirement("no-tools-are-no-list")
def test_no_tools(scenario: Scenario, implementation: Implementation) -> None:
    """The loop has no tools to offer. OpenAI takes an empty list, by most reports; other servers refuse it."""
    scenario.plays(says(ANSWER))

    run = implementation.run("What is the weather?", tools=[])

    offered = run.request(1).body.get("tools")
    assert [] != offered, "a request without tools has `tools: []`; leave the member out"


@requirement("call-extras-are-echoed")
def test_extras_are_echoed(scenario: Scenario, implementation: Implementation) -> None:
    """Each call has a signature in a member that is not documented, and has it in the next request."""

    def echoed(run: Run) -> list[tuple[Any, Any]]:
        """The extra members that each call of the next request should have, and those that it has."""
        messages = objects_in(run.request(2).body.get("messages"))
        made = [call for one in messages for call in objects_in(one.get("tool_calls"))]
        names = [as_object(one.get("function")).get("name") for one in made]
        return [
            (extras(name)["extra_content"], one.get("extra_content"))
            for name, one in zip(names, made, strict=True)
            if isinstance(name, str)
        ]

    for model in (MODEL, "gemini-3-pro"):  # some loops do so only for a model of a service that demands it
        scenario.plays(Step(TWO_CALLS, DEFAULT.but(quirk="call-extras")), says(ANSWER))
        run = implementation.run(model=model)
        if all(wanted == has for wanted, has in echoed(run)):
            break

    calls_echoed(run, 1)
    for wanted, has in echoed(run):
        assert wanted == has, (
            f"a call came with the member extra_content {plain(wanted)}, and is sent back with {plain(has)}"
        )
