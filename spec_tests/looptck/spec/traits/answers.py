"""What became of a turn or a call, as an answer shared by several traits, with the detail that shows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from looptck.bench.run import Run
from looptck.suite.asking import error_text
from looptck.values.history import Answered, Asked, Said
from looptck.values.outcome import Failed, Value
from looptck.values.plain import amount
from looptck.values.verdicts import NotReached

TraitAnswer = tuple[str, str]


def require_played(run: Run) -> None:
    """Check that the script's step for request 1 was played. Raises NotReached if it was not requested or refused."""
    run.replied(1)
    if problems := run.request(1).problems:
        raise NotReached(f"request 1 was refused: {problems[0].rule} at {problems[0].pointer}")


def turn_answer(run: Run, n: int = 1) -> TraitAnswer:
    """What became of turn ``n``, none of whose calls ran a tool; the answers are those of ``fate``."""
    run.delivered(n)
    if len(run.requests) == n:
        return run_answer(run)
    texts = [answer.text for answer in run.new_answers(n)]
    if texts:
        return ("told-to-the-model" if texts[0].strip() else "answered-with-nothing"), texts[0]
    said = [item.text for item in run.added(n) if isinstance(item, Said) and item.role != "assistant"]
    return ("told-otherwise", said[0]) if said else ("asked-again", "")


def run_answer(run: Run) -> TraitAnswer:
    """How a run ended after a turn with calls; the answers are those of ``fate`` and ``ends``."""
    outcome = run.outcome
    if isinstance(outcome, Failed):
        return "error-for-nobody" if outcome.escaped else "error-for-the-caller", error_text(outcome)
    if isinstance(outcome, Value) and outcome.stop == "calls":
        return "handed-to-the-caller", outcome.text or ""
    return "taken-for-the-answer", str(outcome)


def call_answer(run: Run, tool: str, known: Mapping[str, Mapping[str, Any]]) -> TraitAnswer:
    """Which of these named arguments the tool of turn 1 got; if it did not run, what became of the call."""
    run.delivered(1)
    given = run.arguments_of(tool)
    if not given:
        return turn_answer(run)
    detail = json.dumps(given[0], ensure_ascii=False)
    return next(
        (name for name, value in known.items() if same_json(value, given[0])), "run-with-other-arguments"
    ), detail


def result_answer(run: Run, word: Callable[[str], str]) -> TraitAnswer:
    """The answer for the text of the only result of turn 1; without a result, what became of the run."""
    run.delivered(1)
    if not run.ran:
        raise NotReached(f"the tool never ran; the loop {run.outcome}")
    if len(run.requests) == 1:
        return run_answer(run)
    texts = [answer.text for answer in run.new_answers(1)]
    return (word(texts[0]), texts[0]) if texts else ("asked-again", "")


def id_answer(run: Run, n: int = 1) -> TraitAnswer:
    """The id under which the only call of turn ``n`` and its result are sent back: an answer of ``ids`` or ``fate``."""
    written = run.delivered(n).calls[0].id
    if len(run.requests) == n:
        return run_answer(run)
    before = len(run.request(n).request.items)
    as_sent = run.request(n + 1).request.items[before:]
    asked = [item.id for item in as_sent if isinstance(item, Asked)]
    answered = [item.id for item in as_sent if isinstance(item, Answered)]
    detail = ", ".join(dict.fromkeys([*asked, *answered]))
    if not asked:
        return "not-echoed", detail
    if not answered:
        return "unanswered", detail
    if asked[0] != answered[0]:
        return "torn", f"{asked[0]} and {answered[0]}"
    return ("kept" if asked[0] == written else "renamed"), detail


def ending_answer(run: Run) -> TraitAnswer:
    """What the caller gets for an answer that is broken or ended early; the answers are those of ``ending``."""
    require_played(run)
    if len(run.requests) > 1:
        return "asked-again", amount(len(run.requests), "request")
    outcome = run.outcome
    if isinstance(outcome, Failed):
        return "error-for-the-caller", error_text(outcome)
    assert isinstance(outcome, Value)
    if outcome.stop not in {None, "end"}:
        return "stop-told", f"{outcome.stop}: {outcome.text or ''}"
    return ("as-if-whole" if outcome.text else "nothing-as-if-whole"), outcome.text or ""


def same_json(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, with all digits of their numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return type(one) is type(other) and bool(one == other)
