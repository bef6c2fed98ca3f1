"""Rounds: one inference each, the first call of it run, and the history of the next."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace

import pytest

from looptck_reference.server import DOCUMENT, TODAY, Callback
from looptck_reference.server.seams import NOT_RUN
from meta.reference.server.serving import QUESTION, USAGE, World, call, entries, turn

CALL = call("weather", {"city": "Paris"})
TWO = (call("weather", {"city": "Paris"}, "c1"), call("weather", {"city": "Rome"}, "c2"))


def test_a_turn_without_calls_is_the_answer(world: Callable[..., World]) -> None:
    """One inference, no tool."""
    here = world(turn("Hello."))

    response = here.chat()

    assert ("Hello.", []) == (response.json()["choices"][0]["message"]["content"], entries(response))


def test_a_call_is_run_and_the_model_asked_again(world: Callable[..., World]) -> None:
    """The client gets the answer of the second round."""
    here = world(turn(None, CALL), turn("It is 18 degrees."))

    response = here.chat()

    assert "It is 18 degrees." == response.json()["choices"][0]["message"]["content"]
    assert [(0, "weather", "18 degrees")] == entries(response)


def test_the_history_grows_by_the_call_and_its_result(world: Callable[..., World]) -> None:
    """The turn with its call, then a message of role tool with its id."""
    here = world(turn(None, CALL), turn("Done."))

    here.chat()

    assistant = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"}
    assert [[QUESTION], [QUESTION, assistant, result]] == here.outside.histories


def test_only_the_first_of_several_calls_is_run(world: Callable[..., World], caplog: pytest.LogCaptureFixture) -> None:
    """The log has a warning."""
    here = world(turn(None, *TWO), turn("Done."))

    with caplog.at_level(logging.WARNING):
        response = here.chat()

    assert [(0, "weather", "18 degrees")] == entries(response)
    assert ["Model returned 2 tool calls; executing only the first."] == [one.message for one in caplog.records]


def test_the_model_is_told_of_a_call_that_did_not_run(world: Callable[..., World]) -> None:
    """It is answered as all calls of a turn are."""
    here = world(turn(None, *TWO), turn("Done."))

    here.chat()

    _, assistant, ran, unrun = here.outside.histories[1]
    assert list(TWO) == assistant["tool_calls"]
    assert ("c1", "18 degrees", "c2") == (ran["tool_call_id"], ran["content"], unrun["tool_call_id"])
    assert {"error": NOT_RUN, "tool": "weather", "status": "not_run"} == json.loads(unrun["content"])


def test_today_the_client_is_told_of_a_call_that_did_not_run(world: Callable[..., World]) -> None:
    """No history has it."""
    here = world(turn(None, *TWO), turn("Done."), dialect=TODAY)

    response = here.chat()

    assert [["c2"]] == [[left["id"] for left in one["tool_calls"]] for one in response.json()["agentic_warnings"]]
    assert [[TWO[0]]] == [one["tool_calls"] for one in here.outside.histories[1] if "tool_calls" in one]


def test_all_calls_are_run_where_the_dialect_says_so(world: Callable[..., World]) -> None:
    """In order, in one round."""
    here = world(turn(None, *TWO), turn("Done."), dialect=replace(DOCUMENT, parallel="all"))

    response = here.chat()

    assert [0, 0] == [one["round"] for one in response.json()["agentic_tool_calls"]]
    assert ["c1", "c2"] == [one["tool_call_id"] for one in here.outside.histories[1] if one["role"] == "tool"]


def test_a_forced_tool_choice_holds_once(world: Callable[..., World]) -> None:
    """It would never end otherwise."""
    here = world(turn(None, CALL), turn(None, CALL), turn("Done."))

    here.chat(tool_choice="required")

    assert ["required", "auto", "auto"] == [body["tool_choice"] for body in here.outside.asked]


def test_other_options_hold_in_every_round(world: Callable[..., World]) -> None:
    """What the model's API knows goes through; what is the server's does not."""
    here = world(turn(None, CALL), turn("Done."))

    here.chat(temperature=0.5, response_format={"type": "text"}, session_id="s", max_tool_rounds=5)

    known = {"model", "messages", "tools", "tool_choice"}
    beside = [{name: value for name, value in body.items() if name not in known} for body in here.outside.asked]
    assert [{"temperature": 0.5, "response_format": {"type": "text"}}] * 2 == beside


def test_usage_is_the_sum_of_all_rounds(world: Callable[..., World]) -> None:
    """Also of the counts inside of details."""
    more = {**USAGE, "prompt_tokens_details": {"cached_tokens": 4}}
    here = world(turn(None, CALL, usage=more), turn(None, CALL, usage=None), turn("Done.", usage=more))

    usage = here.chat().json()["usage"]

    total = {"prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 26}
    assert {**total, "prompt_tokens_details": {"cached_tokens": 8}} == usage


def test_rates_follow_from_the_sums(world: Callable[..., World]) -> None:
    """What is no count is the last one's."""
    slow = {**USAGE, "total_time_sec": 12.0, "avg_tok_per_sec": 1.0, "avg_compl_tok_per_sec": 2.0, "kind": "a"}
    fast = {**USAGE, "total_time_sec": 1.0, "avg_tok_per_sec": 13.0, "avg_compl_tok_per_sec": 9.0, "kind": "b"}
    here = world(turn(None, CALL, usage=slow), turn("Done.", usage=fast))

    usage = here.chat().json()["usage"]

    assert {
        "prompt_tokens": 20,
        "completion_tokens": 6,
        "total_tokens": 26,
        "total_time_sec": 13.0,
        "avg_tok_per_sec": 2.0,
        "avg_compl_tok_per_sec": None,
        "kind": "b",
    } == usage


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_cut_turn_is_not_run(world: Callable[..., World], finish: str) -> None:
    """Its calls may be half of what was meant; they go to the client with the reason."""
    here = world(turn(None, CALL, finish=finish))

    choice = here.chat().json()["choices"][0]

    assert (finish, [CALL], []) == (choice["finish_reason"], choice["message"]["tool_calls"], here.outside.dispatched)


def test_a_name_that_nobody_knows_is_told_to_the_model(world: Callable[..., World]) -> None:
    """It is neither run nor lost, and the run goes on."""
    ping = Callback("ping", lambda: "pong")
    here = world(turn(None, call("invented")), turn("Sorry."), dispatch=False, callbacks=(ping,))

    response = here.chat()

    text = '{"error":"Tool `invented` is not registered.","tool":"invented","status":"not_found"}'
    assert [(0, "invented", text)] == entries(response)
    assert text == here.outside.histories[1][-1]["content"]


def test_a_name_that_nobody_offered_is_not_dispatched(world: Callable[..., World]) -> None:
    """The endpoint gets calls of the request's tools alone."""
    here = world(turn(None, call("invented")), turn("Sorry."))

    response = here.chat()

    assert ([], [0]) == (here.outside.dispatched, [round_ for round_, _, _ in entries(response)])


def test_the_first_path_that_knows_the_name_runs_the_call(world: Callable[..., World]) -> None:
    """A registered callback comes before the dispatch URL."""
    ping = Callback("ping", lambda: "pong")
    here = world(turn(None, call("ping")), turn(None, CALL), turn("Done."), callbacks=(ping,))

    response = here.chat()

    assert [(0, "ping", "pong"), (1, "weather", "18 degrees")] == entries(response)
    assert 1 == len(here.outside.dispatched)


def test_text_beside_a_call_is_kept_for_the_model(world: Callable[..., World]) -> None:
    """The client does not see it."""
    here = world(turn("Let me check. ", CALL), turn("Done."))

    response = here.chat()

    assert "Done." == response.json()["choices"][0]["message"]["content"]
    assert "Let me check. " == here.outside.histories[1][1]["content"]


def test_today_text_beside_a_call_is_shown_to_the_client(world: Callable[..., World]) -> None:
    """The model does not see it again."""
    here = world(turn("Let me check. ", CALL), turn("Done."), dialect=TODAY)

    response = here.chat()

    assert "Let me check. Done." == response.json()["choices"][0]["message"]["content"]
    assert here.outside.histories[1][1]["content"] is None
