"""The round: the calls of one turn, until each of them has a result."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from looptck_reference.loop.telling import Telling
from looptck_reference.vocabulary.actions import Action, Decide, End, Fail, Run, RunTools
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.approval import Change, Decision, Pending, Reject, names_of
from looptck_reference.vocabulary.errors import OutOfTurn
from looptck_reference.vocabulary.news import Called, News, Resulted
from looptck_reference.vocabulary.values import ToolCall, ToolResult

__all__ = ["Rounds"]

Step = Run | ToolResult | Fail
"""What a call leads to."""


class Rounds(Telling):
    """The part of a loop that runs the calls of a turn: in batches, and those that need approval last.

    A call goes by its place in the round, because several may share an id.
    """

    team: Mapping[str, Agent]
    """The agents to which the conversation can be handed over."""

    def __init__(self) -> None:
        self._calls: Sequence[ToolCall] = ()
        """The calls of the open round, if there is one."""
        self._results: dict[int, ToolResult] = {}
        self._waiting: deque[int] = deque()
        """The calls to run next."""
        self._held: list[int] = []
        """The calls to ask about once none is waiting."""
        self._asked: dict[str, int] = {}
        """The calls that someone decides about, by the names under which they are shown."""
        self._decisions: dict[int, Decision] = {}
        self._batch: list[tuple[int, Step]] = []
        self.news: deque[News] = deque()
        """What the caller has not been told so far."""

    def ask(self) -> Action:
        """Ask the model again."""
        raise NotImplementedError

    def close_round(self, results: Sequence[ToolResult]) -> Action:
        """All calls of the turn are answered: append the results, and ask again, with the model free to answer."""
        self.append_results(results)
        self.round_ends.append(len(self.history))
        self.agent = self.agent.after_a_round
        self.hand_over(results)
        return self.ask()

    def announce(self, calls: Sequence[ToolCall]) -> None:
        """The calls of a turn are meant to run: tell the caller, before any of them does."""
        self.news += map(Called, calls)

    def announce_result(self, result: ToolResult) -> None:
        """A call has its result: tell the caller."""
        self.news.append(Resulted(result))

    def hand_over(self, results: Sequence[ToolResult]) -> None:
        """Go on with another agent, if a call has handed over to one; the first such call of the turn counts."""
        handed = [tool for one in results if (tool := self.tools.get(one.name)) is not None and tool.kind == "handoff"]
        if handed:
            self.take_over(self.team[handed[0].options["agent"]])

    def take_over(self, agent: Agent) -> None:
        """From now on this agent speaks, with its own instructions and tools, in the same conversation."""
        self.agent = replace(agent, messages=self.agent.messages, inputs=self.agent.inputs)
        self.tools = agent.offered

    def repaired(self) -> Sequence[ToolResult]:
        """A result for each call of the open round: what was obtained, or that it did not run, or not to its end."""
        begun = {place for place, step in self._batch if isinstance(step, Run)}
        return [
            self._results.get(place) or self.unanswered(call, begun=place in begun)
            for place, call in enumerate(self._calls)
        ]

    def _open(self, calls: Sequence[ToolCall]) -> Action:
        """Begin with these calls of a turn."""
        self._calls = calls
        self.announce(calls)
        for place, call in enumerate(calls):
            (self._held if self.needs_approval(call) else self._waiting).append(place)
        return self._next()

    def _next(self) -> Action:
        """Run the next batch; after the last one, ask about the calls that need approval; then close the round."""
        self._batch = []
        while self._waiting:
            size = len(self._waiting) if self.dialect.parallel else 1
            places = [self._waiting.popleft() for _ in range(size)]
            steps = [(place, self._step(place)) for place in places]
            runs = tuple(step for _, step in steps if isinstance(step, Run))
            if runs and not any(isinstance(step, Fail) for _, step in steps):
                self._batch = steps
                return RunTools(runs)
            if failure := self._keep(steps):
                return failure
        if self._held:
            return self._ask_about_held()
        results = [self._results[place] for place in range(len(self._calls))]
        self._calls, self._results, self._decisions = (), {}, {}
        return self.close_round(results)

    def _ask_about_held(self) -> Action:
        """Ask about the calls that need approval and can be run; nobody has to decide about the others."""
        steps = [(place, self._step(place)) for place in self._held]
        self._held = []
        if failure := self._keep(steps):
            return failure
        self._asked = names_of(self._calls, (place for place, step in steps if isinstance(step, Run)))
        return Decide(self._pending()) if self._asked else self._next()

    def _pending(self) -> tuple[Pending, ...]:
        return tuple(
            Pending(id, self.own_name(self._calls[place]), self.parse_arguments(self._calls[place].arguments))
            for id, place in self._asked.items()
        )

    def _decide(self, decisions: Mapping[str, Decision]) -> None:
        if missing := sorted(self._asked.keys() - decisions.keys()):
            raise OutOfTurn(f"there is no decision about {', '.join(missing)}")
        for id, place in self._asked.items():
            self._decisions[place] = decisions[id]
            self._waiting.append(place)
        self._asked = {}

    def _step(self, place: int) -> Step:
        """What the call at this place leads to, with the decision about it, if there was one."""
        call = self._calls[place]
        match self._decisions.get(place):
            case Reject(feedback):
                return self.rejected(call, feedback)
            case Change(parameters):
                call = self.changed(call, parameters)
        return self.prepare(call)

    def _done(self, ends: Sequence[End | None]) -> list[tuple[int, Step]]:
        """The batch with the results of the tools that have ended; the others are still to run."""
        left = iter(ends)
        done: list[tuple[int, Step]] = []
        for place, step in self._batch:
            end = next(left, None) if isinstance(step, Run) else None
            done.append((place, self.result(step.call, end) if isinstance(step, Run) and end is not None else step))
        return done

    def _keep(self, done: Sequence[tuple[int, Step]]) -> Fail | None:
        """Keep the results among these; the first failure, if there is one."""
        failures = []
        for place, step in done:
            if isinstance(step, ToolResult):
                self._results[place] = step
            elif isinstance(step, Fail):
                self._results[place] = self.failing(self._calls[place], step)
                failures.append(step)
            else:
                continue
            self.announce_result(self._results[place])
        return failures[0] if failures else None

    def _unanswered(self) -> list[int]:
        return [place for place in range(len(self._calls)) if place not in self._results]
