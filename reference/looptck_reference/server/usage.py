"""The combined usage of several inferences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from looptck_reference.vocabulary.values import Json

__all__ = ["summed"]


def summed(usages: Sequence[Mapping[str, Any]]) -> Json | None:
    """The sum of counts and times, including nested details; rates are computed from the sums.

    Of other values the last one is used. None if there is no usage.
    """
    total: Json = {}
    for usage in usages:
        total = _added(total, usage)
    rates = {name: _rate(total.get(tokens), total.get(seconds)) for name, (tokens, seconds) in RATES.items()}
    return {name: rates.get(name, value) for name, value in total.items()} or None


RATES = {
    "avg_tok_per_sec": ("total_tokens", "total_time_sec"),
    "avg_prompt_tok_per_sec": ("prompt_tokens", "total_prompt_time_sec"),
    "avg_compl_tok_per_sec": ("completion_tokens", "total_completion_time_sec"),
}
"""The rates that mistral.rs reports, as tokens and seconds."""


def _rate(tokens: Any, seconds: Any) -> float | None:
    return tokens / seconds if _counts(tokens) and _counts(seconds) and seconds else None


def _added(total: Mapping[str, Any], usage: Mapping[str, Any]) -> Json:
    return {name: _plus(total.get(name), usage.get(name)) for name in (*total, *(n for n in usage if n not in total))}


def _plus(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return _added(one, other)
    if _counts(one) and _counts(other):
        return one + other
    return one if other is None else other


def _counts(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
