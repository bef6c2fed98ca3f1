"""The client-side path: calls that are the client's to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from looptck_reference.server import DOCUMENT, TODAY, Callback
from meta.reference.server.serving import QUESTION, World, call, names, turn

TWO = (call("weather", {"city": "Paris"}, "c1"), call("weather", {"city": "Rome"}, "c2"))
PING = Callback("ping", lambda: "pong")


def test_all_calls_go_to_the_client(world: Callable[..., World]) -> None:
    """Without the loop nothing is run and nothing left out."""
    choice = world(turn("Let me see.", *TWO), dispatch=False).chat().json()["choices"][0]

    assert ("tool_calls", "Let me see.", list(TWO)) == (
        choice["finish_reason"],
        choice["message"]["content"],
        choice["message"]["tool_calls"],
    )


def test_a_stream_has_all_calls_in_one_chunk(world: Callable[..., World]) -> None:
    """Each with its index and its arguments whole."""
    told = world(turn(None, *TWO), dispatch=False).stream()

    deltas = [data["choices"][0]["delta"] for name, data in told if data != "[DONE]"]
    assert [[{"index": at, **one} for at, one in enumerate(TWO)]] == [
        delta["tool_calls"] for delta in deltas if "tool_calls" in delta
    ]
    assert ["[DONE]"] == names(told)


def test_a_tool_of_the_client_is_not_run_inside_the_loop(world: Callable[..., World]) -> None:
    """The call goes to the client, with the session; nothing says that it was run."""
    here = world(turn(None, *TWO), dispatch=False, callbacks=(PING,))

    told = here.stream()

    assert ["[DONE]"] == names(told)
    assert (list(TWO), "tool_calls") == (
        [
            {name: value for name, value in one.items() if name != "index"}
            for one in told[1][1]["choices"][0]["delta"]["tool_calls"]
        ],
        told[-2][1]["choices"][0]["finish_reason"],
    )


def test_a_cap_of_the_server_loses_no_call(world: Callable[..., World]) -> None:
    """Today's server enters the loop by the cap alone; the call arrives all the same."""
    told = world(turn(None, *TWO), dispatch=False, dialect=TODAY, max_tool_rounds=4).stream()

    assert ("tool_calls", "[DONE]") == (told[-2][1]["choices"][0]["finish_reason"], told[-1][1])


def test_a_turn_with_calls_of_both_kinds_loses_none(world: Callable[..., World]) -> None:
    """Where all calls are run, one that is the client's hands all of them over."""
    both = (call("ping", call_id="c1"), TWO[1])
    here = world(turn(None, *both), dispatch=False, callbacks=(PING,), dialect=replace(DOCUMENT, parallel="all"))

    choice = here.chat().json()["choices"][0]

    assert list(both) == choice["message"]["tool_calls"]


def test_the_client_goes_on_with_its_result(world: Callable[..., World]) -> None:
    """Its history comes back whole, with what it has not seen."""
    here = world(
        turn(None, call("ping", call_id="p")), turn(None, TWO[0]), turn("Done."), dispatch=False, callbacks=(PING,)
    )
    pending = here.chat(session_id="s").json()["choices"][0]["message"]

    here.chat(QUESTION, pending, {"role": "tool", "tool_call_id": "c1", "content": "18"}, session_id="s")

    told = [(one["role"], one.get("tool_call_id")) for one in here.outside.histories[-1]]
    assert [("user", None), ("assistant", None), ("tool", "p"), ("assistant", None), ("tool", "c1")] == told
