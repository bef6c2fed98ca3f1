"""Any conversation: whatever has happened in it, the next question is accepted, and nothing runs or is said twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from hypothesis import strategies as st

from looptck.bench.bench import Running
from looptck.bench.checks import Implementation, lengthy, requirement
from looptck.bench.oracle import Ran
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.drivers import Started
from looptck.provider.confirmation import Approve, Reject
from looptck.provider.faults import Cut, HttpError
from looptck.provider.gate import Gate
from looptck.provider.gates import cancelled_run_ended
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Raises, Returns
from looptck.spec.cancelling import cancelled_at
from looptck.spec.conversing import accepted, answer, carried, guarded, question
from looptck.spec.obeying import obeying
from looptck.values.cell import Cell
from looptck.values.history import parsed, spelled
from looptck.values.jsontext import canonical
from looptck.values.outcome import Value
from looptck.values.plain import plain
from looptck.values.turns import Call, calls, says

LONGEST = 5
"""The most runs before the last question."""
LIMIT = 3
FORGOTTEN = "not asked for"


@dataclass(slots=True)
class Story:
    """A conversation in progress: what has to be carried, and what may have run."""

    talk: Talk
    scenario: Scenario
    confirms: bool
    said: list[tuple[str, str]] = field(default_factory=list)
    """The question and the answer of each run that has returned one."""
    asked: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    @property
    def n(self) -> int:
        return len(self.asked) + 1

    @property
    def weather(self) -> Call:
        """A call that no other run has."""
        return Call.of("weather", {"city": f"city {self.n}"})

    def note(self, words: str) -> Call:
        """A call that needs approval, if the loop can ask for it."""
        return Call.of("note", {"text": f"{words} {self.n}"})

    def begin(self, *steps: Any) -> Running:
        """Begin a run with the next question, which the service answers so; then there is nothing."""
        self.scenario.plays(*steps, *[says(FORGOTTEN)] * 2)
        words = f"What is number {self.n}?"
        self.asked.append(words)
        how: dict[str, Any] = {"tools": guarded("note"), "confirms": True} if self.confirms else {}
        return self.talk.begin(words, limit=LIMIT, **how)

    def end(self, running: Running, said: str = "") -> None:
        """The run is over; ``said``: the answer that it may return."""
        run = self.talk.implementation.end(running)
        self.runs.append(run)
        if said and isinstance(run.outcome, Value) and (run.outcome.text or "").strip() == said:
            self.said.append((self.asked[-1], said))

    @property
    def answer(self) -> str:
        return f"It is answer {self.n}."


def _answers(story: Story) -> None:
    said = story.answer
    story.end(story.begin(says(said)), said)


def _uses_tools(story: Story) -> None:
    said = story.answer
    story.end(story.begin(calls(story.weather, story.note("yes")), says(said)), said)


def _is_rejected(story: Story) -> None:
    said = story.answer
    story.end(story.begin(calls(story.note("no"), story.weather), says(said)), said)


def _raises(story: Story) -> None:
    said = story.answer
    story.scenario.does("weather", Raises("the station is closed"))
    story.end(story.begin(calls(story.weather), says(said)), said)


def _is_refused(story: Story) -> None:
    story.end(story.begin(calls(story.weather), HttpError(400)))


def _is_truncated(story: Story) -> None:
    story.end(story.begin(calls(story.weather, Call("note", '{"text": "ye'), stop="length")))


def _breaks_off(story: Story) -> None:
    story.end(story.begin(*[Step(says(story.answer), fault=Cut(0.6))] * 9))


def _never_ends(story: Story) -> None:
    city, said, rounds = story.n, story.answer, count()
    turn = obeying(lambda: calls(Call.of("weather", {"city": f"city {city} {next(rounds)}"})), said)
    story.end(story.begin(*[Step(None, by=turn)] * (LIMIT + 2)), said)


def _cancelled(story: Story, gate: Gate, *steps: Any) -> None:
    """Cancel the run when it waits at the gate."""
    story.runs.append(cancelled_at(gate, story.talk.implementation, story.begin(*steps)))


def _cancelled_at_once(story: Story) -> None:
    gate = cancelled_run_ended()
    _cancelled(story, gate, Step(says("Too late."), before=gate))


def _cancelled_in_text(story: Story) -> None:
    gate = cancelled_run_ended()
    _cancelled(story, gate, Step(says("It is too late."), holds=(Hold(gate, "It is"),)))


def _cancelled_behind_a_call(story: Story) -> None:
    gate = cancelled_run_ended()
    _cancelled(story, gate, Step(calls(story.weather), holds=(Hold(gate, None),)))


def _cancelled_in_a_tool(story: Story) -> None:
    gate = cancelled_run_ended(of_a_tool=True)
    story.scenario.does("weather", Returns("fine", hold=gate))
    _cancelled(story, gate, calls(story.weather, story.note("yes")))


def _cancelled_behind_tools(story: Story) -> None:
    gate = cancelled_run_ended()
    _cancelled(story, gate, calls(story.weather, story.note("yes")), Step(says("Too late."), before=gate))


Act = Callable[[Story], None]
ACTS: dict[str, Act] = {
    "answers": _answers,
    "uses tools": _uses_tools,
    "raises": _raises,
    "is refused": _is_refused,
    "is truncated": _is_truncated,
}


def _acts(started: Started, cell: Cell) -> dict[str, Act]:
    """What may happen in a run of this implementation in this cell."""
    acts = dict(ACTS)
    if started.can("confirm"):
        acts["is rejected"] = _is_rejected
    if started.can("limit"):
        acts["never ends"] = _never_ends
    if cell.stream:
        acts["breaks off"] = _breaks_off
    if started.can("cancel") and (cell.mode == "async" or started.can("interrupt")):
        acts["is cancelled at once"] = _cancelled_at_once
        acts["is cancelled in a tool"] = _cancelled_in_a_tool
        acts["is cancelled behind tools"] = _cancelled_behind_tools
        if cell.stream:
            acts["is cancelled in its text"] = _cancelled_in_text
            acts["is cancelled behind a call"] = _cancelled_behind_a_call
    return acts


@requirement("any-conversation-goes-on")
@lengthy
def test_any_conversation(scenario: Scenario, implementation: Implementation) -> None:
    """Runs that end in any way follow each other; the next question is accepted, and carries the answers so far."""
    acts = _acts(implementation.started, implementation.cell)
    first = {"happens": ["uses tools", "is refused", "answers"]}

    @implementation.every(st.lists(st.sampled_from(sorted(acts)), min_size=1, max_size=LONGEST), first=first)
    def holds(happens: list[str]) -> None:
        scenario.decides_by = lambda call: Reject("No.") if '"no ' in str(call).replace("'", '"') else Approve()
        story = Story(Talk(implementation), scenario, confirms=implementation.started.can("confirm"))
        for act in happens:
            scenario.behaviours.clear()
            acts[act](story)
        scenario.behaviours.clear()
        _answers(story)
        run = story.runs[-1]

        for one in story.runs:
            for received in one.received:
                accepted(received)
        answered = [asked for asked, _ in story.said]
        assert story.asked[-1] in answered, f"the last question was not answered: the loop {run.outcome}"
        pieces = [piece for asked, said in story.said[:-1] for piece in (question(asked), answer(said))]
        carried(run.request(1).request.items, [*pieces, question(story.asked[-1])])
        _nothing_twice(story)


def _words(ran: Ran) -> str:
    return str((ran.tool, ran.arguments))


def _times(ran: Ran, asked: Sequence[Call]) -> int:
    """How many of these calls may be the one that ran; what a loop makes of arguments that are cut is not known."""
    wanted = canonical(ran.arguments)
    return sum(call.tool == ran.tool and (_is_cut(call) or spelled(call.arguments) == wanted) for call in asked)


def _is_cut(call: Call) -> bool:
    """Whether its arguments are no JSON."""
    try:
        parsed(call.arguments)
    except ValueError:
        return True
    return False


def _nothing_twice(story: Story) -> None:
    """No call has run twice or although it was rejected, and no question is carried twice."""
    ran = [str(one) for run in story.runs for one in run.tools_ran]
    asked = [call for run in story.runs for turn in run.turns.values() for call in turn.calls]
    twice = [one for run in story.runs for one in run.ran if ran.count(_words(one)) > max(1, _times(one, asked))]
    assert not twice, f"a call has run twice: {twice[0].tool}({plain(twice[0].arguments)})"
    unapproved = [one for run in story.runs for one in run.ran if "'no " in _words(one)]
    assert not unapproved or not story.confirms, (
        f"a rejected call has run: {unapproved[0].tool}({plain(unapproved[0].arguments)})"
    )
    items = story.runs[-1].request(1).request.items
    for words in story.asked:
        times = sum(question(words).times_in(item) for item in items)
        assert 1 >= times, f"the request carries the question {words!r} {times} times"
