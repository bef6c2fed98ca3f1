"""Exports of sessions are read in both forms that documents have."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.client.export import exported
from looptck.values.history import Answered, Asked, Said
from looptck.values.verdicts import NotReached

PLAIN: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "How "}, {"type": "text", "text": "warm?"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "72F"},
        {"role": "assistant", "content": "Warm."},
    ]
}
TAGGED: dict[str, Any] = {
    "messages": [
        {"role": {"Left": "user"}, "content": {"Left": "How warm?"}},
        {
            "role": {"Left": "assistant"},
            "content": {"Left": ""},
            "tool_calls": {"Right": [{"id": "c1", "function": {"name": "weather", "arguments": {"city": "Paris"}}}]},
        },
        {"role": {"Left": "tool"}, "name": {"Left": "weather"}, "content": {"Left": "72F"}},
        {"role": {"Left": "assistant"}, "content": {"Left": "Warm."}},
    ],
    "images": [],
}
READ = [
    Said("user", "How warm?"),
    Asked("c1", "weather", '{"city": "Paris"}'),
    Answered("c1", "72F"),
    Said("assistant", "Warm."),
]


@pytest.mark.parametrize("body", [PLAIN, TAGGED], ids=["plain", "tagged"])
def test_both_forms(body: dict[str, Any]) -> None:
    """Tags are taken off, and a result without an id is the first waiting call's."""
    items = exported(body)

    assert READ == items


def test_result_of_no_call() -> None:
    """A result that no call waits for belongs to none."""
    items = exported({"messages": [{"role": "tool", "content": "72F"}]})

    assert [Answered("", "72F")] == items


@pytest.mark.parametrize("body", [None, [], {}, {"messages": 7}, {"messages": [7]}, {"messages": [{"content": "x"}]}])
def test_no_export(body: Any) -> None:
    """What is no export is told as that, and is no empty session."""
    with pytest.raises(NotReached, match="the export cannot be read"):
        exported(body)
