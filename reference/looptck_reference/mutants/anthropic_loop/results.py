"""Results and the message that holds them: the seams `answer_id`, `append_results` and `Wire.results`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from looptck_reference.loop import Loop
from looptck_reference.mutants.anthropic_loop.otherwise import otherwise
from looptck_reference.mutants.mutant import MESSAGES, Mutant, because
from looptck_reference.mutants.speaking import speaking
from looptck_reference.tools import json_text
from looptck_reference.values import Json, ToolCall, ToolResult
from looptck_reference.wires import MessagesWire

NO_RESULT = "null"


class NullUnanswered(Mutant):
    """Sends no result where a tool returned nothing: `claude-every-call-is-answered`."""

    breaks = ("claude-every-call-is-answered",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801  the driver's attribute
        def append_results(self, results: Sequence[ToolResult]) -> None:
            if kept := [result for result in results if result.text != NO_RESULT]:
                super().append_results(kept)


class IdsMadeSlugs(Mutant):
    """Writes an underline where an id has a hyphen: `claude-results-carry-their-ids`."""

    breaks = ("claude-results-carry-their-ids",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def answer_id(self, call: ToolCall) -> str:
            return call.id.replace("-", "_")


class ResultsReversed(Mutant):
    """Sends the results of a turn in reverse: `claude-results-keep-call-order`."""

    breaks = ("claude-results-keep-call-order",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[::-1])


class ResultsApart(Mutant):
    """Sends each result in a user message of its own: `claude-results-share-one-message`."""

    breaks = ("claude-results-share-one-message",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            return [{"role": "user", "content": [self.result(result)]} for result in results]

    wires = speaking(messages=Wire())


class RemarkBeforeResults(Mutant):
    """Says something before its results where the model did so behind its calls: `claude-results-come-first`."""

    breaks = ("claude-results-come-first",)
    also = because("what stands before the results stands beside them", "claude-results-stand-alone")
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            if self.history[-2]["content"][-1]["type"] == "text":
                self.history[-1]["content"].insert(0, {"type": "text", "text": "Here they are."})


class RemarkBehindResults(Mutant):
    """Says something behind its results where the model did so behind its calls: `claude-results-stand-alone`."""

    breaks = ("claude-results-stand-alone",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            if self.history[-2]["content"][-1]["type"] == "text":
                self.history[-1]["content"].append({"type": "text", "text": "Go on."})


class RemarkBesidePendingTool(Mutant):
    """Reminds the service of a tool that it still has to run: `claude-results-stand-alone-beside-a-pending-tool`."""

    breaks = ("claude-results-stand-alone-beside-a-pending-tool",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            ids = {block.get("id"): block["type"] for block in self.history[-2]["content"]}
            done = {block.get("tool_use_id") for message in self.history[-2:] for block in message["content"]}
            if any(kind != "tool_use" for id, kind in ids.items() if id not in {None, *done}):
                self.history[-1]["content"].append({"type": "text", "text": "Go on with your search."})


class ValuesAsContent(Mutant):
    """Sends what a tool returned as it is, objects and numbers too: `claude-content-is-text-or-blocks`."""

    breaks = ("claude-content-is-text-or-blocks",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def result(self, result: ToolResult) -> Json:
            block = super().result(result)
            return {**block, "content": _value(result.text)}

    wires = speaking(messages=Wire())


class LongResultsShortened(Mutant):
    """Sends no more than forty characters of what a tool returned: `claude-content-holds-the-value`."""

    breaks = ("claude-content-holds-the-value",)
    cells = MESSAGES
    dialects = otherwise(result_text=lambda value: json_text(value)[:40])


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
