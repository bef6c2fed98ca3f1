"""Agents as files of one run: the copies say where the fake provider is, and else what their originals say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from looptck.catalogue.agents import Agent, agent, parted
from looptck.catalogue.yaml_files import BadFile
from looptck.drivers import Started
from looptck.drivers.prompty_files import stage
from looptck.values.cell import Cell

URL = "http://127.0.0.1:1/r1/v1"
CHAT = Cell("openai-chat", stream=False, mode="sync")
SHIPPED = ("addressed", "assistant", "bound", "counting", "elsewhere", "guide", "parent")


def staged(name: str, folder: Path, cell: Cell = CHAT) -> tuple[dict[str, Any], str]:
    """The frontmatter and the body of the copy of an agent."""
    return parted(stage(agent(name), folder, cell, base_url=URL, api_key="a-key"))


@pytest.mark.parametrize(
    ("wire", "provider", "api", "endpoint"),
    [
        ("openai-chat", "openai", "chat", URL),
        ("openai-responses", "openai", "responses", URL),
        ("anthropic-messages", "anthropic", "chat", URL.removesuffix("/v1")),
    ],
)
def test_a_copy_says_where_the_provider_is(wire: str, provider: str, api: str, endpoint: str, tmp_path: Path) -> None:
    """Provider, API, endpoint and key are those of the cell, each as its client takes it."""
    front, _ = staged("assistant", tmp_path, Cell(wire, stream=False, mode="sync"))

    assert {
        "id": "looptck-model",
        "provider": provider,
        "apiType": api,
        "connection": {"kind": "key", "endpoint": endpoint, "apiKey": "a-key"},
        "options": {},
    } == front["model"]


def test_a_copy_says_whether_to_stream(tmp_path: Path) -> None:
    """In a cell with streams the options ask for them."""
    front, _ = staged("assistant", tmp_path, Cell("openai-chat", stream=True, mode="sync"))

    assert {"additionalProperties": {"stream": True}} == front["model"]["options"]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_copy_says_all_else_as_its_original(name: str, tmp_path: Path) -> None:
    """But for the model, frontmatter and body are the file's own."""
    front, body = staged(name, tmp_path)
    original, text = parted(agent(name).path)

    assert {**original, "model": None} == {**front, "model": None}
    assert text == body


def test_a_copy_for_the_guide_has_its_form(tmp_path: Path) -> None:
    """Inputs are a mapping by name and parameters a list, both below `properties`; the rest is the file's own."""
    path = stage(agent("guide"), tmp_path, CHAT, base_url=URL, api_key="a-key", as_guide=True)
    front, body = parted(path)
    original, text = parted(agent("guide").path)

    (question,) = original.pop("inputs")
    assert {"properties": {question.pop("name"): question}} == front.pop("inputSchema")
    lists = [tool.pop("parameters") for tool in original["tools"]]
    assert [{"properties": one} for one in lists] == [tool.pop("parameters") for tool in front["tools"]]
    assert ({**original, "model": None}, text) == ({**front, "model": None}, body)


@pytest.mark.parametrize(
    ("profile", "dialect", "as_guide"),
    [
        ("prompty-agent-mode", {}, True),
        ("prompty-agent-mode", {"agent_files": "guide"}, True),
        ("prompty-agent-mode", {"agent_files": "lists"}, False),
        ("prompty-spec", {}, False),
        ("core", {"agent_files": "guide"}, False),
    ],
)
def test_files_are_of_the_guides_form_in_its_cases(profile: str, dialect: dict[str, str], *, as_guide: bool) -> None:
    """Unless the driver declares that its loop reads lists alone."""
    declared = Started("x", "1", "python", ("openai-chat",), ("sync",), (profile,), {}, dialect)

    assert as_guide == declared.reads_guide(profile)


def test_a_reference_to_the_environment_stays(tmp_path: Path) -> None:
    """It is the loop's to resolve."""
    front, _ = staged("elsewhere", tmp_path)

    assert "${env:LOOPTCK_NO_SUCH_VARIABLE:looptck-model}" == front["model"]["id"]
    assert "LOOPTCK_NO_SUCH_VARIABLE" not in os.environ


def test_a_reference_has_the_endpoint_as_its_default(tmp_path: Path) -> None:
    """Where a file has the endpoint in a reference, the endpoint of the run is the default."""
    front, _ = staged("addressed", tmp_path)

    connection = front["model"]["connection"]
    assert {"kind": "key", "endpoint": f"${{env:LOOPTCK_NO_SUCH_VARIABLE:{URL}}}", "apiKey": "a-key"} == connection


def test_children_lie_where_their_parents_look_for_them(tmp_path: Path) -> None:
    """All agents below an agent are copied, each to where a path leads, and each says where the provider is."""
    folder = tmp_path / "new" / "folder"
    path = stage(agent("parent"), folder, CHAT, base_url=URL, api_key="a-key")

    names = ["children/checker.prompty", "children/expert.prompty", "children/summary.prompty", "parent.prompty"]
    assert names == sorted(str(one.relative_to(folder)) for one in folder.rglob("*.prompty"))
    assert {folder / name for name in names} == set(reached(path))
    assert {URL} == {parted(one)[0]["model"]["connection"]["endpoint"] for one in folder.rglob("*.prompty")}


def reached(path: Path) -> Iterator[Path]:
    """The file, and those to which the paths of its tools lead."""
    yield path
    for tool in parted(path)[0].get("tools", []):
        if "path" in tool:
            yield from reached(path.parent / tool["path"])


def test_text_beyond_ascii_is_copied_as_it_is(tmp_path: Path) -> None:
    """Neither frontmatter nor body is escaped or changed."""
    original = tmp_path / "zoë.prompty"
    original.write_text("---\nname: zoë\nmodel: {id: m}\n---\nuser:\n東京 — “{{question}}”\n", "utf-8")
    copied = stage(Agent("zoë", "", original, (), (), ()), tmp_path / "copy", CHAT, base_url=URL, api_key="a-key")

    front, body = parted(copied)
    assert ("zoë", "user:\n東京 — “{{question}}”\n") == (front["name"], body)


# -- what is read of them --------------------------------------------------------------------------------------------


def test_a_prompty_tool_takes_the_inputs_of_its_child() -> None:
    """Those without a default have to be there; a bound one is not offered."""
    consult = agent("parent").tools[0]

    assert ["question", "audience", "length"] == list(consult.parameters["properties"])
    assert ["question", "length"] == list(consult.offered["properties"])
    assert ["question"] == consult.parameters["required"] == consult.offered["required"]
    assert (False, "prompty", "agentic") == (consult.handled, consult.kind, consult.mode)


def test_bound_parameters_are_not_offered() -> None:
    """What is left of the schema is as it was."""
    weather = agent("bound").tools[0]

    assert {"unit": "preferred_unit"} == weather.bindings
    assert ["city", "unit"] == weather.parameters["required"]
    wanted = {"city": {"type": "string", "description": "The city's name."}}
    assert {"type": "object", "properties": wanted, "required": ["city"]} == weather.offered


def test_inputs_that_are_not_given_have_their_defaults() -> None:
    """A default fills its place, what is given goes before it, and an empty value is given."""
    where = agent("elsewhere")

    for inputs, system in (({}, "at home"), ({"place": "abroad"}, "abroad"), ({"place": ""}, "")):
        wanted = (("system", f"You speak to somebody who is {system}."), ("user", "Where am I?"))
        assert wanted == where.messages(inputs)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: x\n", "does not begin with frontmatter"),
        ("---\n[\n---\n", "is not the YAML that was meant: "),
        ("---\n- x\n---\n", "frontmatter: is no mapping"),
        (None, "there is no such agent"),
    ],
)
def test_a_file_of_another_form_is_refused(text: str | None, told: str, tmp_path: Path) -> None:
    """With its path, and what is wrong."""
    path = tmp_path / "one.prompty"
    if text is not None:
        path.write_text(text, "utf-8")

    with pytest.raises(BadFile, match=f"one.prompty: {told}"):
        parted(path)
