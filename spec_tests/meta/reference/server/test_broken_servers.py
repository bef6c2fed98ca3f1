"""Each broken server does otherwise than the simulator, in the one thing that is broken in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from looptck_reference.server import Callback, Made, Produced, Simulator
from meta.reference.server import broken_servers as broken
from meta.reference.server.serving import QUESTION, World, call, names, turn

CALL = call("weather", {"city": "Paris"})
OTHER = call("weather", {"city": "Rome"}, "call_2")
DRAW = Callback("draw", lambda: Made("drawn", (Produced("a.txt", b"a"),)))
MORE = {"role": "user", "content": "More."}
ALICE, BOB = ({"x-api-key": name} for name in ("alice", "bob"))


def executions_at_the_cap(here: World) -> Any:
    """How many tools run with a cap of 1."""
    here.outside.plays(turn(None, CALL), turn(None, CALL), turn(None, CALL))
    here.chat(max_tool_rounds=1)
    return len(here.outside.dispatched)


def executions_of_a_turn(here: World) -> Any:
    """How many calls of one turn run."""
    here.outside.plays(turn(None, CALL, OTHER), turn("Done."))
    here.chat()
    return len(here.outside.dispatched)


def told(here: World) -> Any:
    """The events of a round with a file."""
    here.outside.plays(turn(None, call("draw")), turn("Done."))
    return names(here.stream())


def last_at_the_cap(here: World) -> Any:
    """The last event of a stream whose rounds are used up."""
    here.outside.plays(turn(None, CALL), turn(None, CALL))
    return names(here.stream(max_tool_rounds=1))[-1]


def stored(here: World) -> Any:
    """The roles of a stored session."""
    here.outside.plays(turn(None, CALL), turn("Done."))
    here.chat(session_id="s")
    return [one["role"] for one in here.request("GET", "/v1/sessions/s").json()["messages"]]


def seen_of_another(here: World) -> Any:
    """How long a client's history is after another client's run."""
    here.outside.plays(turn("1"), turn("2"))
    here.chat(QUESTION, session_id="a", headers=ALICE)
    here.chat(MORE, session_id="b", headers=BOB)
    return len(here.outside.histories[1])


def status_of_a_failure(here: World) -> Any:
    """The status of a run whose tool fails."""
    here.outside.plays(turn(None, CALL), turn("Done."))
    here.outside.dispatch = lambda _: httpx.Response(500)
    return here.chat().status_code


def choices(here: World) -> Any:
    """What binds the model in each round."""
    here.outside.plays(turn(None, CALL), turn("Done."))
    here.chat(tool_choice="required")
    return [body["tool_choice"] for body in here.outside.asked]


def calls_in_a_stream(here: World) -> Any:
    """How many chunks have calls."""
    here.outside.plays(turn(None, CALL), turn("Done."))
    chunks = [data for name, data in here.stream() if name is None and data != "[DONE]"]
    return sum("tool_calls" in chunk["choices"][0]["delta"] for chunk in chunks)


def counted(here: World) -> Any:
    """The tokens of two rounds of 13."""
    here.outside.plays(turn(None, CALL), turn("Done."))
    return here.chat().json()["usage"]["total_tokens"]


def file_of_a_round(here: World) -> Any:
    """The round of the file of round 0."""
    here.outside.plays(turn(None, call("draw")), turn("Done."))
    return here.chat().json()["files"][0]["source"]["round"]


@pytest.mark.parametrize(
    ("variant", "observe", "right", "wrong"),
    [
        (broken.OneRoundTooMany, executions_at_the_cap, 1, 2),
        (broken.RunsAllCalls, executions_of_a_turn, 1, 2),
        (
            broken.NoComplete,
            told,
            ["calling", "file_produced", "complete", "[DONE]"],
            ["calling", "file_produced", "[DONE]"],
        ),
        (
            broken.CompleteBeforeFiles,
            told,
            ["calling", "file_produced", "complete", "[DONE]"],
            ["calling", "complete", "file_produced", "[DONE]"],
        ),
        (broken.NoEndAtTheCap, last_at_the_cap, "[DONE]", "complete"),
        (broken.ForgetsToolMessages, stored, ["user", "assistant", "tool", "assistant"], ["user", "assistant"]),
        (broken.AnothersSession, seen_of_another, 1, 3),
        (broken.RaisesToTheClient, status_of_a_failure, 200, 500),
        (broken.ForcesForEver, choices, ["required", "auto"], ["required", "required"]),
        (broken.LeaksCalls, calls_in_a_stream, 0, 1),
        (broken.LastUsage, counted, 26, 13),
        (broken.NextRound, file_of_a_round, 0, 1),
    ],
)
def test_one_seam_breaks_one_thing(
    world: Callable[..., World], variant: type[Simulator], observe: Callable[[World], Any], right: Any, wrong: Any
) -> None:
    """The simulator is right, and the broken server is not."""
    assert [right, wrong] == [observe(world(variant=one, callbacks=(DRAW,))) for one in (Simulator, variant)]
