"""A service that has answered, and what the tests ask of it."""

from __future__ import annotations

from typing import Any

from looptck.values.turns import Call, Thinking, Turn, turn
from looptck.wires.openai_responses.encode import items
from looptck.wires.openai_responses.judge import refusal
from looptck.wires.openai_responses.service import ResponsesService, service
from meta.judge.responses.bodies import Item, request

THOUGHT = turn(Thinking("hm"), Call.of("f", {"x": 1})).numbered(1)
SENT, ASKED = items(THOUGHT, 1)
"""The items of that turn: a thought, and the call that it led to."""
FIRST = "resp_looptck0000000000000001"
SECOND = "resp_looptck0000000000000002"
BARE = {name: value for name, value in ASKED.items() if name != "id"}


def answered(answer: Turn = THOUGHT, *, stateful: bool = True, **options: object) -> ResponsesService:
    """A service that has answered one request with this turn."""
    backend = service(stateful)
    backend.replied(request(**options), 1, answer)
    return backend


def first(backend: ResponsesService, body: dict[str, Any]) -> tuple[object, ...]:
    """The status, rule and whether only memory is wanting, of the first problem."""
    problem = backend.judge(body)[0]
    return problem.status, problem.rule, problem.state_missing


def error(backend: ResponsesService, body: dict[str, Any]) -> Any:
    """The error that the service answers with."""
    return refusal(backend.judge(body)[0])["error"]


def continued(*given: Item, after: str = FIRST, **options: object) -> dict[str, Any]:
    """A request that goes on from a response."""
    return request(*given, previous_response_id=after, **options)
