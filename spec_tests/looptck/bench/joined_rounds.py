"""Loops whose answer is, on purpose, the text of all rounds of a run: `dialect.answer_text` is ``all-rounds``.

Checks know nothing of it: such an answer is read as the text of the turns behind the last calls alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from looptck.bench.run import Run
from looptck.provider.mock_run import MockRun
from looptck.values.outcome import Outcome, Value
from looptck.values.transcript import Replied
from looptck.values.turns import Turn

WORD = (
    "it is the text of all rounds: if your loop returns that on purpose, its driver declares "
    'dialect.answer_text "all-rounds"'
)


def read(outcome: Outcome, played: MockRun) -> Outcome:
    """The outcome of a loop that joins the rounds, with the text of the last one alone; any other text as it is."""
    if not isinstance(outcome, Value) or outcome.text is None:
        return outcome
    whole = {n for n, (_, what) in list(played.under_way.items()) if what == "a turn"}
    whole |= {event.n for event in played.transcript.events if isinstance(event, Replied) and event.what == "a turn"}
    last = behind_the_calls(outcome.text, [played.turns[n] for n in sorted(played.turns) if n in whole])
    return outcome if last is None else replace(outcome, text=last)


def behind_the_calls(text: str, turns: Sequence[Turn]) -> str | None:
    """What a text that begins with those of the earlier rounds has behind them; None if it does not.

    An earlier round ends in calls, after which the model was asked again. Between two rounds there may be any blanks.
    """
    earlier, rest = _rounds(turns)
    if not earlier:
        return None
    begins = re.match(r"\s*".join(["", *(re.escape(piece) for piece in _pieces(earlier))]), text)
    if begins is None:
        return None
    left, last = text[begins.end() :], "".join(turn.text or "" for turn in rest)
    return last if left.endswith(last) and not left.removesuffix(last).strip() else left.lstrip()


def is_joined(text: str, turns: Sequence[Turn]) -> bool:
    """Whether a text is that of all rounds, more than one of which has some."""
    earlier, rest = _rounds(turns)
    last = "".join(turn.text or "" for turn in rest)
    return bool(_pieces(earlier) and last.strip()) and behind_the_calls(text, turns) == last


def hint(runs: Sequence[Run], reason: str) -> str:
    """What a driver may have to say of the loop whose answer is in the reason of a failure; empty: nothing."""
    for run in runs:
        text = run.outcome.text if isinstance(run.outcome, Value) else None
        if text and repr(text) in reason and is_joined(text, [run.turns[n] for n in sorted(run.turns)]):
            return f"; {WORD}"
    return ""


def _rounds(turns: Sequence[Turn]) -> tuple[Sequence[Turn], Sequence[Turn]]:
    """The turns up to the last one with calls that another follows, and those behind it."""
    end = max((place for place, turn in enumerate(turns[:-1], 1) if turn.calls), default=0)
    return turns[:end], turns[end:]


def _pieces(turns: Sequence[Turn]) -> list[str]:
    return [turn.text.strip() for turn in turns if turn.text and turn.text.strip()]
