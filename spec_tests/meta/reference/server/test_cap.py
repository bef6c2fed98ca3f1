"""The cap: how many rounds run tools, and how a run ends that wants more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from looptck_reference.server import DOCUMENT, TODAY, ServerDialect
from meta.reference.server.serving import ASKS, World, call, events, names, turn

CALL = call("weather", {"city": "Paris"})
PENDING = replace(DOCUMENT, cap="return-pending")
ERROR = replace(DOCUMENT, cap="error")
DIALECTS = [pytest.param(one, id=one.cap) for one in (DOCUMENT, PENDING, ERROR)]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("cap", [1, 2])
def test_as_many_rounds_as_the_cap_run_tools(world: Callable[..., World], dialect: ServerDialect, cap: int) -> None:
    """N executions, N + 1 inferences."""
    here = world(*[turn(None, CALL)] * 9, dialect=dialect)

    here.chat(max_tool_rounds=cap)

    assert (cap, cap + 1) == (len(here.outside.dispatched), len(here.outside.asked))


@pytest.mark.parametrize("dialect", [*DIALECTS, pytest.param(TODAY, id="today")])
def test_what_fits_the_cap_is_answered(world: Callable[..., World], dialect: ServerDialect) -> None:
    """A model that needs exactly N rounds gets its last word."""
    here = world(turn(None, CALL), turn("Done."), dialect=dialect)

    choice = here.chat(max_tool_rounds=1).json()["choices"][0]

    assert ("Done.", "stop") == (choice["message"]["content"], choice["finish_reason"])


def test_a_forced_answer_has_no_tool_opportunity(world: Callable[..., World]) -> None:
    """The last inference may not call."""
    here = world(turn(None, CALL), turn("Done."))

    here.chat(max_tool_rounds=1, tool_choice="required")

    assert ["required", "none"] == [body["tool_choice"] for body in here.outside.asked]


@pytest.mark.parametrize("dialect", [DOCUMENT, PENDING], ids=["force-final", "return-pending"])
def test_a_call_beyond_the_cap_goes_to_the_client(world: Callable[..., World], dialect: ServerDialect) -> None:
    """It is not run and not lost; what ran is told."""
    here = world(turn(None, CALL), turn(None, CALL), dialect=dialect)

    body = here.chat(max_tool_rounds=1).json()

    choice = body["choices"][0]
    assert ("tool_calls", [CALL], 1) == (
        choice["finish_reason"],
        choice["message"]["tool_calls"],
        len(body["agentic_tool_calls"]),
    )


def test_a_call_beyond_the_cap_is_an_error_where_the_dialect_says_so(world: Callable[..., World]) -> None:
    """It names the member that would help."""
    response = world(turn(None, CALL), turn(None, CALL), dialect=ERROR).chat(max_tool_rounds=1)

    assert (422, "max_tool_rounds") == (response.status_code, response.json()["error"]["param"])


@pytest.mark.parametrize(
    ("path", "last"),
    [("/v1/chat/completions", "[DONE]"), ("/v1/messages", "message_stop"), ("/v1/responses", "response.completed")],
)
@pytest.mark.parametrize("dialect", [DOCUMENT, PENDING, TODAY], ids=["force-final", "return-pending", "today"])
def test_a_stream_ends_at_the_cap(world: Callable[..., World], path: str, last: str, dialect: ServerDialect) -> None:
    """With the end that any stream of its API has."""
    here = world(turn(None, CALL), turn(None, CALL), dialect=dialect)

    content = here.request(
        "POST", path, json={"model": "m", "stream": True, "max_tool_rounds": 1, **ASKS[path]}
    ).content

    assert last == names(events(content))[-1]
    assert "call_1" in content.decode()
    assert 1 == len(here.outside.dispatched)


def test_a_stream_that_fails_at_the_cap_ends_too(world: Callable[..., World]) -> None:
    """The error, then the mark."""
    told = world(turn(None, CALL), turn(None, CALL), dialect=ERROR).stream(max_tool_rounds=1)

    assert ["max_tool_rounds", "[DONE]"] == [told[-2][1]["error"]["code"], told[-1][1]]


@pytest.mark.parametrize(
    ("server", "request_", "cap"),
    [({}, {}, 256), ({"max_tool_rounds": 2}, {}, 2), ({"max_tool_rounds": 2}, {"max_tool_rounds": 3}, 3)],
    ids=["neither", "server", "request"],
)
def test_the_request_then_the_server_say_the_cap(
    world: Callable[..., World], server: dict[str, Any], request_: dict[str, Any], cap: int
) -> None:
    """256 where neither does."""
    here = world(*[turn(None, CALL)] * 300, **server)

    body = here.chat(**request_).json()

    assert cap == len(body["agentic_tool_calls"])
