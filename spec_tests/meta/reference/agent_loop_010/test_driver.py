"""The driver: Requests over every wire, Activities and confirmations at the kit's URLs, and the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
import respx
from jsonschema import Draft202012Validator

from looptck_reference.agent_loop_010 import Approve, Change, Decision, Reject, Replace
from looptck_reference.agent_loop_010.confirmation import decision
from looptck_reference.agent_loop_010.driver import Driver
from looptck_reference.agent_loop_010.prompt import request_for
from looptck_reference.vocabulary.errors import NotOnThisWire
from looptck_reference.wires import ChatWire, Wire
from meta.reference.reference_provider import replies
from meta.reference.reference_replies import URL, Json
from meta.reference.reference_wires import Side

FIXTURES = Path(__file__).parents[4] / "fixtures"
TOOL, CONFIRM = "http://toolbox.test/fetch", "http://toolbox.test/confirm"
CALL = {"_tool": "fetch", "city": "†input.city", "_outputPath": "†state.sky"}
GRAY = "grau, 5 €/h 😀"


def validated(value: Any, name: str) -> Any:
    """A value, held against one of the fixtures' schemas."""
    Draft202012Validator(json.loads((FIXTURES / name).read_text("utf-8"))).validate(value)
    return value


def case(side: Side, **more: Any) -> Json:
    """A case of this profile as the kit hands it over."""
    tools = [
        {"name": "fetch", "kind": "function", "description": "", "parameters": {"type": "object"}, "url": TOOL},
        {"name": "think", "kind": "function", "description": "", "parameters": {"type": "object"}, "url": None},
    ]
    made = {
        "name": "case", "profile": "agent-loop-010", "wire": side.name, "mode": "async", "stream": True,
        "base_url": URL, "api_key": "k", "model": "m", "agent": {"name": "a", "description": "", "template": []},
        "messages": [], "inputs": {}, "tools": tools, "options": {}, "output_schema": {"type": "string"},
        "context": [{"type": "text", "text": "Go."}, {"type": "input", "input": {"city": "Köln"}}], **more,
    }  # fmt: skip
    return dict(validated({"type": "run", "id": "1", "case": made}, "protocol/to-driver.schema.json")["case"])


def finished(case: Json) -> Json:
    """The outcome of a case."""
    outcome = asyncio.run(Driver().run_async(case, lambda _: pytest.fail("no chunks were promised")))
    validated({"type": "finished", "id": "1", "outcome": outcome}, "protocol/from-driver.schema.json")
    return outcome


def solution(*calls: Json, output: Any = None) -> str:
    """The text of a Solution."""
    return json.dumps({"calls": calls, "output": output}, ensure_ascii=False)


def sent(route: respx.Route) -> list[Json]:
    """The bodies that came over a route."""
    return [json.loads(one.request.content) for one in route.calls]


@pytest.fixture
def toolbox(respx_mock: respx.MockRouter) -> respx.Route:
    """A tool that says gray."""
    return respx_mock.post(TOOL).respond(json={"value": GRAY})


def test_the_claim_is_legal() -> None:
    """It claims its own profile, and to be asynchronous only."""
    claim = validated({"type": "started", **Driver().start()}, "protocol/from-driver.schema.json")

    assert (["agent-loop-010"], ["async"]) == (claim["profiles"], claim["modes"])


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_two_turns(side: Side, stream: bool, toolbox: respx.Route) -> None:
    """A call runs with its reference resolved, its result is told, and the output is the outcome."""
    texts = solution(CALL), solution(output="Gray.")
    provider = replies(*[side.body(text, stream=stream) for text in texts], url=side.url)

    assert {"kind": "value", "text": None, "output": "Gray."} == finished(case(side, stream=stream))
    assert [{"arguments": {"city": "Köln"}}] == sent(toolbox)
    first, second = (validated(body, f"wire-schemas/{side.name}.request.json") for body in sent(provider))
    assert "tools" not in first
    assert stream == first.get("stream", False)
    told = json.dumps(
        {"type": "data", "kind": "state", "data": {"sky": GRAY}}, ensure_ascii=False, separators=(",", ":")
    )
    assert json.dumps(told) not in json.dumps(first)
    assert json.dumps(told) in json.dumps(second)


SCHEMA_OF = {
    "openai-chat": lambda body: body["response_format"]["json_schema"]["schema"],
    "openai-responses": lambda body: body["text"]["format"]["schema"],
    "anthropic-messages": lambda body: json.loads(body["system"].rpartition("\n")[2]),
}
"""Where the schema of the answer is in a request: Messages has no option for one that leaves properties open."""


def test_the_form_of_a_solution(side: Side, respx_mock: respx.MockRouter) -> None:
    """The provider is asked for JSON of the schema of a Solution, in which the user's stands under output."""
    provider = replies(side.body(solution(output="x")), url=side.url)
    definitions = {"$defs": {"word": {"type": "string"}}}
    finished(case(side, output_schema={"$ref": "#/$defs/word", **definitions}))

    (body,) = sent(provider)
    form = Draft202012Validator(SCHEMA_OF[side.name](body))
    for legal in ({"calls": [CALL], "output": None}, {"calls": [], "output": "x", "meta": {}}):
        form.validate(legal)
    several: list[Any] = [{"calls": [], "output": 1}, {"calls": [{}], "output": None}, {"calls": []}, []]
    for illegal in several:
        assert not form.is_valid(illegal)


def test_a_confirmation(side: Side, toolbox: respx.Route) -> None:
    """The kit is asked with the raw call, and its decision is done."""
    confirm = respx.post(CONFIRM).respond(json={"decision": "change", "parameters": {"city": "Bonn"}})
    replies(side.body(solution(CALL, output="x")), url=side.url)
    finished(case(side, confirm=CONFIRM))

    assert [{"call": CALL}] == sent(confirm)
    assert [{"arguments": {"city": "Bonn"}}] == sent(toolbox)


@pytest.mark.parametrize(
    ("told", "decided"),
    [
        ({"decision": "approve"}, Approve()),
        ({"decision": "change", "parameters": {"x": 1}}, Change({"x": 1})),
        ({"decision": "replace", "call": CALL}, Replace(CALL)),
        ({"decision": "reject", "feedback": "no"}, Reject("no")),
        ({"decision": "reject"}, Reject("rejected")),
    ],
)
def test_decisions(told: Json, decided: Decision) -> None:
    """A decision is known by its word."""
    assert decided == decision(told)


@pytest.mark.parametrize("told", [{}, {"decision": "later"}, {"decision": "change"}, {"decision": "replace"}])
def test_no_decision(told: Json) -> None:
    """What is no decision is not taken for one."""
    with pytest.raises(ValueError, match="not a decision"):
        decision(told)


def test_a_wire_without_structured_output() -> None:
    """A wire of which it is not known how it asks for a document is refused."""

    class Other(ChatWire):
        """Somebody's own."""

        path = "/other"

    assert "response_format" in request_for(Other(), [], {})[1]
    with pytest.raises(NotOnThisWire, match="/nowhere"):
        request_for(cast("Wire", SimpleNamespace(path="/nowhere")), [], {})


def test_a_raising_activity(side: Side, respx_mock: respx.MockRouter) -> None:
    """The model is told of it under its own name."""
    respx_mock.post(TOOL).respond(json={"error": {"type": "Oops", "message": "gone"}})
    provider = replies(*[side.body(solution(CALL, output=output)) for output in (None, "x")], url=side.url)
    finished(case(side))

    told = {"call": CALL, "error": {"type": "Oops", "message": "gone"}}
    words = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    assert json.dumps(words)[1:-1] in json.dumps(sent(provider)[1])


def test_the_limit(side: Side, respx_mock: respx.MockRouter) -> None:
    """At the limit there is no output, and no error."""
    replies(*[side.body(solution())] * 2, url=side.url)

    assert {"kind": "value", "text": None, "output": None} == finished(case(side, options={"limit": 2}))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (httpx.Response(500, json={"error": {"message": "down"}}), "provider"),
        (httpx.Response(200, headers={"content-type": "text/event-stream"}, content=b"data: {"), "stream"),
    ],
)
def test_a_failing_provider(side: Side, reply: httpx.Response, reason: str, respx_mock: respx.MockRouter) -> None:
    """The outcome is the loop's own error; nothing is asked twice."""
    provider = respx_mock.post(side.url).mock(side_effect=[reply])

    outcome = finished(case(side))

    assert ("error", reason) == (outcome["kind"], outcome["reason"])
    assert 1 == provider.call_count


def test_without_an_event_loop(side: Side, respx_mock: respx.MockRouter) -> None:
    """A case can be run from where no event loop turns."""
    replies(side.body(solution(output="x")), url=side.url)
    run: Callable[..., Json] = Driver().run

    assert "x" == run(case(side), lambda _: None)["output"]
