"""The director ends a prompt in the control token of the turn that is due, rendered here with Jinja itself."""

from __future__ import annotations

from typing import Any

import jinja2
import pytest

from looptck.commands.recording.scripted.director import template
from looptck.commands.recording.scripted.scripts import Scenario
from looptck.commands.recording.scripted.vocabulary import MISPLACED, OVER, UNKNOWN

ONE = Scenario("one", 'What is "it"?', ("a", "b", "c"))
TWO = Scenario("two", "Und 東京?\nOr \\?", ("d",))
ASKED = {"role": "user", "content": ONE.question}
PROMPT = [{"role": "system", "content": "Help."}, ASKED]
ANSWERED = {"role": "assistant", "content": "a"}


def directed(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> str:
    """The whole prompt."""
    environment = jinja2.Environment()  # noqa: S701  a prompt is no page
    rendered = environment.from_string(template([ONE, TWO]))
    return rendered.render(messages=messages, tools=tools, add_generation_prompt=True)


def due(messages: list[dict[str, Any]]) -> str:
    """The name of the turn that is due."""
    _, last = directed(messages).rsplit("<|im_start|>assistant\n", 1)
    return last.removeprefix("<|").removesuffix("|>")


def called(*ids: str) -> dict[str, Any]:
    """A turn with a call under each of these ids."""
    function = {"name": "weather", "arguments": '{"city": "Oslo"}'}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id, "type": "function", "function": function} for id in ids],
    }


def answers(*ids: str) -> list[dict[str, Any]]:
    """A result for each of these ids."""
    return [{"role": "tool", "tool_call_id": id, "content": "rain"} for id in ids]


@pytest.mark.parametrize("scenario", [ONE, TWO], ids=lambda one: one.name)
def test_the_question_says_which_scenario(scenario: Scenario) -> None:
    """The question is known whatever characters are in it."""
    assert f"{scenario.name}:1" == due([{"role": "user", "content": scenario.question}])


def test_each_turn_of_the_assistant_is_a_step() -> None:
    """After results the second turn is due, and the third after more of them."""
    first, second = [called("a", "b"), *answers("a", "b")], [called("c"), *answers("c")]

    assert ["one:1", "one:2", "one:3"] == [due(PROMPT), due(PROMPT + first), due(PROMPT + first + second)]


def test_a_turn_in_several_messages_is_one_step() -> None:
    """Some wires split the text and calls of one turn into several messages."""
    assert "one:2" == due([*PROMPT, {"role": "assistant", "content": "I look."}, called("a"), *answers("a")])


def test_another_question_starts_another_scenario() -> None:
    """The last question counts, and the turns since."""
    assert "two:1" == due([*PROMPT, ANSWERED, {"role": "user", "content": TWO.question}])


def test_a_question_that_nobody_knows() -> None:
    """The model says that it does not know it."""
    assert UNKNOWN == due([{"role": "user", "content": "What?"}])
    assert UNKNOWN == due([])


def test_a_script_that_is_over() -> None:
    """Past its last turn a scenario has nothing to say."""
    more = {"role": "user", "content": "Go on."}

    assert OVER == due([{"role": "user", "content": TWO.question}, ANSWERED, more])


@pytest.mark.parametrize(
    "given",
    [[], ["a"], ["b", "a"], ["a", "c"], ["a", "b", "b"], ["a", "b", "c"], ["a", "a"]],
    ids=lambda given: "".join(given) or "none",
)
def test_results_that_do_not_answer_the_calls(given: list[str]) -> None:
    """A result that is missing, exchanged, repeated or unknown is reported."""
    assert MISPLACED == due([*PROMPT, called("a", "b"), *answers(*given)])


def test_a_result_without_a_call() -> None:
    """Nobody asked for it."""
    assert MISPLACED == due([*PROMPT, ANSWERED, *answers("a")])


def test_the_prompt_tells_everything() -> None:
    """The prompt holds tools, calls, thoughts and results, as a real model needs them."""
    turn = called("a") | {"reasoning_content": "Hm.", "content": "I look."}

    prompt = directed([*PROMPT, turn, *answers("a")], [{"name": "weather"}])

    assert '<tools>\n{"name": "weather"}\n</tools>' in prompt
    assert (
        "<|im_start|>assistant\n<think>Hm.</think>I look.\n"
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\nrain\n</tool_response><|im_end|>\n"
    ) in prompt
