"""Server-side loops: calls that are posted to the dispatch URL, and how the endpoint's answers are used."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from looptck.bench.checks import refusable, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest, open_tool
from looptck.provider.toolbox import Answers, Behaviour, HangsUp
from looptck.spec import strategies
from looptck.values.history import Answered, same_value
from looptck.values.plain import cut, plain
from looptck.values.transcript import UNREADABLE_CALL, ToolBegan, UnroutedRequest
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

PARIS = Call.of("weather", {"city": "Paris"})
NOTE = open_tool("note")


def _result(server: ServerUnderTest, scenario: Scenario, behaviour: Behaviour) -> str:
    """The result in the second model request, for this answer of the endpoint."""
    scenario.plays(calls(PARIS), says("Done."))
    scenario.does("weather", behaviour)
    run = server.ask()
    results = [one.text for one in run.added(1) if isinstance(one, Answered)]
    assert 1 == len(results), f"the next model request has {len(results)} results of one call"
    return results[0]


@requirement("server-dispatch-body-is-name-and-arguments")
def test_posted_body(scenario: Scenario, server: ServerUnderTest) -> None:
    """The body is a JSON object with the tool's name and the arguments as a value, and nothing else."""
    scenario.plays(calls(PARIS), says("Done."))

    run = server.ask()

    strays = [event for event in run.transcript.events if isinstance(event, UnroutedRequest)]
    assert [] == [event.why for event in strays if event.path == UNREADABLE_CALL], (
        f"the body of the POST to the dispatch URL has no name and arguments: {strays[0].why}"
    )
    posted = _posted(run)
    assert [{"name": "weather", "arguments": {"city": "Paris"}}] == [one.body for one in posted]
    assert ["application/json"] == [one.type.partition(";")[0].strip() for one in posted]


def _posted(run: Run) -> list[Any]:
    posted = [event.dispatched for event in run.transcript.events if isinstance(event, ToolBegan) and event.dispatched]
    if len(posted) != 1:
        raise NotReached(f"{len(posted)} calls were posted; the client got {run.got}")
    return posted


@requirement("server-dispatch-content-is-the-result")
@pytest.mark.parametrize("more", [{}, {"status": "ok", "seconds": 0.5}], ids=["alone", "beside-others"])
def test_content(scenario: Scenario, server: ServerUnderTest, more: dict[str, Any]) -> None:
    """The text under content is the result, and no other member is."""
    body = json.dumps({**more, "content": "sunny, 21 °C"}).encode()

    assert "sunny, 21 °C" == _result(server, scenario, Answers(body=body))


@requirement("server-dispatch-bare-text-is-the-result")
@pytest.mark.parametrize("text", ["sunny", "21 °C\nand dry"], ids=["word", "lines"])
def test_bare_text(scenario: Scenario, server: ServerUnderTest, text: str) -> None:
    """A body that is not JSON is the result as it is; the effect of a JSON string is left open."""
    quoted = _result(server, scenario, Answers(body=b'"sunny"'))
    words = {'"sunny"': "verbatim", "sunny": "json-text-unquoted"}
    server.implementation.diverges("dispatch_other_bodies", words.get(quoted, "other"))

    assert text == _result(server, scenario, Answers(body=text.encode(), type="text/plain; charset=utf-8"))


@requirement("server-dispatch-url-is-not-the-requests")
@refusable("A server may hand members that it does not know to its model, which knows no tool_dispatch_url.")
def test_url_in_the_request(scenario: Scenario, server: ServerUnderTest) -> None:
    """A request that names another URL is refused, or its calls are posted to the configured URL."""
    scenario.plays(calls(PARIS), says("Done."))

    run = server.ask(members={"tool_dispatch_url": server.elsewhere})

    strays = [event.path for event in run.transcript.events if isinstance(event, UnroutedRequest)]
    assert [] == [path for path in strays if "elsewhere" in path], "the call was posted to the URL in the request"
    if run.got.error is None:
        _posted(run)
    server.implementation.diverges("tool_dispatch_url of a request", "refused" if run.got.error else "ignored")


ODD = {
    "empty": Answers(body=b""),
    "null": Answers(body=b"null"),
    "list": Answers(body=b'["sunny", 21]'),
    "number": Answers(body=b"21"),
    "no-content": Answers(body=b'{"weather": "sunny"}'),
    "content-object": Answers(body=b'{"content": {"weather": "sunny"}}'),
    "content-null": Answers(body=b'{"content": null}'),
    "no-utf-8": Answers(body=b"sunny \xff\xfe\x80", type="text/plain"),
    "no-json": Answers(body=b'{"content": "sun'),
    "no-text": Answers(status=204),
}

NOTHING = frozenset({"", "undefined", "[object Object]", "null", "None", "nil", "{}"})
"""Texts that remain of an answer if what it says was lost."""


@requirement("server-odd-dispatch-bodies-are-results")
@pytest.mark.parametrize("answer", ODD.values(), ids=ODD)
def test_odd_body(scenario: Scenario, server: ServerUnderTest, answer: Behaviour) -> None:
    """Whatever the endpoint answers, the model gets one result that says something, and the client gets its answer."""
    scenario.plays(calls(PARIS), says("Done."))
    scenario.does("weather", answer)

    run = server.ask()

    _posted(run)
    assert run.got.ok, f"the client got {run.got}"
    assert "Done." == run.got.text
    if server.can("upstream"):
        results = [item for item in run.added(1) if isinstance(item, Answered)]
        assert 1 == len(results), f"the next model request has {len(results)} results"
        if isinstance(answer, Answers) and b"sunny" in answer.body:
            read = results[0].text.strip().strip('"')
            assert read not in NOTHING, (
                f"the endpoint answered {answer.body.decode(errors='replace')}, and the model reads {read!r}"
            )


@requirement("server-arguments-arrive-whatever-their-shape")
def test_any_arguments(scenario: Scenario, server: ServerUnderTest) -> None:
    """The endpoint gets the JSON value that the model wrote, in whatever spelling."""

    @server.implementation.every(strategies.argument_texts(), first={"written": '{"a": null, "b": [1e2, "Łódź"]}'})
    def holds(written: str) -> None:
        scenario.plays(calls(Call("note", written)), says("Noted."))

        run = server.ask(tools=[NOTE])

        body = _posted(run)[0].body
        arguments = body.get("arguments") if isinstance(body, dict) else body
        assert same_value(json.loads(written), arguments), f"{arguments} was posted for {written}"


TEXTS = st.text(strategies.CHARACTERS, max_size=40)
LONG = st.builds(lambda text, times: text * times, TEXTS, st.sampled_from([1, 1, 10, 2_500]))


@requirement("server-results-arrive-unchanged")
def test_any_result(scenario: Scenario, server: ServerUnderTest) -> None:
    """The model reads the text of the endpoint's answer, up to 100,000 characters."""

    @server.implementation.every(LONG, first={"text": " " + "0123456789 é\n" * 7_500})
    def holds(text: str) -> None:
        scenario.plays(calls(PARIS), says("Done."))
        scenario.returns("weather", text)

        run = server.ask()

        results = [item.text for item in run.added(1) if isinstance(item, Answered)]
        assert 1 == len(results), f"the next model request has {len(results)} results of one call"
        got = results[0]
        assert len(text) == len(got), (
            f"of a result of {len(text)} characters the model gets {len(got)}: {cut(got, 100)!r}"
        )
        assert text == got


FAILURES = {
    "500": Answers(500, b'{"detail": "out of order"}'),
    "503": Answers(503, b"out of order", "text/plain"),
    "404": Answers(404, b"", "text/plain"),
}
BREAKS = {
    "hangs-up": HangsUp(),
    "cut": Answers(body=b'{"content": "sun', broken=True),
}


@requirement("server-failing-tool-is-fed-back")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_failing_tool(scenario: Scenario, server: ServerUnderTest, failure: Behaviour) -> None:
    """An error status becomes a result that reports it, and the model continues."""
    _fed_back(scenario, server, failure)


@requirement("server-broken-dispatch-is-fed-back")
@pytest.mark.parametrize("failure", BREAKS.values(), ids=BREAKS)
def test_broken_dispatch(scenario: Scenario, server: ServerUnderTest, failure: Behaviour) -> None:
    """A broken connection becomes a result that reports it, and the model continues."""
    _fed_back(scenario, server, failure)


FAILURE_WORDS = ("error", "fail", "http", "status", "could not", "cannot", "unavailable", "not found")


def _fed_back(scenario: Scenario, server: ServerUnderTest, failure: Behaviour) -> None:
    scenario.plays(calls(PARIS), says("Sorry."))
    scenario.does("weather", failure)

    run = server.ask()

    if not run.ran:
        raise NotReached(f"nothing was posted; the client got {run.got}")
    assert run.got.ok, f"the client got {run.got}"
    assert "Sorry." == run.got.text
    if server.can("upstream"):
        results = [item.text for item in run.added(1) if isinstance(item, Answered)]
        reported = any(word in text.lower() for text in results for word in FAILURE_WORDS)
        assert reported, f"no result reports the failure to the model: {plain(results)}"


@requirement("server-failing-tool-runs-once")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_failing_tool_runs_once(scenario: Scenario, server: ServerUnderTest, failure: Behaviour) -> None:
    """A POST that is answered with an error is not repeated."""
    scenario.plays(calls(PARIS), says("Sorry."))
    scenario.does("weather", failure)

    run = server.ask()

    server.reached(run, 2)
    assert [("weather", {"city": "Paris"})] == run.tools_ran


@requirement("server-failing-tool-counts-as-a-round")
def test_failing_rounds(scenario: Scenario, server: ServerUnderTest) -> None:
    """Two failures use up a cap of two, and each has its record, or its events.

    The cap itself may be an error, which has no records: there an answer follows the two failures.
    """
    scenario.always(lambda n: calls(Call.of("weather", {"city": f"city {n}"})), most=6)
    scenario.does("weather", FAILURES["500"])

    run = server.ask(rounds=2)

    if not run.ran:
        raise NotReached(f"nothing was posted; the client got {run.got}")
    assert 2 == len(run.ran), f"the request allows two rounds, and {len(run.ran)} calls, which all fail, were posted"
    if run.got.stream:
        assert ["calling", "complete"] * 2 == [one.phase for one in run.got.progress]
    else:
        if run.got.error is not None:
            scenario.plays(*(calls(Call.of("weather", {"city": f"town {n}"})) for n in range(2)), says("Sorry."))
            run = server.ask(rounds=2)
            server.reached(run, 3)
        recorded = [one.get("name") for one in run.got.records]
        assert ["weather"] * 2 == recorded, f"two calls of weather failed, and the reply records {plain(recorded)}"
