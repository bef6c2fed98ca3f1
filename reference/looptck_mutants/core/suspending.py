"""Runs that are suspended and resumed wrongly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT
from looptck_mutants.core.running_again import run_again
from looptck_mutants.parts import breaks
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.conversation import Conversation
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action, Fail, Run, Suspend
from looptck_reference.vocabulary.approval import Decision
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult


@breaks(
    "suspended-call-has-not-run",
    cells=CHAT,
    collateral={
        (
            "resumed-run-equals-an-unbroken-one",
            "resume-obeys-each-decision",
            "resume-obeys-each-change",
            "suspended-state-travels",
        ): "the calls run a second time when the run is resumed"
    },
)
class TriesBeforeItWaits(Loop):
    """Runs the calls that wait for a decision when the run is suspended, to know that they work."""

    def suspend(self) -> Action:
        action = super().suspend()
        pending = action.calls if isinstance(action, Suspend) else ()
        run_again(self, [ToolCall(one.id, one.name, json.dumps(one.arguments)) for one in pending])
        return action


@breaks("suspended-call-is-told-as-written", cells=CHAT)
class ToldWithATitle(Loop):
    """Tells the caller who decides of an argument that the model has not written."""

    def suspend(self) -> Action:
        action = super().suspend()
        if isinstance(action, Suspend):
            told = (replace(one, arguments={**one.arguments, "title": one.name.upper()}) for one in action.calls)
            action = self.end = replace(action, calls=tuple(told))
        return action


@breaks("resumed-run-equals-an-unbroken-one", collateral={"suspended-state-travels": "it is resumed too"}, cells=CHAT)
class ResumedWithoutThePrompt(Loop):
    """Forgets the first message of a run that it resumes."""

    def resume(self, state: Json, decisions: Mapping[str, Decision]) -> None:
        super().resume(state, decisions)
        self.history = self.history[1:]


@breaks(
    "resume-reruns-nothing",
    collateral={("resumed-run-equals-an-unbroken-one", "suspended-state-travels"): "its tools run as often"},
    cells=CHAT,
)
class ResumedFromTheStart(Loop):
    """Runs everything that a suspended run has run once more when it resumes it."""

    def resume(self, state: Json, decisions: Mapping[str, Decision]) -> None:
        super().resume(state, decisions)
        answered = {one["tool_call_id"] for one in self.history if one.get("role") == "tool"}
        answered |= {one["call_id"] for one in state["results"] if one is not None}
        for message in self.history:
            for call in message.get("tool_calls") or ():
                if call["id"] in answered:
                    function = call["function"]
                    run_again(self, [ToolCall(call["id"], function["name"], function["arguments"])])


@breaks(
    "resume-reruns-nothing",
    cells=CHAT,
    collateral={"suspended-call-has-not-run": "the call that waited runs with the next question, as if approved"},
)
class ApprovedRunsAgainLater(Loop):
    """Runs the approved calls of earlier runs once more when the next question comes."""

    begun = False

    def resume(self, state: Json, decisions: Mapping[str, Decision]) -> None:
        self.begun = True
        super().resume(state, decisions)

    def ask(self) -> Action:
        if not self.begun:
            self.begun = True
            earlier = [one for message in self.history for one in message.get("tool_calls") or ()]
            functions = [(one["id"], one["function"]) for one in earlier if "function" in one]
            found = [ToolCall(id, function["name"], function["arguments"]) for id, function in functions]
            run_again(self, [one for one in found if self.needs_approval(one)])
        return super().ask()


@breaks("resumed-run-equals-an-unbroken-one", cells=CHAT)
class ResumedResultsAgain(Loop):
    """Sends the results of an earlier suspension once more when it is resumed for the second time."""

    earlier: Sequence[str] = ()

    def resume(self, state: Json, decisions: Mapping[str, Decision]) -> None:
        before = state.get("earlier", [])
        super().resume({name: value for name, value in state.items() if name != "earlier"}, decisions)
        again = [2 if one.get("tool_call_id") in before else 1 for one in self.history]
        self.history = [one for one, times in zip(self.history, again, strict=True) for _ in range(times)]
        self.earlier = [*before, *decisions]

    def suspend(self) -> Action:
        action = super().suspend()
        assert isinstance(action, Suspend)
        return self._enter(replace(action, state={**action.state, "earlier": [*self.earlier]}))


@breaks(
    "resume-obeys-each-decision",
    cells=CHAT,
    collateral={
        "resume-obeys-each-change": "a change is part of a decision",
        "rejection-reason-reaches-the-model": "the rejected call runs",
    },
)
class ResumedByPosition(Loop):
    """Gives the calls of a suspended run its decisions in the reverse order."""

    def resume(self, state: Json, decisions: Mapping[str, Decision]) -> None:
        super().resume(state, dict(zip(decisions, reversed([*decisions.values()]), strict=True)))


@breaks("resume-obeys-each-decision", cells=CHAT, collateral={"resume-obeys-each-change": "a change is a decision"})
class FirstDecisionIsKept(Driver):
    """Gives a state that is resumed again the decisions that it was resumed with before."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[str, Json] = {}

    def run(self, case: Json, emit: OnText) -> Json:
        return super().run(self._decided(case), emit)

    async def run_async(self, case: Json, emit: OnText) -> Json:
        return await super().run_async(self._decided(case), emit)

    def _decided(self, case: Json) -> Json:
        if "resume" not in case:
            return case
        state = json.dumps(case["resume"]["state"])
        return {**case, "resume": self._kept.setdefault(state, case["resume"])}


@breaks("resumed-run-is-in-its-conversation", cells=CHAT)
class ResumedBesideTheConversation(Driver):
    """Keeps nothing of a resumed run in its conversation."""

    def keep(self, case: Json, conversation: Conversation) -> None:
        if "resume" not in case:
            super().keep(case, conversation)


LOST: Json = {"kind": "error", "reason": "arguments", "type": "LookupError", "message": "there is no such run"}


@breaks("suspended-state-travels", cells=CHAT)
class StatesStayAtHome(Driver):
    """Keeps the state of a suspended run to itself, and hands out its number."""

    def __init__(self) -> None:
        super().__init__()
        self._states: list[Json] = []

    def run(self, case: Json, emit: OnText) -> Json:
        return LOST if self._lost(case) else self._kept(super().run(self._known(case), emit))

    async def run_async(self, case: Json, emit: OnText) -> Json:
        return LOST if self._lost(case) else self._kept(await super().run_async(self._known(case), emit))

    def _lost(self, case: Json) -> bool:
        return "resume" in case and case["resume"]["state"] >= len(self._states)

    def _known(self, case: Json) -> Json:
        if "resume" not in case:
            return case
        return {**case, "resume": {**case["resume"], "state": self._states[case["resume"]["state"]]}}

    def _kept(self, outcome: Json) -> Json:
        if outcome["kind"] != "suspended":
            return outcome
        self._states.append(outcome["state"])
        return {**outcome, "state": len(self._states) - 1}


@breaks("resume-obeys-each-decision", cells=CHAT)
class FirstReasonForAll(Loop):
    """Tells the reason of the first rejection for all that follow."""

    def rejected(self, call: ToolCall, feedback: str) -> Run | ToolResult | Fail:
        return super().rejected(call, self.__dict__.setdefault("reason", feedback))


@breaks(
    "resume-obeys-each-decision", cells=CHAT, collateral={"no-request-is-refused": "a call without a result is refused"}
)
class FailedAfterApprovalIsOpen(Loop):
    """Sends no result of an approved call whose tool has raised."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        raised = [one for one in results if one.failed and "rejected" not in one.text]
        super().append_results([one for one in results if "resumed" not in self.__dict__ or one not in raised])

    def resume(self, state: Json, decisions: Mapping[str, Decision]) -> None:
        super().resume(state, decisions)
        self.__dict__["resumed"] = True


@breaks(
    "resume-obeys-each-decision", cells=CHAT, collateral={"no-request-is-refused": "a call without a result is refused"}
)
class FailuresAreNotInTheState(Loop):
    """Sends of the results that were there before the run was suspended only those of calls that went well."""

    early: frozenset[str] = frozenset()

    def resume(self, state: Json, decisions: Mapping[str, Decision]) -> None:
        self.early = frozenset(one["call_id"] for one in state["results"] if one and one["failed"])
        super().resume(state, decisions)

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([one for one in results if one.call_id not in self.early])
