"""Says what the Responses service would refuse in a request, in the service's kind of words.

Three rooms find problems: ``judge_schema`` in the shape of the body, ``judge_options`` in options that contradict each
other, ``judge_state`` in what the request leans on and in the history. They are asked in the order in which the
service reports.
"""

from __future__ import annotations

from looptck.wires.openai_responses import judge_options, judge_schema, judge_state
from looptck.wires.openai_responses.memory import Memory
from looptck.wires.openai_words import param
from looptck.wires.problem import Problem

RULES: dict[str, str] = {**judge_schema.RULES, **judge_options.RULES, **judge_state.RULES}
"""The slug of every rule, and the rule in one sentence."""

_UNREADABLE = Problem("body-is-an-object", "", "We could not parse the JSON body of your request.")

_PARAMS = {
    "body-is-an-object": None,
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
"""Rules whose fault the service places elsewhere than we do."""


def judge(body: object, memory: Memory | None = None) -> list[Problem]:
    """What the service would refuse; nothing if it would accept. The first is what it would answer.

    Without a memory, a request is judged by itself.
    """
    if not isinstance(body, dict):
        return [_UNREADABLE]
    try:
        found = judge_schema.problems(body)
    except ValueError:  # half of a surrogate pair, which JSON can escape and UTF-8 cannot hold
        return [_UNREADABLE]
    sound = judge_schema.sound_part(body, found) if found else body
    return found + judge_options.problems(sound) + judge_state.problems(sound, memory)


def refusal(problem: Problem) -> dict[str, object]:
    """The error body that the service would answer with."""
    error = {
        "message": problem.message,
        "type": "invalid_request_error",
        "param": _PARAMS[problem.rule] if problem.rule in _PARAMS else param(problem.pointer),
        "code": problem.code,
    }
    return {"error": error}
