"""How often the model was asked, and which tools ran."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from looptck.bench.run import Run
from looptck.values.jsontext import canonical, parsed
from looptck.values.kinship import kinship
from looptck.values.plain import MOST, cut, plain, times
from looptck.values.verdicts import NotReached

LONG = 120
"""Lists of tool runs with more characters are told without what they have in common."""


def model_calls(run: Run, expected: int) -> None:
    """Decided by the outcome: too few calls are a failure only if the loop believes it is done."""
    made = len(run.requests)
    if made < expected and run.failed:
        raise NotReached(f"the loop {run.outcome} after {made} of {expected} model requests")

    assert expected == made, f"the model was asked {times(made)}, not {times(expected)}; the loop {run.outcome}"


def tools_ran(run: Run, expected: list[dict[str, Any]], because: str = "") -> None:
    """Decided by the delivery of every turn with calls, and the end of the run.

    ``because`` says what is odd about the calls; without it the arguments that are no object are quoted.
    Calls that never came, because a request before them was refused, are no failure of what they would have shown.
    """
    _all_turns_with_calls_delivered(run)
    came = sum(len(turn.calls) for turn in run.turns.values())
    wanted = [_pair(*next(iter(one.items()))) for one in expected]
    wrong = Counter(_pair(*one) for one in run.tools_ran) - Counter(wanted)
    if came < len(expected) and run.failed and not wrong and any(received.problems for received in run.requests):
        raise NotReached(f"the loop {run.outcome} when {came} of {len(expected)} calls had come")
    odd = "; ".join(filter(None, (stopped_otherwise(run), because or _written_otherwise(run))))
    same_runs([next(iter(one.items())) for one in expected], run.tools_ran, odd)


def same_runs(expected: Iterable[tuple[str, object]], actual: Iterable[tuple[str, object]], because: str = "") -> None:
    """Names and arguments of tool runs are the same, in any order.

    Raises AssertionError with both if they are not, and with the words that say ``because`` of what.
    """
    wanted, ran = ([_pair(*one) for one in runs] for runs in (expected, actual))

    if Counter(wanted) == Counter(ran):
        return
    raise AssertionError("; ".join(filter(None, (other_runs(wanted, ran), _made_of(wanted, ran), because))))


def _made_of(wanted: Sequence[tuple[str, str]], ran: Sequence[tuple[str, str]]) -> str:
    """How the first wrong arguments are made of those that the model wrote for the tool, if that is known."""
    missing, wrong = Counter(wanted) - Counter(ran), Counter(ran) - Counter(wanted)
    for (tool, arguments), (other, given) in zip(missing, wrong, strict=False):
        if tool == other and (how := kinship(json.loads(arguments), json.loads(given))):
            return f"an argument of {tool} is {how}"
    return ""


def never_ran(run: Run, tools: list[str]) -> None:
    """Decided by the delivery of every turn with calls, and the end of the run."""
    _all_turns_with_calls_delivered(run)
    ran = [_pair(tool, arguments) for tool, arguments in run.tools_ran if tool in tools]

    assert not ran, f"expected no run of {', '.join(tools)}; actual tool runs: {_runs(ran)}"


def stopped_otherwise(run: Run) -> str:
    """The stop reason of the first turn with calls that has another one than turns with calls have; empty: none has."""
    found = next((turn.stopped for turn in run.turns.values() if turn.calls and turn.stopped != "calls"), "")
    return f"the turn of the call has the stop reason {found}" if found else ""


def other_runs(wanted: Sequence[tuple[str, str]], ran: Sequence[tuple[str, str]]) -> str:
    """What ran in place of what should have; where many ran, without those that are as they should be."""
    right = Counter(wanted) & Counter(ran)
    told = f"expected tool runs: {_runs(wanted)}; actual tool runs: {_runs(ran)}"
    if not right or len(told) <= LONG:
        return told
    missing, wrong = ([*(Counter(pairs) - right).elements()] for pairs in (wanted, ran))
    if not missing and right.keys() >= {*wrong}:
        again = {pair: f"{_runs([pair])} ran {times(ran.count(pair))}, not {times(right[pair])}" for pair in wrong}
        others = sum(number for pair, number in right.items() if pair not in again)
        return "; ".join([*again.values(), *([_others(others)] if others else [])])
    return f"expected tool runs: {_runs(missing)}; actual tool runs: {_runs(wrong)}; {_others(right.total())}"


def _others(number: int) -> str:
    return "1 other is right" if number == 1 else f"{number} others are right"


def _written_otherwise(run: Run) -> str:
    """The first arguments that are no JSON object, as the model wrote them; empty: all are one."""
    written = [call.arguments for turn in run.turns.values() for call in turn.calls]
    found = next((text for text in written if not isinstance(parsed(text.encode(errors="replace")), dict)), None)
    return "" if found is None else f"the model wrote the arguments {cut(plain(found), MOST)}"


def _all_turns_with_calls_delivered(run: Run) -> None:
    for n in range(1, len(run.requests) + 1):
        run.replied(n)
    run.delivered(1)


def _runs(pairs: Sequence[tuple[str, str]]) -> str:
    """Tool runs as text."""
    return ", ".join(cut(f"{tool}({arguments})", MOST) for tool, arguments in pairs) or "none"


def _pair(tool: str, arguments: object) -> tuple[str, str]:
    return tool, canonical(arguments)
