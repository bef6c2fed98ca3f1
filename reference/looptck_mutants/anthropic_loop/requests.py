"""The earlier turns and the tools in a request: the seams `append_turn` and `Wire.echo`, and the tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import Json, ToolResult, Turn
from looptck_reference.wires import MessagesWire


@breaks("claude-turn-precedes-its-results", cells=MESSAGES)
class TextBeforeCalls(Loop):
    """Moves the text of a turn before its calls."""

    def append_turn(self, turn: Turn) -> None:
        kinds = {block["type"] for block in turn.content}
        sorts = kinds == {"text", "tool_use"}
        content = sorted(turn.content, key=lambda block: block["type"] != "text") if sorts else turn.content
        super().append_turn(replace(turn, content=tuple(content)))


@breaks("claude-history-only-grows", cells=MESSAGES)
class OldResultsShortened(Loop):
    """Shortens old results although pruning is not configured."""

    def remembered(self) -> Sequence[Json]:
        if self.keep_rounds is not None or len(self.round_ends) < 4:
            return super().remembered()
        old = self.round_ends[1] - 1
        results = [{**block, "content": "(old)"} for block in self.history[old]["content"]]
        return [*self.history[:old], {**self.history[old], "content": results}, *self.history[old + 1 :]]


@breaks("claude-tools-are-offered-every-time", cells=MESSAGES)
class OnlyTheLastToolOffered(Loop):
    """Offers only the tool that was called last, from the second round on."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        if len(self.round_ends) > 1:
            last = [tool for tool in self.agent.tools if tool.name == results[-1].name]
            self.agent = replace(self.agent, tools=last)


@breaks("claude-thinking-goes-back", cells=MESSAGES)
class RedactedThoughtsDropped(MessagesWire):
    """Drops redacted thinking blocks."""

    def echo(self, turn: Turn) -> list[Json]:
        redacted = [block for block in turn.content if block["type"] == "redacted_thinking"]
        return super().echo(_without(turn, redacted))


@breaks("claude-hosted-blocks-go-back", cells=MESSAGES)
class HostedBlocksAtTheEndDropped(MessagesWire):
    """Drops blocks of hosted tools after the last call."""

    def echo(self, turn: Turn) -> list[Json]:
        places = [place for place, block in enumerate(turn.content) if block["type"] == "tool_use"]
        behind = turn.content[places[-1] + 1 :] if places else ()
        return super().echo(_without(turn, [block for block in behind if block["type"] != "text"]))


def _without(turn: Turn, blocks: Sequence[Json]) -> Turn:
    return replace(turn, content=tuple(block for block in turn.content if block not in blocks))
