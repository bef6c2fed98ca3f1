"""Jinja2 with bounds on time and size: a template cannot compute for ever, nor fill the memory, whoever wrote it.

The sandbox keeps templates from running Python. On top of that every round of a loop and every call of a macro is
counted, and whatever may make something large from something small is checked before it does so: operators, filters,
and methods. None of these is evaluated when a template is compiled, where nothing could bound it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sized
from contextvars import ContextVar
from functools import wraps
from math import prod
from typing import Any, ClassVar

from jinja2 import StrictUndefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

__all__ = ["BoundedEnvironment"]

MOST_STEPS = 100_000
"""Rounds of loops and calls of macros in one rendering."""
LARGEST = 16 * 1024 * 1024
"""Of one value: its characters, and `ENTRY` for each of its entries."""
ENTRY = 16
MOST_BITS = 10_000
"""Of one whole number."""

_steps: ContextVar[int] = ContextVar("steps", default=0)


class _Generator(CodeGenerator):
    """Compiles `~` to a method of the environment."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802  Jinja2 calls it
        self.write("environment.joined((")
        for one in node.nodes:
            self.visit(one, frame)
            self.write(", ")
        self.write("))")


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """An environment whose templates raise SecurityError where they need too much."""

    code_generator_class = _Generator
    intercepted_binops: ClassVar[frozenset[str]] = frozenset({"*", "**", "+", "%"})  # type: ignore[misc]

    def __init__(self) -> None:
        super().__init__(
            undefined=StrictUndefined, keep_trailing_newline=True, optimized=False, finalize=_checked_value
        )
        self.globals.pop("lipsum")  # random text of any length
        self.filters = {name: _checked(function) for name, function in self.filters.items()}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """The template's nodes, with a step counted at the beginning of each body that may be repeated."""
        found = super()._parse(source, name, filename)
        for node in found.find_all((nodes.For, nodes.Macro, nodes.CallBlock)):
            counted = nodes.Call(nodes.EnvironmentAttribute("step"), [], [], None, None)
            node.body.insert(0, nodes.ExprStmt(counted, lineno=node.lineno).set_environment(self))  # type: ignore[attr-defined]
        return found

    def begin(self) -> None:
        """A rendering begins: none of its steps is done."""
        _steps.set(0)

    def step(self) -> None:
        """Another step of the rendering."""
        _steps.set(_steps.get() + 1)
        if _steps.get() > MOST_STEPS:
            raise SecurityError(f"more than {MOST_STEPS} rounds of loops and calls of macros")

    def joined(self, parts: Iterable[object]) -> str:
        """The text of `~`."""
        texts = [str(_checked_value(part)) for part in parts]
        _check_size(sum(map(len, texts)))
        return "".join(texts)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An operator, once its result is known to be small enough."""
        if operator == "+" and isinstance(left, Sized) and isinstance(right, Sized):
            _check_size(len(left) + len(right))
        elif operator == "*":
            for one, other in ((left, right), (right, left)):
                if isinstance(one, Sized) and isinstance(other, int):
                    _check_size(len(one) * max(other, 0))
        elif operator == "%" and isinstance(left, str):
            _check_widths(left)
        if isinstance(left, int) and isinstance(right, int):
            bits = {"*": left.bit_length() + right.bit_length(), "**": left.bit_length() * abs(right)}
            _check_size(bits.get(operator, 0), MOST_BITS)
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """The method `format` of a text, which the sandbox replaces by its own."""
        formatted = super().wrap_str_format(value)
        if formatted is None:
            return None

        def bounded(*args: Any, **named: Any) -> str:
            _check_widths(value.__self__)
            _check_arguments((value.__self__, *args, *named.values()))
            return formatted(*args, **named)

        return bounded

    def call(self, context: Context, function: Any, *args: Any, **named: Any) -> Any:
        """A method of a value, with arguments that cannot make too much of it."""
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str | bytes | list | tuple | dict | int):
            _check_arguments((owner, *args, *named.values()))
        return super().call(context, function, *args, **named)


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter with checked arguments. Jinja2 reads the attributes of the function, which are kept."""

    @wraps(function)
    def checked(*args: Any, **named: Any) -> Any:
        values = (*args, *named.values())
        if values and isinstance(values[-1], str) and "%" in values[-1]:
            _check_widths(values[-1])
        for value in values:
            if isinstance(value, str) and function.__name__ == "do_format":
                _check_widths(value)
        _check_arguments(values)
        return function(*args, **named)

    return checked


def _check_arguments(values: Iterable[Any]) -> None:
    """Texts may be multiplied with each other, and numbers are widths and counts."""
    known = [value for value in values if isinstance(value, str | bytes | list | tuple | dict | int)]
    numbers = [abs(value) for value in known if isinstance(value, int)]
    sizes = [max(_weight(value), 1) for value in known if not isinstance(value, int)]
    _check_size(max(numbers, default=0))
    _check_size(prod(sizes))


def _checked_value(value: Any) -> Any:
    """A value that is printed: a small list may hold itself in parts, many times over."""
    _weight(value)
    return value


def _weight(value: object) -> int:
    """The characters and entries in a value, entries of entries included. Raises SecurityError if too many."""
    weight, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str | bytes):
            weight += len(one)
        elif isinstance(one, list | tuple):
            weight += ENTRY * len(one)
            waiting += one
        elif isinstance(one, dict):
            weight += ENTRY * len(one)
            waiting += [*one, *one.values()]
        _check_size(weight)
    return weight


def _check_widths(form: str) -> None:
    """The widths that a form for numbers and texts names."""
    _check_size(max((int(digits) for digits in re.findall(r"\d{1,30}", form)), default=0))
    if "*" in form:
        raise SecurityError("a form whose width is an argument")


def _check_size(size: int, largest: int = LARGEST) -> None:
    if size > largest:
        raise SecurityError(f"a value of more than {largest} characters, entries or bits")
