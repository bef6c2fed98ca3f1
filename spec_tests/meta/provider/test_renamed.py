"""Names under which a loop offers its tools: found without a doubt or not at all, and used for what the model says."""

from __future__ import annotations

import pytest

from looptck.provider.renamed import Names
from looptck.values.history import Asked, Offered, Request, Said
from looptck.values.turns import Call, calls

TOOLS = {"keep-note": "Keeps a note.", "Keep-Note-2": "Keeps another note.", "ping": ""}


def offered(**names: str) -> list[Offered]:
    """Tools with these names and descriptions."""
    return [Offered(name, description, {}) for name, description in names.items()]


@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        ({"keep_note": "Keeps a note.", "Keep_Note_2": "Keeps another note.", "ping": ""},
         {"keep-note": "keep_note", "Keep-Note-2": "Keep_Note_2"}),
        ({"own-ping": "", "a": "Tool: Keeps a note.", "b": "Keeps another note."},
         {"keep-note": "a", "Keep-Note-2": "b", "ping": "own-ping"}),
        ({"mcp__x__keep-note": "", "mcp__x__KeepNote2": "", "mcp__x__ping": "?"},
         {"keep-note": "mcp__x__keep-note", "ping": "mcp__x__ping"}),
        ({"XKeepNote": "", "HTTPKeepNOTE_2": "", "sleeping": "", "ping2": ""},
         {"keep-note": "XKeepNote", "Keep-Note-2": "HTTPKeepNOTE_2"}),
        ({"do-keep-note": "Does another thing.", "ping": ""}, {}),
        ({"final_answer": "Answers.", "ping": ""}, {}),
        ({"one": "Keeps a note.", "two": "Keeps a note.", "Keep-Note-2": "", "ping": ""}, {}),
        ({"note": "Keeps a note. Keeps another note.", "ping": ""}, {}),
        ({"keep-note": "x", "Keep-Note-2": "x", "ping": "x"}, {}),
    ],
)  # fmt: skip
def test_names_are_found_without_a_doubt(there: dict[str, str], wanted: dict[str, str]) -> None:
    """By a description of its own, or by how the name ends; two that could be meant are none."""
    names = Names(TOOLS)
    names.learn(offered(**there))

    assert wanted == names.offered


def test_what_is_said_and_read() -> None:
    """The model calls the offered name; a request is read with the own names, and other names stay."""
    names = Names(TOOLS)
    tools = offered(keep_note="Keeps a note.", ping="", more="More.")
    names.learn(tools)
    turn = calls(Call.of("keep-note", {"text": "x"}), Call.of("ping"), Call.of("stranger"), text="So.")
    items = (Said("user", "Go."), Asked("a", "keep_note", "{}"), Asked("b", "ping", "{}"))
    request = names.read(Request("m", stream=False, items=items, tools=tuple(tools)))

    assert ["keep_note", "ping", "stranger"] == [call.tool for call in names.spoken(turn).calls]
    assert turn == names.meant(names.spoken(turn))
    assert ["keep-note", "ping"] == [item.tool for item in request.asked]
    assert ["keep-note", "ping", "more"] == [tool.name for tool in request.tools]


def test_a_call_that_comes_back_with_its_own_name_is_changed() -> None:
    """The model said the offered name; in a given history, which it did not say, either name will do."""
    names = Names(TOOLS)
    names.learn(offered(keep_note="Keeps a note."))
    items = (Asked("said", "keep-note", "{}"), Asked("given", "keep-note", "{}"))
    request = names.read(Request("m", stream=False, items=items, tools=()), {"said"})

    assert ["keep-note, in place of keep_note", "keep-note"] == [item.tool for item in request.asked]


def test_names_are_those_of_the_last_offer() -> None:
    """A request without tools, such as the last one before a limit, changes nothing; tools under their own names do."""
    names = Names(TOOLS)
    names.learn(offered(keep_note="Keeps a note."))
    names.learn([])

    assert {"keep-note": "keep_note"} == names.offered
    names.learn(offered(**TOOLS))

    assert ({}, {}) == (names.offered, names.own)
