"""Call ids that a loop has replaced: services accept new ids as long as a call and its result have the same one.

A call with a new id is recognized by its position among the calls, its tool and its arguments. Histories
are then read as if the loop had kept the ids of the script, so that all other checks stay the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from looptck.values.history import Answered, Asked, Item, Request, spelled
from looptck.values.turns import Call

LOST = "{id}, the id of a call that is echoed under another id"
"""Replaces the id of a result that has the script's id although its call has a new id."""

Pair = tuple[Asked, Call | None]


@dataclass(slots=True)
class Pairing:
    """Which call of the script each call in each request of a run is. Each request is read once."""

    pairs: list[list[Pair]] = field(default_factory=list)
    _seen: dict[str, Call] = field(default_factory=dict)
    """Which call an id of the loop belongs to."""
    _fresh: list[Call] = field(default_factory=list)
    """The calls without an id of the loop so far."""
    _before: list[Call] = field(default_factory=list)

    def of_last(self, requests: Sequence[Request], turns: Sequence[Sequence[Call]]) -> list[Pair]:
        """Each call in the last of these requests, paired with the call of the script; see ``with_script_ids``.

        An id from an earlier request belongs to the same call; a new id belongs to a call without an id so far.
        """
        for request, calls in list(zip(requests, ((), *turns), strict=True))[len(self.pairs) :]:
            self._fresh += calls
            self._before += calls
            found = list(_pairs(request.asked, self._seen, self._fresh, self._before))
            self.pairs.append(found)
            self._seen |= {item.id: call for item, call in found if call is not None}
            known = {id(call) for call in self._seen.values()}
            self._fresh = [call for call in self._fresh if id(call) not in known]
        return self.pairs[len(requests) - 1]


def with_script_ids(
    requests: Sequence[Request], turns: Sequence[Sequence[Call]], pairing: Pairing | None = None
) -> Request:
    """The last of these requests, with the ids of the script instead of those that the loop gave to the calls.

    ``turns`` holds the calls of the turn before each request but the first. ``pairing`` keeps what was read of them.
    """
    last = requests[-1]
    known = Counter(call.id or "" for calls in turns for call in calls)
    if not Counter(item.id for item in last.asked) - known:
        return last
    return replace(last, items=tuple(_renamed(last.items, [*(pairing or Pairing()).of_last(requests, turns)])))


def renamed(requests: Sequence[Request], turns: Sequence[Sequence[Call]]) -> dict[str, str]:
    """The new ids of the calls of the last turn that are echoed under another id, by the id of the script."""
    pairs = ((item, call) for item, call in Pairing().of_last(requests, turns) if call in turns[-1])
    return {call.id: item.id for item, call in pairs if call is not None and call.id and call.id != item.id}


def _pairs(
    asked: Iterable[Asked], seen: Mapping[str, Call], fresh: Sequence[Call], before: Sequence[Call]
) -> Iterator[Pair]:
    """Each echoed call with the call of the script: matched by id, else by tool and arguments, else by tool."""
    left = {id(call): call for call in before}
    new = {id(call) for call in fresh}
    for item in asked:
        found = seen.get(item.id)
        if found is None or id(found) not in left:
            found = _match(item, list(left.values()), new)
        left.pop(id(found), None)
        yield item, found


def _match(item: Asked, left: Sequence[Call], new: Container[int]) -> Call | None:
    """The call of these that a call with an unknown id is."""
    named = [call for call in [call for call in left if id(call) in new] or left if call.tool == item.tool]
    same = (call for call in named if spelled(call.arguments) == spelled(item.arguments))
    return next(chain((call for call in left if call.id == item.id), same, named), None)


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
