"""Streams that are read, and told to the caller, otherwise."""

from __future__ import annotations

from looptck_reference.errors import StreamBroken
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import CHAT_STREAM, Mutant
from looptck_reference.mutants.speaking import streaming
from looptck_reference.runner import OnText
from looptck_reference.values import Delta, Json
from looptck_reference.wires import ChatStream


class Unhurried(Mutant):
    """Gives the caller of a stream the whole answer at the end of the run: `spec-text-is-forwarded`."""

    breaks = ("spec-text-is-forwarded",)
    cells = CHAT_STREAM

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


class Impatient(Mutant):
    """Runs a call whose arguments are long without waiting for them: `spec-arguments-are-whole-before-tools-run`."""

    breaks = ("spec-arguments-are-whole-before-tools-run",)
    cells = CHAT_STREAM

    class Stream(LeavingStream):
        def add_call(self, delta: Json) -> None:
            super().add_call(delta)
            if len(self._calls[-1].arguments) > 20:
                self._calls[-1].arguments = ["{}"]
                self.leave()

    wires = streaming(chat=Stream)


class FourCallsRead(Mutant):
    """Reads no further than the fourth call of a stream: `spec-tool-turn-is-read-to-its-end`."""

    breaks = ("spec-tool-turn-is-read-to-its-end",)
    cells = CHAT_STREAM

    class Stream(LeavingStream):
        def add_call(self, delta: Json) -> None:
            if len(self._calls) == 4 and delta.get("id"):
                self.leave()
            super().add_call(delta)

    wires = streaming(chat=Stream)


class SecretsTold(Mutant):
    """Gives the text of tool turns to its caller: `spec-no-text-of-a-tool-turn`."""

    breaks = ("spec-no-text-of-a-tool-turn",)
    cells = CHAT_STREAM

    class loop(Loop):  # noqa: N801  the driver's attribute
        def forwards(self, delta: Delta) -> bool:
            return True
