"""The scratch places of a program: a HOME with its files, a working folder for each case, and the file for marks."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from looptck.drivers.programs.description import Description, filled
from looptck.guard.network import is_cut_off
from looptck.values.frozen import dataclass

NOWHERE = "http://127.0.0.1:9"
"""A proxy that refuses every connection, for a system in which a program cannot be cut off the network."""
COMMENT = " # looptck " + "x" * 40
"""What follows the path of the mark: arguments that are cut in it still are a whole command."""
TAIL = "." + "x" * 40
"""The same for a tool that takes a text."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a case gives to a program: the wire, the base URL, the key, the model and the prompt."""

    wire: str
    base_url: str
    key: str
    model: str
    prompt: str
    mcp_url: str = ""
    """Where the kit's tools are; empty for a program that is not given them."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """The places of one case."""

    home: Path
    work: Path

    @property
    def mark(self) -> Path:
        """The file to which the tool appends a line for each of its runs."""
        return self.work / "mark"

    def places(self, description: Description, case: Case) -> dict[str, str]:
        """What is filled in for a case."""
        return {
            "wire": case.wire,
            "base_url": case.base_url,
            "url": case.base_url.removesuffix("/v1"),
            "key": case.key,
            "model": case.model,
            "prompt": case.prompt,
            "home": str(self.home),
            "work": str(self.work),
            "folder": str(description.folder),
            "mark_file": str(self.mark),
            "mcp_url": case.mcp_url,
            "python": sys.executable,
        }

    def of_call(self, text: str) -> dict[str, str]:
        """What is filled into the arguments of a call that leaves this text."""
        return {
            "text": text,
            "mark": f"{self.mark}{COMMENT}",
            "mark_file": str(self.mark),
            "tail": TAIL,
            "work": str(self.work),
            "home": str(self.home),
        }


class Places:
    """The folders of all cases of a program, removed in the end."""

    def __init__(self, description: Description) -> None:
        self._description = description
        self._folder = tempfile.TemporaryDirectory(prefix="looptck-program-", ignore_cleanup_errors=True)
        self._count = 0

    def scratch(self) -> Scratch:
        """The places of the next case."""
        self._count += 1
        root = Path(self._folder.name)
        kept = self._description.keeps_home or self._description.acp
        home = root / ("home" if kept else f"home{self._count}")
        work = root / f"work{self._count}"
        home.mkdir(exist_ok=True)
        work.mkdir()
        return Scratch(home, work)

    def close(self) -> None:
        self._folder.cleanup()


def write_files(description: Description, scratch: Scratch, places: Mapping[str, str]) -> None:
    """Write the files of a description below HOME, as the case fills them in."""
    for name, text in description.files.items():
        path = scratch.home / filled(name, places)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(text, places), encoding="utf-8")


def environment(description: Description, scratch: Scratch, places: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program: only PATH is inherited, and every proxy leads nowhere."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), NOWHERE) if not is_cut_off() else {}
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(scratch.home),
        "TMPDIR": str(scratch.work),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        **proxies,
        **{name.lower(): value for name, value in proxies.items()},
        **{name: filled(value, places) for name, value in description.env.items()},
    }
