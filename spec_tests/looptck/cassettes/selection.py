"""Which recordings are shipped: one for each distinct structure, and the odd ones, each of which has a reason.

The structure of a recording is that of all its replies: the members of each kind of event with their types, and which
event follows which. The model's output is the script of the case, so a second recording of the same structure shows
nothing new of the server. Recordings of different servers, wires or modes are never compared.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from looptck.cassettes import cassettes, files
from looptck.cassettes.cassette import Cassette, chunks_path
from looptck.cassettes.playback import case_followed, is_ordinary
from looptck.cassettes.structure import reply_structure
from looptck.catalogue.data import fixture
from looptck.catalogue.yaml_files import BadFile, load
from looptck.values.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """The recordings of one structure."""

    representative: Cassette
    """The recording that is shipped: of those that are not odd the one that most requirements are judged on."""
    others: tuple[Cassette, ...]
    """The other recordings, in the order in which they would replace it."""
    odd: tuple[Cassette, ...]
    """The recordings that are shipped as well. If all are odd, the representative is the first of them."""

    @property
    def selected(self) -> tuple[Cassette, ...]:
        """The recordings that are shipped."""
        return (self.representative, *(one for one in self.odd if one is not self.representative))


@cache
def odd_recordings() -> Mapping[str, str]:
    """Why a recording is odd, by ``WIRE/SCENARIO-MODE``: ``fixtures/odd-cassettes.yaml``."""
    reasons: dict[str, str] = load(fixture("odd-cassettes.yaml"), fixture("odd-cassettes.schema.json"))
    return reasons


def structure(cassette: Cassette) -> frozenset[str]:
    """The structure of a recording, in lines (see ``looptck.cassettes.structure``)."""
    lines: set[str] = set()
    for exchange in cassette.exchanges:
        reply = exchange.reply
        lines |= reply_structure(reply).lines
        lines.add(f"status {reply.status}{', broken off' if reply.broken else ''}")
    return frozenset(lines)


def groups(recordings: Iterable[Cassette], odd: Mapping[str, str]) -> list[Group]:
    """The recordings by structure, sorted by the representatives' files; ``odd``: why some are shipped as well."""
    found: dict[tuple[str, str, bool, frozenset[str]], list[Cassette]] = defaultdict(list)
    for one in recordings:
        found[one.provenance.dialect, one.wire, one.stream, structure(one)].append(one)
    return sorted((_group(same, odd) for same in found.values()), key=lambda one: one.representative.file)


def select(source: Path, target: Path) -> list[Cassette]:
    """Copy the recordings that would be shipped from one folder to another; returns the copied ones.

    Raises:
        BadFile: there is none in the source, one cannot be read, or the target has recordings already.
    """
    if any(files(target)):
        raise BadFile(target, "has cassettes already; name a folder without any")
    chosen = [one for group in groups(cassettes(source), odd_recordings()) for one in group.selected]
    for one in chosen:
        folder = target / one.wire
        folder.mkdir(parents=True, exist_ok=True)
        for path in (one.path, chunks_path(one.path)):
            if path.exists():
                shutil.copyfile(path, folder / path.name)
    return chosen


def _group(same: Sequence[Cassette], odd: Mapping[str, str]) -> Group:
    ranked = sorted(same, key=lambda one: (-_requirements(one), len(one.exchanges), one.scenario))
    strange = tuple(one for one in ranked if one.file in odd)
    ordinary = [one for one in ranked if one.file not in odd]
    representative = (ordinary or strange)[0]
    return Group(representative, tuple(ordinary[1:]), strange)


def _requirements(cassette: Cassette) -> int:
    """How many requirements are judged on a recording: those of its case, and that it is read right."""
    case = case_followed(cassette)
    return (len(case.checks) if case else 0) + is_ordinary(cassette)
