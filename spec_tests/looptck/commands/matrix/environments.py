"""Environments: where the packages of a target are installed, and how its driver is started there."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

from looptck import driver
from looptck.catalogue.data import driver_package
from looptck.commands.matrix.targets import Target
from looptck.values.frozen import dataclass

SCRIPTS = "Scripts" if os.name == "nt" else "bin"
NO_PROXY = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
HELPERS = ("javascript/looptck-driver.mjs", "javascript/looptck-zod.mjs")
VARIANT = "LOOPTCK_VARIANT"
"""The environment variable that tells a driver which variant it is; absent or empty for the first usual way."""


class NotInstalled(Exception):
    """The packages of a target cannot be installed; the message ends in what the installer said."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of a target, which its variants share."""

    target: Target
    kept: Path
    """The folder of all environments."""

    @property
    def folder(self) -> Path:
        """Where what belongs to the target alone may be written."""
        return self.kept / self.target.name

    @property
    def place(self) -> Path:
        return self.kept / self.target.installed / ("node" if self.target.is_javascript else "venv")

    @property
    def commands(self) -> Path:
        """The folder of the commands that were installed."""
        return self.place / "node_modules" / ".bin" if self.target.is_javascript else self.place / SCRIPTS

    @property
    def runs_drivers(self) -> Path:
        """What runs the target's driver; for Node.js the one of the packages, if one of them brought it."""
        if not self.target.is_javascript:
            return self.place / SCRIPTS / "python"
        own = self.commands / "node"
        return own if own.exists() else Path("node")

    def install(self, *, quiet: bool = False) -> None:
        """Install what is required, anew where the requirements are others by now.

        Raises:
            NotInstalled: the installer failed.
        """
        required = self.target.requirements.read_text(encoding="utf-8")
        made_for = self.place / "made-for.txt"
        if made_for.is_file() and made_for.read_text(encoding="utf-8") == required:
            return
        shutil.rmtree(self.place, ignore_errors=True)
        install = self._npm if self.target.is_javascript else self._uv if _which("uv") else self._pip
        install(quiet)
        made_for.write_text(required, encoding="utf-8")

    def _npm(self, quiet: bool) -> None:
        self.place.mkdir(parents=True)
        shutil.copy(self.target.requirements, self.place)
        npm = shutil.which("npm") or "npm"
        _call([npm, "install", "--no-audit", "--no-fund", "--loglevel=error"], self.place, quiet=quiet)

    def _uv(self, quiet: bool) -> None:
        uv = _which("uv") or "uv"
        _call([uv, "venv", "--quiet", "--python", sys.executable, str(self.place)], quiet=quiet)
        words = ["--python", str(self.place), "-r", str(self.target.requirements)]
        _call([uv, "pip", "install", "--quiet", *words], quiet=quiet)

    def _pip(self, quiet: bool) -> None:
        venv.create(self.place, clear=True, with_pip=True)
        words = ["-m", "pip", "install", "--quiet", "-r", str(self.target.requirements)]
        _call([str(self.runs_drivers), *words], quiet=quiet)

    @property
    def line(self) -> str:
        """What ``--driver`` takes."""
        if self.target.server.is_file():
            return f"server:{self.target.server}"
        if self.target.is_program:
            return f"program:{self.target.program}"
        if self.target.is_javascript:
            return "cmd:" + shlex.join([str(self.runs_drivers), str(self._beside_its_modules())])
        return "cmd:" + shlex.join([str(self.runs_drivers), driver.__file__, f"{self.target.driver}:Driver"])

    def _beside_its_modules(self) -> Path:
        """A copy of the driver where Node.js finds the packages: it looks imports up from the file that has them.

        What all drivers in JavaScript share is copied beside it: the package of helpers, and the modules of the folder
        of targets.
        """
        folder = self.target.folder
        for module in [*map(driver_package, HELPERS), *folder.parent.glob("*.mjs"), *folder.glob("*.mjs")]:
            shutil.copy(module, self.place)
        return self.place / self.target.driver.name

    @property
    def variables(self) -> Mapping[str, str]:
        """What the suite's process has in its environment beside what there is.

        No proxy may stand between target and kit, and no client that it makes shall read a bundle of certificates:
        Prompty makes a client for each model call, and each would spend 20 ms on certificates that plain HTTP never
        uses. A folder without certificates in it costs nothing.
        """
        around = {**NO_PROXY, "SSL_CERT_FILE": "", "SSL_CERT_DIR": str(self.folder)}
        if self.target.server.is_file() or self.target.is_program:
            first = self.commands if self.target.is_program else self.place / SCRIPTS
            around = {**NO_PROXY, "PATH": os.pathsep.join([str(first), os.environ.get("PATH", os.defpath)])}
        return {**around, VARIANT: self.target.variant or ""}

    def words(self, command: str) -> list[str]:
        """The command line that plays the target with a command of looptck: run or smoke."""
        words = [sys.executable, "-m", "looptck.cli", command, "--driver", self.line]
        if command == "run" and self.target.known_failures.is_file():
            words += ["--known-failures", str(self.target.known_failures)]
        return words


def _which(name: str) -> str | None:
    """A command that is installed beside this Python, or elsewhere."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return shutil.which(name, path=beside)


LAST = 400
"""The most characters of what an installer said."""


def _call(words: Sequence[str], cwd: Path | None = None, *, quiet: bool) -> None:
    try:
        done = subprocess.run(words, cwd=cwd, check=False, capture_output=quiet, text=True, errors="replace")
    except OSError as error:
        raise NotInstalled(f"{words[0]}: {error.strerror or error}") from error
    if done.returncode:
        said = f"{done.stdout or ''}{done.stderr or ''}".strip()[-LAST:]
        raise NotInstalled(f"{' '.join(words[:3])} ended with status {done.returncode}{f': {said}' if said else ''}")
