"""The cap on rounds: `cap_reached`, `at_cap`, and where it comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck_reference.mutants.mutant import RESPONSES, because
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.config import Config
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.seams import DEFAULT_ROUNDS
from looptck_reference.server.serving import Simulator
from looptck_reference.server.steps import Finish, Step
from looptck_reference.values import Turn


class ServerOneRoundTooMany(ServerMutant):
    """Runs one tool more than its cap allows: `server-cap-bounds-the-rounds`."""

    breaks = ("server-cap-bounds-the-rounds",)
    also = because(
        "every cap is too high by one",
        "server-cap-ends-tool-use",
        "server-cap-is-256-by-default",
        "server-cap-is-set-by-the-server",
        "server-failing-tool-counts-as-a-round",
        "server-request-sets-its-cap",
        "server-zero-rounds-run-no-tool",
    )

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            def cap_reached(self) -> bool:
                return self.round > self.cap


class ServerOneRoundTooFew(ServerMutant):
    """Stops one round before its cap: `server-answer-after-the-last-round-arrives`."""

    breaks = ("server-answer-after-the-last-round-arrives",)
    also = because(
        "every cap is too low by one", "server-failing-tool-counts-as-a-round", "server-request-sets-its-cap"
    )

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def cap_reached(self) -> bool:
                return self.round >= self.cap - 1


class OffersToolsAtItsCap(ServerMutant):
    """Asks behind the last round as before, and hands the call back: `server-cap-ends-tool-use`."""

    breaks = ("server-cap-ends-tool-use",)
    also = because("a model that may call does, and comes to no answer", "server-cap-forces-an-answer")

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        config = super().config(setup, upstream, dispatch)
        return replace(config, dialect=replace(config.dialect, cap="return-pending"))


class HandsTheLastCallOverAtItsCap(ServerMutant):
    """Gives the client the call of the last round beside the answer: `server-cap-forces-an-answer`."""

    breaks = ("server-cap-forces-an-answer",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
                last = tuple(record.called.call for record in self.records[-1:]) if self.cap_reached() else ()
                return super().finish(replace(turn, calls=turn.calls or last), capped=capped)


class IgnoresTheServersCap(ServerMutant):
    """Knows no cap but the request's: `server-cap-is-set-by-the-server`."""

    breaks = ("server-cap-is-set-by-the-server",)
    also = because("the next request is held to no cap", "server-request-sets-its-cap")

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def __init__(self, *args: Any, **more: Any) -> None:
                super().__init__(*args, **{**more, "server_rounds": None})


class ResponsesHaveNoCap(IgnoresTheServersCap):
    """The same where Responses are asked for: `server-responses-keep-the-servers-cap`."""

    breaks = ("server-responses-keep-the-servers-cap",)
    also = because(
        "on this wire the one is the other", "server-cap-is-set-by-the-server", "server-request-sets-its-cap"
    )
    cells = RESPONSES


class FallbackOfAHundred(ServerMutant):
    """Runs 100 rounds where nobody has named a cap: `server-cap-is-256-by-default`."""

    breaks = ("server-cap-is-256-by-default",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def start(self) -> Step:
                self.cap = 100 if self.cap == DEFAULT_ROUNDS else self.cap
                return super().start()


class TheLowerCapCounts(ServerMutant):
    """Holds a request to the lower of two caps: `server-request-sets-its-cap`."""

    breaks = ("server-request-sets-its-cap",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def __init__(self, *args: Any, **more: Any) -> None:
                super().__init__(*args, **more)
                self.cap = min(self.cap, more.get("server_rounds") or DEFAULT_ROUNDS)


class PendingCallsAreDropped(ServerMutant):
    """Says nothing of the call that its cap kept from running: `server-pending-call-is-told-at-the-cap`."""

    breaks = ("server-pending-call-is-told-at-the-cap",)
    also = because("a cap of zero has a pending call too", "server-zero-rounds-run-no-tool")

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def at_cap(self, turn: Turn) -> Step:
                return super().at_cap(replace(turn, calls=()))
