"""What the model is told: the fields of the dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_reference.dialects import CORE, Dialect, FeedBack
from looptck_reference.driver import Driver
from looptck_reference.mutants.mutant import Mutant
from looptck_reference.tools import json_text


def answering(**changes: Any) -> Mapping[str, Dialect]:
    """The dialects, with other answers in that of `core`."""
    return {**Driver.dialects, "core": replace(CORE, **changes)}


class BadArgumentsUntold(Mutant):
    """Answers a call whose arguments are no JSON with nothing: `bad-arguments-are-not-lost`."""

    breaks = ("bad-arguments-are-not-lost",)
    dialects = answering(bad_arguments=FeedBack(""))


class UnknownToolUntold(Mutant):
    """Answers a call of a tool that it does not know as if it had run: `unknown-tool-is-not-lost`."""

    breaks = ("unknown-tool-is-not-lost",)
    dialects = answering(unknown_tool=FeedBack("Done."))


class ErrorUntold(Mutant):
    """Answers a call whose tool raised with nothing: `raising-tool-is-not-lost`."""

    breaks = ("raising-tool-is-not-lost",)
    dialects = answering(tool_raises=FeedBack(""))


class LongTextCut(Mutant):
    """Gives the model the first 50,000 characters of a result: `text-result-arrives-unchanged`."""

    breaks = ("text-result-arrives-unchanged",)
    dialects = answering(result_text=lambda value: json_text(value)[:50_000])


class ObjectObject(Mutant):
    """Gives the model of an object nothing but that it is one: `structured-result-reaches-the-model`."""

    breaks = ("structured-result-reaches-the-model",)
    dialects = answering(result_text=lambda value: "[object Object]" if isinstance(value, dict) else json_text(value))
