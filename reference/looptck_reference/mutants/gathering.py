"""Gathers the mutants that modules define."""

from __future__ import annotations

from types import ModuleType

from looptck_reference.mutants.mutant import Mutant


def defined_in(*modules: ModuleType) -> tuple[type[Mutant], ...]:
    """The mutants of these modules, in their order; what a module imports, or gives no `breaks`, is not one of its."""
    return tuple(
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type)
        and issubclass(one, Mutant)
        and one.__module__ == module.__name__
        and "breaks" in vars(one)
    )
