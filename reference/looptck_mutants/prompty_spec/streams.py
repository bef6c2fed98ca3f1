"""Streams that are read or forwarded wrongly."""

from __future__ import annotations

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.telling import Emit
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.errors import StreamBroken
from looptck_reference.vocabulary.values import Delta, Json
from looptck_reference.wires import ChatStream


@breaks("spec-text-is-forwarded", cells=CHAT_STREAM)
class Unhurried(Driver):
    """Forwards the whole answer of a stream only at the end of the run."""

    def run(self, case: Json, emit: Emit) -> Json:
        held: list[str] = []
        outcome = super().run(case, lambda told: held.append(told) if isinstance(told, str) else emit(told))
        emit("".join(held))
        return outcome

    async def run_async(self, case: Json, emit: Emit) -> Json:
        held: list[str] = []
        outcome = await super().run_async(case, lambda told: held.append(told) if isinstance(told, str) else emit(told))
        emit("".join(held))
        return outcome


class LeavingStream(ChatStream):
    """A stream that can be abandoned before its end, with the content so far."""

    def leave(self) -> None:
        """Stop reading."""
        self.complete, self._finish_reason = True, "tool_calls"
        raise StreamBroken("enough was read")


@breaks("spec-arguments-are-whole-before-tools-run", cells=CHAT_STREAM)
class Impatient(LeavingStream):
    """Runs a call with long arguments before they are complete, without arguments."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        if len(self._calls[-1].arguments) > 20:
            self._calls[-1].arguments = ["{}"]
            self.leave()


@breaks("spec-tool-turn-is-read-to-its-end", cells=CHAT_STREAM)
class FourCallsRead(LeavingStream):
    """Stops reading a stream after its fourth call."""

    def add_call(self, delta: Json) -> None:
        if len(self._calls) == 4 and delta.get("id"):
            self.leave()
        super().add_call(delta)


@breaks("spec-no-text-of-a-tool-turn", cells=CHAT_STREAM)
class SecretsTold(Loop):
    """Forwards the text of tool turns to its caller."""

    def forwards(self, delta: Delta) -> bool:
        return True
