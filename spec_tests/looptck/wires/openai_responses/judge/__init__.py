"""Finds what the Responses service would refuse in a request, with messages like the service's.

Three modules find problems: ``schema`` in the types and members of the body, ``options`` in options that contradict
each other, ``state`` in the server-side state that the request relies on and in the history. They run in the order in
which the service reports.
"""

from __future__ import annotations

from typing import Any

from looptck.values.problem import Problem
from looptck.wires.openai_responses.judge import options, schema, state
from looptck.wires.openai_responses.memory import Memory
from looptck.wires.openai_words import param

RULES: dict[str, str] = {**schema.RULES, **options.RULES, **state.RULES}
"""The id of every rule, and the rule in one sentence."""

_PARAMS = {
    "body-is-an-object": None,
    "content-type-is-json": None,
    "one-memory": None,
    "conversations-are-known": None,
    "something-is-asked": None,
    "thoughts-are-the-services": None,
    "choice-needs-tools": "tool_choice",
    "forced-tool-is-offered": "tool_choice",
    "items-come-once": "input",
    "items-are-kept": "input",
    "thoughts-come-with-what-followed": "input",
    "items-come-with-their-thought": "input",
    "every-call-is-answered": "input",
    "outputs-answer-a-call": "input",
    "one-output-per-call": "input",
}
"""Rules whose fault the service reports at a different place than looptck does."""


def judge(body: object, memory: Memory | None = None, seen: dict[str, int] | None = None) -> list[Problem]:
    """The problems for which the service would refuse the request; it would report the first one.

    Without a memory, the request is judged on its own. To ``seen`` is added how often each id is among the items.
    """
    return schema.SCHEMA_JUDGE.judge(body, options.problems, lambda valid: state.problems(valid, memory, seen))


def fit(body: dict[str, Any], new: list[Any], memory: Memory, seen: dict[str, int]) -> bool:
    """Whether there is no problem in these items of a body, at least one, after others without a problem.

    ``seen``: how often each id is among the other items, to which the new ones are added. These hold no
    items that the service may have sent since, all their calls are answered, and the body relies on nothing that is
    stored. A mention of JSON among the others counts on.
    """
    if not schema.SCHEMA_JUDGE.allows(new):
        return False
    return not state.problems({**body, "input": new}, memory, seen)


def refusal(problem: Problem) -> dict[str, object]:
    """The error body of the service for a problem."""
    error = {
        "message": problem.message,
        "type": "invalid_request_error",
        "param": _PARAMS[problem.rule] if problem.rule in _PARAMS else param(problem.pointer),
        "code": problem.code,
    }
    return {"error": error}
