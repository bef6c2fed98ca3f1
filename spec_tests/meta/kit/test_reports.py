"""Reports: JSON and JUnit say the same as the verdicts, and every failure ends in a line that shows it again."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from looptck.cli import main
from looptck.data import fixture
from meta.drivers.bench import Report, judged, process

FLAWED = "python:meta.kit.flawed:TakesCallsForAnswers"
SOME = ("call-runs-its-tool-once", "cut-reply-runs-nothing", "limit-is-a-ceiling", "retry-never-reruns-a-tool")


def reports(junit: Path) -> list[Report]:
    """Runs with every verdict there is."""
    driver = process("AnswersTwice", only="one-call")
    return [
        judged(None, *SOME, cells=("*",), junit=junit),
        judged(FLAWED, *SOME, cells=("*",), junit=junit),
        judged(driver, *SOME, cells=("*",), junit=junit),
    ]


def test_the_results_fit_their_schema(tmp_path: Path) -> None:
    """The JSON of any run fits the schema that is published for it, and its counts are those of its results."""
    schema = Draft202012Validator(json.loads(fixture("results.schema.json").read_text("utf-8")))
    seen: set[str] = set()
    for report in reports(tmp_path / "junit.xml"):
        schema.validate(report.told)
        seen |= set(report.counts)

        assert report.counts == Counter(result["verdict"] for result in report.told["results"])
    assert {"pass", "fail", "not-reached", "not-applicable", "error", "divergence"} == seen


@pytest.mark.parametrize(
    "driver", [None, FLAWED, process("Crashes", only="one-call")], ids=["right", "wrong", "broken"]
)
def test_junit_tells_the_same(tmp_path: Path, driver: str | None) -> None:
    """The JUnit file is XML with one test case for each check, the verdict on it, and the outcomes that follow."""
    path = tmp_path / "junit.xml"
    report = judged(driver, *SOME, cells=("*",), junit=path)
    suite = ET.parse(path).getroot()[0]  # noqa: S314 - the file is our own
    verdicts = Counter(
        one.get("value") for one in suite.iterfind("testcase/properties/property") if one.get("name") == "verdict"
    )
    counts = {verdict: count for verdict, count in report.counts.items() if verdict != "divergence"}

    assert counts == verdicts
    assert sum(counts.values()) == int(suite.get("tests", ""))
    against = counts.get("fail", 0) + counts.get("not-reached", 0)
    told = [int(suite.get(name, "")) for name in ("failures", "errors", "skipped")]
    assert [against, counts.get("error", 0), counts.get("not-applicable", 0)] == told


def test_a_known_failure_is_skipped_in_junit(tmp_path: Path) -> None:
    """A failure that is known is told as skipped, with its verdict and its reason."""
    known = tmp_path / "known.yaml"
    known.write_text(f"- {{requirement: {SOME[0]}, cell: '*', reason: it runs no tools}}", "utf-8")
    path = tmp_path / "junit.xml"
    judged(FLAWED, SOME[0], known=known, junit=path)
    suite = ET.parse(path).getroot()[0]  # noqa: S314 - the file is our own

    assert ("0", "0", suite.get("tests")) == tuple(suite.get(name) for name in ("failures", "errors", "skipped"))
    assert {"it runs no tools"} == {one.get("message") for one in suite.iterfind("testcase/skipped")}


@pytest.mark.parametrize(
    ("requirement", "case"),
    [
        ("call-runs-its-tool-once", "one-call"),
        ("retry-never-reruns-a-tool", "no-second-run[429-no-retry-after]"),
        ("framing-does-not-matter", "any-framing"),
    ],
)
def test_the_line_to_paste_shows_the_failure_again(requirement: str, case: str) -> None:
    """A failure ends in a command that runs that check and no other, and finds the same."""
    report = judged(FLAWED, requirement, cells=("openai-chat/stream/async",), cases=(case,))
    (line,) = [line for line in report.printed.splitlines() if line.startswith("  again: ")]
    words = shlex.split(line.removeprefix("  again: "))
    again = CliRunner().invoke(main, words[1:])

    assert ["looptck", "run"] == words[:2]
    assert 1 == again.exit_code
    assert "(1 checks)" in again.output
    first, _, rest = again.output[again.output.index("\n\n") + 2 :].partition("\n")
    assert first in report.printed
    assert line in rest


def test_a_failure_tells_its_story() -> None:
    """A failure names the requirement in words, its source, the case, the reason, the tools, and what happened."""
    printed = judged(FLAWED, "call-runs-its-tool-once", cases=("one-call",)).printed

    for piece in (
        "FAIL  call-runs-its-tool-once  [openai-chat/plain/sync]",
        "  MUST  ",
        "  source: ",
        "  case: one-call",
        "  because: tools that should have run: ",
        "  tools that ran: none",
        "  what happened, in ms (run r",
        "request 1: ",
        "reply 1: 200, a turn",
        "the loop returned ",
    ):
        assert piece in printed


def test_quiet_leaves_the_table_out() -> None:
    """With -q a run prints its failures and counts, and no table."""
    loud, quiet = (
        CliRunner()
        .invoke(main, ["run", *more, "--requirement", "call-runs-its-tool-once", "--cell", "openai-chat/*"])
        .output
        for more in ([], ["-q"])
    )

    assert "looptck-reference" in loud
    assert "16 pass" in quiet
    assert "looptck-reference" not in quiet
