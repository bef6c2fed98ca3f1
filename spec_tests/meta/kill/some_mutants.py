"""Mutants with every fate: what `looptck kill` makes of them is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from looptck_reference.driver import Driver
from looptck_reference.loop import Loop
from looptck_reference.values import Json, ToolCall, ToolResult, Turn


class _Mutant(Driver):
    cells: ClassVar[Sequence[str]] = ("openai-chat/plain/sync",)


class OneTooMany(_Mutant):
    """Asks the model once more than its limit allows: `limit-is-a-ceiling`. It does what it says."""

    breaks = ("limit-is-a-ceiling",)
    also: ClassVar[dict[str, str]] = {"limit-of-zero-runs-no-tool": "one model call is one round of tools"}

    class loop(Loop):  # noqa: N801  the driver's attribute
        def limit_reached(self) -> bool:
            return self.model_calls > self.limit


class Noisy(OneTooMany):
    """Asks the model once more than its limit allows, and does not say what falls with that."""

    breaks = ("limit-is-a-ceiling",)
    also: ClassVar[dict[str, str]] = {}


class Coarse(Noisy):
    """Asks the model once more than its limit allows, and leaves open what falls with that."""

    coarse = True


class Mistaken(OneTooMany):
    """Asks the model once more than its limit allows, and says of itself that it loses results."""

    breaks = ("every-call-is-answered",)
    also: ClassVar[dict[str, str]] = {"limit-is-a-ceiling": "-", "limit-of-zero-runs-no-tool": "-"}


class Harmless(_Mutant):
    """Does nothing wrong."""

    breaks = ("every-call-is-answered",)


class Unready(_Mutant):
    """Cannot be started."""

    breaks = ("every-call-is-answered",)

    def start(self) -> Json:
        return {"name": "unready"}


class Gone(_Mutant):
    """Ends its process."""

    breaks = ("every-call-is-answered",)

    def start(self) -> Json:
        import os

        os._exit(3)


class Unsaid(_Mutant):
    """Loses the second of two results: `every-call-is-answered`. What falls with that it does not say."""

    breaks = ("every-call-is-answered",)

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[:1])


class Crashes(_Mutant):
    """Comes to grief over a limit: `spec-limit-raises-runtime-error` fails, for the wrong reason."""

    breaks = ("spec-limit-raises-runtime-error",)

    class loop(Loop):  # noqa: N801
        def limit_reached(self) -> bool:
            if super().limit_reached():
                raise TypeError("not what a limit raises")
            return False


class CallsForgotten(_Mutant):
    """Runs no call but the first: `every-call-of-a-turn-runs`."""

    breaks = ("every-call-of-a-turn-runs",)

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return turn.calls[:1]


KILLED = [OneTooMany]
MISTAKEN = [Noisy, Mistaken, Harmless]
BROKEN = [Unready, Gone]
CRASHING = [Crashes]
LOSING = [Unsaid]
COARSE = [Coarse]
FORGETFUL = [CallsForgotten]
