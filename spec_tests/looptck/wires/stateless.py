"""A service without state: each request is judged by itself, and in less time if it goes on from the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from looptck.values.growth import Growth
from looptck.values.history import Item, Request
from looptck.values.problem import Problem
from looptck.values.turns import Turn
from looptck.wires.grown import Latest


@dataclass(frozen=True, slots=True)
class Further:
    """How a wire takes further entries of a history, of which the earlier ones were taken before."""

    history: str
    """The member that holds the history."""
    fit: Callable[[list[Any]], bool]
    """Whether there is no problem in these entries, at least one, after a history without a problem."""
    items: Callable[[list[Any], int], Iterable[Item]]
    """The neutral form of these entries; the first has this index."""


class Stateless:
    """A ``Service`` of functions. Without ``further`` every request is taken as a whole."""

    def __init__(
        self,
        judge: Callable[[object], list[Problem]],
        read: Callable[[object], Request],
        further: Further | None = None,
    ) -> None:
        self._judge = judge
        self._read = read
        self._further = further or Further("", lambda _: False, lambda _, __: ())
        self._clean = Latest[bool](self._further.history)
        """Whether there was no problem."""
        self._known = Latest[Request](self._further.history)

    def judge(
        self, body: object, headers: Mapping[str, str] | None = None, growth: Growth | None = None
    ) -> list[Problem]:
        """See ``Service``."""
        clean = growth is not None and self._clean.before(body, growth) and self._fit(growth.new(body))
        problems = [] if clean else self._judge(body)
        self._clean.keep(body, not problems)
        return problems

    def read(self, body: object, growth: Growth | None = None) -> Request:
        """See ``Service``."""
        request = self._known.before(body, growth)
        if request is None or growth is None:
            request = self._read(body)
        elif new := growth.new(body):
            request = replace(request, items=(*request.items, *self._further.items(new, growth.kept)))
        self._known.keep(body, request)
        return request

    def replied(self, body: Any, n: int, turn: Turn, id: str | None = None) -> None:
        """A stateless service stores nothing."""

    def lose_state(self, why: str | None = None) -> None:
        """A stateless service has no state to lose."""

    def _fit(self, new: list[Any]) -> bool:
        return not new or self._further.fit(new)
