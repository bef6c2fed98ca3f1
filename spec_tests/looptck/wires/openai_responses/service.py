"""The backend of one run on the Responses wire: it judges and reads each request, given its earlier replies.

It stores its replies as the service does, unless a request says ``store: false``, and continues from them by
``previous_response_id``: the history is then the stored history, without the old instructions, and the new input. Items
may come back complete or as references, and reasoning items as their encrypted content alone. A request may
also belong to a conversation that was made before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from looptck.values.growth import Growth
from looptck.values.history import Item, Request
from looptck.values.problem import Problem
from looptck.values.turns import Turn
from looptck.wires.grown import Latest
from looptck.wires.openai_responses.judge import fit, judge
from looptck.wires.openai_responses.judge.state import STATE_MEMBERS
from looptck.wires.openai_responses.memory import Memory
from looptck.wires.openai_responses.read import parse_item, read, refers
from looptck.wires.openai_responses.routes import side


@dataclass(slots=True)
class _Clean:
    """A request without a problem, which relies on nothing that is stored."""

    seen: dict[str, int]
    """How often each id is among its items."""
    changes: int
    """The changes of the memory so far; 0 if no item has an id, so that the memory has nothing to say of any."""
    foreign: list[str]
    """The ids of its items that the service has not sent so far."""
    before: Request | None
    """The neutral form of the clean request from which this one goes on."""
    request: Request | None = None
    """Its own neutral form, once it is read."""


class ResponsesService:
    """A ``Service``; ``stateful`` False: nothing is ever stored, as for organizations with zero data retention."""

    def __init__(self, *, stateful: bool) -> None:
        self._memory = Memory(keeps=stateful)
        self._clean = Latest[_Clean]("input")

    def judge(
        self, body: object, headers: Mapping[str, str] | None = None, growth: Growth | None = None
    ) -> list[Problem]:
        """See ``Service``."""
        if growth is not None and (clean := self._clean.before(body, growth)) and self._fit(body, growth, clean):
            self._clean.keep(body, self._noted(growth.new(body), clean.seen, clean))
            return []
        seen: dict[str, int] = {}
        problems = judge(body, self._memory, seen)
        clean = None
        if not problems and isinstance(body, dict) and not any(body.get(name) for name in STATE_MEMBERS):
            clean = self._noted(body["input"], seen)
        self._clean.keep(body, clean)
        return problems

    def read(self, body: object, growth: Growth | None = None) -> Request:
        """See ``Service``."""
        clean = self._clean.of(body)
        if clean is None or clean.before is None or growth is None:
            request = read(body, self._items(body))
        else:
            items = (*clean.before.items, *self._new_items(body, growth))
            request = replace(clean.before, items=items, refers=clean.before.refers or refers(growth.new(body)))
        if clean is not None:
            clean.request = request
        return request

    def _fit(self, body: Any, growth: Growth, clean: _Clean) -> bool:
        """Whether a request has no problem that goes on from one without a problem."""
        if clean.seen and (clean.changes != self._memory.changes or any(map(self._memory.sent, clean.foreign))):
            return False
        new = growth.new(body)
        return not new or fit(body, new, self._memory, clean.seen)

    def _noted(self, new: str | list[Any], seen: dict[str, int], before: _Clean | None = None) -> _Clean:
        """What a request without a problem shows for those that go on from it.

        ``new``: its items, but for those that it shares with the request ``before``; a text is no item with an id.
        """
        ids = [item["id"] for item in new if isinstance(item, dict) and item.get("id") is not None]
        foreign = [*(before.foreign if before else ()), *(id for id in ids if self._memory.sent(id) is None)]
        return _Clean(seen, self._memory.changes if seen else 0, foreign, before.request if before else None)

    def replied(self, body: Any, n: int, turn: Turn, id: str | None = None) -> None:
        """See ``Service``."""
        self._memory.add(body, n, turn, id)

    def lose_state(self, why: str | None = None) -> None:
        """See ``Service``."""
        self._memory.lose(why)

    def side(self, method: str, path: str, query: Mapping[str, str], body: Any) -> dict[str, Any] | None:
        """See ``Service``."""
        return side(self._memory, method, path, query, body)

    def _new_items(self, body: Any, growth: Growth) -> Iterator[Item]:
        """The new part of the history, in provider-neutral form, with what its references refer to."""
        new = self._memory.input({**body, "input": growth.new(body)})
        for place, item in enumerate(new, growth.kept):
            yield from parse_item(item, f"/input/{place}", self._memory.signatures)

    def _items(self, body: object) -> Iterator[Item]:
        """The history without the instructions, in provider-neutral form."""
        if not isinstance(body, dict):
            return
        signatures = self._memory.signatures
        before = "/conversation" if body.get("conversation") is not None else "/previous_response_id"
        for item in self._memory.before(body):
            yield from parse_item(item, before, signatures)
        text = isinstance(body.get("input"), str)
        for place, item in enumerate(self._memory.input(body)):
            yield from parse_item(item, "/input" if text else f"/input/{place}", signatures)


def service(stateful: bool) -> ResponsesService:
    """Makes the backend of one run; the argument: whether it stores its replies."""
    return ResponsesService(stateful=stateful)
