"""The driver: Requests over every wire, Activities and confirmations at the kit's URLs, and the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import respx
from jsonschema import Draft202012Validator

from looptck_reference.agent_loop_010 import Approve, Change, Decision, Reject, Replace
from looptck_reference.agent_loop_010.confirmation import decision
from looptck_reference.agent_loop_010.driver import Driver
from meta.reference.reference_provider import replies
from meta.reference.reference_replies import URL, Json
from meta.reference.reference_wires import Side

FIXTURES = Path(__file__).parents[4] / "fixtures"
TOOL, CONFIRM = "http://toolbox.test/fetch", "http://toolbox.test/confirm"
CALL = {"_tool": "fetch", "city": "†input.city", "_outputPath": "†state.sky"}


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


def test_the_claim_is_legal() -> None:
    """It claims its own profile, and to be asynchronous only."""
    claim = validated({"type": "started", **Driver().start()}, "protocol/from-driver.schema.json")

    assert (["agent-loop-010"], ["async"]) == (claim["profiles"], claim["modes"])


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
