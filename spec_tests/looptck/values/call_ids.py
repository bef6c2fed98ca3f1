"""Call ids that a loop has replaced: services accept new ids as long as a call and its result have the same one.

A call with a new id is recognized by its position among the calls, its tool and its arguments. Histories
are then read as if the loop had kept the ids of the script, so that all other checks stay the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from looptck.values.history import Answered, Asked, Item, Request, spelled
from looptck.values.turns import Call

LOST = "{id}, the id of a call that is echoed under another id"
"""Replaces the id of a result that has the script's id although its call has a new id."""

Pair = tuple[Asked, Call | None]


def with_script_ids(requests: Sequence[Request], turns: Sequence[Sequence[Call]]) -> Request:
    """The last of these requests, with the ids of the script instead of those that the loop gave to the calls.

    ``turns`` holds the calls of the turn before each request but the first.
    """
    last = requests[-1]
    known = Counter(call.id or "" for calls in turns for call in calls)
    if not Counter(item.id for item in last.asked) - known:
        return last
    return replace(last, items=tuple(_renamed(last.items, _paired(requests, turns))))


def renamed(requests: Sequence[Request], turns: Sequence[Sequence[Call]]) -> dict[str, str]:
    """The new ids of the calls of the last turn that are echoed under another id, by the id of the script."""
    pairs = ((item, call) for item, call in _paired(requests, turns) if call in turns[-1])
    return {call.id: item.id for item, call in pairs if call is not None and call.id and call.id != item.id}


def _paired(requests: Sequence[Request], turns: Sequence[Sequence[Call]]) -> list[Pair]:
    """Each call in the last request, paired with the call of the script.

    An id from an earlier request belongs to the same call; a new id belongs to a call without an id so far.
    """
    pairs: list[Pair] = []
    seen: dict[str, Call] = {}
    fresh: list[Call] = []
    before: list[Call] = []
    for request, calls in zip(requests, ((), *turns), strict=True):
        fresh += calls
        before += calls
        pairs = list(_pairs(request.asked, seen, fresh, before))
        seen |= {item.id: call for item, call in pairs if call is not None}
        fresh = [call for call in fresh if not any(call is other for other in seen.values())]
    return pairs


def _pairs(
    asked: Iterable[Asked], seen: Mapping[str, Call], fresh: Sequence[Call], before: Sequence[Call]
) -> Iterator[Pair]:
    """Each echoed call with the call of the script: matched by id, else by tool and arguments, else by tool."""
    left = list(before)
    for item in asked:
        news = [call for call in left if any(call is one for one in fresh)] or left
        named = [call for call in news if call.tool == item.tool]
        same = [call for call in named if spelled(call.arguments) == spelled(item.arguments)]
        known = [call for call in left if call is seen.get(item.id)]
        found = next(chain(known, (call for call in left if call.id == item.id), same, named), None)
        left = [call for call in left if call is not found]
        yield item, found


def _renamed(items: Iterable[Item], pairs: list[Pair]) -> Iterator[Item]:
    """The items with the ids of the script. A result belongs to the last call before it with the same id."""
    gone = {call.id for item, call in pairs if call is not None and call.id != item.id} - {item.id for item, _ in pairs}
    script: dict[str, str] = {}
    for item in items:
        match item:
            case Asked():
                _, call = pairs.pop(0)
                script[item.id] = call.id if call is not None and call.id is not None else item.id
                yield replace(item, id=script[item.id])
            case Answered():
                lost = LOST.format(id=item.id) if item.id in gone else item.id
                yield replace(item, id=script.get(item.id, lost))
            case _:
                yield item
