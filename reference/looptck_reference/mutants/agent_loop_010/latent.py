"""Mutants of the 010 loop: the outputs that a model gives, and Messages that Activities return."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.loop import AgentLoop
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.tick import Tick
from looptck_reference.mutants.agent_loop_010.mutant import SolutionMutant
from looptck_reference.mutants.mutant import because


class LatentOutputsIgnored(SolutionMutant):
    """Writes no output that the model gave: `loop010-latent-calls-write-their-output`."""

    breaks = ("loop010-latent-calls-write-their-output",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def settle(self, call: Call) -> None:
                pass


class LatentOutputsComeLate(SolutionMutant):
    """Writes the outputs that the model gave when the turn is over: `loop010-latent-calls-write-their-output`."""

    breaks = ("loop010-latent-calls-write-their-output",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            late: tuple[Call, ...] = ()

            def settle(self, call: Call) -> None:
                self.late = (*self.late, call)

            def end_blocked(self) -> None:
                super().end_blocked()
                for call in self.late:
                    super().settle(call)
                self.late = ()


class ThoughtsAreErrors(SolutionMutant):
    """Wants an output path of latent calls: `loop010-latent-calls-without-path-store-nothing`."""

    breaks = ("loop010-latent-calls-without-path-store-nothing",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def settle(self, call: Call) -> None:
                super().settle(call)
                if call.output_path is None:
                    self.fail(call.raw, "a latent call needs an _outputPath")


class ThoughtsAreStored(SolutionMutant):
    """Keeps the outputs of latent calls without an output path: `loop010-latent-calls-without-path-store-nothing`."""

    breaks = ("loop010-latent-calls-without-path-store-nothing",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def settle(self, call: Call) -> None:
                super().settle(call if call.output_path else replace(call, output_path="†thoughts"))


class ThoughtsCanBeMessages(SolutionMutant):
    """Appends an output that looks like a Message: `loop010-latent-calls-without-path-store-nothing`."""

    breaks = ("loop010-latent-calls-without-path-store-nothing",)
    also = because("what looks like a Message is not at its path", "loop010-latent-calls-write-their-output")

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def settle(self, call: Call) -> None:
                self.write(call, call.output)


class GivenOutputsRunNothing(SolutionMutant):
    """Takes a call that has an output for a latent one: `loop010-activities-outdo-given-outputs`."""

    breaks = ("loop010-activities-outdo-given-outputs",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def is_latent(self, call: Call) -> bool:
                return call.has_output or super().is_latent(call)


class GivenOutputsAreWritten(SolutionMutant):
    """Runs the Activity, and writes what the model gave: `loop010-activities-outdo-given-outputs`."""

    breaks = ("loop010-activities-outdo-given-outputs",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def write(self, call: Call, value: Any) -> None:
                super().write(call, call.output if call.has_output else value)


class MessagesAreWrapped(SolutionMutant):
    """Writes a returned Message at the output path: `loop010-returned-messages-are-appended`."""

    breaks = ("loop010-returned-messages-are-appended",)
    also = because("what a returned Message says of its path is not read", "loop010-output-expressions")

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def write(self, call: Call, value: Any, date: str) -> list[Message]:
                return self.store(call, value, date)


class MessagesNeedAPath(SolutionMutant):
    """Forgets a returned Message where the call has no output path: `loop010-returned-messages-are-appended`."""

    breaks = ("loop010-returned-messages-are-appended",)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def write(self, call: Call, value: Any, date: str) -> list[Message]:
                return super().write(call, value, date) if call.output_path else []


class AnyKindIsAMessage(SolutionMutant):
    """Appends any object that has a kind or a type: `loop010-returned-messages-are-appended`."""

    breaks = ("loop010-returned-messages-are-appended",)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def write(self, call: Call, value: Any, date: str) -> list[Message]:
                if isinstance(value, dict) and "kind" in value:
                    value = {"type": "data", **value}
                return super().write(call, value, date)


class LatentOutputsQueue(SolutionMutant):
    """Writes the outputs that the model gave when nothing runs: `loop010-latent-calls-write-their-output`."""

    breaks = ("loop010-latent-calls-write-their-output",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def is_unblocked(self, call: Call) -> bool:
                return super().is_unblocked(call) and not (self.is_latent(call) and self.running)
