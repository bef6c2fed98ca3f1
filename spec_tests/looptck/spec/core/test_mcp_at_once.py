"""How a loop speaks with MCP servers in the revision without a handshake: metadata, headers and interim results."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import pytest

from looptck.bench.assertions.failure_texts import tells_of_failure
from looptck.bench.checks import Implementation, refusable, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.mcp import STATELESS, Server, Tool
from looptck.provider.mcp.stateless import CAPABILITIES, MARK, PARAMETER, VERSION, decoded, metadata, mirrored
from looptck.provider.mcp_results import AsksAgain, Behaviour, Content
from looptck.spec.serving import (
    AT_ONCE,
    CITY,
    FORECAST,
    HIGH,
    TIDES,
    TOMORROW,
    answer,
    asked,
    at_once,
    not_refused,
    offered,
    served,
)
from looptck.values.history import holds
from looptck.values.jsontext import canonical
from looptck.values.plain import plain
from looptck.values.transcript import McpAsked
from looptck.values.turns import Call, calls
from looptck.values.verdicts import NotApplicable, NotReached

SAID = "Rain in the morning, sun at noon."


def _requests(run: Run) -> list[McpAsked]:
    """The requests of the client. Of a notification nothing is required beyond its being one of JSON-RPC."""
    return [one for one in asked(run) if isinstance(one.message, dict) and one.message.get("id") is not None]


def _calls(run: Run) -> list[McpAsked]:
    """The calls of tools. NotReached: there is none."""
    found = [one for one in _requests(run) if at_once(one) and one.method == "tools/call"]
    if not found:
        raise NotReached(f"no tool of the server was called; the loop {run.outcome}")
    return found


@requirement("mcp-requests-describe-themselves")
def test_metadata(scenario: Scenario, implementation: Implementation) -> None:
    """Each request has the revision and the client's capabilities among its metadata."""
    run = served(scenario, implementation, calls(TOMORROW), calls(HIGH), server=AT_ONCE)

    for one in _requests(run):
        if one.method == "initialize":
            continue
        given = metadata(one.message)
        assert STATELESS == given.get(VERSION), f"{one.told} has no {VERSION} in its _meta, which is {plain(given)}"
        able = given.get(CAPABILITIES)
        assert isinstance(able, dict), f"{one.told} has no object {CAPABILITIES} in its _meta, which is {plain(given)}"


@requirement("mcp-headers-mirror-the-request")
@pytest.mark.parametrize("name", [FORECAST.name, "wetter_für_morgen"], ids=["plain", "beyond-ascii"])
@refusable("the service allows fewer names than MCP")
def test_headers(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """Each request has its revision, its method and the name of the called tool in headers."""
    tool = Tool(name, FORECAST.description, CITY)
    named = calls(Call.of(name, {"city": "Paris"}))
    run = served(scenario, implementation, named, server=Server(tools=(tool,), revisions=()))

    if name != FORECAST.name:
        not_refused(run)
    for one in filter(at_once, _requests(run)):
        wanted = {"mcp-protocol-version": STATELESS, "mcp-method": one.method}
        if one.method == "tools/call":
            wanted["mcp-name"] = str(_name(one.message))
        for header, text in wanted.items():
            _has(one, header, text)
    _calls(run)


def _has(one: McpAsked, header: str, text: str) -> None:
    """Assert that a request has this text in a header, as it is or coded."""
    got = one.headers.get(header)
    assert got is not None, f"{one.told} has no header {header}, which is {text!r}"
    assert decoded(got) == text, f"the header {header} of {one.told} is {got!r}; it repeats {text!r}"


REGION = {"type": "string", "description": "The region.", MARK: "Region"}
PLACE = {
    "type": "object",
    "properties": {
        "region": REGION,
        "floor": {"type": "integer", "description": "The floor.", MARK: "Floor"},
        "open": {"type": "boolean", "description": "Whether it is open.", MARK: "Is-Open"},
        "from": {
            "type": "object",
            "description": "Where it begins.",
            "properties": {"town": {"type": "string", "description": "The town.", MARK: "Town"}},
        },
    },
    "required": ["region"],
}
PLAN = Tool("plan", "Plans a way through a region.", PLACE)
VALUES: dict[str, dict[str, Any]] = {
    "text": {"region": "us-west1"},
    "number": {"region": "north", "floor": -7},
    "true": {"region": "north", "open": True},
    "false-and-zero": {"region": "north", "open": False, "floor": 0},
    "nested": {"region": "north", "from": {"town": "Rome"}},
    "beyond-ascii": {"region": "Zürich «West»"},
    "blanks-around": {"region": " padded "},
    "lines": {"region": "line 1\nline 2"},
    "looks-coded": {"region": "=?base64?bm9ydGg=?="},
}


@requirement("mcp-marked-parameters-are-mirrored")
@pytest.mark.parametrize("arguments", VALUES.values(), ids=VALUES)
def test_marked_parameters(scenario: Scenario, implementation: Implementation, arguments: dict[str, Any]) -> None:
    """A call repeats its marked parameters in headers, coded where they have to be; what is absent has none."""
    server = Server(tools=(PLAN,), revisions=())
    run = served(scenario, implementation, calls(Call.of("plan", arguments)), server=server)

    run.delivered(1)
    for one in _calls(run):
        given = (one.message.get("params") or {}).get("arguments")
        if canonical(given) != canonical(arguments):
            raise NotReached(f"the server gets the arguments {plain(given)}, and not {plain(arguments)}")
        wanted = mirrored(PLACE, arguments)
        for header, text in wanted.items():
            got = one.headers.get(header)
            assert got is not None, f"the call has no header {header}, which is {text!r} for {plain(arguments)}"
            is_same = got == text or (not text.startswith("=?") and decoded(got) == text)
            assert is_same, f"the header {header} is {got!r}; for {plain(arguments)} it is {text!r}"
        more = sorted(name for name in one.headers if name.startswith(PARAMETER) and name not in wanted)
        assert not more, f"the call has a header {more[0]}, and {plain(arguments)} has no value for it"


def _marks(*marks: str, type: str = "string") -> Mapping[str, Any]:
    properties = {f"p{n}": {"type": type, "description": "A value.", MARK: mark} for n, mark in enumerate(marks, 1)}
    return {"type": "object", "properties": properties}


BAD = {
    "empty": _marks(""),
    "blank": _marks("My Region"),
    "colon": _marks("Region:Name"),
    "twice": _marks("Region", "REGION"),
    "number": _marks("Amount", type="number"),
    "object": _marks("Place", type="object"),
}


@requirement("mcp-badly-marked-tools-are-left-out")
@pytest.mark.parametrize("schema", BAD.values(), ids=BAD)
def test_bad_marks(scenario: Scenario, implementation: Implementation, schema: Mapping[str, Any]) -> None:
    """A tool whose marks are illegal is not offered; the others of its server are."""
    marked = Tool("marked", "Has a mark that no header can have.", schema)
    run = served(scenario, implementation, server=Server(tools=(marked, TIDES), revisions=()))

    if not run.received:
        raise AssertionError(f"one tool has an illegal mark, and the model is never asked: the loop {run.outcome}")
    offered(run, TIDES)
    there = [one.name for one in run.request(1).request.tools if marked.description in one.description]
    assert not there, f"the tool {there[0]} is offered, though a header cannot repeat it: {plain(schema)}"


@requirement("mcp-empty-cursor-is-a-cursor")
def test_empty_cursor(scenario: Scenario, implementation: Implementation) -> None:
    """The cursor of the second page is the empty text: that page is asked for."""
    many = tuple(Tool(f"district_{n}", f"Tells about district {n} of the town.", CITY) for n in range(1, 4))
    run = served(scenario, implementation, server=Server(tools=many, page=2, cursor="", revisions=()))

    for tool in many:
        offered(run, tool)


STATES = {
    "readable": base64.b64encode(b'{ "step":1.0, "town" : "Paris" }').decode(),
    "unreadable": " e30=/+%20 {'step': 1.0}  \u00fc",
}


def _asks_again(scenario: Scenario, implementation: Implementation, state: str) -> Run:
    """A run whose first call has an interim result at first, with this state, and whose second call has none."""
    told: list[Behaviour] = [AsksAgain(state), Content.of(SAID)]
    return served(scenario, implementation, calls(TOMORROW), calls(HIGH), server=AT_ONCE, forecast=told)


@requirement("mcp-interim-results-are-no-answers")
def test_interim_result(scenario: Scenario, implementation: Implementation) -> None:
    """A server asks for a call once more: its result is that of the second call, or the call has failed."""
    run = _asks_again(scenario, implementation, STATES["readable"])

    _calls(run)
    if not run.failed:
        found = answer(run)
        assert holds(found.text, SAID) or found.failed or _fails(found.text), (
            f"the result of the call is not there yet (input_required), and the model reads {found.text!r}"
        )


def _fails(text: str) -> bool:
    return tells_of_failure(text, f"{TOMORROW.tool} {TOMORROW.arguments}")


@requirement("mcp-request-state-comes-back")
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_request_state(scenario: Scenario, implementation: Implementation, state: str) -> None:
    """The call that is made again is the same, with the state as it was written; no other call has it."""
    run = _asks_again(scenario, implementation, state)

    first, *others = [one.message for one in _calls(run)]
    again = [one for one in others if _name(one) == FORECAST.name]
    if not again:
        raise NotApplicable("the loop does not make a call again that the server asks for once more")
    given, wanted = again[0]["params"], first["params"]
    back = given.get("requestState")
    assert state == back, f"the server has written the state {plain(state)}; back comes {plain(back)}"
    assert again[0].get("id") != first.get("id"), (
        f"the call that is made again has the id of the first, {first['id']!r}"
    )
    for member in ("name", "arguments"):
        was, now = plain(wanted.get(member)), plain(given.get(member))
        assert was == now, f"the call that is made again has the {member} {now}; the first had {was}"
    beside = [one for one in (first, *others) if one is not again[0] and "requestState" in one["params"]]
    assert not beside, f"the state of {FORECAST.name} is sent with a call of {_name(beside[0])}, which never had one"


def _name(message: Any) -> Any:
    return (message.get("params") or {}).get("name")


@requirement("mcp-unknown-results-are-invalid")
def test_unknown_result(scenario: Scenario, implementation: Implementation) -> None:
    """A result has a type that nobody knows: the model does not read it as the result of its call."""
    told = Content.of(SAID, type="looptck.example/forecast")
    run = served(scenario, implementation, calls(TOMORROW), server=AT_ONCE, forecast=told)

    _calls(run)
    if run.failed:
        return
    assert len(run.received) > 1, f"the call has failed, and the model is not asked again; the loop {run.outcome}"
    found = answer(run)
    assert found.failed or _fails(found.text.replace(SAID, "")), (
        f"the result has the type looptck.example/forecast, which is invalid, and the model reads {found.text!r}"
    )
