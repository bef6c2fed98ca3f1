"""Rows of figures in columns."""

from __future__ import annotations

from collections.abc import Sequence


def show(rows: Sequence[Sequence[str]]) -> None:
    """Print the rows: the first column to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for label, *figures in rows:
        cells = [f"{figure:>{width}}" for figure, width in zip(figures, widths[1:], strict=True)]
        print("  ".join([f"{label:<{widths[0]}}", *cells]), flush=True)
