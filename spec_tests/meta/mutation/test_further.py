"""The further operators leave out one part of a loop at a time."""

from __future__ import annotations

import ast

import pytest

from tools.mutation.further import FURTHER
from tools.mutation.operators import OPERATORS
from tools.mutation.sites import mutated, sites

MORE = FURTHER[len(OPERATORS) :]


def forms(source: str) -> list[str]:
    """The source with each change that the further operators can make to it."""
    return [ast.unparse(mutated(source, site, MORE)).strip() for site in sites("m.py", source, MORE)]


@pytest.mark.parametrize("statement", ["a = b", "a += 1", "a: int = b", "del a", "raise a", "a()", "if a:\n    b"])
def test_statements(statement: str) -> None:
    """A statement that does something is left out."""
    assert "pass" in forms(statement)


@pytest.mark.parametrize("statement", ["a.append(b)", "return a", "a: int", "import a", "if a:\n    b\nelse:\n    c"])
def test_statements_that_stay(statement: str) -> None:
    """What another operator leaves out, or what says nothing by itself, is no statement to leave out."""
    assert "pass" not in forms(statement)


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("{a: 1, **b}", ["{**b}", "{a: 1}"]),
        ("[a, b]", ["[b]", "[a]"]),
        ("[a]", ["[]"]),
        ("(a,)", []),
        ("a[b, c]", []),
        ("a, b = c", ["pass"]),
        ("a(b, c, d=e)", ["a(b, c)", "a(b, d=e)"]),
        ("a(**b)", ["a()"]),
        ("a(b) + c(*d)", ["b + c(*d)"]),
        ("a or b or c", ["b or c", "a or c", "a or b"]),
        ("a if b else c", ["a", "c"]),
        ("'a' + f'b'", ["'' + f'b'"]),
        ("a is True", ["a is False"]),
        ("''", []),
    ],
)
def test_expressions(source: str, changed: list[str]) -> None:
    """A member, an argument, an operand and a side is left out, a text is emptied, a truth value is the other one."""
    assert changed == [form for form in forms(source) if form != "pass" or " = " in source]


def test_handlers() -> None:
    """An exception is not caught, and what is done in any case is not done."""
    assert ["if True:\n    a"] == forms("try:\n    a\nexcept B:\n    c")
    assert [
        "try:\n    a\nfinally:\n    d",
        "try:\n    a\nexcept B:\n    c",
    ] == forms("try:\n    a\nexcept B:\n    c\nfinally:\n    d")


def test_ways_out_of_a_loop() -> None:
    """A loop goes on where it ended, and ends where it went on."""
    assert {"while a:\n    pass", "while a:\n    continue"} == set(forms("while a:\n    break"))
    assert {"while a:\n    pass", "while a:\n    break"} == set(forms("while a:\n    continue"))
