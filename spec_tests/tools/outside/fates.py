"""What became of mutants: kept in a file after each of them, so that a run goes on where another was stopped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from looptck.suite.options import CouldNotRun
from tools.outside.loop import Mutant
from tools.outside.playing import Heard

KILLED, SURVIVED, NOT_PLAYED = "killed", "survived", "not played"


def fate(mutant: Mutant, heard: Heard) -> dict[str, Any]:
    """What is kept of a mutant that was played."""
    old, new = mutant.shown
    return {
        "digest": mutant.digest,
        "name": mutant.name,
        "line": mutant.site.lines.start,
        "old": old,
        "new": new,
        "fate": NOT_PLAYED if heard.trouble else KILLED if heard.rows else SURVIVED,
        "rows": list(heard.rows),
        "first": ": ".join(heard.causes[0]) if heard.causes else "",
        "trouble": heard.trouble,
    }


@dataclass
class Kept:
    """The file of fates."""

    file: Path
    loop: str
    """The digest of the loop that its contents are about."""
    reached: dict[str, list[int]] = field(default_factory=dict)
    """The lines by module that the run of the unchanged loop reaches; empty: it was not played yet."""
    fates: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By the digests of mutants, in the order in which they were played."""

    @classmethod
    def of(cls, file: Path, loop: str) -> Kept:
        """What the file has; nothing, where it is not there or is about a loop before an edit.

        Raises:
            CouldNotRun: the file is another one.
        """
        if not file.exists():
            return cls(file, loop)
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            if found["loop"] != loop:
                return cls(file, loop)
            return cls(file, loop, found["reached"], {one["digest"]: one for one in found["mutants"]})
        except (ValueError, LookupError, TypeError) as error:
            raise CouldNotRun(f"{file} has no fates of mutants") from error

    def add(self, one: dict[str, Any]) -> None:
        """Keep one more, or what became of one when it was played again."""
        self.fates[one["digest"]] = one
        self.write()

    def write(self) -> None:
        """Write the file, so that an interruption leaves the old one or the new one."""
        content = {
            "loop": self.loop,
            "summary": counts(list(self.fates.values())),
            "reached": self.reached,
            "mutants": list(self.fates.values()),
        }
        beside = self.file.with_name(f".{self.file.name}.part")  # hidden from copies of the folder that it may be in
        beside.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(self.file)


def counts(fates: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many have which fate."""
    found = Counter(one["fate"] for one in fates)
    return {"played": len(fates), **{each: found[each] for each in (KILLED, SURVIVED, NOT_PLAYED)}}


def lines(one: Mapping[str, Any]) -> Iterator[str]:
    """What a person reads of one mutant."""
    yield f"{one['fate']}: {one['name']}"
    yield f"    {one['name'].split()[0]}:{one['line']}"
    yield f"    - {one['old']}"
    yield f"    + {one['new']}"
    if one["fate"] == KILLED:
        yield f"    {one['first']}"
        if others := len(one["rows"]) - 1:
            yield f"    {others} more row{'s' if others > 1 else ''} failed"
    elif one["trouble"]:
        yield f"    {' '.join(one['trouble'].split())}"
