"""Decisions about calls that are asked for, obeyed or kept wrongly."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from looptck_mutants.breaking import Collateral
from looptck_mutants.cells import CHAT
from looptck_mutants.core.running_again import run_again
from looptck_mutants.parts import breaks
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.invoke import Invoker
from looptck_reference.vocabulary.actions import Action, Decide, Run
from looptck_reference.vocabulary.approval import Approve, Decision, Reject
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult

REJECTED: Collateral = {"any-conversation-goes-on": "a call of it is rejected"}


class _Understands(Loop):
    """Understands the decisions about the calls of a turn otherwise, whoever hands them over."""

    def understood(self, decisions: Mapping[str, Decision]) -> Mapping[str, Decision]:
        """The decisions in place of these."""
        raise NotImplementedError

    def decided(self, decisions: Mapping[str, Decision]) -> Action:
        return super().decided(self.understood(decisions))

    def resume(self, state: Json, decisions: Mapping[str, Decision]) -> None:
        super().resume(state, self.understood(decisions))


@breaks("changed-call-runs-as-changed", "resume-obeys-each-change", cells=CHAT)
class IgnoresChanges(Loop):
    """Takes an approval with other arguments for an approval of those that the model has written."""

    def changed(self, call: ToolCall, parameters: Json) -> ToolCall:
        return call


@breaks("unchanged-arguments-stay", cells=CHAT)
class ChangesReplaceAll(Loop):
    """Runs a call that was approved with other arguments with those alone."""

    def changed(self, call: ToolCall, parameters: Json) -> ToolCall:
        return replace(call, arguments=json.dumps(parameters))


@breaks(
    "nothing-runs-unapproved",
    collateral={
        (
            "rejected-call-never-runs",
            "approved-siblings-run",
            "approval-is-for-its-call",
        ): "it runs before that",
        "suspended-call-has-not-run": "a suspended run waits for the same decision",
        "resume-obeys-each-decision": "rejected calls have run",
        **REJECTED,
        (
            "resumed-run-equals-an-unbroken-one",
            "resume-obeys-each-change",
            "suspended-state-travels",
        ): "the calls run a second time when the run is resumed",
    },
    cells=CHAT,
)
class RunsWhileItAsks(Loop):
    """Runs a call at once, and asks about it afterwards."""

    def needs_approval(self, call: ToolCall) -> bool:
        needs = super().needs_approval(call)
        if needs:
            run_again(self, [call])
        return needs


@breaks("nothing-runs-unapproved", cells=CHAT)
class RunsWhatNobodyCanForbid(Invoker):
    """Takes it for an approval that the hook fails."""

    def __init__(self, *arguments: Any, confirm: Any = None, async_confirm: Any = None, **options: Any) -> None:
        def ask(call: Any) -> Decision:
            try:
                return confirm(call)  # type: ignore[no-any-return]
            except Exception:  # noqa: BLE001 - whatever the hook raises
                return Approve()

        async def ask_async(call: Any) -> Decision:
            try:
                return await async_confirm(call)  # type: ignore[no-any-return]
            except Exception:  # noqa: BLE001 - as above
                return Approve()

        super().__init__(
            *arguments,
            confirm=confirm and ask,
            async_confirm=async_confirm and ask_async,
            **options,
        )


@breaks(
    "rejected-call-never-runs",
    collateral={
        ("approved-siblings-run", "approval-is-for-its-call"): "rejected calls run too",
        "resume-obeys-each-decision": "a resumed run has the same step",
        **REJECTED,
    },
    cells=CHAT,
)
class RejectionsAreAdvice(Loop):
    """Runs a rejected call."""

    def rejected(self, call: ToolCall, feedback: str) -> Any:
        return self.prepare(call)


@breaks(
    "rejected-call-is-answered",
    collateral={
        "resume-obeys-each-decision": "a resumed run has the same step",
        "told-calls-get-one-result": "the request after it is refused",
        **REJECTED,
    },
    cells=CHAT,
)
class RejectionsAnswerNothing(Loop):
    """Answers a rejected call under another id."""

    def rejected(self, call: ToolCall, feedback: str) -> Any:
        answer = super().rejected(call, feedback)
        return replace(answer, call_id="rejected") if isinstance(answer, ToolResult) else answer


@breaks("rejection-reason-reaches-the-model", cells=CHAT)
class ReasonsAreForTheLog(Loop):
    """Tells the model that a call was rejected, and not why."""

    def rejected(self, call: ToolCall, feedback: str) -> Any:
        return super().rejected(call, "no reason was given")


@breaks(
    "approved-siblings-run",
    collateral={
        "approval-is-for-its-call": "the approved call is a sibling of a rejected one",
        "resume-obeys-each-decision": "a resumed run has the same step",
    },
    cells=CHAT,
)
class OneRejectionRejectsAll(_Understands):
    """Runs none of the calls of a turn that need approval if one of them is rejected."""

    def understood(self, decisions: Mapping[str, Decision]) -> Mapping[str, Decision]:
        rejected = next((one for one in decisions.values() if isinstance(one, Reject)), None)
        return decisions if rejected is None else dict.fromkeys(decisions, rejected)


@breaks(
    "approval-is-for-its-call",
    collateral={
        ("nothing-runs-unapproved", "ids-may-come-again"): "the call of a later turn is not asked about",
        "suspended-call-has-not-run": "a resumed run may be suspended again",
    },
    cells=CHAT,
)
class ApprovedForGood(Loop):
    """Asks no more about a tool once a call of it was approved."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._approved: set[str] = set()

    def needs_approval(self, call: ToolCall) -> bool:
        return self.mark(call) not in self._approved and super().needs_approval(call)

    def prepare(self, call: ToolCall) -> Any:
        found = super().prepare(call)
        if isinstance(found, Run):
            self._approved.add(self.mark(call))
        return found

    def mark(self, call: ToolCall) -> str:
        """What an approval is kept by."""
        return call.name


@breaks("ids-may-come-again", cells=CHAT)
class ApprovedById(ApprovedForGood):
    """Keeps an approval by the id of its call, which the call of a later turn may have too."""

    def mark(self, call: ToolCall) -> str:
        return call.id


@breaks(
    "approval-is-for-its-call",
    collateral={
        "approved-siblings-run": "its sibling of the same tool is rejected",
        "resume-obeys-each-decision": "a resumed run has the same step",
        "resume-obeys-each-change": "a change is part of a decision",
    },
    cells=CHAT,
)
class DecisionsAreShifted(_Understands):
    """Gives each call of a turn the decision about the next one."""

    def understood(self, decisions: Mapping[str, Decision]) -> Mapping[str, Decision]:
        made = list(decisions.values())
        return dict(zip(decisions, [*made[1:], *made[:1]], strict=True))


@breaks("each-call-is-asked-about-once", cells=CHAT)
class AsksTwice(Invoker):
    """Asks about each call twice, to be sure."""

    def __init__(self, *arguments: Any, confirm: Any = None, async_confirm: Any = None, **options: Any) -> None:
        def twice(call: Any) -> Any:
            confirm(call)
            return confirm(call)

        async def twice_async(call: Any) -> Any:
            await async_confirm(call)
            return await async_confirm(call)

        super().__init__(
            *arguments,
            confirm=confirm and twice,
            async_confirm=async_confirm and twice_async,
            **options,
        )


@breaks("asked-call-is-told-as-written", cells=CHAT)
class CardsAreShort(Exchange):
    """Asks about a call with the first signs of its texts."""

    def steps(self) -> Generator[Step, Any, None]:
        steps, came = super().steps(), None
        while True:
            try:
                step = steps.send(came)
            except StopIteration:
                return
            if isinstance(step, Decide):
                step = Decide(tuple(replace(one, arguments=_short(one.arguments)) for one in step.calls))
            came = yield step


def _short(arguments: Json) -> Json:
    return {name: value[:40] if isinstance(value, str) else value for name, value in arguments.items()}
