"""A service without state: each request is judged by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from looptck.values.history import Request
from looptck.values.problem import Problem
from looptck.values.turns import Turn


class Stateless:
    """A ``Service`` of two functions."""

    def __init__(self, judge: Callable[[object], list[Problem]], read: Callable[[object], Request]) -> None:
        self._judge = judge
        self._read = read

    def judge(self, body: object, headers: Mapping[str, str] | None = None) -> list[Problem]:
        """See ``Service``."""
        return self._judge(body)

    def read(self, body: object) -> Request:
        """See ``Service``."""
        return self._read(body)

    def replied(self, body: Any, n: int, turn: Turn, id: str | None = None) -> None:
        """A stateless service stores nothing."""

    def lose_state(self, why: str | None = None) -> None:
        """A stateless service has no state to lose."""
