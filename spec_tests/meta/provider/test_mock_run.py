"""The mock run: its answer to each request, and its transcript."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from looptck.provider import faults
from looptck.provider.gate import Gate
from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.provider.script import RUNAWAY_CAP, SPARE_REQUESTS, Hold, Script, Step, step
from looptck.provider.toolbox import Toolbox
from looptck.values.framing import DEFAULT
from looptck.values.growth import Growth
from looptck.values.problem import Problem
from looptck.values.transcript import Received, Replied, SideRequest, UnroutedRequest
from looptck.values.turns import says
from looptck.wires.openai_chat import OPENAI_CHAT
from looptck.wires.openai_chat.read import read
from looptck.wires.openai_responses import OPENAI_RESPONSES
from looptck.wires.stateless import Stateless
from meta.provider.mock_runs import ASKS, CALL, STREAMS, events, mock_run, noted, parsed_reply, reply


def test_a_plain_request_gets_the_whole_turn() -> None:
    """A plain request gets one body; request, reply and turn are recorded."""
    played = mock_run(CALL)

    status, headers, body = parsed_reply(reply(played))

    assert (200, "application/json", str(len(body))) == (status, headers["content-type"], headers["content-length"])
    assert "call_1a" == json.loads(body)["choices"][0]["message"]["tool_calls"][0]["id"]
    assert [(1, True, ())] == [(one.n, one.scripted, one.problems) for one in noted(played, Received)]
    assert [(1, 200, "a turn")] == [(one.n, one.status, one.what) for one in noted(played, Replied)]
    assert {1: CALL.numbered(1)} == played.turns


def test_a_streaming_request_gets_events() -> None:
    """A request for a stream is answered with events, in one write."""
    answer = reply(mock_run(CALL), STREAMS)

    assert 1 == len(answer.parts)
    assert parsed_reply(answer)[1]["content-type"].startswith("text/event-stream")
    assert "[DONE]" == events(answer)[-1]


@pytest.mark.parametrize("body", [ASKS, STREAMS])
def test_a_step_may_have_a_content_type_of_its_own(body: object) -> None:
    """The content type of the reply has the parameters of its step."""
    answer = reply(mock_run(Step(CALL, type=";charset=x")), body)

    assert parsed_reply(answer)[1]["content-type"] in {"application/json;charset=x", "text/event-stream;charset=x"}


def test_the_headers_of_a_request_are_written_down() -> None:
    """A check may read the headers of a request."""
    played = mock_run(CALL)
    body = json.dumps(ASKS).encode()

    played.answer(HttpRequest("POST", "/c1/v1/chat/completions", {"x-beta": "a, b"}, body))

    assert [{"x-beta": "a, b"}] == [dict(one.headers) for one in noted(played, Received)]


def test_a_query_is_no_other_route() -> None:
    """A query string, which some gateways add, does not change the route."""
    assert 200 == parsed_reply(reply(mock_run(CALL), path="/c1/v1/chat/completions?api-version=1"))[0]


def test_an_unexpected_request_is_answered_with_an_error() -> None:
    """A request after the end of the script is recorded, and gets the provider's kind of error."""
    played = mock_run(says("Done."))
    reply(played)

    status, _, body = parsed_reply(reply(played))

    assert 400 == status
    assert "looptck: the script ends before request 2." == json.loads(body)["error"]["message"]
    assert [True, False] == [one.scripted for one in noted(played, Received)]
    assert "past the end of the script" == noted(played, Replied)[1].what


@pytest.mark.parametrize("endless", [False, True])
def test_a_runaway_loop_is_cut_off(endless: bool) -> None:
    """Requests after the cap get no answer; every request up to it gets one."""
    cap = RUNAWAY_CAP if endless else 1 + SPARE_REQUESTS
    played = mock_run(says("Done."), endless=(lambda n: Step(says(f"No. {n}"))) if endless else None)

    answered = [played.answer(HttpRequest("POST", "/c1/v1/chat/completions", {}, json.dumps(ASKS).encode()))]
    answered += [played.answer(HttpRequest("POST", "/c1/v1/chat/completions", {}, b"{}")) for _ in range(cap + 1)]

    assert [*[True] * cap, False, False] == [answer is not None for answer in answered]
    assert cap == len(noted(played, Received))


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"not json", "body-is-an-object"),
        (b"\xff", "body-is-an-object"),
        (b"[" * 100_000, "body-is-an-object"),
        ([], "body-is-an-object"),
        ({**ASKS, "temperatur": 1}, "parameters-are-known"),
    ],
    ids=["text", "bytes", "nested", "list", "unknown"],
)
def test_what_the_service_would_refuse_is_refused(body: object, rule: str) -> None:
    """A request that the judge refuses gets its 400; the step is not consumed, and no turn is sent."""
    played = mock_run(says("Never."), says("Now."))

    status, _, refusal = parsed_reply(reply(played, body))

    assert 400 == status
    assert "invalid_request_error" == json.loads(refusal)["error"]["type"]
    assert [rule] == [one.problems[0].rule for one in noted(played, Received)]
    assert ["refused"] == [one.what for one in noted(played, Replied)]
    assert {} == played.turns


def test_an_error_of_the_kit_is_kept() -> None:
    """An internal error of looptck during an answer is kept for the verdict, and the connection is closed."""
    boom = RuntimeError("no such codec")

    def broken(stateful: bool) -> Any:
        def judge(body: object) -> Any:
            raise boom

        return Stateless(judge, read)

    played = MockRun(replace(OPENAI_CHAT, service=broken), Script((step(CALL),)), Toolbox())
    played.opened("/c1")

    assert played.answer(HttpRequest("POST", "/c1/v1/chat/completions", {}, b"{}")) is None
    assert boom is played.broken


# -- faults -----------------------------------------------------------------------------------------------------------


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


# -- gates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [0, 7])
@pytest.mark.parametrize("after", [(0,), (2,), (0, 0, 3), (2, 999), (999,), (999, 0)])
def test_holds_cut_the_stream_and_lose_nothing(after: tuple[int, ...], every: int) -> None:
    """However a stream is held, its parts add up to the same stream, with one gate for each hold."""
    framing = DEFAULT.but(every=every)
    gates = [Gate(f"no. {n}") for n in range(len(after))]
    held = Step(CALL, framing, holds=tuple(Hold(gate, at) for gate, at in zip(gates, after, strict=True)))

    answer = reply(mock_run(held), STREAMS)

    assert parsed_reply(reply(mock_run(CALL), STREAMS))[2] == parsed_reply(answer)[2]
    assert sorted(map(id, gates)) == sorted(id(part) for part in answer.parts if isinstance(part, Gate))
    ends = [part for part in answer.parts if isinstance(part, bytes) and part.endswith(b"0\r\n\r\n")]
    assert [answer.parts[-1]] == ends


def test_a_hold_follows_its_events() -> None:
    """Exactly the requested number of events is sent before a gate."""
    gate = Gate("held")

    answer = reply(mock_run(Step(CALL, holds=(Hold(gate, 2),))), STREAMS)

    before = HttpReply(answer.parts[: answer.parts.index(gate)])
    assert 2 == len(events(before))


@pytest.mark.parametrize("body", [ASKS, STREAMS])
def test_a_gate_may_stand_before_the_reply(body: object) -> None:
    """No part of a reply is sent before a gate at its beginning."""
    gate = Gate("held")

    assert gate is reply(mock_run(Step(CALL, before=gate)), body).parts[0]


# -- other routes -----------------------------------------------------------------------------------------------------


def test_models_are_listed() -> None:
    """A client that first lists the models gets one model, and this request does not count against the script."""
    played = mock_run()

    models = json.loads(parsed_reply(reply(played, b"", "/c1/v1/models", "GET"))[2])

    assert ("list", ["model"]) == (models["object"], [model["object"] for model in models["data"]])
    assert [("GET", "/v1/models", "200")] == [
        (one.method, one.path, one.answered) for one in noted(played, SideRequest)
    ]


def test_requests_outside_the_script_come_to_an_end() -> None:
    """A client that sends requests outside the script without end gets no answer after a limit."""
    played = mock_run()
    asked = HttpRequest("GET", "/c1/v1/models", {}, b"")

    answers = [played.answer(asked) for _ in range(200)]

    assert 100 == sum(answer is not None for answer in answers) == len(noted(played, SideRequest))


class Forgetful(Stateless):
    """A service that refuses requests that rely on its state once it has lost the state."""

    lost: str | None = None

    def judge(self, body: Any, headers: Mapping[str, str] | None = None, growth: Growth | None = None) -> list[Problem]:
        leans = self.lost is not None and "leans" in body
        return [Problem("memory", "/leans", "I have forgotten.", 404, self.lost, state_missing=True)] if leans else []

    def lose_state(self, why: str | None = None) -> None:
        self.lost = why or "gone"


def test_a_request_that_relies_on_lost_state_costs_no_step() -> None:
    """The service loses its state before its step; a request that relies on it is refused, a full one answered."""
    wire = replace(OPENAI_CHAT, service=lambda _: Forgetful(lambda _: [], read))
    script = Script((step(CALL), Step(says("Warm."), forgets="too_old")))
    played = MockRun(wire, script, Toolbox())
    played.opened("/c1")

    first, lost, again = reply(played, {**ASKS, "leans": 1}), reply(played, {**ASKS, "leans": 1}), reply(played)

    assert [200, 404, 200] == [parsed_reply(one)[0] for one in (first, lost, again)]
    assert ["404, too_old"] == [one.answered for one in noted(played, SideRequest)]
    assert [1, 2] == [one.n for one in noted(played, Received)]
    assert "Warm." == json.loads(parsed_reply(again)[2])["choices"][0]["message"]["content"]


def test_a_service_may_keep_nothing() -> None:
    """The script defines whether the service keeps state."""
    asked: list[bool] = []

    def service(stateful: bool) -> Stateless:
        asked.append(stateful)
        return Stateless(lambda _: [], read)

    MockRun(replace(OPENAI_CHAT, service=service), Script(stateful=False), Toolbox())

    assert [False] == asked


def test_a_gate_waits_for_a_text() -> None:
    """A hold after a text is placed where it has been sent; a text that never comes is a mistake in the script."""
    gate = Gate("never")
    slow = DEFAULT.but(fragment=2)
    answer = reply(mock_run(Step(says("A long story."), slow, holds=(Hold(gate, "A long"),))), STREAMS)

    place = answer.parts.index(gate)
    before = b"".join(part for part in answer.parts[:place] if isinstance(part, bytes))
    assert (True, False) == (b'"content":"ng"' in before, b'"content":" s"' in before)
    broken = mock_run(Step(says("A story."), holds=(Hold(gate, "A long"),)))
    assert broken.answer(HttpRequest("POST", "/c1/v1/chat/completions", {}, json.dumps(STREAMS).encode())) is None
    assert isinstance(broken.broken, ValueError)


def test_a_gate_waits_for_all_but_the_finish() -> None:
    """A hold without a position is placed before the event with the stop reason."""
    gate = Gate("never")
    answer = reply(mock_run(Step(CALL, holds=(Hold(gate, None),))), STREAMS)

    place = answer.parts.index(gate)
    before = b"".join(part for part in answer.parts[:place] if isinstance(part, bytes))
    after = b"".join(part for part in answer.parts[place:] if isinstance(part, bytes))
    assert (True, False) == (b"arguments" in before, b"arguments" in after)
    assert (False, True) == (b'"finish_reason":"tool_calls"' in before, b'"finish_reason":"tool_calls"' in after)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/c1/v1/chat/completions"),
        ("POST", "/c1/chat/completions"),
        ("POST", "/c1/v1/responses"),
        ("POST", "/c1/v1/chat/completions/"),
        ("DELETE", "/c1/"),
    ],
)
def test_an_unrouted_request_is_noted(method: str, path: str) -> None:
    """A request without a route is recorded and gets 404; it is not a model request."""
    played = mock_run(CALL)

    status, _, body = parsed_reply(reply(played, b"", path, method))

    assert 404 == status
    assert f"Invalid URL ({method} {path.removeprefix('/c1')})" == json.loads(body)["error"]["message"]
    assert [(method, path.removeprefix("/c1"))] == [(one.method, one.path) for one in noted(played, UnroutedRequest)]
    assert [] == noted(played, Received)


def test_a_reply_is_under_way_until_it_is_recorded() -> None:
    """Who closes a run while the last byte of a reply is sent sees it under way, or finds it in the transcript."""
    played = mock_run(CALL)
    seen = []

    def watch(event: object) -> None:
        if isinstance(event, Replied):
            seen.append(event.n in played.under_way)

    played.transcript.watchers.append(watch)
    reply(played)

    assert ([True], {}) == (seen, played.under_way)
