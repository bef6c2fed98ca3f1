"""Loops with one fault that a check once missed; each names its fault and the requirements that it breaks."""

from __future__ import annotations

from threading import Event
from typing import ClassVar

from looptck_mutants.core.memory import LossRerunsTools
from looptck_mutants.parts import streaming
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.telling import Emit
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action, Fail, Finish
from looptck_reference.vocabulary.errors import StreamBroken
from looptck_reference.vocabulary.values import Answer, Json
from looptck_reference.wires import MessagesStream

__all__ = ["AnswersStumble", "FailsAlways", "LeansUndeclared", "NoLimitAndNoEnd", "OneMoreInSilence"]


class AnswersStumble(Driver):
    """Skips unknown events in a turn with calls, but fails on them in an answer.

    It breaks `unknown-events-are-skipped`: the tools run, and then the caller gets an error.
    """

    class Stream(MessagesStream):
        known: ClassVar = {"ping", "error", "message_start", "message_delta", "message_stop"}

        def take(self, event: Json) -> str:
            kind = str(event.get("type"))
            if not self.calling and self.blocks and kind not in self.known and not kind.startswith("content_block"):
                raise StreamBroken(f"an event of the type {kind}")
            return super().take(event)

    wires = streaming(messages=Stream)


class OneMoreInSilence(Driver):
    """Asks once more than its limit, and then returns the last text: `limit-reached-is-told`, and the ceiling."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def limit_reached(self) -> bool:
            return self.model_calls > self.limit

        def ask(self) -> Action:
            action = super().ask()
            return Finish(Answer("Another round.")) if isinstance(action, Fail) else action


class NoLimitAndNoEnd(Driver):
    """Keeps no limit, and waits for ever once the service is gone: the ceiling."""

    class loop(Loop):  # noqa: N801
        def limit_reached(self) -> bool:
            return False

    def run(self, case: Json, emit: Emit) -> Json:
        outcome = super().run(case, emit)
        if outcome["kind"] == "error":
            Event().wait()
        return outcome


class FailsAlways(Driver):
    """Fails after its third round, whatever its limit, with another error: `limit-reached-is-told`."""

    class loop(Loop):  # noqa: N801
        def ask(self) -> Action:
            if len(self.round_ends) > 3:
                return Fail(RuntimeError("nothing came of it"), "provider")
            return super().ask()


class LeansUndeclared(LossRerunsTools):
    """Relies on server-side state without declaring it, and runs its tools again: `lost-memory-reruns-no-tool`."""

    def start(self) -> Json:
        """The description, without the capability."""
        started = super().start()
        return {**started, "capabilities": {**started["capabilities"], "memory": False}}
