"""``looptck cassettes check``: faults, secrets, changed cases, and undeclared deviations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from looptck.bench.cases import cases
from looptck.cassettes.cassette import CHUNKS, Cassette, inside, read
from looptck.cassettes.decoded import Decoded, readings
from looptck.cassettes.deviations import Difference, ServerDeviations, observed, server_deviations, stale, undeclared
from looptck.cassettes.file_format import compact
from looptck.cassettes.secrets import secrets
from looptck.catalogue.agents import agent
from looptck.catalogue.data import cassette
from looptck.catalogue.requirements import unknown
from looptck.catalogue.yaml_files import BadFile
from looptck.wires import WIRES


@dataclass(slots=True)
class Findings:
    """The findings, a line each."""

    checked: int = 0
    lines: list[str] = field(default_factory=list)


def check(paths: Sequence[Path]) -> Findings:
    """Check these files, and the cassettes in these folders; without paths, all shipped cassettes.

    Stale deviations are reported only for the project's own: all recordings are needed to see that none shows one.

    Raises:
        BadFile: there is nothing to check at a path.
    """
    found = Findings()
    readable: list[Cassette] = []
    whole = not paths
    for path in _cassettes(paths or [cassette("")]):
        found.checked += 1
        try:
            one = read(path)
        except BadFile as error:
            found.lines.append(str(error))
            continue
        readable.append(one)
        found.lines += [f"{path}: {line}" for line in _faults(one)]
    found.lines += _deviations(readable, whole=whole)
    return found


def _cassettes(paths: Sequence[Path]) -> Iterator[Path]:
    """The files of cassettes at these paths; for a file of chunks, the cassette that it belongs to."""
    for path in paths:
        there = inside(path, path.rglob("*.yaml")) if path.is_dir() else [path]
        if not there or not path.exists():
            raise BadFile(path, "there is no cassette in it" if path.is_dir() else "does not exist")
        yield from dict.fromkeys(file.with_name(file.name.replace(f"{CHUNKS}.yaml", ".yaml")) for file in there)


def _faults(one: Cassette) -> Iterator[str]:
    yield from _private(one)
    yield from _outdated(one)
    service = WIRES[one.wire].service(True)
    for n, exchange in enumerate(one.exchanges, 1):
        for problem in service.judge(exchange.body):
            place = f"/interactions/{n - 1}/request/body/json{problem.pointer}"
            yield f"{place}: the judge refuses it: {problem.message} ({problem.rule})"
        if exchange.turn is not None:
            service.replied(exchange.body, n, exchange.turn.numbered(n), exchange.reply.id)


def _private(one: Cassette) -> Iterator[str]:
    """Secrets, on every level of the bodies, and in the text of the file."""
    texts = [("", Decoded.of(one.path.read_bytes()))]
    for place, exchange in enumerate(one.exchanges):
        pointer = f"/interactions/{place}"
        texts += [(f"{pointer}/request/body: ", reading) for reading in readings(compact(exchange.body))]
        texts += [(f"{pointer}/response/body: ", reading) for reading in readings(exchange.reply.body)]
    seen = set[str]()
    for pointer, reading in texts:
        for secret in secrets(reading.text, reading.member, is_json=reading.has_strings):
            if secret.kind not in seen:
                seen.add(secret.kind)
                yield f"{pointer}holds {secret.kind}, of {secret.end - secret.start} characters"


def _outdated(one: Cassette) -> Iterator[str]:
    """Whether the declared case has changed since the recording."""
    case = cases().get(one.scenario)
    if case is None:
        recorded = [name for name, other in cases().items() if other.record is not None]
        yield f"its name has no declared scenario: {unknown('scenario', one.scenario, recorded)}"
        return
    again = f"record it again: looptck record --update --wire {one.wire} --scenario {case.name} --upstream …"
    if one.provenance.scenario != case.fingerprint:
        yield f"/provenance/scenario: the case {case.name} has changed since it was recorded; {again}"
    elif one.prompt != agent(case.agent).messages({"question": case.question}):
        yield f"/interactions/0/request/body: is not the prompt of the case {case.name}; {again}"


def _deviations(checked: Sequence[Cassette], *, whole: bool) -> Iterator[str]:
    """Differences in structure that are not declared as deviations, and deviations that no recording shows."""
    seen: dict[str, dict[Difference, list[Cassette]]] = defaultdict(lambda: defaultdict(list))
    for one in checked:
        for difference in observed(one):
            seen[one.provenance.dialect][difference].append(one)
    for name in sorted({one.provenance.dialect for one in checked}):
        try:
            known = server_deviations(name)
        except BadFile as error:
            yield str(error)
            continue
        for difference in undeclared(set(seen[name]), known):
            where = [one.path.name for one in seen[name][difference]]
            more = f" and {len(where) - 1} more" if len(where) > 1 else ""
            yield f"{name or 'the vendor'}: {difference.wire}: {difference} ({where[0]}{more})"
        if known is not None:
            recordings = [one for one in checked if one.provenance.dialect == name]
            yield from _stale(known, recordings, list(seen[name]), whole=whole)


def _stale(
    known: ServerDeviations, recordings: Sequence[Cassette], seen: Sequence[Difference], *, whole: bool
) -> Iterator[str]:
    if whole:
        yield from (f"{known.path}: no recording shows {line}; remove it" for line in stale(seen, known))
        named = [("unsupported", name) for one in known.unsupported for name in one.scenarios]
        named += [("judged_by", name) for one in known.judged_by for name in one.scenarios]
        for place, name in named:
            if name not in cases():
                yield f"{known.path}: /{place}: {unknown('scenario', name, list(cases()))}"
    for one in recordings:
        if known.why_unsupported(one.wire, one.scenario, stream=one.stream):
            yield f"{known.path}: /unsupported: {one.scenario} on {one.wire} was recorded: {one.path.name}"
