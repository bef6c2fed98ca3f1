"""Rules that apply to every run, whatever its check examines."""

from __future__ import annotations

import pytest

from looptck.bench.assertions.caller import STILL_ASKING
from looptck.values.verdicts import AGAINST, Result
from meta.loops import lingering, right, unusual
from meta.loops.judging import judged

PLAIN = "openai-chat/plain/sync"


def _against(results: list[Result]) -> list[tuple[str, str]]:
    return [(result.requirement, result.case) for result in results if result.verdict in AGAINST]


def test_refused_request_is_noticed() -> None:
    """A refused request is a finding, even in a check that examines something else."""
    results = judged(lingering.WordBeforeTheThirdTurn, PLAIN, requirements=["model-name-is-sent"])

    noticed = [result for result in results if result.requirement == "no-request-is-refused"]
    assert ["model-name"] == [result.case for result in noticed]
    assert "request 3 is refused at " in noticed[0].reason


def test_refused_request_is_reported_once() -> None:
    """If one check is about the refusal in a case, the other checks of the same run do not report it."""
    results = judged(
        lingering.WordBeforeTheThirdTurn,
        PLAIN,
        requirements=["no-request-is-refused", "loop-goes-on-until-the-model-answers"],
        cases=["chain"],
    )

    about = [result.requirement for result in results if result.requirement == "no-request-is-refused"]
    assert ["no-request-is-refused"] == about


@pytest.mark.parametrize(("profile", "played"), [("core", 1), ("anthropic-loop", 2)])
def test_refused_request_is_not_noticed_where_it_may_be_refused(profile: str, played: int) -> None:
    """In a case in which a correct loop's requests may be refused, no refusal is reported, in any profile."""
    results = judged(
        right.EchoesLists,
        "anthropic-messages/stream/sync",
        profile=profile,
        requirements=[
            "lists-as-arguments-run-nothing",
            "claude-invalid-input-is-told",
            "claude-invalid-input-runs-nothing",
        ],
        cases=["list-arguments", "invalid-input-is-told[list]"],
    )

    assert [] == _against(results)
    assert played == sum(result.verdict == "pass" for result in results)


def test_refusal_after_traffic_that_need_not_be_read() -> None:
    """A refusal after traffic that only one requirement judges is reported only by that requirement."""
    results = judged(
        unusual.ItemsByIndex, "openai-responses/stream/sync", requirements=["missing-sequence-is-tolerated"]
    )

    against = [result for result in results if result.verdict in AGAINST]
    assert {"missing-sequence-is-tolerated"} == {result.requirement for result in against}
    assert {"no-sequence", "text-before-calls@llama.cpp"} <= {result.case for result in against}
    assert any("item-ids-fit-their-kind" in result.reason for result in against)


@pytest.mark.parametrize("attempt", range(5))
def test_tool_on_its_way_is_waited_for(attempt: int) -> None:
    """A tool that a loop started before it raised has run, whichever of the two events arrives first."""
    results = judged(
        lingering.BeginsAndRaises,
        "anthropic-messages/plain/sync",
        requirements=["truncated-turn-runs-nothing"],
        cases=["one-whole-one-cut"],
    )

    assert [("truncated-turn-runs-nothing", "one-whole-one-cut")] == _against(results)


def test_request_after_the_end_is_noticed() -> None:
    """A request for a run that has ended is a finding, with the name of that run's case."""
    lingering.ComesBack.last = ""

    results = judged(lingering.ComesBack, PLAIN, requirements=["final-text-is-returned"], cases=["no-call", "chain"])

    late = [result for result in results if result.requirement == "nothing-runs-after-the-end"]
    assert ["fail"] == [result.verdict for result in late]
    assert "POST /v1/chat/completions" in late[0].reason


def test_request_of_a_run_without_an_outcome_is_no_finding() -> None:
    """A run that was given up has returned nothing to its caller: what it still asks comes after no end."""
    lingering.NeverReturns.last = ""

    results = judged(
        lingering.NeverReturns,
        PLAIN,
        requirements=["final-text-is-returned"],
        cases=["no-call", "chain"],
        patience=2.0,
    )

    assert [("final-text-is-returned", "fail"), ("final-text-is-returned", "pass")] == sorted(
        (result.requirement, result.verdict) for result in results
    )


def test_request_after_an_error_that_escaped_is_no_finding() -> None:
    """Such an error ends the run, and the loop has returned nothing by then: the escape alone is the fault."""
    lingering.EscapesAndGoesOn.last = ""

    results = judged(
        lingering.EscapesAndGoesOn,
        PLAIN,
        requirements=["no-error-escapes-its-caller"],
        cases=["refused-request", "two-tools-raise"],
    )

    assert ["no-error-escapes-its-caller"] * 2 == [result.requirement for result in results]


def test_endless_loop_that_tires_is_not_played_to_its_end_in_each_cell() -> None:
    """Of a loop that has asked 130 times when its time is over, another cell sees no more than that."""
    results = judged(
        lingering.Tires, PLAIN, "openai-chat/stream/sync", requirements=["loop-is-finite-by-default"], patience=2.0
    )

    reasons = [result.reason for result in results]
    assert ["fail", "fail"] == [result.verdict for result in results]
    assert "after 140 model requests" in reasons[0]
    assert STILL_ASKING in reasons[1]


def test_title_after_the_end_is_none_of_the_loop_s() -> None:
    """A request for a run that has ended is no finding if it is beside the script: no tools, and not the prompt."""
    lingering.TitleAfterTheEnd.last = ""

    results = judged(
        lingering.TitleAfterTheEnd, PLAIN, requirements=["final-text-is-returned"], cases=["no-call", "chain"]
    )

    assert ["pass", "pass"] == [result.verdict for result in results]


def test_calls_that_began_together() -> None:
    """A loop that starts the calls of a turn together may raise while all of them are running."""
    results = judged(lingering.StartsTogether, PLAIN, requirements=["nothing-runs-after-the-end"])

    assert {"pass"} == {result.verdict for result in results} - {"not-applicable"}
