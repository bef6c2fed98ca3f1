"""Names of tools as providers allow them: 1 to 64 letters, digits, underscores and hyphens."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import count

__all__ = ["offered_names"]

LONGEST = 64
LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def offered_names(names: Iterable[str]) -> dict[str, str]:
    """A legal name for each of these different names, by name. A legal name is its own, and no two are equal."""
    names = list(names)
    offered = {name: name for name in names if LEGAL.fullmatch(name)}
    for name in names:
        if name not in offered:
            offered[name] = _free(re.sub(r"[^a-zA-Z0-9_-]", "_", name) or "tool", offered.values())
    return offered


def _free(name: str, taken: Collection[str]) -> str:
    """The name, cut and with a number if there is another tool of that name."""
    if name[:LONGEST] not in taken:
        return name[:LONGEST]
    numbered = (name[: LONGEST - len(end)] + end for end in (f"_{n}" for n in count(2)))
    return next(one for one in numbered if one not in taken)
