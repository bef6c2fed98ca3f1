"""Faults of the mock provider: what a client receives in place of a turn, or of its end."""

from __future__ import annotations

import json

import pytest

from looptck.provider import faults
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Script, Step, step
from looptck.provider.toolbox import Toolbox
from looptck.values.transcript import Replied
from looptck.wires.openai_responses import OPENAI_RESPONSES
from meta.provider.mock_runs import ASKS, CALL, STREAMS, events, mock_run, parsed_reply, reply


@pytest.mark.parametrize("body", [ASKS, STREAMS])
def test_an_http_error_has_its_status_and_headers(body: object) -> None:
    """An error has its status, its headers and an error body, and sends no turn."""
    played = mock_run(faults.HttpError(429, (("retry-after", "1"),), "Slow down."))

    status, headers, error = parsed_reply(reply(played, body))

    assert (429, "1", "application/json") == (status, headers["retry-after"], headers["content-type"])
    assert ("Slow down.", "rate_limit_error") == tuple(json.loads(error)["error"][key] for key in ("message", "type"))
    assert {} == played.turns
    played.finish()
    (replied,) = [event for event in played.transcript.events if isinstance(event, Replied)]
    assert (("retry-after", "1"),) == replied.headers


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_cut_body_is_shorter_than_it_says(share: float) -> None:
    """A truncated plain reply announces its full length, sends a part, and closes the connection."""
    whole = parsed_reply(reply(mock_run(CALL)))[2]
    answer = reply(mock_run(Step(CALL, fault=faults.Cut(share))))
    _, headers, body = parsed_reply(answer)

    assert answer.then_close
    assert str(len(whole)) == headers["content-length"]
    assert whole[: int(len(whole) * share)] == body


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_cut_stream_has_no_last_chunk(share: float) -> None:
    """A truncated stream ends without the last chunk of the body, and closes the connection."""
    whole = parsed_reply(reply(mock_run(CALL), STREAMS))[2]
    answer = reply(mock_run(Step(CALL, fault=faults.Cut(share))), STREAMS)
    raw = answer.parts[0]
    assert isinstance(raw, bytes)

    assert answer.then_close
    assert not raw.endswith(b"0\r\n\r\n")
    assert whole[: int(len(whole) * share)] == parsed_reply(answer)[2]


@pytest.mark.parametrize(("done", "last"), [(True, "[DONE]"), (False, '"finish_reason":null')])
def test_no_finish_leaves_the_reason_out(done: bool, last: str) -> None:
    """A stream without finish has all events except the one with the stop reason, with or without the end marker."""
    answer = reply(mock_run(Step(CALL, fault=faults.NoFinish(done))), STREAMS)

    assert [] == [event for event in events(answer) if '"finish_reason":"' in event]
    assert last in events(answer)[-1]
    raw = answer.parts[0]
    assert isinstance(raw, bytes)
    assert raw.endswith(b"0\r\n\r\n")


def test_an_error_event_ends_the_events() -> None:
    """An error replaces the events from its position on."""
    whole = events(reply(mock_run(CALL), STREAMS))

    broken = events(reply(mock_run(Step(CALL, fault=faults.ErrorEvent(2, "Overloaded."))), STREAMS))

    assert whole[:2] == broken[:2]
    assert ["Overloaded."] == [json.loads(event)["error"]["message"] for event in broken[2:]]


def test_an_error_event_is_a_status_of_a_plain_reply() -> None:
    """A plain reply has no events: a loop that does without streams after an error does not get the turn whole."""
    broken = reply(mock_run(Step(CALL, fault=faults.ErrorEvent(0, "Overloaded."))), ASKS)

    assert (500, "Overloaded.") == (parsed_reply(broken)[0], json.loads(parsed_reply(broken)[2])["error"]["message"])


def test_a_malformed_event_is_among_good_ones() -> None:
    """A malformed event replaces one event; all others are unchanged."""
    whole = events(reply(mock_run(CALL), STREAMS))

    broken = events(reply(mock_run(Step(CALL, fault=faults.Malformed(1))), STREAMS))

    assert [whole[0], *whole[2:]] == [broken[0], *broken[2:]]
    with pytest.raises(ValueError, match="Unterminated string"):
        json.loads(broken[1])


def test_a_malformed_event_keeps_its_name() -> None:
    """On a wire with named events, clients skip an event without a name before they read its data."""
    made = MockRun(OPENAI_RESPONSES, Script((step(Step(CALL, fault=faults.Malformed(1))),), None), Toolbox({}))
    made.opened("/c1")
    _, _, stream = parsed_reply(reply(made, {"model": "m", "input": "Go.", "stream": True}, "/c1/v1/responses"))

    name, data = stream.split(b"\n\n")[1].split(b"\n")
    assert b"event: response.in_progress" == name
    with pytest.raises(ValueError, match="Unterminated string"):
        json.loads(data.removeprefix(b"data:"))


@pytest.mark.parametrize("body", [ASKS, STREAMS])
def test_a_page_of_html_has_status_200(body: object) -> None:
    """A broken proxy's page is HTML with status 200."""
    status, headers, page = parsed_reply(reply(mock_run(Step(CALL, fault=faults.NotJson())), body))

    assert (200, "text/html") == (status, headers["content-type"])
    assert page.startswith(b"<html>")


def test_a_fault_needs_a_turn_to_act_on() -> None:
    """A fault that changes a turn cannot be a step without a turn."""
    with pytest.raises(TypeError, match=r"write Step\(turn, fault=…\)"):
        step(faults.Cut())
