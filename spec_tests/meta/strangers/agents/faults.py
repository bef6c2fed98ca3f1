"""Loops with several agents that get something wrong: one fault each, as they are reported of real loops."""

# mypy: disable-error-code="has-type, import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from team import Driver, Json, Team, TooMany

# -- handoffs


class Unanswered(Driver):
    """The call that hands over has no result."""

    class team(Team):
        def round(self, history: list[Json], calls: list[Json]) -> None:
            ids = {call["id"] for call in calls if self.target(call)}
            super().round(history, calls)
            history[:] = [one for one in history if one.get("tool_call_id") not in ids]


class AnsweredTwice(Driver):
    """The call that hands over has a second result, written by the new agent."""

    class team(Team):
        def hand_over(self, target: str, history: list[Json]) -> None:
            super().hand_over(target, history)
            history.append({**history[-1], "content": f"Handed over to {target}."})


class OldInstructions(Driver):
    """The system prompt is that of the first agent for the whole conversation."""

    class team(Team):
        def system(self, name: str) -> list[Json]:
            return super().system(self.case["agents"][0]["name"] if name == self.active else name)


class OldTools(Driver):
    """The tools are those of the first agent for the whole conversation."""

    class team(Team):
        def offers(self, name: str) -> list[Json]:
            return super().offers(self.case["agents"][0]["name"] if name == self.active else name)


class FirstRegistry(Driver):
    """Calls are looked up among the tools of the first agent for the whole conversation."""

    class team(Team):
        def ran(self, name: str, call: Json) -> str:
            return super().ran(self.case["agents"][0]["name"] if name == self.active else name, call)


class AllTools(Driver):
    """The new agent also has the tools of those before it."""

    class team(Team):
        seen: list[str]

        def hand_over(self, target: str, history: list[Json]) -> None:
            self.seen = [*getattr(self, "seen", []), self.active]
            super().hand_over(target, history)

        def offers(self, name: str) -> list[Json]:
            tools = list(Team.offers(self, name))
            for earlier in getattr(self, "seen", []):
                tools += [one for one in Team.offers(self, earlier) if one not in tools]
            return tools


class LostQuestion(Driver):
    """The new agent gets a note in place of the conversation."""

    class team(Team):
        def hand_over(self, target: str, history: list[Json]) -> None:
            super().hand_over(target, history)
            history[:] = [{"role": "user", "content": f"{target}, please take over."}]


class OneOfTwo(Driver):
    """What stands behind a handoff in its turn is neither run nor answered."""

    class team(Team):
        def round(self, history: list[Json], calls: list[Json]) -> None:
            first = next((at for at, call in enumerate(calls) if self.target(call)), len(calls))
            super().round(history, calls[: first + 1] if first < len(calls) else calls)


class OthersLost(Driver):
    """A handoff wipes out the calls beside it, which nobody hears of."""

    class team(Team):
        def round(self, history: list[Json], calls: list[Json]) -> None:
            handed = [call for call in calls if self.target(call)][:1]
            if handed:
                history[-1] = {**history[-1], "tool_calls": handed}
            super().round(history, handed or calls)


class LastCallDecides(Driver):
    """A later call of the turn overwrites a handoff, whose result says that it took place."""

    class team(Team):
        def round(self, history: list[Json], calls: list[Json]) -> None:
            before = self.active
            super().round(history, calls)
            if self.target(calls[-1]) is None:
                self.active = before


class NoAnswer(Driver):
    """The run ends with the handoff, and its caller gets an empty answer."""

    class team(Team):
        def talk(self, history: list[Json]) -> str:
            first = self.active
            while True:
                turn = self.ask(self.active, history)
                history.append(turn)
                if "tool_calls" not in turn:
                    return turn["content"] or ""
                self.round(history, turn["tool_calls"])
                if self.active != first:
                    return turn["content"] or ""


class FirstAnswers(Driver):
    """The first agent is asked once more, and its words are the answer."""

    class team(Team):
        def talk(self, history: list[Json]) -> str:
            first = self.active
            text = super().talk(history)
            if self.active == first:
                return text
            self.active = first
            return super().talk(history)


class NoWayBack(Driver):
    """Handing back to the first agent is answered, and changes nothing."""

    class team(Team):
        def hand_over(self, target: str, history: list[Json]) -> None:
            if target != self.case["agents"][0]["name"]:
                super().hand_over(target, history)


class CountsAnew(Driver):
    """Each handoff begins to count anew, so two agents go on for ever."""

    class team(Team):
        def hand_over(self, target: str, history: list[Json]) -> None:
            super().hand_over(target, history)
            self.asked = 0


class Nowhere(Driver):
    """A handoff to an agent that there is not ends the run with an empty answer."""

    class team(Team):
        def round(self, history: list[Json], calls: list[Json]) -> None:
            if any(self.target(call) not in {None, *self.members} for call in calls):
                raise GeneratorExit
            super().round(history, calls)

        def talk(self, history: list[Json]) -> str:
            try:
                return super().talk(history)
            except GeneratorExit:
                return ""


class ForgetsResults(Driver):
    """What is kept of a conversation has calls and no results."""

    def after(self, team: Team, history: list[Json]) -> tuple[str, list[Json]]:
        return team.active, [one for one in history if one["role"] != "tool"]


# -- agents as tools


class Object(Driver):
    """The result is the object that has the answer."""

    class team(Team):
        def answered(self, name: str, history: list[Json]) -> str:
            return repr(object())


class FirstWords(Driver):
    """The result is the first turn of the sub-agent."""

    class team(Team):
        def answered(self, name: str, history: list[Json]) -> str:
            return next(one["content"] for one in history if one["role"] == "assistant") or ""


class WordsBesideACall(Driver):
    """The result is the first text of the sub-agent, also one beside a call."""

    class team(Team):
        def answered(self, name: str, history: list[Json]) -> str:
            return next(one["content"] for one in history if one["role"] == "assistant" and one["content"])


class DoneAtItsLimit(Driver):
    """A sub-agent that is stopped at its limit is done."""

    class team(Team):
        def consult(self, name: str, request: str) -> str:
            asked, self.asked = self.asked, 0
            try:
                return super().consult(name, request)
            except TooMany:
                return "Done."
            finally:
                self.asked = asked


class OneHistory(Driver):
    """What a sub-agent is asked and says is written into the conversation of the outer agent too."""

    class team(Team):
        outer: list[Json]

        def talk(self, history: list[Json]) -> str:
            self.outer = history
            return super().talk(history)

        def consult(self, name: str, request: str) -> str:
            told = super().consult(name, request)
            self.later = [{"role": "user", "content": request}, {"role": "assistant", "content": told}]
            return told

        def ask(self, name: str, history: list[Json]) -> Json:
            if history is self.outer:
                history += getattr(self, "later", [])
                self.later = []
            return super().ask(name, history)


class EarlierRounds(Driver):
    """A sub-agent is sent the calls and results that the outer agent has had before."""

    class team(Team):
        def round(self, history: list[Json], calls: list[Json]) -> None:
            self.earlier = [one for one in history[:-1] if one.get("tool_calls") or one["role"] == "tool"]
            super().round(history, calls)

        def ask(self, name: str, history: list[Json]) -> Json:
            return super().ask(name, history if name == self.active else [*self.earlier, *history])


class OuterInstructions(Driver):
    """A sub-agent has the system prompt of the agent that calls it."""

    class team(Team):
        def system(self, name: str) -> list[Json]:
            return super().system(self.active)


class InputLost(Driver):
    """A sub-agent gets the question of the user, and not what it is asked."""

    class team(Team):
        def beginning(self, name: str, request: str) -> list[Json]:
            return [{"role": "user", "content": self.case["messages"][-1]["content"]}]


class ToolsOfAll(Driver):
    """The outer agent is offered the tools of its sub-agents."""

    class team(Team):
        def offers(self, name: str) -> list[Json]:
            below = [tool for one in self.members[name]["subagents"] for tool in self.members[one]["tools"]]
            return [*super().offers(name), *(self.offer(self.tools[tool]) for tool in below)]


class OuterRegistry(Driver):
    """The calls of a sub-agent are looked up among the tools of the outer one."""

    class team(Team):
        def ran(self, name: str, call: Json) -> str:
            return super().ran(self.active, call)


class Swallows(Driver):
    """The failure of a sub-agent is an empty result."""

    class team(Team):
        def failure(self, problem: Exception) -> str:
            return "" if isinstance(problem, OSError) else super().failure(problem)


class Shared(Driver):
    """A sub-agent has one list of messages, which the second call empties while the first one runs."""

    class team(Team):
        def __init__(self, case: Any) -> None:
            super().__init__(case)
            self.histories: dict[str, list[Json]] = {}

        def beginning(self, name: str, request: str) -> list[Json]:
            history = self.histories.setdefault(name, [])
            history[:] = super().beginning(name, request)
            return history


class LastForAll(Driver):
    """The answer of the last sub-agent is the result of each."""

    class team(Team):
        last = ""

        def consult(self, name: str, request: str) -> str:
            self.last = super().consult(name, request)
            return self.last

        def round(self, history: list[Json], calls: list[Json]) -> None:
            ids = {call["id"] for call in calls if self.called(call)}
            super().round(history, calls)
            for one in history:
                if one.get("tool_call_id") in ids:
                    one["content"] = self.last


class Boundless(Driver):
    """Nothing bounds a sub-agent."""

    class team(Team):
        def count(self) -> None:
            self.asked += self.within is None
            if self.asked > self.limit:
                raise TooMany("the limit is reached")

        within: str | None = None

        def consult(self, name: str, request: str) -> str:
            self.within = name
            try:
                return super().consult(name, request)
            finally:
                self.within = None
