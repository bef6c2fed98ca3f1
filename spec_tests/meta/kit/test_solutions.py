"""Solutions: how checks write them, and how they read what a request tells the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from looptck.bench.solutions import (
    ErrorMessage,
    activity,
    behind,
    call,
    embedded,
    error_messages,
    place,
    solution,
    texts,
    within,
)
from looptck.provider.gate import Gate
from looptck.provider.http import HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Hold, Script, Step
from looptck.provider.toolbox import Toolbox
from looptck.values.framing import DEFAULT
from looptck.values.history import Answered, Asked, Opaque, Request, Said
from looptck.values.transcript import Received
from looptck.values.turns import Turn, says
from looptck.wires import WIRES, Wire
from meta.provider.mock_runs import ASKS

FAILED = {"call": {"_tool": "fetch", "city": "Paris"}, "error": "no city"}


def request(*said: str) -> Received:
    """A request whose history has these texts."""
    items = tuple(Said("user", text) for text in said)
    return Received(0, 1, "", {}, b"", None, Request("m", stream=False, items=items, tools=()), (), scripted=True)


def test_a_call_has_its_meta_keys_behind_underscores() -> None:
    """What is not said is not there; null is said."""
    assert {"_tool": "ping"} == call("ping")
    assert {
        "_tool": "fetch",
        "tool": "†input.city",
        "_outputPath": "†state.x",
        "_outputMethod": "push",
        "_instance": "①",
        "_output": None,
        "_activity": "",
    } == call("fetch", {"tool": "†input.city"}, to="†state.x", method="push", instance="①", output=None, activity="")


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({}, '{"calls":[{"_tool":"ping","a":"†é"}],"output":null}'),
        ({"output": [0], "meta": {"m": 1}}, '{"meta":{"m":1},"calls":[{"_tool":"ping","a":"†é"}],"output":[0]}'),
        ({"order": ("output", "calls")}, '{"output":null,"calls":[{"_tool":"ping","a":"†é"}]}'),
        ({"order": ("calls",)}, '{"calls":[{"_tool":"ping","a":"†é"}]}'),
        ({"escaped": True}, '{"calls":[{"_tool":"ping","a":"\\u2020\\u00e9"}],"output":null}'),
    ],
)
def test_a_solution_is_said_as_compact_json(how: dict[str, Any], text: str) -> None:
    """Its members stand in the order that the check wants."""
    assert text == solution(call("ping", {"a": "†é"}), **how).text


@pytest.mark.parametrize("order", [("meta", "calls", "output"), ("output", "calls", "meta")])
@pytest.mark.parametrize("escaped", [False, True])
def test_places_behind_and_within_calls(order: tuple[str, ...], escaped: bool) -> None:
    """Behind a call it is whole, within it only its last brace is missing; strings may hold braces."""
    told = [call("a", {"x": '{"calls":[}"', "y": {"z": []}}), call("b", {"x": "é😀"})]
    turn = solution(*told, output={"calls": 1}, meta=[{}], order=order, escaped=escaped)

    for n, one in enumerate(told, 1):
        text = json.dumps(one, ensure_ascii=escaped, separators=(",", ":"))
        assert (turn.text or "").startswith(behind(turn, n))
        assert behind(turn, n).endswith(text)
        assert behind(turn, n)[:-1] == within(turn, n)


@pytest.mark.parametrize(
    "turn",
    [solution(call("a")), solution(output=1), solution(order=("output",)), says("{}"), says('{"calls":[1'), says(None)],
)
def test_a_call_that_is_not_there_has_no_place(turn: Any) -> None:
    """A check that holds a stream behind it is wrong."""
    with pytest.raises(ValueError, match="there is no call 2 in the Solution"):
        behind(turn, 2)


@pytest.mark.parametrize("place", [behind, within])
@pytest.mark.parametrize("wire", WIRES.values(), ids=list(WIRES))
def test_a_stream_is_held_behind_a_call(wire: Wire, place: Callable[[Turn, int], str]) -> None:
    """In fragments of one character exactly what stands before the place leaves first."""
    turn, gate = solution(call("a", {"x": "†😀\n"}), call("b"), output=1), Gate("held")
    step = Step(turn, DEFAULT.but(fragment=1), holds=(Hold(gate, place(turn, 1)),))
    played = MockRun(wire, Script((step,)), Toolbox())
    body = {"model": "m", "stream": True, "max_tokens": 9, "messages": ASKS["messages"], "input": "Go."}

    answer = played.answer(HttpRequest("POST", f"/v1{wire.route}", {}, json.dumps(_taken(wire, body)).encode()))

    assert answer is not None
    parts = answer.parts[: answer.parts.index(gate)]
    lines = b"".join(part for part in parts if isinstance(part, bytes)).decode().splitlines()
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    assert place(turn, 1) == "".join(map(wire.text, events))


def _taken(wire: Wire, body: dict[str, Any]) -> dict[str, Any]:
    """Those members of a body that a wire takes."""
    other = {"messages", "max_tokens"} if wire.name == "openai-responses" else {"input"}
    return {key: value for key, value in body.items() if key not in other}


@pytest.mark.parametrize(
    ("tool", "schema"),
    [
        (activity("a"), {"properties": {}, "required": []}),
        (
            activity("a", optional=["y"], x="string", y=""),
            {"properties": {"x": {"type": "string"}, "y": {}}, "required": ["x"]},
        ),
    ],
)
def test_an_activity_takes_its_parameters_and_no_others(tool: Any, schema: dict[str, Any]) -> None:
    """Types are those of JSON Schema; none is any."""
    assert {"type": "object", "additionalProperties": False, **schema} == tool.parameters
    assert (True, False) == (tool.handled, activity("a", latent=True).handled)


def test_texts_are_those_of_all_items() -> None:
    """Whatever a loop makes of its context: messages, calls, results, kept pieces."""
    items = (Said("system", "S"), Asked("c", "t", '{"a":1}'), Answered("c", "A"), Opaque("thinking", {"k": "é"}))
    asked = Received(0, 1, "", {}, b"", None, Request("m", stream=True, items=items, tools=()), (), scripted=True)

    assert 'S\n{"a":1}\nA\n{"k": "é"}' == texts(asked)
    assert (0, 10, None) == (place(asked, "S"), place(asked, "A"), place(asked, "Z"))


def test_embedded_json_is_found_among_words() -> None:
    """The outermost values only, in order; what is no JSON is passed over, and strings are not opened."""
    asked = request('See {this}: {"a":[1,{"b":2}]} and [3]', json.dumps({"s": '{"in": "side"}'}), "[not, json")

    assert [{"a": [1, {"b": 2}]}, [3], {"s": '{"in": "side"}'}] == embedded(asked)


def test_errors_are_found_at_any_depth() -> None:
    """With their places, which compare with those of markers; text that only quotes one is none."""
    message = {"type": "data", "kind": "error", "data": FAILED}
    quoted = json.dumps({"s": json.dumps(FAILED)})
    asked = request("first", json.dumps([message]), quoted, "{", json.dumps({"call": None, "error": {"why": 1}}))

    one, two = error_messages(asked)

    text = texts(asked)
    assert ErrorMessage(text.index('{"call"'), FAILED["call"], "no city") == one
    assert ErrorMessage(text.index('{"call": null'), None, {"why": 1}) == two
    assert (place(asked, "first") or 0) < one.at < two.at


def test_an_error_within_an_error_is_part_of_it() -> None:
    """A call whose parameters look like an Error Message is one call."""
    outer = {"call": {"_tool": "a", "x": FAILED}, "error": "no"}

    assert [ErrorMessage(0, outer["call"], "no")] == error_messages(request(json.dumps(outer)))


def test_a_request_without_errors_tells_none() -> None:
    """An object with one of the two members is something else."""
    assert [] == error_messages(request('{"call": {}}', '{"error": "no"}', "{}"))
