"""Whether an implementation is at work: it runs, or has run between two looks that follow each other."""

from __future__ import annotations

import pytest

from looptck.drivers.idle import RECENT, STIRS, AtWork, Pulse

IDLE = Pulse(known=True, turns={1: b"a"})
STIRRED = Pulse(known=True, turns={1: b"b"})
RUNNING = Pulse(known=True, running=True, turns={1: b"c"})
SOON, LATE = RECENT / 2, RECENT * 2


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ([(0.0, IDLE), (SOON, IDLE)], [False, False]),
        ([(0.0, IDLE), (SOON, STIRRED)], [False, True]),
        ([(0.0, IDLE), (LATE, STIRRED)], [False, False]),
        ([(0.0, RUNNING), (LATE, RUNNING)], [True, True]),
        ([(0.0, RUNNING), (SOON, IDLE)], [True, True]),
        ([(0.0, Pulse()), (SOON, Pulse())], [False, False]),
    ],
)
def test_a_look_is_compared_with_a_recent_one(looks: list[tuple[float, Pulse]], expected: list[bool]) -> None:
    """A thread that has run since a look just now is at work; a look long ago, or an unknown one, says nothing."""
    left = iter(looks)
    now = 0.0

    def look() -> Pulse:
        nonlocal now
        now, seen = next(left)
        return seen

    at_work = AtWork(look, lambda: now)

    assert expected == [at_work() for _ in looks]


def test_what_never_rests_is_not_at_work_for_ever() -> None:
    """An implementation whose threads tick is at work so many times in a row, and no more until it rests or runs."""
    seen = [Pulse(known=True, turns={1: str(n).encode()}) for n in range(STIRS + 4)]
    left = iter(seen)
    at_work = AtWork(lambda: next(left), lambda: 0.0)

    assert [False, *[True] * STIRS, False, False, False] == [at_work() for _ in seen]
