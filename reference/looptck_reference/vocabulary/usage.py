"""Usage: the tokens that the replies of a model report, in the words of any provider."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["counts", "total"]

SPELLINGS = {
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
}


def counts(usage: Mapping[str, Any] | None) -> dict[str, int]:
    """The numbers in the usage of one reply; those that it does not have are left out."""
    if not isinstance(usage, Mapping):
        return {}
    return {
        name: usage[one]
        for name, spellings in SPELLINGS.items()
        for one in spellings
        if isinstance(usage.get(one), int)
    }


def total(usages: Iterable[Mapping[str, Any] | None]) -> dict[str, int]:
    """The sums over several replies. A number that some of them lack is the sum of the others."""
    found: Counter[str] = Counter()
    for usage in usages:
        found.update(counts(usage))
    return dict(found)
