"""Mutants with every fate: what `looptck kill` makes of them is known."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_mutants.breaking import driver_of
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import Json, ToolCall, Turn


@breaks(
    "limit-is-a-ceiling",
    collateral={
        "limit-of-zero-runs-no-tool": "one model call is one round of tools",
        "limit-counts-all-agents": "the limit is one for all agents",
    },
)
class OneTooMany(Loop):
    """Asks the model once more than its limit allows. It does what it says."""

    def limit_reached(self) -> bool:
        return self.model_calls > self.limit


@breaks("limit-is-a-ceiling")
class Noisy(OneTooMany):
    """Asks the model once more than its limit allows, and does not declare what fails with that."""


@breaks("limit-is-a-ceiling", broad=True)
class Broad(OneTooMany):
    """Asks the model once more than its limit allows, and leaves open what fails with that."""


@breaks(
    "every-call-is-answered",
    collateral={("limit-is-a-ceiling", "limit-of-zero-runs-no-tool", "limit-counts-all-agents"): "-"},
)
class Mistaken(OneTooMany):
    """Asks the model once more than its limit allows, and says of itself that it loses results."""


@breaks("every-call-is-answered")
class Harmless(Driver):
    """Does nothing wrong."""


@breaks("every-call-is-answered")
class Unready(Driver):
    """Cannot be started."""

    def start(self) -> Json:
        return {"name": "unready"}


@breaks("every-call-is-answered")
class Gone(Driver):
    """Ends its process."""

    def start(self) -> Json:
        import os

        os._exit(3)


@breaks("spec-limit-raises-runtime-error")
class Crashes(Loop):
    """Comes to grief over a limit: the requirement fails, for the wrong reason."""

    def limit_reached(self) -> bool:
        if super().limit_reached():
            raise TypeError("not what a limit raises")
        return False


@breaks("every-call-of-a-turn-runs")
class CallsForgotten(Loop):
    """Runs no call but the first."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return turn.calls[:1]


KILLED = [driver_of(OneTooMany)]
MISTAKEN = [driver_of(one) for one in (Noisy, Mistaken, Harmless)]
CRASHING = [driver_of(Crashes)]
BROAD = [driver_of(Broad)]
OF_EVERY_FATE = [*MISTAKEN, *(driver_of(one) for one in (Unready, Gone, CallsForgotten))]
