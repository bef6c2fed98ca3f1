"""The decorator of the reference's mutants: which part each replaces, and what its driver says of it."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import pytest

from looptck_mutants import breaking
from looptck_mutants.agent_loop_010.parts import breaks as breaks_010
from looptck_mutants.breaking import Collateral, driver_of
from looptck_mutants.parts import asking, breaks
from looptck_mutants.server_loop.parts import breaks as breaks_server
from looptck_reference.agent_loop_010.scheduler import CallScheduler
from looptck_reference.http.exchange import Exchange
from looptck_reference.http.spans import RunSpans
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.prompts import Loader
from looptck_reference.server.loop import ServerLoop
from looptck_reference.wires import ChatStream, ChatWire, EventReader

BLOCK = re.compile(r"^ +@breaks\(.*\n(?:(?: +.*)?\n)+?(?=\S| +```|\Z)", re.MULTILINE)


class Bent(Loop):
    """A loop that is bent."""


def variant(base: type[Any]) -> type[Any]:
    """A mutant that replaces this part."""
    return type("Variant", (base,), {"__doc__": "It is bent."})


def test_driver_says_what_the_mutant_breaks() -> None:
    """Name, place and docstring are the mutant's; reasons of several requirements are those of each."""
    collateral: Collateral = {("two", "three"): "they lean on one", "four": "another reason"}
    driver = driver_of(breaks("one", collateral=collateral, cells=["openai-chat/*/sync"], broad=True)(Bent))

    reasons = {"two": "they lean on one", "three": "they lean on one", "four": "another reason"}
    assert (("one",), reasons, ("openai-chat/*/sync",), True) == (
        driver.breaks,
        driver.collateral,
        driver.cells,
        driver.broad,
    )
    assert ("Bent", __name__, "Bent.driver") == (driver.__name__, driver.__module__, driver.__qualname__)
    assert "A loop that is bent." == driver.__doc__


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (Loop, ("loop",)),
        (Loader, ("invoker", "loader")),
        (Exchange, ("invoker", "exchange")),
        (RunSpans, ("tracing", "inside")),
    ],
)
def test_part_takes_its_place(base: type[Any], path: tuple[str, ...]) -> None:
    """The driver has the mutant where it had the class that the mutant is made of."""
    mutant = breaks("one")(variant(base))
    found = driver_of(mutant)
    for name in path:
        found = getattr(found, name)

    assert mutant is found


def test_wires_and_what_they_read_with_take_their_place() -> None:
    """One wire is another, or collects with another stream; the reader of lines is that of all three."""
    wire, stream, reader = (breaks("one")(variant(base)) for base in (ChatWire, ChatStream, EventReader))

    assert wire is type(driver_of(wire).wires["openai-chat"])
    assert Driver.wires["anthropic-messages"] is driver_of(wire).wires["anthropic-messages"]
    assert stream is type(driver_of(stream).wires["openai-chat"].stream())
    assert {reader} == {one.reader for one in driver_of(reader).wires.values()}


def test_parts_of_other_references_take_theirs() -> None:
    """A scheduler stands in a loop of Solutions, and a server's loop in a simulator on its bench."""
    scheduler, loop = breaks_010("one")(variant(CallScheduler)), breaks_server("one")(variant(ServerLoop))

    assert scheduler is driver_of(scheduler).loop.tick
    assert loop is driver_of(loop).simulator.loop


def test_driver_names_several_parts() -> None:
    """A mutant that is a driver itself keeps what it names."""

    class Both(Driver):
        """Both are bent."""

        loop = Bent
        invoker = asking(Exchange)

    driver = driver_of(breaks("one")(Both))

    assert (Bent, Both.invoker) == (driver.loop, driver.invoker)


def test_mutant_of_a_mutant_has_a_driver_of_its_own() -> None:
    """What is said of the one is not said of the other."""
    first = breaks("one", collateral={"two": "it leans on one"})(variant(Loop))
    second = breaks("three")(variant(first))

    assert (("one",), ("three",), {}) == (
        driver_of(first).breaks,
        driver_of(second).breaks,
        driver_of(second).collateral,
    )
    assert second is driver_of(second).loop


def test_bases_may_be_parts_of_variants() -> None:
    """A base that is registered stands where it was said to stand, and so do its variants."""

    class Holding(Loop):
        """A loop with a part of its own."""

    base = breaks.part_of(Holding, "piece")(variant(object))
    piece = breaks("one")(variant(base))

    assert issubclass(driver_of(piece).loop, Holding)
    assert piece is driver_of(piece).loop.piece


def test_what_is_no_part_is_refused() -> None:
    """The error names the class, and the driver that has no such part."""
    with pytest.raises(TypeError, match="Variant is not a variant of any part of Driver"):
        breaks("one")(variant(dict))


def _examples() -> list[str]:
    """The mutants that the decorator's documentation shows: indented blocks."""
    return [textwrap.dedent(block) for block in BLOCK.findall(f"{inspect.getdoc(breaking) or ''}\n")]


@pytest.mark.parametrize("example", _examples(), ids=lambda example: str(re.findall(r"class (\w+)", example)[0]))
def test_example_is_a_mutant(example: str) -> None:
    """Each that is shown is Python, and has a driver that says what it breaks."""
    space: dict[str, Any] = {"breaks": breaks, "asking": asking, "Loop": Loop, "Driver": Driver, "Remembers": Loop}
    space |= {"Rerunning": Exchange, "Turn": object, "ToolCall": object, "Sequence": Sequence}
    known = {*space}

    exec(compile(example, "example", "exec", dont_inherit=True), space)  # noqa: S102  it is our own

    (mutant,) = (space[name] for name in space.keys() - known - {"__builtins__"})
    assert all(id in example for id in driver_of(mutant).breaks)


def test_examples_are_found() -> None:
    """One that replaces a part, and one that replaces several."""
    assert 2 == len(_examples())
