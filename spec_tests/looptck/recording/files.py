"""Files of recordings: read before they are kept, written whole or not at all, never over another recording unasked."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from looptck.cassettes.cassette import CHUNKS, Cassette, read
from looptck.cassettes.diff import changes_in_content, changes_in_shape
from looptck.cassettes.form import written, written_chunks
from looptck.recording.takes import Take
from looptck.yamlfile import BadFile

Kept = Literal["written", "unchanged", "updated", "differs"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A recording that has been written beside the others, and read back as any cassette is."""

    cassette: Cassette

    def keep(self, path: Path, *, update: bool) -> tuple[Kept, list[str]]:
        """Move it to where it belongs, ``path`` but for what is added; what came of that, and what is not the same.

        What says the same as the recording that is there leaves it alone, and what does not leaves it too, but for
        an ``update``.
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
        """What is not the same as in the file, in shape where that has changed; None: nothing that counts."""
        try:
            content = changes_in_content(there, self.cassette.path)
            return (changes_in_shape(there, self.cassette.path) or content) if content else None
        except BadFile as error:
            return [f"what is there cannot be played: {error.what}"]

    def _move(self, there: Path) -> None:
        """Chunks first: a cassette that is there has them."""
        there.parent.mkdir(parents=True, exist_ok=True)
        for end in (f"{CHUNKS}.yaml", ".yaml"):
            new = self.cassette.path.with_name(self.cassette.path.stem + end)
            if new.exists():
                new.replace(there.with_name(there.stem + end))


@contextlib.contextmanager
def draft(name: str, take: Take, folder: Path) -> Iterator[Draft]:
    """A recording as a draft; ``name`` is ``WIRE/SCENARIO-MODE``, ``folder`` where it is to be kept.

    Raises:
        BadFile: it would be no cassette.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as aside:
        path = Path(aside) / f"{name}.yaml"
        path.parent.mkdir()
        text = written(take.provenance, take.interactions)
        path.write_text(text, encoding="utf-8", newline="\n")
        if take.chunks:
            sha256 = yaml.safe_load(text)["provenance"]["sha256"]
            chunks = path.with_name(f"{path.stem}{CHUNKS}.yaml")
            chunks.write_text(written_chunks(sha256, take.chunks), encoding="utf-8", newline="\n")
        yield Draft(read(path))
