"""Loops that read recorded traffic wrongly, each in one way."""

from __future__ import annotations

from dataclasses import replace

from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.values import Json, ToolCall, Turn


class Hasty(Driver):
    """Takes every turn for the answer: the recorded requests that should follow are never made."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            return Decision.ANSWER


class AsciiOnly(Driver):
    """Loses what is beyond ASCII in arguments."""

    class loop(Loop):  # noqa: N801
        def parse_arguments(self, text: str) -> Json:
            return super().parse_arguments(text.encode("ascii", "ignore").decode())


class OwnIds(Driver):
    """Gives calls and results ids of its own: a request that the judge accepts, but not the recorded conversation."""

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            super().append_turn(replace(turn, calls=tuple(replace(c, id=self.answer_id(c)) for c in turn.calls)))

        def answer_id(self, call: ToolCall) -> str:
            return f"mine-{call.id}"


class Trims(Driver):
    """Loses the end of the answer."""

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, text=turn.text[:-1]))
