"""Loops whose runs end with a rejection."""

from __future__ import annotations

from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Fail
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult
from meta.loops.own_ways import AsksOneAtATime


class _Ends(Loop):
    def rejected(self, call: ToolCall, feedback: str) -> ToolResult | Fail:
        return Fail(PermissionError(feedback), "other")


class EndsWithARejection(Driver):
    """Ends the run with an error when a call is rejected, and keeps a result for the call."""

    loop = _Ends


class EndsAlone(EndsWithARejection):
    """The same, and has no conversations."""

    def start(self) -> Json:
        found = super().start()
        return {**found, "capabilities": {**found["capabilities"], "conversations": False}}


class EndsWithTheFirst(AsksOneAtATime):
    """Asks about one call after the other, and asks no more once one of them is rejected."""

    loop = _Ends

    def run(self, case: Json, emit: OnText) -> Json:
        """Run a case; with a rejection all calls that still wait are rejected too."""
        decisions = case.get("resume", {}).get("decisions", [])
        if all(one["decision"] != "reject" for one in decisions):
            return super().run(case, emit)
        held = case["resume"]["state"]
        rest = [{**decisions[0], "id": one["id"]} for one in held["calls"]]
        resume = {"state": held["state"], "decisions": [*held["decisions"], *decisions, *rest]}
        return Driver.run(self, {**case, "resume": resume}, emit)


class EndsUnanswered(Driver):
    """Ends the run when a call is rejected, and keeps the call without a result: this is a fault."""

    class loop(_Ends):  # noqa: N801  the driver's attribute
        """Keeps everything as it stands."""

        def settled(self) -> list[Json]:
            return list(self.history)
