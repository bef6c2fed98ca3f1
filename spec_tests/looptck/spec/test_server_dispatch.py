"""Server-side loops: what is posted to the dispatch URL, and what becomes of what it answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from looptck.checks import requirement
from looptck.guest import Guest, open_tool
from looptck.history import Answered, same_value
from looptck.kit import Scene
from looptck.provider.toolbox import Answers, Behaviour, HangsUp
from looptck.run import Run
from looptck.spec import strategies
from looptck.transcript import Stray, ToolBegan
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

PARIS = Call.of("weather", {"city": "Paris"})
NOTE = open_tool("note")


def _result(guest: Guest, provider: Scene, behaviour: Behaviour) -> str:
    """The result in the second question, for what the endpoint answers."""
    provider.plays(calls(PARIS), says("Done."))
    provider.does("weather", behaviour)
    run = guest.ask()
    results = [one.text for one in run.added(1) if isinstance(one, Answered)]
    assert 1 == len(results), f"the next question has {len(results)} results of one call"
    return results[0]


@requirement("server-dispatch-body-is-name-and-arguments")
def test_posted_body(provider: Scene, guest: Guest) -> None:
    """A JSON object with the tool's name and the arguments as a value, and nothing else."""
    provider.plays(calls(PARIS), says("Done."))

    run = guest.ask()

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
def test_content(provider: Scene, guest: Guest, more: dict[str, Any]) -> None:
    """The text under content is the result, and what stands beside it is not."""
    body = json.dumps({**more, "content": "sunny, 21 °C"}).encode()

    assert "sunny, 21 °C" == _result(guest, provider, Answers(body=body))


@requirement("server-dispatch-bare-text-is-the-result")
@pytest.mark.parametrize("text", ["sunny", "21 °C\nand dry"], ids=["word", "lines"])
def test_bare_text(provider: Scene, guest: Guest, text: str) -> None:
    """A body that is no JSON is the result as it stands; what becomes of a quoted text is left open."""
    quoted = _result(guest, provider, Answers(body=b'"sunny"'))
    words = {'"sunny"': "verbatim", "sunny": "json-text-unquoted"}
    guest.implementation.diverges("dispatch_other_bodies", words.get(quoted, "other"))

    assert text == _result(guest, provider, Answers(body=text.encode(), type="text/plain; charset=utf-8"))


@requirement("server-dispatch-url-is-not-the-requests")
def test_url_in_the_request(provider: Scene, guest: Guest) -> None:
    """A request that names another URL is refused, or its calls are posted where the server was told to."""
    provider.plays(calls(PARIS), says("Done."))

    run = guest.ask(members={"tool_dispatch_url": guest.elsewhere})

    strays = [event.path for event in run.transcript.events if isinstance(event, Stray)]
    assert [] == [path for path in strays if "elsewhere" in path], "the call was posted where the request had said"
    if run.got.error is None:
        _posted(run)
    guest.implementation.diverges("tool_dispatch_url of a request", "refused" if run.got.error else "ignored")


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


@requirement("server-odd-dispatch-bodies-are-results")
@pytest.mark.parametrize("answer", ODD.values(), ids=ODD)
def test_odd_body(provider: Scene, guest: Guest, answer: Behaviour) -> None:
    """Whatever the endpoint answers, the model has one result, and the client its answer."""
    provider.plays(calls(PARIS), says("Done."))
    provider.does("weather", answer)

    run = guest.ask()

    _posted(run)
    assert run.got.ok, f"the client got {run.got}"
    assert "Done." == run.got.text
    if guest.can("upstream"):
        results = [item for item in run.added(1) if isinstance(item, Answered)]
        assert 1 == len(results), f"the next question has {len(results)} results"


@requirement("server-arguments-arrive-whatever-their-shape")
def test_any_arguments(provider: Scene, guest: Guest) -> None:
    """The endpoint gets the JSON value that the model wrote, however it spelled it."""

    @guest.implementation.every(strategies.argument_texts(), first={"written": '{"a": null, "b": [1e2, "Łódź"]}'})
    def holds(written: str) -> None:
        provider.plays(calls(Call("note", written)), says("Noted."))

        run = guest.ask(tools=[NOTE])

        body = _posted(run)[0].body
        arguments = body.get("arguments") if isinstance(body, dict) else body
        assert same_value(json.loads(written), arguments), f"{arguments} for {written}"


TEXTS = st.text(strategies.CHARACTERS, max_size=40)
LONG = st.builds(lambda text, times: text * times, TEXTS, st.sampled_from([1, 1, 10, 2_500]))


@requirement("server-results-arrive-unchanged")
def test_any_result(provider: Scene, guest: Guest) -> None:
    """The model reads the text that the endpoint has answered, of up to 100,000 characters."""

    @guest.implementation.every(LONG, first={"text": " " + "0123456789 é\n" * 7_500})
    def holds(text: str) -> None:
        provider.plays(calls(PARIS), says("Done."))
        provider.returns("weather", text)

        run = guest.ask()

        results = [item.text for item in run.added(1) if isinstance(item, Answered)]
        assert [len(text)] == [len(one) for one in results]
        assert [text] == results


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
def test_failing_tool(provider: Scene, guest: Guest, failure: Behaviour) -> None:
    """An error status becomes a result that tells of it, and the model goes on."""
    _fed_back(provider, guest, failure)


@requirement("server-broken-dispatch-is-fed-back")
@pytest.mark.parametrize("failure", BREAKS.values(), ids=BREAKS)
def test_broken_dispatch(provider: Scene, guest: Guest, failure: Behaviour) -> None:
    """A connection that breaks becomes a result that tells of it, and the model goes on."""
    _fed_back(provider, guest, failure)


TELLS = ("error", "fail", "http", "status", "could not", "cannot", "unavailable", "not found")


def _fed_back(provider: Scene, guest: Guest, failure: Behaviour) -> None:
    provider.plays(calls(PARIS), says("Sorry."))
    provider.does("weather", failure)

    run = guest.ask()

    if not run.ran:
        raise NotReached(f"nothing was posted; the client got {run.got}")
    assert run.got.ok, f"the client got {run.got}"
    assert "Sorry." == run.got.text
    if guest.can("upstream"):
        results = [item.text for item in run.added(1) if isinstance(item, Answered)]
        told = any(word in text.lower() for text in results for word in TELLS)
        assert told, f"no result tells the model of the failure: {results}"


@requirement("server-failing-tool-runs-once")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_failing_tool_runs_once(provider: Scene, guest: Guest, failure: Behaviour) -> None:
    """A POST that is answered with an error is not repeated."""
    provider.plays(calls(PARIS), says("Sorry."))
    provider.does("weather", failure)

    run = guest.ask()

    guest.reached(run, 2)
    assert [("weather", {"city": "Paris"})] == run.tools_ran


@requirement("server-failing-tool-counts-as-a-round")
def test_failing_rounds(provider: Scene, guest: Guest) -> None:
    """Two failures use a cap of two up, and each has its record, or its events."""
    provider.always(lambda n: calls(Call.of("weather", {"city": f"city {n}"})), most=6)
    provider.does("weather", FAILURES["500"])

    run = guest.ask(rounds=2)

    if not run.ran:
        raise NotReached(f"nothing was posted; the client got {run.got}")
    assert 2 == len(run.ran)
    if run.got.stream:
        assert ["calling", "complete"] * 2 == [one.phase for one in run.got.progress]
    else:
        assert ["weather"] * 2 == [one.get("name") for one in run.got.records]
