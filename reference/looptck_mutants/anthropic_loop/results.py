"""Results and their message: the seams `answer_id`, `append_results` and `Wire.results`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from looptck_mutants.anthropic_loop.otherwise import otherwise
from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.tools import json_text
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult
from looptck_reference.wires import MessagesWire

NO_RESULT = "null"


@breaks("claude-every-call-is-answered", cells=MESSAGES)
class NullUnanswered(Loop):
    """Sends no result for a tool that returned null."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        if kept := [result for result in results if result.text != NO_RESULT]:
            super().append_results(kept)


@breaks("claude-results-carry-their-ids", cells=MESSAGES)
class IdsMadeSlugs(Loop):
    """Replaces hyphens in ids by underscores."""

    def answer_id(self, call: ToolCall) -> str:
        return call.id.replace("-", "_")


@breaks("claude-results-keep-call-order", cells=MESSAGES)
class ResultsReversed(Loop):
    """Sends the results of a turn in reverse order."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[::-1])


@breaks("claude-results-share-one-message", cells=MESSAGES)
class ResultsApart(MessagesWire):
    """Sends each result in a separate user message."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        return [{"role": "user", "content": [self.result(result)]} for result in results]


@breaks(
    "claude-results-come-first",
    collateral={"claude-results-stand-alone": "text before the results is also text next to them"},
    cells=MESSAGES,
)
class RemarkBeforeResults(Loop):
    """Adds text before its results if the turn had text after its calls."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        if self.history[-2]["content"][-1]["type"] == "text":
            self.history[-1]["content"].insert(0, {"type": "text", "text": "Here they are."})


@breaks("claude-results-stand-alone", cells=MESSAGES)
class RemarkBehindResults(Loop):
    """Adds text after its results if the turn had text after its calls."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        if self.history[-2]["content"][-1]["type"] == "text":
            self.history[-1]["content"].append({"type": "text", "text": "Go on."})


@breaks("claude-results-stand-alone-beside-a-pending-tool", cells=MESSAGES)
class RemarkBesidePendingTool(Loop):
    """Adds text after its results while a hosted tool is still pending."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        ids = {block.get("id"): block["type"] for block in self.history[-2]["content"]}
        done = {block.get("tool_use_id") for message in self.history[-2:] for block in message["content"]}
        if any(kind != "tool_use" for id, kind in ids.items() if id not in {None, *done}):
            self.history[-1]["content"].append({"type": "text", "text": "Go on with your search."})


@breaks("claude-content-is-text-or-blocks", cells=MESSAGES)
class ValuesAsContent(MessagesWire):
    """Sends tool values unchanged as content, including objects and numbers."""

    def result(self, result: ToolResult) -> Json:
        block = super().result(result)
        return {**block, "content": _value(result.text)}


@breaks("claude-content-holds-the-value", cells=MESSAGES)
class LongResultsShortened(Driver):
    """Truncates results to forty characters."""

    dialects = otherwise(result_text=lambda value: json_text(value)[:40])


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
