"""Mutants of the 010 loop: outputs that the model writes itself, and Messages that Activities return."""

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
    """Does not store outputs that the model wrote itself."""

    def settle(self, call: Call) -> None:
        pass


@breaks("loop010-latent-calls-without-path-store-nothing")
class ThoughtsAreErrors(CallScheduler):
    """Requires an output path for latent calls."""

    def settle(self, call: Call) -> None:
        super().settle(call)
        if call.output_path is None:
            self.fail(call.raw, "a latent call needs an _outputPath")


@breaks("loop010-latent-calls-without-path-store-nothing")
class ThoughtsAreStored(CallScheduler):
    """Stores the outputs of latent calls that have no output path."""

    def settle(self, call: Call) -> None:
        super().settle(call if call.output_path else replace(call, output_path="†thoughts"))


@breaks("loop010-activities-outdo-given-outputs")
class GivenOutputsAreWritten(CallScheduler):
    """Runs the Activity, but stores the output that the model wrote."""

    def write(self, call: Call, value: Any) -> None:
        super().write(call, call.output if call.has_output else value)


@breaks(
    "loop010-returned-messages-are-appended",
    collateral={"loop010-output-expressions": "the output path of a returned Message is ignored"},
)
class MessagesAreWrapped(Context):
    """Stores a returned Message as a value at the output path."""

    def write(self, call: Call, value: Any, date: str) -> list[Message]:
        return self.store(call, value, date)


@breaks("loop010-returned-messages-are-appended")
class AnyKindIsAMessage(Context):
    """Appends every returned object that has a `kind` or a `type` as a Message."""

    def write(self, call: Call, value: Any, date: str) -> list[Message]:
        if isinstance(value, dict) and "kind" in value:
            value = {"type": "data", **value}
        return super().write(call, value, date)


@breaks("loop010-latent-calls-write-their-output")
class LatentOutputsQueue(CallScheduler):
    """Stores outputs that the model wrote only while no Activity runs."""

    def is_unblocked(self, call: Call) -> bool:
        return super().is_unblocked(call) and not (self.is_latent(call) and self.running)
