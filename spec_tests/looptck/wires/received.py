"""The events of a recorded stream, by the event-stream format of the HTML standard (section 9.2.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from looptck.wires.found import Found, parsed

_LINE_END = re.compile("\r\n|\r|\n")


def named(text: str) -> Iterator[tuple[str, str]]:
    """The name (or ``""``) and the data of each event. Lines that no empty line ends are not an event."""
    name, data = "", list[str]()
    *lines, _unended = _LINE_END.split(text.removeprefix("\ufeff"))
    for line in lines:
        field, _, value = line.partition(":")
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "", []
        elif field == "event":
            name = value.removeprefix(" ")
        elif field == "data":
            data.append(value.removeprefix(" "))


def events(text: str) -> Iterator[Found]:
    """The JSON of each event up to the end marker, which some servers send even on wires without one.

    Raises NoTurn if the data of an event is not JSON.
    """
    for number, (_, data) in enumerate(named(text), 1):
        if data.strip() == "[DONE]":
            return
        place = f"event {number} "
        yield Found(parsed(data, place.strip()), place)
