"""What happened in a run: its requests, replies, tool runs and outcome, in the words of a check.

A question about an event that did not happen raises NotReached, so that a check cannot pass by accident.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Self, TypeVar

from looptck.bench.client import Reply
from looptck.bench.oracle import Ran
from looptck.provider.script import RUNAWAY_CAP
from looptck.values.cell import Cell
from looptck.values.frozen import dataclass
from looptck.values.history import spelled
from looptck.values.jsontext import canonical, plain
from looptck.values.outcome import Failed, Nothing, Outcome, Suspended, Value
from looptck.values.plain import Listed, amount
from looptck.values.program import ProgramRun
from looptck.values.spans import Spans
from looptck.values.transcript import (
    TOO_MUCH,
    Chunk,
    ConfirmAnswered,
    ConfirmAsked,
    Ended,
    GaveUp,
    LostSpans,
    Received,
    Replied,
    Spanned,
    Told,
    ToolBegan,
    ToolEnded,
    Transcript,
    UnroutedRequest,
)
from looptck.values.turns import Turn
from looptck.values.verdicts import NotApplicable, NotReached

Found = TypeVar("Found")


@dataclass(slots=True)
class Question:
    """A call that the confirmation hook asked about, and its answer (None: none yet)."""

    call: Mapping[str, Any]
    """As the model wrote it."""
    asked: float
    decision: Mapping[str, Any] | None = None
    decided: float | None = None


@dataclass(slots=True, repr=False)
class Observed:
    """A run that has ended: its script, transcript and outcome."""

    id: str
    cell: Cell
    prompt: tuple[tuple[str, str], ...]
    turns: dict[int, Turn]
    """The turns that were played, by the number of the request."""
    transcript: Transcript
    outcome: Outcome
    offered: Sequence[str] = field(default_factory=tuple)
    """The names of the tools that the case offered."""
    pruned: bool = False
    """Whether its requests may carry something other than the whole history."""
    limit: int | None = None
    """The limit that the case sets; None: the loop has its own."""
    reply: Reply | None = None
    """The reply of a server; None: the implementation is not a server."""
    scripted: Sequence[Turn] | None = None
    """The script of a model file, whose requests looptck cannot see; None: looptck is the model."""
    nested: bool = False
    """Whether some of its requests may come from other agents, which run as tools."""
    log: str | None = None
    """The end of what the process of a server wrote during the run; None: that is not known."""
    program: ProgramRun | None = None
    """What only a whole program shows; None: the implementation is none."""
    _found: dict[str, tuple[int, Any]] = field(default_factory=dict, repr=False, compare=False)
    """What was looked for in the whole run, by its name, with the number of the events at that time."""

    def __repr__(self) -> str:
        """Short, since pytest asks for it where an assertion about a run fails."""
        return f"Run({self.id!r})"

    def once(self, name: str, find: Callable[[Self], Found]) -> Found:
        """What ``find`` finds in this run; it is asked again only if there has been another event."""
        events = len(self.transcript.events)
        known = self._found.get(name)
        if known is None or known[0] != events:
            known = self._found[name] = events, find(self)
        found: Found = known[1]
        return found

    @property
    def requests(self) -> list[Received]:
        """The model requests, in order. Raises NotApplicable if looptck cannot see them."""
        if self.scripted is not None:
            raise NotApplicable("the server's model is a file, so its requests cannot be seen")
        return self.received

    @property
    def received(self) -> list[Received]:
        """The model requests that looptck received, in order."""
        return [*self.once("received", _received)]

    def request(self, n: int) -> Received:
        """The ``n``-th model request, from 1. Raises NotReached if there was none, or one whose body is no object."""
        found = self._came(n)
        if not isinstance(found.body, dict):
            raise NotReached(f"request {n} has no JSON object in its body{self._refusal()}")
        return found

    def _came(self, n: int) -> Received:
        """The ``n``-th model request, whatever its body is. Raises NotReached if there was none."""
        requests = self.requests
        if len(requests) < n:
            made = amount(len(requests), "model request")
            raise NotReached(f"request {n} never came: the loop made {made} and {self.outcome}{self._refusal()}")
        return requests[n - 1]

    def replied(self, n: int) -> Replied:
        """The reply to request ``n``, as far as the loop read it. Raises NotReached if there was none."""
        self._came(n)
        for event in self.transcript.events:
            if isinstance(event, Replied) and event.n == n:
                return event
        raise NotReached(f"request {n} was never answered; the loop {self.outcome}")

    def delivered(self, n: int) -> Turn:
        """The turn that answered request ``n``. Raises NotReached if the provider answered with something else."""
        if self.scripted is not None:
            return self._shown(self.scripted, n)
        reply = self.replied(n)
        if n not in self.turns:
            raise NotReached(f"request {n} was answered with {reply.what}, not with its turn{self._refusal()}")
        return self.turns[n]

    def _shown(self, script: Sequence[Turn], n: int) -> Turn:
        """Turn ``n`` of a model file: an effect of it, or of a later turn, shows that the model produced it."""
        if not any(self._shows(turn, script[:at]) for at, turn in enumerate(script) if at >= n - 1):
            raise NotReached(
                f"no sign that the model produced turn {n}: its call did not run, and no reply contains it"
            )
        return script[n - 1]

    def _shows(self, turn: Turn, before: Sequence[Turn]) -> bool:
        """Whether the run shows more effects of a turn than the turns before it can explain."""
        try:
            answer = self.got.turn
        except NotReached:
            answer = Turn()
        for call in turn.calls[:1]:
            handed = [(one.tool, spelled(one.arguments)) for one in answer.calls]
            ran = [(one.tool, canonical(one.arguments)) for one in self.ran]
            wanted = call.tool, spelled(call.arguments)
            if sum(one.calls[:1] == (call,) for one in before) < [*handed, *ran].count(wanted):
                return True
        text = turn.text or ""
        return bool(text) and sum((one.text or "").count(text) for one in before) < (answer.text or "").count(text)

    @property
    def got(self) -> Reply:
        """The reply of a server, complete or with its error. Raises NotReached if no reply has begun."""
        if self.reply is None or not (self.reply.status or self.reply.broken):
            raise NotReached(f"no reply has begun; the request {self.outcome}")
        return self.reply

    @property
    def ran(self) -> list[Ran]:
        """The tool runs, in the order in which they began."""
        runs: dict[int, Ran] = {}
        for event in self.transcript.events:
            if isinstance(event, ToolBegan):
                runs[event.run] = Ran(event.tool, event.arguments, began=event.at, by_kind=event.by_kind)
            elif isinstance(event, ToolEnded):
                runs[event.run].answer = event.answer
                runs[event.run].ended = event.at
        return [runs[number] for number in sorted(runs)]

    @property
    def tools_ran(self) -> list[tuple[str, object]]:
        """Names and arguments of the tool runs, in the order in which they began."""
        return Listed((run.tool, run.arguments) for run in self.ran)

    def arguments_of(self, tool: str) -> list[Any]:
        """The arguments of the runs of a tool, in the order in which they began."""
        return [run.arguments for run in self.ran if run.tool == tool]

    def ran_of(self, tool: str, n: int = 1) -> Ran:
        """The ``n``-th run of a tool, from 1, with the times of its beginning and end. NotReached if there was none."""
        runs = [run for run in self.ran if run.tool == tool]
        if len(runs) < n:
            raise NotReached(f"run {n} of tool {tool} never began; the loop {self.outcome}{self._refusal()}")
        return runs[n - 1]

    def tool_began(self, tool: str, n: int = 1) -> float:
        """When the ``n``-th run of a tool began, as the events' ``at``. Raises NotReached if there was none."""
        return self.ran_of(tool, n).began

    def tool_ended(self, tool: str, n: int = 1) -> float:
        """When the ``n``-th run of a tool ended. Raises NotReached if there was none, or it did not end."""
        at = self.ran_of(tool, n).ended
        if at is None:
            raise NotReached(f"run {n} of tool {tool} never ended; the loop {self.outcome}")
        return at

    @property
    def after_the_end(self) -> list[str]:
        """The tool runs and requests that began after the outcome, as text."""
        events = self.transcript.events
        ended = next((place for place, event in enumerate(events) if isinstance(event, Ended)), len(events))
        return [
            f"tool {event.tool} began" if isinstance(event, ToolBegan) else f"request {event.n} came"
            for event in events[ended:]
            if isinstance(event, ToolBegan | Received)
        ]

    @property
    def questions(self) -> list[Question]:
        """The questions of the confirmation hook, in order."""
        questions: dict[int, Question] = {}
        for event in self.transcript.events:
            if isinstance(event, ConfirmAsked):
                questions[event.question] = Question(event.call, event.at)
            elif isinstance(event, ConfirmAnswered):
                questions[event.question].decision = event.decision
                questions[event.question].decided = event.at
        return [questions[number] for number in sorted(questions)]

    @property
    def rounds(self) -> list[list[tuple[str, object]]]:
        """The tool runs, sorted within each turn: a loop may run the calls of a turn in parallel."""
        rounds: list[list[tuple[str, object]]] = []
        for event in self.transcript.events:
            if isinstance(event, Received):
                rounds.append([])
            elif isinstance(event, ToolBegan):
                rounds[-1].append((event.tool, plain(event.arguments)))
        return [sorted(one, key=canonical) for one in rounds if one]

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks that the caller received."""
        return [event for event in self.transcript.events if isinstance(event, Chunk)]

    @property
    def told(self) -> list[Mapping[str, Any]]:
        """The events that the caller was told, as the driver has sent them."""
        return [event.event for event in self.transcript.events if isinstance(event, Told)]

    @property
    def gave_up(self) -> list[str]:
        """The gates that were not opened in time."""
        return [event.gate for event in self.transcript.events if isinstance(event, GaveUp)]

    @property
    def spans(self) -> Spans:
        """The spans of the run that looptck received."""
        return Spans([event.span for event in self.transcript.events if isinstance(event, Spanned)])

    @property
    def lost_spans(self) -> list[str]:
        """The exports during the run that belong to no run, as text."""
        return [event.why for event in self.transcript.events if isinstance(event, LostSpans)]

    @property
    def value(self) -> Value:
        """The value that the loop returned. Raises NotReached if it returned none."""
        if not isinstance(self.outcome, Value):
            raise NotReached(f"the loop returned nothing: it {self.outcome}{self._refusal()}")
        return self.outcome

    @property
    def output(self) -> Any:
        """The JSON value that the loop returned; None if it returned none. Raises NotReached if it did not return."""
        return self.value.output

    @property
    def ending(self) -> tuple[str, str | None, Any]:
        """The outcome, without anything that differs between two equal runs."""
        text, output = (self.value.text, self.output) if isinstance(self.outcome, Value) else (None, None)
        words = {Value: "a value", Failed: "an error", Suspended: "a suspension", Nothing: "no outcome"}
        return words[type(self.outcome)], text, output

    def is_endless(self, most: int = RUNAWAY_CAP) -> bool:
        """Whether looptck has ended the conversation: by the number of requests or by their bytes."""
        events = self.transcript.events
        over = any(isinstance(event, UnroutedRequest) and TOO_MUCH in event.why for event in events)
        return over or len(self.requests) >= most

    @property
    def failed(self) -> bool:
        """Whether the loop ended in an error."""
        return isinstance(self.outcome, Failed)

    @property
    def ended(self) -> bool:
        """Whether there is an outcome at all."""
        return not isinstance(self.outcome, Nothing)

    @property
    def returned(self) -> bool:
        """Whether the caller got the outcome: an error that escapes is an outcome before the loop has returned any."""
        return self.ended and not (isinstance(self.outcome, Failed) and self.outcome.escaped)

    def _refusal(self) -> str:
        """The words for the first refusal of the run; empty if there was none.

        Raises:
            NotApplicable: it is one that only a loop for models that reason has to avoid, and another row is about it.
        """
        for received in self.received:
            if received.problems:
                problem = received.problems[0]
                if problem.unasked:
                    raise NotApplicable(f"request {received.n} had reasoning whose content no request had asked for")
                return f" (request {received.n} had been refused: {problem.rule} at {problem.pointer})"
        return ""


def _received(run: Observed) -> Sequence[Received]:
    return [event for event in run.transcript.events if isinstance(event, Received)]
