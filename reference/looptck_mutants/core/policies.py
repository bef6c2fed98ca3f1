"""Error reports to the model, and how calls run: the fields of the dialect."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import asking, breaks
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.actions import Ask
from looptck_reference.vocabulary.dialects import CORE, Dialect, FeedBack
from looptck_reference.vocabulary.errors import MalformedReply
from looptck_reference.vocabulary.tools import json_text
from looptck_reference.vocabulary.values import Turn


def answering(**changes: Any) -> Mapping[str, Dialect]:
    """The dialects, with these answers in that of `core`."""
    return {**Driver.dialects, "core": replace(CORE, **changes)}


@breaks("bad-arguments-are-not-lost")
class BadArgumentsUntold(Driver):
    """Sends an empty result for a call with invalid arguments."""

    dialects = answering(bad_arguments=FeedBack(""))


@breaks("bad-arguments-are-told-as-such")
class BadArgumentsAreNoTool(Driver):
    """Tells the model of invalid arguments in the words for a tool that there is not."""

    dialects = answering(
        bad_arguments=FeedBack("Error: tool '{name}' cannot be called: no handler is registered for it.")
    )


@breaks("unknown-tool-is-not-lost", collateral={"inherited-names-are-no-tools": "such a name is an unknown tool's"})
class UnknownToolUntold(Driver):
    """Answers a call of an unknown tool as if it had run."""

    dialects = answering(unknown_tool=FeedBack("Done."))


@breaks("parallel-calls-run-at-the-same-time", cells=("openai-chat/plain/async",))
class OneAfterTheOther(Driver):
    """Declares that the calls of a turn run at the same time, and runs them one after the other."""

    dialects = answering(parallel=False)


@breaks("plain-and-stream-agree", cells=CHAT_STREAM)
class UnknownToolEndsStreams(Driver):
    """Ends the run at a call of an unknown tool if the reply is a stream, and answers the call if it is plain."""

    class Asks(Exchange):
        def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
            turn = yield from super().ask(ask)
            if self.stream and any(call.name not in self.loop.tools for call in turn.calls):
                raise MalformedReply("the stream calls a tool that was not offered")
            return turn

    invoker = asking(Asks)


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
