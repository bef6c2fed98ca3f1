"""What a `.prompty` file says, in all the ways in which the documents write it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from looptck_reference import Tool
from looptck_reference.prompts import Input, Model, Prompt, load
from meta.reference.reference_prompts import HEAD, SAMPLES, loaded, parts, written

ENVIRONMENT = {"TRAVEL_KEY": "k-1"}


@pytest.fixture
def guide() -> Prompt:
    """The sample that is written as the guide writes."""
    return load(SAMPLES / "guide.prompty", environment=ENVIRONMENT)


def test_the_guides_spelling_is_read(guide: Prompt) -> None:
    """Name, model, inputs, tools and messages are those of the file."""
    assert SAMPLES / "guide.prompty" == guide.path
    assert ("traveller", "Knows the sky and the clock of any place") == (guide.name, guide.description)
    assert guide.model == Model(
        id="gpt-4o",
        provider="openai",
        api_type="chat",
        endpoint="https://api.openai.com/v1",
        api_key="k-1",
        stream=False,
        options={"temperature": 0},
    )
    described = "What the traveller wants to know"
    default = "Do I need an umbrella?"
    assert guide.inputs == (
        Input(
            name="question",
            kind="string",
            description=described,
            default=default,
            required=None,
            schema={"type": "string", "description": described, "default": default},
            line=16,
        ),
    )
    assert guide.tools == (
        Tool(
            "look_up_sky",
            "Tells what the sky does over a place",
            {
                "type": "object",
                "properties": {"place": {"type": "string", "description": 'The place, e.g. "Lyon"'}},
                "required": ["place"],
            },
            strict=True,
        ),
        Tool(
            "look_up_clock",
            "Tells the time of a zone",
            {
                "type": "object",
                "properties": {"zone": {"type": "string", "description": 'The zone, e.g. "Europe/Paris"'}},
                "required": ["zone"],
            },
        ),
    )
    assert [
        ("system", "You help travellers. Look things up before you answer."),
        ("user", default),
    ] == parts(guide.messages({}))


@pytest.mark.parametrize("name", ["later.prompty", "mappings.prompty"])
def test_all_spellings_say_the_same(guide: Prompt, name: str) -> None:
    """Lists with names, mappings, shorthands and the guide's `properties:` make the same prompt."""
    other = load(SAMPLES / name, environment=ENVIRONMENT)

    assert _placeless(guide) == _placeless(other)
    assert guide.messages({}) == other.messages({})


def _placeless(prompt: Prompt) -> Prompt:
    inputs = tuple(replace(one, line=0) for one in prompt.inputs)
    return replace(prompt, path=Path(), inputs=inputs, template=load(SAMPLES / "children" / "short.prompty").template)


def test_the_key_is_not_shown(guide: Prompt) -> None:
    """A prompt in a log does not give its key away."""
    assert "k-1" not in repr(guide)


@pytest.mark.parametrize(
    ("spelling", "stream", "options"),
    [
        ("{}", False, {}),
        ("{stream: true, temperature: 0.5}", True, {"temperature": 0.5}),
        ("{stream: false}", False, {}),
        ("{additionalProperties: {stream: true}}", True, {}),
        (
            "{topP: 1, additionalProperties: {stream: true, user: me}}",
            True,
            {"topP": 1, "additionalProperties": {"user": "me"}},
        ),
        ("{additionalProperties: }", False, {}),
    ],
)
def test_a_stream_is_an_option_or_an_additional_property(
    tmp_path: Path, spelling: str, stream: bool, options: object
) -> None:
    """Either asks for a stream, and all other options are kept."""
    model = loaded(tmp_path, front=f"name: sample\nmodel: {{id: m, options: {spelling}}}").model

    assert (stream, options) == (model.stream, model.options)


def test_a_model_may_be_its_id_alone(tmp_path: Path) -> None:
    """Provider and API are then OpenAI's chat, and there is no connection."""
    model = loaded(tmp_path).model

    assert Model("some-model", "openai", "chat", None, None, stream=False, options={}) == model


def test_an_unknown_provider_is_no_error(tmp_path: Path) -> None:
    """What can be run is for whoever runs it to say."""
    model = loaded(tmp_path, front="name: sample\nmodel: {id: m, provider: mine, apiType: responses}").model

    assert ("mine", "responses") == (model.provider, model.api_type)


@pytest.mark.parametrize("connection", ["{}", "{kind: key}", "{kind: anonymous}"])
def test_kinds_of_connections(tmp_path: Path, connection: str) -> None:
    """By key, which goes without saying, or by nothing."""
    front = f"name: sample\nmodel: {{id: m, connection: {connection}}}"

    assert Model(id="m") == load(written(tmp_path, "user:\nGo.", front)).model


def test_an_empty_default_of_a_connection_says_nothing(tmp_path: Path) -> None:
    """An empty endpoint or key is none at all."""
    front = 'name: sample\nmodel: {id: m, connection: {endpoint: "${env:NOPE:}", apiKey: ""}}'

    model = loaded(tmp_path, front=front).model

    assert (None, None) == (model.endpoint, model.api_key)


def test_unknown_fields_are_no_error(tmp_path: Path) -> None:
    """Metadata, outputs and what is to come are left alone."""
    front = f"{HEAD}\nauthors: [me]\noutputs: {{answer: text}}\ndisplayName: Sample\n2: two\non: off"

    assert "sample" == loaded(tmp_path, front=front).name


def test_names_with_nothing_behind_them_say_nothing(tmp_path: Path) -> None:
    """Empty lists may be written as nothing at all."""
    prompt = loaded(tmp_path, front=f"{HEAD}\ndescription:\ninputs:\ntools:\ntemplate:")

    assert ("", (), ()) == (prompt.description, prompt.inputs, prompt.tools)


@pytest.mark.parametrize("before", ["\ufeff", "\n\n", "  ", "\n \n"])
def test_the_file_may_begin_with_blanks(tmp_path: Path, before: str) -> None:
    """So may it with a byte order mark."""
    path = tmp_path / "sample.prompty"
    path.write_text(f"{before}---\n{HEAD}\n---\nuser:\nGo.", encoding="utf-8")

    assert [("user", "Go.")] == parts(load(path).messages({}))


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_make_no_difference(tmp_path: Path, end: str) -> None:
    """Files of other systems are read as those of this one."""
    path = tmp_path / "sample.prompty"
    path.write_bytes(f"---\n{HEAD}\n---\nsystem:\nA\nB\n\nuser:\n---\nGo.".replace("\n", end).encode())

    assert [("system", "A\nB"), ("user", "---\nGo.")] == parts(load(path).messages({}))


def test_the_path_is_the_files_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is resolved once, when the file is loaded."""
    written(tmp_path, "user:\nGo.")
    monkeypatch.chdir(tmp_path)

    assert tmp_path.resolve() / "sample.prompty" == load("sample.prompty").path


def test_the_environment_is_that_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless another one is given."""
    monkeypatch.setenv("SAMPLE_MODEL", "process")
    path = written(tmp_path, "user:\nGo.", "name: sample\nmodel: ${env:SAMPLE_MODEL}")

    assert "process" == load(path).model.id
    assert "given" == load(path, environment={"SAMPLE_MODEL": "given"}).model.id


def test_a_custom_kind_keeps_what_its_entry_says() -> None:
    """Whoever handles the kind finds all of it in the options."""
    tool = load(SAMPLES / "desk.prompty").tools[2]

    assert "loudspeaker" == tool.kind
    assert {"volume": 11, "connection": {"kind": "reference", "name": "hall"}} == tool.options
    assert {"text": {"type": "string"}} == tool.parameters["properties"]
    assert tool.handler is None
