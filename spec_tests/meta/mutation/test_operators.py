"""Each operator gives the forms of a node that it is there for, and no other."""

from __future__ import annotations

import ast

import pytest

from tools.mutation.sites import mutated, sites


def forms(source: str) -> list[str]:
    """The source with each change that can be made to it."""
    return [ast.unparse(mutated(source, site)).strip() for site in sites("m.py", source)]


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a == b", ["a != b"]),
        ("a is not b", ["a is b"]),
        ("a in b", ["a not in b"]),
        ("a < b", ["a >= b", "a <= b"]),
        ("a >= b", ["a < b", "a > b"]),
        ("a < b == c", ["a >= b == c", "a < b != c", "a <= b == c"]),
    ],
)
def test_comparisons(source: str, changed: list[str]) -> None:
    """A comparison is turned round, and its boundary is moved where it has one."""
    assert changed == forms(source)


def test_and_and_or() -> None:
    """One stands for the other."""
    assert ["a or b"] == forms("a and b")
    assert ["a and b"] == forms("a or b")


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a if b else c", ["a if not b else c"]),
        ("a if not b else c", ["a if b else c"]),
        ("[a for a in b if a]", ["[a for a in b if not a]"]),
        ("while a:\n    pass", ["while not a:\n    pass"]),
        ("if a:\n    pass", ["if not a:\n    pass"]),
        ("assert a", []),
    ],
)
def test_conditions(source: str, changed: list[str]) -> None:
    """A condition is negated; an assertion is none."""
    assert changed == forms(source)


def test_a_condition_that_compares_is_changed_once() -> None:
    """A negated comparison would be the flipped one again."""
    assert ["if a != b:\n    pass"] == forms("if a == b:\n    pass")


def test_numbers() -> None:
    """A whole number is one more and one less; truth values and fractions stay."""
    assert ["a = 4", "a = 2"] == forms("a = 3")
    assert [] == forms("a = True; b = 0.5")


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("return a()", "a()"),
        ("return", "pass"),
        ("yield a", "(yield a) if False else a"),
        ("yield from a", "(yield from a) if False else a"),
        ("a.append(b)", "pass"),
        ("a += b", "pass"),
    ],
)
def test_what_is_dropped(body: str, changed: str) -> None:
    """A return, a yield or an append goes; what it had to work out is worked out."""
    assert [f"def f():\n    {changed}"] == forms(f"def f():\n    {body}")


def test_counting_is_no_append() -> None:
    """What is added to is a number, which has changes of its own."""
    assert ["a += 2", "a += 0"] == forms("a += 1")


def test_an_await_is_dropped() -> None:
    """What was waited for is not."""
    assert ["async def f():\n    a()"] == forms("async def f():\n    await a()")


def test_a_generator_whose_yield_is_dropped_is_a_generator() -> None:
    """Whoever iterates over it gets nothing, and no error."""
    source = "def f():\n    yield 'x'"
    scope: dict[str, object] = {}
    exec(compile(mutated(source, sites("m.py", source)[0]), "m.py", "exec"), scope)  # noqa: S102
    generator = scope["f"]

    assert callable(generator)
    assert [] == list(generator())


def test_arguments() -> None:
    """Two neighbours change places; equal and starred ones have nothing to change, and the largest is the largest."""
    assert ["f(b, a, c)", "f(a, c, b)"] == forms("f(a, b, c)")
    assert [] == forms("f(a, a)")
    assert [] == forms("f(a, *b)")
    assert [] == forms("max(a, b)")


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring with 1 < 2."""',
        "a: f(1, 2)",
        "def f(a: g(1, 2)) -> h(1, 2): pass",
        "if TYPE_CHECKING:\n    a = 1",
        "__all__ = f(1, 2)",
    ],
)
def test_what_nothing_executes_is_left_alone(source: str) -> None:
    """Types, docstrings and lists of names are not changed."""
    assert [] == forms(source)
