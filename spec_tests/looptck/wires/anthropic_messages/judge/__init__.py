"""Says what the Messages service would refuse in a request, in the service's kind of words.

Five modules find problems in a single request: ``schema`` in the types and members of the body, ``options`` in its
tools, ``strict`` in the schemas that the service compiles, ``history`` in calls and results, ``content`` in empty
messages. Two more find problems that only a service with a memory can know: ``memory`` and ``threads``, which
``MessagesService`` asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looptck.values.problem import Problem
from looptck.wires.anthropic_messages.encode import error_body
from looptck.wires.anthropic_messages.judge import (
    content,
    history,
    memory,
    options,
    schema,
    strict,
    threads,
)

RULES: dict[str, str] = {
    **schema.RULES,
    **options.RULES,
    **strict.RULES,
    **history.RULES,
    **content.RULES,
    **memory.RULES,
    **threads.RULES,
}
"""The slug of every rule, and the rule in one sentence."""


def judge(body: object, headers: Mapping[str, str] | None = None) -> list[Problem]:
    """What the service would refuse; nothing if it would accept. The first is what it would answer.

    ``headers``: those of the request, by name in lower case; None: they are not known. Of them the betas count.
    """
    betas = (headers or {}).get("anthropic-beta", "")
    return schema.SCHEMA_JUDGE.judge(
        body,
        lambda valid: options.problems(valid, betas),
        strict.problems,
        history.problems,
        content.problems,
    )


def refusal(problem: Problem) -> dict[str, Any]:
    """The error body that the service would answer with."""
    refused = error_body(problem.status, problem.message)
    if problem.code is not None:
        refused["error"]["details"] = {"error_code": problem.code}
    return refused
