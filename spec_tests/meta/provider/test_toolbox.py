"""The toolbox: the answers to tool runs, and their record in the transcript."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.provider.gate import Gate
from looptck.provider.http import HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.provider.toolbox import Raises, Returns
from looptck.values.transcript import ByKind, ToolBegan, ToolEnded, UnroutedRequest
from meta.provider.mock_runs import mock_run, noted, parsed_reply, reply


def run(mock_run: MockRun, tool: str = "ping", body: object = None) -> Any:
    """The toolbox's answer to a tool run."""
    return json.loads(parsed_reply(reply(mock_run, body or {"arguments": {}}, f"/c1/tools/{tool}"))[2])


def test_runs_of_a_tool_without_behaviour_differ() -> None:
    """A tool without a behaviour returns a different text in each run."""
    played = mock_run()

    assert [{"value": "result 1 of ping"}, {"value": "result 2 of ping"}] == [run(played), run(played)]
    assert {"value": "result 1 of add"} == run(played, "add")


def test_a_tool_follows_its_behaviours_in_order() -> None:
    """Each run takes the next behaviour; the last one repeats."""
    played = mock_run(ping=[Returns(None), Raises("No.", "KeyError"), Returns([1])])

    assert [
        {"value": None},
        {"error": {"type": "KeyError", "message": "No."}},
        {"value": [1]},
        {"value": [1]},
    ] == [run(played) for _ in range(4)]


def test_every_run_of_a_tool_is_written_down() -> None:
    """A tool run is recorded when it begins, with its arguments, and when it ends, with its answer."""
    played = mock_run()
    run(played, body={"arguments": {"a": [True, "ü"]}})

    assert [(1, "ping", {"a": [True, "ü"]})] == [(one.run, one.tool, one.arguments) for one in noted(played, ToolBegan)]
    assert [(1, {"value": "result 1 of ping"})] == [(one.run, one.answer) for one in noted(played, ToolEnded)]


def test_a_held_tool_has_begun_and_not_ended() -> None:
    """A held tool has begun; it ends when its gate opens."""
    gate = Gate("held")
    played = mock_run(ping=[Returns("Late.", hold=gate)])

    answer = played.answer(HttpRequest("POST", "/c1/tools/ping", {}, b'{"arguments": {}}'))

    assert answer is not None
    assert gate is answer.parts[0]
    assert (1, 0) == (len(noted(played, ToolBegan)), len(noted(played, ToolEnded)))


@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b'{"args": {}}'])
def test_a_tool_run_without_arguments_is_the_drivers_fault(body: bytes) -> None:
    """A driver that posts something else to the toolbox gets an error with the expected form, and no tool has run."""
    played = mock_run()

    status, _, answer = parsed_reply(reply(played, body, "/c1/tools/ping"))

    assert (400, "DriverError") == (status, json.loads(answer)["error"]["type"])
    assert [] == noted(played, ToolBegan)
    assert ["/tools/ping without arguments"] == [one.path for one in noted(played, UnroutedRequest)]


OF_A_KIND = {"tool": "browse", "arguments": {"words": "x"}, "agent": "helper", "inputs": {"user": "ada"}}


def of_a_kind(mock_run: MockRun, body: object) -> tuple[int, Any]:
    """Status and answer of a call of a kind's handler."""
    status, _, answer = parsed_reply(reply(mock_run, body, "/c1/kinds/collection"))
    return status, json.loads(answer)


def test_the_handler_of_a_kind_is_recorded_with_all_its_arguments() -> None:
    """The handler of a kind runs the named tool, which follows its behaviour."""
    played = mock_run(browse=[Returns("a book")])

    assert (200, {"value": "a book"}) == of_a_kind(played, OF_A_KIND)
    (began,) = noted(played, ToolBegan)
    assert ("browse", {"words": "x"}) == (began.tool, began.arguments)
    assert ByKind("collection", "helper", {"user": "ada"}) == began.by_kind


def test_the_handler_of_a_name_is_of_no_kind() -> None:
    """The record has no kind, so that a check can distinguish the two handlers."""
    played = mock_run()
    run(played)

    assert [None] == [one.by_kind for one in noted(played, ToolBegan)]


@pytest.mark.parametrize("missing", [*OF_A_KIND, "the text of tool"])
def test_an_incomplete_call_of_a_kinds_handler_is_the_drivers_fault(missing: str) -> None:
    """The driver gets an error with the expected form, and no tool has run."""
    played = mock_run()
    body: dict[str, object] = {key: value for key, value in OF_A_KIND.items() if key != missing}
    body |= {"tool": 7} if missing == "the text of tool" else {}

    status, answer = of_a_kind(played, body)

    assert (400, "DriverError") == (status, answer["error"]["type"])
    assert all(f'"{key}"' in answer["error"]["message"] for key in OF_A_KIND)
    assert [] == noted(played, ToolBegan)
    assert ["/kinds/collection without all arguments of such a handler"] == [
        one.path for one in noted(played, UnroutedRequest)
    ]
