"""Gathers the mutants that modules define."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def defined_in(*modules: ModuleType) -> tuple[type[Any], ...]:
    """The mutants of these modules, in their order; what a module imports, or gives no `breaks`, is not one of its."""
    return tuple(
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and one.__module__ == module.__name__ and "breaks" in vars(one)
    )
