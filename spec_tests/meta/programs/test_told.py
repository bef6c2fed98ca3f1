"""What counts as telling a model of a call that cannot run, without a result."""

from __future__ import annotations

import pytest

from looptck.bench.assertions.results import error_is_told
from looptck.bench.run import Run
from looptck.values.cell import Cell
from looptck.values.history import Asked, Item, Request, Said
from looptck.values.outcome import Value
from looptck.values.program import ProgramRun
from looptck.values.transcript import Event, Received, Replied, ToolBegan, Transcript
from looptck.values.turns import Call, calls

PROMPT = Said("user", "Go.")
WORD = Said("user", "Unknown tool 'nobody'.")
TURN = calls(Call.of("nobody")).numbered(1)
CALL = Asked(TURN.calls[0].id or "", "nobody", "{}")
EXPECTED = {"turn": 1, "call": 1, "holds": "nobody", "or_reads_as_error": True}


def asked_then(*items: Item, program: bool = True) -> Run:
    """A run whose first turn has the call, and whose second request has these items after the prompt."""
    first, second = Request("model", False, (PROMPT,), ()), Request("model", False, (PROMPT, *items), ())
    events: list[Event] = [
        Received(0.1, 1, "/", {}, b"", {}, first, (), scripted=True),
        Replied(0.2, 1, 200, "a turn"),
        Received(0.3, 2, "/", {}, b"", {}, second, (), scripted=True),
        Replied(0.4, 2, 200, "a turn"),
    ]
    cell = Cell("openai-chat", stream=False, mode="sync")
    run = Run("r1", cell, (), {1: TURN}, Transcript(events=events), Value("Done."))
    run.program = ProgramRun() if program else None
    return run


@pytest.mark.parametrize("items", [(), (WORD,)], ids=["again", "with-a-message"])
def test_a_program_may_ask_anew(items: tuple[Item, ...]) -> None:
    """It asks for the turn again as before, or without the turn and with a message about what was wrong."""
    error_is_told(asked_then(*items), EXPECTED)


@pytest.mark.parametrize(
    "items",
    [
        (Said("user", "Go on."),),
        (Asked(TURN.calls[0].id or "", "nobody", "{}"), Said("user", "Unknown tool 'nobody'.")),
    ],
    ids=["no-word", "no-result"],
)
def test_a_call_without_a_word_is_lost(items: tuple[Item, ...]) -> None:
    """A message that says nothing of an error, and a call that is sent back without a result."""
    with pytest.raises(AssertionError, match="without a result"):
        error_is_told(asked_then(*items), EXPECTED)


def test_a_loop_may_leave_the_turn_out_with_a_word() -> None:
    """What the model has to learn of may be in a message in place of the turn; without one the call is lost."""
    error_is_told(asked_then(WORD, program=False), EXPECTED)

    for nothing in [(), (Said("user", "Go on."),), (PROMPT,)]:
        with pytest.raises(AssertionError, match="without a result"):
            error_is_told(asked_then(*nothing, program=False), EXPECTED)


def test_a_turn_of_which_a_tool_ran_has_its_results() -> None:
    """The model would call the tool once more."""
    run = asked_then(WORD, program=False)
    run.transcript.events.insert(2, ToolBegan(0.25, 1, "somebody", {}))

    with pytest.raises(AssertionError, match="without a result"):
        error_is_told(run, EXPECTED)


def test_a_lost_call_is_named() -> None:
    """Where neither the caller nor the model learns of it, the first line says which call it was."""
    run = asked_then(program=False)
    del run.transcript.events[2:]

    with pytest.raises(AssertionError, match=r"the error of the call nobody\(.*\) reached neither"):
        error_is_told(run, EXPECTED)
