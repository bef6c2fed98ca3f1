"""Seams: the methods of the server's loop that a variant may override.

Each seam is one small method, and each mutant of the kit breaks exactly one:

    cap_reached()                 whether the rounds are used up
    at_cap(turn)                  what happens to a turn with calls after the last round
    answers(turn)                 whether a turn ends the run
    calls_of(turn)                the calls of a turn that run, in order
    left_out(calls)               who is informed of the calls that do not
    path_order, path_of(call)     dispatch: the path on which a call runs
    permitted(called)             whether a call may run: at once, after a question, never
    tool_choice()                 the tool choice of the next inference
    events_before(called)         the events before an execution
    events_after(record)          the events after it: files, then `complete`
    file_round()                  the round that a file is attributed to
    never_made()                  the files that the request declared and no tool has written
    failure(called, error)        the result of a tool that raised
    forwards(turn)                what the client gets of a turn whose calls run here
    extend_history(turn, …)       the assistant's calls and the results
    splice(session)               a stored history merged with the request's messages
    saved(turn)                   the history to store at the end
    total_usage()                 the usage of the answer

Outside of the loop, these are replaced in the same way:

    Frames.end(answer)            the end of a stream (`api.frames`)
    Simulator.session_of(request) the session of a request (`serving`)
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import ClassVar

from looptck_reference.server import progress
from looptck_reference.server.dialects import ServerDialect
from looptck_reference.server.entry import CODE_TOOL, Offer
from looptck_reference.server.errors import Refused, ToolFailed
from looptck_reference.server.events import CallsPiece, Event, FileProduced, Phase, Progress, TextPiece, Warned
from looptck_reference.server.files import FILES_PER_RUN, Origin, missing_body, produced_body
from looptck_reference.server.sessions import Session, splice_by_id, splice_visible
from looptck_reference.server.steps import Fail, Finish, Step
from looptck_reference.server.usage import summed
from looptck_reference.server.values import Answer, Called, Message, Permission, Record, Result, RunRequest, ToolPath
from looptck_reference.vocabulary.values import Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import OPENAI_CHAT

__all__ = ["DEFAULT_ROUNDS", "LoopSeams", "error_result"]

DEFAULT_ROUNDS = 256
"""The cap if neither request nor server sets one."""
NOT_RUN = "Not run: only the first call of a turn is. Call it again if it is still needed."

log = logging.getLogger("looptck_reference.server")


class LoopSeams:
    """The state of one run, and each step that a variant may override."""

    path_order: ClassVar[Sequence[ToolPath]] = tuple(ToolPath)
    """The order of web search, code execution, callback and dispatch URL: the first path that knows the name runs the
    call."""

    def __init__(
        self,
        request: RunRequest,
        offer: Offer,
        dialect: ServerDialect,
        *,
        run_id: str,
        created: int,
        session: Session | None = None,
        session_id: str | None = None,
        server_rounds: int | None = None,
        permission: Permission = Permission.AUTO,
        declared: Sequence[str] = (),
        history_bytes: int = 64 * 1024 * 1024,
    ) -> None:
        self.request = request
        self.offer = offer
        self.dialect = dialect
        self.run_id = run_id
        self.created = created
        self.session_id = session_id
        self.cap = next((cap for cap in (request.max_tool_rounds, server_rounds) if cap is not None), DEFAULT_ROUNDS)
        self.permission = permission.and_also(request.permission)
        self.remembered = set(session.remembered) if session else set()
        self.declared = tuple(dict.fromkeys(declared))
        self.round = 0
        """The number of rounds that have run, which is also the 0-based number of the current round."""
        self.records: list[Record] = []
        self.files: list[FileProduced] = []
        self.warnings: list[Warned] = []
        self.shown: list[str] = []
        self.usages: list[Json] = []
        self.outbox: list[Event] = []
        """The events that the client has to get next."""
        self.room = history_bytes
        self.history = self.splice(session)

    def cap_reached(self) -> bool:
        """Whether the rounds are used up; after the last one the model is asked once more."""
        return self.round >= self.cap

    def at_cap(self, turn: Turn) -> Step:
        """The client gets the calls that did not run, or an error."""
        if self.dialect.cap == "error":
            message = f"the model wants another tool after {self.cap} rounds; raise max_tool_rounds if it needs them"
            return Fail(Refused(422, message, param="max_tool_rounds", code="max_tool_rounds"))
        return self.finish(turn, capped=True)

    def answers(self, turn: Turn) -> bool:
        """Whether a turn ends the run: it has no calls, the loop is not entered, or the turn was cut or refused."""
        return not (self.offer.entered and turn.calls) or turn.stop.truncated or turn.stop is Stop.REFUSAL

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        """Only the first call, or all of them."""
        return turn.calls if self.dialect.parallel == "all" else turn.calls[:1]

    def left_out(self, calls: Sequence[ToolCall]) -> None:
        """Log the calls, and inform the client if the history does not contain them."""
        message = f"Model returned {len(calls) + 1} tool calls; executing only the first."
        log.warning("%s", message, extra={"run_id": self.run_id})
        if self.dialect.unrun == "client":
            warning = Warned(self.round, message, tuple(calls))
            self.warnings.append(warning)
            self.emit([warning])

    def path_of(self, call: ToolCall) -> ToolPath | None:
        """The path on which a call runs; None if no path knows the name."""
        return next((path for path in self.path_order if self.offer.reaches(path, call.name)), None)

    def permitted(self, called: Called) -> Permission:
        """Whether a call may run; what the client has approved for the session is not asked again."""
        asked = self.permission is Permission.ASK and called.call.name in self.remembered
        return Permission.AUTO if asked else self.permission

    def tool_choice(self) -> object:
        """The request's choice holds for the first inference only; a forced choice would never end otherwise."""
        return self.request.tool_choice if self.round == 0 else "auto"

    def events_before(self, called: Called) -> Sequence[Event]:
        """The event before an execution: `calling`."""
        return [self._progress(called, "calling", progress.calling_data(called, self.dialect))]

    def events_after(self, record: Record) -> Sequence[Event]:
        """The events after an execution: the files of the call, then `complete`."""
        result = record.result
        data = progress.complete_data(record.called, result.content, result.data, self.dialect)
        return [*self.files_of(record), self._progress(record.called, "complete", data)]

    def file_round(self) -> int:
        """The round in which a file was made."""
        return self.round

    def never_made(self) -> list[FileProduced]:
        """An entry without content for each declared file that is missing after the last execution of code."""
        ran = [record for record in self.records if record.called.path is ToolPath.CODE]
        round_, number = (ran[-1].round, ran[-1].number) if ran else (max(self.round - 1, 0), -1)
        known = {one.file["name"] for one in self.files}
        events = []
        for name in (name for name in self.declared if name not in known):
            event = FileProduced(missing_body(self._origin(CODE_TOOL, round_), name, self.created), b"", number)
            self.files.append(event)
            events.append(event)
        return events

    def failure(self, called: Called, error: Exception) -> Result | Fail:
        """An error result for the model; a tool never ends the run."""
        if isinstance(error, ToolFailed):
            return error_result(called.call.name, str(error), error.status)
        return error_result(called.call.name, f"{type(error).__name__}: {error}")

    def forwards(self, turn: Turn) -> Sequence[Event]:
        """Nothing, or the text of the turn; never its calls, which are not the client's."""
        return [TextPiece(turn.text)] if turn.text and self.dialect.tool_turn_text == "shown" else []

    def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
        """The turn with its calls, and a message of role `tool` for each.

        A call that did not run has a result that says so, or is left out: a call without a result would be invalid.
        """
        contents = {record.called.call.id: record.result.content for record in ran}
        if self.dialect.unrun == "model":
            unrun = (call for call in turn.calls if call.id not in contents)
            contents |= {call.id: error_result(call.name, NOT_RUN, "not_run").content for call in unrun}
        calls = tuple(call for call in turn.calls if call.id in contents)
        text = "" if self.dialect.tool_turn_text == "shown" else turn.text
        echo = OPENAI_CHAT.echo(Turn(text, calls))
        results = OPENAI_CHAT.results([ToolResult(call.id, call.name, contents[call.id]) for call in calls])
        self.history += [Message(body, hidden=True) for body in (*echo, *results)]

    def splice(self, session: Session | None) -> list[Message]:
        """The request's history begins with the stored one, in the form that the dialect prescribes."""
        incoming = [Message(body) for body in self.request.messages]
        if session is None:
            return incoming
        together = splice_by_id if self.dialect.splice == "by-id" else splice_visible
        return together(session.messages, incoming)

    def saved(self, turn: Turn) -> Sequence[Message]:
        """The history with the calls and results that the client has not seen, and the last turn as it saw it."""
        if self.dialect.stores_answer == "no":
            return self.history
        text = "".join(self.shown)
        last = OPENAI_CHAT.echo(Turn(text, turn.calls)) if turn.calls else [{"role": "assistant", "content": text}]
        return [*self.history, *(Message(body) for body in last)]

    def total_usage(self) -> Json | None:
        """The sum over all inferences."""
        return summed(self.usages)

    # Helpers of the seams

    def files_of(self, record: Record) -> list[Event]:
        """The files of a call that a run may still produce, attributed to a round."""
        events: list[Event] = []
        for file in record.result.produced[: FILES_PER_RUN - len(self.files)]:
            origin = self._origin(record.called.call.name, self.file_round())
            event = FileProduced(produced_body(origin, file, self.created), file.data, record.number)
            self.files.append(event)
            events.append(event)
        return events

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        """End the run: the client gets the turn, and the session the history."""
        if turn.text:
            self.emit([TextPiece(turn.text)])
        if turn.calls:
            self.emit([CallsPiece(turn.calls)])
        self.emit(self.never_made())
        answer = Answer(
            run_id=self.run_id,
            model=self.request.model,
            created=self.created,
            text="".join(self.shown),
            stop=Stop.CALLS if turn.calls and not turn.stop.truncated else turn.stop,
            calls=turn.calls,
            usage=self.total_usage(),
            session_id=self.session_id,
            tool_calls=tuple(self._entry(record) for record in self.records) if self.offer.entered else None,
            files=tuple(event.file for event in self.files),
            warnings=tuple(warning.body for warning in self.warnings),
            capped=capped,
        )
        return Finish(answer, tuple(self.saved(turn)) if self.offer.entered else None)

    def emit(self, events: Sequence[Event]) -> None:
        """Queue events for the client, in this order."""
        self.shown += [event.text for event in events if isinstance(event, TextPiece)]
        self.outbox += events

    def _origin(self, tool: str, round_: int) -> Origin:
        index = sum(one.file["source"]["round"] == round_ for one in self.files)
        said = sum(message.body.get("role") == "user" for message in self.history)
        return Origin(self.run_id, tool, round_, index, max(said - 1, 0))

    def _entry(self, record: Record) -> Json:
        mine = (record.round, record.number)
        ids = [one.file["id"] for one in self.files if (one.file["source"]["round"], one.number) == mine]
        return progress.entry_of(record, ids, self.dialect)

    def _progress(self, called: Called, phase: Phase, data: Json) -> Progress:
        return Progress(self.round, called.call.name, phase, data)


def error_result(tool: str, message: str, status: str = "failed") -> Result:
    """The text for the model if a tool has given no result."""
    text = json.dumps({"error": message, "tool": tool, "status": status}, separators=(",", ":"))
    return Result(text)
