"""Rules that several documents share: one test for the requirements of all, each judged in its own profile."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import pytest

from looptck.bench.assertions.caller import error_says
from looptck.bench.assertions.results import answers
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider import gates
from looptck.provider.toolbox import Returns
from looptck.spec.python_errors import of_python, raised
from looptck.spec.reminding import lasting
from looptck.spec.rounds import asks
from looptck.values.history import Answered, Asked, Said
from looptck.values.outcome import Failed, Value
from looptck.values.plain import amount, plain
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

RUNAWAY = 16
"""Enough to show that neither the default limit nor a limit of up to 7 stopped the loop."""
NO_LIMIT = {"tool", "unknown-tool", "arguments", "provider", "stream", "truncated", "refusal"}
"""The reasons of errors that do not come from a limit."""
ONE = {"ping": Call.of("ping"), "weather": Call.of("weather", {"city": "Paris"})}
TWO = calls(*ONE.values())
TYPES = {"spec-limit-raises-runtime-error": "RuntimeError", "mode-limit-raises-value-error": "ValueError"}
TEXTS = {
    "spec-limit-error-has-the-documents-text": "Agent loop exceeded {limit} iterations",
    "mode-limit-error-has-the-documents-text": "Agent loop exceeded max_iterations ({limit})",
}


def _asked(run: Run, times: int, where: str = "") -> None:
    """Assert that the model was asked this many times; ``where``: under which limit.

    A loop whose request was refused could not ask again, and one that could not read a turn has not come to its limit.
    """
    made = len(run.requests)
    if 0 < made < times:
        run.delivered(made)
        _not_for_another_reason(run)

    assert times == made, f"{where}made {amount(made, 'model request')}, not {times}; then the loop {run.outcome}"


def _not_for_another_reason(run: Run) -> None:
    """Raises NotReached if the run ended in an error that does not come from a limit."""
    if isinstance(run.outcome, Failed) and run.outcome.reason in NO_LIMIT:
        raise NotReached(f"the loop {run.outcome} after {len(run.requests)} model requests, which is no limit")


def _endless(scenario: Scenario, implementation: Implementation, limit: int) -> Run:
    """A run that the limit ends. For the limit 0, the control is the run with the limit 1."""
    scenario.always(asks, most=RUNAWAY)
    if limit == 0:
        implementation.run(limit=1).delivered(1)
    return implementation.run(limit=limit)


@requirement("mode-model-is-asked-until-it-answers", "claude-model-is-asked-until-it-answers")
@pytest.mark.parametrize("rounds", [0, 1, 4, 9])
def test_rounds(scenario: Scenario, implementation: Implementation, rounds: int) -> None:
    """N turns with calls lead to N + 1 requests, and the last reply is the loop's answer."""
    scenario.plays(*map(asks, range(rounds)), says("That is all."))

    run = implementation.run()

    run.delivered(1)
    _asked(run, rounds + 1)
    assert [("note", {"text": f"round {n}"}) for n in range(rounds)] == run.tools_ran
    if rounds:
        answers(run, rounds)
    assert "That is all." == run.value.text


@requirement("spec-answer-is-returned", "mode-answer-is-returned")
@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_answer(scenario: Scenario, implementation: Implementation, rounds: int) -> None:
    """The text of the last reply is the loop's result, and the model is not asked again."""
    scenario.plays(*map(asks, range(rounds)), says("It is 18 °C\nand sunny."))

    run = implementation.run()

    run.delivered(rounds + 1)
    assert "It is 18 °C\nand sunny." == run.value.text
    assert rounds + 1 == len(run.requests)


@requirement("spec-prompt-comes-from-agent-and-inputs", "mode-inputs-fill-the-prompt")
def test_prompt(scenario: Scenario, implementation: Implementation) -> None:
    """The question is the user message of the first request."""
    scenario.plays(says("Hello."))

    run = implementation.run("What is the weather in Seattle?")

    said = [item for item in run.request(1).request.items if isinstance(item, Said)]
    assert ["What is the weather in Seattle?"] == [item.text.strip() for item in said if item.role == "user"]


@requirement("spec-default-limit-is-ten", "mode-default-limit-is-ten", "claude-default-limit-is-ten")
def test_default_limit(scenario: Scenario, implementation: Implementation) -> None:
    """An endless conversation ends after ten model calls."""
    scenario.always(asks, most=RUNAWAY)

    run = implementation.run()

    run.delivered(1)
    _asked(run, 10)


@requirement("spec-limit-counts-model-calls", "mode-limit-counts-cycles", "claude-limit-counts-model-calls")
@pytest.mark.parametrize("limit", [0, 1, 3, 7])
def test_limit(scenario: Scenario, implementation: Implementation, limit: int) -> None:
    """With the limit N there are N model calls, and none for N = 0."""
    _asked(_endless(scenario, implementation, limit), limit, f"under the limit of {limit} the loop ")


@requirement("spec-limit-counts-model-calls", "mode-limit-counts-cycles", "claude-limit-counts-model-calls")
def test_limit_of_rounds_of_two(scenario: Scenario, implementation: Implementation) -> None:
    """A round of two calls is one model call."""
    scenario.always(lambda _: TWO, most=RUNAWAY)

    run = implementation.run(limit=3)

    run.delivered(len(run.requests))
    run.request(2)
    made = len(run.requests)
    assert made >= 3, f"each round has two calls, and with the limit 3 the loop {run.outcome} after {made} model calls"
    _asked(run, 3)


@requirement("mode-limit-counts-cycles", "claude-limit-counts-model-calls")
@pytest.mark.parametrize("failing", ["raising", "unknown"])
def test_limit_of_failing_rounds(scenario: Scenario, implementation: Implementation, failing: str) -> None:
    """A round whose only call fails is one model call."""
    name = {"raising": "note", "unknown": "unknown_tool"}[failing]
    scenario.always(lambda n: calls(Call.of(name, {"text": f"round {n}"})), most=RUNAWAY)
    scenario.raises("note", "the pencil broke", "RuntimeError")

    run = implementation.run(limit=3)

    run.delivered(1)
    if failing == "unknown" and len(run.requests) == 1 and run.failed:
        raise NotApplicable("a call of an unknown tool ends the loop")
    made = len(run.requests)
    assert made <= 3, f"every round has a call that fails, and under the limit of 3 the model was asked {made} times"
    _asked(run, 3)


@requirement("spec-last-round-runs-its-tools", "mode-last-cycle-runs-its-tools", "claude-last-turn-runs-its-tools")
@pytest.mark.parametrize("limit", [1, 3])
def test_last_round(scenario: Scenario, implementation: Implementation, limit: int) -> None:
    """N model calls run N rounds of tools: the limit is checked before each model call, not before tools run."""
    run = _endless(scenario, implementation, limit)

    run.delivered(limit)
    assert [("note", {"text": f"round {n + 1}"}) for n in range(limit)] == run.tools_ran


@requirement("mode-answer-in-the-last-cycle-is-returned", "claude-answer-in-the-last-turn-is-returned")
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_answer_in_the_last_round(scenario: Scenario, implementation: Implementation, limit: int) -> None:
    """N-1 rounds of tools followed by an answer fit into the limit N."""
    scenario.plays(*map(asks, range(limit - 1)), says("Just in time."))

    run = implementation.run(limit=limit)

    run.replied(1)
    assert isinstance(run.outcome, Value), f"the loop {run.outcome} after {len(run.requests)} model calls"
    assert "Just in time." == run.outcome.text


@requirement("spec-limit-raises-runtime-error", "mode-limit-raises-value-error")
@pytest.mark.parametrize("limit", [0, 1, 3])
def test_limit_error_type(scenario: Scenario, implementation: Implementation, limit: int) -> None:
    """At the limit the caller gets an error of the documented type; of any type if the limit is 0."""
    type = TYPES[implementation.check.requirement.id]
    of_python(implementation, type)

    run = _endless(scenario, implementation, limit)

    if limit == 0:
        assert run.failed, f"the loop {run.outcome}"
    else:
        run.delivered(limit)
        _not_for_another_reason(run)
        raised(run, type)


@requirement("spec-limit-error-has-the-documents-text", "mode-limit-error-has-the-documents-text")
@pytest.mark.parametrize("limit", [1, 3])
def test_limit_error_text(scenario: Scenario, implementation: Implementation, limit: int) -> None:
    """The error's message is the documented sentence with the limit in it."""
    run = _endless(scenario, implementation, limit)

    run.delivered(limit)
    _not_for_another_reason(run)
    error_says(run, TEXTS[implementation.check.requirement.id].format(limit=limit))


@requirement(
    "spec-each-iteration-sends-all-messages", "mode-each-request-carries-all-messages", "claude-history-only-grows"
)
def test_all_messages(scenario: Scenario, implementation: Implementation) -> None:
    """Each of four requests begins with the history of the request before, and adds a call and its result."""
    scenario.plays(asks(1), asks(2), asks(3), says("Done."))

    run = implementation.run()

    run.request(4)
    for earlier, later in zip(run.requests, run.requests[1:], strict=False):
        before = lasting(run, earlier)
        kept = later.request.items[: len(before)]
        lost = next((item for item, other in zip_longest(before, kept) if item != other), None)
        assert lost is None, (
            f"request {later.n} does not begin with all that request {earlier.n} has: lost or changed is {lost}"
        )
        added = [item for item in later.request.items[len(before) :] if isinstance(item, Asked | Answered)]
        assert [Asked, Answered] == [type(item) for item in added], (
            f"request {later.n} does not add a call and its result, but {', '.join(map(str, added)) or 'nothing'}"
        )


@requirement("spec-runtime-tools-are-offered", "claude-tools-are-offered-every-time")
def test_tools_are_offered(scenario: Scenario, implementation: Implementation) -> None:
    """Requests with results offer the same tools as the first request: the tools of the run."""
    scenario.plays(asks(1), asks(2), says("Done."))

    run = implementation.run()

    run.request(3)
    for received in run.requests:
        offered = {tool.name for tool in received.request.tools}
        left, more = sorted({*run.offered} - offered), sorted(offered - {*run.offered})
        assert not left, f"request {received.n} does not offer {', '.join(left)}"
        assert not more, f"request {received.n} offers {', '.join(more)}, which the run does not have"


@requirement("spec-tools-run-one-after-the-other", "mode-tools-run-one-after-the-other")
@pytest.mark.parametrize("order", [("ping", "weather"), ("weather", "ping")], ids="-".join)
def test_one_after_the_other(scenario: Scenario, implementation: Implementation, order: tuple[str, str]) -> None:
    """While the first tool is held, the second does not start; then they run in the order of the turn."""
    first, second = order
    too_early = gates.tool_begins_too_early(second)
    scenario.plays(calls(*(ONE[tool] for tool in order)), says("Done."))
    scenario.does(first, Returns("done", hold=too_early))

    run = implementation.run()

    run.delivered(1)
    if left := {*order} - {tool for tool, _ in run.tools_ran}:
        raise NotReached(f"{', '.join(sorted(left))} never ran; the loop {run.outcome}")
    tools_ran(run, [{"ping": {}}, {"weather": {"city": "Paris"}}])
    ran = [tool for tool, _ in run.tools_ran]
    assert [*order] == ran, f"the turn calls {plain([*order])} in this order, and they ran in the order {plain(ran)}"
    assert [too_early.name] == run.gave_up, "the second tool started while the first was running"


@requirement("parallel-calls-run-at-the-same-time", "claude-calls-run-at-the-same-time")
def test_three_at_the_same_time(scenario: Scenario, implementation: Implementation) -> None:
    """Each of three tools returns only once all of them have begun.

    ``parallel`` is declared for all modes. A loop that has an async mode may have tools that block wait for each other.
    """
    wanted: list[dict[str, Any]] = [{"note": {"text": "one"}}, {"ping": {}}, {"weather": {"city": "Paris"}}]
    scenario.plays(calls(*(Call.of(tool, given) for one in wanted for tool, given in one.items())), says("Done."))
    all_began = gates.tools_began(len(wanted))
    for number, tool in enumerate(tool for one in wanted for tool in one):
        scenario.does(tool, Returns(f"result {number}", hold=all_began))

    run = implementation.run()

    tools_ran(run, wanted)
    blocks = implementation.cell.mode == "sync" and "async" in implementation.started.modes
    if run.gave_up and blocks and implementation.check.requirement.profile == "core":
        raise NotApplicable("tools that block wait for each other; the async mode shows whether calls do")
    assert [] == run.gave_up, "the driver declares `parallel`, but a call began only after another had ended"


@requirement("spec-result-is-the-values-text", "mode-result-is-the-tools-text")
@pytest.mark.parametrize(
    "value",
    ["72°F and sunny", '{"temperature": 72, "sky": "clear"}', "city: Paris\nsky: clear", 42, 0],
    ids=["text", "json-text", "lines", "number", "zero"],
)
def test_result_text(scenario: Scenario, implementation: Implementation, value: object) -> None:
    """A string is sent as it is, a number as its digits."""
    scenario.plays(calls(Call.of("ping")), says("Done."))
    scenario.returns("ping", value)

    run = implementation.run()

    assert [str(value)] == [answer.text for answer in run.new_answers(1)]
