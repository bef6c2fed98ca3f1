"""Secrets in every place of a recording, by the command that a person types: none is in a file or on the terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from looptck.commands.recording.traffic_log import TrafficLog
from meta.recording.fake_upstream import FakeUpstream
from meta.recording.planted import Planted
from meta.recording.seen import of_file, readings, seen
from meta.recording.targets import shares
from tools.planted.kinds import planted
from tools.planted.places import PLACES, Setting
from tools.planted.playing import CELLS, one_call_each
from tools.planted.recorded import Recorded, record

KINDS = planted()


def test_there_are_many() -> None:
    """At least ninety kinds, and eighteen places."""
    assert 90 <= len({secret.text for secret in KINDS.values()})
    assert 18 <= len(PLACES)


@pytest.mark.parametrize("number", range(len(CELLS)), ids=[str(cell) for cell in CELLS])
def test_nothing_is_seen(
    number: int, fake_upstream: FakeUpstream, log: TrafficLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every sixth place, each with a kind of its own, is recorded or refused without a word of the secret."""
    cell = CELLS[number]
    secrets = [*KINDS.values()]
    chosen = {place: secrets[at * 7 % len(secrets)] for at, place in [*enumerate(PLACES)][number :: len(CELLS)]}
    settings = {place: PLACES[place](cell, secret.text) for place, secret in chosen.items()}

    found = dict[str, Recorded]()
    for place, setting in settings.items():
        if setting.user or setting.path:
            found |= record({place: setting}, cell, fake_upstream, tmp_path / place)
    shares(monkeypatch, log)
    for at, together in enumerate(one_call_each(without(settings, found))):
        found |= record(together, cell, fake_upstream, tmp_path / str(at))

    assert {} == {place: much for place, one in found.items() if (much := _seen(chosen[place], one))}
    assert {"written", "failed"} >= {one.outcome for one in found.values()}
    assert len(found) / 2 < sum(one.outcome == "written" for one in found.values())


def without(settings: Mapping[str, Setting], done: Collection[str]) -> dict[str, Setting]:
    """The settings of the other places."""
    return {place: setting for place, setting in settings.items() if place not in done}


def _seen(secret: Planted, recorded: Recorded) -> str:
    texts = {text for file in recorded.files for text in of_file(file)}
    return seen(secret, texts | {text for line in recorded.lines for text in readings(line)})
