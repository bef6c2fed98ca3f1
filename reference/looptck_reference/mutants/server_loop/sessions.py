"""What a session keeps of a run, and what of it comes back: `saved`, `splice`, `session_of`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.mutants.mutant import CHAT_STREAM, because
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Config, Run, Simulator
from looptck_reference.server.sessions import Session, splice_visible
from looptck_reference.server.steps import Finish
from looptck_reference.server.values import Message, RunRequest
from looptck_reference.values import Turn


class ForgetsToolMessages(ServerMutant):
    """Keeps what the client has seen, and no more: `server-session-keeps-the-tool-messages`."""

    breaks = ("server-session-keeps-the-tool-messages",)
    also = because(
        "what was not kept cannot come back",
        "server-session-is-spliced-in",
        "server-session-id-is-enough",
        "server-imported-session-goes-on",
    )

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            def saved(self, turn: Turn) -> Sequence[Message]:
                return [message for message in super().saved(turn) if not message.hidden]


class ToolMessagesComeLast(ServerMutant):
    """Puts a session's tool messages behind all others: `server-session-is-spliced-in`."""

    breaks = ("server-session-is-spliced-in",)
    also = because(
        "what comes back stands in the wrong place there too",
        "server-imported-session-goes-on",
        "server-edited-turn-keeps-what-came-before",
        "server-session-id-is-enough",
    )

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def splice(self, session: Session | None) -> list[Message]:
                return sorted(super().splice(session), key=lambda message: message.hidden)


class WantsTheMessagesAgain(ServerMutant):
    """Forgets a session where the request does not repeat its messages: `server-session-id-is-enough`."""

    breaks = ("server-session-id-is-enough",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def splice(self, session: Session | None) -> list[Message]:
                incoming = [Message(body) for body in self.request.messages]
                return incoming if session is None else splice_visible(session.messages, incoming)


class HidesTheSessionsId(ServerMutant):
    """Does not say under which id the session is kept: `server-session-id-is-returned`."""

    breaks = ("server-session-id-is-returned",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
                step = super().finish(turn, capped=capped)
                return step if self.request.stream else replace(step, answer=replace(step.answer, session_id=None))


class ExportsOnlyImports(ServerMutant):
    """Keeps the sessions that it began itself where no export finds them: `server-unknown-session-id-starts-one`."""

    breaks = ("server-unknown-session-id-starts-one",)

    class simulator(Simulator):  # noqa: N801
        def session_of(self, request: RunRequest) -> Session | None:
            own = self.sessions.get(f"{request.owner} itself", request.session_id or "")
            return own or super().session_of(request)

        def _save(self, run: Run, step: Finish) -> None:
            request = run.loop.request
            run.loop.request = replace(request, owner=f"{request.owner} itself")
            super()._save(run, step)
            run.loop.request = request


class EditsKeepWhatFollowed(ServerMutant):
    """Brings back the tool messages behind an edited message too: `server-edited-turn-keeps-what-came-before`."""

    breaks = ("server-edited-turn-keeps-what-came-before",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def splice(self, session: Session | None) -> list[Message]:
                together = super().splice(session)
                stored = session.messages if session else ()
                known = [message.body for message in together]
                stale = [message for message in stored if message.hidden and message.body not in known]
                return [*together[:-1], *stale, *together[-1:]]


class SessionsKeepTheirTools(ServerMutant):
    """Offers the tools of a session's first request in all others: `server-session-leaves-tools-and-sampling-out`."""

    breaks = ("server-session-leaves-tools-and-sampling-out",)

    class simulator(Simulator):  # noqa: N801
        def __init__(self, config: Config) -> None:
            super().__init__(config)
            self.first: dict[str | None, RunRequest] = {}

        def begin(self, request: RunRequest) -> Run:
            first = self.first.setdefault(request.session_id, request) if request.session_id else request
            more = tuple(tool for tool in first.tools if tool not in request.tools)
            return super().begin(replace(request, tools=(*request.tools, *more)))


class SessionsKeepTheirTemperature(ServerMutant):
    """Takes over what a session's first request said of sampling: `server-session-leaves-tools-and-sampling-out`."""

    breaks = ("server-session-leaves-tools-and-sampling-out",)

    class simulator(Simulator):  # noqa: N801
        def __init__(self, config: Config) -> None:
            super().__init__(config)
            self.first: dict[str | None, RunRequest] = {}

        def begin(self, request: RunRequest) -> Run:
            first = self.first.setdefault(request.session_id, request) if request.session_id else request
            return super().begin(replace(request, options={**first.options, **request.options}))


class CodeForgets(ServerMutant):
    """Begins every run with no value set: `server-code-state-lives-in-the-session`."""

    breaks = ("server-code-state-lives-in-the-session",)

    class simulator(Simulator):  # noqa: N801
        def begin(self, request: RunRequest) -> Run:
            run = super().begin(request)
            run.workshop.python = b""
            return run


class CodeIsEverybodys(ServerMutant):
    """Begins every run with the values of the one before it: `server-code-state-stays-in-its-session`."""

    breaks = ("server-code-state-stays-in-its-session",)

    class simulator(Simulator):  # noqa: N801
        python = b""

        def begin(self, request: RunRequest) -> Run:
            run = super().begin(request)
            run.workshop.python = self.python
            return run

        def end(self, run: Run) -> None:
            self.python = run.workshop.python or self.python
            super().end(run)


class ServesTheLastSession(ServerMutant):
    """Serves the last of all: `server-session-stays-with-its-id`, `server-same-opening-shares-nothing`."""

    breaks = ("server-session-stays-with-its-id", "server-same-opening-shares-nothing")

    class simulator(Simulator):  # noqa: N801
        def session_of(self, request: RunRequest) -> Session | None:
            if len(request.messages) < 2:
                return super().session_of(request)
            stored = [one for one in self.sessions.of(request.owner) if one.messages]
            alike = [one for one in stored if one.messages[0].body == request.messages[0]]
            return alike[-1] if alike else None


class FindsSessionsByContent(ServerMutant):
    """Gives a client without an id the session that begins like its messages: `server-same-opening-shares-nothing`."""

    breaks = ("server-same-opening-shares-nothing",)

    class simulator(Simulator):  # noqa: N801
        def session_of(self, request: RunRequest) -> Session | None:
            if request.session_id is not None or len(request.messages) < 2:
                return super().session_of(request)
            stored = self.sessions.of(request.owner)
            return next((one for one in stored if one.messages[0].body == request.messages[0]), None)


class SavesUnderTheIdBefore(ServerMutant):
    """Saves a run under the id of the one that began before it, if others go on: `server-many-sessions-stay-apart`."""

    breaks = ("server-many-sessions-stay-apart",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
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


class RetriesDoubleTheRound(ServerMutant):
    """Brings back the tool messages of a repeated request twice: `server-retry-does-not-forge-history`."""

    breaks = ("server-retry-does-not-forge-history",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def splice(self, session: Session | None) -> list[Message]:
                together = super().splice(session)
                repeated = bool(together) and together[-1].hidden
                return [*together, *(message for message in together if message.hidden and repeated)]
