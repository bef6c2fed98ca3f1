"""Scripts in files: what they can say, and how mistakes in them are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from looptck import LLM
from looptck.catalogue.data import json_fixture
from looptck.catalogue.yaml_files import BadFile
from looptck.mock.script_file import of_case, read, read_text
from looptck.provider.faults import Cut, ErrorEvent, HttpError
from looptck.values.framing import PRESETS
from looptck.values.turns import Call, Thinking
from meta.mock.clients import ask, text

WHOLE = """
why: It shows what a script can say.
dialect: vllm
conversations:
  - when: Oslo
    repeat: true
    script: [Rain.]
script:
  - Hello.
  - text: Let me look.
    calls:
      - {tool: weather, arguments: {city: Paris}}
    framing: single-bytes
  - pieces: [{thinking: Well.}, {text: Sunny.}]
  - fails: {status: 429, message: Slow down., retry_after: 2}
  - text: Half.
    cut: before-finish
  - text: Half.
    errs: Overloaded.
"""


def test_everything_that_a_script_can_say() -> None:
    """Conversations, turns, framings and faults become steps."""
    script = read_text("mine", WHOLE)
    oslo, rest = script.parts
    hello, look, think, slow, cut, errs = rest.steps

    assert ("Oslo", True, None, False) == (oslo.when, oslo.repeats, rest.when, rest.repeats)
    assert ("vllm", True) == (script.dialect, script.judges)
    assert "Hello." == (hello.turn.text if hello.turn else None)
    assert PRESETS["single-bytes"] == look.framing
    assert look.turn
    assert (Call.of("weather", {"city": "Paris"}),) == look.turn.calls
    assert think.turn
    assert Thinking("Well.") == think.turn.pieces[0]
    assert HttpError(429, (("retry-after", "2"),), "Slow down.") == slow.fault
    assert Cut(place="before-finish") == cut.fault
    assert ErrorEvent(None, "Overloaded.") == errs.fault


def test_a_file_is_played(llm: LLM, tmp_path: Path) -> None:
    """A test may take its script from a file; its path begins at the test's folder."""
    path = tmp_path / "script.yaml"
    path.write_text("script: [one, two]\n", encoding="utf-8")
    llm.plays(path)

    assert ["one", "two"] == [text("openai-chat", ask(llm.base_url, "openai-chat", "Hi.")[1]) for _ in "12"]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("script:\n  - Hello.\n  - txt: x", "line 3, /script/1: .*'txt'.*; write 'text' for 'txt'"),
        ("script:\n  - calls:\n    - tool: a\n      args: {}", "line 3, .*; write 'arguments' for 'args'|known are"),
        ("script:\n  - Hello.\n  - text: x\n    framing: singel-bytes", "line 3: .*did you mean single-bytes"),
        ("script: [x]\ndialect: vlm", "line 2: .*did you mean .*vllm"),
        ("script: [{fails: {status: 200}}]", "line 1, /script/0/fails/status: .*400"),
        ("script: [{text: x, fails: {status: 500}}]", "line 1: a step that fails says nothing else"),
        ("script: [{text: x, cut: 0.5, errs: y}]", "line 1: a step has one fault"),
        ("script: []", "line 1, /script: .*item"),
        ("why: Nothing.", "script"),
        ("script: [", "is not the YAML that was meant"),
        ("a: &a [x]\nscript: *a", "alias"),
        ("script: [2026-01-01]", "holds what JSON cannot: .*date"),
        ("script: [{1: 2}]", "holds what JSON cannot: .*int"),
    ],
)
def test_mistakes_have_a_line(script: str, words: str) -> None:
    """What is wrong is told with the file, the line, and how to mend it."""
    with pytest.raises(BadFile, match=f"(?s)mine.yaml.*({words})"):
        read_text("mine.yaml", script)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The path is in the error."""
    with pytest.raises(BadFile, match=r"nowhere.yaml: cannot be read"):
        read(tmp_path / "nowhere.yaml")


def test_declared_cases_are_scripts() -> None:
    """A case of the kit is played by its name; another name is told with the nearest."""
    (part,) = of_case("two-calls").parts

    assert 2 == len(part.steps)
    with pytest.raises(ValueError, match="did you mean two-calls"):
        of_case("two-cals")


def test_the_vocabulary_is_that_of_the_cases() -> None:
    """A step means the same in a script as in a declared case."""
    case, script = (json_fixture(name)["$defs"] for name in ("cases/case.schema.json", "script.schema.json"))
    shared = {name: one for name, one in script["step"]["properties"].items() if name in case["step"]["properties"]}

    assert (case["call"], case["piece"]) == (script["call"], script["piece"])
    assert case["step"]["properties"].keys() == shared.keys()
    for name in case["step"]["properties"].keys() - {"framing"}:
        assert case["step"]["properties"][name] == shared[name]
