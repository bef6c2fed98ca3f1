"""Mutants of the 010 loop: the outputs that a model gives, and Messages that Activities return."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.scheduler import CallScheduler


@breaks("loop010-latent-calls-write-their-output")
class LatentOutputsIgnored(CallScheduler):
    """Writes no output that the model gave."""

    def settle(self, call: Call) -> None:
        pass


@breaks("loop010-latent-calls-write-their-output")
class LatentOutputsComeLate(CallScheduler):
    """Writes the outputs that the model gave when the turn is over."""

    late: tuple[Call, ...] = ()

    def settle(self, call: Call) -> None:
        self.late = (*self.late, call)

    def end_blocked(self) -> None:
        super().end_blocked()
        for call in self.late:
            super().settle(call)
        self.late = ()


@breaks("loop010-latent-calls-without-path-store-nothing")
class ThoughtsAreErrors(CallScheduler):
    """Wants an output path of latent calls."""

    def settle(self, call: Call) -> None:
        super().settle(call)
        if call.output_path is None:
            self.fail(call.raw, "a latent call needs an _outputPath")


@breaks("loop010-latent-calls-without-path-store-nothing")
class ThoughtsAreStored(CallScheduler):
    """Keeps the outputs of latent calls without an output path."""

    def settle(self, call: Call) -> None:
        super().settle(call if call.output_path else replace(call, output_path="†thoughts"))


@breaks(
    "loop010-latent-calls-without-path-store-nothing",
    collateral={"loop010-latent-calls-write-their-output": "what looks like a Message is not at its path"},
)
class ThoughtsCanBeMessages(CallScheduler):
    """Appends an output that looks like a Message."""

    def settle(self, call: Call) -> None:
        self.write(call, call.output)


@breaks("loop010-activities-outdo-given-outputs")
class GivenOutputsRunNothing(CallScheduler):
    """Takes a call that has an output for a latent one."""

    def is_latent(self, call: Call) -> bool:
        return call.has_output or super().is_latent(call)


@breaks("loop010-activities-outdo-given-outputs")
class GivenOutputsAreWritten(CallScheduler):
    """Runs the Activity, and writes what the model gave."""

    def write(self, call: Call, value: Any) -> None:
        super().write(call, call.output if call.has_output else value)


@breaks(
    "loop010-returned-messages-are-appended",
    collateral={"loop010-output-expressions": "what a returned Message says of its path is not read"},
)
class MessagesAreWrapped(Context):
    """Writes a returned Message at the output path."""

    def write(self, call: Call, value: Any, date: str) -> list[Message]:
        return self.store(call, value, date)


@breaks("loop010-returned-messages-are-appended")
class MessagesNeedAPath(Context):
    """Forgets a returned Message where the call has no output path."""

    def write(self, call: Call, value: Any, date: str) -> list[Message]:
        return super().write(call, value, date) if call.output_path else []


@breaks("loop010-returned-messages-are-appended")
class AnyKindIsAMessage(Context):
    """Appends any object that has a kind or a type."""

    def write(self, call: Call, value: Any, date: str) -> list[Message]:
        if isinstance(value, dict) and "kind" in value:
            value = {"type": "data", **value}
        return super().write(call, value, date)


@breaks("loop010-latent-calls-write-their-output")
class LatentOutputsQueue(CallScheduler):
    """Writes the outputs that the model gave when nothing runs."""

    def is_unblocked(self, call: Call) -> bool:
        return super().is_unblocked(call) and not (self.is_latent(call) and self.running)
