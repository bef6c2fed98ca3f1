"""Loops that wait longer and longer are let go; those that only are slow, or have no end, are not."""

from __future__ import annotations

from itertools import accumulate

import pytest

from looptck.provider.faults import HttpError
from looptck.spec.failing_service import SOON, FailingService, waits_grow
from looptck.values.turns import says

FAULT = HttpError(500)


def answered(waits: list[float]) -> list[bool]:
    """Whether each request was answered, of a loop that waits so long between them."""
    times = iter([0.0, *accumulate(waits)])
    errs = FailingService(FAULT, lambda: next(times))
    return [errs(n) == says("At last.") for n in range(len(waits) + 1)]


@pytest.mark.parametrize(("status", "named"), [(500, 12), (429, 12), (400, 24)])
def test_a_time_is_named_until_a_loop_should_have_given_up(status: int, named: int) -> None:
    """Behind the last request that counts attempts, a fault that may pass says nothing of when to ask again."""
    errs = FailingService(HttpError(status, SOON), lambda: 0.0)
    faults = [errs(n) for n in range(24)]

    assert [HttpError(status, SOON)] * named + [HttpError(status)] * (24 - named) == faults


def test_growing_waits_end_in_an_answer() -> None:
    """From the first request that comes late, behind waits that have grown."""
    assert [False] * 5 + [True] * 2 == answered([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])


@pytest.mark.parametrize("wait", [0.0, 0.1, 30.0])
def test_even_waits_do_not(wait: float) -> None:
    """However slow loop and machine are, the service errs on."""
    assert [False] * 25 == answered([wait] * 24)


def test_short_waits_are_waited_for() -> None:
    """Waits that grow, and take little time all in all, cost nobody anything."""
    assert [False] * 9 == answered([0.01 * 2**n for n in range(8)])


def test_few_requests_show_nothing() -> None:
    """One long wait is no growth."""
    assert (False, True) == (waits_grow([0.0, 1.0, 20.0, 60.0]), waits_grow([0.0, 1.0, 3.0, 7.0, 15.0]))
