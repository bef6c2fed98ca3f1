"""Server-side loops: when the loop is entered, what a round is, and where it ends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from looptck.bench.assertions.tool_runs import model_calls
from looptck.bench.checks import control, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import PING, WEATHER, ServerUnderTest, tool
from looptck.values.history import Answered, Asked, Said, same_arguments
from looptck.values.plain import plain
from looptck.values.transcript import Received, ToolBegan
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

PARIS = Call.of("weather", {"city": "Paris"})
SUNNY = "It is sunny in Paris."


@requirement("server-tool-runs-and-the-request-goes-on")
@pytest.mark.parametrize("text", [None, "Let me look. "], ids=["call-alone", "text-beside"])
def test_one_round(scenario: Scenario, server: ServerUnderTest, text: str | None) -> None:
    """The reply to the request is the answer that follows the tool round."""
    scenario.plays(calls(PARIS, text=text), says(SUNNY))

    run = server.ask()

    assert run.got.ok, f"the request got {run.got}"
    assert [("weather", {"city": "Paris"})] == run.tools_ran
    assert (run.got.text or "").endswith(SUNNY), f"the client got {run.got.text!r}"


@requirement("server-run-calls-stay-in-the-server")
def test_calls_of_the_server(scenario: Scenario, server: ServerUnderTest) -> None:
    """Neither a reply nor a stream returns the call that the server ran; progress events and records are not calls."""
    scenario.plays(calls(PARIS), says(SUNNY))

    run = server.ask()

    control(run, "weather")
    sent = [event.value for event in run.got.own] if run.got.stream else [run.got.body]
    assert SUNNY == run.got.text
    assert [] == [call for one in sent for call in _handed(one)]


def _handed(value: Any) -> Iterator[Any]:
    """The calls that a reply or an event returns to its client, on any wire; records are skipped."""
    if isinstance(value, dict):
        if value.get("type") in {"tool_use", "function_call"}:
            yield value
        for name, inner in value.items():
            if name == "tool_calls" and inner:
                yield inner
            elif name not in {"agentic_tool_calls", "tools"}:
                yield from _handed(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _handed(inner)


@requirement("server-no-call-no-tool")
def test_no_call(scenario: Scenario, server: ServerUnderTest) -> None:
    """An immediate answer has no tool run, record or progress; the same request with a call does run the tool."""
    scenario.plays(calls(PARIS), says(SUNNY))
    control(server.ask(), "weather")
    scenario.plays(says("Hello."))

    run = server.ask()

    server.reached(run, 1)
    assert "Hello." == run.got.text
    assert [] == run.tools_ran
    assert [] == (run.got.progress if run.got.stream else list(run.got.records))
    server.implementation.diverges("entry", "every-request" if run.got.session else "model-calls")


@requirement("server-dispatched-tools-are-advertised")
def test_offered_tools(scenario: Scenario, server: ServerUnderTest) -> None:
    """The first model request offers the request's tools as the client described them."""
    scenario.plays(says("Hello."))

    run = server.ask()

    offered = {one.name: (one.description, one.parameters) for one in run.request(1).request.tools}
    wanted = {one.name: (one.description, one.parameters) for one in (PING, WEATHER)}
    assert wanted == {name: offered.get(name) for name in wanted}


@requirement("server-dispatched-tools-are-advertised")
def test_offered_again(scenario: Scenario, server: ServerUnderTest) -> None:
    """The model requests behind two rounds offer the tools that the first one offers."""
    scenario.plays(calls(Call.of("ping")), calls(Call.of("weather", {"city": "Paris"})), says("Done."))

    run = server.ask()

    run.request(3)
    first, *later = [
        {one.name for one in received.request.tools} & {PING.name, WEATHER.name} for received in run.requests
    ]
    for n, offered in enumerate(later, 2):
        missing = ", ".join(sorted(first - offered))
        assert not missing, (
            f"model request 1 offers the tools {', '.join(sorted(first))}, and request {n} lacks {missing}"
        )


@requirement("server-round-asks-the-model-once")
def test_five_rounds(scenario: Scenario, server: ServerUnderTest) -> None:
    """Model requests and tool runs alternate, and the last model request leads to the answer."""
    cities = ["Paris", "Oslo", "Rome", "Łódź", "Bern"]
    scenario.plays(*(calls(Call.of("weather", {"city": city})) for city in cities), says("Done."))

    run = server.ask()

    run.request(2)
    happened = [event for event in run.transcript.events if isinstance(event, Received | ToolBegan)]
    wanted = ["question", *(step for city in cities for step in ({"city": city}, "question"))]
    assert wanted == [event.arguments if isinstance(event, ToolBegan) else "question" for event in happened]


@requirement("server-answer-ends-the-loop")
@pytest.mark.parametrize("answer", ["Done.", "Shall I look for more?", ""], ids=["text", "question", "empty"])
def test_turn_left_over(scenario: Scenario, server: ServerUnderTest, answer: str) -> None:
    """The script has another turn, but the model is not asked for it."""
    scenario.plays(calls(PARIS), says(answer), says("Nobody asked."))

    run = server.ask()

    run.delivered(2)
    model_calls(run, 2)
    assert answer == (run.got.text or "")


LONG = {
    "latin": "All is well. " * 250,
    "beyond-ascii": "Łódź, 東京 and Paris — 🌞\n" * 130,
    "quotes": 'He said: "\\n is no line." ' * 120,
}


@requirement("server-answer-is-forwarded")
@pytest.mark.parametrize("answer", LONG.values(), ids=LONG)
def test_long_answer(scenario: Scenario, server: ServerUnderTest, answer: str) -> None:
    """The whole text of a long answer arrives."""
    scenario.plays(calls(PARIS), says(answer))

    run = server.ask()

    server.reached(run, 2)
    assert run.got.ok, f"the request got {run.got}"
    assert answer == run.got.text
    assert "end" == run.got.turn.stopped


@requirement("server-answer-is-forwarded")
def test_cut_answer(scenario: Scenario, server: ServerUnderTest) -> None:
    """An answer that the token limit cut has the corresponding stop reason."""
    scenario.plays(calls(PARIS), says("It is sunny in", stop="length"))

    run = server.ask()

    server.reached(run, 2)
    assert run.got.ok, f"the request got {run.got}"
    assert ("It is sunny in", "length") == (run.got.text, run.got.turn.stopped)


@requirement("server-first-of-several-calls-runs")
def test_first_of_several_calls(scenario: Scenario, server: ServerUnderTest) -> None:
    """The first of three calls in one turn runs; the second tool runs if it is called alone."""
    oslo = Call.of("weather", {"city": "Oslo"})
    scenario.plays(calls(Call.of("ping")), says("Done."))
    control(server.ask(), "ping")
    scenario.plays(calls(PARIS, Call.of("ping"), oslo), says("Done."))

    run = server.ask()

    server.reached(run, 2)
    server.implementation.diverges("several_calls", "all" if len(run.ran) == 3 else "first-only")
    assert [("weather", {"city": "Paris"})] == run.tools_ran, (
        f"of the three calls of a turn the first runs, which is weather for Paris; what ran is {plain(run.tools_ran)}"
    )


@requirement("server-history-gets-call-and-result")
def test_call_and_result(scenario: Scenario, server: ServerUnderTest) -> None:
    """The second model request ends in the model's call, as written, and its result under the same id."""
    scenario.plays(calls(PARIS, text="Let me look. "), says(SUNNY))

    run = server.ask()

    added = run.added(1)[-2:]
    assert [Asked, Answered] == [type(one) for one in added], f"the second model request ends in {added}"
    asked, answered = added
    assert isinstance(asked, Asked)
    assert isinstance(answered, Answered)
    assert "weather" == asked.tool
    assert same_arguments(PARIS.arguments, asked.arguments), f"the call is echoed with {asked.arguments}"
    assert (asked.id, "result 1 of weather") == (answered.id, answered.text)
    _record(server, run, asked)


def _record(server: ServerUnderTest, run: Run, asked: Asked) -> None:
    """Record the details of the two messages that documents leave open."""
    (call,) = run.delivered(1).calls
    content = next(one for one in run.request(2).body["messages"] if one.get("tool_calls")).get("content")
    words = {None: "null", "": "empty-text"}
    server.implementation.diverges("history_content_beside_a_call", words.get(content, "text-of-the-turn"))
    server.implementation.diverges("call_ids", "the-models-own" if asked.id == call.id else "its-own")


@requirement("server-history-only-grows")
def test_growing_history(scenario: Scenario, server: ServerUnderTest) -> None:
    """The first of four model requests has the client's messages, and each other begins with all of the one before."""
    before = [Said("system", "Be brief."), Said("user", "Hello."), Said("assistant", "Hello. What is it?")]
    scenario.plays(*(calls(Call.of("weather", {"city": city})) for city in ("Paris", "Oslo", "Rome")), says("Done."))

    run = server.ask(before=before)

    first = run.request(1).raw.decode(errors="replace")
    lost = [one.text for one in before if one.text not in first]
    assert not lost, f"the first model request lacks what the client says: {', '.join(lost)}"
    run.delivered(4)
    sent = [run.request(n).body["messages"] for n in range(1, 5)]
    for earlier, later in pairwise(sent):
        assert earlier == later[: len(earlier)]


ODD = tool("get-weather_2", city="string")


@requirement("server-dispatch-url-gets-the-call")
@pytest.mark.parametrize("offered", [WEATHER, ODD], ids=lambda offered: offered.name)
def test_posted_call(scenario: Scenario, server: ServerUnderTest, offered: Any) -> None:
    """A call of a tool that only the endpoint has is posted there, whatever the tool's name."""
    scenario.plays(calls(Call.of(offered.name, {"city": "Paris"})), says(SUNNY))

    run = server.ask(tools=[offered])

    if server.can("upstream"):
        run.delivered(1)
    posted = [event.tool for event in run.transcript.events if isinstance(event, ToolBegan) and event.dispatched]
    assert [offered.name] == posted, f"the client got {run.got}"


@requirement("server-call-runs-once")
@pytest.mark.parametrize("result", ["sunny", ""], ids=["result", "empty-result"])
def test_one_post(scenario: Scenario, server: ServerUnderTest, result: str) -> None:
    """One call leads to one POST, with the arguments that the model wrote."""
    where = {"city": "Łódź", "near": {"lat": 51.77, "names": ["Lodz", "ロヅ"], "sure": True, "note": None}}
    scenario.plays(calls(Call.of("weather", where)), says(SUNNY))
    scenario.returns("weather", result)

    run = server.ask()

    server.reached(run, 2)
    if not run.ran:
        raise NotReached(f"nothing was posted; the client got {run.got}")
    assert [("weather", where)] == run.tools_ran
