"""Server-side loops: when the loop is entered, what a round is, and where it ends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from looptck.checks import control, requirement
from looptck.guest import PING, WEATHER, Guest, tool
from looptck.history import Answered, Asked, Said, same_arguments
from looptck.kit import Scene
from looptck.run import Run
from looptck.transcript import Received, ToolBegan
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

PARIS = Call.of("weather", {"city": "Paris"})
SUNNY = "It is sunny in Paris."


@requirement("server-tool-runs-and-the-request-goes-on")
@pytest.mark.parametrize("beside", [None, "Let me look. "], ids=["call-alone", "text-beside"])
def test_one_round(provider: Scene, guest: Guest, beside: str | None) -> None:
    """The reply to the request that led to a call is the answer behind it."""
    provider.plays(calls(PARIS, text=beside), says(SUNNY))

    run = guest.ask()

    assert run.got.ok, f"the request got {run.got}"
    assert [("weather", {"city": "Paris"})] == run.tools_ran
    assert (run.got.text or "").endswith(SUNNY), f"the client got {run.got.text!r}"


@requirement("server-run-calls-stay-in-the-server")
def test_calls_of_the_server(provider: Scene, guest: Guest) -> None:
    """Neither a reply nor anything in a stream has the call that was run; what is told of its progress is no call."""
    provider.plays(calls(PARIS), says(SUNNY))

    run = guest.ask()

    control(run, "weather")
    told = [event.value for event in run.got.own] if run.got.stream else [run.got.body]
    assert SUNNY == run.got.text
    assert [] == [call for one in told for call in _handed(one)]


def _handed(value: Any) -> Iterator[Any]:
    """The calls that a reply or an event hands to its client, on any wire; records are not looked into."""
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
def test_no_call(provider: Scene, guest: Guest) -> None:
    """An answer at once comes with no run, no record and no progress; the same question with a call does run one."""
    provider.plays(calls(PARIS), says(SUNNY))
    control(guest.ask(), "weather")
    provider.plays(says("Hello."))

    run = guest.ask()

    guest.reached(run, 1)
    assert "Hello." == run.got.text
    assert [] == run.tools_ran
    assert [] == (run.got.progress if run.got.stream else list(run.got.records))
    guest.implementation.diverges("entry", "every-request" if run.got.session else "model-calls")


@requirement("server-dispatched-tools-are-advertised")
def test_offered_tools(provider: Scene, guest: Guest) -> None:
    """The first question offers the tools of the request as the client described them."""
    provider.plays(says("Hello."))

    run = guest.ask()

    offered = {one.name: (one.description, one.parameters) for one in run.request(1).request.tools}
    wanted = {one.name: (one.description, one.parameters) for one in (PING, WEATHER)}
    assert wanted == {name: offered.get(name) for name in wanted}


@requirement("server-round-asks-the-model-once")
def test_five_rounds(provider: Scene, guest: Guest) -> None:
    """Questions and runs take turns, and the last question leads to the answer."""
    cities = ["Paris", "Oslo", "Rome", "Łódź", "Bern"]
    provider.plays(*(calls(Call.of("weather", {"city": city})) for city in cities), says("Done."))

    run = guest.ask()

    run.request(2)
    happened = [event for event in run.transcript.events if isinstance(event, Received | ToolBegan)]
    wanted = ["question", *(step for city in cities for step in ({"city": city}, "question"))]
    assert wanted == [event.arguments if isinstance(event, ToolBegan) else "question" for event in happened]


@requirement("server-answer-ends-the-loop")
@pytest.mark.parametrize("answer", ["Done.", "Shall I look for more?", ""], ids=["text", "question", "empty"])
def test_turn_left_over(provider: Scene, guest: Guest, answer: str) -> None:
    """The model would have said more, and is not asked."""
    provider.plays(calls(PARIS), says(answer), says("Nobody asked."))

    run = guest.ask()

    run.delivered(2)
    assert 2 == len(run.requests)
    assert answer == (run.got.text or "")


LONG = {
    "latin": "All is well. " * 250,
    "beyond-ascii": "Łódź, 東京 and Paris — 🌞\n" * 130,
    "quotes": 'He said: "\\n is no line." ' * 120,
}


@requirement("server-answer-is-forwarded")
@pytest.mark.parametrize("answer", LONG.values(), ids=LONG)
def test_long_answer(provider: Scene, guest: Guest, answer: str) -> None:
    """The whole text arrives."""
    provider.plays(calls(PARIS), says(answer))

    run = guest.ask()

    guest.reached(run, 2)
    assert run.got.ok, f"the request got {run.got}"
    assert answer == run.got.text
    assert "end" == run.got.turn.stopped


@requirement("server-answer-is-forwarded")
def test_cut_answer(provider: Scene, guest: Guest) -> None:
    """An answer that the token limit cut says so."""
    provider.plays(calls(PARIS), says("It is sunny in", stop="length"))

    run = guest.ask()

    guest.reached(run, 2)
    assert run.got.ok, f"the request got {run.got}"
    assert ("It is sunny in", "length") == (run.got.text, run.got.turn.stopped)


@requirement("server-first-of-several-calls-runs")
def test_first_of_several_calls(provider: Scene, guest: Guest) -> None:
    """Of three calls in one turn the first is run; the second runs where it stands alone."""
    oslo = Call.of("weather", {"city": "Oslo"})
    provider.plays(calls(Call.of("ping")), says("Done."))
    control(guest.ask(), "ping")
    provider.plays(calls(PARIS, Call.of("ping"), oslo), says("Done."))

    run = guest.ask()

    guest.reached(run, 2)
    guest.implementation.diverges("several_calls", "all" if len(run.ran) == 3 else "first-only")
    assert [("weather", {"city": "Paris"})] == run.tools_ran


@requirement("server-history-gets-call-and-result")
def test_call_and_result(provider: Scene, guest: Guest) -> None:
    """The second question ends in the call, with what the model wrote, and its result under the same id."""
    provider.plays(calls(PARIS, text="Let me look. "), says(SUNNY))

    run = guest.ask()

    added = run.added(1)[-2:]
    assert [Asked, Answered] == [type(one) for one in added], f"the second question ends in {added}"
    asked, answered = added
    assert isinstance(asked, Asked)
    assert isinstance(answered, Answered)
    assert "weather" == asked.tool
    assert same_arguments(PARIS.arguments, asked.arguments), f"the call is echoed with {asked.arguments}"
    assert (asked.id, "result 1 of weather") == (answered.id, answered.text)
    _record(guest, run, asked)


def _record(guest: Guest, run: Run, asked: Asked) -> None:
    """What documents leave open about the two messages."""
    (call,) = run.delivered(1).calls
    content = next(one for one in run.request(2).body["messages"] if one.get("tool_calls")).get("content")
    words = {None: "null", "": "empty-text"}
    guest.implementation.diverges("history_content_beside_a_call", words.get(content, "text-of-the-turn"))
    guest.implementation.diverges("call_ids", "the-models-own" if asked.id == call.id else "its-own")


@requirement("server-history-only-grows")
def test_growing_history(provider: Scene, guest: Guest) -> None:
    """Of four questions each begins with all messages of the one before it, the client's own among them."""
    before = [Said("system", "Be brief."), Said("user", "Hello."), Said("assistant", "Hello. What is it?")]
    provider.plays(*(calls(Call.of("weather", {"city": city})) for city in ("Paris", "Oslo", "Rome")), says("Done."))

    run = guest.ask(before=before)

    run.delivered(4)
    told = [run.request(n).body["messages"] for n in range(1, 5)]
    for earlier, later in pairwise(told):
        assert earlier == later[: len(earlier)]


ODD = tool("get-weather_2", city="string")


@requirement("server-dispatch-url-gets-the-call")
@pytest.mark.parametrize("offered", [WEATHER, ODD], ids=lambda offered: offered.name)
def test_posted_call(provider: Scene, guest: Guest, offered: Any) -> None:
    """A call of a tool that only the endpoint holds is posted there, whatever the tool is called."""
    provider.plays(calls(Call.of(offered.name, {"city": "Paris"})), says(SUNNY))

    run = guest.ask(tools=[offered])

    if guest.can("upstream"):
        run.delivered(1)
    posted = [event.tool for event in run.transcript.events if isinstance(event, ToolBegan) and event.dispatched]
    assert [offered.name] == posted, f"the client got {run.got}"


@requirement("server-call-runs-once")
@pytest.mark.parametrize("result", ["sunny", ""], ids=["result", "empty-result"])
def test_one_post(provider: Scene, guest: Guest, result: str) -> None:
    """One call is one POST, with the arguments that the model wrote."""
    where = {"city": "Łódź", "near": {"lat": 51.77, "names": ["Lodz", "ロヅ"], "sure": True, "note": None}}
    provider.plays(calls(Call.of("weather", where)), says(SUNNY))
    provider.returns("weather", result)

    run = guest.ask()

    guest.reached(run, 2)
    if not run.ran:
        raise NotReached(f"nothing was posted; the client got {run.got}")
    assert [("weather", where)] == run.tools_ran
