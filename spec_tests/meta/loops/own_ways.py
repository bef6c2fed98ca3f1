"""Loops that are correct but work differently, each with several ways of its own at once."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from looptck.driver import suspended
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import Json, ToolResult
from meta.loops.own_ids import FreshTwins, Prefixing, Renaming
from meta.loops.own_requests import AsksForATitle, CallsLast, OffersWithPrefix, Referring, Talkative
from meta.loops.own_values import Escaping, JavaScript, SaysAroundResults, Validating, WrapsResults


class AnswersAsTheyEnd(Driver):
    """Sends the results of a turn in the order in which its tools end: backwards in every second turn."""

    class loop(Loop):  # noqa: N801
        turns = itertools.count()

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[::-1] if next(self.turns) % 2 else results)


class AsksOneAtATime(Driver):
    """Suspends a run for one call at a time, until all that wait are decided."""

    def run(self, case: Json, emit: OnText) -> Json:
        """Run a case, or hand out the next call that waits."""
        if "resume" not in case:
            return _first_of(super().run(case, emit))
        state, decisions = case["resume"]["state"], case["resume"]["decisions"]
        held = {**state, "decisions": [*state["decisions"], *decisions]}
        if held["calls"]:
            return {**suspended({**held, "calls": held["calls"][1:]}, held["calls"][:1])}
        resume = {"state": held["state"], "decisions": held["decisions"]}
        return _first_of(super().run({**case, "resume": resume}, emit))


def _first_of(outcome: Json) -> Json:
    if outcome["kind"] != "suspended":
        return outcome
    first, *others = outcome["calls"]
    return {**suspended({"state": outcome["state"], "calls": others, "decisions": []}, [first])}


def together(name: str, *ways: type[Driver]) -> type[Driver]:
    """A driver of this module that has several ways at once; of its loops, each step goes through all."""
    loops = tuple(way.loop for way in ways if way.loop is not Driver.loop)
    own = {"loop": type("loop", loops, {})} if len(loops) > 1 else {}
    return type(name, ways, {"__module__": __name__, **own})


UnderOwnNames = together(
    "UnderOwnNames", OffersWithPrefix, Validating, SaysAroundResults, Escaping, Renaming, AsksForATitle
)


InAnotherLanguage = together("InAnotherLanguage", JavaScript, Prefixing, FreshTwins, WrapsResults)


RefersAsTheyEnd = together("RefersAsTheyEnd", Referring, AnswersAsTheyEnd)


CallsLastAsTheyEnd = together("CallsLastAsTheyEnd", CallsLast, AnswersAsTheyEnd)


TalksAsTheyEnd = together("TalksAsTheyEnd", Talkative, AnswersAsTheyEnd)


PrefixesInAnotherLanguage = together("PrefixesInAnotherLanguage", Validating, JavaScript, Prefixing)
