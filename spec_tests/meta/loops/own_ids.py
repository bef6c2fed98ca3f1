"""Loops that are correct but give calls ids of their own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import Json, ToolCall, Turn


class Renaming(Driver):
    """Replaces the id of each call, and echoes and answers the call with the new id."""

    class loop(Loop):  # noqa: N801
        """Assigns ids by position, because a turn may have the same id twice."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.numbers = itertools.count(1)

        def model_answered(self, turn: Turn) -> Any:
            return super().model_answered(with_ids(turn, lambda _: f"call_own_{next(self.numbers)}"))


class Prefixing(Driver):
    """Prefixes all ids of calls and results with `call_`."""

    class loop(Loop):  # noqa: N801
        """Adds the prefix before any other step."""

        def model_answered(self, turn: Turn) -> Any:
            return super().model_answered(with_ids(turn, lambda own: f"call_{own}"))


class FreshTwins(Driver):
    """Gives the second of two calls with the same id a new id, consistently."""

    class loop(Loop):  # noqa: N801
        """Remembers the ids of the turn."""

        def model_answered(self, turn: Turn) -> Any:
            seen: set[str] = set()

            def own(id: str) -> str:
                fresh = id if id not in seen else f"{id}_{len(seen)}"
                seen.add(fresh)
                return fresh

            return super().model_answered(with_ids(turn, own))


def with_ids(turn: Turn, own: Callable[[str], str]) -> Turn:
    """The turn with changed call ids, also in the wire's own content."""
    ids = [own(call.id) for call in turn.calls]
    left = iter(ids)
    content = tuple(_piece(piece, left) for piece in turn.content)
    return replace(turn, calls=tuple(map(_called, turn.calls, ids)), content=content)


def _called(call: ToolCall, id: str) -> ToolCall:
    return replace(call, id=id)


def _piece(piece: Json, ids: Iterator[str]) -> Json:
    match piece.get("type"):
        case "tool_use":
            return {**piece, "id": next(ids)}
        case "function_call":
            return {**piece, "call_id": next(ids)}
        case _:
            return piece
