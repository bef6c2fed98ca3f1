"""How a mutant of the program is declared: it replaces the program, or any part of the loop that it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from looptck_mutants import parts
from looptck_mutants.breaking import Breaks
from looptck_mutants.cells import CHAT_STREAM
from looptck_reference.kit.driver import Driver
from looptck_reference.program import Equipped, Program

__all__ = ["breaks", "equipped"]

Part = TypeVar("Part")


def _breaks_of(program: type[Program]) -> Breaks:
    """The decorator for mutants of a program, and of any part that it runs."""

    def around(driver: type[Any]) -> type[Any]:
        """The program around the parts of a driver of the kit."""
        members = {name: getattr(driver, name) for name in ("loop", "invoker", "wires", "__module__")}
        return type(driver.__name__, (program,), {**members, "dialect": driver.dialects["core"]})

    return Breaks(program, cells=CHAT_STREAM, parts={**parts.breaks.parts, Driver: around})


_breaks, _equipped = _breaks_of(Program), _breaks_of(Equipped)


def breaks(*requirements: str, cells: Sequence[str] = CHAT_STREAM) -> Callable[[type[Part]], type[Part]]:
    """Decorate a mutant with the requirements that must fail; it is judged by their checks only."""
    return _breaks(*requirements, cells=cells, broad=True)


def equipped(*requirements: str, cells: Sequence[str] = CHAT_STREAM) -> Callable[[type[Part]], type[Part]]:
    """As `breaks`, for a program that is given the kit's tools."""
    return _equipped(*requirements, cells=cells, broad=True)
