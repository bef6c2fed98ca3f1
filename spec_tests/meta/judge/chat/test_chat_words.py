"""Refusals read as the service's do."""

from __future__ import annotations

import math

import pytest

from looptck.wires.openai_chat.judge import judge, refusal
from meta.judge.chat.bodies import IMAGE, USER, asks, call, request, result, tool

INTEGER = (
    "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead."
)
OPTION = "Invalid type for 'verbosity': expected one of 'low', 'medium', or 'high', but got an integer instead."
NAN = "Invalid type for 'temperature': expected a decimal, but got NaN or an infinite number instead."
BELOW = "Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead."
ROLES = (
    "Invalid value: 'bot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."
)
EMPTY = (
    "Invalid 'messages[0].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array "
    "instead."
)
NULL = "Invalid value for 'content': expected a string, got null."
BLANK = (
    "Invalid 'tools[0].function.name': empty string. Expected a string with minimum length 1, but got an empty string "
    "instead."
)
ORPHAN = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: a, b"
)
TWICE = "Invalid parameter: Duplicate value for 'tool_call_id' of 'a', in messages[2] and messages[3]."
UNKNOWN = "Invalid parameter: 'tool_call_id' of 'b' not found in 'tool_calls' of previous message."
ARGUMENTS = (
    "Invalid type for 'messages[0].tool_calls[0].function.arguments': expected a string, but got an object instead."
)
PICTURE = (
    "Invalid 'messages[1]'. Image URLs are only allowed for messages with role 'user', but this message with role "
    "'tool' contains an image URL."
)
FORCED = "Invalid value for 'function_call': no function named 'g' was specified in the 'functions' parameter."

REFUSALS = {
    "model": ({"messages": [USER]}, None, None, "you must provide a model parameter"),
    "messages": ({"model": "m"}, "messages", "missing_required_parameter", "Missing required parameter: 'messages'."),
    "unknown": (request(x=1), "x", "unknown_parameter", "Unknown parameter: 'x'."),
    "role": (request({"role": "bot", "content": ""}), "messages[0].role", "invalid_value", ROLES),
    "option": (request(verbosity=7), "verbosity", "invalid_type", OPTION),
    "type": (request({**USER, "content": 7}), "messages[0].content", "invalid_type", INTEGER),
    "nan": (request(temperature=math.nan), "temperature", "invalid_type", NAN),
    "bound": (request(n=0), "n", "integer_below_min_value", BELOW),
    "empty": (request({"role": "assistant", "tool_calls": []}), "messages[0].tool_calls", "empty_array", EMPTY),
    "null": (request({"role": "user"}), "messages.[0].content", None, NULL),
    "orphan": (request(USER, result("a")), "messages.[1].role", None, ORPHAN),
    "unanswered": (request(USER, asks("a", "b")), "messages.[1].role", None, UNANSWERED),
    "twice": (request(USER, asks("a"), result("a"), result("a")), "messages.[3].tool_call_id", None, TWICE),
    "unknown-id": (request(asks("a"), result("a"), result("b")), "messages.[2].tool_call_id", None, UNKNOWN),
    "arguments": (
        request(asks(call("a", function={"name": "f", "arguments": {}})), result("a")),
        "messages[0].tool_calls[0].function.arguments",
        "invalid_type",
        ARGUMENTS,
    ),
    "image": (
        request(asks("a"), result("a", content=[IMAGE])),
        "messages[1].content[0].type",
        "invalid_value",
        PICTURE,
    ),
    "blank-name": (request(tools=[tool("")]), "tools[0].function.name", "empty_string", BLANK),
    "slash": (
        request(metadata={"a/b": None}),
        "metadata.a/b",
        "invalid_type",
        "Invalid type for 'metadata.a/b': expected a string, but got null instead.",
    ),
    "forced": (
        request(tools=[tool()], tool_choice={"type": "function", "function": {"name": "g"}}),
        "function_call",
        None,
        FORCED,
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_has_the_services_words(name: str) -> None:
    """A refusal has the message, the param and the code that the service was seen to send."""
    body, param, code, message = REFUSALS[name]

    error = refusal(judge(body)[0])["error"]

    assert {"message": message, "type": "invalid_request_error", "param": param, "code": code} == error


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ({"messages": [], "x": 1}, "/model"),
        ({"model": "m", "x": 1}, "/messages"),
        (request(n=0, x=1), "/x"),
        (request(metadata={"k": 7}, n=0), "/n"),
        (request(tools="x", messages="x"), "/messages"),
        (request({"role": "user"}, {**USER, "content": 7}), "/messages/1/content"),
        (request({"role": "user"}, n=0), "/n"),
        (request({"role": "user"}, asks("a")), "/messages/1/tool_calls"),
    ],
)
def test_faults_come_in_the_services_order(body: object, first: str) -> None:
    """What is missing comes first, then what is unknown, then field by field, then the history, then blank content."""
    assert first == judge(body)[0].pointer


def test_all_faults_are_reported() -> None:
    """A body with a fault for each module has them all reported."""
    body = request(USER, result("a"), {"role": "user"}, x=1, n=0, top_logprobs=1)

    rules = [problem.rule for problem in judge(body)]

    assert [
        "parameters-are-known",
        "values-fit",
        "top-logprobs-need-logprobs",
        "results-answer-a-call",
        "content-is-present",
    ] == rules


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        (request(USER, asks("a", "b"), USER, result("b"), result("a")), ["results-follow-their-calls"]),
        (request(asks("a"), result("a"), result("x"), result("x")), ["results-name-a-known-call"] * 2),
        (request(tools="x", tool_choice="auto"), ["values-fit"]),
        (request({"role": "developer"}), ["content-is-text-or-parts"]),
        (request({"role": 5}), ["roles-are-known"]),
        (request(asks(call("a", id=1)), result("a", tool_call_id=1)), ["calls-are-whole", "values-fit"]),
    ],
)
def test_one_fault_is_reported_once(body: object, rules: list[str]) -> None:
    """What only follows from a reported fault is not reported as well."""
    assert rules == [problem.rule for problem in judge(body)]


@pytest.mark.parametrize(
    ("message", "told"),
    [({"role": "user"}, f"{NULL} [the content is missing]"), ({"role": "user", "content": None}, NULL)],
)
def test_what_is_missing_is_called_missing(message: dict[str, object], told: str) -> None:
    """The service says the same of a content that is null and of none; a report tells them apart."""
    (problem,) = judge(request(message))

    assert (NULL, told) == (problem.message, problem.reported)
