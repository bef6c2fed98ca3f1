"""What a request carries of the turns before it: the seams `append_turn` and `Wire.echo`, and the tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import MESSAGES, Mutant
from looptck_reference.mutants.speaking import speaking
from looptck_reference.values import Json, ToolResult, Turn
from looptck_reference.wires import MessagesWire


class TextBeforeCalls(Mutant):
    """Sends the text of a turn before its calls, wherever it stood: `claude-turn-precedes-its-results`."""

    breaks = ("claude-turn-precedes-its-results",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801  the driver's attribute
        def append_turn(self, turn: Turn) -> None:
            kinds = {block["type"] for block in turn.content}
            sorts = kinds == {"text", "tool_use"}
            content = sorted(turn.content, key=lambda block: block["type"] != "text") if sorts else turn.content
            super().append_turn(replace(turn, content=tuple(content)))


class OldResultsShortened(Mutant):
    """Shortens old results where nobody asked for pruning: `claude-history-only-grows`."""

    breaks = ("claude-history-only-grows",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            if self.keep_rounds is not None or len(self.round_ends) < 4:
                return super().remembered()
            old = self.round_ends[1] - 1
            results = [{**block, "content": "(old)"} for block in self.history[old]["content"]]
            return [*self.history[:old], {**self.history[old], "content": results}, *self.history[old + 1 :]]


class OnlyTheLastToolOffered(Mutant):
    """Offers the tool that was called last alone, from the second round on: `claude-tools-are-offered-every-time`."""

    breaks = ("claude-tools-are-offered-every-time",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            if len(self.round_ends) > 1:
                last = [tool for tool in self.agent.tools if tool.name == results[-1].name]
                self.agent = replace(self.agent, tools=last)


class SilentThoughtsDropped(Mutant):
    """Forgets thoughts of which it was shown nothing but the seal: `claude-thinking-goes-back`."""

    breaks = ("claude-thinking-goes-back",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(_without(turn, [block for block in turn.content if block.get("thinking") == ""]))

    wires = speaking(messages=Wire())


class RedactedThoughtsDropped(Mutant):
    """Forgets thoughts that it cannot read: `claude-thinking-goes-back`."""

    breaks = ("claude-thinking-goes-back",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            redacted = [block for block in turn.content if block["type"] == "redacted_thinking"]
            return super().echo(_without(turn, redacted))

    wires = speaking(messages=Wire())


class HostedBlocksAtTheEndDropped(Mutant):
    """Forgets what the service ran behind the last call: `claude-hosted-blocks-go-back`."""

    breaks = ("claude-hosted-blocks-go-back",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            places = [place for place, block in enumerate(turn.content) if block["type"] == "tool_use"]
            behind = turn.content[places[-1] + 1 :] if places else ()
            return super().echo(_without(turn, [block for block in behind if block["type"] != "text"]))

    wires = speaking(messages=Wire())


def _without(turn: Turn, blocks: Sequence[Json]) -> Turn:
    return replace(turn, content=tuple(block for block in turn.content if block not in blocks))
