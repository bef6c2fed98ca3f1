"""``looptck init``: a driver file to start from, and the commands that test it."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

from looptck import driver
from looptck.catalogue.data import driver_package
from looptck.values.frozen import dataclass

Kind = Literal["python", "process", "javascript"]
BESIDE: dict[Kind, dict[str, Path]] = {
    "python": {},
    "process": {"looptck_driver.py": Path(driver.__file__)},
    "javascript": {
        name: driver_package(f"javascript/{name}")
        for name in ("looptck-driver.mjs", "looptck-driver.d.mts", "looptck-zod.mjs")
    },
}
"""What is copied beside a driver whose environment lacks looptck: the file's name, and the original."""


@dataclass(frozen=True, slots=True)
class Made:
    """The files that were written, and the value for `--driver`."""

    files: tuple[Path, ...]
    driver: str


def write(kind: Kind, into: Path) -> Made:
    """Write a driver into a folder.

    Args:
        kind: "python" for a class in the environment of looptck, "process" for the same class in a separate
            environment, "javascript" for a program in Node.js.
        into: The folder; it is created if it does not exist.

    Raises:
        FileExistsError: one of the files exists; no file is written.
    """
    name = "driver.mjs" if kind == "javascript" else "driver.py"
    wanted = [into / name, *(into / beside for beside in BESIDE[kind])]
    for path in wanted:
        if path.exists():
            raise FileExistsError(f"{path} exists already; no file was written")
    into.mkdir(parents=True, exist_ok=True)
    with as_file(files("looptck.commands") / "templates" / name) as template:
        shutil.copyfile(template, wanted[0])
    for beside, original in BESIDE[kind].items():
        shutil.copyfile(original, into / beside)
    match kind:
        case "python":
            words = f"python:{wanted[0]}:Driver"
        case "process":
            words = f"cmd:python {wanted[1]} {wanted[0]}:Driver"
        case "javascript":
            words = f"cmd:node {wanted[0]}"
    return Made(tuple(wanted), words)
