"""What runtimes say of a programming mistake is told apart from what loops say of a call that cannot run."""

from __future__ import annotations

import re

import pytest

from looptck.bench.assertions.failure_texts import ARGUMENT, tells_of_mistake, tells_of_no_such_tool

MISTAKES = [
    "Error: TypeError - exceptions must derive from BaseException",
    "Error running tool weather: isinstance expected 2 arguments, got 1",
    "'NoneType' object has no attribute 'name'",
    "Cannot read properties of undefined (reading 'execute')",
    "tool.execute is not a function",
    "name 'reason' is not defined",
    "cannot access local variable 'given' where it is not associated with a value",
    "runtime error: invalid memory address or nil pointer dereference",
    "Object reference not set to an instance of an object.",
]
NO_MISTAKES = [
    "Error: unknown tool 'teleport'",
    "1 validation error for weather\ncity\n  Field required [type=missing, input_value={}, input_type=dict]",
    "Invalid arguments for tool weather: Unterminated string starting at: line 1 column 10 (char 9)",
    "Expected ',' or '}' after property value in JSON at position 14",
    "Tool call failed: internal error",
    "Model tried to call unavailable tool 'teleport'. Available tools: ping, weather.",
    "input.city: Required",
]


@pytest.mark.parametrize("text", MISTAKES)
def test_mistake(text: str) -> None:
    """It is read as a mistake."""
    assert tells_of_mistake(text)


@pytest.mark.parametrize("text", NO_MISTAKES)
def test_no_mistake(text: str) -> None:
    """It is not read as a mistake."""
    assert not tells_of_mistake(text)


@pytest.mark.parametrize(
    ("text", "is_about"),
    [
        ("unexpected keyword argument 'town'", True),
        ("the arguments are no JSON", True),
        ("isinstance expected 2 arguments, got 1", False),
        ("run() missing 1 required positional argument: 'call'", False),
    ],
)
def test_arguments_of_a_call(text: str, *, is_about: bool) -> None:
    """The word counts only where it is not about the parameters of a function of the loop's own."""
    assert is_about == bool(re.search(ARGUMENT, text))


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Error: unknown tool '…'", True),
        ("No tool with the name … is registered.", True),
        ("… does not exist; the tools are …, …", True),
        ("The call of … could not be parsed, or the tool does not exist.", False),
        ("Unknown error: Expected ',' or '}' in JSON at position 16", False),
        ("Something went wrong.", False),
    ],
)
def test_words_for_a_tool_that_there_is_not(text: str, *, is_told: bool) -> None:
    """They say that there is no such tool, and nothing of the arguments that it was called with."""
    assert is_told == tells_of_no_such_tool(text)
