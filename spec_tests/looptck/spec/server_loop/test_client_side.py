"""Server-side loops: the client-side path, on which the server runs no tool and the client continues the loop."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.checks import requirement
from looptck.bench.client import schemas
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.provider.script import Step
from looptck.spec.server_loop.replies import DONE, LODZ, PING, as_json
from looptck.values.framing import PRESETS
from looptck.values.history import Answered, Asked, Said, spelled
from looptck.values.plain import plain
from looptck.values.turns import Call, calls
from looptck.values.verdicts import NotReached

BARE = "bare"
"""The set-up in which a request meets no entry condition."""
SUNNY = "It is sunny in Łódź."
RULES = "Do as the okapi does."
BLOCKS = [{"type": "text", "text": "Be brief."}, {"type": "text", "text": RULES}]


@requirement("server-client-side-path-runs-no-loop")
def test_no_loop(scenario: Scenario, server: ServerUnderTest) -> None:
    """The model's call ends the reply: no tool runs, the model is not asked again, and no progress is reported."""
    scenario.plays(calls(PING), DONE)

    run = server.ask(setup=BARE)

    _handed_over(run)
    assert [] == run.tools_ran
    assert 1 == len(run.received), f"the model is asked {len(run.received)} times for one request of the client"
    reported = run.got.progress if run.got.stream else run.got.records
    assert [] == [*reported]


@requirement("server-client-side-calls-are-returned")
def test_calls_of_the_model(scenario: Scenario, server: ServerUnderTest) -> None:
    """Both calls of a turn are returned in order, each with its own id and its arguments."""
    scenario.plays(calls(LODZ, PING), DONE)

    run = server.ask(setup=BARE)

    _two_calls(run)
    if run.got.stream and run.got.wire == "openai-chat":
        whole = any(len(_deltas(event.value)) == 2 for event in run.got.own)
        server.implementation.diverges("client_side_stream", "whole-calls-in-the-last-chunk" if whole else "fragments")


@requirement("server-client-side-calls-are-returned")
@pytest.mark.parametrize("framing", ["calls-in-one-delta", "interleaved-calls"])
def test_calls_of_a_packed_turn(scenario: Scenario, server: ServerUnderTest, framing: str) -> None:
    """The model streams both calls in one piece, or by turns: the client gets both."""
    scenario.plays(Step(calls(LODZ, PING), PRESETS[framing]), DONE)

    _two_calls(server.ask(setup=BARE))


def _two_calls(run: Run) -> None:
    """Assert that both calls were returned; in a stream of Chat Completions, each under an index of its own."""
    returned = run.got.turn.calls
    assert [("weather", as_json(LODZ.arguments)), ("ping", {})] == [_said(call) for call in returned]
    assert 2 == len({call.id for call in returned if call.id}), f"the ids are {plain([call.id for call in returned])}"
    if run.got.stream and run.got.wire == "openai-chat":
        places = {call.get("index") for event in run.got.own for call in _deltas(event.value)}
        assert 2 == len(places), f"the chunks of two calls have the index {plain(sorted(places, key=str))}"


@requirement("server-client-runs-the-next-round")
def test_next_round_of_the_client(scenario: Scenario, server: ServerUnderTest) -> None:
    """The client sends call and result back; the model is asked with both, and its answer comes."""
    question = "Please tell me the weather in Łódź."
    scenario.plays(calls(LODZ))
    call = _handed_over(server.ask(question, setup=BARE))
    asked = Asked(call.id or "", call.tool, call.arguments)
    scenario.plays(DONE)

    run = server.ask(question, setup=BARE, after=(asked, Answered(asked.id, SUNNY)))

    items = run.request(1).request.items
    assert [(asked.tool, spelled(asked.arguments))] == [
        (item.tool, spelled(item.arguments)) for item in items if isinstance(item, Asked)
    ]
    assert [SUNNY] == [item.text for item in items if isinstance(item, Answered)]
    assert run.got.ok, f"the request with the result got {run.got}"
    assert DONE.text == run.got.text


@requirement("server-client-runs-the-next-round")
def test_two_results_of_the_client(scenario: Scenario, server: ServerUnderTest) -> None:
    """The client sends its instructions, two calls and their results: the model is asked with all of them."""
    question, rules = "Please tell me the weather in Łódź, and ping.", Said("system", RULES)
    scenario.plays(calls(LODZ, PING))
    returned = server.ask(question, setup=BARE, before=(rules,)).got.turn.calls
    if len({call.id for call in returned}) != 2:
        raise NotReached(f"the reply does not return two calls, but {plain([call.tool for call in returned])}")
    asked = [Asked(call.id or "", call.tool, call.arguments) for call in returned]
    results = {"weather": SUNNY, "ping": "pong of the client"}
    answered = [Answered(call.id, results[call.tool]) for call in asked]
    scenario.plays(DONE)

    run = server.ask(question, setup=BARE, before=(rules,), after=(*asked, *answered))

    items = run.request(1).request.items
    tools = {item.id: item.tool for item in items if isinstance(item, Asked)}
    got = {tools.get(item.id, ""): item.text for item in items if isinstance(item, Answered)}
    assert results == got, f"the client sends the results {plain(results)}, and the model gets {plain(got)}"
    _gets(run, rules.text, "the instructions of the client")
    assert run.got.ok, f"the request with the results got {run.got}"
    assert DONE.text == run.got.text


@requirement("server-client-runs-the-next-round")
def test_text_beside_calls_of_the_client(scenario: Scenario, server: ServerUnderTest) -> None:
    """The turn that the client sends back has a text before its call: the model is asked with text, call and result."""
    question, text = "Please tell me the weather in Łódź, if you can.", "The okapi looks it up."
    scenario.plays(calls(LODZ, text=text))
    call = _handed_over(server.ask(question, setup=BARE))
    asked = Asked(call.id or "", call.tool, call.arguments)
    scenario.plays(DONE)

    run = server.ask(question, setup=BARE, after=(Said("assistant", text), asked, Answered(asked.id, SUNNY)))

    items = run.request(1).request.items
    assert [asked.tool] == [item.tool for item in items if isinstance(item, Asked)]
    assert [SUNNY] == [item.text for item in items if isinstance(item, Answered)]
    _gets(run, text, "the text that the client sends before its call")
    assert run.got.ok, f"the request with the result got {run.got}"
    assert DONE.text == run.got.text


@requirement("server-client-runs-the-next-round")
def test_instructions_in_their_own_form(scenario: Scenario, server: ServerUnderTest) -> None:
    """Instructions in `instructions` of Responses, in blocks of `system` or in parts of a message reach the model."""
    question = "Please tell me something."
    said = [{"role": "system", "content": BLOCKS}, {"role": "user", "content": question}]
    members: dict[str, dict[str, Any]] = {
        "openai-chat": {"messages": said},
        "openai-responses": {"instructions": RULES},
        "anthropic-messages": {"system": BLOCKS},
    }
    scenario.plays(DONE)

    run = server.ask(question, setup=BARE, members=members[server.implementation.cell.wire])

    _gets(run, RULES, "the instructions of the client")
    assert run.got.ok, f"the request with instructions got {run.got}"


def _gets(run: Run, text: str, what: str) -> None:
    """Assert that the model request has a text of the client, wherever."""
    assert text in run.request(1).raw.decode(errors="replace"), f"the model does not get {what}"


@requirement("server-client-side-path-is-standard")
def test_standard_flow(scenario: Scenario, server: ServerUnderTest) -> None:
    """Call and answer are replies of the wire; the first of them has the stop reason of a call."""
    scenario.plays(calls(LODZ))
    first = server.ask(setup=BARE)
    scenario.plays(DONE)
    second = server.ask(setup=BARE)

    _handed_over(first)
    for run in (first, second):
        found = schemas.stream_faults(run.got) if run.got.stream else schemas.reply_faults(run.got)
        assert [] == found, f"what the client got does not fit its schema: {schemas.in_words(found)}"
    assert ["calls", "end"] == [run.got.turn.stopped for run in (first, second)]


def _handed_over(run: Run) -> Call:
    """The first call that the client got. Raises NotReached if it got none."""
    returned = run.got.turn.calls
    if not returned:
        raise NotReached(f"the reply returns no call: {run.got}, with the text {run.got.text!r}")
    return returned[0]


def _said(call: Call) -> tuple[str, object]:
    return call.tool, as_json(call.arguments or "{}")


def _deltas(value: object) -> list[dict[str, Any]]:
    """The calls in a chunk."""
    choices = value.get("choices") or () if isinstance(value, dict) else ()
    found = [call for choice in choices for call in (choice.get("delta") or {}).get("tool_calls") or ()]
    return [call for call in found if isinstance(call, dict)]
