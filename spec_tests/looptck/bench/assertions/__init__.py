"""The expectations of declared cases: one function for each key of ``checks`` in ``fixtures/cases/case.schema.json``.

Each takes the run and the value of the key. It raises AssertionError if the expectation is not met, and NotReached if
the deciding event did not happen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from looptck.bench.assertions.caller import (
    error,
    outcome,
    text,
    text_is_not,
    text_or_error,
    text_parts,
    text_to_the_blank,
)
from looptck.bench.assertions.results import (
    answered_once,
    answers,
    answers_follow,
    answers_in_order,
    error_is_told,
    failed_results,
    result_holds,
    result_says,
    result_texts,
    results_stay,
)
from looptck.bench.assertions.tool_runs import model_calls, never_ran, tools_ran
from looptck.bench.assertions.turns import (
    accepted,
    asks_for_compaction,
    calls_echoed,
    ended_or_asked_anew,
    kept,
    resumed,
    sent_beside,
    thinking_leads,
    turn_echoed,
)
from looptck.bench.limit_words import names_a_limit
from looptck.bench.run import Run
from looptck.values.outcome import Failed, Outcome, Value
from looptck.values.verdicts import NotApplicable

VOCABULARY: dict[str, Callable[[Run, Any], None]] = {
    word.__name__: word
    for word in (
        model_calls,
        tools_ran,
        never_ran,
        text,
        text_or_error,
        text_to_the_blank,
        text_parts,
        text_is_not,
        outcome,
        ended_or_asked_anew,
        error,
        calls_echoed,
        answers,
        answers_in_order,
        answers_follow,
        results_stay,
        answered_once,
        error_is_told,
        result_texts,
        result_says,
        thinking_leads,
        turn_echoed,
        kept,
        asks_for_compaction,
        sent_beside,
        result_holds,
        resumed,
        failed_results,
        accepted,
    )
}


FEWEST = 5
"""Requests that any loop makes before a limit of its own, which no document names, may end a run."""


def hold(run: Run, expectations: Mapping[str, Any]) -> None:
    """Check every expectation except the control, which needs another run.

    Raises NotApplicable if the loop says that a limit of its own has ended the run.
    """
    if _tells_of_a_limit(run.outcome) and wants_to_go_on(run):
        raise NotApplicable(f"the loop has a limit of its own: after {len(run.requests)} requests it {run.outcome}")
    for word, value in expectations.items():
        if word != "control":
            VOCABULARY[word](run, value)


def wants_to_go_on(run: Run) -> bool:
    """Whether the last turn has calls, after so many requests that a limit of the loop's own is no surprise."""
    asked = len(run.requests)
    return run.limit is None and asked >= FEWEST and asked in run.turns and bool(run.turns[asked].calls)


def _tells_of_a_limit(outcome: Outcome) -> bool:
    if isinstance(outcome, Value):
        return outcome.stop == "limit"
    if isinstance(outcome, Failed):
        return outcome.reason == "limit" or (outcome.reason == "other" and names_a_limit(outcome))
    return False
