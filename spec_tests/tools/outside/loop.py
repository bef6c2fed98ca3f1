"""A loop from outside: the folder that holds it and its driver, and the mutants of its modules."""

from __future__ import annotations

import ast
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path

from looptck.suite.options import CouldNotRun
from tools.mutation.further import FURTHER
from tools.mutation.sites import Site, difference, mutated, sites

LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.pyc", "node_modules", "venv", "env")
"""What of a folder is not copied."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one module of a loop."""

    site: Site
    original: str
    """The source of the module."""
    source: str
    """The same with the change made."""

    @property
    def name(self) -> str:
        return self.site.name

    @property
    def module(self) -> str:
        """The path of the module in the folder."""
        return self.site.module

    @property
    def shown(self) -> tuple[str, str]:
        """What stood there, and what stands there instead."""
        return difference(self.original, self.site, FURTHER)

    @property
    def digest(self) -> str:
        """The same only as long as the module is, but for the change."""
        return sha256(f"{self.module}\0{self.source}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Loop:
    """A driver, and the modules of the loop beside it."""

    driver: Path
    modules: Mapping[str, str]
    """Their sources, by their paths in the folder of the driver."""

    @classmethod
    def beside(cls, driver: Path, modules: tuple[str, ...]) -> Loop:
        """The loop of these modules; of all other files in Python beside the driver where none is named.

        Raises:
            CouldNotRun: a file is not there, or is no Python.
        """
        beside = (path for path in sorted(driver.parent.glob("*.py")) if path.name != driver.name)
        names = modules or tuple(path.name for path in beside if path.name != "looptck_driver.py")
        try:
            found = {name: (driver.parent / name).read_text(encoding="utf-8") for name in names}
            for name, source in found.items():
                ast.parse(source, name)
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            raise CouldNotRun(str(error)) from error
        if not found or not driver.is_file():
            raise CouldNotRun(f"there is no driver {driver}, or no module beside it")
        return cls(driver, found)

    @property
    def digest(self) -> str:
        """The same only as long as driver and modules are."""
        parts = [self.driver.read_text(encoding="utf-8"), *self.modules, *self.modules.values()]
        return sha256("\0".join(parts).encode()).hexdigest()[:16]

    def mutants(self, reached: Mapping[str, set[int]]) -> Iterator[Mutant]:
        """All mutants on lines that were reached, in the order of the sources; no two of them are the same module.

        One that has no value at all for a name is left out, since anything shows it.
        """
        for module, source in self.modules.items():
            whole = ast.parse(source)
            seen, bound = {ast.unparse(whole)}, _bound(whole)
            lines = reached.get(module, set())
            for site in sites(module, source, FURTHER):
                tree = mutated(source, site, FURTHER)
                text = ast.unparse(tree)
                if text not in seen and (not site.runs or lines.intersection(site.lines)) and bound == _bound(tree):
                    seen.add(text)
                    yield Mutant(site, source, text)

    def copied(self, folder: Path, changed: Mapping[str, str]) -> Path:
        """The driver in a copy of its folder in which these modules are other ones."""
        shutil.copytree(self.driver.parent, folder, ignore=LEFT_OUT)
        for module, source in changed.items():
            (folder / module).write_text(source, encoding="utf-8")
        return folder / self.driver.name


def _bound(tree: ast.Module) -> set[str]:
    """The names that are given a value somewhere."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def sample(mutants: Sequence[Mutant], count: int | None, seed: int) -> list[Mutant]:
    """So many of them, at random, of each kind of change in turn; without a count, all of them in their order.

    Those of a greater count begin with those of a smaller one.
    """
    if count is None:
        return list(mutants)
    kinds: dict[tuple[str, str], list[Mutant]] = {}
    for one in random.Random(seed).sample(mutants, len(mutants)):  # noqa: S311
        words = one.site.operator.split()
        kinds.setdefault((words[0], words[-1]), []).append(one)
    turns = zip_longest(*kinds.values())
    return [one for turn in turns for one in turn if one is not None][:count]
