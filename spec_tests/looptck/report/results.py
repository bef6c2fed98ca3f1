"""Results of a run that has been, read from what its ``--json`` has written, by this version or an older one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import jsonschema_rs

from looptck.catalogue.data import json_fixture
from looptck.catalogue.traits import Answer
from looptck.catalogue.yaml_files import BadFile
from looptck.values.verdicts import Result

MEMBERS = tuple(one.name for one in fields(Result))
"""What every version writes of a result; newer ones write more beside it."""


@dataclass(frozen=True, slots=True)
class Results:
    """What a run has left."""

    path: Path
    looptck: str
    """The version of the kit."""
    driver: str
    implementation: Mapping[str, Any]
    """What the driver declared: name, version, language and more."""
    results: tuple[Result, ...]
    traits: tuple[Answer, ...] | None = None
    """None: of a version that knew no traits."""
    content: str | None = None
    """What the kit was made of, as one word; None: of a version that does not say."""
    selection: Mapping[str, Any] | None = None
    """What the run was asked for; None: of a version that does not say."""
    unfinished: int | None = None
    """How many checks and questions were chosen and never judged; None: of a version that does not say."""

    @classmethod
    def of(cls, told: Mapping[str, Any], path: Path = Path()) -> Self:
        """From the JSON of a run."""
        traits = told.get("traits")
        unfinished = told.get("unfinished")
        return cls(
            path=path,
            looptck=told["looptck"],
            driver=told["driver"],
            implementation=told["implementation"],
            results=tuple(Result(**{name: one[name] for name in MEMBERS}) for one in told["results"]),
            traits=None if traits is None else tuple(Answer(**answer) for answer in traits),
            content=told.get("content"),
            selection=told.get("selection"),
            unfinished=None if unfinished is None else sum(unfinished.values()),
        )

    @property
    def name(self) -> str:
        """The implementation, its version and its language."""
        told = self.implementation
        return f"{told['name']} {told['version']} ({told['language']})"

    @property
    def cells(self) -> set[str]:
        """The cells that were played."""
        return {one.cell for one in self.results} | {one.cell for one in self.traits or ()}


def read(path: Path) -> Results:
    """The results in a file.

    Raises:
        BadFile: it cannot be read, or is not that; with the place of the fault.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadFile(path, f"is no file of results: {error}") from error
    schema = jsonschema_rs.validator_for(json_fixture("results.schema.json"))
    if wrong := next(schema.iter_errors(told), None):
        place = "".join(f"/{part}" for part in wrong.instance_path)
        raise BadFile(path, f"{place or '/'}: {wrong.message}; give a file that looptck run --json has written")
    return Results.of(told, path)
