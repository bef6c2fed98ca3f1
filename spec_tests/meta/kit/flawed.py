"""Loops with a flaw, as drivers: the reference with one seam bent, or no loop at all."""

from __future__ import annotations

from typing import Any, ClassVar

import httpx

from looptck.driver import error
from looptck_mutants.core.equals import RunsTheNearestName
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.values import Turn

Json = dict[str, Any]


class TakesCallsForAnswers(Driver):
    """Never runs a tool: it takes every turn for the answer."""

    class loop(Loop):  # noqa: N801 - the driver's attribute
        """The bent loop."""

        def decide(self, turn: Turn) -> Decision:
            """Every turn is the answer."""
            return Decision.ANSWER


class RepairsNames(Driver):
    """Runs the tool with the nearest name, and declares nothing."""

    loop = RunsTheNearestName


class NoLoop(Driver):
    """Never asks a model: every run ends at once."""

    outcome: ClassVar[Json] = {}

    def run(self, case: Json, emit: Any) -> Json:
        """End."""
        return self.outcome

    async def run_async(self, case: Json, emit: Any) -> Json:
        """End."""
        return self.outcome


class Refuses(NoLoop):
    """Raises at once, whatever it is asked."""

    outcome: ClassVar[Json] = {
        "kind": "error",
        "reason": "other",
        "type": "ImportError",
        "message": "no module named loop",
    }


class Pretends(NoLoop):
    """Returns an answer at once, without asking a model."""

    outcome: ClassVar[Json] = {"kind": "value", "text": "Done.", "stop": "end"}


class CannotStream(Driver):
    """The reference, for which no streams, no limits and no concurrent runs are declared."""

    def start(self) -> Json:
        """Declare less than it can do."""
        return {**super().start(), "capabilities": {}}


class DoublesTheVersion(Driver):
    """Takes the base URL for the server's, and writes the version behind it once more."""

    def run(self, case: Json, emit: Any) -> Json:
        """Run below another URL."""
        return super().run({**case, "base_url": f"{case['base_url']}/v1"}, emit)

    async def run_async(self, case: Json, emit: Any) -> Json:
        """Run below another URL."""
        return await super().run_async({**case, "base_url": f"{case['base_url']}/v1"}, emit)


class KeepsTheConversationElsewhere(Driver):
    """Begins with a request to an endpoint of the service that belongs to no wire."""

    def run(self, case: Json, emit: Any) -> Json:
        """Fail where it is not there."""
        try:
            httpx.post(f"{case['base_url']}/conversations", json={}).raise_for_status()
        except httpx.HTTPStatusError as refused:
            return dict(error(refused, "provider"))
        return super().run(case, emit)


class HidesItsTools(Driver):
    """Hands no tool of the case to its loop."""

    def run(self, case: Json, emit: Any) -> Json:
        """Run without tools."""
        return super().run({**case, "tools": []}, emit)

    async def run_async(self, case: Json, emit: Any) -> Json:
        """Run without tools."""
        return await super().run_async({**case, "tools": []}, emit)


class AsksOnce(Driver):
    """Asks the model once, whatever it wants."""

    class loop(Loop):  # noqa: N801
        """The bent loop."""

        def limit_reached(self) -> bool:
            """One call is the limit."""
            return self.model_calls > 0


class WantsACall(Driver):
    """Asks again after a text, until it has two of them: it takes something else for the end."""

    class loop(Loop):  # noqa: N801
        """The bent loop."""

        texts = 0

        def decide(self, turn: Turn) -> Decision:
            """A first text is none."""
            self.texts += not turn.calls
            return Decision.RESUME if not turn.calls and self.texts == 1 else super().decide(turn)


class BindsAndPrunes(Driver):
    """The reference, which claims no document and declares what it can do."""

    def start(self) -> Json:
        """Claim nothing beside the core."""
        return {**super().start(), "profiles": []}


class BindsNothing(BindsAndPrunes):
    """The same, but that bindings are not applied."""

    class loop(Loop):  # noqa: N801
        """The bent loop."""

        def bind(self, tool: Any, arguments: Json) -> Json:
            """As the model wrote them."""
            return arguments
