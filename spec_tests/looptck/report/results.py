"""Results that a run has left behind, as ``--json`` wrote them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import jsonschema_rs

from looptck.data import json_fixture
from looptck.verdicts import Result
from looptck.yamlfile import BadFile


@dataclass(frozen=True, slots=True)
class Results:
    """The verdicts of a run, and the sentences of the causes of what failed."""

    results: Sequence[Result]
    sentences: Mapping[str, str]
    """By requirement: the sentence of the row that names its cause."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """From the JSON of a run."""
        names = [one.name for one in fields(Result)]
        texts = {cause["id"]: cause["text"] for cause in told.get("causes", ())}
        sentences: dict[str, str] = {}
        for one in told["results"]:
            if one.get("cause") in texts:
                sentences.setdefault(one["requirement"], texts[one["cause"]])
        return cls([Result(**{name: one[name] for name in names}) for one in told["results"]], sentences)


def read(path: Path) -> Results:
    """The results in a file.

    Raises:
        BadFile: it cannot be read, or is not that.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadFile(path, f"is no file of results: {error}") from error
    schema = jsonschema_rs.validator_for(json_fixture("results.schema.json"))
    if wrong := next(schema.iter_errors(told), None):
        place = "".join(f"/{part}" for part in wrong.instance_path)
        raise BadFile(path, f"{place or '/'}: {wrong.message}; give a file that looptck run --json has written")
    return Results.of(told)
