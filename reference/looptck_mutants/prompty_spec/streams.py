"""Streams that are read, and told to the caller, otherwise."""

from __future__ import annotations

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.http.runner import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.errors import StreamBroken
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.values import Delta, Json
from looptck_reference.wires import ChatStream


@breaks("spec-text-is-forwarded", cells=CHAT_STREAM)
class Unhurried(Driver):
    """Gives the caller of a stream the whole answer at the end of the run."""

    def run(self, case: Json, emit: OnText) -> Json:
        held: list[str] = []
        outcome = super().run(case, held.append)
        emit("".join(held))
        return outcome

    async def run_async(self, case: Json, emit: OnText) -> Json:
        held: list[str] = []
        outcome = await super().run_async(case, held.append)
        emit("".join(held))
        return outcome


class LeavingStream(ChatStream):
    """A stream that can be left before its end, with what it has brought by then."""

    def leave(self) -> None:
        """Read no further."""
        self.complete, self._finish_reason = True, "tool_calls"
        raise StreamBroken("enough was read")


@breaks("spec-arguments-are-whole-before-tools-run", cells=CHAT_STREAM)
class Impatient(LeavingStream):
    """Runs a call whose arguments are long without waiting for them."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        if len(self._calls[-1].arguments) > 20:
            self._calls[-1].arguments = ["{}"]
            self.leave()


@breaks("spec-tool-turn-is-read-to-its-end", cells=CHAT_STREAM)
class FourCallsRead(LeavingStream):
    """Reads no further than the fourth call of a stream."""

    def add_call(self, delta: Json) -> None:
        if len(self._calls) == 4 and delta.get("id"):
            self.leave()
        super().add_call(delta)


@breaks("spec-no-text-of-a-tool-turn", cells=CHAT_STREAM)
class SecretsTold(Loop):
    """Gives the text of tool turns to its caller."""

    def forwards(self, delta: Delta) -> bool:
        return True
