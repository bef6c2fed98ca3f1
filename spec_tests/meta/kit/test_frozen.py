"""The kit's dataclasses do what those of the standard library do, apart from being frozen at run time."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Any

import pytest

from looptck.values.frozen import dataclass


def made(decorator: Any, **options: Any) -> Any:
    """A class with fields of all kinds, made by this decorator."""

    class Point:
        """A point."""

        x: int
        label: str = field(default="", compare=False)
        secret: str = field(default="s", repr=False)
        unhashed: list[int] = field(default_factory=list, hash=False)

    Point.__qualname__ = "Point"
    return decorator(**options)(Point)


@pytest.mark.parametrize("options", [{"frozen": True, "slots": True}, {"slots": True}, {"eq": False}, {"frozen": True}])
def test_class_has_the_methods_of_a_dataclass(options: dict[str, bool]) -> None:
    """They show, compare and hash the same fields."""
    ours, theirs = made(dataclass, **options), made(dataclasses.dataclass, **options)
    first, *others = arguments = [(1,), (2,), (1, "b"), (1, "", "t"), (1, "", "s", [3])]
    assert [repr(ours(*each)) for each in arguments] == [repr(theirs(*each)) for each in arguments]
    equal = [[one(*first) == one(*each) for each in arguments] for one in (ours, theirs)]
    assert equal[0] == equal[1]
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    if options.get("frozen"):
        same = [[hash(one(*first)) == hash(one(*each)) for each in others] for one in (ours, theirs)]
        assert same[0] == same[1]
    assert ours(1) != theirs(1)
    assert dataclasses.replace(ours(1), x=2).x == 2


def test_class_without_fields_equals_itself_alone() -> None:
    """Its objects are equal, those of another such class are not."""

    @dataclass(frozen=True)
    class One:
        pass

    @dataclass(frozen=True)
    class Other:
        pass

    assert One() == One()
    assert hash(One()) == hash(One())
    assert repr([One(), Other()]).count("One()") == 1
    assert len({One(), One(), Other()}) == 2


def test_the_same_value_is_equal_to_itself() -> None:
    """It is so in a class with one field too, where it equals nothing by itself."""
    nan = float("nan")

    @dataclass(frozen=True)
    class Number:
        value: float

    assert Number(nan) == Number(nan)
    assert hash(Number(nan)) == hash(Number(nan))


def test_methods_of_the_class_are_kept() -> None:
    """What a class says itself is not replaced."""

    @dataclass
    class Named:
        name: str

        def __repr__(self) -> str:
            return self.name

    assert repr(Named("a")) == "a"


def test_object_that_holds_itself_is_shown() -> None:
    """It is shown once."""

    @dataclass
    class Node:
        child: Any = None

    node = Node()
    node.child = node
    assert repr(node).endswith("Node(child=...)")
