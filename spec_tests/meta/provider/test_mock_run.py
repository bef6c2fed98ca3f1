"""The mock run: its answer to each request, and its transcript."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from looptck.provider.http import HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.provider.script import RUNAWAY_CAP, SPARE_REQUESTS, Script, Step, step
from looptck.provider.toolbox import Toolbox
from looptck.values.growth import Growth
from looptck.values.problem import Problem
from looptck.values.transcript import Received, Replied, SideRequest, UnroutedRequest
from looptck.values.turns import says
from looptck.wires.openai_chat import OPENAI_CHAT
from looptck.wires.openai_chat.read import read
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
