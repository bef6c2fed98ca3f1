"""What a test's code has from before the mock: ids and signatures that only the real service could judge.

A history that is prepared by hand, or read from a database, may name responses, items and thoughts that the mock has
never sent. It cannot know whether the service would accept them, so they are no finding.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from looptck.values.problem import Problem
from looptck.wires.openai_responses.judge import judge as judge_alone

OWN = "looptck"
"""What each id has in it that the mock gives to a response or an item."""
_STORED = frozenset(
    {"previous-response-is-kept", "conversations-are-known", "items-are-kept", "thoughts-are-the-services"}
)
"""The rules of Responses about what the service has sent or stored."""


def without_foreign(wire: str, body: Any, problems: Sequence[Problem], thoughts: Container[str]) -> Sequence[Problem]:
    """The problems of a request that do not depend on what the mock has never sent.

    Args:
        wire: the wire's name.
        body: the request.
        problems: what the service of the mock would refuse it for.
        thoughts: the texts of all thinking that the mock has sent.
    """
    if wire == "openai-responses" and any(_is_foreign(body, one) for one in problems):
        return judge_alone(body)
    if wire == "anthropic-messages":
        own_thread = isinstance(body, dict) and OWN in str(body.get("thread"))
        return [
            one
            for one in problems
            if not (one.state_missing and not own_thread) and not _is_foreign_thought(body, one, thoughts)
        ]
    return problems


def _is_foreign(body: Any, problem: Problem) -> bool:
    """Whether a problem is about a response, an item or a thought that the mock has not sent."""
    if problem.rule not in _STORED:
        return False
    place = problem.pointer.removesuffix("/encrypted_content")
    named = _at(body, place if place == problem.pointer else f"{place}/id")
    return OWN not in str(named)


def _is_foreign_thought(body: Any, problem: Problem, thoughts: Container[str]) -> bool:
    if problem.rule != "thoughts-are-genuine":
        return False
    block = _at(body, problem.pointer.rpartition("/")[0])
    return "thinking" not in block or block["thinking"] not in thoughts


def _at(body: Any, pointer: str) -> Any:
    """The value at a place; None if there is none."""
    for step in pointer.split("/")[1:]:
        holder: Any = body if isinstance(body, dict) else dict(enumerate(body)) if isinstance(body, list) else {}
        body = holder.get(int(step) if isinstance(body, list) else step)
    return body
