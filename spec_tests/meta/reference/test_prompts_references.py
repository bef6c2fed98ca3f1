"""References to the environment, in every text of the frontmatter."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck_reference.prompts import PromptError
from looptck_reference.prompts.references import resolved
from meta.kit.steady import STEADY
from meta.reference.reference_prompts import loaded, parts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${env:SET}", "here"),
        ("${env:SET:elsewhere}", "here"),
        ("${env:UNSET:elsewhere}", "elsewhere"),
        ("${env:UNSET:http://127.0.0.1:8080/v1}", "http://127.0.0.1:8080/v1"),
        ("${env:UNSET:}", ""),
        ("${env:EMPTY:elsewhere}", ""),
        ("<${env:SET}|${env:UNSET:x}|${env:SET}>", "<here|x|here>"),
        ("${env:NESTED}", "${env:SET}"),
        ("$env:SET {env:SET} ${SET} $ {", "$env:SET {env:SET} ${SET} $ {"),
        ("", ""),
    ],
)
def test_references_are_replaced(text: str, value: str) -> None:
    """By the variable, or by the default; what a variable holds is not looked into."""
    assert value == resolved(text, {"SET": "here", "EMPTY": "", "NESTED": "${env:SET}"})


@given(before=st.text("ab:} \n"), value=st.text(), after=st.text("ab:} \n"))
@STEADY
def test_whatever_a_variable_holds_stands_in_the_text(before: str, value: str, after: str) -> None:
    """Unchanged, and between what stood around the reference."""
    assert before + value + after == resolved(before + "${env:NAME:default}" + after, {"NAME": value})


@given(default=st.text().filter(lambda text: "}" not in text))
@STEADY
def test_a_default_is_all_up_to_the_brace(default: str) -> None:
    """Whatever it holds."""
    assert default == resolved(f"${{env:NAME:{default}}}", {})


def test_references_stand_in_every_text_of_the_frontmatter(tmp_path: Path) -> None:
    """In lists, in mappings, in defaults and options, quoted or not."""
    front = """name: ${env:A}
model: {id: '${env:A}-x', options: {stop: ['${env:A}']}}
inputs: [{name: '${env:A}', kind: string, default: "${env:A}"}]
tools: [{name: t, kind: mine, description: "${env:A}", deep: [{er: '${env:A}'}]}]"""

    prompt = loaded(tmp_path, front=front, A="v")

    assert ("v", "v-x", {"stop": ["v"]}) == (prompt.name, prompt.model.id, prompt.model.options)
    assert [("v", "v")] == [(one.name, one.default) for one in prompt.inputs]
    assert [("v", {"deep": [{"er": "v"}]})] == [(tool.description, tool.options) for tool in prompt.tools]


def test_the_body_holds_no_references(tmp_path: Path) -> None:
    """It may speak of them."""
    prompt = loaded(tmp_path, "user:\nWhat is ${env:A}?", A="v")

    assert [("user", "What is ${env:A}?")] == parts(prompt.messages({}))


def test_a_number_from_the_environment_is_text(tmp_path: Path) -> None:
    """Nothing is guessed of what a variable holds, so a flag cannot come from there."""
    front = "name: sample\nmodel:\n  id: ${env:A}\n  options: {stream: '${env:A}'}"

    with pytest.raises(PromptError, match=r"sample\.prompty:5: model.options.stream must be true or false, not '1'"):
        loaded(tmp_path, front=front, A="1")
