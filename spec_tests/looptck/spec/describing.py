"""Descriptions of tools that have none: nothing, or words of the loop's own, and no word for nothing."""

from __future__ import annotations

import re

from looptck.values.plain import plain

NOTHING = re.compile(r"\W*(none|null|nil|undefined|nan)\W*", re.IGNORECASE)
"""What languages write for a value that is not there."""


def is_no_word(description: str) -> None:
    """Assert that the description with which a tool without one is offered is not a word for nothing."""
    said = f"a tool without a description is offered with the description {plain(description)}"
    assert not NOTHING.fullmatch(description), said
