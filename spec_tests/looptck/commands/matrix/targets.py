"""Targets: the implementations of a folder, each with what to install and how to drive it.

A target is a folder: what to install (``requirements.txt``, or ``package.json`` for one in JavaScript), how to drive it
(``driver.py`` or ``driver.mjs``, which ``server.yaml`` describes where it is a server; for a whole program, in
``programs/``, its description ``program.yaml``, and ``program@VARIANT.yaml`` for another wire), what its driver chooses
(``README.md``), and where present what is known to be wrong with it (``known-failures.yaml``) and reports of it
(``reports/*.md``).

A target of several ages has files for each of them, ``requirements-AGE.txt`` and ``known-failures-AGE.yaml``, and one
driver: ``NAME@AGE`` is one of them, ``NAME`` all. A second usual way to use it is a variant, which ``variants.yaml``
names and the driver reads from LOOPTCK_VARIANT: ``NAME@VARIANT`` or ``NAME@AGE@VARIANT``, with known failures of its
own (``known-failures@VARIANT.yaml``). Names may be patterns, such as ``langchain@*``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import Self

from looptck.catalogue.requirements import unknown
from looptck.catalogue.yaml_files import BadFile, parse
from looptck.values.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """An implementation, at one age where it has several, used in one way."""

    folder: Path
    age: str | None = None
    variant: str | None = None

    @classmethod
    def required_by(cls, requirements: Path) -> Self:
        """The target that such a file makes one."""
        _, dash, age = requirements.stem.partition("-")
        return cls(requirements.parent, age if dash else None)

    @property
    def installed(self) -> str:
        """The name of what is installed, whatever way it is used in."""
        return self.folder.name if self.age is None else f"{self.folder.name}@{self.age}"

    @property
    def name(self) -> str:
        return self.installed if self.variant is None else f"{self.installed}@{self.variant}"

    @property
    def names(self) -> set[str]:
        """All that it answers to: without its age it goes by the name of all ages."""
        return {self.name, self.folder.name if self.variant is None else f"{self.folder.name}@{self.variant}"}

    @property
    def kind(self) -> str:
        """loop, server or program."""
        return "program" if self.is_program else "server" if self.server.is_file() else "loop"

    @property
    def is_javascript(self) -> bool:
        return self.requirements.suffix == ".json"

    @property
    def is_program(self) -> bool:
        return (self.folder / "program.yaml").is_file()

    @property
    def requirements(self) -> Path:
        package = self.folder / "package.json"
        return package if package.is_file() else self._file("requirements", ".txt")

    @property
    def program(self) -> Path:
        """The description of a whole program; a variant has one of its own."""
        return self.folder / ("program.yaml" if self.variant is None else f"program@{self.variant}.yaml")

    @property
    def driver(self) -> Path:
        if self.is_program:
            return self.program
        return self.folder / ("driver.mjs" if self.is_javascript else "driver.py")

    @property
    def server(self) -> Path:
        """The description of a server, which finds the environment's Python under its own name."""
        return self.folder / "server.yaml"

    @property
    def known_failures(self) -> Path:
        return self._file("known-failures", ".yaml" if self.variant is None else f"@{self.variant}.yaml")

    @property
    def digest(self) -> str:
        """A fingerprint of its folder, and of the modules beside it that drivers share.

        What it does not change are notes, reports and known failures, which are read with the results.
        """
        files = [*self.folder.rglob("*"), *self.folder.parent.glob("*.py"), *self.folder.parent.glob("*.mjs")]
        made = blake2b(digest_size=8)
        for path in sorted(path for path in files if _makes_results(path)):
            made.update(path.name.encode())
            made.update(path.read_bytes())
        return made.hexdigest()

    def answers(self, name: str) -> bool:
        """Whether a name, or a pattern of names, means it."""
        return any(fnmatchcase(one, name) for one in self.names)

    def variants(self) -> Iterator[Self]:
        """The other usual ways to use it: those of its age. Raises BadFile where the file of them names none."""
        file = self.folder / "variants.yaml"
        found = parse(file, given=True) if file.is_file() else {}
        if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
            raise BadFile(file, "is no mapping of the names of variants to what is said of each")
        for name, one in found.items():
            if self.age is None or self.age in one.get("ages", [self.age]):
                yield replace(self, variant=name)

    def _file(self, stem: str, suffix: str) -> Path:
        return self.folder / (f"{stem}{suffix}" if self.age is None else f"{stem}-{self.age}{suffix}")


def _makes_results(path: Path) -> bool:
    known = path.name.startswith("known-failures")
    return path.is_file() and not known and path.suffix not in {".pyc", ".md"}


class NoSuchTarget(Exception):
    """Names that mean no target; the message lists those that do."""


def targets(folder: Path) -> list[Target]:
    """All that there are, those of one folder beside each other, each before its variants.

    Raises:
        BadFile: a file of variants names none.
    """
    required = [*folder.glob("*/requirements*.txt"), *folder.glob("*/package.json")]
    required += [*folder.glob("programs/*/requirements*.txt"), *folder.glob("programs/*/package.json")]
    first = [Target.required_by(path) for path in sorted(required)]
    return [one for target in first for one in (target, *target.variants())]


def chosen(known: Iterable[Target], names: Iterable[str]) -> list[Target]:
    """The targets that the names mean; without names all in their first way, without variants.

    Raises:
        NoSuchTarget: a name means none.
    """
    known, names = [*known], [*names]
    if strangers := [name for name in names if not any(target.answers(name) for target in known)]:
        there = sorted(set().union(*(target.names for target in known)))
        raise NoSuchTarget("\n".join(_stranger(name, there) for name in strangers))
    return [one for one in known if (any(map(one.answers, names)) if names else one.variant is None)]


def _stranger(name: str, there: list[str]) -> str:
    """A message for a name that means no target: with similar names, else with all that are no variant."""
    said = unknown("target", name, there)
    return said if ";" in said else f"{said}; there are {', '.join(one for one in there if '@' not in one)}"
