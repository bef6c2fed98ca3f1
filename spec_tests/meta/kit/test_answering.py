"""Answers that a request rules out, those that no answer tool can be given, and what smoke says of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from looptck.bench.answering import WORD, answerable, ruled_out
from looptck.cli.group import main
from looptck.provider.faults import HttpError
from looptck.provider.script import step
from looptck.values.answer_tool import AnswerTool
from looptck.values.turns import Call, Served, Turn, calls, says
from looptck.values.verdicts import NotApplicable

ANSWER = AnswerTool("final_answer", "answer")
LOOPS = Path(__file__).parents[1] / "strangers" / "answers" / "chat.py"
OWN = {"type": "function", "function": {"name": "final_answer"}}
OTHER = {"type": "tool", "name": "weather"}
ALLOWED = {"type": "allowed_tools", "mode": "required", "tools": []}


@pytest.mark.parametrize(
    ("choice", "of_a_text", "of_the_tool"),
    [
        (None, False, False),
        ("auto", False, False),
        ("none", False, False),
        ({"type": "auto"}, False, False),
        ({"type": "allowed_tools", "mode": "auto", "tools": []}, False, False),
        ("required", True, False),
        ({"type": "any"}, True, False),
        (ALLOWED, True, False),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}}, True, False),
        (OWN, True, False),
        (OTHER, True, True),
    ],
)
def test_what_a_choice_rules_out(choice: Any, of_a_text: bool, of_the_tool: bool) -> None:
    """A forced call rules out a text, and the answer tool's call only where it names another tool."""
    body = {"tool_choice": choice}

    assert (of_a_text, of_the_tool) == (ruled_out(body, None) is not None, ruled_out(body, ANSWER) is not None)


def test_a_body_that_is_none_rules_out_nothing() -> None:
    """What is not an object has no choice."""
    assert ruled_out([], None) is None


@pytest.mark.parametrize(
    "turn",
    [
        says("So.", stop="stop_sequence"),
        says("So.", stop="unknown"),
        says("So.", stop="calls"),
        Turn((Served('{"type": "message", "content": []}'),)),
        Turn((Served('{"type": "text", "text": "So.", "citations": []}'),)),
    ],
)
def test_some_texts_are_no_answer_to_it(turn: Turn) -> None:
    """The check is not applicable, and says why; a loop that takes a text gets it."""
    answerable([step(turn)], None)

    with pytest.raises(NotApplicable, match="takes its answer by a call of final_answer"):
        answerable([step(turn)], ANSWER)


def test_all_else_is_played() -> None:
    """Calls, answers and faults."""
    beside = Turn((Served('{"type": "message", "content": []}'), Call.of("ping")))
    played = (calls(Call.of("ping")), says("So."), HttpError(500), Turn((), "calls"), beside)

    answerable([step(one) for one in played], ANSWER)


@pytest.mark.parametrize(
    ("loop", "word", "told"),
    [
        ("Driver", "ok", ""),
        ("Undeclared", "LOOP", WORD),
        ("DriverForced", "LOOP", "no model can ever answer it"),
        ("DriverJson", "LOOP", "by a call of final_answer"),
    ],
)
def test_smoke_names_the_word(loop: str, word: str, told: str) -> None:
    """No such driver is called broken, and one that does not say `answer` is told of it."""
    done = CliRunner().invoke(main, ["smoke", "--driver", f"python:{LOOPS}:{loop}"])

    assert (0, word == "LOOP") == (done.exit_code, "LOOP" in done.output), done.output
    assert told in done.output
