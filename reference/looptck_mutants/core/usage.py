"""What a run has used, counted wrong: replies, events of one reply, and runs that are taken for one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from looptck_mutants.cells import CHAT, CHAT_STREAM, MESSAGES_STREAM, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import ChatStream, ChatWire, MessagesStream

OF_A_RUN = "what is told of any run is wrong"


@breaks("usage-is-the-sum", cells=CHAT + RESPONSES, collateral={"usage-of-a-run-is-its-own": OF_A_RUN})
class LastReplyCounts(Loop):
    """Tells the usage of the last reply."""

    def count(self, turn: Turn) -> None:
        self.usage = [turn.usage]


@breaks(
    "usage-is-the-sum",
    cells=CHAT_STREAM,
    collateral={("usage-of-a-run-is-its-own", "usage-in-any-chunk-counts-once"): OF_A_RUN},
)
class UsageOfStreamsIsLost(ChatStream):
    """Tells nothing of the usage of streams."""

    def count(self, usage: Json | None) -> None:
        """Forget it."""


@breaks("usage-may-be-missing", cells=CHAT)
class MissingUsageIsNoNumber(Driver):
    """Tells that a run has used NaN tokens if no reply has said how many."""

    def run(self, case: Json, emit: OnText) -> Json:
        outcome = super().run(case, emit)
        return {"usage": {"not_numbers": ["input_tokens"]}, **outcome} if outcome["kind"] == "value" else outcome


@breaks("usage-is-asked-for", cells=CHAT_STREAM)
class UsageIsNotAskedFor(ChatWire):
    """Takes what usage there is, and asks for none."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        body.pop("stream_options", None)
        return body


@breaks(
    "cumulative-usage-counts-once",
    cells=MESSAGES_STREAM,
    collateral={("usage-is-the-sum", "usage-of-a-run-is-its-own"): "each message has such counts"},
)
class OutputOfEventsIsAdded(MessagesStream):
    """Adds up the output that the events of a message have counted."""

    def count(self, usage: Json | None) -> None:
        before = self.usage.get("output_tokens", 0)
        super().count(usage)
        self.usage["output_tokens"] += before


@breaks("cumulative-usage-counts-once", cells=MESSAGES_STREAM)
class UsageOfTheEndReplaces(MessagesStream):
    """Forgets the input that a message began with once its end says what it has written."""

    def count(self, usage: Json | None) -> None:
        self.usage = {}
        super().count(usage)


@breaks("usage-in-any-chunk-counts-once", cells=CHAT_STREAM)
class UsageHasNoChoices(ChatStream):
    """Looks for the usage in chunks without choices."""

    def take(self, event: Json) -> str:
        return super().take({**event, "usage": None} if event.get("choices") else event)


@breaks("usage-in-any-chunk-counts-once", cells=CHAT_STREAM)
class UsageOfChunksIsAdded(ChatStream):
    """Adds up the usage of all chunks."""

    def count(self, usage: Json | None) -> None:
        before = self.usage or {}
        super().count(usage)
        if usage:
            kinds = ("prompt_tokens", "completion_tokens")
            self.usage = {kind: before.get(kind, 0) + usage[kind] for kind in kinds}


class _OfAll(list[Any]):
    """What all loops have used, also those of sub-agents, whose own list this is too."""

    def extend(self, used: Iterable[Any]) -> None:
        if used is not self:
            super().extend(used)


@breaks(
    "usage-of-a-run-is-its-own",
    cells=CHAT,
    collateral={("usage-is-the-sum", "usage-includes-subagents"): "other runs have come before"},
)
class RunsAddUp(Loop):
    """Adds up what all runs have used."""

    used: ClassVar[list[Any]] = _OfAll()

    def __init__(self, agent: Agent, **options: Any) -> None:
        super().__init__(agent, **options)
        self.usage = self.used


@breaks("usage-in-any-chunk-counts-once", cells=CHAT_STREAM)
class UsageEndsTheStream(ChatStream):
    """Reads nothing of a stream behind its usage."""

    def take(self, event: Json) -> str:
        return "" if self.usage else super().take(event)


@breaks("usage-is-the-sum", cells=RESPONSES)
class ReasoningCountsTwice(Loop):
    """Adds the tokens of reasoning to those of the output, of which they are a part."""

    def count(self, turn: Turn) -> None:
        super().count(turn)
        if turn.usage:
            *_, last = self.usage
            thought = (last.get("output_tokens_details") or {}).get("reasoning_tokens", 0)
            self.usage[-1] = {**last, "output_tokens": last["output_tokens"] + thought}
