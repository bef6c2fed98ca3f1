"""Judges that keep problems to themselves: what a module is given in which a rule is dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Protocol, TypeVar


class Ruled(Protocol):
    """A problem."""

    @property
    def rule(self) -> str: ...


Judge = TypeVar("Judge", bound=Callable[..., Any])

DROPPED: set[str] = set()
"""The rules of which nobody hears."""


def keeping_quiet(judge: Judge) -> Judge:
    """A judge that finds what it found before, and does not tell of dropped rules."""

    @wraps(judge)
    def quiet(*arguments: Any, **options: Any) -> Any:
        found: Iterable[Ruled] = judge(*arguments, **options)
        return [problem for problem in found if problem.rule not in DROPPED]

    return quiet  # type: ignore[return-value]
