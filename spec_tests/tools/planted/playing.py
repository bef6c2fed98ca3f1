"""Every kind of secret in every place, recorded, and what is seen of it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from looptck.wires import WIRES
from meta.recording.fake_upstream import FakeUpstream
from meta.recording.planted import Planted
from meta.recording.seen import of_file, readings, seen
from tools.planted.places import PLACES, Cell, Setting
from tools.planted.recorded import Recorded, record

CELLS = [Cell(wire, stream) for wire in WIRES for stream in (False, True)]


@dataclass(slots=True)
class Tally:
    """What became of the recordings with a secret in one place."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seen: dict[str, list[str]] = field(default_factory=dict)
    """Names of kinds and cells by how much is to be seen: ``whole`` or ``in part``."""

    def add(self, name: str, secret: Planted, recorded: Recorded) -> None:
        """Count a recording, and look for its secret."""
        self.outcomes[recorded.outcome] += 1
        texts = {text for file in recorded.files for text in of_file(file)}
        texts |= {text for line in recorded.lines for text in readings(line)}
        if much := seen(secret, texts):
            self.seen.setdefault(much, []).append(name)


def play(
    place: str, kinds: Mapping[str, Planted], cells: Mapping[str, Sequence[Cell]], upstream: FakeUpstream
) -> Tally:
    """All these kinds in a place, each in the cells that are named for it."""
    tally = Tally()
    for cell in CELLS:
        settings = {name: PLACES[place](cell, kinds[name].text) for name in kinds if cell in cells[name]}
        for together in one_call_each(settings):
            with tempfile.TemporaryDirectory() as folder:
                for name, recorded in record(together, cell, upstream, Path(folder)).items():
                    tally.add(f"{name} in {cell}", kinds[name], recorded)
    return tally


def in_turn(kinds: Iterable[str], first: int) -> dict[str, Sequence[Cell]]:
    """For each kind another cell, beginning with this one."""
    return {name: [CELLS[number % len(CELLS)]] for number, name in enumerate(kinds, first)}


def one_call_each(settings: Mapping[str, Setting]) -> list[dict[str, Setting]]:
    """Settings that one call of the command can record: those with the same environment and address."""
    found: dict[str, dict[str, Setting]] = {}
    for name, setting in settings.items():
        key = repr((sorted(setting.environment.items()), setting.user, setting.path))
        found.setdefault(key, {})[name] = setting
    return list(found.values())
