"""Mutants of the 010 loop: confirmation of calls by a person before they run."""

from __future__ import annotations

from typing import Any

from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.confirmation import Approve, Change, Decision, Reject, Replace
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Confirm, Start, Step, without


@breaks("loop010-only-unblocked-calls-are-confirmed")
class BlockedCallsAreAskedAbout(CallScheduler):
    """Asks for confirmation as soon as a call is streamed, even if it is blocked."""

    def rescan(self) -> list[Step]:
        blocked = [call for call in self.pending if self.is_asked(call) and not self.is_unblocked(call)]
        for call in blocked:
            self.pending = without(self.pending, call)
            self.asked.append(call)
        return [*map(Confirm, blocked), *super().rescan()]


@breaks("loop010-calls-wait-for-their-confirmation")
class SilenceIsConsent(CallScheduler):
    """Starts an unconfirmed call after two other calls have completed."""

    ended = 0

    def completed(self, call: Call, value: Any) -> list[Step]:
        steps = super().completed(call, value)
        self.ended += 1
        tired = self.asked if self.ended == 2 else []
        self.asked = [one for one in self.asked if one not in tired]
        self.running += tired
        return [*steps, *(Start(one, self.activity_of(one), self.arguments(one)) for one in tired)]

    def decided(self, call: Call, decision: Decision) -> list[Step]:
        return super().decided(call, decision) if call in self.asked else []


@breaks("loop010-calls-wait-for-their-confirmation")
class OneApprovalIsEnough(CallScheduler):
    """Asks about no call once there is a result in the context."""

    def is_asked(self, call: Call) -> bool:
        return super().is_asked(call) and not any("_call" in message for message in self.context.messages)


@breaks("loop010-changed-parameters-are-used")
class ChangesAreIgnored(SolutionLoop):
    """Runs a changed call with the parameters that the model wrote."""

    async def confirm(self, call: Call) -> Decision:
        decision = await super().confirm(call)
        return Approve() if isinstance(decision, Change) else decision


@breaks("loop010-replacements-run-instead")
class ReplacementsAreIgnored(SolutionLoop):
    """Runs the original call although the person replaced it."""

    async def confirm(self, call: Call) -> Decision:
        decision = await super().confirm(call)
        return Approve() if isinstance(decision, Replace) else decision


@breaks("loop010-replacements-run-instead")
class ReplacementsKeepThePlace(CallScheduler):
    """Writes the result of a replacement to the output path of the replaced call."""

    def decided(self, call: Call, decision: Decision) -> list[Step]:
        if isinstance(decision, Replace):
            decision = Replace({**decision.call, "_outputPath": call.output_path})
        return super().decided(call, decision)


@breaks("loop010-corrected-calls-are-checked-again")
class CorrectionsAreTrusted(CallScheduler):
    """Does not validate calls that a person changed or replaced."""

    def take(self, raw: Any, *, agreed: bool = False) -> None:
        if agreed:
            self.pending.append(Call.read(raw))
            self._agreed.append(self.pending[-1])
        else:
            super().take(raw)

    def launch(self, call: Call) -> Step | None:
        if not any(call is one for one in self._agreed):
            return super().launch(call)
        self.running.append(call)
        return Start(call, self.activity_of(call), self.arguments(call))


@breaks("loop010-rejected-calls-do-not-run")
class RejectedCallsRun(CallScheduler):
    """Reports a rejection to the model, but runs the call anyway."""

    def decided(self, call: Call, decision: Decision) -> list[Step]:
        if isinstance(decision, Reject):
            self.take(call.raw, agreed=True)
        return super().decided(call, decision)


@breaks("loop010-rejected-calls-do-not-run")
class RejectionsAreSilent(SolutionLoop):
    """Reports a rejection to the model without the person's reason."""

    async def confirm(self, call: Call) -> Decision:
        decision = await super().confirm(call)
        return Reject("rejected") if isinstance(decision, Reject) else decision
