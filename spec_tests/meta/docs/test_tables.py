"""The tables of the documents are what the code, the schemas and the catalogue say."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import click
import pytest

import looptck
from looptck import driver
from looptck.catalogue.data import json_fixture
from looptck.catalogue.dialects import dialect, names
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.traits import traits
from looptck.cli import group as cli
from looptck.report import pages as report
from looptck.values.verdicts import MEANINGS
from looptck.wires import WIRES
from meta.docs.pages import PAGES, between, block, rows

CAPABILITIES = json_fixture("protocol/from-driver.schema.json")["$defs"]["started"]["properties"]["capabilities"]
SERVER = json_fixture("server.schema.json")["properties"]


def _table(first: str, lines: list[tuple[str, str]]) -> str:
    return "\n".join([f"| {first} | meaning |", "|---|---|", *(f"| {name} | {words} |" for name, words in lines)])


def _option(option: click.Parameter) -> tuple[str, str]:
    assert isinstance(option, click.Option)
    names = ", ".join(f"`{name}`" for name in option.opts)
    default = option.default if isinstance(option.default, int | float) and not option.is_flag else None
    told = f" Default: {default:g}." if default is not None else ""
    return names, re.sub(" +", " ", option.help or "") + told


def test_options_are_those_of_the_command() -> None:
    """The table of options is the one that the command line makes."""
    wanted = _table("option", [_option(one) for one in cli.run.params])

    assert wanted == between("docs/commands.md", "options")


def test_dialects_are_those_of_the_fixtures() -> None:
    """The table of dialects names each file, its server, and the quirks and framings that it sends."""
    known = [dialect(name) for name in names()]
    sent = [
        ", ".join(f"`{name}`" for sent in (one.sends, one.framings) for names in sent.values() for name in names)
        for one in known
    ]
    wanted = [
        f"| `{one.name}` | {one.title} | {quirks or 'nothing'} |" for one, quirks in zip(known, sent, strict=True)
    ]

    assert wanted == re.findall(r"^\| `.*$", between("docs/traffic.md", "dialects"), re.MULTILINE)


def test_commands_are_those_of_the_command_line() -> None:
    """The table of commands names every command, and no other."""
    shown = re.findall(r"^\| `looptck ([a-z]+)(?: [A-Z]+)*` \|", PAGES["docs/commands.md"], re.MULTILINE)

    assert set(cli.main.commands) == set(shown)


def test_capabilities_are_those_of_the_protocol() -> None:
    """The table of capabilities is the one that the protocol's schema makes."""
    lines = [(f"`{name}`", one["description"]) for name, one in CAPABILITIES["properties"].items()]

    assert _table("capability", lines) == between("docs/capabilities.md", "capabilities")


def test_capabilities_of_the_types_are_explained() -> None:
    """`looptck.driver` says of each capability what the protocol's schema says."""
    source = inspect.getsource(driver.Capabilities)
    shown = dict(re.findall(r'^    (\w+): bool\n    """(.*?)"""$', source, re.MULTILINE))

    assert {name: one["description"] for name, one in CAPABILITIES["properties"].items()} == shown


@pytest.mark.parametrize(
    ("mark", "first", "words"),
    [
        ("server capabilities", "capability", SERVER["capabilities"]["items"]),
        ("set-ups", "set-up", SERVER["setups"]["propertyNames"]),
    ],
)
def test_words_of_servers_are_those_of_the_schema(
    mark: str, first: str, words: dict[str, list[dict[str, str]]]
) -> None:
    """The tables of what a server can do, and of its set-ups, are those that the schema makes."""
    lines = [(f"`{one['const']}`", one["description"]) for one in words["oneOf"]]

    assert _table(first, lines) == between("docs/server.md", mark)


def _sent(name: str, *path: str) -> list[tuple[str, str]]:
    """The members of an object that a server sends, each with its types and its meaning."""
    whole = json_fixture(f"server/{name}.schema.json")
    schema = whole
    for step in path:
        schema = schema[step]
    needed = schema.get("required", ())
    return [
        (f"`{key}`", f"{_types(one, whole)}{'' if key in needed else ', may be absent'}. {one['description']}")
        for key, one in schema["properties"].items()
    ]


def _types(one: dict[str, Any], whole: dict[str, Any]) -> str:
    if "$ref" in one:
        one = whole["$defs"][one["$ref"].rpartition("/")[2]]
    types = one.get("type", "string")
    return " or ".join([types] if isinstance(types, str) else types)


SENT = {
    "posted calls": ("member", _sent("dispatch.request")),
    "progress events": ("member", _sent("progress")),
    "data of progress events": (
        "member of `data`",
        [
            *_sent("progress", "$defs", "data"),
            *(
                (f"{name} of `{kind}`", words)
                for kind in ("custom", "code_execution", "web_search")
                for name, words in _sent("progress", "$defs", kind)
            ),
        ],
    ),
    "records": ("member", _sent("loop-members", "$defs", "record")),
}


@pytest.mark.parametrize("mark", SENT)
def test_what_servers_send_is_what_the_schemas_say(mark: str) -> None:
    """The tables of posted calls, progress events and records are those that the schemas make."""
    assert _table(*SENT[mark]) == between("docs/server.md", mark)


def test_dialect_of_servers_is_that_of_the_schema() -> None:
    """The table of a server's dialect is the one that the schema makes, and has every key that a check reads."""
    keys = SERVER["dialect"]["properties"]
    lines = [(f"`{name}`", one["description"]) for name, one in keys.items()]
    sources = "".join(path.read_text("utf-8") for path in (Path(looptck.__path__[0]) / "spec/server_loop").glob("*.py"))

    assert _table("key", lines) == between("docs/server.md", "dialect of servers")
    assert {*keys} == {*re.findall(r'dialect\.get\("(\w+)"', sources)}


def test_verdicts_are_those_of_the_kit() -> None:
    """README explains the six verdicts as the kit does."""
    assert [[f"`{verdict}`", meaning] for verdict, meaning in MEANINGS.items()] == rows("README.md", "verdict")


def test_impacts_are_those_of_the_kit() -> None:
    """The page on failures explains the four impacts as `looptck explain` does."""
    shown = {name.strip("`"): f"if it fails, {meaning}" for name, meaning in rows("docs/failures.md", "impact")}

    assert shown == report.MEANINGS


def test_what_is_public_is_exported() -> None:
    """The page on what is public names what `looptck` exports, and no other name of it."""
    named = set(re.findall(r"`looptck\.(\w+)`", PAGES["docs/public.md"]))
    rooms = {one.stem for one in Path(looptck.__path__[0]).iterdir()}

    assert set(looptck.__all__) == named - rooms


def test_profiles_are_those_of_the_catalogue() -> None:
    """The table names every profile, and the page says that all are finished."""
    shown = [name.strip("`") for name, _ in rows("docs/commands.md", "profile")]

    assert [*catalogue().profiles] == sorted(shown, key=[*catalogue().profiles].index)
    assert all(profile.finished for profile in catalogue().profiles.values())


def test_wires_are_those_of_the_kit() -> None:
    """The table names every wire."""
    assert list(WIRES) == [row[0].strip("`") for row in rows("docs/commands.md", "wire")]


def test_traits_are_counted() -> None:
    """The page on traits says how many there are, and its example shows traits with answers that they have."""
    example = block("docs/traits.md", "trait  ").splitlines()[1:]
    ids = [line.split()[0] for line in example if not line.startswith(" ")]

    assert f"are traits: {len([*traits()])} questions" in PAGES["docs/traits.md"]
    assert all(id in traits() for id in ids)
    trait = ""
    for line in example:
        trait = line.split()[0] if not line.startswith(" ") else trait
        assert line.removeprefix(trait).split()[0] in traits()[trait].meanings


@pytest.mark.parametrize("wire", WIRES)
def test_odd_traffic_is_judged(wire: str) -> None:
    """Each row of odd traffic names requirements of its wire; those in parentheses are the excluded ones."""
    lines = between("docs/traffic.md", wire).splitlines()[2:]

    assert lines
    for line in lines:
        named = line.strip("|").split(" | ")[1].strip()
        ids = re.findall(r"(\()?`([a-z0-9-]+)`", named)
        assert ids, line
        for excluded, id in ids:
            row = catalogue()[id]
            assert wire in (row.wires or WIRES), f"{id} does not concern {wire}"
            assert bool(excluded) == bool(row.excluded), id
