"""A service without memory: each request stands alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from looptck.history import Request
from looptck.turns import Turn
from looptck.wires.problem import Problem


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
        """There is nothing to remember."""

    def forget(self, why: str | None = None) -> None:
        """There is nothing to forget."""
