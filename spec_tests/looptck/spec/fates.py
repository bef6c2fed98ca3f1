"""Fates: what became of a turn or a call, in the words that traits share, each with the detail that shows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from looptck.asking import told
from looptck.history import Answered, Asked, Said
from looptck.outcome import Failed, Value
from looptck.run import Run
from looptck.verdicts import NotReached

Fate = tuple[str, str]


def met(run: Run) -> None:
    """What the script has for request 1 was played. Raises NotReached where the request never came, or was refused."""
    run.replied(1)
    if problems := run.request(1).problems:
        raise NotReached(f"request 1 was refused: {problems[0].rule} at {problems[0].pointer}")


def counted(number: int, what: str) -> str:
    """A number of things in words."""
    return f"{number} {what}{'s' if number != 1 else ''}"


def fate(run: Run, n: int = 1) -> Fate:
    """What became of turn ``n``, for whose call no tool ran: ``fate``."""
    run.delivered(n)
    if len(run.requests) == n:
        return ended(run)
    texts = [answer.text for answer in run.new_answers(n)]
    if texts:
        return ("told-to-the-model" if texts[0].strip() else "answered-with-nothing"), texts[0]
    said = [item.text for item in run.added(n) if isinstance(item, Said) and item.role != "assistant"]
    return ("told-otherwise", said[0]) if said else ("asked-again", "")


def ended(run: Run) -> Fate:
    """How a run ended behind a turn with calls: the words that ``fate`` and ``ends`` have for it."""
    outcome = run.outcome
    if isinstance(outcome, Failed):
        return "error-for-the-caller", told(outcome)
    if isinstance(outcome, Value) and outcome.stop == "calls":
        return "handed-to-the-caller", outcome.text or ""
    return "taken-for-the-answer", str(outcome)


def ran(run: Run, tool: str, known: Mapping[str, Mapping[str, Any]]) -> Fate:
    """With which of these arguments, by name, the tool ran for turn 1; what became of the call where it did not run."""
    run.delivered(1)
    given = run.arguments_of(tool)
    if not given:
        return fate(run)
    detail = json.dumps(given[0], ensure_ascii=False)
    return next((name for name, value in known.items() if same(value, given[0])), "run-with-other-arguments"), detail


def result(run: Run, word: Callable[[str], str]) -> Fate:
    """The word for the text that answers the one call of turn 1; where there is none, what became of the run."""
    run.delivered(1)
    if not run.ran:
        raise NotReached(f"the tool never ran; the loop {run.outcome}")
    if len(run.requests) == 1:
        return ended(run)
    texts = [answer.text for answer in run.new_answers(1)]
    return (word(texts[0]), texts[0]) if texts else ("asked-again", "")


def ids(run: Run, n: int = 1) -> Fate:
    """Under which id the one call of turn ``n`` and its result stand in the next request: ``ids``, else ``fate``."""
    written = run.delivered(n).calls[0].id
    if len(run.requests) == n:
        return ended(run)
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


def ending(run: Run) -> Fate:
    """What the caller got of an answer that was broken, or ended for another reason: ``ending``."""
    met(run)
    if len(run.requests) > 1:
        return "asked-again", counted(len(run.requests), "request")
    outcome = run.outcome
    if isinstance(outcome, Failed):
        return "error-for-the-caller", told(outcome)
    assert isinstance(outcome, Value)
    if outcome.stop not in {None, "end"}:
        return "stop-told", f"{outcome.stop}: {outcome.text or ''}"
    return ("as-if-whole" if outcome.text else "nothing-as-if-whole"), outcome.text or ""


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same to the last digit."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return type(one) is type(other) and bool(one == other)
