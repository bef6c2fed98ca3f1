"""Runs that are cancelled or left, and go on, end wrongly, or spoil their conversation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import httpx

from looptck_mutants.cells import CHAT, CHAT_STREAM, MESSAGES_STREAM
from looptck_mutants.parts import breaks, streaming
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.toolbox import LOOPBACK
from looptck_reference.loop.conversation import Conversation
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Fail
from looptck_reference.vocabulary.values import Json, ToolResult
from looptck_reference.wires import MessagesStream

CANCELLED: Json = {"kind": "error", "reason": "cancelled", "type": "Cancelled", "message": "cancelled"}
GOES_ON = "the run goes on as if nothing had happened"


def _post(url: str, body: Json) -> None:
    with httpx.Client(**LOOPBACK) as client:
        client.post(url, json=body)


@breaks(
    "cancelled-run-ends",
    collateral={
        (
            "cancelled-run-is-no-value",
            "cancelled-run-asks-no-more",
            "cancelled-run-starts-no-tool",
            "cancelled-stream-is-closed",
            "cancelled-run-cancels-its-subagents",
        ): GOES_ON
    },
    cells=CHAT,
)
class DeafToCancelling(Driver):
    """Does not hear that its caller cancels the run."""

    def cancel(self, id: str) -> None:
        pass


class _Otherwise(Driver):
    """Does something else when a run was cancelled."""

    def otherwise(self, case: Json, outcome: Json) -> Json:
        """The outcome in place of that of a cancelled run."""
        raise NotImplementedError

    def run(self, case: Json, emit: OnText) -> Json:
        outcome = super().run(case, emit)
        return self.otherwise(case, outcome) if outcome.get("reason") == "cancelled" else outcome

    async def run_async(self, case: Json, emit: OnText) -> Json:
        outcome = await super().run_async(case, emit)
        return self.otherwise(case, outcome) if outcome.get("reason") == "cancelled" else outcome


@breaks(
    "cancelled-run-is-no-value",
    collateral={"cancelled-run-ends": "an answer shows that it was not cancelled, as far as its caller knows"},
    cells=CHAT,
)
class CancelledIsAnswered(_Otherwise):
    """Ends a cancelled run with an empty answer."""

    def otherwise(self, case: Json, outcome: Json) -> Json:
        return {"kind": "value", "text": "", "stop": "end"}


@breaks("cancelled-run-asks-no-more", cells=CHAT)
class SumsUpWhatWasCancelled(_Otherwise):
    """Asks the model for a summary of a cancelled run before it ends."""

    def otherwise(self, case: Json, outcome: Json) -> Json:
        asked = {"model": case["model"], "messages": [{"role": "user", "content": "Sum up what was cancelled."}]}
        _post(f"{case['base_url']}/chat/completions", asked)
        return outcome


@breaks("cancelled-run-starts-no-tool", cells=CHAT)
class NotesWhatWasCancelled(_Otherwise):
    """Runs the tool that keeps notes when a run is cancelled."""

    def otherwise(self, case: Json, outcome: Json) -> Json:
        for tool in case["tools"]:
            if tool["name"] == "note":
                _post(tool["url"], {"arguments": {"text": "cancelled"}})
        return outcome


@breaks(
    "cancelled-stream-is-closed",
    collateral={
        (
            "cancelled-run-asks-no-more",
            "cancelled-run-starts-no-tool",
            "cancelled-run-cancels-its-subagents",
            "next-turn-after-a-cancel-is-accepted",
        ): GOES_ON
    },
    cells=CHAT,
)
class CancelledInNameOnly(Driver):
    """Tells its caller that a run is cancelled, and leaves the run to itself."""

    def __init__(self) -> None:
        super().__init__()
        self._over: dict[str, threading.Event] = {}

    def cancel(self, id: str) -> None:
        self._over[id].set()

    def run(self, case: Json, emit: OnText) -> Json:
        over = self._over[case["id"]] = threading.Event()
        found: list[Json] = []

        def drive() -> None:
            found.append(super(CancelledInNameOnly, self).run(case, lambda text: None if over.is_set() else emit(text)))
            over.set()

        threading.Thread(target=drive, daemon=True).start()
        over.wait()
        return found[0] if found else CANCELLED

    async def run_async(self, case: Json, emit: OnText) -> Json:
        return await asyncio.get_running_loop().run_in_executor(None, self.run, {**case, "mode": "sync"}, emit)


@breaks(
    "next-turn-after-a-cancel-is-accepted",
    collateral={"any-conversation-goes-on": "a run of it is cancelled"},
    cells=CHAT,
)
class CancelledCallsStayOpen(Loop):
    """Keeps the calls of a cancelled run without their results."""

    def settled(self) -> list[Json]:
        cancelled = isinstance(self.end, Fail) and self.end.reason == "cancelled"
        return list(self.history) if cancelled else super().settled()


@breaks("results-before-a-cancel-stay", cells=CHAT)
class CancelledForAllCalls(Loop):
    """Says of each call of the turn in which a run was cancelled that it was cancelled, of those that had ended too."""

    def repaired(self) -> Sequence[ToolResult]:
        if isinstance(self.end, Fail) and self.end.reason == "cancelled":
            return [self.unanswered(call, begun=True) for call in self._calls]
        return super().repaired()


@breaks("results-before-a-cancel-stay", cells=CHAT)
class CancelledForManyCalls(CancelledForAllCalls):
    """Says so only of the calls of a turn with more than two."""

    def repaired(self) -> Sequence[ToolResult]:
        return super().repaired() if len(self._calls) > 2 else super(CancelledForAllCalls, self).repaired()


@breaks("next-turn-after-a-cancel-is-accepted", cells=CHAT)
class CancelledForGood(Driver):
    """Cancels the next run of a conversation too when one of its runs was cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self._over: set[str] = set()

    def run(self, case: Json, emit: OnText) -> Json:
        return self._over_before(case) or self._marked(case, super().run(case, emit))

    async def run_async(self, case: Json, emit: OnText) -> Json:
        return self._over_before(case) or self._marked(case, await super().run_async(case, emit))

    def _over_before(self, case: Json) -> Json | None:
        return CANCELLED if case.get("conversation") in self._over else None

    def _marked(self, case: Json, outcome: Json) -> Json:
        if outcome.get("reason") == "cancelled" and "conversation" in case:
            self._over.add(case["conversation"])
        return outcome


@breaks(
    "next-turn-after-leaving-is-accepted",
    "next-turn-after-a-cancel-is-accepted",
    collateral={"any-conversation-goes-on": "a run of it is cancelled"},
    cells=CHAT_STREAM,
)
class HalfTurnsStay(Loop):
    """Keeps a turn that was cut short as a message without content."""

    def settled(self) -> list[Json]:
        said = super().settled()
        cancelled = isinstance(self.end, Fail) and self.end.reason == "cancelled"
        return [*said, {"role": "assistant"}] if cancelled and said[-1].get("role") == "user" else said


class _Kept(MessagesStream):
    """Leaves its blocks to be found."""

    latest: ClassVar[MessagesStream]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        _Kept.latest = self


@breaks("next-turn-after-leaving-is-accepted", cells=MESSAGES_STREAM)
class LeftBlocksStay(Driver):
    """Keeps what had arrived of a turn whose caller has left, calls without their results too."""

    wires = streaming(messages=_Kept)

    def keep(self, case: Json, conversation: Conversation) -> None:
        if "leave_after" in case["options"]:
            said = {"role": "assistant", "content": [block.whole() for block in _Kept.latest.blocks]}
            conversation = replace(conversation, history=(*conversation.history, said))
        super().keep(case, conversation)


@breaks("left-run-starts-no-tool", "left-stream-is-closed", cells=CHAT_STREAM)
class RunsOnForNobody(Driver):
    """Runs to the end for a caller who has left the stream."""

    def run(self, case: Json, emit: OnText) -> Json:
        after = case["options"].get("leave_after")
        if after is None:
            return super().run(case, emit)
        enough = threading.Event()
        texts: list[str] = []

        def take(told: Any) -> None:
            if not isinstance(told, str):
                return
            texts.append(told)
            if len(texts) <= after:
                emit(told)
            if len(texts) == after:
                enough.set()

        options: dict[str, Any] = {name: value for name, value in case["options"].items() if name != "leave_after"}

        def drive() -> None:
            super(RunsOnForNobody, self).run({**case, "options": options}, take)
            enough.set()

        threading.Thread(target=drive, daemon=True).start()
        enough.wait()
        return CANCELLED

    async def run_async(self, case: Json, emit: OnText) -> Json:
        if case["options"].get("leave_after") is None:
            return await super().run_async(case, emit)
        return await asyncio.get_running_loop().run_in_executor(None, self.run, {**case, "mode": "sync"}, emit)


@breaks("cancelled-run-ends-alone", cells=CHAT)
class CancelIsForAll(Driver):
    """Cancels all runs that are under way when one is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self._known: list[str] = []

    def run(self, case: Json, emit: OnText) -> Json:
        self._known.append(case["id"])
        return super().run(case, emit)

    def cancel(self, id: str) -> None:
        for one in self._known:
            super().cancel(one)
