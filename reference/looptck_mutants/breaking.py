"""How a mutant is declared: it replaces one part of the reference, and `breaks` names the requirements that must fail.

    @breaks("limit-is-a-ceiling", collateral={"limit-of-zero-runs-no-tool": "one model call is one round of tools"})
    class OneTooMany(Loop):
        '''Asks the model once more than its limit allows.'''

        def limit_reached(self) -> bool:
            return self.model_calls > self.limit

The base class determines the part: a loop, a wire, the stream of a wire, and so on. The docstring's first sentence
states the fault. `looptck kill` runs the suite on the driver with this part replaced, and requires that exactly the
named requirements fail. A mutant that replaces several parts is itself a driver that names them:

    @breaks("retry-never-reruns-a-tool")
    class RetryRerunsTools(Driver):
        '''Runs the last calls again before it repeats a request.'''

        loop = Remembers
        invoker = asking(Rerunning)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

__all__ = ["Breaks", "Collateral", "driver_of", "holding"]

Collateral = Mapping[str | tuple[str, ...], str]
"""Requirements, single or in tuples, with the reason why they fail together with the broken ones."""

Part = TypeVar("Part")
Holder = Callable[[type[Any]], type[Any]]
"""Makes a variant of the next larger part, or of the driver, from a variant of one of its parts."""

DRIVER = "driver"
"""The attribute of a mutant that holds the driver with the mutant as a part."""


def driver_of(mutant: type[Any]) -> type[Any]:
    """The driver, or the bench of servers, with this mutant as a part."""
    driver: type[Any] = vars(mutant)[DRIVER]
    return driver


def holding(owner: type[Any], name: str) -> Holder:
    """A holder that makes subclasses of `owner` with a variant as the class attribute `name`."""
    return lambda variant: type(variant.__name__, (owner,), {name: variant, "__module__": variant.__module__})


class Breaks:
    """The decorator of the mutants of one reference, with the reference's driver and its parts."""

    def __init__(self, driver: type[Any], *, cells: Sequence[str], parts: Mapping[type[Any], Holder]) -> None:
        self._driver = driver
        self._cells = tuple(cells)
        self._parts = dict(parts)

    @property
    def parts(self) -> Mapping[type[Any], Holder]:
        """The parts that a mutant may replace, with what holds each."""
        return self._parts

    def part_of(self, owner: type[Any], name: str) -> Callable[[type[Part]], type[Part]]:
        """Register the common base of mutants: their driver has them as the attribute `name` of `owner`."""

        def register(base: type[Part]) -> type[Part]:
            self._parts[base] = holding(owner, name)
            return base

        return register

    def __call__(
        self,
        *requirements: str,
        collateral: Collateral | None = None,
        cells: Sequence[str] | None = None,
        broad: bool = False,
    ) -> Callable[[type[Part]], type[Part]]:
        """Decorate a mutant with the requirements that must fail, all of one profile.

        ``collateral`` names the requirements that fail as a consequence in some cell, each with the reason;
        requirements that are only not reached do not count as failed. ``cells`` are the cells in which a quick matrix
        runs the mutant: the fewest in which all broken requirements fail. A ``broad`` mutant has a fault that makes
        many other requirements fail: it proves that many cases can fail, and only the checks of the requirements that
        it breaks are judged.
        """

        def decorate(mutant: type[Part]) -> type[Part]:
            namespace = {
                "__doc__": mutant.__doc__,
                "__module__": mutant.__module__,
                "__qualname__": f"{mutant.__qualname__}.{DRIVER}",
                "breaks": requirements,
                "collateral": _flat(collateral or {}),
                "cells": self._cells if cells is None else tuple(cells),
                "broad": broad,
            }
            setattr(mutant, DRIVER, type(mutant.__name__, (self._whole(mutant),), namespace))
            return mutant

        return decorate

    def _whole(self, part: type[Any]) -> type[Any]:
        """The driver with this part, made through all intermediate parts."""
        while not issubclass(part, self._driver):
            holder = next((self._parts[base] for base in part.__mro__ if base in self._parts), None)
            if holder is None:
                raise TypeError(f"{part.__name__} is not a variant of any part of {self._driver.__name__}")
            part = holder(part)
        return part


def _flat(collateral: Collateral) -> dict[str, str]:
    """The reason for each requirement."""
    return {id: reason for ids, reason in collateral.items() for id in ((ids,) if isinstance(ids, str) else ids)}
