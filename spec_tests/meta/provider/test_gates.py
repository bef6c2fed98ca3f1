"""How long a gate is waited for, by a stream and by a check."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

import pytest

from looptck.provider import gate as waiting
from looptck.provider import gates
from looptck.provider.gate import Gate
from looptck.values.outcome import Nothing
from looptck.values.transcript import Cancelled, Chunk, Ended
from looptck_reference.kit.driver import Driver
from meta.loops.judging import judged

PATIENCE = 0.05
SIGNS = 5


def _by_stream(gate: Gate) -> bool:
    return asyncio.run(gate.wait(PATIENCE))


def _by_check(gate: Gate) -> bool:
    return gate.wait_here(PATIENCE)


@pytest.mark.parametrize("wait", [_by_stream, _by_check])
@pytest.mark.parametrize(("of_silence", "looks"), [(True, SIGNS + 1), (False, 1)])
def test_a_gate_of_silence_waits_from_the_last_event(
    wait: Callable[[Gate], bool], of_silence: bool, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The patience of such a gate begins anew with each event of the watched run; that of others does not."""
    gate = Gate("never", of_silence=of_silence)
    left = iter(range(SIGNS))
    asked = 0

    def prolonged(until: float, patience: float) -> float:
        nonlocal asked
        asked += 1
        if next(left, None) is not None:
            gate.watch(Chunk(0.0, "a sign"))
        return usual(gate, until, patience)

    usual = Gate._prolonged
    monkeypatch.setattr(gate, "_prolonged", prolonged)

    assert not wait(gate)
    assert looks == asked


def test_a_stream_looks_twice_at_what_puts_off_its_end() -> None:
    """What holds now or a moment later puts off the end of a wait; the second look comes after what has arrived."""
    looks = iter([False, True, True, False, False])
    gate = Gate("never", not_while=lambda: next(looks, False))

    assert not asyncio.run(gate.wait(PATIENCE))
    assert [] == list(looks)


def test_what_has_arrived_at_the_end_opens_a_gate() -> None:
    """An event that is waiting to be read when the patience ends is read first."""

    async def late() -> bool:
        gate = Gate("arrives")
        asyncio.get_running_loop().call_soon(_in_turns, waiting.TURNS - 1, gate)
        return await gate.wait(0.0)

    assert asyncio.run(late())


def _in_turns(left: int, gate: Gate) -> None:
    """Open a gate so many turns of the event loop later."""
    if left == 0:
        gate.open()
    else:
        asyncio.get_running_loop().call_soon(_in_turns, left - 1, gate)


@pytest.mark.parametrize("wait", [_by_stream, _by_check])
def test_an_opened_gate_is_passed(wait: Callable[[Gate], bool]) -> None:
    """A gate that opens is passed by streams and checks alike, before or during their wait."""
    gate = gates.caller_has("ab")
    gate.watch(Chunk(0.0, "a"))
    assert not gate.is_open

    gate.watch(Chunk(0.0, "b"))

    assert wait(gate)


@pytest.mark.parametrize("wait", [_by_stream, _by_check])
def test_a_gate_that_was_waited_for_in_vain_holds_nothing_more(
    wait: Callable[[Gate], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many tools that wait for the same event one after the other, only the first waits."""
    gate = Gate("never")
    assert not wait(gate)

    def waits() -> float:
        raise AssertionError("it waits again")

    monkeypatch.setattr(waiting, "monotonic", waits)

    assert not wait(gate)


@pytest.mark.parametrize("wait", [_by_stream, _by_check])
def test_a_gate_that_opens_late_is_open(wait: Callable[[Gate], bool]) -> None:
    """What opens a gate after the first wait opens it for those that come later."""
    gate = Gate("late")
    assert not wait(gate)

    gate.open()

    assert wait(gate)


LONG = 30.0
"""Seconds that no test would wait for."""


def _held_until_rest(gate: Gate, rests: Callable[[], float]) -> bool:
    async def held() -> bool:
        return await asyncio.wait_for(gate.wait(LONG, rests), LONG / 2)

    return asyncio.run(held())


def test_the_wait_for_what_a_right_loop_never_does_ends_when_the_loop_rests() -> None:
    """It lasts for as long as the implementation works, and ends when it has been at rest for a while."""
    works = iter(range(5))
    looks: list[float] = []

    def rests() -> float:
        looks.append(0.0 if next(works, None) is not None else LONG)
        return looks[-1]

    assert not _held_until_rest(Gate("never", if_ever=True), rests)
    assert [0.0] * 5 == looks[:5]
    assert set(looks[5:]) == {LONG}


def test_the_wait_for_what_a_right_loop_does_lasts_its_time() -> None:
    """A gate that a right loop opens is not given up because the loop rests: it may wait for a tool, or for a timer."""

    def rests() -> float:
        raise AssertionError("nobody asks")

    assert not asyncio.run(Gate("late").wait(PATIENCE, rests))


def test_rest_is_counted_from_the_last_event() -> None:
    """What has just happened may have set the implementation to work, even if no thread has run since."""
    gate = Gate("never", if_ever=True)
    signs = iter(range(SIGNS))
    seen: list[bool] = []

    def rests() -> float:
        seen.append(next(signs, None) is not None)
        if seen[-1]:
            gate.watch(Chunk(0.0, "a sign"))
        return LONG

    assert not _held_until_rest(gate, rests)
    assert seen.count(False) * waiting.LOOK >= waiting.REST / 2


def test_rest_does_not_count_while_the_event_cannot_happen() -> None:
    """As long as a tool is held, a loop that waits for it may end its run only later."""
    looks = iter([True] * SIGNS)
    gate = Gate("never", if_ever=True, not_while=lambda: next(looks, False))

    assert not _held_until_rest(gate, lambda: LONG)
    assert [] == list(looks)


def test_rest_does_not_shut_out_what_arrives() -> None:
    """An event that is waiting to be read when the implementation rests is read first."""
    gate = Gate("arrives", if_ever=True)

    def rests() -> float:
        asyncio.get_running_loop().call_soon(_in_turns, waiting.TURNS - 2, gate)
        return LONG

    assert _held_until_rest(gate, rests)


HOUR = 3600.0


@pytest.mark.parametrize("rests", [None, lambda: 0.0])
def test_time_in_which_the_machine_stood_still_does_not_count(
    rests: Callable[[], float] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What opens a gate may come after the machine has stood still for longer than the gate is waited for."""
    still = 0.0
    monkeypatch.setattr(waiting, "monotonic", lambda: monotonic() + still)
    gate = Gate("comes", if_ever=True)

    def stand_still() -> None:
        nonlocal still
        still += HOUR

    async def held() -> bool:
        asyncio.get_running_loop().call_later(waiting.LOOK / 2, stand_still)
        asyncio.get_running_loop().call_later(waiting.MOMENT * 1.5, gate.open)
        return await gate.wait(LONG, rests)

    assert asyncio.run(held())


def test_a_check_does_not_count_the_time_in_which_the_machine_stood_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same holds for the wait of a check."""
    times = iter([0.0, 0.0])
    gate = Gate("comes")
    monkeypatch.setattr(waiting, "monotonic", lambda: next(times, HOUR))
    waits = iter([False, True])
    monkeypatch.setattr(gate._open, "wait", lambda _: next(waits))
    gate.open()

    gate.wait_here(LONG)

    assert [] == list(waits)


@pytest.mark.parametrize("taken_in", [True, False])
def test_what_opened_a_gate_is_taken_in_before_anything_goes_on(taken_in: bool) -> None:
    """An answer that is sent while the one before it is unread may be read before it."""
    gate = Gate("an answer was sent", taken_in=taken_in)
    gate.open()
    works = iter(range(SIGNS))

    assert asyncio.run(gate.wait(LONG, lambda: 0.0 if next(works, None) is not None else LONG))
    assert ([] if taken_in else [*range(SIGNS)]) == list(works)


@pytest.mark.parametrize("rests", [None, lambda: 0.0])
def test_what_never_rests_is_waited_for_briefly(rests: Callable[[], float] | None) -> None:
    """A moment has to do for an implementation of which it is unknown whether it rests, and for one that never does."""
    gate = Gate("an answer was sent", taken_in=True)
    gate.open()

    async def held() -> bool:
        return await asyncio.wait_for(gate.wait(LONG, rests), LONG / 2)

    assert asyncio.run(held())


@pytest.mark.parametrize(
    "wait", [lambda gate, over: gate.reached(HOUR, over), lambda gate, over: gate.wait_here(HOUR, over)]
)
def test_what_has_ended_is_not_waited_for(wait: Callable[[Gate, Callable[[], bool]], bool]) -> None:
    """A run that has ended comes to no place, and causes no event."""
    looks = iter([False, False])

    assert not wait(Gate("never"), lambda: next(looks, True))
    assert [] == list(looks)


def test_a_run_that_comes_too_late_to_be_cancelled_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing holds a tool for a cancel that will not come: the check is not reached, and the run does not hang."""
    monkeypatch.setattr(Gate, "reached", lambda *_: False)
    (result,) = judged(
        Driver,
        "openai-chat/plain/sync",
        requirements=["cancelled-run-ends"],
        cases=["it-ends-with-its-tool[between-tools]"],
    )

    assert ("not-reached", True) == (result.verdict, "before that the loop returned" in result.reason)


@pytest.mark.parametrize("of_a_tool", [True, False])
def test_the_time_before_a_cancel_does_not_count(of_a_tool: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes until the caller cancels, the run is held until then."""
    gate = gates.cancelled_run_ended(of_a_tool=of_a_tool)
    gate.patience = PATIENCE
    looks = iter(range(SIGNS))
    usual = Gate._looked_again

    async def looked_again(self: Gate) -> bool:
        if next(looks, None) is None:
            for event in (Cancelled(0.0), Ended(0.0, Nothing(1.0))):
                gate.watch(event)
        return await usual(self)

    monkeypatch.setattr(Gate, "_looked_again", looked_again)

    assert asyncio.run(gate.wait(PATIENCE))
    assert [] == list(looks)
