"""Thoughts and phases are played under the name of a model that has them, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from looptck.bench.model_names import named
from looptck.catalogue.agents import parted
from looptck.drivers.case_message import RunOptions, case, with_files
from looptck.provider.faults import HttpError
from looptck.provider.script import Step, step
from looptck.values.cell import Cell
from looptck.values.framing import MODEL
from looptck.values.turns import Text, Thinking, says, turn
from looptck.wires import WIRES

PLAIN, THOUGHT = Step(says("Yes.")), Step(turn(Thinking("Hm."), "Yes."))
PHASED = Step(turn(Text("Yes.", "final_answer")))
CELL = Cell("openai-responses", stream=False, mode="sync")


@pytest.mark.parametrize(
    ("wire", "steps", "name"),
    [
        ("openai-responses", [PLAIN, THOUGHT], "gpt-5"),
        ("openai-responses", [PLAIN, step(HttpError(500))], MODEL),
        ("openai-responses", [THOUGHT, PHASED], "gpt-5.4"),
        ("openai-chat", [THOUGHT, PHASED], MODEL),
        ("anthropic-messages", [THOUGHT], MODEL),
    ],
)
def test_name_follows_the_script(wire: str, steps: list[Step], name: str) -> None:
    """On Responses a script with thoughts or phases is that of such a model; no other wire's clients go by the name."""
    assert name == named(RunOptions(), steps, WIRES[wire]).model


def test_name_stays_in_the_next_run() -> None:
    """A run that goes on with one of a model that has more than others asks that model."""
    asked = [named(RunOptions(), [PLAIN], WIRES["openai-responses"], before=name).model for name in ("gpt-5.4", MODEL)]

    assert ["gpt-5.4", MODEL] == asked


def test_name_stands_in_case_and_files(tmp_path: Path) -> None:
    """The case and the files of its agent say the same."""
    options = named(RunOptions(agent="guide"), [THOUGHT], WIRES["openai-responses"])
    told = case(options, CELL, "http://127.0.0.1:1/r1", name="a-case", profile="core", id="r.1")
    with_files(told, options, CELL, tmp_path)

    front, _ = parted(Path(told["agent"]["path"]))
    assert ("gpt-5", "gpt-5") == (told["model"], front["model"]["id"])
