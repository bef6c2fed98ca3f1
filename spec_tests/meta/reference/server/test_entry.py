"""Entry conditions: which tools the model is offered, and whether the loop is entered at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from looptck_reference.server import DOCUMENT, TODAY, SearchIndex
from looptck_reference.server import Callback as Registered
from looptck_reference.server.entry import CODE_TOOL, SEARCH_TOOL
from meta.reference.server.serving import WEATHER, World, call, turn

PING = Registered("ping", lambda: "pong")
SEARCH = {"search": SearchIndex(), "dispatch": False}
CODE = {"code": True, "dispatch": False}
INTERPRETER = {"type": "code_interpreter", "container": {"type": "auto"}}


def offered(here: World) -> list[str]:
    """The names of the tools in the first request to the model."""
    return [tool["function"]["name"] for tool in here.outside.asked[0].get("tools", ())]


@pytest.mark.parametrize(
    ("server", "request_", "tools"),
    [
        pytest.param(SEARCH, {}, [SEARCH_TOOL], id="search"),
        pytest.param(CODE, {"enable_code_execution": True}, [CODE_TOOL], id="code-asked-for"),
        pytest.param(CODE, {"tools": [INTERPRETER]}, [CODE_TOOL], id="code-asked-for-by-a-tool"),
        pytest.param({"callbacks": (PING,), "dispatch": False}, {}, ["ping"], id="callback"),
        pytest.param({}, {"tools": [WEATHER]}, ["weather"], id="dispatch-url"),
    ],
)
def test_a_tool_of_the_server_enters_the_loop(
    world: Callable[..., World], server: dict[str, Any], request_: dict[str, Any], tools: list[str]
) -> None:
    """The document's four cases; the plain response has a session then."""
    here = world(turn("Hello."), **server)

    body = here.chat(**{"tools": [], **request_}).json()

    assert tools == offered(here)
    assert "session_id" in body


@pytest.mark.parametrize(
    ("server", "request_"),
    [
        pytest.param({"dispatch": False}, {}, id="nothing"),
        pytest.param(CODE, {}, id="code-not-asked-for"),
        pytest.param({"dispatch": False}, {"enable_code_execution": True}, id="code-not-there"),
        pytest.param({"dispatch": False}, {"max_tool_rounds": 3}, id="only-a-cap"),
    ],
)
def test_without_a_tool_of_the_server_the_loop_is_not_entered(
    world: Callable[..., World], server: dict[str, Any], request_: dict[str, Any]
) -> None:
    """The request's own tools are offered, and there is no session."""
    here = world(turn("Hello."), **server)

    body = here.chat(**request_).json()

    assert (["weather"], False) == (offered(here), "session_id" in body)


@pytest.mark.parametrize(
    ("server", "request_", "tools", "entered"),
    [
        pytest.param(SEARCH, {}, [], False, id="search-not-asked-for"),
        pytest.param(SEARCH, {"web_search_options": {}}, [SEARCH_TOOL], True, id="search-asked-for"),
        pytest.param({"dispatch": False}, {"web_search_options": {}}, [], True, id="search-not-there"),
        pytest.param(CODE, {"enable_code_execution": True}, [], False, id="no-such-field"),
        pytest.param(CODE, {"tools": [INTERPRETER]}, [CODE_TOOL], True, id="code-interpreter"),
        pytest.param({"dispatch": False}, {"max_tool_rounds": 3}, [], True, id="a-cap-of-the-request"),
        pytest.param({"dispatch": False, "max_tool_rounds": 3}, {}, [], True, id="a-cap-of-the-server"),
    ],
)
def test_the_server_of_today_asks_the_request(
    world: Callable[..., World], server: dict[str, Any], request_: dict[str, Any], tools: list[str], entered: bool
) -> None:
    """What the server could do is not enough."""
    here = world(turn("Hello."), dialect=TODAY, **server)

    body = here.chat(**{"tools": [], **request_}).json()

    assert (tools, entered) == (offered(here), "session_id" in body)


def test_a_tool_with_the_name_of_a_registered_one_is_refused(world: Callable[..., World]) -> None:
    """The error names the member."""
    here = world(callbacks=(Registered("weather", lambda: "x"),))

    response = here.chat()

    assert (422, "tools[0].function.name") == (response.status_code, response.json()["error"]["param"])
    assert [] == here.outside.asked


@pytest.mark.parametrize("server", [{"dispatch": False}, {}])
def test_files_without_a_tool_that_reads_them_are_refused(world: Callable[..., World], server: dict[str, Any]) -> None:
    """Nothing would ever read or write them."""
    response = world(**server).chat(files=[{"name": "a.txt", "text": "a"}])

    assert (422, "files") == (response.status_code, response.json()["error"]["param"])


def test_zero_rounds_offer_no_tools(world: Callable[..., World]) -> None:
    """The document's server enters the loop all the same, and a call goes to the client."""
    here = world(turn(None, call("weather")))

    body = here.chat(max_tool_rounds=0).json()

    assert ([], "tool_calls", True) == (offered(here), body["choices"][0]["finish_reason"], "session_id" in body)
    assert [] == here.outside.dispatched


@pytest.mark.parametrize(("server", "request_"), [(None, {"max_tool_rounds": 0}), (0, {})], ids=["request", "server"])
def test_zero_rounds_bypass_the_loop_of_today(
    world: Callable[..., World], server: int | None, request_: dict[str, Any]
) -> None:
    """No tool of the server, no session."""
    dialect = replace(DOCUMENT, zero_rounds="bypass")
    here = world(turn(None, call("weather")), dialect=dialect, callbacks=(PING,), max_tool_rounds=server)

    body = here.chat(**request_).json()

    assert (["weather"], "tool_calls", False) == (
        offered(here),
        body["choices"][0]["finish_reason"],
        "session_id" in body,
    )
