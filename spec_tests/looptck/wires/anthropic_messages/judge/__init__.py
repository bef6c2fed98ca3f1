"""Finds what the Messages service would refuse in a request, with messages like the service's.

Five modules find problems in a single request: ``schema`` in the types and members of the body, ``options`` in its
tools, ``strict`` in the schemas that the service compiles, ``history`` in calls and results, ``content`` in empty
messages. Two more find problems that only a service with a memory can know: ``memory`` and ``threads``, which
``MessagesService`` uses.
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
"""The id of every rule, and the rule in one sentence."""


def judge(body: object, headers: Mapping[str, str] | None = None) -> list[Problem]:
    """The problems for which the service would refuse the request; it would report the first one.

    ``headers``: the request headers by lower-case name; None: unknown. Only the betas are used.
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
    """The error body of the service for a problem."""
    refused = error_body(problem.status, problem.message)
    if problem.code is not None:
        refused["error"]["details"] = {"error_code": problem.code}
    return refused
