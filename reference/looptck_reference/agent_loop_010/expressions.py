"""Variable References and the expressions made of them.

A reference is `†KIND.KEY.KEY` (Agent/Variables), or `†KIND` for all values of that kind. Several references are joined
by `||` or by `&&`, never by both (Agent/Expressions, revision 2025-12). A text that begins with a dagger must be an
expression as a whole; any other text is plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

__all__ = [
    "DAGGER",
    "MISSING",
    "AllOf",
    "BadExpression",
    "Expression",
    "FirstOf",
    "Found",
    "Path",
    "Unresolved",
    "read",
    "references",
    "resolve",
    "targets",
    "value_of",
]

DAGGER = "†"

_NAME = r"[^.\s†]+"
_PATH = re.compile(rf"{DAGGER}(?P<kind>{_NAME})(?P<keys>(?:\.{_NAME})*)")


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING
"""The result of looking up a value that does not exist; null is a value that exists."""

Found: TypeAlias = Any
"""A JSON value or `MISSING`."""


@dataclass(frozen=True, slots=True)
class Path:
    """One reference: `†state.user.name` has the kind `state` and the keys `user` and `name`.

    Digits are a key like any other; in an array they are an index.
    """

    kind: str
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        return DAGGER + ".".join((self.kind, *self.keys))


@dataclass(frozen=True, slots=True)
class FirstOf:
    """`†a || †b`: as an input, the first existing value, even if it is falsy; as an output path, one of them."""

    operands: tuple[Path, ...]

    def __str__(self) -> str:
        return " || ".join(map(str, self.operands))


@dataclass(frozen=True, slots=True)
class AllOf:
    """`†a && †b`: as an input, the last value, once all exist; as an output path, each of them."""

    operands: tuple[Path, ...]

    def __str__(self) -> str:
        return " && ".join(map(str, self.operands))


Expression: TypeAlias = Path | FirstOf | AllOf


class BadExpression(Exception):
    """A text begins with a dagger and is not an expression, or a text that must be one has no dagger."""


class Unresolved(Exception):
    """An expression has no value yet."""

    def __init__(self, expression: Expression) -> None:
        super().__init__(f"{expression} has no value")
        self.expression = expression


def read(text: str) -> Expression | None:
    """Parse a text as an expression; None for plain text.

    Raises:
        BadExpression: the text begins with a dagger and is not a path, or mixes `||` and `&&`.
    """
    if not text.startswith(DAGGER):
        return None
    if "||" in text and "&&" in text:
        raise BadExpression(f"{text!r} mixes || and &&, which have no order of precedence")
    if "||" in text:
        return FirstOf(_paths(text, "||"))
    if "&&" in text:
        return AllOf(_paths(text, "&&"))
    return _path(text, text)


def targets(output_path: str) -> Expression:
    """The expression of an output path.

    Raises:
        BadExpression: the output path is not an expression.
    """
    expression = read(output_path)
    if expression is None:
        raise BadExpression(
            f"{output_path!r} is not a path; a path begins with {DAGGER}, for example {DAGGER}state.name"
        )
    return expression


def references(value: Any) -> Iterator[Expression]:
    """The expressions in a parameter's value, including those inside its objects and arrays.

    Raises:
        BadExpression: one of them cannot be read.
    """
    match value:
        case str():
            expression = read(value)
            if expression is not None:
                yield expression
        case dict():
            for inner in value.values():
                yield from references(inner)
        case list():
            for inner in value:
                yield from references(inner)


def resolve(value: Any, look: Callable[[Path], Found]) -> Any:
    """A parameter's value with its expressions replaced by their values, which are not resolved again.

    Raises:
        BadExpression: one of them cannot be read.
        Unresolved: one of them has no value.
    """
    match value:
        case str():
            expression = read(value)
            if expression is None:
                return value
            found = value_of(expression, look)
            if found is MISSING:
                raise Unresolved(expression)
            return found
        case dict():
            return {name: resolve(inner, look) for name, inner in value.items()}
        case list():
            return [resolve(inner, look) for inner in value]
        case _:
            return value


def value_of(expression: Expression, look: Callable[[Path], Found]) -> Found:
    """The value of an input expression. Only its existence counts, not its truth (Agent/Expressions)."""
    match expression:
        case Path():
            return look(expression)
        case FirstOf(operands):
            return next((found for found in map(look, operands) if found is not MISSING), MISSING)
        case AllOf(operands):
            found = [look(path) for path in operands]
            return MISSING if MISSING in found else found[-1]


def _paths(text: str, operator: str) -> tuple[Path, ...]:
    return tuple(_path(operand.strip(), text) for operand in text.split(operator))


def _path(operand: str, text: str) -> Path:
    found = _PATH.fullmatch(operand)
    if found is None:
        where = f"{operand!r} in {text!r}" if operand != text else repr(text)
        raise BadExpression(
            f"{where} is not a reference; the form is {DAGGER}KIND.KEY.KEY, without empty keys or spaces"
        )
    return Path(found["kind"], tuple(found["keys"].split(".")[1:]))
