"""Descriptions of programs: what they may say, where an error is, and what is taken from another."""

from __future__ import annotations

from pathlib import Path

import pytest

from looptck.catalogue.yaml_files import BadFile
from looptck.drivers.programs import Description
from looptck.drivers.programs.description import filled

MARK = "tools:\n  mark: {name: sh, arguments: {command: \"echo '{text}' >> {mark}\"}}\n"
GOOD = f"name: one\nversion: '1'\nwire: openai-chat\nonce: [one, '{{prompt}}']\n{MARK}"


def written(folder: Path, text: str, name: str = "one.yaml") -> Path:
    """A description with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_description_is_read(tmp_path: Path) -> None:
    """The smallest description has a name, a version, a wire, a command and a tool that leaves a mark."""
    one = Description.read(written(tmp_path, GOOD))

    assert one.mark is not None
    assert ("one", ("openai-chat",), "sh") == (one.name, one.wires, one.mark.name)
    assert {"command": "echo 'x' >> /m"} == one.mark.filled({"text": "x", "mark": "/m"})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD + "wirre: x\n", "line 1, /: Additional properties"),
        (GOOD.replace("openai-chat", "openai"), "line 3, /wire"),
        (GOOD.replace("'1'", "1"), "line 2, /version"),
        (GOOD.replace("{text}", "x"), "line 6, /tools/mark: the arguments have no {text}"),
        (GOOD.replace(MARK, ""), "line 1: lacks tools, one that it has anyway, or mcp"),
        (GOOD + "mcp: {name: kit_weather}\n", "line 7, /mcp/name"),
        (GOOD + "mcp: {name: 'kit_{name}', url: x}\n", "line 7, /mcp"),
        (GOOD.replace(MARK, "mcp: {name: 'kit_{name}'}\n"), "line 5, /mcp: nothing tells it of the server"),
        (GOOD.replace("once", "acp") + "answer: '(?P<text>'\n", "line 7, /answer: is no regular"),
        (GOOD.replace("once: [one, '{prompt}']\n", ""), "line 1: lacks once"),
        (GOOD + "files: {../x: y}\n", "line 7, /files"),
        (GOOD + "answer: x\n", "line 7, /answer"),
        ("like: one.yaml\n", "line 1, /like: it is like itself"),
        ("- x\n", "line 1: is no mapping"),
        (GOOD.replace("'1'", "2026-01-01"), "one.yaml: holds what JSON cannot"),
    ],
)
def test_an_error_names_its_line(tmp_path: Path, text: str, told: str) -> None:
    """What is wrong with a description is told with its line."""
    with pytest.raises(BadFile) as found:
        Description.read(written(tmp_path, text))

    assert told in str(found.value)


def test_a_description_may_be_like_another(tmp_path: Path) -> None:
    """It takes what it does not have itself, and of environment, files and tools each entry that it does not have."""
    written(tmp_path, GOOD + "env: {A: '1', B: '2'}\n")

    two = Description.read(written(tmp_path, "like: one.yaml\nname: two\nenv: {B: '3'}\n", "two.yaml"))

    assert ("two", "1", {"A": "1", "B": "3"}) == (two.name, two.version, two.env)


def test_a_program_may_take_the_tools_of_the_kit(tmp_path: Path) -> None:
    """It needs no tool that leaves marks, and one that it takes from another description is not used."""
    written(tmp_path, GOOD)

    two = Description.read(
        written(tmp_path, "like: one.yaml\nenv: {T: '{mcp_url}'}\nmcp: {name: 'kit_{name}'}\n", "two.yaml")
    )

    assert ("kit_{name}", None) == (two.mcp, two.mark)


def test_braces_that_are_no_places_stay() -> None:
    """JSON in a file of a description keeps its braces."""
    assert '{"url": "http://x", "a": {"b": {c}}}' == filled('{"url": "{url}", "a": {"b": {c}}}', {"url": "http://x"})
