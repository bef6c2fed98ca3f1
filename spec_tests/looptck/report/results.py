"""Results of an earlier run, read from its ``--json`` file, written by this or an older version of looptck."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import jsonschema_rs

from looptck.catalogue.data import json_fixture
from looptck.catalogue.traits import Answer
from looptck.catalogue.yaml_files import BadFile, pointer, read_text, reason
from looptck.values.frozen import dataclass
from looptck.values.verdicts import Result

MEMBERS = tuple(Result("", "", "", "", "", "pass").serializable())
"""The members of a result that every version writes; newer versions write more."""
CELL = "openai-chat/plain/sync"
"""A cell, as all are written."""
MOST = 512 * 1024 * 1024
"""The most bytes of a file of results."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results of an earlier run."""

    path: Path
    looptck: str
    """The version of the kit."""
    driver: str
    implementation: Mapping[str, Any]
    """What the driver declared: name, version, language and more."""
    results: tuple[Result, ...]
    traits: tuple[Answer, ...] | None = None
    """None: written by a version without traits."""
    content: str | None = None
    """The hash of looptck's content; None: written by a version that does not record it."""
    selection: Mapping[str, Any] | None = None
    """The selection of the run; None: written by a version that does not record it."""
    unfinished: int | None = None
    """The number of chosen but unjudged checks and questions; None: written by a version that does not record it."""

    @classmethod
    def of(cls, data: Mapping[str, Any], path: Path = Path()) -> Self:
        """From the JSON of a run."""
        traits = data.get("traits")
        unfinished = data.get("unfinished")
        return cls(
            path=path,
            looptck=data["looptck"],
            driver=data["driver"],
            implementation=data["implementation"],
            results=tuple(Result(**{name: one[name] for name in MEMBERS}) for one in data["results"]),
            traits=None if traits is None else tuple(Answer(**answer) for answer in traits),
            content=data.get("content"),
            selection=data.get("selection"),
            unfinished=None if unfinished is None else sum(unfinished.values()),
        )

    @property
    def name(self) -> str:
        """The implementation, its version and its language."""
        declared = self.implementation
        return f"{declared['name']} {declared['version']} ({declared['language']})"

    def other_kit(self, here: str) -> str | None:
        """The warning that another version of looptck than this one has judged the run; None: this one has."""
        if self.looptck == here:
            return None
        return f"warning: {self.path} was judged by looptck {self.looptck}, and this is looptck {here}: run it again"

    @property
    def cells(self) -> set[str]:
        """The cells that were played."""
        return {one.cell for one in self.results} | {one.cell for one in self.traits or ()}


def read(path: Path) -> Results:
    """The results in a file.

    Raises:
        BadFile: it cannot be read or is not a results file; the message names the place.
    """
    return Results.of(read_json(path), path)


def read_json(path: Path) -> dict[str, Any]:
    """The JSON of a results file. Raises BadFile, as `read` does."""
    try:
        data: dict[str, Any] = json.loads(read_text(path, MOST))
    except OSError as error:
        raise BadFile(path, f"cannot be read: {reason(error)}") from error
    except (ValueError, RecursionError) as error:
        raise BadFile(path, f"is not a results file: {reason(error)}") from error
    schema = jsonschema_rs.validator_for(json_fixture("results.schema.json"))
    if wrong := next(schema.iter_errors(data), None):
        raise BadFile(
            path, f"{pointer(wrong.instance_path)}: {wrong.message}; name a file written by looptck run --json"
        )
    for n, one in enumerate(data.get("causes", ())):
        if any(at >= len(data["results"]) for at in one.get("results", ())):
            raise BadFile(path, f"/causes/{n}/results: names a result that is not there; the file was changed or cut")
    for member in ("results", "traits"):
        for n, one in enumerate(data.get(member, ())):
            if one["cell"].count("/") != CELL.count("/"):
                raise BadFile(path, f"/{member}/{n}/cell: {one['cell']!r} is no cell such as {CELL}")
    return data
