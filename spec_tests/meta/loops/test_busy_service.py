"""How long a loop waits where a service stays busy is its own choice; that it waits for ever is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from looptck.spec.failing_service import waits_for_a_while
from looptck.values.outcome import Nothing, Value
from looptck.values.transcript import Ended, Event, Replied, ToolBegan
from looptck_reference.kit.driver import Driver
from meta.loops.busy_service import AsksFasterThanTold, GivesItAnHour, WaitsAfterThree, WaitsAMinute
from meta.loops.judging import judged

REPLIED = Replied(1.0, 1, 429, "an error")
TOOL = ToolBegan(2.0, 1, "weather", {})


@pytest.mark.parametrize(
    ("status", "verdict", "why"),
    [(429, "not-applicable", "how long it backs off is its own choice"), (400, "fail", "gave no outcome within")],
)
def test_waiting_for_a_busy_service(status: int, verdict: str, why: str) -> None:
    """A loop waits for longer than the kit; after a status that does not ask for patience that is no wait."""
    (found,) = judged(
        WaitsAMinute,
        "openai-chat/plain/sync",
        requirements=["http-error-is-told"],
        cases=[f"http-error-is-told[{status}]"],
        patience=3.0,
    )

    assert verdict == found.verdict
    assert why in found.reason


@pytest.mark.parametrize(
    ("loop", "verdict", "why"),
    [
        (GivesItAnHour, "not-applicable", "how long it backs off is its own choice"),
        (AsksFasterThanTold, "fail", "the service has failed 24 times, and the loop still asks"),
        (WaitsAfterThree, "fail", "gave no outcome within"),
    ],
)
def test_a_loop_that_gives_a_service_an_hour(loop: type[Driver], verdict: str, why: str) -> None:
    """Where the service names a time a loop keeps to that; where it names none any more, the loop may wait for long."""
    (found,) = judged(
        loop,
        "openai-chat/plain/sync",
        requirements=["http-error-is-told"],
        cases=["http-error-is-told[500]"],
        patience=3.0,
    )

    assert verdict == found.verdict
    assert why in found.reason


@pytest.mark.parametrize(
    ("outcome", "events", "waits"),
    [
        (Nothing(20.0), [REPLIED], True),
        (Nothing(20.0, still=True), [REPLIED], False),
        (Nothing(20.0), [REPLIED, TOOL], False),
        (Nothing(20.0), [], False),
        (Value("Warm."), [REPLIED], False),
    ],
)
def test_only_a_wait_that_ends_is_one(outcome: Any, events: list[Event], waits: bool) -> None:
    """A loop that stands still, or is in a tool, waits for nothing that its own clock brings."""
    happened = [*events, Ended(21.0, outcome)]
    run: Any = SimpleNamespace(outcome=outcome, transcript=SimpleNamespace(events=happened))

    assert waits == waits_for_a_while(run)
