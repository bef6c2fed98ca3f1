"""Every code block of the documents is checked: commands are parsed, data is validated, Python is run."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from looptck.bench.cases import read as read_cases
from looptck.catalogue import known_failures
from looptck.catalogue.agents import agent, parted
from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.requirements import read as read_catalogue
from looptck.catalogue.traits import traits
from looptck.cli import group as cli
from looptck.commands.init import write
from looptck.drivers.case_message import API_KEY, RunOptions, case
from looptck.drivers.programs import Description
from looptck.drivers.prompty_files import stage
from looptck.drivers.protocol import complaint
from looptck.drivers.servers import servers
from looptck.mock.plugin import pytest_addoption as mock_addoption
from looptck.mock.script_file import read as read_script
from looptck.suite.plugin import pytest_addoption
from looptck.values.cell import Cell
from looptck_reference.server.cli import main as reference
from meta.docs.pages import ROOT, Block, blocks, rows
from tools.outside.__main__ import main as outside

NAMES = re.compile(r"--(requirement|trait|profile)[ =]([a-z0-9-]+)")
DRAWN = (
    "looptck (the judge)",
    "implementation and version:",
    "looptck            ",
    "FAIL  ",
    "trait  ",
    "request 2 would be",
    "looptck answers",
)
"""How the blocks of text begin, each of which has a test of its own."""


def _parsed(command: click.Command, words: list[str]) -> None:
    """Raises click.UsageError where the command does not take these words."""
    while isinstance(command, click.Group):
        name, words = words[0], words[1:]
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"there is no command {name}"
        command = found
    command.make_context(command.name, words)


def _checked(line: str) -> None:
    """Check one command; what is not ours has to be one of a few."""
    words = [word for word in shlex.split(line, comments=True) if not re.match(r"[A-Z_]+=", word)]
    match Path(words[0]).name, words[1:]:
        case "looptck", rest:
            _parsed(cli.main, rest)
        case "looptck-reference", rest:
            _parsed(reference, rest)
        case "pytest", rest:
            known = pytest.Parser(_ispytest=True)
            pytest_addoption(known)
            mock_addoption(known)
            options = [name for group in known._groups for option in group.options for name in option.names()]
            assert all(word in options for word in rest if word.startswith("--looptck"))
        case "pip", ["install", *rest]:
            extras = re.findall(r"\[(.*?)\]", " ".join(rest))
            assert {one for many in extras for one in many.split(",")} <= EXTRAS
        case "python3", ["-m", "venv", ".venv"]:
            pass
        case "tox", ["-e", "outside", "--", driver, *rest]:
            assert driver.endswith(".py")
            _parsed(outside, [__file__, *rest])
        case other:
            pytest.fail(f"nothing checks the command {other}")
    for kind, name in NAMES.findall(line):
        known_names = {"requirement": [row.id for row in catalogue()], "trait": [one.id for one in traits()]}
        assert name in known_names.get(kind, catalogue().profiles), name


EXTRAS = {"program", "record", "reference", "scripted", "server", "signatures", "site", "test"}
"""The extras that the documents may name."""


@pytest.mark.parametrize("block", [*blocks("sh")], ids=str)
def test_commands_can_be_typed(block: Block) -> None:
    """Each command has options that there are, and names requirements, traits and profiles that there are."""
    for line in block.text.splitlines():
        for command in line.split(" && "):
            _checked(command)


def test_the_commands_of_the_documents_are_looked_at() -> None:
    """A command with an option that there is not is found out, and so is a requirement that there is not."""
    with pytest.raises(click.UsageError):
        _checked("looptck run --driver x --no-such-option")
    with pytest.raises(AssertionError):
        _checked("looptck run --requirement no-such-requirement")


def _server(path: Path) -> None:
    assert servers(str(path)).start().name


def _program(path: Path) -> None:
    assert Description.read(path).name


def _known(path: Path) -> None:
    assert known_failures.read(path, catalogue())


def _step(path: Path) -> None:
    """A step of a workflow, whose command can be typed."""
    for step in yaml.safe_load(path.read_text("utf-8")):
        _checked(step["run"])


def _workflow(path: Path) -> None:
    """A workflow of GitHub: the action gets inputs that it has, and all that it needs."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    (job,) = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
    (given,) = [step["with"] for step in job["steps"] if "/looptck@" in step.get("uses", "")]

    assert {name for name, one in action.items() if one.get("required")} <= given.keys() <= action.keys()


def _job(path: Path) -> None:
    """A job of GitLab, whose commands can be typed."""
    (job,) = yaml.safe_load(path.read_text("utf-8")).values()
    for line in (*job["script"], *job["after_script"]):
        _checked(line.partition(" > ")[0])


def _row(path: Path) -> None:
    """A row of the catalogue, in a profile that has nothing else."""
    folder = path.parent / "requirements"
    folder.mkdir()
    (folder / "profile.schema.json").write_bytes(fixture("requirements/profile.schema.json").read_bytes())
    documents = {"prompty-spec": {"title": "A document"}}
    profile = {"profile": "mine", "title": "Mine", "finished": False, "documents": documents}
    rows = yaml.safe_load(path.read_text("utf-8"))
    (folder / "mine.yaml").write_text(yaml.safe_dump({**profile, "requirements": rows}), "utf-8")

    assert len(rows) == len([*read_catalogue(folder)])


def _agent_file(path: Path) -> None:
    """Frontmatter of the agent `guide`, as a case of one of the two forms has it."""
    shown = yaml.safe_load(path.read_text("utf-8"))
    cell = Cell("anthropic-messages", stream=True, mode="sync")
    written, _ = parted(
        stage(
            agent("guide"),
            path.parent,
            cell,
            base_url="http://127.0.0.1:8100/r1/v1",
            api_key=API_KEY,
            as_guide="inputSchema" in shown,
        )
    )

    for tool in shown.pop("tools", []):
        assert tool in written["tools"]
    assert shown.items() <= written.items()


def _case(path: Path) -> None:
    """A declared case. `test_checks` plays it."""
    folder = path.parent / "cases"
    (folder / "topic").mkdir(parents=True)
    (folder / "case.schema.json").write_bytes(fixture("cases/case.schema.json").read_bytes())
    (folder / "topic" / "mine.yaml").write_bytes(path.read_bytes())

    assert ["mine"] == [*read_cases(folder)]


def _script(path: Path) -> None:
    """A script that `looptck serve` plays."""
    assert read_script(path).parts


KINDS: dict[str, Callable[[Path], None]] = {
    "setups:": _server,
    "  mark:": _program,
    "\nmcp:": _program,
    "  cell:": _known,
    "- run: looptck": _step,
    "jobs:": _workflow,
    "artifacts:": _job,
    "observed_at:": _row,
    "checks:\n": _case,
    "# script.yaml": _script,
    "\n  connection:": _agent_file,
    "inputSchema:": _agent_file,
    "inputs:\n": _agent_file,
}
"""What a block in YAML is, by words that no other kind has."""


@pytest.mark.parametrize("block", [*blocks("yaml")], ids=str)
def test_data_is_valid(block: Block, tmp_path: Path) -> None:
    """Each example in YAML is what the kit reads."""
    (kind,) = [check for words, check in KINDS.items() if words in block.text]
    path = tmp_path / "example.yaml"
    path.write_text(block.text, encoding="utf-8")

    kind(path)


@pytest.mark.parametrize("block", [*blocks("json")], ids=str)
def test_messages_are_those_of_the_protocol(block: Block) -> None:
    """Each message, of looptck or of a driver, fits the protocol of its direction."""
    for message in _messages(block.text):
        is_ours = message["type"] in {"start", "run", "cancel", "stop"}

        assert complaint("to-driver" if is_ours else "from-driver", message) is None


def test_the_run_that_is_shown_is_one_that_looptck_sends() -> None:
    """The case of the example has the members of every case, and the table explains them all."""
    (shown,) = [message for block in blocks("json") for message in _messages(block.text) if message["type"] == "run"]
    cell = Cell("openai-chat", True, "sync")
    sent = case(RunOptions(limit=3), cell, "http://127.0.0.1:41233/r1", name="one-call", profile="core", id="r1")
    table = rows("docs/other-languages.md", "member of the case")

    assert sent.keys() == shown["case"].keys()
    assert sent["tools"][0].keys() == shown["case"]["tools"][0].keys()
    assert sent["options"] == shown["case"]["options"]
    assert {f"`{name}`" for name in sent} == {name for names, _ in table for name in names.split(", ")}


def _messages(text: str) -> list[Any]:
    """A message over several lines, or one in each line."""
    return [json.loads(text)] if text.startswith("{\n") else [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("block", [one for one in blocks("js") if "mypkg" not in one.text], ids=str)
def test_javascript_is_that_of_init(block: Block, tmp_path: Path) -> None:
    """Each piece of JavaScript stands in what `looptck init --javascript` writes; whole drivers are run."""
    write("javascript", tmp_path)

    assert block.text in (tmp_path / "driver.mjs").read_text(encoding="utf-8")


def test_every_block_is_checked() -> None:
    """A block is in a language that a test looks at, and text is one of the outputs and drawings that have a test."""
    for one in blocks():
        assert one.language in {"sh", "yaml", "json", "js", "python", "text"}, one
        if one.language == "text":
            assert one.text.lstrip().startswith(DRAWN), one


def test_ci_calls_the_test_command() -> None:
    """CI runs the last command of README to the letter."""
    commands = [one.text.strip() for one in blocks("sh") if one.page == "README.md"]

    assert commands[-1] in map(str.strip, (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines())
