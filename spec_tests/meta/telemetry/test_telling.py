"""Runs that tell of themselves in spans: by every way that leads to the kit, and with every fault on the way."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from looptck import driver as door
from meta.drivers.bench import PLAIN, SHORT, Report, judged
from meta.telemetry import lost, misplaced, telling
from meta.telemetry.telling import Driver

RUN, TOOL = "spec-run-is-one-span", "spec-tool-span-for-each-call"
SPANS = ("span-around-rounds", "span-for-each-call")
"""A case of each."""


def driven(driver: type, *requirements: str, cases: tuple[str, ...] = (), timeout: float = 20.0) -> Report:
    """What was told of a driver in this process."""
    named = f"python:{driver.__module__}:{driver.__name__}"
    return judged(named, *(requirements or (RUN, TOOL)), cases=cases, timeout=timeout)


WAYS = [
    telling.Driver,
    telling.Gzipped,
    telling.Deflated,
    telling.Batched,
    telling.AsJson,
    telling.InMemory,
    telling.Bare,
    telling.InAttributes,
    telling.Surrounded,
]


@pytest.mark.parametrize("driver", WAYS)
def test_spans_come_by_every_way(driver: type) -> None:
    """However a loop words its spans, and however they are packed and sent, all of them are seen."""
    report = driven(driver, cases=SPANS)

    assert (0, dict.fromkeys(SPANS, "pass"), []) == (report.status, report.verdicts, report.late), report.printed


def test_a_run_is_told_however_it_ends() -> None:
    """A loop that tells of its runs well passes every case, in sync and in async mode."""
    for cell in ("sync", "async"):
        report = judged("python:meta.telemetry.telling:Driver", RUN, TOOL, cells=(f"*/plain/{cell}",))

        assert {"pass"} == set(report.verdicts.values()), report.printed


@pytest.mark.parametrize("driver", ["Driver", "Batched", "AsJson"])
def test_spans_come_from_a_process(driver: str) -> None:
    """The spans of a driver in a process of its own find their runs as well."""
    line = shlex.join([sys.executable, door.__file__, f"{telling.__file__}:{driver}"])
    served = judged(f"cmd:{line}", RUN, TOOL, cases=SPANS)

    assert (0, dict.fromkeys(SPANS, "pass"), []) == (served.status, served.verdicts, served.late), served.printed


LOST = {
    lost.Silent: "the spans of the run: none at all",
    lost.OwnTrace: 'spans with an unknown trace id: ["chat looptck-model"]',
    lost.OwnTraceInMemory: "the driver's span_exporter holds 7 spans with unknown trace ids",
    lost.WrongPath: "POST /otlp: post spans to /otlp/v1/traces",
    lost.Garbage: "an export was refused with 400: the body is not an ExportTraceServiceRequest in protobuf",
    lost.Yaml: "an export was refused with 415: the content type 'application/yaml' is none of application/x-protobuf",
}


@pytest.mark.parametrize("driver", LOST)
def test_spans_that_do_not_come_fail(driver: type[Driver]) -> None:
    """Where no span of the run comes, the reason says what came instead, or was refused."""
    report = driven(driver, RUN, cases=SPANS)

    assert (1, {"span-around-rounds": "fail"}) == (report.status, report.verdicts)
    reason = report.reason("span-around-rounds")
    assert reason.startswith("0 outermost spans invoke_agent, not 1; the spans of the run: none at all")
    assert LOST[driver] in reason


def test_a_run_that_never_began_is_not_reached() -> None:
    """A loop that asks no model has nothing to tell of, whatever it tells."""
    report = driven(lost.NeverAsks, cases=SPANS)

    assert dict.fromkeys(SPANS, "not-reached") == report.verdicts


def test_spans_that_come_late_are_the_drivers_fault() -> None:
    """What is exported after the end of its run turns that run's verdict into an error, and is told."""
    report = driven(lost.Late, cases=SPANS)

    assert (1, dict.fromkeys(SPANS, "error")) == (report.status, report.verdicts)
    assert ["bad-message"] * 2 == [kind for kind, _ in report.late]
    assert all("came after its end: export them before the run is finished" in detail for _, detail in report.late)


def test_late_spans_of_a_run_that_was_given_up_change_nothing() -> None:
    """A run that hangs fails for that, and what its driver says of it later is not held against the driver."""
    report = driven(lost.LateAndHangs, RUN, cases=("span-around-rounds",), timeout=SHORT)

    assert (1, {"span-around-rounds": "fail"}, []) == (report.status, report.verdicts, report.late)
    assert report.reason("span-around-rounds").startswith("liveness: ")


def test_an_exporter_that_holds_nonsense_is_the_drivers_fault() -> None:
    """A `span_exporter` without spans of OpenTelemetry's SDK is an error, and says nothing about the loop."""
    report = driven(lost.KeepsNonsense, cases=SPANS)

    assert dict.fromkeys(SPANS, "error") == report.verdicts
    assert "the driver's span_exporter cannot be read: AttributeError(" in report.reason("span-for-each-call")


MISPLACED = {
    misplaced.ForgetsTools: {TOOL: "the spans name: []"},
    misplaced.ForgetsNames: {TOOL: "the spans name: [null, null, null]"},
    misplaced.TellsTwice: {TOOL: '"ping", "ping"'},
    misplaced.ForgetsTheRun: {RUN: "0 outermost spans invoke_agent", TOOL: "0 outermost spans invoke_agent"},
    misplaced.TellsOfTwoRuns: {RUN: "2 outermost spans invoke_agent", TOOL: "2 outermost spans invoke_agent"},
    misplaced.PutsToolsBeside: {
        RUN: "the span execute_tool ping is not a descendant of invoke_agent assistant",
        TOOL: "the span execute_tool ping is not a descendant of invoke_agent assistant",
    },
    misplaced.PutsModelCallsBeside: {RUN: "the span chat looptck-model is not a descendant of invoke_agent assistant"},
}


@pytest.mark.parametrize("driver", MISPLACED)
def test_spans_out_of_place_fail(driver: type[Driver]) -> None:
    """A span that is missing, lies in the wrong place or names nothing fails the requirements that it breaks alone."""
    report = driven(driver, cases=SPANS)

    wrong = MISPLACED[driver]
    verdicts = {case: "fail" if row in wrong else "pass" for case, row in zip(SPANS, (RUN, TOOL), strict=True)}
    assert verdicts == report.verdicts
    for case, row in zip(SPANS, (RUN, TOOL), strict=True):
        assert wrong.get(row, "") in report.reason(case)


def test_a_span_that_ends_early_fails() -> None:
    """A span that ends before the answer fails where the answer is held, by much more than clocks may differ."""
    report = driven(misplaced.EndsEarly, RUN, cases=("span-lasts",))

    assert (1, {"span-lasts": "fail"}) == (report.status, report.verdicts)
    assert "the loop was busy for " in report.reason("span-lasts")


def test_failures_that_are_not_told_fail() -> None:
    """A loop that tells of successes alone fails the cases that end in an error, and no other."""
    report = driven(misplaced.DropsFailures)

    failed = {case for case, verdict in report.verdicts.items() if verdict == "fail"}
    assert {"span-around-a-failed-run[limit]", "span-around-a-failed-run[tool]", "span-of-a-raising-tool"} == failed


def test_departures_from_the_conventions_are_recorded() -> None:
    """Spans without the conventions' attributes pass, and what they lack is told beside the verdict."""
    report = driven(telling.Bare, RUN, cases=("span-around-rounds",))

    told = [result["reason"] for result in report.json["results"] if result["verdict"] == "divergence"]
    assert ["spans of model calls: execute"] == [one for one in told if "model calls" in one]
    (conventions,) = (one for one in told if one.startswith("span conventions: "))
    assert "execute_tool without gen_ai.tool.name" in conventions


def test_a_failure_shows_the_spans() -> None:
    """The text of a failure shows the spans of the run, each further in than the one above it."""
    report = driven(misplaced.PutsToolsBeside, TOOL, cases=("span-for-each-call",))

    shown = report.printed.partition("spans, in ms since the first began:")[2].splitlines()
    assert ["    invoke_agent assistant", "      chat looptck-model", "    execute_tool ping"] == [
        line.partition(" (")[0] for line in shown[1:4]
    ]


def test_what_is_not_told_costs_nothing() -> None:
    """The kit alone imports neither OpenTelemetry nor protobuf; the first export in protobuf does."""
    loaded = "[one for one in sys.modules if one.startswith(('google', 'opentel'))]"
    program = f"import sys, looptck.suite.session; print({loaded})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "[]\n" == done.stdout


def test_a_driver_without_spans_is_not_judged() -> None:
    """Where the capability is absent, no run tells anything and nothing is judged."""
    report = judged(
        "python:meta.drivers.in_process_drivers:Driver", RUN, TOOL, profiles=("prompty-spec",), cells=(PLAIN,)
    )

    assert {"not-applicable"} == set(report.verdicts.values())
