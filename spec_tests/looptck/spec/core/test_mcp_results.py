"""What the model reads of the results of MCP tools: texts, structured content, other parts, and errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from looptck.bench.assertions.failure_texts import tells_of_failure
from looptck.bench.assertions.results import answered_once, failed_results
from looptck.bench.checks import Implementation, Liveness, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.mcp import Server
from looptck.provider.mcp.content import Part, embedded, image, link
from looptck.provider.mcp.speaking import PARAMETERS
from looptck.provider.mcp_results import Behaviour, Content, HangsUp, RpcError
from looptck.spec.picturing import RED, carried, spelled
from looptck.spec.serving import HIGH, TOMORROW, TOWN, answer, served
from looptck.values.history import Said, holds, leaves
from looptck.values.turns import calls
from looptck.values.verdicts import NotApplicable

STREAMS = Server(tools=TOWN.tools, streams=True)
SAID = "Rain in the morning, sun at noon."
LATER = "In the evening «fog» comes from the sea: 3 °C, \U0001f32b."
THIRD = "No ship comes in before six."
CLOSED = "The harbour office is closed until noon."


@requirement("mcp-text-reaches-the-model")
@pytest.mark.parametrize("texts", [(SAID,), (SAID, LATER), (LATER, SAID, THIRD)], ids=["one", "two", "three"])
def test_texts(scenario: Scenario, implementation: Implementation, texts: tuple[str, ...]) -> None:
    """Each text of a result reaches the model."""
    run = served(scenario, implementation, calls(TOMORROW), forecast=Content.of(*texts))

    _all_there(answer(run).text, texts)


def _all_there(found: str, texts: tuple[str, ...]) -> None:
    for text in texts:
        assert holds(found, text), f"the tool has returned {text!r}, and the result is {found!r}"


STRUCTURED: dict[str, Any] = {"degrees": 22.5, "sky": "partly cloudy", "wind": {"from": "north-east", "knots": 12}}


@requirement("mcp-structured-content-reaches-the-model")
def test_structured_content(scenario: Scenario, implementation: Implementation) -> None:
    """A result has structured content alone: its names and values reach the model."""
    run = served(scenario, implementation, calls(TOMORROW), forecast=Content.of(structured=STRUCTURED))

    found = answer(run).text
    missing = [leaf for leaf in leaves(STRUCTURED) if leaf not in found]
    assert not missing, f"of the structured content {missing[0]!r} is missing; the result is {found!r}"


@requirement("mcp-embedded-text-reaches-the-model")
def test_embedded_text(scenario: Scenario, implementation: Implementation) -> None:
    """The text of a resource in a result reaches the model."""
    told = Content.of(embedded("file:///town/notes.txt", SAID))

    run = served(scenario, implementation, calls(TOMORROW), forecast=told)

    _all_there(answer(run).text, (SAID,))


OTHERS: dict[str, tuple[Part | str, ...]] = {
    "image": (image(RED),),
    "image-beside-text": (SAID, image(RED)),
    "link": (link("https://town.example/notes.txt", "notes.txt"),),
    "audio": ({"type": "audio", "data": RED.base64, "mimeType": "audio/wav"},),
}


@requirement("mcp-other-content-is-told")
@pytest.mark.parametrize("parts", OTHERS.values(), ids=OTHERS)
def test_other_content(scenario: Scenario, implementation: Implementation, parts: tuple[Part | str, ...]) -> None:
    """What is no text reaches the model, or the model or the caller learns that it does not."""
    run = served(scenario, implementation, calls(TOMORROW), forecast=Content.of(*parts))

    _others_are_told(run, parts)


@requirement("mcp-other-content-is-told")
def test_image_beside_structured_content(scenario: Scenario, implementation: Implementation) -> None:
    """An image beside structured content, which a client may prefer to all texts."""
    parts = (image(RED),)

    run = served(scenario, implementation, calls(TOMORROW), forecast=Content.of(*parts, structured=STRUCTURED))

    _others_are_told(run, parts, beside=leaves(STRUCTURED))


def _others_are_told(run: Run, parts: tuple[Part | str, ...], beside: Iterable[str] = ()) -> None:
    """Assert that what is no text arrives or is told to be left out, by words that are neither the texts' nor these."""
    run.tool_began("forecast")
    if run.failed and len(run.received) == 1:
        raise NotApplicable(f"the loop tells its caller: it {run.outcome}")
    if carried(run, 2) or _passed_on(run, parts):
        return
    left = answer(run).text
    for known in [*(part for part in parts if isinstance(part, str)), *beside]:
        left = left.replace(known, "")
    words = sum(sign.isalpha() for sign in left)
    assert words >= 4, f"nothing tells the model of {_kinds(parts)} in the result, which is {answer(run).text!r}"


def _passed_on(run: Run, parts: tuple[Part | str, ...]) -> bool:
    """Whether the next request has the address of a link, or the bytes of a sound, in whatever part it takes them."""
    others = [part for part in parts if not isinstance(part, str) and part["type"] != "image"]
    ours = [str(part.get("uri") or part["data"]) for part in others]
    sent = [*leaves(run.request(2).body)]
    return bool(ours) and all(any(one in text for text in sent) for one in ours)


def _kinds(parts: tuple[Part | str, ...]) -> str:
    return " and ".join(part["type"] for part in parts if not isinstance(part, str))


@requirement("mcp-image-is-never-text")
@pytest.mark.parametrize("parts", [(image(RED),), (SAID, image(RED))], ids=["alone", "beside-text"])
def test_image_is_no_text(scenario: Scenario, implementation: Implementation, parts: tuple[Part | str, ...]) -> None:
    """No text of any request spells out an image."""
    run = served(scenario, implementation, calls(TOMORROW), forecast=Content.of(*parts))

    run.tool_began("forecast")
    for received in run.requests:
        for item in received.request.items:
            how = spelled(item)
            assert not how, f"request {received.n} has {how}, as text, at {item.pointer}"


@requirement("mcp-empty-result-is-answered")
def test_empty_result(scenario: Scenario, implementation: Implementation) -> None:
    """A result without any part answers its call, alone and beside another."""
    run = served(scenario, implementation, calls(TOMORROW, HIGH), forecast=Content.of(), tides=Content.of(SAID))

    run.tool_began("forecast")
    run.request(2)
    answered_once(run, 1)


@requirement("mcp-tool-errors-reach-the-model")
@pytest.mark.parametrize(
    ("texts", "structured"),
    [((CLOSED,), None), ((CLOSED,), {"code": 4711}), ((), {"code": 4711, "office": "closed until noon"})],
    ids=["text", "text-and-structured", "structured"],
)
def test_tool_error(
    scenario: Scenario, implementation: Implementation, texts: tuple[str, ...], structured: dict[str, Any] | None
) -> None:
    """The model reads the text of a tool's error, or its structured content where it has some, and the run goes on."""
    told = Content.of(*texts, failed=True, structured=structured)

    run = served(scenario, implementation, calls(TOMORROW), forecast=told)

    run.tool_began("forecast")
    assert not run.failed, f"the tool has returned an error, and the run ends: it {run.outcome}"
    found = answer(run).text
    if structured is None or not all(leaf in found for leaf in leaves(structured)):
        _all_there(found, (CLOSED,))


@requirement("failed-results-are-marked")
@pytest.mark.parametrize("other", [(SAID,), ()], ids=["beside-text", "beside-nothing"])
def test_error_is_marked(scenario: Scenario, implementation: Implementation, other: tuple[str, ...]) -> None:
    """Of two tools of a server one returns an error: its result is marked as failed, and the other's is not."""
    implementation.needs("mcp_client")
    told = Content.of(CLOSED, failed=True)

    run = served(scenario, implementation, calls(TOMORROW, HIGH), forecast=told, tides=Content.of(*other))

    run.tool_began("forecast")
    failed_results(run, {"turn": 1, "calls": [1]})


FAILURES: dict[str, tuple[Server, Behaviour]] = {
    "tool-error": (TOWN, Content.of(CLOSED, failed=True)),
    "internal-error": (TOWN, RpcError(CLOSED)),
    "invalid-parameters": (TOWN, RpcError(CLOSED, PARAMETERS)),
    "streamed-internal-error": (STREAMS, RpcError(CLOSED)),
    "hang-up": (TOWN, HangsUp()),
}


@requirement("mcp-failures-are-not-lost")
@pytest.mark.parametrize(("town", "behaviour"), FAILURES.values(), ids=FAILURES)
def test_failures(scenario: Scenario, implementation: Implementation, town: Server, behaviour: Behaviour) -> None:
    """A failed call is an error for the caller, or has a result that reports the failure to the model."""
    run = served(scenario, implementation, calls(TOMORROW), server=town, forecast=behaviour)

    run.tool_began("forecast")
    _told(run)


@requirement("mcp-broken-streams-are-told")
def test_broken_stream(scenario: Scenario, implementation: Implementation) -> None:
    """The stream of an answer ends before it has the answer; a client may wait for a time limit of its own."""
    try:
        run = served(scenario, implementation, calls(TOMORROW), server=STREAMS, forecast=HangsUp())
    except Liveness as silent:
        raise NotApplicable(f"nothing shows that the call has no time limit of its own: {silent}") from None

    run.tool_began("forecast")
    _told(run)


def _told(run: Run) -> None:
    """Assert that the caller or the model learns of the failed call."""
    if run.failed:
        return
    assert len(run.received) > 1, f"the call has failed, and the model is not asked again; the loop {run.outcome}"
    found = answer(run)
    items = run.normalized(2).items
    beside = [one.text for one in items if isinstance(one, Said) and one.role == "user"][1:]
    known = f"{TOMORROW.tool} {TOMORROW.arguments}"
    is_told = found.failed or any(tells_of_failure(text, known) for text in [found.text, *beside])
    assert is_told, f"the call has failed, and the model reads {found.text!r}"
