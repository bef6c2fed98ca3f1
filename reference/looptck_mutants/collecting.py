"""Collects the mutants that the modules of a package define."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from looptck_mutants.breaking import DRIVER, driver_of


def defined_in(package: str, path: Iterable[str]) -> tuple[type[Any], ...]:
    """The drivers of all mutants in the package with this path, by module and in order of definition."""
    modules = [import_module(f"{package}.{one.name}") for one in iter_modules(path)]
    return tuple(
        driver_of(one)
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and one.__module__ == module.__name__ and DRIVER in vars(one)
    )
