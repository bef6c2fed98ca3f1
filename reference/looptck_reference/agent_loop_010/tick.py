"""The inner loop: the Calls of one Request as a state machine, without I/O (Agent/Loop, "Inner Loop").

A Call is pending until every Variable Reference in it resolves against the context, then a person may be asked, then
its Activity runs, and then its result is in the context, where it may be what other Calls wait for:

    streamed ──► pending ──► asked ──► running ──► completed: written to the context
        │           │  ▲───────┤          └──────► failed ────────────┐
        └ invalid ──┴ blocked  └ rejected ────────────────────────────┴──► one Error Message each

Whoever drives it reports what happened and does the steps that it is given back:

    what happened                                    method
    -------------------------------------------    ------------------------------------------
    the model has written a Call                     streamed(raw)
    an Activity that was to start has ended          completed(call, value), failed(call, error)
    a person has decided                             decided(call, decision)
    the Request is at its end                        closed()

After each of them all that is pending is looked through again, so no wake-up is lost. Once the Request is at its end
and nothing runs or waits for a person, nobody is left to write what a pending Call waits for, and it becomes an error.
The Error Messages are in `errors` until the turn is over; the context has only results.

Latent Calls, those without an Activity, never become a step: the model writes their result itself, and what it wrote
is written to the context as soon as the Call is unblocked.

Every method is a seam: a variant overrides one of them, and the others keep to what they say.
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
from looptck_reference.values import Json

__all__ = ["Confirm", "Start", "Step", "Tick"]


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


class Tick:
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
        """Whether nothing can happen any more."""
        return self.stream_closed and not (self.pending or self.asked or self.running)

    # Events

    def streamed(self, raw: Any) -> list[Step]:
        """The model has written a Call, or what it takes for one."""
        self.take(raw)
        return self.rescan()

    def completed(self, call: Call, value: Any) -> list[Step]:
        """The Activity of a call returned this value."""
        self.running = without(self.running, call)
        self.write(call, value)
        return self.rescan()

    def failed(self, call: Call, error: Any) -> list[Step]:
        """The Activity of a call raised; the other calls are not concerned."""
        self.running = without(self.running, call)
        self.fail(call.raw, error)
        return self.rescan()

    def decided(self, call: Call, decision: Decision) -> list[Step]:
        """A person was asked about a call. What is to run instead is taken as if the model had written it."""
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
        """The Request is at its end: no call will follow."""
        self.stream_closed = True
        return self.rescan()

    # What becomes of a call

    def take(self, raw: Any, *, agreed: bool = False) -> None:
        """Make a call pending, unless something is wrong with it that no result can mend.

        `agreed`: a person has decided on it, and is not asked again.
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
        """Launch whatever is unblocked, also by what latent calls write now; fail what is blocked for good."""
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
        """Whether all that a call refers to exists; whether it is truthy does not matter."""
        try:
            self.arguments(call)
        except Unresolved:
            return False
        return True

    def launch(self, call: Call) -> Step | None:
        """Check an unblocked call with its values in place; then settle it if it is latent, ask, or start it."""
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
        """Write what the model gave as the result of a latent call. If it gave none, there is nothing to do."""
        if call.has_output:
            self.context.store(call, call.output, self.now())

    def write(self, call: Call, value: Any) -> None:
        """Append a result to the context, so that of two writers of one path the last to complete wins."""
        self.context.write(call, value, self.now())

    def fail(self, raw: Any, error: Any) -> None:
        """Keep an Error Message for the end of the turn, with the call as it was written."""
        self.errors.append(error_message(raw, error))

    def end_blocked(self) -> None:
        """Nothing is left that could write what the pending calls wait for: each becomes an error."""
        blocked, self.pending = self.pending, []
        for call in blocked:
            self.fail(call.raw, self.why_blocked(call))

    # What is known of a call

    def arguments(self, call: Call) -> Json:
        """The parameters with what they refer to in place of the references.

        Raises:
            Unresolved: something that a parameter needs does not exist.
        """
        resolved: Json = resolve(call.parameters, lambda path: self.context.look(path, call.instance))
        return resolved

    def fault_of(self, call: Call) -> str | None:
        """What is wrong with a call whatever its references stand for; None: nothing."""
        if call.activity and call.activity not in self.activities:
            return f"/_activity: there is no Activity {call.activity!r}; there are {sorted(self.activities)}"
        return self.structure.of_call(call)

    def activity_of(self, call: Call) -> str:
        """The name of the Activity that a call is for: its own word for it, or else the tool's name."""
        return call.tool if call.activity is None else call.activity

    def is_latent(self, call: Call) -> bool:
        """Whether no Activity is to run: none is registered, or the call says so with an empty name."""
        return self.activity_of(call) not in self.activities

    def is_asked(self, call: Call) -> bool:
        """Whether a person has to be asked about an unblocked call: once, if anybody is to be asked at all."""
        return self.confirms and not any(call is agreed for agreed in self._agreed)

    def why_blocked(self, call: Call) -> str:
        """Why a call can never start."""
        try:
            self.arguments(call)
        except Unresolved as error:
            return f"{error}, and no call that is left can write it"
        return "the call was never started"

    def now(self) -> str:
        """The date of a result."""
        return datetime.now(UTC).isoformat()


def without(calls: list[Call], call: Call) -> list[Call]:
    """The calls without this one; another with the same words is another call."""
    return [one for one in calls if one is not call]
