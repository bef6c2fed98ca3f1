"""Shards: parts of a run that are played at different times or places, and what is needed to make one run of them.

The results of a shard have a member ``shard`` beside those of any run: its number, and what the whole needs to know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from looptck.catalogue.content import content
from looptck.catalogue.known_failures import Known
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.traits import Answer
from looptck.drivers import Started
from looptck.suite.parts import findings_from_json, take_faults
from looptck.suite.record import Record
from looptck.suite.selection import Selection
from looptck.suite.summary import THOROUGH, kit_version
from looptck.values.verdicts import Result


class NoWhole(Exception):
    """The files are not the shards of one run; the message says which and why."""


SAME = {"looptck": "the version of looptck", "content": "the content of looptck", "driver": "the driver"}
SAME |= {"implementation": "the implementation", "selection": "the selection"}
"""The members in which the shards of one run agree, in words."""


def whole(shards: Mapping[Path, Mapping[str, Any]]) -> Record:
    """The record of the run of which these are the shards, by their files.

    Raises:
        NoWhole: one of them is no shard or is there twice, one is missing, or they are of different runs.
    """
    first, *_ = shards
    by_number: dict[int, Path] = {}
    for path, data in shards.items():
        if "shard" not in data:
            raise NoWhole(f"{path}: is the result of a whole run; write those of its parts with --shard")
        for member, words in SAME.items():
            if data[member] != shards[first][member]:
                raise NoWhole(f"{path}: {words} is not that of {first}: {_brief(data[member], shards[first][member])}")
        if data["shard"]["known"] != shards[first]["shard"]["known"]:
            raise NoWhole(f"{path}: the known failures are not those of {first}")
        if data["shard"]["of"] != shards[first]["shard"]["of"]:
            raise NoWhole(f"{path}: is one of {data['shard']['of']}, and {first} one of {shards[first]['shard']['of']}")
        if (other := by_number.setdefault(data["shard"]["number"], path)) != path:
            raise NoWhole(f"{path}: is shard {data['shard']['number']}, as {other} is")
    of = shards[first]["shard"]["of"]
    if missing := [f"{number}/{of}" for number in range(1, of + 1) if number not in by_number]:
        raise NoWhole(f"shard {', '.join(missing)} is missing")
    if (made_by := (shards[first]["looptck"], shards[first]["content"])) != (kit_version(), content()):
        raise NoWhole(f"{first}: was written by another looptck: {made_by}, not {kit_version(), content()}")
    return _joined([shards[by_number[number]] for number in sorted(by_number)])


def _brief(one: Any, other: Any) -> str:
    """How two values differ, by the first member that does."""
    if isinstance(one, dict) and isinstance(other, dict):
        name = next(name for name in (*one, *other) if one.get(name) != other.get(name))
        return f"{name}: {one.get(name)!r}, not {other.get(name)!r}"
    return f"{one!r}, not {other!r}"


def _joined(shards: Sequence[Mapping[str, Any]]) -> Record:
    first = shards[0]
    selected: dict[str, Any] = dict(first["selection"])
    given = [word for word in selected.pop("options") if word != THOROUGH]
    as_typed: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in selected.items()}
    selection = Selection(**as_typed)
    known = [Known(**one) for one in first["shard"]["known"]]
    started = Started.from_message(first["implementation"])
    record = Record(first["driver"], started, catalogue(), selection, known, given)
    record.thorough = THOROUGH in first["selection"]["options"]
    names = Result("", "", "", "", "", "pass").serializable()
    for data in shards:
        shard = data["shard"]
        results = [
            Result(**{name: one[name] for name in names}, place=place)
            for one, place in zip(data["results"], shard["places"], strict=True)
        ]
        record.results += results
        record.findings += findings_from_json(shard["findings"], results)
        record.answers += [Answer(**one) for one in data["traits"]]
        take_faults(record, shard)
        record.checks += shard["checks"]
        record.questions += shard["questions"]
        record.judged += shard["judged"]
        record.offered = shard["offered"]
        record.left_out = [tuple(one) for one in shard["left_out"]]
        record.sampled += [tuple(one) for one in shard["sampled"]]
    record.put_in_order()
    return record
