"""The server's agent loop as a state machine, without I/O.

The runner executes the step that the machine returns, and reports back:

    step        report
    ----------  ------------------------------------------
    Infer       model_answered(turn)
    AskClient   client_decided(decision)
    Execute     tool_ended(result), tool_raised(error)
    Finish      -
    Fail        -

After each report `drain_events()` returns the events for the client, which are sent before the step is executed. A
round is one inference and those of its calls that run; rounds count from 0. The steps that a variant may override are
in `seams`.
"""

from __future__ import annotations

import json
import secrets
from collections import deque
from dataclasses import replace

from looptck_reference.server.entry import tool_name
from looptck_reference.server.errors import Refused
from looptck_reference.server.events import ApprovalRequired, Event, FileProduced
from looptck_reference.server.seams import LoopSeams, error_result
from looptck_reference.server.steps import AskClient, Decision, Execute, Fail, Infer, Step
from looptck_reference.server.values import Called, Permission, Record, Result, ToolPath
from looptck_reference.vocabulary.values import Json, Turn

__all__ = ["ServerLoop"]

SOURCES = {
    ToolPath.WEB_SEARCH: "built_in",
    ToolPath.CODE: "built_in",
    ToolPath.CALLBACK: "user",
    ToolPath.DISPATCH: "external",
}
"""`tool.source` of an approval."""


class ServerLoop(LoopSeams):
    """One run of one request."""

    def start(self) -> Step:
        """Begin."""
        return self._infer()

    def model_answered(self, turn: Turn) -> Step:
        """The model replied with this turn."""
        self.usages.append(dict(turn.usage or {}))
        if self.answers(turn):
            return self.finish(turn)
        if self.cap_reached():
            return self.at_cap(turn)
        if self._is_clients(turn):
            return self.finish(turn)
        self._turn = turn
        self._ran: list[Record] = []
        calls = self.calls_of(turn)
        if unrun := [call for call in turn.calls if call not in calls]:
            self.left_out(unrun)
        self._waiting = deque(Called(call, self.path_of(call)) for call in calls)
        self.emit(self.forwards(turn))
        return self._next()

    def client_decided(self, decision: Decision) -> Step:
        """The client has decided about the next call."""
        called = self._waiting[0]
        if decision.approved:
            if decision.remember:
                self.remembered.add(called.call.name)
            return Execute(called)
        return self._ended(_denied(decision.message or "Agent action was denied."))

    def tool_ended(self, result: Result) -> Step:
        """The tool has run, with this result."""
        return self._ended(result)

    def tool_raised(self, error: Exception) -> Step:
        """The tool has raised this error."""
        became = self.failure(self._waiting[0], error)
        return became if isinstance(became, Fail) else self._ended(became)

    def drain_events(self) -> list[Event]:
        """Return the events that the client has to get now, and forget them."""
        events, self.outbox = self.outbox, []
        return events

    def _infer(self) -> Step:
        body: Json = {**self.request.options, "model": self.request.model}
        body["messages"] = [message.body for message in self.history]
        tools = self.offer.tools
        if self.offer.entered and self.cap == 0 and self.dialect.zero_rounds == "no-tools":
            tools = ()
        if tools:
            body["tools"] = list(tools)
            choice = self.tool_choice()
            if self.offer.entered and self.cap_reached() and self.dialect.cap == "force-final":
                choice = "none"
            if choice is not None:
                body["tool_choice"] = choice
        return Infer(body)

    def _is_clients(self, turn: Turn) -> bool:
        """Whether the first call, or with parallel calls any call, names a tool that only the client can run.

        Then all calls go to the client, so none is lost. A tool that was not offered is not the client's.
        """
        own = {tool_name(tool) for tool in self.request.tools}
        calls = turn.calls if self.dialect.parallel == "all" else turn.calls[:1]
        return any(self.path_of(call) is None and call.name in own for call in calls)

    def _next(self) -> Step:
        """The next call of the turn; after the last one, the round is over."""
        if not self._waiting:
            self.extend_history(self._turn, self._ran)
            self.round += 1
            return self._infer()
        called = self._waiting[0]
        self.emit(self.events_before(called))
        if called.path is None:
            name = called.call.name
            return self._ended(error_result(name, f"Tool `{name}` is not registered.", "not_found"))
        if isinstance(called.arguments, str) and self._wants_object(called.path):
            message = f"the arguments are not a JSON object: {called.arguments:.200}"
            return self._ended(error_result(called.call.name, message))
        permission = self.permitted(called)
        if permission is Permission.DENY:
            return self._ended(_denied(f"{called.call.name} was denied by policy."))
        return self._ask_client(called, called.path) if permission is Permission.ASK else Execute(called)

    def _wants_object(self, path: ToolPath) -> bool:
        """Whether arguments must be an object. Built-in tools report errors of their arguments themselves."""
        return path is ToolPath.CALLBACK or (path is ToolPath.DISPATCH and self.dialect.unparsed == "told")

    def _ask_client(self, called: Called, path: ToolPath) -> Step:
        tool: Json = {"source": SOURCES[path], "kind": path.value, "label": called.call.name}
        approval_id = f"appr_{secrets.token_hex(16)}"
        self.emit([ApprovalRequired(approval_id, self.session_id, self.round, tool, called.arguments)])
        return AskClient(approval_id, called)

    def _ended(self, result: Result) -> Step:
        record = Record(self.round, len(self._ran), self._waiting.popleft(), result)
        self.room -= len(result.content)
        if self.room < 0:
            return Fail(Refused(422, "the tool results of this run are larger than the server keeps", code="run_bytes"))
        events = self.events_after(record)
        self._ran.append(_with_files(record, [event.file for event in events if isinstance(event, FileProduced)]))
        self.records.append(record)
        self.emit(events)
        return self._next()


def _with_files(record: Record, files: list[Json]) -> Record:
    """The record with the files named after the result, so that the model knows of them, stored or not."""
    result = record.result
    if not result.produced:
        return record
    lines = [f"- {file['name']} ({file['id']}, {file['bytes']} bytes)" for file in files]
    lines += [f"- {file.name} was not kept: too many files" for file in result.produced[len(files) :]]
    return replace(record, result=replace(result, content="\n".join([result.content, "Files:", *lines])))


def _denied(message: str) -> Result:
    text = json.dumps({"status": "denied", "exception": message}, separators=(",", ":"))
    return Result(text, {"exception": message})
