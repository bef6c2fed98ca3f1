"""The inner loop: the Calls of one Request as a state machine, without I/O (Agent/Loop, "Inner Loop").

A Call is pending until every Variable Reference in it resolves against the context, then a person may be asked, then
its Activity runs, and then its result is in the context, where it may unblock other Calls:

    streamed ──► pending ──► asked ──► running ──► completed: written to the context
        │           │  ▲───────┤          └──────► failed ────────────┐
        └ invalid ──┴ blocked  └ rejected ────────────────────────────┴──► one Error Message each

The driver of the machine reports each event and executes the steps that it gets back:

    event                                          method
    -------------------------------------------    ------------------------------------------
    the model has written a Call                     streamed(raw)
    an Activity that was to start has ended          completed(call, value), failed(call, error)
    a person has decided                             decided(call, decision)
    the Request is at its end                        closed()

After each event all pending Calls are checked again, so no wake-up is lost. Once the Request has ended and no Call runs
or waits for a person, no Call is left that could unblock a pending one, and it becomes an error. The Error Messages are
in `errors` until the turn is over; the context has only results.

Latent Calls, those without an Activity, never become a step: the model writes their result itself, and the result
enters the context as soon as the Call is unblocked.

Every method is a seam: a variant overrides one of them, and all others keep their meaning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from looptck_reference.agent_loop_010.calls import BadCall, Call
from looptck_reference.agent_loop_010.confirmation import Approve, Change, Decision, Reject, Replace
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.expressions import Unresolved, resolve
from looptck_reference.agent_loop_010.messages import Message, error_message
from looptck_reference.agent_loop_010.structure import Structure
from looptck_reference.vocabulary.values import Json

__all__ = ["CallScheduler", "Confirm", "Start", "Step"]


@dataclass(frozen=True, slots=True)
class Start:
    """Run this Activity with these arguments; report `completed` or `failed`."""

    call: Call
    activity: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Confirm:
    """Ask a person about this Call; report `decided`."""

    call: Call


Step = Start | Confirm


class CallScheduler:
    """The Calls of one turn."""

    def __init__(
        self, context: Context, structure: Structure, activities: Collection[str], *, confirms: bool = False
    ) -> None:
        self.context = context
        self.structure = structure
        self.activities = activities
        self.confirms = confirms
        self.pending: list[Call] = []
        self.asked: list[Call] = []
        self.running: list[Call] = []
        self.errors: list[Message] = []
        self.stream_closed = False
        self._agreed: list[Call] = []

    @property
    def drained(self) -> bool:
        """Whether no call is left that can still make progress."""
        return self.stream_closed and not (self.pending or self.asked or self.running)

    # Events

    def streamed(self, raw: Any) -> list[Step]:
        """The model has written a Call, or an object that should be one."""
        self.take(raw)
        return self.rescan()

    def completed(self, call: Call, value: Any) -> list[Step]:
        """The Activity of a call returned this value."""
        self.running = without(self.running, call)
        self.write(call, value)
        return self.rescan()

    def failed(self, call: Call, error: Any) -> list[Step]:
        """The Activity of a call raised; other calls are not affected."""
        self.running = without(self.running, call)
        self.fail(call.raw, error)
        return self.rescan()

    def decided(self, call: Call, decision: Decision) -> list[Step]:
        """A person has decided about a call. A replacement is treated as if the model had written it."""
        self.asked = without(self.asked, call)
        match decision:
            case Approve():
                self.take(call.raw, agreed=True)
            case Change(parameters):
                self.take(call.changed(parameters).raw, agreed=True)
            case Replace(raw):
                self.take(raw, agreed=True)
            case Reject(feedback):
                self.fail(call.raw, feedback)
        return self.rescan()

    def closed(self) -> list[Step]:
        """The Request has ended: no call will follow."""
        self.stream_closed = True
        return self.rescan()

    # Steps of a call

    def take(self, raw: Any, *, agreed: bool = False) -> None:
        """Make a call pending, unless it has an error that no result can fix.

        `agreed`: a person has approved the call, and is not asked again.
        """
        try:
            call = Call.read(raw)
        except BadCall as error:
            self.fail(raw, str(error))
            return
        if reason := self.fault_of(call):
            self.fail(raw, reason)
            return
        self.pending.append(call)
        if agreed:
            self._agreed.append(call)

    def rescan(self) -> list[Step]:
        """Launch all unblocked calls, also those that latent calls unblock; fail calls that are blocked for good."""
        steps: list[Step] = []
        while (call := next(iter(self.unblocked()), None)) is not None:
            self.pending = without(self.pending, call)
            if step := self.launch(call):
                steps.append(step)
        if self.stream_closed and not (self.asked or self.running):
            self.end_blocked()
        return steps

    def unblocked(self) -> Iterable[Call]:
        """The pending calls that may be launched now."""
        return (call for call in self.pending if self.is_unblocked(call))

    def is_unblocked(self, call: Call) -> bool:
        """Whether all values that a call refers to exist, even if they are falsy."""
        try:
            self.arguments(call)
        except Unresolved:
            return False
        return True

    def launch(self, call: Call) -> Step | None:
        """Check an unblocked call with its values filled in; then settle it if it is latent, ask, or start it."""
        arguments = self.arguments(call)
        if reason := self.structure.of_arguments(call, arguments):
            self.fail(call.raw, reason)
            return None
        if self.is_latent(call):
            self.settle(call)
            return None
        if self.is_asked(call):
            self.asked.append(call)
            return Confirm(call)
        self.running.append(call)
        return Start(call, self.activity_of(call), arguments)

    def settle(self, call: Call) -> None:
        """Store the result that the model wrote for a latent call, if it wrote one."""
        if call.has_output:
            self.context.store(call, call.output, self.now())

    def write(self, call: Call, value: Any) -> None:
        """Append a result to the context; of two writers of one path, the last one to complete wins."""
        self.context.write(call, value, self.now())

    def fail(self, raw: Any, error: Any) -> None:
        """Keep an Error Message for the end of the turn, with the call as it was written."""
        self.errors.append(error_message(raw, error))

    def end_blocked(self) -> None:
        """No call is left that could unblock the pending calls: each becomes an error."""
        blocked, self.pending = self.pending, []
        for call in blocked:
            self.fail(call.raw, self.why_blocked(call))

    # Properties of a call

    def arguments(self, call: Call) -> Json:
        """The parameters with all references replaced by their values.

        Raises:
            Unresolved: a value that a parameter refers to does not exist.
        """
        resolved: Json = resolve(call.parameters, lambda path: self.context.look(path, call.instance))
        return resolved

    def fault_of(self, call: Call) -> str | None:
        """The error that a call has whatever its references resolve to; None if it has none."""
        if call.activity and call.activity not in self.activities:
            return f"/_activity: there is no Activity {call.activity!r}; there are {sorted(self.activities)}"
        return self.structure.of_call(call)

    def activity_of(self, call: Call) -> str:
        """The name of the Activity for a call: the call's own word for it, or else the tool's name."""
        return call.tool if call.activity is None else call.activity

    def is_latent(self, call: Call) -> bool:
        """Whether a call runs no Activity: none is registered, or the call has an empty name for it."""
        return self.activity_of(call) not in self.activities

    def is_asked(self, call: Call) -> bool:
        """Whether a person has to be asked about an unblocked call: once, if confirmation is enabled."""
        return self.confirms and not any(call is agreed for agreed in self._agreed)

    def why_blocked(self, call: Call) -> str:
        """The reason why a call can never start."""
        try:
            self.arguments(call)
        except Unresolved as error:
            return f"{error}, and no call that is left can write it"
        return "the call was never started"

    def now(self) -> str:
        """The date of a result."""
        return datetime.now(UTC).isoformat()


def without(calls: list[Call], call: Call) -> list[Call]:
    """The calls without this one; equal calls are different calls."""
    return [one for one in calls if one is not call]
