"""The body of a request as lines: what is new, what is marked, and how much is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.failures.outline import LONGEST_TEXT, MOST, outline

ASKED = {"role": "user", "content": "Is it warm?"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "weather"}}]}
ANSWERED = {"role": "tool", "tool_call_id": "b", "content": "warm"}
TOOLS = [{"type": "function", "function": {"name": "weather"}}, {"name": "ping"}, {"type": "web_search"}]
FIRST: dict[str, Any] = {"model": "m", "messages": [ASKED], "tools": TOOLS}
SECOND: dict[str, Any] = {"model": "m", "messages": [ASKED, CALLED, ANSWERED], "tools": TOOLS}


def texts(body: dict[str, Any], before: dict[str, Any], pointer: str = "") -> list[str]:
    """The lines, the marked ones with a sign."""
    return [f"> {line.text}" if line.marked else line.text for line in outline(body, before, pointer)]


def test_a_first_request_is_shown_whole_with_the_names_of_its_tools() -> None:
    """Each message is a line; of a tool the name is shown, of a tool of the service its type."""
    message = json.dumps(ASKED)

    assert ['model: "m"', f"messages: [{message}]", "tools: weather, ping, web_search"] == texts(FIRST, {})


def test_what_was_in_the_last_request_is_left_out() -> None:
    """Of a list that has grown the new items are shown, of an equal member only its name."""
    call, answer = (json.dumps(one) for one in (CALLED, ANSWERED))

    assert [
        "model: as before", "messages: [", "  … 1 as before", f"  {call}", f"  {answer}", "]", "tools: as before",
    ] == texts(SECOND, FIRST)  # fmt: skip


@pytest.mark.parametrize(
    ("pointer", "marked"),
    [
        ("/messages/2", [json.dumps(ANSWERED)]),
        ("/messages/2/tool_call_id", [json.dumps(ANSWERED)]),
        ("/messages/0", [json.dumps(ASKED)]),
        ("/messages/9", ["messages: ["]),
        ("/model", ['model: "m"']),
        ("/tools/1/name", ['{"name": "ping"}']),
        ("", []),
    ],
)
def test_the_place_of_a_fault_is_marked(pointer: str, marked: list[str]) -> None:
    """The value itself is marked, or the nearest line above it; what contains it is then no longer left out."""
    lines = outline(SECOND, FIRST, pointer)

    assert marked == [line.text.strip() for line in lines if line.marked]


def test_a_long_body_is_cut_around_its_fault() -> None:
    """The lines before and behind are counted."""
    lines = texts(
        {"messages": [{"role": "user", "content": f"{n} {'x' * 60}"} for n in range(199)]}, {}, "/messages/70"
    )

    assert MOST + 2 == len(lines)
    assert [True] == [line.startswith('>   {"role": "user", "content": "70 ') for line in lines if line[0] == ">"]
    assert lines[0].startswith("… ")
    assert lines[-1].startswith("… ")


def test_a_long_text_is_cut() -> None:
    """A picture in a message fills no page."""
    (line,) = texts({"content": "x" * 100_000}, {})

    assert len(line) < LONGEST_TEXT + 60


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)
bodies = st.dictionaries(st.sampled_from(["messages", "tools", "input", "a/b", "~"]), json_values, max_size=4)


@given(bodies, bodies, st.sampled_from(["", "/messages", "/messages/0", "/tools/1/name", "/a~1b/0", "nonsense"]))
def test_any_body_has_an_outline(body: dict[str, Any], before: dict[str, Any], pointer: str) -> None:
    """No JSON breaks it, and something is marked if the place is there."""
    lines = [*outline(body, before, pointer)]
    top = pointer.split("/")[1].replace("~1", "/") if pointer.startswith("/") else None

    assert (top in body) == any(line.marked for line in lines)
