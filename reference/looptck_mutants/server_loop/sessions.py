"""Sessions: the part of a run that is saved, and the part that is restored: `saved`, `splice`, `session_of`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Config, Run, Simulator
from looptck_reference.server.sessions import Session
from looptck_reference.server.steps import Finish
from looptck_reference.server.values import Message, RunRequest
from looptck_reference.vocabulary.values import Turn


@breaks(
    "server-session-keeps-the-tool-messages",
    collateral={
        (
            "server-session-is-spliced-in",
            "server-session-id-is-enough",
            "server-imported-session-goes-on",
        ): "messages that were not saved cannot be restored"
    },
)
class ForgetsToolMessages(ServerLoop):
    """Saves only the messages that the client has seen."""

    def saved(self, turn: Turn) -> Sequence[Message]:
        return [message for message in super().saved(turn) if not message.hidden]


@breaks(
    "server-session-is-spliced-in",
    collateral={
        (
            "server-imported-session-goes-on",
            "server-edited-turn-keeps-what-came-before",
            "server-session-id-is-enough",
        ): "the restored messages are misplaced there too"
    },
)
class ToolMessagesComeLast(ServerLoop):
    """Restores a session's tool messages after all others."""

    def splice(self, session: Session | None) -> list[Message]:
        return sorted(super().splice(session), key=lambda message: message.hidden)


@breaks("server-session-id-is-enough")
class SessionsLoseTheirQuestion(ServerLoop):
    """Leaves out the first message of a session if the request does not repeat it."""

    def splice(self, session: Session | None) -> list[Message]:
        spliced = super().splice(session)
        is_repeated = spliced[0].body == self.request.messages[0]
        return spliced if session is None or is_repeated else spliced[1:]


@breaks("server-session-id-is-returned")
class HidesTheSessionsId(ServerLoop):
    """Does not return the id of the session."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        step = super().finish(turn, capped=capped)
        return step if self.request.stream else replace(step, answer=replace(step.answer, session_id=None))


@breaks("server-unknown-session-id-starts-one")
class ExportsOnlyImports(Simulator):
    """Does not export sessions that the server itself began."""

    def session_of(self, request: RunRequest) -> Session | None:
        own = self.sessions.get(f"{request.owner} itself", request.session_id or "")
        return own or super().session_of(request)

    def _save(self, run: Run, step: Finish) -> None:
        request = run.loop.request
        run.loop.request = replace(request, owner=f"{request.owner} itself")
        super()._save(run, step)
        run.loop.request = request


@breaks("server-edited-turn-keeps-what-came-before")
class EditsKeepWhatFollowed(ServerLoop):
    """Restores the tool messages after an edited message too."""

    def splice(self, session: Session | None) -> list[Message]:
        together = super().splice(session)
        stored = session.messages if session else ()
        known = [message.body for message in together]
        stale = [message for message in stored if message.hidden and message.body not in known]
        return [*together[:-1], *stale, *together[-1:]]


@breaks("server-session-leaves-tools-and-sampling-out")
class SessionsKeepTheirTools(Simulator):
    """Offers the tools of a session's first request in all later ones."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.first: dict[str | None, RunRequest] = {}

    def begin(self, request: RunRequest) -> Run:
        first = self.first.setdefault(request.session_id, request) if request.session_id else request
        more = tuple(tool for tool in first.tools if tool not in request.tools)
        return super().begin(replace(request, tools=(*request.tools, *more)))


@breaks("server-session-leaves-tools-and-sampling-out")
class SessionsKeepTheirTemperature(Simulator):
    """Uses the sampling options of a session's first request in all later ones."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.first: dict[str | None, RunRequest] = {}

    def begin(self, request: RunRequest) -> Run:
        first = self.first.setdefault(request.session_id, request) if request.session_id else request
        return super().begin(replace(request, options={**first.options, **request.options}))


@breaks("server-code-state-lives-in-the-session")
class CodeForgets(Simulator):
    """Starts every run without stored variables."""

    def begin(self, request: RunRequest) -> Run:
        run = super().begin(request)
        run.workshop.python = b""
        return run


@breaks("server-code-state-stays-in-its-session")
class CodeIsEverybodys(Simulator):
    """Starts every run with the variables of the previous run."""

    python = b""

    def begin(self, request: RunRequest) -> Run:
        run = super().begin(request)
        run.workshop.python = self.python
        return run

    def end(self, run: Run) -> None:
        self.python = run.workshop.python or self.python
        super().end(run)


@breaks("server-session-stays-with-its-id", "server-same-opening-shares-nothing")
class ServesTheLastSession(Simulator):
    """Uses the most recent session for every request."""

    def session_of(self, request: RunRequest) -> Session | None:
        if len(request.messages) < 2:
            return super().session_of(request)
        stored = [one for one in self.sessions.of(request.owner) if one.messages]
        alike = [one for one in stored if one.messages[0].body == request.messages[0]]
        return alike[-1] if alike else None


@breaks("server-many-sessions-stay-apart", cells=CHAT_STREAM)
class SavesUnderTheIdBefore(Simulator):
    """Saves a run under the id of the previous run during concurrent runs."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.before: dict[str, str | None] = {}
        self.last: str | None = None

    def begin(self, request: RunRequest) -> Run:
        run = super().begin(request)
        self.before[run.loop.run_id] = self.last
        self.last = run.loop.session_id
        return run

    def _save(self, run: Run, step: Finish) -> None:
        before = self.before.pop(run.loop.run_id)
        if self.runs > 1 and before is not None:
            run.loop.session_id = before
        super()._save(run, step)


@breaks("server-retry-does-not-forge-history")
class RetriesDoubleTheRound(ServerLoop):
    """Restores the tool messages of a repeated request twice."""

    def splice(self, session: Session | None) -> list[Message]:
        together = super().splice(session)
        repeated = bool(together) and together[-1].hidden
        return [*together, *(message for message in together if message.hidden and repeated)]


@breaks("server-session-is-spliced-in")
class InstructionsComeAgain(ServerLoop):
    """Begins a resumed history with the request's instructions, which the stored history has too."""

    def splice(self, session: Session | None) -> list[Message]:
        together = super().splice(session)
        again = [message for message in together if session and message.body.get("role") == "system"]
        return [*again, *together]
