"""Sessions: what a run stores, how it comes back, and whose it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from looptck_reference.server import DOCUMENT, TODAY, Callback
from meta.reference.server.serving import QUESTION, Json, World, call, turn

CALL = call("weather", {"city": "Paris"})
HIDDEN: list[Json] = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
]
ANSWER = {"role": "assistant", "content": "Done."}
MORE = {"role": "user", "content": "And in Rome?"}
PING = Callback("ping", lambda: "pong")
ALICE, BOB = ({"x-api-key": name} for name in ("alice", "bob"))
VISIBLE = replace(DOCUMENT, splice="needs-visible-history")


def second(here: World, *messages: Json, **more: Any) -> list[Json]:
    """The history that the model sees in a second request, after a first with a call."""
    here.outside.plays(turn(None, CALL), turn("Done."), turn("Done too."))
    here.chat(QUESTION, session_id="s", **more)
    here.chat(*messages, session_id="s", **more)
    return here.outside.histories[2]


def test_a_session_is_given_a_name(world: Callable[..., World]) -> None:
    """Another for each run that names none."""
    here = world(turn("1"), turn("2"))

    ids = {here.chat().json()["session_id"] for _ in range(2)}

    assert [36, 36] == [len(one) for one in ids]


def test_a_stream_tells_the_session_at_its_end(world: Callable[..., World]) -> None:
    """On the last chunk alone."""
    told = world(turn("1")).stream(session_id="mine")

    assert [(len(told) - 2, "mine")] == [
        (place, data["session_id"]) for place, (_, data) in enumerate(told) if "session_id" in data
    ]


def test_the_expanded_history_is_stored(world: Callable[..., World]) -> None:
    """With what the client has not seen."""
    here = world(turn(None, CALL), turn("Done."))
    here.chat(session_id="s")

    body = here.request("GET", "/v1/sessions/s").json()

    assert {"messages": [QUESTION, *HIDDEN, ANSWER]} == body


def test_only_the_new_message_goes_on_with_the_session(world: Callable[..., World]) -> None:
    """The stored history comes in front of it."""
    assert [QUESTION, *HIDDEN, ANSWER, MORE] == second(world(), MORE)


def test_the_visible_history_goes_on_with_the_session(world: Callable[..., World]) -> None:
    """The hidden messages are put back where they were."""
    assert [QUESTION, *HIDDEN, ANSWER, MORE] == second(world(), QUESTION, ANSWER, MORE)


def test_today_only_the_visible_history_goes_on(world: Callable[..., World]) -> None:
    """With the new message alone the session begins anew, else the hidden ones come back."""
    assert [MORE] == second(world(dialect=VISIBLE), MORE)
    assert [QUESTION, *HIDDEN, ANSWER, MORE] == second(world(dialect=VISIBLE), QUESTION, ANSWER, MORE)
    assert [QUESTION, *HIDDEN, ANSWER, MORE] == second(world(dialect=TODAY), QUESTION, ANSWER, MORE, max_tool_rounds=4)


def test_text_in_parts_is_the_same_text(world: Callable[..., World]) -> None:
    """Clients write it both ways."""
    parts = {"role": "user", "content": [{"type": "text", "text": QUESTION["content"]}]}

    assert [parts["role"], "assistant", "tool", "assistant", "user"] == [
        one["role"] for one in second(world(), parts, ANSWER, MORE)
    ]


def test_instructions_are_not_stored_twice(world: Callable[..., World]) -> None:
    """A client that sends them with every message means the same ones."""
    system = {"role": "system", "content": "Be short."}
    here = world(turn("1"), turn("2"))

    here.chat(system, QUESTION, session_id="s")
    here.chat(system, MORE, session_id="s")

    assert [system, QUESTION, {"role": "assistant", "content": "1"}, MORE] == here.outside.histories[1]


def test_arguments_are_repeated_in_other_words(world: Callable[..., World]) -> None:
    """A client of the Messages API has them parsed; what was hidden behind its call comes back all the same."""
    first = turn(None, call("weather", '{"city" : "Paris"}', "own"))
    hidden = turn(None, call("ping", call_id="hidden"))
    here = world(first, hidden, turn("Done."), turn("Done too."), callbacks=(PING,), dispatch=False)
    plain = {"max_tokens": 9, "tools": [{"name": "weather", "input_schema": {}}], "session_id": "s", "model": "m"}
    use = {"type": "tool_use", "id": "own", "name": "weather", "input": {"city": "Paris"}}
    result = {"type": "tool_result", "tool_use_id": "own", "content": "18"}
    messages: list[Json] = [QUESTION]
    here.request("POST", "/v1/messages", json={**plain, "messages": messages})
    messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    here.request("POST", "/v1/messages", json={**plain, "messages": messages})
    messages += [ANSWER, MORE]

    here.request("POST", "/v1/messages", json={**plain, "messages": messages})

    roles = [(one["role"], one.get("tool_call_id")) for one in here.outside.histories[-1]]
    rounds = [("assistant", None), ("tool", "own"), ("assistant", None), ("tool", "hidden")]
    assert [("user", None), *rounds, ("assistant", None), ("user", None)] == roles


def test_an_edited_message_ends_the_stored_history(world: Callable[..., World]) -> None:
    """What was stored behind it belonged to another conversation."""
    here = world(turn("1"), turn(None, CALL), turn("2"), turn("3"))
    first = {"role": "assistant", "content": "1"}
    here.chat(QUESTION, session_id="s")
    here.chat(QUESTION, first, MORE, session_id="s")

    edited = {"role": "user", "content": "And in Oslo?"}
    here.chat(QUESTION, first, edited, session_id="s")

    assert [QUESTION, first, edited] == here.outside.histories[-1]


def test_the_same_request_again_runs_no_tool_again(world: Callable[..., World]) -> None:
    """Its results are there."""
    assert [QUESTION, *HIDDEN] == second(world(), QUESTION)


def test_a_failed_run_stores_nothing(world: Callable[..., World]) -> None:
    """The session is as it was."""
    here = world(turn(None, CALL), httpx.Response(500))

    response = here.chat(session_id="s")

    assert (502, 404) == (response.status_code, here.request("GET", "/v1/sessions/s").status_code)


def test_a_session_is_its_client_s(world: Callable[..., World]) -> None:
    """Another client that uses the same id begins one of its own."""
    here = world(turn("1"), turn("2"), turn("3"))

    here.chat(QUESTION, session_id="s", headers=ALICE)
    here.chat(MORE, session_id="s", headers=BOB)
    here.chat(MORE, session_id="s", headers=ALICE)

    assert [1, 1, 3] == [len(history) for history in here.outside.histories]
    assert 404 == here.request("GET", "/v1/sessions/s").status_code


def test_like_messages_are_no_session(world: Callable[..., World]) -> None:
    """Without an id nothing stored is used, whatever the messages are."""
    here = world(turn(None, CALL), turn("Done."), turn("2"))

    here.chat(QUESTION, session_id="s")
    body = here.chat(QUESTION, ANSWER, MORE).json()

    assert ([QUESTION, ANSWER, MORE], True) == (here.outside.histories[-1], body["session_id"] != "s")


def test_sessions_can_be_written_and_deleted(world: Callable[..., World]) -> None:
    """Deleting what is not there is no fault."""
    here = world(turn("1"))
    body = {"messages": [QUESTION, *HIDDEN, ANSWER]}
    put = here.request("PUT", "/v1/sessions/s", json=body)

    here.chat(MORE, session_id="s")
    deleted = [here.request("DELETE", "/v1/sessions/s") for _ in range(2)]

    assert (body, [QUESTION, *HIDDEN, ANSWER, MORE]) == (put.json(), here.outside.histories[0])
    assert [(200, True), (200, False)] == [(one.status_code, one.json()["deleted"]) for one in deleted]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ([], "messages"),
        ({"messages": "x"}, "messages"),
        ({"messages": [{"role": "x"}]}, "messages[0].role"),
        ({"messages": [QUESTION, {"role": []}]}, "messages[1].role"),
        ({"messages": [{"role": "tool", "tool_call_id": 3}]}, "messages[0].tool_call_id"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0].tool_calls[0].id"),
    ],
)
def test_a_body_that_is_no_session_is_refused(world: Callable[..., World], body: Any, param: str) -> None:
    """The error names the member."""
    response = world().request("PUT", "/v1/sessions/s", json=body)

    assert (400, param) == (response.status_code, response.json()["error"]["param"])


def test_the_form_of_today_is_tagged(world: Callable[..., World]) -> None:
    """Arguments are parsed, a result has a name and no id; it can be written back as it was read."""
    here = world(turn(None, CALL), turn("Done."), turn("2"), dialect=TODAY)
    here.chat(session_id="s")

    body = here.request("GET", "/v1/sessions/s").json()
    here.request("DELETE", "/v1/sessions/s")
    here.request("PUT", "/v1/sessions/s", json=body)
    here.chat(QUESTION, ANSWER, MORE, session_id="s")

    function = {"name": "weather", "arguments": {"city": "Paris"}}
    assert {
        "role": {"Left": "assistant"},
        "content": {"Left": ""},
        "tool_calls": {"Right": [{**CALL, "function": function}]},
    } == body["messages"][1]
    assert {"role": {"Left": "tool"}, "content": {"Left": "18 degrees"}, "name": {"Left": "weather"}} == body[
        "messages"
    ][2]
    assert [QUESTION, {**HIDDEN[0], "content": ""}, HIDDEN[1], ANSWER, MORE] == here.outside.histories[-1]


def test_results_without_ids_are_those_of_the_calls_in_their_order(world: Callable[..., World]) -> None:
    """Those of a turn with two calls."""
    here = world(turn("Done."), dialect=TODAY)
    two = [call(name, None, f"c_{name}") for name in ("a", "b")]
    results = [{"role": {"Left": "tool"}, "content": {"Left": one}} for one in ("of a", "of b")]
    asked = {"role": {"Left": "assistant"}, "content": {"Left": ""}, "tool_calls": {"Right": two}}
    question = {"role": {"Left": "user"}, "content": {"Left": QUESTION["content"]}}

    here.request("PUT", "/v1/sessions/s", json={"messages": [question, asked, *results]})
    here.chat(QUESTION, ANSWER, MORE, session_id="s")

    told = [(one["tool_call_id"], one["content"]) for one in here.outside.histories[-1] if one["role"] == "tool"]
    assert [("c_a", "of a"), ("c_b", "of b")] == told


def test_a_plain_message_is_refused_where_the_form_is_tagged(world: Callable[..., World]) -> None:
    """As today's server does."""
    response = world(dialect=TODAY).request("PUT", "/v1/sessions/s", json={"messages": [QUESTION]})

    assert (400, {"message": "messages[0].role: expected `Left` or `Right`"}) == (response.status_code, response.json())


@pytest.mark.parametrize("calls", [3, [3], [{}], [{"id": "c", "function": {"name": "n"}}], [{"id": []}]])
def test_calls_that_are_none_are_refused_in_both_forms(world: Callable[..., World], calls: Any) -> None:
    """As today's server has them too."""
    plain, tagged = {"role": "assistant", "tool_calls": calls}, {"role": {"Left": "assistant"}}
    tagged["tool_calls"] = {"Right": calls}
    bodies = [(DOCUMENT, plain), (TODAY, tagged)]

    put = [world(dialect=one).request("PUT", "/v1/sessions/s", json={"messages": [body]}) for one, body in bodies]

    assert [400, 400] == [response.status_code for response in put]


@pytest.mark.parametrize("session_id", ["", "a" * 129, "a b", "ä", 3])
def test_an_id_that_is_none_is_refused(world: Callable[..., World], session_id: Any) -> None:
    """The error names the member."""
    response = world().chat(session_id=session_id)

    assert (422, "session_id") == (response.status_code, response.json()["error"]["param"])
