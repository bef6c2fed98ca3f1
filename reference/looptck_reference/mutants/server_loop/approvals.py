"""Approvals: whether a tool may run, who is asked, and what an answer means."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from looptck_reference.mutants.mutant import CHAT_STREAM, because
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.approvals import Approvals
from looptck_reference.server.events import ApprovalRequired
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Config, Run, Simulator
from looptck_reference.server.steps import Decision, Execute, Step
from looptck_reference.server.values import Called, Permission, Result, RunRequest, ToolPath
from looptck_reference.values import Stop, Turn


class DenialsOfRequestsAreUnheard(ServerMutant):
    """Runs the tools of a request that denies them: `server-denied-tools-do-not-run`."""

    breaks = ("server-denied-tools-do-not-run",)

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            def permitted(self, called: Called) -> Permission:
                return Permission.AUTO if self.request.permission is Permission.DENY else super().permitted(called)


class DeniedWithoutAWord(ServerMutant):
    """Gives the model an empty result of what it denies: `server-denied-tools-do-not-run`."""

    breaks = ("server-denied-tools-do-not-run",)
    also = because("its result is as empty", "server-request-cannot-loosen-the-permission")

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _ended(self, result: Result) -> Step:
                denied = self.permission is Permission.DENY
                return super()._ended(Result("") if denied else result)


class RequestsLoosenPermissions(ServerMutant):
    """Takes the request's permission in place of the stricter one: `server-request-cannot-loosen-the-permission`."""

    breaks = ("server-request-cannot-loosen-the-permission",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def permitted(self, called: Called) -> Permission:
                self.permission = self.request.permission
                return super().permitted(called)


class PlainRequestsAreNotAsked(ServerMutant):
    """Takes a plain request with ask for one with auto: `server-ask-needs-a-stream`."""

    breaks = ("server-ask-needs-a-stream",)

    class simulator(Simulator):  # noqa: N801
        def begin(self, request: RunRequest) -> Run:
            plain = request.permission is Permission.ASK and not request.stream
            return super().begin(replace(request, permission=Permission.AUTO) if plain else request)


class QuestionsWithoutArguments(ServerMutant):
    """Asks for an approval without saying of what: `server-approval-is-asked-before-the-run`."""

    breaks = ("server-approval-is-asked-before-the-run",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _ask_client(self, called: Called, path: ToolPath) -> Step:
                step = super()._ask_client(called, path)
                self.outbox = [
                    replace(event, arguments={}) if isinstance(event, ApprovalRequired) else event
                    for event in self.outbox
                ]
                return step


class RunsBeforeTheApproval(ServerMutant):
    """Asks for an approval, runs the tool, and waits for the answer: `server-approval-is-asked-before-the-run`."""

    breaks = ("server-approval-is-asked-before-the-run",)
    also = because(
        "a tool runs before the answer",
        "server-denial-tells-the-model-its-message",
        "server-remembered-approval-stays-in-its-session",
    )
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
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


class ApprovedRunsEndEarly(ServerMutant):
    """Ends a run behind the tool that was approved: `server-approved-tools-run`."""

    breaks = ("server-approved-tools-run",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def tool_ended(self, result: Result) -> Step:
                asked = self.permission is Permission.ASK and self._waiting[0].call.name not in self.remembered
                return self.finish(Turn("", (), Stop.END)) if asked else super().tool_ended(result)


class DenialsLoseTheirWords(ServerMutant):
    """Tells the model of a denial in words of its own: `server-denial-tells-the-model-its-message`."""

    breaks = ("server-denial-tells-the-model-its-message",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def client_decided(self, decision: Decision) -> Step:
                return super().client_decided(replace(decision, message=None))


class NothingIsRemembered(ServerMutant):
    """Takes every approval for one call: `server-remembered-approval-is-not-asked-again`."""

    breaks = ("server-remembered-approval-is-not-asked-again",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def client_decided(self, decision: Decision) -> Step:
                return super().client_decided(replace(decision, remember=False))


class RememberedForAll(ServerMutant):
    """Remembers an approval for every session: `server-remembered-approval-stays-in-its-session`."""

    breaks = ("server-remembered-approval-stays-in-its-session",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            everywhere: ClassVar[set[str]] = set()

            def __init__(self, *what: Any, **more: Any) -> None:
                super().__init__(*what, **more)
                self.remembered = self.everywhere


class UnknownApprovalsAreTaken(ServerMutant):
    """Takes a decision that nobody has asked for: `server-unknown-approval-is-404`."""

    breaks = ("server-unknown-approval-is-404",)

    class simulator(Simulator):  # noqa: N801
        def __init__(self, config: Config) -> None:
            super().__init__(config)
            self.approvals = Obliging(config.limits.approval_timeout, config.clock)


class Obliging(Approvals):
    """Approvals that take whatever comes."""

    def decide(self, owner: str, approval_id: str, decision: Decision) -> bool:
        super().decide(owner, approval_id, decision)
        return True
