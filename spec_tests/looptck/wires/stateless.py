"""A service without state: each request is judged by itself, and in less time if it goes on from the one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.growth import Growth
from looptck.values.history import Request
from looptck.values.problem import Problem
from looptck.values.turns import Turn
from looptck.wires.grown import Items, Latest, Reading


@dataclass(frozen=True, slots=True)
class Further:
    """How a wire takes further entries of a history, of which the earlier ones were taken before."""

    history: str
    """The member that holds the history."""
    fit: Callable[[list[Any]], bool]
    """Whether there is no problem in these entries, at least one, after a history without a problem."""
    items: Items


class Stateless:
    """A ``Service`` of functions. Without ``further`` every request is taken as a whole."""

    def __init__(
        self,
        judge: Callable[[object], list[Problem]],
        read: Callable[[object], Request],
        further: Further | None = None,
    ) -> None:
        self._judge = judge
        self._further = further or Further("", lambda _: False, lambda _, __: ())
        self._clean = Latest[bool](self._further.history)
        """Whether there was no problem."""
        self._reading = Reading(self._further.history, read, self._further.items)

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
        return self._reading.of(body, growth)

    def replied(self, body: Any, n: int, turn: Turn, id: str | None = None) -> None:
        """A stateless service stores nothing."""

    def side(self, method: str, path: str, query: Mapping[str, str], body: Any) -> dict[str, Any] | None:
        """A stateless service has no route about what is stored."""

    def lose_state(self, why: str | None = None) -> None:
        """A stateless service has no state to lose."""

    def _fit(self, new: list[Any]) -> bool:
        return not new or self._further.fit(new)
