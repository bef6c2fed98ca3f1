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

from looptck.catalogue.content import content
from looptck.catalogue.data import fixture
from looptck.cli.group import main
from meta.drivers.bench import Report, judged, process
from meta.plain_words import only_python_tells

FLAWED = "python:meta.kit.flawed:TakesCallsForAnswers"
SOME = (
    "spec-binding-needs-its-input",
    "call-runs-its-tool-once",
    "cut-reply-runs-nothing",
    "limit-is-a-ceiling",
    "retry-never-reruns-a-tool",
)


Told = tuple[Report, ET.Element]
"""What a run told: the report, and the suite of its JUnit file."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """Runs with every verdict there is, by the kind of their driver."""
    folder = tmp_path_factory.mktemp("junit")
    drivers = {
        "right": None,
        "wrong": FLAWED,
        "broken": process("Crashes", only="one-call"),
        "late": process("AnswersTwice", only="one-call"),
    }
    found = {}
    for name, driver in drivers.items():
        report = judged(driver, *SOME, cells=("*",), junit=folder / name)
        found[name] = report, ET.parse(folder / name).getroot()[0]  # noqa: S314 - the file is our own
    return found


def test_the_results_fit_their_schema(told: dict[str, Told]) -> None:
    """The JSON of any run fits the schema that is published for it, and its counts are those of its results."""
    schema = Draft202012Validator(json.loads(fixture("results.schema.json").read_text("utf-8")))
    seen: set[str] = set()
    for report, _ in told.values():
        schema.validate(report.json)
        seen |= set(report.counts)

        assert report.counts == Counter(result["verdict"] for result in report.json["results"])
    assert {"pass", "fail", "not-reached", "not-applicable", "error", "divergence"} == seen


@pytest.mark.parametrize("driver", ["right", "wrong", "broken"])
def test_junit_tells_the_same(told: dict[str, Told], driver: str) -> None:
    """The JUnit file is XML with one test case for each check, the verdict on it, and the outcomes that follow."""
    report, suite = told[driver]
    verdicts = Counter(
        one.get("value") for one in suite.iterfind("testcase/properties/property") if one.get("name") == "verdict"
    )
    counts = {verdict: count for verdict, count in report.counts.items() if verdict != "divergence"}

    assert counts == verdicts
    assert sum(counts.values()) == int(suite.get("tests", ""))
    against = counts.get("fail", 0) + counts.get("not-reached", 0)
    totals = [int(suite.get(name, "")) for name in ("failures", "errors", "skipped")]
    assert [against, counts.get("error", 0), counts.get("not-applicable", 0)] == totals


def test_results_say_what_made_them() -> None:
    """The selection, that the run came to its end, and which content of the kit has judged it."""
    told = judged(FLAWED, "call-runs-its-tool-once", cases=("one-call",)).json

    assert {"checks": 0, "questions": 0} == told["unfinished"]
    assert (["call-runs-its-tool-once"], ["one-call"]) == (
        told["selection"]["requirements"],
        told["selection"]["cases"],
    )
    assert (content(), 16) == (told["content"], len(told["content"]))


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
    assert "(1 check)" in again.output
    (verdict,) = report.verdicts.values()
    head = f"{verdict.upper()}  {requirement}  [openai-chat/stream/async]"
    assert head in report.printed
    assert head in again.output
    assert line in again.output


def test_a_failure_tells_its_story() -> None:
    """A failure names the requirement in words, its source, the case, the reason, the tools, and what happened."""
    printed = judged(FLAWED, "call-runs-its-tool-once", cases=("one-call",)).printed

    for piece in (
        "FAIL  call-runs-its-tool-once  [openai-chat/plain/sync]",
        "  MUST, unsafe: ",
        "  source: ",
        "  case: one-call",
        '  because: expected tool runs: weather({"city": "Paris"}); actual tool runs: none',
        "  tools that ran: none",
        "  what happened, in ms (run r",
        "request 1: ",
        "reply 1: 200, a turn",
        "the loop returned ",
    ):
        assert piece in printed


def test_a_failure_names_the_word_that_excuses_a_loop() -> None:
    """A loop that repairs names on purpose reads in its failure what to declare."""
    printed = judged("python:meta.kit.flawed:RepairsNames", "similar-name-runs-no-tool").printed

    assert '  not for loops that declare dialect.unknown_names "repaired"' in printed.splitlines()


def test_quiet_is_the_failing_rows_and_a_line_for_each_cause() -> None:
    """With -q a run without findings prints its counts, and one with findings a row and a line for each."""
    words = ["run", "--requirement", "call-runs-its-tool-once", "--cell", "openai-chat/*"]
    loud, quiet, flawed = (
        CliRunner().invoke(main, [*words, *more]).output
        for more in ([], ["-q"], ["-q", "--driver", FLAWED, "--case", "one-call"])
    )

    assert "looptck-reference" in loud
    assert "12 pass" in quiet
    assert "looptck-reference" not in quiet
    reason = 'expected tool runs: weather({"city": "Paris"}); actual tool runs: none'
    ended = "the loop returned '', with the stop reason end"
    assert f"\nFAIL  call-runs-its-tool-once  [all 4 cells]  {reason}; {ended}\n" in flawed
    assert "  again: " not in flawed


def test_a_bad_loop_has_a_report_that_can_be_read() -> None:
    """A hundred failures with few causes take less than 200 lines, in plain words; the row that says why is first."""
    report = judged(FLAWED)
    against = [one for one in report.json["results"] if one["verdict"] in {"fail", "not-reached"}]
    causes = report.json["causes"]

    assert 100 < len(against)
    assert 200 > len([line for line in report.printed.splitlines() if " left, " not in line])
    assert [] == only_python_tells(report)
    assert ["call-runs-its-tool-once", "unknown-tool-is-not-lost"] == [one["requirement"] for one in causes[:2]]
    assert "recorded-traffic-is-read-right" in causes[0]["noticed_by"]
    assert sorted(place for one in causes for place in one["results"]) == [
        place for place, one in enumerate(report.json["results"]) if one in against
    ]


def test_a_line_to_paste_repeats_what_the_run_was_given(tmp_path: Path) -> None:
    """The options that change what a check does stand in the line, and those that are as usual do not."""
    common = ["run", "--driver", FLAWED, "--requirement", "call-runs-its-tool-once", "--case", "one-call"]
    given = ["--timeout", "30", "--patience", "7.5", "--examples", "3"]
    shown = [
        CliRunner().invoke(main, [*common, "--cell", "openai-chat/plain/sync", *more]).output for more in ([], given)
    ]
    lines = [next(one for one in output.splitlines() if one.startswith("  again: ")) for output in shown]

    assert lines[0].endswith("--case one-call")
    assert lines[1].endswith("--case one-call " + shlex.join(given))


SELECTORS = [
    (["--profile", "prompty-spec", "--requirement", "wires-agree"], "--requirement: wires-agree is in core, and this"),
    (
        ["--level", "MUST", "--requirement", "results-keep-call-order"],
        "--level MUST: results-keep-call-order is SHOULD",
    ),
    (
        ["--cell", "openai-chat/plain/fast"],
        "--cell openai-chat/plain/fast: looptck-reference has the cells openai-chat",
    ),
    (["--requirement", "pings-are-skipped", "--cell", "openai-chat/*"], "concerns streams of anthropic-messages only"),
    (
        ["--requirement", "wires-agree", "--case", "on-ecall"],
        "--case on-ecall: no selected check has this case",
    ),
    (
        ["--profile", "prompty-agent-mode", "--case", "answer-beside-a-call"],
        "--case answer-beside-a-call: this case is in anthropic-loop, core, and this run judges prompty-agent-mode",
    ),
    (
        ["--profile", "core", "--case", "latest-rounds"],
        "--case latest-rounds: this case is in anthropic-loop, and this run judges core",
    ),
    (
        ["--requirement", "schemas-keep-their-meaning", "--case", "strict-schemas-kept*"],
        "there are strict-schemas-keep-their-meaning[",
    ),
    (
        ["--requirement", "schemas-keep-their-meaning", "--case", "strict-schemas-keep-their-meaning"],
        "there are strict-schemas-keep-their-meaning[",
    ),
]


def test_cases_are_selected_by_a_wildcard() -> None:
    """In the name of a case only the asterisk has a meaning of its own."""
    row = ["--requirement", "schemas-keep-their-meaning", "--cell", "openai-chat/plain/sync"]
    one = CliRunner().invoke(main, ["run", *row, "--case", "strict-schemas-keep-their-meaning[object]"])
    more = CliRunner().invoke(main, ["run", *row, "--case", "strict-schemas*[*object]"])

    assert (0, 0) == (one.exit_code, more.exit_code)
    assert "1 pass   (1 check)" in one.output
    assert "2 pass   (2 checks)" in more.output


@pytest.mark.parametrize(
    ("words", "why"),
    SELECTORS,
    ids=["profile", "level", "cell", "wires", "case", "declared", "tested", "near", "within"],
)
def test_nothing_was_selected_says_by_what(words: list[str], why: str) -> None:
    """An empty selection names the selector behind which nothing was left."""
    done = CliRunner().invoke(main, ["run", *words])

    assert 2 == done.exit_code
    assert "nothing was selected: " in done.output
    assert why in done.output
