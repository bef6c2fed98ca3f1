"""Arguments that differ from what the model wrote, and tools that run again: `parse_arguments` and dispatch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.errors import BadArguments
from looptck_reference.vocabulary.tools import Handler, Tool
from looptck_reference.vocabulary.values import Json, ToolCall, Turn


@breaks(
    "arguments-arrive-whatever-their-shape",
    collateral={
        (
            "missing-sequence-is-tolerated",
            "recorded-traffic-is-read-right",
        ): "the recordings contain numbers with fractions"
    },
)
class WholeNumbers(Loop):
    """Truncates numbers to integers."""

    def parse_arguments(self, text: str) -> Json:
        super().parse_arguments(text)
        return dict(json.loads(text or "{}", parse_float=lambda number: int(float(number))))


@breaks("arguments-arrive-whatever-their-shape")
class ObjectsInARowAreOne(Loop):
    """Reads two objects in a row, which some models write, as one, also within a text."""

    def parse_arguments(self, text: str) -> Json:
        super().parse_arguments(text)
        return super().parse_arguments(text.replace("}{", ","))


@breaks("arguments-arrive-whatever-their-shape")
class EarlierMembersStay(Loop):
    """Keeps one object for the arguments of a tool, so that a call without a member has that of an earlier one."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        given: dict[str, Json] = self.__dict__.setdefault("given", {})
        kept = given.setdefault(tool.name if tool else "", {})
        kept.update(super().bind(tool, arguments))
        return dict(kept)


@breaks(
    "empty-arguments-are-an-empty-object",
    collateral={
        "no-argument-delta-is-an-empty-object": "arguments without any delta are an empty text",
        "null-arguments-are-an-empty-object": "null is nothing",
    },
)
class NothingIsBad(Loop):
    """Treats empty arguments as invalid."""

    def parse_arguments(self, text: str) -> Json:
        if not text:
            raise BadArguments("the arguments are empty")
        return super().parse_arguments(text)


@breaks("lists-as-arguments-run-nothing")
class ListIsNothing(Loop):
    """Runs a tool without arguments if its arguments are a list."""

    def parse_arguments(self, text: str) -> Json:
        return super().parse_arguments("" if text.startswith("[") else text)


@breaks(
    "bad-arguments-never-run-the-tool",
    collateral={("lists-as-arguments-run-nothing", "words-behind-arguments-run-nothing"): "these are as invalid"},
)
class BadIsNothing(Loop):
    """Runs a tool without arguments if its arguments are invalid."""

    def parse_arguments(self, text: str) -> Json:
        try:
            return super().parse_arguments(text)
        except BadArguments:
            return {}


@breaks("failing-call-leaves-the-others-whole")
class BrokenTwinFailsBoth(Loop):
    """Takes all calls of a tool in a turn for broken if the arguments of one of them are."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        found = super().calls_of(turn)
        broken = {call.name: call.arguments for call in found if self._is_broken(call)}
        return [replace(call, arguments=broken.get(call.name, call.arguments)) for call in found]

    def _is_broken(self, call: ToolCall) -> bool:
        try:
            self.parse_arguments(call.arguments)
        except BadArguments:
            return True
        return False


@breaks("words-behind-arguments-run-nothing")
class FirstObjectCounts(Loop):
    """Takes the object that arguments begin with, whatever comes behind it."""

    def parse_arguments(self, text: str) -> Json:
        try:
            found, _ = json.JSONDecoder().raw_decode(text.strip())
        except ValueError:
            return super().parse_arguments(text)
        return found if isinstance(found, dict) else super().parse_arguments(text)


@breaks("raising-tool-runs-once")
class TriesAgain(Loop):
    """Runs a tool again after it raised."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        return None if handler is None else _stubborn(handler)


def _stubborn(handler: Handler) -> Handler:
    def again(**arguments: Any) -> Any:
        try:
            return handler(**arguments)
        except Exception:  # noqa: BLE001  whatever it is, it may be gone by now
            return handler(**arguments)

    return again


@breaks("loop-goes-on-until-the-model-answers")
class NothingRunsAgain(Loop):
    """Runs a tool again that has returned nothing."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        return None if handler is None else _until_something(handler)


def _until_something(handler: Handler) -> Handler:
    def twice(**arguments: Any) -> Any:
        found = handler(**arguments)
        return handler(**arguments) if found is None else found

    return twice
