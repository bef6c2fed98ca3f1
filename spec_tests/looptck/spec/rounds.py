"""Rounds of a model that goes on calling tools."""

from __future__ import annotations

from looptck.values.turns import Call, Turn, calls


def asks(n: int, text: str | None = None) -> Turn:
    """The turn of round ``n``: a call whose arguments are new every time, because some loops stop at repeated calls."""
    return calls(Call.of("note", {"text": f"round {n}"}), text=text)
