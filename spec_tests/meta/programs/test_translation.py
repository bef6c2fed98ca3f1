"""Scripts in the words of a program: which calls are sent, and what a mark tells."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from looptck.bench.translation import SPARE, Translation
from looptck.drivers.programs import Description, Tool
from looptck.drivers.programs.scratch import Scratch
from looptck.provider.faults import Cut
from looptck.provider.script import Script, Step
from looptck.provider.toolbox import Raises
from looptck.values.turns import Call, Text, Turn, calls, says

MARK = Tool("sh", {"command": "echo '{text}' >> {mark}"})
FAIL = Tool("sh", {"command": "echo '{text}' >> {mark_file}; exit 3"})
ONE = Description("one", "1", ("openai-chat",), MARK, fail=FAIL)

WEATHER = Call.of("weather", {"city": "Paris"})


def translation(**changes: Any) -> Translation:
    """A translation of the tools weather and ping."""
    made = Translation(ONE, Scratch(Path("/h"), Path("/w")), 4, ["weather", "ping"])
    return replace(made, **changes)


def test_a_call_becomes_the_described_one() -> None:
    """Its arguments are those of the description, with a word that tells which call it was."""
    one = translation()
    (call,) = one.turn(calls(WEATHER), lost=False).calls

    command = json.loads(call.arguments)["command"]
    assert ("sh", True) == (call.tool, command.startswith("echo 'looptck-4.1-' >> /w/mark # looptck"))
    found = one.meant("looptck-4.1-")
    assert found is not None
    assert ("weather", {"city": "Paris"}, False) == (found[1].tool, found[1].arguments, found[1].lost)
    assert one.meant("looptck-4.9-") is None


def test_no_text_of_a_case_is_sent() -> None:
    """Whatever the arguments of a case are, they are in none of the calls that are sent."""
    (call,) = translation().turn(calls(Call.of("weather", {"city": "$(rm -rf ~)"})), lost=False).calls

    assert "rm" not in call.arguments


def test_a_lost_call_has_a_word_of_its_own() -> None:
    """Equal calls have the same word, unless the turn of one is broken."""
    one = translation()
    script = one.script(Script((Step(calls(WEATHER), fault=Cut()), Step(calls(WEATHER, WEATHER)))))
    words = [[call.arguments[:32] for call in step.turn.calls] for step in script.steps if step.turn]

    assert words[0][0] != words[1][0] == words[1][1]


def test_half_a_call_still_leaves_its_mark() -> None:
    """Broken arguments are cut in the comment behind the mark."""
    (call,) = translation().turn(calls(Call("weather", '{"city')), lost=False).calls

    assert call.arguments.startswith('{"command":"echo \'looptck-4.1-\' >> /w/mark # looptck')
    assert not call.arguments.endswith("}")


def test_other_calls_stay() -> None:
    """A tool that is not offered, and arguments that are no object, are sent as the case has them."""
    unknown, listed = translation().turn(calls(Call.of("nobody"), Call("ping", "[1]")), lost=False).calls

    assert (("nobody", "{}"), ("sh", "[1]")) == ((unknown.tool, unknown.arguments), (listed.tool, listed.arguments))


def test_a_tool_that_raises_is_the_one_that_fails() -> None:
    """Where the case has a tool raise an error, the described tool that fails is called."""
    (call,) = translation(behaviours={"weather": [Raises("no")]}).turn(calls(WEATHER), lost=False).calls

    assert "exit 3" in call.arguments


def test_spare_turns_stand_behind_the_end() -> None:
    """The last answer is given again to a program that asks again."""
    script = translation().script(Script((Step(calls(WEATHER)), Step(says("Warm.")))))

    found = script.step(3)
    assert found is not None
    assert (says("Warm."), 2 + SPARE) == (found.turn, script.cap)


def test_a_final_call_ends_an_answer() -> None:
    """A program that never ends on a text gets the call that ends it."""
    one = translation(description=replace(ONE, final=Tool("done", {"answer": "{text}"})))

    assert Turn((Text("Warm."), Call("done", '{"answer": "Warm."}'))) == one.turn(says("Warm."), lost=False)
