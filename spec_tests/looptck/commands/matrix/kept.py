"""What is kept of each target: the results of its last run at each version, and what they were made from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import jsonschema_rs

from looptck.catalogue.data import json_fixture
from looptck.catalogue.yaml_files import BadFile, pointer, reason
from looptck.commands.matrix.targets import Target
from looptck.report.site.entries import Entry
from looptck.values.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Made:
    """What results were made from: equal ones need not be made again."""

    target: str
    kind: str
    digest: str
    """The fingerprint of the target's folder."""
    content: str
    """The fingerprint of looptck's checks and data."""
    options: tuple[str, ...] = ()
    """Options of the run, as typed."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The last run of a target at one version, or why there was none."""

    made: Made
    seconds: float
    run: Mapping[str, Any] | None = None
    """The JSON of the run."""
    why_not: str | None = None

    @property
    def version(self) -> str | None:
        return None if self.run is None else str(self.run["implementation"]["version"])

    @property
    def is_whole(self) -> bool:
        """Whether there are results, and they are not those of a run that was cut short."""
        return self.run is not None and not any(self.run.get("unfinished", {}).values())

    def write(self, folder: Path) -> Path:
        """Write it into a folder, in place of what was kept of the same target at the same version."""
        folder.mkdir(parents=True, exist_ok=True)
        none = folder / f"{self.made.target}.json"
        path = none if self.version is None else folder / f"{self.made.target}--{self.version}.json"
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        if path != none:
            none.unlink(missing_ok=True)
        return path


def try_out_kept(folder: Path) -> None:
    """Raises BadFile where nothing can be kept in a folder; leaves nothing in it."""
    is_there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
        if not is_there:
            folder.rmdir()
    except OSError as error:
        raise BadFile(folder, f"cannot be written: {error.strerror or error}") from error


def kept(folder: Path) -> Iterator[Kept]:
    """All that is kept in a folder, in the order of names.

    Raises:
        BadFile: a file there is none of these; the message names the place.
    """
    schema = jsonschema_rs.validator_for(json_fixture("matrix.schema.json"))
    for path in sorted(folder.glob("*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadFile(path, f"is not what looptck matrix has kept: {reason(error)}") from error
        if wrong := next(schema.iter_errors(data), None):
            raise BadFile(path, f"{pointer(wrong.instance_path)}: {wrong.message}; remove it to have it made again")
        yield Kept(**{**data, "made": Made(**{**data["made"], "options": tuple(data["made"]["options"])})})


def entry(one: Kept, known: Mapping[str, Target]) -> Entry:
    """What the site shows of it; notes and reports come from the folder of its target, while there is one."""
    target = known.get(one.made.target)
    notes = target.folder / "README.md" if target is not None else None
    reports = sorted(target.folder.glob("reports/*.md")) if target is not None and target.variant is None else []
    return Entry(
        target=one.made.target,
        data=one.run,
        why_not=one.why_not,
        kind=one.made.kind,
        seconds=one.seconds,
        notes=notes.read_text(encoding="utf-8").partition("\n")[2] if notes is not None and notes.is_file() else "",
        reports={path.stem: path.read_text(encoding="utf-8") for path in reports},
    )
