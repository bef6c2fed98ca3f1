"""Runs the kit against real implementations, each in an environment of its own.

    python spec_tests/targets/run.py [smoke] [NAME ...] [OPTION of looptck run or smoke ...]

A target is a folder here: what to install (``requirements.txt``, or ``package.json`` for one in JavaScript), how to
drive it (``driver.py`` or ``driver.mjs``, which ``server.yaml`` describes where it is a server; for a whole program, in
``programs/``, its description ``program.yaml``, and ``program@VARIANT.yaml`` for another wire), what its driver
chooses (``README.md``), and where present what is known to be wrong with it (``known-failures.yaml``).

A target of several ages has files for each of them, ``requirements-AGE.txt`` and ``known-failures-AGE.yaml``, and one
driver: ``NAME@AGE`` is one of them, ``NAME`` all. A second usual way to use it is a variant, which ``variants.yaml``
names and the driver reads from LOOPTCK_VARIANT: ``NAME@VARIANT`` or ``NAME@AGE@VARIANT``, with known failures of its
own (``known-failures@VARIANT.yaml``). Names may be patterns, such as ``langchain@*``. Without a name every target is
run in its first way, without variants. Environments and results are kept in ``.tox/targets/``.

The first argument that begins with a dash and all that follow go to ``looptck run``, or with the word ``smoke`` in
front to ``looptck smoke``. Exit status: 0 if every run was clean, 1 if one was not, 2 for a name that is no target.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import Self

import yaml

TARGETS = Path(__file__).resolve().parent
ROOT = TARGETS.parents[1]
KEPT = ROOT / ".tox" / "targets"
SERVE = ROOT / "spec_tests" / "looptck" / "driver.py"
PACKAGE = ROOT / "drivers" / "javascript"
"""What drivers in JavaScript import."""
NO_PROXY = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
VARIANT = "LOOPTCK_VARIANT"
"""The environment variable that tells a driver which variant it is; absent or empty for the first usual way."""
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


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
    def kept(self) -> Path:
        """Where its results are."""
        return KEPT / self.name

    @property
    def place(self) -> Path:
        """Where its environment is, which its variants share."""
        return KEPT / self.installed / ("node" if self.is_javascript else "venv")

    @property
    def is_javascript(self) -> bool:
        return self.requirements.suffix == ".json"

    @property
    def commands(self) -> Path:
        """The folder of the commands that were installed."""
        return self.place / "node_modules" / ".bin" if self.is_javascript else self.place / SCRIPTS

    @property
    def requirements(self) -> Path:
        package = self.folder / "package.json"
        return package if package.is_file() else self._file("requirements", ".txt")

    @property
    def program(self) -> Path:
        """The description of a whole program; a variant has one of its own."""
        return self.folder / ("program.yaml" if self.variant is None else f"program@{self.variant}.yaml")

    @property
    def is_program(self) -> bool:
        return (self.folder / "program.yaml").is_file()

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

    def variants(self) -> Iterator[Self]:
        """The other usual ways to use it: those of its age."""
        file = self.folder / "variants.yaml"
        for name, one in (yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}).items():
            if self.age is None or self.age in one.get("ages", [self.age]):
                yield replace(self, variant=name)

    def _file(self, stem: str, suffix: str) -> Path:
        return self.folder / (f"{stem}{suffix}" if self.age is None else f"{stem}-{self.age}{suffix}")


def targets() -> list[Target]:
    """All that there are, those of one folder beside each other, each before its variants."""
    required = [*TARGETS.glob("*/requirements*.txt"), *TARGETS.glob("*/package.json")]
    required += [*TARGETS.glob("programs/*/requirements*.txt"), *TARGETS.glob("programs/*/package.json")]
    first = [Target.required_by(path) for path in sorted(required)]
    return [one for target in first for one in (target, *target.variants())]


def main(arguments: list[str]) -> int:
    """Run the named targets, or all of them, or try their drivers out."""
    command, words = ("smoke", arguments[1:]) if arguments[:1] == ["smoke"] else ("run", arguments)
    names = list(takewhile(lambda argument: not argument.startswith("-"), words))
    known = targets()
    if strangers := [name for name in names if not any(_answers(target, name) for target in known)]:
        there = sorted(set().union(*(target.names for target in known)))
        print(f"no such target: {', '.join(strangers)}; there are {', '.join(there)}", file=sys.stderr)
        return 2
    clean = True
    for target in known:
        if any(_answers(target, name) for name in names) if names else target.variant is None:
            print(f"== {target.name}", flush=True)
            clean &= run(target, environment(target), words[len(names) :], command) == 0
    return 0 if clean else 1


def _answers(target: Target, name: str) -> bool:
    return any(fnmatchcase(one, name) for one in target.names)


def environment(target: Target) -> Path:
    """What runs the target's driver, in an environment made anew where its requirements are others by now."""
    place = target.place
    required = target.requirements.read_text(encoding="utf-8")
    made_for = place / "made-for.txt"
    if not made_for.is_file() or made_for.read_text(encoding="utf-8") != required:
        shutil.rmtree(place, ignore_errors=True)
        install = _npm if target.is_javascript else _uv if shutil.which("uv", path=_path()) else _pip
        install(target.requirements, place)
        made_for.write_text(required, encoding="utf-8")
    return _node(place) if target.is_javascript else place / SCRIPTS / "python"


def _node(place: Path) -> Path:
    """The Node.js that came with the packages, where one of them needs a newer one than there may be."""
    own = place / "node_modules" / ".bin" / "node"
    return own if own.exists() else Path("node")


def _npm(package: Path, place: Path) -> None:
    place.mkdir(parents=True)
    shutil.copy(package, place)
    npm = shutil.which("npm") or "npm"
    subprocess.run([npm, "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=place, check=True)


def _uv(requirements: Path, place: Path) -> None:
    uv = str(shutil.which("uv", path=_path()))
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, place], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", place, "-r", requirements], check=True)


def _pip(requirements: Path, place: Path) -> None:
    venv.create(place, clear=True, with_pip=True)
    subprocess.run([place / SCRIPTS / "python", "-m", "pip", "install", "--quiet", "-r", requirements], check=True)


def line(target: Target, program: Path) -> str:
    """What ``--driver`` takes."""
    if target.server.is_file():
        return f"server:{target.server}"
    if target.is_program:
        return f"program:{target.program}"
    if target.is_javascript:
        return "cmd:" + shlex.join([str(program), str(_beside_its_modules(target))])
    return "cmd:" + shlex.join([str(program), str(SERVE), f"{target.driver}:Driver"])


def _beside_its_modules(target: Target) -> Path:
    """A copy of the driver where Node.js finds what was installed: it looks imports up from the file that has them.

    Beside it are the modules of its folder, those of all targets, and the package for drivers.
    """
    for module in (*target.folder.glob("*.mjs"), *TARGETS.glob("*.mjs"), PACKAGE / "looptck-driver.mjs"):
        shutil.copy(module, target.place)
    return target.place / target.driver.name


def run(target: Target, program: Path, options: list[str], command: str = "run") -> int:
    """Run the suite against one target, or try its driver out; its exit status."""
    words = [sys.executable, "-m", "looptck.cli", command, "--driver", line(target, program)]
    if command == "run":
        target.kept.mkdir(parents=True, exist_ok=True)
        words += ["--thorough", "--json", str(target.kept / "results.json")]
        if target.known_failures.is_file():
            words += ["--known-failures", str(target.known_failures)]
    around = surroundings(target.kept)
    if target.server.is_file() or target.is_program:
        around = NO_PROXY | {"PATH": _path(target.commands if target.is_program else program.parent)}
    environ = os.environ | around | {VARIANT: target.variant or ""}
    return subprocess.run([*words, *options], env=environ, check=False).returncode


def _path(first: Path = Path(sys.executable).parent) -> str:
    return os.pathsep.join([str(first), os.environ.get("PATH", os.defpath)])


def surroundings(folder: Path) -> dict[str, str]:
    """No proxy may stand between target and kit, and no client that it makes shall read a bundle of certificates.

    Prompty makes a client for each model call, and each would spend 20 ms on certificates that plain HTTP never uses.
    A folder without certificates in it costs nothing.
    """
    return {**NO_PROXY, "SSL_CERT_FILE": "", "SSL_CERT_DIR": str(folder)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
