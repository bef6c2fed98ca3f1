"""Error reports to the model: the fields of the dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.dialects import CORE, Dialect, FeedBack
from looptck_reference.vocabulary.tools import json_text


def answering(**changes: Any) -> Mapping[str, Dialect]:
    """The dialects, with these answers in that of `core`."""
    return {**Driver.dialects, "core": replace(CORE, **changes)}


@breaks("bad-arguments-are-not-lost")
class BadArgumentsUntold(Driver):
    """Sends an empty result for a call with invalid arguments."""

    dialects = answering(bad_arguments=FeedBack(""))


@breaks("unknown-tool-is-not-lost", collateral={"inherited-names-are-no-tools": "such a name is an unknown tool's"})
class UnknownToolUntold(Driver):
    """Answers a call of an unknown tool as if it had run."""

    dialects = answering(unknown_tool=FeedBack("Done."))


@breaks("raising-tool-is-not-lost")
class ErrorUntold(Driver):
    """Sends an empty result for a call whose tool raised."""

    dialects = answering(tool_raises=FeedBack(""))


@breaks(
    "structured-result-reaches-the-model",
    collateral={"empty-collections-reach-the-model": "an empty object is an object"},
)
class ObjectObject(Driver):
    """Sends a fixed text for every object that a tool returns."""

    dialects = answering(result_text=lambda value: "[object Object]" if isinstance(value, dict) else json_text(value))
