"""The command line: what it lists, explains and refuses."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

from looptck import spec
from looptck.bench.cases import cases
from looptck.catalogue.requirements import catalogue
from looptck.report.pages import checks_of
from looptck.wires.rules import RULES
from meta.docs.pages import ROOT
from meta.drivers.bench import in_process, process
from meta.kit.commands import run


def test_list_names_every_requirement() -> None:
    """The list has a line for each requirement of each profile, with its level and its text."""
    status, output = run("list")

    assert 0 == status
    for row in catalogue():
        assert f"{row.level:<6} {row.id}: {row.text}" in output


def test_list_takes_a_profile() -> None:
    """With a profile, the list holds its requirements and no others."""
    status, output = run("list", "--profile", "core")

    assert 0 == status
    assert len(catalogue().profiles["core"].requirements) + 1 == len(output.splitlines())


@pytest.mark.parametrize(
    "requirement", ["call-runs-its-tool-once", "retry-never-reruns-a-tool", "cr-line-ends-are-read"]
)
def test_explain_tells_what_checks_a_requirement(requirement: str) -> None:
    """An explanation has the requirement's text, its source, and the cases or tests that check it."""
    status, output = run("explain", requirement)
    row = catalogue()[requirement]

    assert 0 == status
    for piece in (requirement, row.text, row.sources[0].title):
        assert piece in output


def test_explain_takes_several() -> None:
    """A requirement and the trait beside it, one after the other."""
    status, output = run("explain", "equal-calls-run-again", "equal-calls-in-a-turn")

    assert 0 == status
    assert output.startswith("equal-calls-run-again  [MUST")
    assert "\nequal-calls-in-a-turn  [trait" in output


@pytest.mark.parametrize("rule", ["texts-are-filled", "every-call-is-answered"])
def test_explain_knows_the_rules(rule: str) -> None:
    """A rule behind a service's message is explained by its sentence on each wire, with what judges it.

    Some rules share their id with a requirement: then both are explained.
    """
    status, output = run("explain", rule)

    assert 0 == status
    assert f"{rule}  [a rule: " in output
    for wire, rules in RULES.items():
        assert (rule in rules) == (f"  {wire}: " in output), wire
        assert rules.get(rule, "") in output
    assert "no-request-is-refused" in output
    assert (rule in catalogue().rows) == (f"{rule}  [MUST, profile core" in output)


def test_explain_names_every_test() -> None:
    """The tests that an explanation reads are those that are bound to the requirement when they are imported."""
    rows = catalogue()
    bound: dict[str, list[str]] = {row.id: [] for row in rows}
    for module in walk_packages(spec.__path__, f"{spec.__name__}."):
        tests = vars(import_module(module.name)) if ".test_" in module.name else {}
        for name, test in tests.items():
            for mark in getattr(test, "pytestmark", ()):
                if mark.name == "looptck_requirement":
                    case = name.removeprefix("test_").replace("_", "-")
                    for row in [one for id in mark.args for one in (rows[id], *rows.standing_for(id))]:
                        if row.plays(case) or row.plays_a_variant(case):
                            bound[row.id].append(f"{case}: {' '.join((inspect.getdoc(test) or '').split())}")
    declared = {f"{case.name}: {case.why}" for case in cases().values()}

    assert bound == {row.id: [line for line in checks_of(row) if line not in declared] for row in catalogue()}


def test_explain_repeats_the_driver() -> None:
    """The line to try is one for the implementation that it was asked for."""
    _, output = run("explain", "one-index-two-ids-are-two-calls", "--driver", "cmd:node a driver.mjs")

    told = "try it: looptck run --driver 'cmd:node a driver.mjs' --profile core --requirement one-index-two-ids"
    assert told in output
    assert "impact: fragile (if it fails, legal but rare traffic breaks the loop)" in output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["explain", "call-runs-its-tool"], "did you mean call-runs-its-tool-once"),
        (
            ["explain", "texts-are-fille"],
            "no requirement, trait or rule 'texts-are-fille'; did you mean texts-are-filled",
        ),
        (["list", "--profile", "kore"], "did you mean core?"),
        (["list", "--profile", "nope"], "there is no profile 'nope'; there are agent-loop-010, "),
        (["list", "--profile", "010"], "did you mean agent-loop-010?"),
        (["run", "--level", "ALWAYS"], "Invalid value for '--level'"),
        (["run", "--colour"], "No such option"),
        (["run", "--driver", "nothing"], "is not a driver: write python:"),
        (["run", "--driver", "python:a:b", "--driver", "python:c:d"], "--driver is given more than once"),
        (["run", "--profile", "none", "--timeout", "0"], "'--timeout': 0.0 is not in the range x>0"),
        (
            ["run", "--profile", "none", "--patience", "-1"],
            "'--patience': -1.0 is not in the range x>0",
        ),
        (
            ["coverage", "--profile", "none", "--timeout", "nan"],
            "'--timeout': 'nan' is not a number of seconds",
        ),
        (["smoke", "--driver", "python:a:b", "--timeout", "0"], "Invalid value for '--timeout'"),
        (["kill", "--profile", "none", "--timeout", "0"], "Invalid value for '--timeout'"),
        (["kill", "--profile", "none", "--patience", "nan"], "Invalid value for '--patience'"),
        (
            ["kill", "--profile", "none", "--examples", "0"],
            "'--examples': 0 is not in the range x>=1",
        ),
        (["record", "--upstream", "openai", "--timeout", "-1"], "Invalid value for '--timeout'"),
        (["matrix", "--no-play", "--longest", "0"], "Invalid value for '--longest'"),
    ],
)
def test_what_makes_no_sense_has_exit_status_2(words: list[str], told: str) -> None:
    """A name that there is not, or an option that makes no sense, is refused with exit status 2."""
    status, output = run(*words)

    assert 2 == status
    assert told in output


@pytest.mark.parametrize(
    ("driver", "status", "told"),
    [
        (process(), 0, "ok    tool [openai-chat/plain/sync]"),
        (process("ExitsAtOnce"), 2, "cannot-start"),
        (process("Crashes"), 1, "driver: crashed: "),
        (process("AnswersTwice"), 1, "FAULT after the runs"),
        (in_process("Returns"), 1, "driver: bad-message: "),
        ("python:meta.kit.flawed:Pretends", 1, "no model request came to the base URL of the case"),
        ("server:python:looptck_reference.server.bench:Bench", 0, "ok    question [anthropic-messages/stream/sync]"),
        ("python:meta.kit.flawed:DoublesTheVersion", 1, "a request came to /v1/v1/chat/completions"),
        (
            "python:meta.kit.flawed:KeepsTheConversationElsewhere",
            1,
            "an endpoint of the service that looptck does not play",
        ),
        ("python:meta.kit.flawed:HidesItsTools", 1, "the request offers no tool, not weather"),
        ("python:meta.kit.flawed:TakesCallsForAnswers", 0, "the model called weather, which never ran"),
        ("python:meta.kit.flawed:AsksOnce", 0, "the model was not asked again: the loop raised"),
        ("python:meta.kit.flawed:WantsACall", 0, "and the loop asked it again instead of ending"),
        ("python:nowhere.py:Driver", 2, "nowhere.py\n"),
        (f"python:{ROOT / 'pyproject.toml'}:Driver", 2, "is not a Python file: a program is run by a command line"),
        ("server:nowhere.yaml", 2, "nowhere.yaml: cannot be read"),
        ("program:nowhere.yaml", 2, "nowhere.yaml: cannot be read"),
    ],
)
def test_smoke_tells_a_broken_driver(driver: str, status: int, told: str) -> None:
    """The smoke test says of a driver whether it keeps to the protocol, without judging the loop behind it."""
    got, output = run("smoke", "--driver", driver, "--timeout", "20")

    assert status == got
    assert told in output
    assert "in load\n" not in output  # what looks for the driver is in no traceback


def test_the_command_can_be_run_as_a_module() -> None:
    """The whole of it as a person runs it: a process, its exit status, and what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "looptck.cli", "run", "-q", "--requirement", "call-runs-its-tool-once",
         "--cell", "openai-chat/*"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert (0, "") == (done.returncode, done.stderr)
    assert "12 pass" in done.stdout
