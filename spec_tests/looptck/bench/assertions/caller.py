"""What the caller of the loop got: text, error, and whether an incomplete answer can be told from a whole one."""

from __future__ import annotations

import re

from looptck.bench.assertions.tool_runs import stopped_otherwise
from looptck.bench.run import Run
from looptck.values.outcome import Failed, Value
from looptck.values.plain import amount

STILL_ASKING = "still asking when looptck ended the conversation"
CUT = {"length", "limit", "content_filter", "refusal", "other"}
"""The stop reasons that show a caller that the answer is incomplete. Some loops have one word for all limits."""


def still_asking(run: Run) -> str:
    """What is told of a loop that has not ended by itself."""
    return f"{STILL_ASKING}, after {amount(len(run.requests), 'model request')}"


def text(run: Run, expected: str) -> None:
    """Decided by the value that the loop returned. White space around it is judged separately (`text_to_the_blank`)."""
    got = run.value.text or ""

    assert expected.strip() == got.strip(), f"the caller received {got!r}, not {expected!r}"


def text_or_error(run: Run, expected: dict[str, str]) -> None:
    """Decided by the outcome. A message that is the name alone, as of a failed look-up, tells a caller nothing."""
    if not isinstance(run.outcome, Failed):
        text(run, expected["text"])
        return
    name, said = expected["names"], run.outcome.message
    told = name in said and re.search(r"\w", said.replace(name, " "))

    assert told, f"the loop {run.outcome}; neither the answer nor words about {name!r}"


def text_to_the_blank(run: Run, expected: str) -> None:
    """Decided by the value that the loop returned."""
    got = run.value.text or ""

    assert expected == got, f"the caller received {got!r}, not {expected!r}"


def text_parts(run: Run, parts: list[str]) -> None:
    """Decided by the value that the loop returned. How the parts are joined is the SDK's choice."""
    got = run.value.text or ""
    pattern = r"\s*".join(re.escape(part.strip()) for part in parts)

    wanted = ", ".join(map(repr, parts))
    assert re.fullmatch(rf"\s*{pattern}\s*", got), f"the caller received {got!r}; the parts of the answer are {wanted}"


def text_is_not(run: Run, unwanted: str) -> None:
    """Decided by the outcome, and by the request after the turn with that text, which also has a call."""
    run.delivered(1)
    got = run.outcome.text if isinstance(run.outcome, Value) else None

    assert unwanted not in (got or ""), f"the caller received {got!r}, the text of a turn that also has a call"
    run.request(2)


def outcome(run: Run, expected: str) -> None:
    """Decided by the outcome, after the first turn was delivered."""
    run.replied(1)
    reported = shows_failure(run)
    holds = {
        "told": reported,
        "told-or-asked-again": reported or len(run.requests) > 1,
        "cut-is-told": _shows_truncation(run),
        "ended": run.ended,
    }[expected]

    full = any(turn.stopped == "context_window" for turn in run.turns.values())
    why = "the turn was cut because the context window was full" if full else stopped_otherwise(run) or _custom(run)
    assert holds, "; ".join(filter(None, (f"the loop {run.outcome}, as if that were a complete answer", why)))


def _custom(run: Run) -> str:
    """Which tool is called as one that takes free text; empty: none is."""
    tool = next((call.tool for turn in run.turns.values() for call in turn.calls if call.custom), "")
    return f"the turn has a call of {tool} as a custom tool" if tool else ""


def error(run: Run, expected: dict[str, str]) -> None:
    """Decided by the error that the loop raised; any other outcome fails. A type that extends another is one."""
    run.replied(1)

    assert isinstance(run.outcome, Failed), f"no error: the loop {run.outcome}"
    wanted = expected.get("type", run.outcome.type)
    assert run.outcome.is_a(wanted), f"the loop {run.outcome}; expected the type {wanted}"
    pattern = expected.get("message", ".*")
    assert re.fullmatch(pattern, run.outcome.message, re.DOTALL), f"{run.outcome.message!r} does not match {pattern!r}"


def error_says(run: Run, expected: str) -> None:
    """Decided by the error that the loop raised: its message is this text. Any other outcome fails."""
    run.replied(1)

    assert isinstance(run.outcome, Failed), f"expected the error {expected!r}, but the loop {run.outcome}"
    assert expected == run.outcome.message, f"expected the error {expected!r}, but the loop {run.outcome}"


def shows_failure(run: Run) -> bool:
    """Whether the caller can see that the answer is incomplete or missing."""
    return run.failed or (isinstance(run.outcome, Value) and run.outcome.stop not in {None, "end"})


def _shows_truncation(run: Run) -> bool:
    """Whether the caller can see that the answer was cut."""
    return run.failed or (isinstance(run.outcome, Value) and run.outcome.stop in CUT)
