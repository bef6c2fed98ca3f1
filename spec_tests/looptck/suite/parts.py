"""Parts: what a process or a machine has come to, as JSON, and how the parts of a run become its record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from looptck.catalogue.traits import Answer
from looptck.drivers import DriverFault
from looptck.failures.groups import Finding
from looptck.suite.record import Record
from looptck.suite.units import Shard
from looptck.values.verdicts import Result

Part = Mapping[str, Any]
"""``results`` with their places, ``findings`` that name their result by its index, ``answers``, ``faults``, counts."""


def part_of(record: Record) -> dict[str, Any]:
    """All that a record adds to that of the whole run."""
    return {
        **news_of(record, 0, 0, 0),
        "faults": [[one.kind, one.detail, one.stderr, one.run] for one in record.faults],
        "checks": record.checks,
        "questions": record.questions,
        "judged": record.judged,
        "offered": list(record.offered),
        "left_out": record.left_out,
        "sampled": record.sampled,
        "spent": record.spent.serializable(),
    }


def news_of(record: Record, results: int, findings: int, answers: int) -> dict[str, Any]:
    """What a record holds beyond these numbers of results, findings and answers."""
    places = {id(one): place for place, one in enumerate(record.results[results:])}
    return {
        "results": [asdict(one) for one in record.results[results:]],
        "findings": [finding_as_json(one, places[id(one.result)]) for one in record.findings[findings:]],
        "answers": [one.serializable() for one in record.answers[answers:]],
    }


def finding_as_json(one: Finding, place: int) -> dict[str, Any]:
    """A finding, whose result has this place in a list."""
    return {
        "result": place,
        "sign": None if one.sign is None else list(one.sign),
        "runs": list(one.runs),
        "text": one.text,
        "evidence": list(one.evidence),
        "ending": one.ending,
        "again": one.again,
        "trace": one.trace,
        "size": one.size,
        "known": one.known,
        "receipt": one.receipt,
    }


AS_THEY_ARE = ("text", "evidence", "ending", "again", "trace", "size", "known", "receipt")
"""The members of a finding that JSON holds as they are."""


def findings_from_json(found: Iterable[Mapping[str, Any]], results: Sequence[Result]) -> list[Finding]:
    """The findings of these results."""
    return [
        Finding(
            results[one["result"]],
            sign=None if one["sign"] is None else tuple(one["sign"]),
            runs=tuple(one["runs"]),
            **{name: one[name] for name in AS_THEY_ARE},
        )
        for one in found
    ]


def take(record: Record, part: Part) -> None:
    """Add to a record what a part has come to, without its counts and faults."""
    results = [Result(**one) for one in part["results"]]
    record.results += results
    record.findings += findings_from_json(part["findings"], results)
    record.answers += [Answer(**one) for one in part["answers"]]


def take_faults(record: Record, part: Part) -> None:
    """Add the faults of a part's driver; the same fault of several processes counts once."""
    known = {(one.kind, one.detail) for one in record.faults}
    for kind, detail, stderr, run in part["faults"]:
        if (kind, detail) not in known:
            record.faults.append(DriverFault(kind, detail, stderr=stderr, run=run))
            known.add((kind, detail))


def shard_as_json(record: Record, shard: Shard) -> dict[str, Any]:
    """What the results of a shard say beside those of any run."""
    places = {id(one): place for place, one in enumerate(record.results)}
    part = part_of(record)
    return {
        "number": shard.number,
        "of": shard.of,
        "places": [one.place for one in record.results],
        "findings": [finding_as_json(one, places[id(one.result)]) for one in record.findings],
        "known": [asdict(one) for one in record.known],
        **{name: part[name] for name in ("checks", "questions", "judged", "offered", "left_out", "sampled", "faults")},
    }
