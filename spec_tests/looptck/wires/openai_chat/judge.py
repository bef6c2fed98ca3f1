"""Says what the Chat Completions service would refuse in a request, in the service's kind of words.

Three rooms find problems: ``judge_schema`` in the shape of the body, ``judge_options`` in options that contradict each
other, ``judge_history`` in the order of the messages. They are asked in the order in which the service reports.
"""

from __future__ import annotations

from looptck.wires.openai_chat import judge_history, judge_options, judge_schema
from looptck.wires.openai_words import param
from looptck.wires.problem import Problem

RULES: dict[str, str] = {**judge_schema.RULES, **judge_options.RULES, **judge_history.RULES}
"""The slug of every rule, and the rule in one sentence."""

_UNREADABLE = Problem("body-is-an-object", "", "We could not parse the JSON body of your request.")

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
    "model-is-named": None,
    "forced-function-is-offered": "function_call",
    "forced-tool-is-offered": "function_call",
}
"""Rules whose fault the service places elsewhere than we do."""


def judge(body: object) -> list[Problem]:
    """What the service would refuse; nothing if it would accept. The first is what it would answer."""
    if not isinstance(body, dict):
        return [_UNREADABLE]
    try:
        found = judge_schema.problems(body)
    except ValueError:  # half of a surrogate pair, which JSON can escape and UTF-8 cannot hold
        return [_UNREADABLE]
    sound = judge_schema.sound_part(body, found) if found else body
    return found + judge_options.problems(sound) + judge_history.problems(sound["messages"])


def refusal(problem: Problem) -> dict[str, object]:
    """The error body that the service would answer with."""
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
