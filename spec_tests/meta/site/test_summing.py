"""The summary and the badge of a run, the action that uses them, and `looptck run --html`."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from click.testing import CliRunner

from looptck.cli.group import main
from looptck.report.site.entries import Entry
from looptck.report.site.summing import CLEAN, badge, failing, markdown_summary
from meta.docs.pages import ROOT
from meta.site.making import NEWER, WRONG, cause, data, result

ONE = ["--requirement", "call-runs-its-tool-once", "--case", "one-call", "--cell", "openai-chat/plain/sync"]
TWICE = """
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop

class Wrong(Driver):
    class loop(Loop):
        def calls_of(self, turn):
            return [*turn.calls, *turn.calls]
"""
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def test_the_summary_names_each_cause() -> None:
    """A row for each cause, with why it is known; what is looptck's own fault does not count as failing."""
    text = markdown_summary(Entry("wrong", WRONG))

    assert "**1 unsafe** requirement fails." in text
    assert "| unsafe | call-runs-its-tool-once | it ran \\<twice\\> | Theirs: loop.py runs \\`it\\` twice. |" in text


def test_a_part_of_a_run_is_told_as_one() -> None:
    """That nothing fails in it says nothing of the others."""
    part = markdown_summary(Entry("part", {**WRONG, "shard": {"number": 1, "of": 3}}))

    told = "This is part 1 of 3 of a run"
    assert (True, False) == (told in part, told in markdown_summary(Entry("wrong", WRONG)))


def test_nothing_of_a_loop_is_markup() -> None:
    """A reason that looks like a table or a link stays one cell."""
    text = {"because": "a | b\n[c](d) <img>", "impact": None}
    one = data("x", "1", [result("call-runs-its-tool-once", "fail")], [cause("call-runs-its-tool-once", [0]) | text])

    (row,) = [line for line in markdown_summary(Entry("x", one)).splitlines() if "call-runs" in line]
    assert row.endswith("| call-runs-its-tool-once | a \\| b |  |")


def test_a_run_that_was_cut_short_says_so() -> None:
    """Nobody takes it for clean."""
    text = markdown_summary(Entry("x", {**NEWER, "unfinished": {"checks": 7, "questions": 0}}))

    assert "**The run was cut short: 7 checks and questions have no verdict.**" in text
    assert "Nothing fails." not in text


ERROR = data("x", "1", [result("call-runs-its-tool-once", "error")], summary={**NEWER["summary"], "error": 1})
NO_VERDICT = {
    "cut short": {**NEWER, "unfinished": {"checks": 7, "questions": 0}},
    "an error": ERROR,
    "a fault of the driver": {**NEWER, "driver_faults": [{"kind": "late", "detail": "a line"}]},
    "nothing played": {**NEWER, "results": []},
    "nothing applies": data("x", "1", [result("call-runs-its-tool-once", "not-applicable")]),
}
NOT_ONE = ("an error", "nothing played", "nothing applies")
"""Where there is no verdict at all."""


@pytest.mark.parametrize("why", NO_VERDICT)
def test_what_was_not_judged_is_not_clean(why: str) -> None:
    """Neither the summary nor the badge says that nothing fails."""
    entry = Entry("x", NO_VERDICT[why])

    assert "looptck: not judged" == ET.fromstring(badge(entry)).attrib["aria-label"]  # noqa: S314  our own
    assert CLEAN not in badge(entry)
    assert "Nothing fails." not in markdown_summary(entry)
    assert (why in NOT_ONE) == ("Nothing was judged." in markdown_summary(entry))
    assert ("an error" == why) == ("**1 check has no verdict" in markdown_summary(entry))


def test_what_fails_in_a_run_that_was_cut_short() -> None:
    """The badge says both."""
    assert ">1 unsafe, not all judged<" in badge(Entry("x", {**WRONG, "unfinished": {"checks": 1, "questions": 0}}))


@pytest.mark.parametrize(("entry", "words"), [(Entry("a", WRONG), "1 unsafe"), (Entry("b", NEWER), "nothing fails")])
def test_the_badge_is_a_picture(entry: Entry, words: str) -> None:
    """It is XML, and says for those who cannot see it what fails."""
    drawn = ET.fromstring(badge(entry))  # noqa: S314  our own

    assert f"looptck: {words}" == drawn.attrib["aria-label"]
    assert ("unsafe" in failing(entry)) == ("#a31515" in badge(entry))


def test_a_run_writes_pages(tmp_path: Path) -> None:
    """`looptck run --html DIR` has the pages of this run, with the requirement that was played."""
    done = CliRunner().invoke(main, ["run", "-q", *ONE, "--html", str(tmp_path / "html")])

    assert 0 == done.exit_code, done.output
    assert f"pages: {tmp_path / 'html' / 'index.html'}" in done.output
    assert (tmp_path / "html" / "r" / "call-runs-its-tool-once.html").is_file()


def test_a_file_that_is_no_result_is_named(tmp_path: Path) -> None:
    """The error names the file, and the badge is not written."""
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    words = ["summary", str(tmp_path / "x.json"), "--badge", str(tmp_path / "b.svg")]
    done = CliRunner().invoke(main, words)

    assert 2 == done.exit_code
    assert "x.json" in done.output
    assert not (tmp_path / "b.svg").exists()


@pytest.mark.parametrize(("loop", "status"), [("right", 0), ("wrong", 1)])
def test_the_action_runs(tmp_path: Path, loop: str, status: int) -> None:
    """The steps of action.yml, run as they are: status, JUnit, summary, badge and pages, for right and wrong loops."""
    step = ACTION["runs"]["steps"][1]
    (tmp_path / "wrong.py").write_text(TWICE, encoding="utf-8")
    driver = {"right": "python:looptck_reference.kit.driver:Driver", "wrong": "python:wrong.py:Wrong"}[loop]
    inputs = {"driver": driver, "known-failures": "", "options": " ".join(ONE), "into": "out"}
    around = {name: inputs[value[len("${{ inputs.") : -len(" }}")]] for name, value in step["env"].items()}
    scripts = str(Path(sys.executable).parent)
    environ = {**os.environ, **around, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    environ |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    words = [str(shutil.which("bash")), "-e", "-o", "pipefail", "-c", step["run"]]
    done = subprocess.run(words, cwd=tmp_path, env=environ, check=False, capture_output=True)

    assert status == done.returncode, done.stdout.decode() + done.stderr.decode()
    assert {"results.json", "junit.xml", "badge.svg", "html"} == {path.name for path in (tmp_path / "out").iterdir()}
    said = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert said.startswith("## looptck: ")
    assert ("Nothing fails." in said) == (status == 0)
    assert json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["summary"]["fail"] >= status


HOSTILE = "-x '\"; touch pwned; $(touch pwned) `touch pwned`\n*"


def test_inputs_of_the_action_are_words_and_no_commands(tmp_path: Path) -> None:
    """Whatever a name has in it, even a dash in front, reaches looptck and pip as it is, and nothing of it runs."""
    (tmp_path / "bin").mkdir()
    for name in ("looptck", "python"):
        stub = tmp_path / "bin" / name
        stub.write_text(f"#!/bin/sh\nprintf '%s\\0' \"$@\" >> {shlex.quote(str(tmp_path))}/words\n", encoding="utf-8")
        stub.chmod(0o755)
    inputs = dict.fromkeys(("INSTALL", "DRIVER", "KNOWN_FAILURES", "INTO"), HOSTILE)
    environ = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "OPTIONS": "-k *", **inputs}
    for step in ACTION["runs"]["steps"]:
        words = [str(shutil.which("bash")), "-e", "-o", "pipefail", "-c", step["run"]]
        subprocess.run(words, cwd=tmp_path, env=environ, check=True)

    given = (tmp_path / "words").read_text(encoding="utf-8").split("\0")
    assert ["-m", "pip", "install", "--quiet", HOSTILE, "run", "-q", "--driver", HOSTILE] == given[:9]
    assert f"./{HOSTILE}/results.json" in given
    assert ["--known-failures", HOSTILE, "-k", "*", ""] == given[-5:]
    assert [] == [*tmp_path.rglob("pwned")]


def test_every_input_of_the_action_is_used() -> None:
    """What the action asks for, and nothing else, is in its steps."""
    text = json.dumps(ACTION["runs"]) + json.dumps(ACTION["outputs"])

    assert [] == [name for name in ACTION["inputs"] if f"inputs.{name}" not in text]
