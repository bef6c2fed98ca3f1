"""Importing a package anew, with some of its modules changed; meant for a process that ends with it."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType


class _Changed(MetaPathFinder, Loader):
    """Finds modules where they are, and executes other trees than theirs."""

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        self._trees = trees

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname in self._trees else None
        if spec is not None:
            spec.loader = self
        return spec

    def exec_module(self, module: ModuleType) -> None:
        file = module.__spec__.origin if module.__spec__ else None
        exec(compile(self._trees[module.__name__], file or "<mutated>", "exec"), module.__dict__)  # noqa: S102


def forget(packages: Iterable[str]) -> None:
    """Let these packages, and everything in them, be imported anew."""
    for package in packages:
        for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
            del sys.modules[name]
    importlib.invalidate_caches()


def change(trees: Mapping[str, ast.Module], packages: Iterable[str]) -> None:
    """Let modules, by their full names, be imported with these trees, and everything in these packages anew.

    What is held of a module that was imported before stays as it was.
    """
    forget(packages)
    sys.meta_path.insert(0, _Changed(trees))


def full_name(package: str, module: str) -> str:
    """The name by which a module is imported; ``module`` is its path inside its package."""
    parts = [package, *Path(module).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
