"""Finds what the Messages service would refuse in a request, with messages like the service's.

Seven modules find problems in a single request: ``surrogates`` in its characters, and then nothing else is looked at,
``schema`` in the types and members of the body, ``options`` in its tools, ``tool_schemas`` in their schemas, ``strict``
in the schemas that the service compiles, ``history`` in calls and results, ``content`` in empty messages. Two more find
problems that only a service with a memory can know: ``memory`` and ``threads``, which ``MessagesService`` uses.
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
    surrogates,
    threads,
    tool_schemas,
)

RULES: dict[str, str] = {
    **surrogates.RULES,
    **schema.RULES,
    **options.RULES,
    **tool_schemas.RULES,
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
    return surrogates.problems(body) or schema.SCHEMA_JUDGE.judge(
        body,
        lambda valid: options.problems(valid, betas),
        tool_schemas.problems,
        strict.problems,
        history.problems,
        content.problems,
    )


def fit(messages: list[Any], before: list[Any]) -> bool:
    """Whether there is no problem in these messages, at least one, after others without a problem.

    If those end with a message of the user, all calls in them are answered, and what was right for the last of them is
    right for one in the middle. Messages that are added neither take a tool away nor a toolset; marks for the cache are
    counted over all of them.
    """
    if before[-1]["role"] != "user" or not schema.SCHEMA_JUDGE.allows(messages):
        return False
    new = {"messages": messages}
    cannot_be_read = surrogates.problems(messages)
    return not (cannot_be_read or history.problems(new) or content.problems(new) or options.marks(new))


def refusal(problem: Problem) -> dict[str, Any]:
    """The error body of the service for a problem."""
    refused = error_body(problem.status, problem.message)
    if problem.code is not None:
        refused["error"]["details"] = {"error_code": problem.code}
    return refused
