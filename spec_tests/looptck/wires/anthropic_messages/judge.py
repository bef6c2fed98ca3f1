"""Says what the Messages service would refuse in a request, in the service's kind of words.

Five modules find problems in a request that stands alone: ``judge_schema`` in the shape of the body, ``judge_options``
in its tools, ``judge_strict`` in the schemas that it has compiled, ``judge_history`` in calls and results,
``judge_content`` in messages that say nothing. What only a service that remembers can tell is in ``judge_memory`` and
``judge_threads`` (``service``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looptck.wires.anthropic_messages import (
    judge_content,
    judge_history,
    judge_memory,
    judge_options,
    judge_schema,
    judge_strict,
    judge_threads,
)
from looptck.wires.anthropic_messages.encode import error_body
from looptck.wires.problem import Problem

RULES: dict[str, str] = {
    **judge_schema.RULES,
    **judge_options.RULES,
    **judge_strict.RULES,
    **judge_history.RULES,
    **judge_content.RULES,
    **judge_memory.RULES,
    **judge_threads.RULES,
}
"""The slug of every rule, and the rule in one sentence."""

_UNREADABLE = Problem("body-is-an-object", "", "The request body is not valid JSON.")


def judge(body: object, headers: Mapping[str, str] | None = None) -> list[Problem]:
    """What the service would refuse; nothing if it would accept. The first is what it would answer.

    ``headers``: those of the request, by name in lower case; None: they are not known. Of them the betas count.
    """
    if not isinstance(body, dict):
        return [_UNREADABLE]
    try:
        found = judge_schema.problems(body)
    except ValueError:  # half of a surrogate pair, which JSON can escape and UTF-8 cannot hold
        return [_UNREADABLE]
    sound = judge_schema.sound_part(body, found) if found else body
    messages = sound["messages"]
    betas = (headers or {}).get("anthropic-beta", "")
    return (
        found
        + judge_options.problems(sound, betas)
        + judge_strict.problems(sound)
        + judge_history.problems(messages)
        + judge_content.problems(messages)
    )


def refusal(problem: Problem) -> dict[str, Any]:
    """The error body that the service would answer with."""
    refused = error_body(problem.status, problem.message)
    if problem.code is not None:
        refused["error"]["details"] = {"error_code": problem.code}
    return refused
