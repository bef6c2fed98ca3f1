"""Files of recordings: checked before they are kept, written completely or not at all, overwritten only on request."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import yaml

from looptck.cassettes.cassette import CHUNKS, Cassette, read
from looptck.cassettes.diff import changes_in_content, changes_in_structure
from looptck.cassettes.file_format import render_cassette, render_chunks
from looptck.catalogue.yaml_files import BadFile
from looptck.commands.recording.capture import Capture
from looptck.values.frozen import dataclass

KeepOutcome = Literal["written", "unchanged", "updated", "differs"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A recording in a temporary folder, which has been read as any cassette is."""

    cassette: Cassette

    def keep(self, path: Path, *, update: bool) -> tuple[KeepOutcome, list[str]]:
        """Move it to ``path`` with the endings of its files; returns the outcome, and the differences from the old one.

        An old recording stays if the new one says the same, or if ``update`` is false.
        """
        there = path.with_name(f"{path.name}.yaml")
        if not there.exists():
            self._move(there)
            return "written", []
        differences = self._differences(there)
        if differences is None:
            return "unchanged", []
        if update:
            self._move(there)
        return ("updated" if update else "differs"), differences

    def _differences(self, there: Path) -> list[str] | None:
        """The differences from the file, of structure if that has changed; None: there are none."""
        try:
            content = changes_in_content(there, self.cassette.path)
            return (changes_in_structure(there, self.cassette.path) or content) if content else None
        except BadFile as error:
            return [f"the old recording cannot be played: {error.what}"]

    def _move(self, there: Path) -> None:
        """Chunks first, so that a cassette never lacks them."""
        there.parent.mkdir(parents=True, exist_ok=True)
        for end in (f"{CHUNKS}.yaml", ".yaml"):
            new = self.cassette.path.with_name(self.cassette.path.stem + end)
            if new.exists():
                new.replace(there.with_name(there.stem + end))


@contextlib.contextmanager
def draft(name: str, capture: Capture, folder: Path) -> Iterator[Draft]:
    """A recording as a draft; ``name`` is ``WIRE/SCENARIO-MODE``, ``folder`` where it is to be kept.

    Raises:
        BadFile: it would not be a cassette.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as aside:
        path = Path(aside) / f"{name}.yaml"
        path.parent.mkdir()
        text = render_cassette(capture.provenance, capture.interactions)
        path.write_text(text, encoding="utf-8", newline="\n")
        if capture.chunks:
            sha256 = yaml.safe_load(text)["provenance"]["sha256"]
            chunks = path.with_name(f"{path.stem}{CHUNKS}.yaml")
            chunks.write_text(render_chunks(sha256, capture.chunks), encoding="utf-8", newline="\n")
        yield Draft(read(path))
