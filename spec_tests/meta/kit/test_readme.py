"""The README tells the truth: its commands are those of CI, its tables are made from the code, its driver works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from looptck import cli, known
from looptck.catalogue import catalogue
from looptck.data import json_fixture
from looptck.drivers.servers import servers
from looptck.verdicts import MEANINGS
from looptck.wires import WIRES
from meta.drivers.bench import judged

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LOOP = """
import json, urllib.request

def run_loop(base_url, api_key, model, messages, tools, max_turns=None):
    handlers = {tool["name"]: handler for tool, handler in tools}
    functions = [{k: tool[k] for k in ("name", "description", "parameters")} for tool, _ in tools]
    offered = [{"type": "function", "function": function} for function in functions]
    messages = list(messages)
    for _ in range(max_turns or 10):
        body = json.dumps({"model": model, "messages": messages, "tools": offered}).encode()
        headers = {"authorization": "Bearer " + api_key}
        with urllib.request.urlopen(urllib.request.Request(base_url + "/chat/completions", body, headers)) as response:
            message = json.load(response)["choices"][0]["message"]
        if not message.get("tool_calls"):
            return message["content"]
        messages.append({k: message[k] for k in ("role", "content", "tool_calls")})
        for call in message["tool_calls"]:
            result = handlers[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})
    raise RuntimeError("limit")
"""


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def _table(command: click.Command) -> str:
    """The table of a command's options as the README shows it."""
    lines = ["| option | meaning |", "|---|---|"]
    for option in command.params:
        assert isinstance(option, click.Option)
        names = ", ".join(f"`{name}`" for name in option.opts)
        default = option.default if isinstance(option.default, int | float) and not option.is_flag else None
        told = f" Default: {default:g}." if default is not None else ""
        lines.append(f"| {names} | {re.sub(' +', ' ', option.help or '')}{told} |")
    return "\n".join(lines)


def test_options_are_those_of_the_command() -> None:
    """The README's table of options is the one that the command line makes."""
    shown = re.search(r"<!-- options:.*?-->\n(.*?)\n<!-- end of options -->", README, re.DOTALL)

    assert shown
    assert _table(cli.run) == shown[1]


def test_capabilities_are_those_of_the_protocol() -> None:
    """The README's table of capabilities is the one that the protocol's schema makes."""
    shown = re.search(r"<!-- capabilities:.*?-->\n(.*?)\n<!-- end of capabilities -->", README, re.DOTALL)
    known = json_fixture("protocol/from-driver.schema.json")["$defs"]["started"]["properties"]["capabilities"]
    lines = [f"| `{name}` | {one['description']} |" for name, one in known["properties"].items()]

    assert shown
    assert ["| capability | meaning |", "|---|---|", *lines] == shown[1].splitlines()


def test_capabilities_of_servers_are_those_of_the_schema() -> None:
    """The README's tables of what a server can do, and of its set-ups, are those that the schema makes."""
    properties = json_fixture("server.schema.json")["properties"]
    capabilities, setups = properties["capabilities"]["items"], properties["setups"]["propertyNames"]

    for name, first, words in (("server capabilities", "capability", capabilities), ("set-ups", "set-up", setups)):
        shown = re.search(rf"<!-- {name}:.*?-->\n(.*?)\n<!-- end of {name} -->", README, re.DOTALL)
        lines = [f"| `{one['const']}` | {one['description']} |" for one in words["oneOf"]]

        assert shown
        assert [f"| {first} | meaning |", "|---|---|", *lines] == shown[1].splitlines()


def test_example_of_a_server_is_one(tmp_path: Path) -> None:
    """The README's description of a server is one that the kit takes."""
    example = next(block for block in _blocks("yaml") if "setups:" in block)
    path = tmp_path / "my-server.yaml"
    path.write_text(example, encoding="utf-8")

    assert "my-server" == servers(str(path)).start().name


def test_commands_are_those_of_the_command_line() -> None:
    """The README's table of commands names every command, and no other."""
    shown = re.findall(r"^\| `looptck ([a-z]+)(?: [A-Z]+)*` \|", README, re.MULTILINE)

    assert set(cli.main.commands) == set(shown)


def test_ci_calls_the_test_command() -> None:
    """CI runs the second command of the README to the letter."""
    commands = _blocks("sh")

    assert commands[1].strip() in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_verdicts_are_those_of_the_kit() -> None:
    """The README explains the six verdicts as the kit does."""
    for verdict, meaning in MEANINGS.items():
        assert f"| `{verdict}` | {meaning} |" in README


def test_profiles_are_those_of_the_catalogue() -> None:
    """The README's table names every profile, and says of each whether it is finished."""
    rows = dict(re.findall(r"^\| `([a-z0-9-]+)` \| .* \| (.*) \|$", _rows("profile"), re.MULTILINE))

    assert {name: profile.finished for name, profile in catalogue().profiles.items()} == {
        name: state == "finished" for name, state in rows.items()
    }


def test_wires_are_those_of_the_kit() -> None:
    """The README's table names every wire."""
    assert list(WIRES) == re.findall(r"^\| `([a-z0-9-]+)` \|", _rows("wire"), re.MULTILINE)


def _rows(first: str) -> str:
    """The rows of the table whose first column has this name."""
    return README.partition(f"\n| {first} | ")[2].partition("\n\n")[0]


def test_known_failures_example_is_valid(tmp_path: Path) -> None:
    """The example of a known-failures file is one."""
    example = next(block for block in _blocks("yaml") if "reason:" in block)
    path = tmp_path / "known.yaml"
    path.write_text(example, encoding="utf-8")

    assert len(yaml.safe_load(example)) == len(known.read(path, catalogue()))


@pytest.mark.parametrize("called", ["by-name", "by-position"])
def test_the_smallest_driver_works(tmp_path: Path, called: str) -> None:
    """The README's driver passes the smoke test on a loop of twenty lines, whichever way that calls a handler."""
    arguments = 'json.loads(call["function"]["arguments"])'
    by_position = LOOP.replace(f"**{arguments}", f"*{arguments}.values()")
    driver = next(block for block in _blocks("python") if "class Driver" in block)
    (tmp_path / "driver.py").write_text(driver, encoding="utf-8")
    (tmp_path / "mypkg.py").write_text(LOOP if called == "by-name" else by_position, encoding="utf-8")
    command = [sys.executable, "-m", "looptck.cli", "smoke", "--driver", f"python:{tmp_path / 'driver.py'}:Driver"]

    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert (0, "") == (ran.returncode, ran.stderr), ran.stdout


def test_the_example_of_a_failure_is_one() -> None:
    """The README's failure is what the kit prints of a loop that answers each call with the result of another."""
    example = next(block for block in _blocks("text") if block.startswith("FAIL"))
    driver = "python:looptck_reference.mutants.core.results:Swapped"
    printed = judged(driver, "results-carry-their-call-ids", profiles=("core",)).printed.replace(driver, "…")
    lines = iter(printed.splitlines())

    shown = [line.rstrip("…") for line in example.splitlines() if line.strip() != "…"]
    assert [] == [line for line in shown if not any(one.startswith(line) for one in lines)]
