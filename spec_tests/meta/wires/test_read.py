"""Reading requests: any history is read into the provider-neutral form, and nothing that a loop sends breaks it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.history import Answered, Asked, Offered, Said, same_arguments
from looptck.wires.openai_chat.read import read

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


def mangled(*names: str, inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects with some of the members that the reader looks for, and anything in them."""
    return st.dictionaries(st.sampled_from(names), inner, max_size=len(names))


FUNCTIONS = mangled("name", "arguments", "description", "parameters", inner=JSON) | JSON
CALLS = mangled("id", "type", "function", inner=FUNCTIONS)
CONTENT = st.lists(mangled("type", "text", inner=JSON), max_size=3) | JSON
MESSAGES = st.dictionaries(
    st.sampled_from(["role", "content", "tool_calls", "tool_call_id"]),
    st.sampled_from(["tool", "assistant", "user"]) | CONTENT | st.lists(CALLS, max_size=3),
)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "model": JSON,
        "stream": JSON,
        "messages": st.lists(MESSAGES | JSON, max_size=4) | JSON,
        "tools": st.lists(CALLS, max_size=3) | JSON,
    },
)


@given(BODIES | JSON)
def test_any_json_is_read(body: object) -> None:
    """The reader reads any JSON, leaves out what it cannot read, and never raises."""
    request = read(body)

    assert isinstance(request.stream, bool)
    assert all(item.pointer.startswith("/messages/") for item in request.items)


def test_deep_content_is_read() -> None:
    """Content that is nested beyond all sense is left out."""
    deep: Any = "x"
    for _ in range(5000):
        deep = [{"text": deep}]

    assert (Said("user", ""),) == read({"messages": [{"role": "user", "content": deep}]}).items


CALL = {"id": "a", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}


def test_a_history_is_read_in_order() -> None:
    """Texts, calls and results are read in the order of the messages, each with its place."""
    body = {
        "model": "m",
        "stream": True,
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": [{"type": "text", "text": "1 + "}, {"type": "text", "text": "1?"}]},
            {"role": "assistant", "content": "I add.", "tool_calls": [CALL, {**CALL, "id": "b"}]},
            {"role": "tool", "tool_call_id": "a", "content": "2"},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]},
        ],
        "tools": [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {}}}],
    }

    request = read(body)

    assert (
        Said("system", "Be short."),
        Said("user", "1 + 1?"),
        Said("assistant", "I add."),
        Asked("a", "add", '{"a": 1}'),
        Asked("b", "add", '{"a": 1}'),
        Answered("a", "2"),
        Answered("b", "2"),
    ) == request.items
    assert ["/messages/2/content", "/messages/2/tool_calls/0"] == [item.pointer for item in request.items[2:4]]
    assert (Offered("add", "Adds.", {}),) == request.tools
    assert ("m", True) == (request.model, request.stream)


@pytest.mark.parametrize("content", [None, "", []])
def test_calls_without_text_say_nothing(content: object) -> None:
    """An assistant message with calls and no text is its calls alone, however it spells that it has no text."""
    items = read({"messages": [{"role": "assistant", "content": content, "tool_calls": [CALL]}]}).items

    assert (Asked("a", "add", '{"a": 1}'),) == items


def test_arguments_as_an_object_are_read() -> None:
    """Arguments that are no text are read as the text of their JSON."""
    call = {"id": "a", "function": {"name": "add", "arguments": {"a": 1}}}
    (asked,) = read({"messages": [{"role": "assistant", "tool_calls": [call]}]}).items

    assert Asked("a", "add", '{"a": 1}') == asked


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{}", ""),
        ('{"a":1}', '{ "a" : 1.0 }'),
        ('{"a":1,"b":2}', '{"b":2,"a":1}'),
        ('{"a', '{"a'),
        ('"\\u00fc"', '"ü"'),
    ],
)
def test_arguments_are_the_same_as_values(one: str, other: str) -> None:
    """Arguments are compared as JSON values, and as texts where they are none."""
    assert same_arguments(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1}', '{"a":true}'),
        ('{"a":[0]}', '{"a":[false]}'),
        ('{"a":1}', '{"a":"1"}'),
        ('{"a":null}', "{}"),
        ("[1,2]", "[1]"),
        ('{"a', '{"a"'),
        ("{}", '{"a'),
    ],
)
def test_arguments_are_not_the_same(one: str, other: str) -> None:
    """A number is no boolean and no text, and what is absent is not null."""
    assert not same_arguments(one, other)
    assert not same_arguments(other, one)


@given(JSON.filter(lambda value: "nan" not in repr(value)), st.booleans())
def test_arguments_are_the_same_however_they_are_written(value: object, escaped: bool) -> None:
    """The same JSON value, written in two ways, is the same."""
    assert same_arguments(json.dumps(value), json.dumps(value, ensure_ascii=escaped, indent=2))
