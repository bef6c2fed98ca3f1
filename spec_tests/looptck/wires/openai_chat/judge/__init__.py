"""Finds what the Chat Completions service would refuse in a request, with messages like the service's.

Three modules find problems: ``schema`` in the types and members of the body, ``options`` in options that contradict
each other, ``history`` in the order of the messages. They run in the order in which the service reports.
"""

from __future__ import annotations

from typing import Any

from looptck.values.problem import Problem
from looptck.wires.openai_chat.judge import history, options, schema
from looptck.wires.openai_words import param

RULES: dict[str, str] = {**schema.RULES, **options.RULES, **history.RULES}
"""The id of every rule, and the rule in one sentence."""

_MESSAGE_PARAMS = {
    "every-call-is-answered": "role",
    "results-follow-their-calls": "role",
    "results-answer-a-call": "role",
    "results-name-a-known-call": "tool_call_id",
    "one-result-per-call": "tool_call_id",
    "results-carry-a-call-id": "tool_call_id",
    "function-results-carry-a-name": "name",
    "content-is-present": "content",
}
"""Rules on the history, whose faults the service names in the form ``messages.[3].role``."""

_OTHER_PARAMS = {
    "body-is-an-object": None,
    "content-type-is-json": None,
    "model-is-named": None,
    "forced-function-is-offered": "function_call",
    "forced-tool-is-offered": "function_call",
}
"""Rules whose fault the service reports at a different place than looptck does."""


def judge(body: object) -> list[Problem]:
    """The problems for which the service would refuse the request; it would report the first one."""
    return schema.SCHEMA_JUDGE.judge(body, options.problems, history.problems)


def fit(messages: list[Any]) -> bool:
    """Whether there is no problem in these messages, at least one, after others without a problem.

    In these all calls are answered, so that no rule looks back at them; and a mention of JSON among them counts on.
    """
    return schema.SCHEMA_JUDGE.allows(messages) and not history.problems({"messages": messages})


def refusal(problem: Problem) -> dict[str, object]:
    """The error body of the service for a problem."""
    error = {
        "message": problem.message,
        "type": "invalid_request_error",
        "param": _param(problem),
        "code": problem.code,
    }
    return {"error": error}


def _param(problem: Problem) -> str | None:
    if problem.rule in _OTHER_PARAMS:
        return _OTHER_PARAMS[problem.rule]
    if problem.rule in _MESSAGE_PARAMS:
        return f"messages.[{problem.pointer.split('/')[2]}].{_MESSAGE_PARAMS[problem.rule]}"
    return param(problem.pointer)
