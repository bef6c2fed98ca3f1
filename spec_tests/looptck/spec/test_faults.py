"""Faults of the provider: nothing runs from a lost reply, nothing runs twice, and the caller hears of it."""

from __future__ import annotations

import pytest

from looptck.checks import Implementation, control, on, requirement
from looptck.kit import Scene
from looptck.provider.faults import Cut, HttpError, NotJson
from looptck.provider.script import Step
from looptck.run import Run
from looptck.turns import Call, calls, says

WEATHER = calls(Call.of("weather", {"city": "Paris"}))
RAN = [("weather", {"city": "Paris"})]
SOON = (("retry-after-ms", "5"),)
"""What the service sends beside Retry-After; it keeps the suite from waiting."""


@requirement("cut-reply-runs-nothing")
@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_cut_reply_runs_nothing(provider: Scene, implementation: Implementation, share: float) -> None:
    """The connection breaks in the middle of a turn with a call; that turn runs nothing, a repeated one runs once."""
    provider.plays(WEATHER, says("Warm."))
    control(implementation.run(), "weather")
    provider.plays(Step(WEATHER, fault=Cut(share)), WEATHER, says("Warm."))

    run = implementation.run()

    run.replied(1)
    assert (RAN if 2 in run.turns else []) == run.tools_ran


@requirement("cut-reply-is-told")
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_cut_reply_is_told(provider: Scene, implementation: Implementation, share: float) -> None:
    """The connection breaks in the middle of the answer."""
    provider.plays(Step(says("The capital of France is Paris."), fault=Cut(share)), says("Once more: Paris."))

    run = implementation.run()

    run.replied(1)
    assert run.failed or len(run.requests) > 1, f"the loop {run.outcome}, as if nothing had been lost"


@requirement("http-error-is-told")
@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_http_error_is_told(provider: Scene, implementation: Implementation, status: int) -> None:
    """The service answers every request with an error."""
    provider.plays(*[HttpError(status, SOON)] * 6)

    run = implementation.run()

    run.replied(1)
    assert run.failed, f"the loop {run.outcome}"


@requirement("page-instead-of-json-is-told")
def test_page_of_html(provider: Scene, implementation: Implementation) -> None:
    """A proxy answers with a page of HTML and status 200."""
    provider.plays(*[Step(says("Never seen."), fault=NotJson())] * 6)

    run = implementation.run()

    run.replied(1)
    assert run.failed, f"the loop {run.outcome}"


def _failing_after_tools(provider: Scene, implementation: Implementation, error: HttpError) -> Run:
    provider.plays(WEATHER, error, says("Warm."))
    run = implementation.run()
    run.delivered(1)
    run.replied(2)
    return run


@requirement("retry-never-reruns-a-tool")
@pytest.mark.parametrize("headers", [SOON, ()], ids=["retry-after", "no-retry-after"])
@pytest.mark.parametrize("status", [429, 500, pytest.param(529, marks=on("anthropic-messages"))])
def test_no_second_run(
    provider: Scene, implementation: Implementation, status: int, headers: tuple[tuple[str, str], ...]
) -> None:
    """The request that carries the results fails; whatever the loop does then, the tool has run once."""
    run = _failing_after_tools(provider, implementation, HttpError(status, headers))

    assert RAN == run.tools_ran
    implementation.diverges(f"HTTP {status}", "tried again" if len(run.requests) > 2 else "an error")


@requirement("retried-request-is-the-same")
@pytest.mark.parametrize("status", [429, 500])
def test_same_history_again(provider: Scene, implementation: Implementation, status: int) -> None:
    """A request that is tried again carries the same history; a loop that does not try again sends none."""
    run = _failing_after_tools(provider, implementation, HttpError(status, SOON))

    for received in run.requests[2:]:
        assert run.request(2).request.items == received.request.items
