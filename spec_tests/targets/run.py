"""Runs the kit against real implementations, each in an environment of its own.

    python spec_tests/targets/run.py [NAME ...] [OPTION of looptck run ...]

A target is a folder here: what to install (``requirements.txt``), how to drive it (``driver.py``, which ``server.yaml``
describes where it is a server), and where present what is known to be wrong with it (``known-failures.yaml``). A target
of several ages has files for each of them, ``requirements-AGE.txt`` and ``known-failures-AGE.yaml``, and one driver;
its ages are named ``NAME@AGE``, and ``NAME`` is all of them. Environments and results are kept in ``.tox/targets/``.
The first argument that begins with a dash and all that follow go to ``looptck run``.
Exit status: 0 if every run was clean, 1 if one was not, 2 for a name that is no target.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import venv
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Self

TARGETS = Path(__file__).resolve().parent
ROOT = TARGETS.parents[1]
KEPT = ROOT / ".tox" / "targets"
SERVE = ROOT / "spec_tests" / "looptck" / "drivers" / "serve.py"
NO_PROXY = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@dataclass(frozen=True, slots=True)
class Target:
    """An implementation, at one age where it has several."""

    folder: Path
    age: str | None

    @classmethod
    def required_by(cls, requirements: Path) -> Self:
        """The target that such a file makes one."""
        _, dash, age = requirements.stem.partition("-")
        return cls(requirements.parent, age if dash else None)

    @property
    def name(self) -> str:
        return self.folder.name if self.age is None else f"{self.folder.name}@{self.age}"

    @property
    def kept(self) -> Path:
        """Where its environment and its results are."""
        return KEPT / self.name

    @property
    def requirements(self) -> Path:
        return self._file("requirements", ".txt")

    @property
    def server(self) -> Path:
        """The description of a server, which finds the environment's Python under its own name."""
        return self.folder / "server.yaml"

    @property
    def known_failures(self) -> Path:
        return self._file("known-failures", ".yaml")

    def _file(self, stem: str, suffix: str) -> Path:
        return self.folder / (f"{stem}{suffix}" if self.age is None else f"{stem}-{self.age}{suffix}")


def targets() -> list[Target]:
    """All that there are, those of one folder beside each other."""
    return [Target.required_by(path) for path in sorted(TARGETS.glob("*/requirements*.txt"))]


def main(arguments: list[str]) -> int:
    """Run the named targets, or all of them."""
    names = list(takewhile(lambda argument: not argument.startswith("-"), arguments))
    known = targets()
    words = {target.name for target in known} | {target.folder.name for target in known}
    if strangers := [name for name in names if name not in words]:
        print(f"no such target: {', '.join(strangers)}; there are {', '.join(sorted(words))}", file=sys.stderr)
        return 2
    clean = True
    for target in known:
        if not names or {target.name, target.folder.name} & set(names):
            print(f"== {target.name}", flush=True)
            clean &= run(target, environment(target), arguments[len(names) :]) == 0
    return 0 if clean else 1


def environment(target: Target) -> Path:
    """The Python of the target's environment, made anew where its requirements are not those that it was made for."""
    place = target.kept / "venv"
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    required = target.requirements.read_text(encoding="utf-8")
    made_for = place / "requirements.txt"
    if not made_for.is_file() or made_for.read_text(encoding="utf-8") != required:
        venv.create(place, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", target.requirements], check=True)
        made_for.write_text(required, encoding="utf-8")
    return python


def run(target: Target, python: Path, options: list[str]) -> int:
    """Run the suite against one target; its exit status."""
    line = shlex.join([str(python), str(SERVE), f"{target.folder / 'driver.py'}:Driver"])
    serves = target.server.is_file()
    command = [
        sys.executable,
        "-m",
        "looptck.cli",
        "run",
        "--driver",
        f"server:{target.server}" if serves else f"cmd:{line}",
    ]
    command += ["--json", str(target.kept / "results.json")]
    if target.known_failures.is_file():
        command += ["--known-failures", str(target.known_failures)]
    environ = os.environ | (NO_PROXY | {"PATH": _path(python)} if serves else surroundings(target.kept))
    return subprocess.run([*command, *options], env=environ, check=False).returncode


def _path(python: Path) -> str:
    return os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)])


def surroundings(folder: Path) -> dict[str, str]:
    """No proxy may stand between target and kit, and no client that it makes shall read a bundle of certificates.

    Prompty makes a client for each model call, and each would spend 20 ms on certificates that plain HTTP never uses.
    A folder without certificates in it costs nothing.
    """
    return {**NO_PROXY, "SSL_CERT_FILE": "", "SSL_CERT_DIR": str(folder)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
