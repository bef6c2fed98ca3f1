"""The blocks and items of a stream, as clients gather them: each in its place, opened before its pieces and closed.

Places are counted from 0, in the order in which they are opened: official clients append what is opened to a list, and
look up in it what belongs to a piece.
"""

from __future__ import annotations

import json
from dataclasses import field
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.lenient import as_object

OPENING = {
    "anthropic-messages": ("content_block_start", "content_block_stop", "index"),
    "openai-responses": ("response.output_item.added", "response.output_item.done", "output_index"),
}
"""The events that open and close a block or an item, and the member with its place."""
PIECES = ("content_block_delta", "response.output_text.", "response.content_part.", "response.function_call_arguments.")
"""How the events between them begin."""
BEGINNING = {"message_start", "response.created"}
"""The events from which on places and numbers are counted anew, should a stream have several messages or responses."""
ENDING = {"message_stop", "response.completed"}
"""The events by which everything is closed; a response that was cut may leave its last item open."""


@dataclass(slots=True)
class Places:
    """What one stream has opened so far; `faults` takes its events in their order."""

    wire: str
    _opened: list[Any] = field(default_factory=list)
    """The ids of what was opened, where it has some."""
    _closed: set[int] = field(default_factory=set)
    _number: int = -1
    """The last number of an event."""

    def faults(self, value: Any) -> list[str]:
        """What is wrong with the place of an event."""
        if self.wire not in OPENING:
            return []
        event = as_object(value)
        type_, (opens, closes, member) = str(event.get("type")), OPENING[self.wire]
        if type_ in BEGINNING:
            self._opened, self._closed, self._number = [], set(), -1
        found = self._numbered(event.get("sequence_number"))
        place = event.get(member)
        id = as_object(event.get("item")).get("id", event.get("item_id"))
        if type_ == opens:
            return [*found, *self._open(member, place, id)]
        if type_ == closes or type_.startswith(PIECES):
            return [*found, *self._used(member, place, id, closes=type_ == closes)]
        left = [at for at in range(len(self._opened)) if at not in self._closed] if type_ in ENDING else []
        return [*found, *(f"/type: what was opened at {member} {at} is never closed" for at in left)]

    def _numbered(self, number: Any) -> list[str]:
        if not isinstance(number, int):
            return []
        before, self._number = self._number, number
        return [f"/sequence_number: {number} comes after {before}"] if number <= before else []

    def _open(self, member: str, place: Any, id: Any) -> list[str]:
        wanted = len(self._opened)
        self._opened.append(id)
        if place == wanted:
            return []
        if place in range(wanted):
            return [f"/{member}: {json.dumps(place)} is the place of another one before it"]
        return [f"/{member}: {json.dumps(place)}, and the next place is {wanted}"]

    def _used(self, member: str, place: Any, id: Any, *, closes: bool) -> list[str]:
        if place not in range(len(self._opened)):
            return [f"/{member}: nothing was opened at {json.dumps(place)}"]
        place = int(place)  # JSON has one type of number, so 0.0 is the first place
        if place in self._closed:
            return [f"/{member}: what was opened at {place} is closed"]
        if closes:
            self._closed.add(place)
        opened = self._opened[place]
        return [f"/item: {id} is at the place of {opened}"] if None not in (id, opened) and id != opened else []
