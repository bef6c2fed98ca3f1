"""How a mutant says what it is: it replaces one part of the reference, and `breaks` says what must come of that.

    @breaks("limit-is-a-ceiling", collateral={"limit-of-zero-runs-no-tool": "one model call is one round of tools"})
    class OneTooMany(Loop):
        '''Asks the model once more than its limit allows.'''

        def limit_reached(self) -> bool:
            return self.model_calls > self.limit

The base says which part is replaced: a loop, a wire, the stream of a wire, and so on. The docstring's first sentence
states the fault. `looptck kill` plays the suite to the driver that has this part in place of its own, and demands that
exactly the requirements fail that the mutant names. A mutant of several parts is a driver itself, which names them:

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
"""Requirements, or several at a time, and the reason why they fail with the one that is broken."""

Part = TypeVar("Part")
Holder = Callable[[type[Any]], type[Any]]
"""Makes the next larger part of the reference, or the driver, that has a variant of one of its parts."""

DRIVER = "driver"
"""The attribute of a mutant that is the driver which has it for a part."""


def driver_of(mutant: type[Any]) -> type[Any]:
    """The driver, or the bench of servers, that has a mutant for one of its parts."""
    driver: type[Any] = vars(mutant)[DRIVER]
    return driver


def holding(owner: type[Any], name: str) -> Holder:
    """What makes a variant of a class that has a variant of the part which it keeps under this name."""
    return lambda variant: type(variant.__name__, (owner,), {name: variant, "__module__": variant.__module__})


class Breaks:
    """The decorator of the mutants of one reference; it knows the reference's driver and the parts of that."""

    def __init__(self, driver: type[Any], *, cells: Sequence[str], parts: Mapping[type[Any], Holder]) -> None:
        self._driver = driver
        self._cells = tuple(cells)
        self._parts = dict(parts)

    def part_of(self, owner: type[Any], name: str) -> Callable[[type[Part]], type[Part]]:
        """Decorate the common base of mutants: its variants are parts of this class, under this name."""

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
        """Decorate a mutant with what it must fail, all of one profile.

        ``collateral`` names the requirements that fail with those in some cell, each with the reason; those that are
        only not reached do not fail. ``cells`` is where a quick matrix judges the mutant: the fewest cells in which it
        fails all that it breaks. A ``broad`` mutant has a fault that much else fails with: it proves that many cases
        can fail, and is judged by the checks of what it breaks and no others.
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
        """The driver that has a part, through all that lies between them."""
        while not issubclass(part, self._driver):
            holder = next((self._parts[base] for base in part.__mro__ if base in self._parts), None)
            if holder is None:
                raise TypeError(f"{part.__name__} is a variant of no part that {self._driver.__name__} is made of")
            part = holder(part)
        return part


def _flat(collateral: Collateral) -> dict[str, str]:
    """The reason of each requirement."""
    return {id: reason for ids, reason in collateral.items() for id in ((ids,) if isinstance(ids, str) else ids)}
