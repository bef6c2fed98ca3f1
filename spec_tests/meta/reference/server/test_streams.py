"""Whole event streams, as they were agreed upon: a snapshot of each API; and what a plain reply says of itself."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from syrupy.assertion import SnapshotAssertion

from looptck_reference.server import DOCUMENT, TODAY, Callback, Made, Produced, ServerDialect
from meta.reference.server.hand_clock import HandClock
from meta.reference.server.serving import ASKS, World, call, turn

DRAW = Callback("draw", lambda: Made("drawn", (Produced("a.txt", b"a"),)))


def steady(content: str) -> str:
    """The stream without what differs from run to run."""
    return re.sub(r"[0-9a-f]{32}|(?<=file_)[0-9a-f]{12}", "RUN", content)


@pytest.mark.parametrize("dialect", [DOCUMENT, TODAY], ids=["document", "today"])
@pytest.mark.parametrize("path", ASKS, ids=["chat", "messages", "responses"])
def test_a_stream_to_the_cap(
    world: Callable[..., World], path: str, dialect: ServerDialect, snapshot: SnapshotAssertion
) -> None:
    """A dispatched tool, a file, and a call that nobody ran."""
    pending = turn("I would like ", call("weather", {"city": "Oslo"}, "call_3"))
    rounds = (turn("Let me see. ", call("weather", {"city": "Rome"})), turn(None, call("draw", call_id="call_2")))
    here = world(*rounds, pending, dialect=dialect, callbacks=(DRAW,), clock=HandClock(1_700_000_000))
    body = {"model": "m", "stream": True, "max_tool_rounds": 2, "session_id": "s", **ASKS[path]}

    response = here.request("POST", path, json=body)

    assert "text/event-stream; charset=utf-8" == response.headers["content-type"]
    assert snapshot == steady(response.text)


@pytest.mark.parametrize(
    ("path", "prefix"), [("/v1/messages", "msg_"), ("/v1/responses", "resp_")], ids=["messages", "responses"]
)
def test_a_plain_reply_names_its_model_and_counts(world: Callable[..., World], path: str, prefix: str) -> None:
    """A count that the model does not tell is zero."""
    here = world(turn("Done.", usage={"total_tokens": 13}))

    reply = here.request("POST", path, json={"model": "m", **ASKS[path]}).json()

    usage = reply["usage"]
    assert ("m", True) == (reply["model"], reply["id"].startswith(prefix))
    assert (0, 0) == (usage["input_tokens"], usage["output_tokens"])
