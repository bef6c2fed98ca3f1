"""The cap on rounds: `cap_reached`, `at_cap`, and the source of its value."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, ClassVar

from looptck_mutants.cells import RESPONSES
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.seams import DEFAULT_ROUNDS
from looptck_reference.server.steps import Finish, Infer, Step
from looptck_reference.vocabulary.values import Turn


@breaks(
    "server-cap-bounds-the-rounds",
    collateral={
        (
            "server-cap-ends-tool-use",
            "server-cap-is-256-by-default",
            "server-cap-is-set-by-the-server",
            "server-failing-tool-counts-as-a-round",
            "server-request-sets-its-cap",
            "server-zero-rounds-run-no-tool",
        ): "every cap is too high by one"
    },
)
class ServerOneRoundTooMany(ServerLoop):
    """Runs one round more than the cap allows."""

    def cap_reached(self) -> bool:
        return self.round > self.cap


@breaks(
    "server-answer-after-the-last-round-arrives",
    collateral={
        ("server-failing-tool-counts-as-a-round", "server-request-sets-its-cap"): "every cap is too low by one"
    },
)
class ServerOneRoundTooFew(ServerLoop):
    """Stops one round before the cap."""

    def cap_reached(self) -> bool:
        return self.round >= self.cap - 1


@breaks(
    "server-cap-ends-tool-use",
    collateral={
        (
            "server-cap-forces-an-answer",
            "server-failing-tool-counts-as-a-round",
            "server-pending-call-is-told-at-the-cap",
        ): "the model is asked on after the last round"
    },
)
class AsksOnAtItsCap(ServerLoop):
    """Refuses each call after the last round, and asks the model again with its tools."""

    def at_cap(self, turn: Turn) -> Step:
        self.extend_history(turn, ())
        return self._infer()

    def _infer(self) -> Step:
        step = super()._infer()
        if isinstance(step, Infer) and self.cap_reached() and "tool_choice" in step.body:
            step.body["tool_choice"] = "auto"
        return step


@breaks("server-cap-forces-an-answer")
class HandsTheLastCallOverAtItsCap(ServerLoop):
    """Sends the client the last call in addition to the answer at the cap."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        last = tuple(record.called.call for record in self.records[-1:]) if self.cap_reached() else ()
        return super().finish(replace(turn, calls=turn.calls or last), capped=capped)


@breaks(
    "server-cap-is-set-by-the-server", collateral={"server-request-sets-its-cap": "no cap applies to the next request"}
)
class IgnoresTheServersCap(ServerLoop):
    """Ignores the server's own cap."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **{**more, "server_rounds": None})


@breaks(
    "server-responses-keep-the-servers-cap",
    collateral={
        (
            "server-cap-is-set-by-the-server",
            "server-request-sets-its-cap",
        ): "on this wire their checks need the same cap"
    },
    cells=RESPONSES,
)
class ResponsesHaveNoCap(IgnoresTheServersCap):
    """Ignores the server's own cap in requests to the Responses API too."""


@breaks("server-cap-is-256-by-default")
class FallbackOfAHundred(ServerLoop):
    """Runs 100 rounds if no cap is set."""

    def start(self) -> Step:
        self.cap = 100 if self.cap == DEFAULT_ROUNDS else self.cap
        return super().start()


@breaks("server-request-sets-its-cap")
class TheLowerCapCounts(ServerLoop):
    """Applies the lower of the caps of request and server."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.cap = min(self.cap, more.get("server_rounds") or DEFAULT_ROUNDS)


@breaks("server-request-sets-its-cap")
class SessionsHaveOneCap(ServerLoop):
    """Counts the rounds of earlier requests of the session against the cap."""

    before: ClassVar[Counter[str]] = Counter()

    def cap_reached(self) -> bool:
        return self.round + self.before[self.session_id or ""] >= self.cap

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        self.before[self.session_id or ""] += self.round
        return super().finish(turn, capped=capped)


@breaks(
    "server-pending-call-is-told-at-the-cap",
    collateral={"server-zero-rounds-run-no-tool": "a cap of zero leaves a pending call too"},
)
class PendingCallsAreDropped(ServerLoop):
    """Does not report the call that did not run because of the cap."""

    def at_cap(self, turn: Turn) -> Step:
        return super().at_cap(replace(turn, calls=()))
