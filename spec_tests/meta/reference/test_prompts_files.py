"""What a `.prompty` file says, in all the ways in which the documents write it; the suite writes in one of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck_reference.prompty.prompts import Model, Prompt, PromptError, load
from looptck_reference.prompty.prompts.references import resolved
from meta.reference.reference_prompts import HEAD, SAMPLES, loaded, parts, written


def test_all_spellings_say_the_same() -> None:
    """Lists with names, mappings, shorthands and the guide's `properties:` make the same prompt, and hide its key."""
    guide, *others = (
        load(SAMPLES / f"{name}.prompty", environment={"TRAVEL_KEY": "k-1"}) for name in ("guide", "later", "mappings")
    )

    for other in others:
        assert _placeless(guide) == _placeless(other)
        assert guide.messages({}) == other.messages({})
    assert guide.model == Model(
        "gpt-4o", "openai", "chat", "https://api.openai.com/v1", "k-1", options={"temperature": 0}
    )
    assert "k-1" not in repr(guide)
    assert ["look_up_sky", "look_up_clock"] == [tool.name for tool in guide.tools]
    assert [["place"], ["zone"]] == [tool.parameters["required"] for tool in guide.tools]
    assert [("user", "Do I need an umbrella?")] == parts(guide.messages({}))[1:]


def _placeless(prompt: Prompt) -> Prompt:
    return replace(prompt, path=Path(), template=load(SAMPLES / "children" / "short.prompty").template)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("m", Model("m")),
        ("{id: m, provider: mine, apiType: responses}", Model("m", "mine", "responses")),
        ("{id: m, provider: , apiType: , connection: , options: }", Model("m")),
        ("{id: m, connection: {kind: anonymous, endpoint: '${env:NOPE:}', apiKey: ''}}", Model("m")),
        ("{id: m, options: {stream: true, topP: 0.5}}", Model("m", stream=True, options={"topP": 0.5})),
        ("{id: m, options: {stream: false, additionalProperties: {stream: true}}}", Model("m")),
        ("{id: m, options: {additionalProperties: {stream: true}}}", Model("m", stream=True)),
        (
            "{id: m, options: {additionalProperties: {stream: true, user: me, a: }}}",
            Model("m", stream=True, options={"additionalProperties": {"user": "me", "a": None}}),
        ),
    ],
)
def test_a_model_is_read(tmp_path: Path, model: str, expected: Model) -> None:
    """An id alone, whatever provider, and a stream as an option or an additional property."""
    assert expected == loaded(tmp_path, front=f"name: sample\nmodel: {model}").model


def test_what_is_not_known_is_no_error(tmp_path: Path) -> None:
    """Metadata is left alone, and names with nothing behind them say nothing."""
    front = f"{HEAD}\non: off\n2: 2024-02-30\nauthors: [me]\ndescription:\ninputs:\ntools:\ntemplate:"

    prompt = loaded(tmp_path, front=front)

    assert ("sample", "", (), ()) == (prompt.name, prompt.description, prompt.inputs, prompt.tools)


@pytest.mark.parametrize("before", ["\ufeff", "\n\n", "  ", "\n \n"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_file_may_come_from_any_system(tmp_path: Path, before: str, end: str) -> None:
    """With a mark or blanks before its frontmatter, and any line ends."""
    path = tmp_path / "sample.prompty"
    path.write_bytes(f"{before}---\n{HEAD}\n---\nsystem:\nA\nB\n\nuser:\n---\nGo.".replace("\n", end).encode())

    assert [("system", "A\nB"), ("user", "---\nGo.")] == parts(load(path).messages({}))


def test_the_path_and_the_environment_are_those_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is resolved when the file is loaded; another environment may be given."""
    written(tmp_path, "user:\nGo.", "name: sample\nmodel: ${env:SAMPLE_MODEL}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAMPLE_MODEL", "process")

    prompt = load("sample.prompty")

    assert (tmp_path.resolve() / "sample.prompty", "process") == (prompt.path, prompt.model.id)
    assert "given" == load("sample.prompty", environment={"SAMPLE_MODEL": "given"}).model.id


def test_a_tool_of_a_kind_of_its_own() -> None:
    """Whoever handles the kind finds all that its entry says in the options."""
    tool = load(SAMPLES / "desk.prompty").tools[2]

    assert ("loudspeaker", {"volume": 11, "connection": {"kind": "reference", "name": "hall"}}) == (
        tool.kind,
        tool.options,
    )


@pytest.mark.parametrize(
    ("entry", "schema"),
    [
        ("{kind: float}", {"type": "number"}),
        ('{kind: boolean, description: ""}', {"type": "boolean"}),
        (
            "{kind: string, description: Where, enumValues: [c]}",
            {"type": "string", "description": "Where", "enum": ["c"]},
        ),
        ("{kind: string, enum: [c, f], default: c}", {"type": "string", "enum": ["c", "f"], "default": "c"}),
        ("{kind: string, enumValues: [], default: }", {"type": "string"}),
        ("{kind: string, default: 2024-02-30}", {"type": "string", "default": "2024-02-30"}),
        ("{kind: boolean, default: false}", {"type": "boolean", "default": False}),
        ("{kind: array}", {"type": "array", "items": {}}),
        (
            "{kind: array, items: {kind: array, items: {kind: float}}, default: []}",
            {"type": "array", "items": {"type": "array", "items": {"type": "number"}}, "default": []},
        ),
        ("{kind: object}", {"type": "object", "properties": {}, "required": []}),
        (
            "{kind: object, properties: [{name: x, kind: integer, required: true}, {name: y, kind: integer}]}",
            {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x"]},
        ),
        ("celsius", {"type": "string", "default": "celsius"}),
        ("7", {"type": "integer", "default": 7}),
        ("0.5", {"type": "number", "default": 0.5}),
        ("true", {"type": "boolean", "default": True}),
        ("[1, 2]", {"type": "array", "items": {}, "default": [1, 2]}),
    ],
)
def test_a_parameter_is_offered_as_json_schema(tmp_path: Path, entry: str, schema: object) -> None:
    """Kind, description, allowed values, default and what lies inside; a value alone is a default."""
    front = f"{HEAD}\ntools: [{{name: t, kind: function, parameters: {{p: {entry}}}}}]"

    parameters = loaded(tmp_path, front=front).tools[0].parameters

    assert {"type": "object", "properties": {"p": schema}, "required": []} == parameters
    jsonschema.Draft202012Validator.check_schema(parameters)


@pytest.mark.parametrize(
    "spelling", ["{unit: {input: preferred}}", "{unit: preferred, who: }", "[{name: unit, input: preferred}]"]
)
def test_bindings_are_read_in_all_spellings(tmp_path: Path, spelling: str) -> None:
    """As mappings of either kind, and as a list."""
    front = f"{HEAD}\ntools: [{{name: t, kind: function, bindings: {spelling}}}]"

    assert {"unit": "preferred"} == loaded(tmp_path, front=front).tools[0].bindings


def test_inputs_are_filled_in(tmp_path: Path) -> None:
    """What is given is kept, also null and what is not declared; defaults are copied; the rest is left out."""
    front = f"""{HEAD}
inputs:
- {{name: plain, kind: string, example: never}}
- {{name: needed, kind: string, required: true}}
- {{name: filled, kind: array, default: [1]}}
- {{name: both, kind: integer, required: true, default: 0}}"""
    prompt = loaded(tmp_path, front=front)

    assert {"needed": None, "other": 1, "filled": [1], "both": 0} == prompt.filled({"needed": None, "other": 1})
    prompt.filled({"needed": "x"})["filled"].append(2)
    assert [1] == prompt.filled({"needed": "x"})["filled"]
    with pytest.raises(
        PromptError, match=r"sample\.prompty: the input 'needed' is required and was not given; pass it"
    ):
        prompt.filled({"plain": "x"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<${env:SET}|${env:UNSET:x}|${env:SET:x}>", "<here|x|here>"),
        ("${env:UNSET:http://127.0.0.1:8080/v1}", "http://127.0.0.1:8080/v1"),
        ("${env:UNSET:}${env:EMPTY:elsewhere}", ""),
        ("${env:NESTED}", "${env:SET}"),
        ("$env:SET {env:SET} ${SET} $ {", "$env:SET {env:SET} ${SET} $ {"),
        ({"a": ["${env:SET}", 1, None]}, {"a": ["here", 1, None]}),
    ],
)
def test_references_are_replaced(text: Any, value: Any) -> None:
    """By the variable, or by the default; what a variable holds is not looked into."""
    assert value == resolved(text, {"SET": "here", "EMPTY": "", "NESTED": "${env:SET}"})


@given(before=st.text("ab:} \n"), value=st.text(), after=st.text("ab:} \n"))
def test_whatever_a_variable_holds_is_in_the_text(before: str, value: str, after: str) -> None:
    """Unchanged, between what was around the reference."""
    assert before + value + after == resolved(before + "${env:NAME:default}" + after, {"NAME": value})


def test_the_body_holds_no_references(tmp_path: Path) -> None:
    """It may speak of them; and what the environment holds is text, so no flag comes from there."""
    assert [("user", "What is ${env:A}?")] == parts(loaded(tmp_path, "user:\nWhat is ${env:A}?", A="v").messages({}))
    with pytest.raises(
        PromptError, match=r"sample\.prompty: /model/options/stream: its value is not of type \"boolean"
    ):
        loaded(tmp_path, front="name: sample\nmodel: {id: m, options: {stream: '${env:A}'}}", A="true")
