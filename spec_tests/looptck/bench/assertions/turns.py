"""Turns that the next request sends back, and what else that request has to hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from looptck.bench.oracle import agrees, describe
from looptck.bench.run import Run
from looptck.bench.standing import refusals
from looptck.values.history import Answered, Asked, Opaque, Said, spelled
from looptck.values.plain import MOST, cut, plain
from looptck.values.transcript import Received
from looptck.values.verdicts import NotApplicable, NotReached


def calls_echoed(run: Run, turn: int) -> None:
    """Decided by the request after the turn. Ids may change, as long as the results have the new ids."""
    wanted = [(call.id, call.tool, spelled(call.arguments)) for call in run.delivered(turn).calls]
    echoed = [(asked.id, asked.tool, spelled(asked.arguments)) for asked in run.echoed(turn)]
    added = [(item.id, item.tool, item.arguments) for item in run.added(turn) if isinstance(item, Asked)]

    carries = _calls(echoed or added)
    assert wanted == echoed, f"the turn had the calls {_calls(wanted)}; the next request has {carries}"


def turn_echoed(run: Run, turn: int) -> None:
    """Decided by the request after the turn: the items that it adds begin with those of the turn.

    The input of Responses is a list of items, in which the result of a call may stand right behind it.
    """
    wanted = run.echo(turn)
    added = run.added(turn)
    if run.cell.wire == "openai-responses":
        added = [item for item in added if not isinstance(item, Answered)]

    for place, want in enumerate(wanted):
        got = added[place] if place < len(added) else None
        assert got is not None, f"the next request ends before {describe(want)}"
        assert agrees(want, got), f"at {got.pointer}: {describe(got)}, where the turn had {describe(want)}"


def thinking_leads(run: Run, turn: int) -> None:
    """Decided by the request after the turn."""
    first = list(takewhile(lambda item: isinstance(item, Opaque), run.echo(turn)))
    if not first:
        raise ValueError(f"turn {turn} does not begin with thinking on {run.cell.wire}, so nothing would be checked")
    kinds = {item.kind for item in first if isinstance(item, Opaque)}
    added = run.added(turn)
    back = [item for item in added if isinstance(item, Opaque) and item.kind in kinds]
    if not back or not any(isinstance(item, Asked) for item in added):
        raise NotReached(f"request {turn + 1} does not carry the thinking and the calls of turn {turn}")

    for item in added[: min(len(first), len(back))]:
        assert item in back, f"at {item.pointer}: {describe(item)}, where the thinking of the turn should be"


def kept(run: Run, wanted: dict[str, Any]) -> None:
    """Decided by the request after the turn."""
    turn, kinds = wanted["turn"], wanted["kinds"]
    sent = [item for item in run.echo(turn) if isinstance(item, Opaque) and item.kind in kinds]
    if not sent:
        raise ValueError(f"turn {turn} has no {' or '.join(kinds)} on {run.cell.wire}, so nothing would be checked")
    returned = [item for item in run.added(turn) if isinstance(item, Opaque) and item.kind in kinds]

    same = len(sent) == len(returned) and all(map(agrees, sent, returned))
    assert same, f"the turn had {_listed(sent)}; the next request carries {_listed(returned)}"


def sent_beside(run: Run, wanted: dict[str, Any]) -> None:
    """Decided by the request after the turn: it names the container in which the service has run code."""
    body = run.request(wanted["turn"] + 1).body

    container = body.get("container")
    named = container.get("id") if isinstance(container, dict) else container
    told = "no container" if named is None else f"the container {plain(named)}"
    assert wanted["container"] == named, f"the request names {told}, and the turn came from {wanted['container']}"


def asks_for_compaction(run: Run, wanted: bool) -> None:
    """Decided by the first request: the service compacts on request, and pauses for it only on request."""
    body = run.request(1).body
    management = body.get("context_management") if isinstance(body, dict) else None
    edits = management.get("edits") if isinstance(management, dict) else None
    for edit in edits if isinstance(edits, list) else ():
        if (
            isinstance(edit, dict)
            and str(edit.get("type")).startswith("compact_")
            and edit.get("pause_after_compaction")
        ):
            return
    raise NotApplicable("the request does not ask for a pause after compaction, so the service would not pause")


def resumed(run: Run, turn: int) -> None:
    """Decided by the end of the run or the request after the turn: it adds only the turn, and keeps the tools."""
    run.delivered(turn)
    assert len(run.requests) > turn, f"the turn was not sent back: the loop {run.outcome}"
    turn_echoed(run, turn)
    extra = run.added(turn)[len(run.echo(turn)) :]

    assert not extra, f"after the turn the next request adds {describe(extra[0])}"
    before, after = (run.request(n).request.tools for n in (turn, turn + 1))
    assert before == after, f"request {turn} offers {before}, request {turn + 1} offers {after}"
    hosted_stays(run.request(turn), run.request(turn + 1))


OWN_TYPES = ("function", "custom")
"""The types of tools that a loop runs itself; a tool without a type is one, too."""


def hosted_stays(first: Received, later: Received) -> None:
    """The later request offers the service's tools that the first one offers, unless the service has kept them."""
    if later.request.relies and "tools" not in later.body:
        return
    lost = [one for one in hosted_offered(first.body) if one not in hosted_offered(later.body)]

    assert not lost, f"request {later.n} no longer offers {', '.join(lost)}, a tool of the service"


def hosted_offered(body: Any) -> list[str]:
    """The types of the service's tools that a request offers, without the dates that Messages has in them."""
    tools = body.get("tools") if isinstance(body, dict) else None
    types = [one.get("type") for one in tools or () if isinstance(one, dict)]
    return sorted(str(one).rstrip("0123456789_") for one in types if one is not None and one not in OWN_TYPES)


def ended_or_asked_anew(run: Run, turn: int) -> None:
    """Decided by the end of the run or the request after the turn: a repetition, or one with a new message.

    Some loops write what is new behind the last message, if that has the same role.
    """
    run.delivered(turn)
    if len(run.requests) == turn:
        assert run.ended, f"no outcome came: the loop {run.outcome}"
        return
    last = run.normalized(turn + 1).items[-1]
    is_new = last in run.added(turn) or last not in run.normalized(turn).items
    anew = isinstance(last, Said) and last.role != "assistant" and is_new

    assert anew or _is_again(run, turn), (
        f"the next request neither repeats the previous one nor ends in a new message; it ends in {describe(last)}"
    )


def _is_again(run: Run, turn: int) -> bool:
    """Whether request ``turn`` comes once more, with as many messages; what the loop itself says there may change."""
    before, after = (run.request(n).body for n in (turn, turn + 1))
    if before == after:
        return True
    lengths = {len(body.get("messages") or body.get("input") or ()) for body in (before, after)}
    first, second = (run.without_own_words(run.normalized(n).items) for n in (turn, turn + 1))
    return len(lengths) == 1 and first == second


def accepted(run: Run, wanted: bool) -> None:
    """Decided by every request: the service refuses none."""
    run.request(1)
    found = list(refusals(run))

    assert not found, "\n".join(found)


def _listed(pieces: list[Opaque]) -> str:
    return ", then ".join(map(describe, pieces)) or "none"


def _calls(calls: Sequence[tuple[str | None, str, str]]) -> str:
    """Calls as text, with their ids."""
    return ", ".join(f"{id}: {tool}({cut(arguments, MOST)})" for id, tool, arguments in calls) or "none"
