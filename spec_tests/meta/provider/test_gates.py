"""How long a gate is waited for, by a stream and by a check."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from looptck.provider import gates
from looptck.provider.gates import Gate
from looptck.values.transcript import Chunk

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
        asyncio.get_running_loop().call_soon(_in_turns, gates.TURNS - 1, gate)
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
