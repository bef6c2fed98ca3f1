"""Approvals: the permission of tools, the question to the client, and the meaning of its decision."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.approvals import Approvals
from looptck_reference.server.events import ApprovalRequired
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Config, Run, Simulator
from looptck_reference.server.steps import AskClient, Decision, Execute, Step
from looptck_reference.server.values import Called, Permission, Result, RunRequest, ToolPath
from looptck_reference.vocabulary.values import Stop, Turn


@breaks("server-denied-tools-do-not-run")
class DenialsOfRequestsAreUnheard(ServerLoop):
    """Runs the tools of a request that denies them."""

    def permitted(self, called: Called) -> Permission:
        return Permission.AUTO if self.request.permission is Permission.DENY else super().permitted(called)


@breaks(
    "server-denied-tools-do-not-run",
    collateral={"server-request-cannot-loosen-the-permission": "the result of its denied tool is empty too"},
)
class DeniedWithoutAWord(ServerLoop):
    """Sends the model an empty result for a denied tool."""

    def _ended(self, result: Result) -> Step:
        denied = self.permission is Permission.DENY
        return super()._ended(Result("") if denied else result)


@breaks("server-denied-tools-do-not-run")
class DeniedRoundsAreFree(ServerLoop):
    """Does not count a round whose call was denied against the cap."""

    def cap_reached(self) -> bool:
        denied = sum(str(record.result.data.get("exception")).endswith("policy.") for record in self.records)
        return bool(self.round - denied >= self.cap)


@breaks("server-request-cannot-loosen-the-permission")
class RequestsLoosenPermissions(ServerLoop):
    """Applies the request's permission even if the server's is stricter."""

    def permitted(self, called: Called) -> Permission:
        self.permission = self.request.permission
        return super().permitted(called)


@breaks("server-ask-needs-a-stream")
class PlainRequestsAreNotAsked(Simulator):
    """Treats the permission `ask` as `auto` in plain requests."""

    def begin(self, request: RunRequest) -> Run:
        plain = request.permission is Permission.ASK and not request.stream
        return super().begin(replace(request, permission=Permission.AUTO) if plain else request)


@breaks("server-approval-is-asked-before-the-run", cells=CHAT_STREAM)
class QuestionsWithoutArguments(ServerLoop):
    """Asks for an approval without the arguments of the call."""

    def _ask_client(self, called: Called, path: ToolPath) -> Step:
        step = super()._ask_client(called, path)
        self.outbox = [
            replace(event, arguments={}) if isinstance(event, ApprovalRequired) else event for event in self.outbox
        ]
        return step


@breaks(
    "server-approval-is-asked-before-the-run",
    collateral={
        (
            "server-denial-tells-the-model-its-message",
            "server-remembered-approval-stays-in-its-session",
        ): "a tool runs before the answer"
    },
    cells=CHAT_STREAM,
)
class RunsBeforeTheApproval(ServerLoop):
    """Asks for an approval, runs the tool, and then waits for the decision."""

    question: Step | None = None
    result: Result | None = None

    def _ask_client(self, called: Called, path: ToolPath) -> Step:
        self.question = super()._ask_client(called, path)
        return Execute(called)

    def tool_ended(self, result: Result) -> Step:
        self.result, question, self.question = result, self.question, None
        return question or super().tool_ended(result)

    def client_decided(self, decision: Decision) -> Step:
        after = super().client_decided(decision)
        return super().tool_ended(self.result) if decision.approved and self.result else after


@breaks("server-approval-is-asked-after-calling", cells=CHAT_STREAM)
class AsksBeforeCalling(ServerLoop):
    """Asks for an approval before the `calling` event."""

    def _ask_client(self, called: Called, path: ToolPath) -> Step:
        step = super()._ask_client(called, path)
        self.outbox[-2:] = self.outbox[:-3:-1]
        return step


@breaks("server-approved-tools-run", cells=CHAT_STREAM)
class ApprovedRunsEndEarly(ServerLoop):
    """Ends a run after the approved tool."""

    def tool_ended(self, result: Result) -> Step:
        asked = self.permission is Permission.ASK and self._waiting[0].call.name not in self.remembered
        return self.finish(Turn("", (), Stop.END)) if asked else super().tool_ended(result)


@breaks("server-denial-tells-the-model-its-message", cells=CHAT_STREAM)
class DenialsLoseTheirWords(ServerLoop):
    """Replaces the client's message about a denial by a fixed text."""

    def client_decided(self, decision: Decision) -> Step:
        return super().client_decided(replace(decision, message=None))


@breaks("server-denial-tells-the-model-its-message", cells=CHAT_STREAM)
class DenialsEndTheRun(ServerLoop):
    """Ends a run when the client has denied a call."""

    def client_decided(self, decision: Decision) -> Step:
        return super().client_decided(decision) if decision.approved else self.finish(Turn("", (), Stop.END))


@breaks("server-remembered-approval-is-not-asked-again", cells=CHAT_STREAM)
class NothingIsRemembered(ServerLoop):
    """Applies every approval to one call only."""

    def client_decided(self, decision: Decision) -> Step:
        return super().client_decided(replace(decision, remember=False))


@breaks("server-remembered-approval-stays-in-its-session", cells=CHAT_STREAM)
class RememberedForAll(ServerLoop):
    """Applies a remembered approval to all sessions."""

    everywhere: ClassVar[set[str]] = set()

    def __init__(self, *what: Any, **more: Any) -> None:
        super().__init__(*what, **more)
        self.remembered = self.everywhere


@breaks("server-unknown-approval-is-404")
class UnknownApprovalsAreTaken(Simulator):
    """Accepts a decision for an unknown approval."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.approvals = Obliging(config.limits.approval_timeout, config.clock)


class Obliging(Approvals):
    """Approvals that accept every decision."""

    def decide(self, owner: str, approval_id: str, decision: Decision) -> bool:
        super().decide(owner, approval_id, decision)
        return True


@breaks("server-approval-is-asked-before-the-run", cells=CHAT_STREAM)
class QuestionsAreNumberedByRound(ServerLoop):
    """Gives the questions of all runs in the same round the same id."""

    def _ask_client(self, called: Called, path: ToolPath) -> Step:
        step, number = super()._ask_client(called, path), f"appr_{self.round}"
        self.outbox = [
            replace(event, approval_id=number) if isinstance(event, ApprovalRequired) else event
            for event in self.outbox
        ]
        return replace(step, approval_id=number) if isinstance(step, AskClient) else step
